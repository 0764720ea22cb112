"""What expressions can do with values: look into data, compare, calculate. Nothing here calls a value's methods
that its author didn't mean as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from priompt_py.author.children import a_type, is_list, is_mapping
from priompt_py.model.elements import Element
from priompt_py.model.values import short_repr
from priompt_py.template.advice import declared_fields, refused
from priompt_py.template.bounds import Budget, Fault, UndefinedFault
from priompt_py.template.kinds import is_bytes, is_dict, is_iterable, is_sequence, is_set
from priompt_py.template.source import near, one_line

__all__ = [
    "arithmetic",
    "attribute_of",
    "compare",
    "contains",
    "equal",
    "expanded_size",
    "is_number",
    "item_of",
    "items_of",
    "number_text",
    "slice_of",
    "text_of",
    "truth_of",
]


def is_number(value: object) -> bool:
    """Whether ``value`` is a number; booleans are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ------------------------------------------------------------------------------------------ looking into data


def attribute_of(value: object, name: str) -> Any:
    """``value.name``: a mapping's key, or a field that the value's class declares."""
    if is_mapping(value):
        return _key_of(value, name)
    cls: Any = type(value)
    fields = declared_fields(cls)
    if name in fields:
        return getattr(value, name)
    if value is None:
        raise UndefinedFault(f"None has no .{name}; ask for it with `if`, or `default(…)`")
    if fields:
        raise UndefinedFault(f"{a_type(value)} has no field {name}{_hint(name, fields)}")
    raise UndefinedFault(
        f"{a_type(value)} has no .{name}: only mappings and classes with declared fields have"
    )


def _key_of(value: Mapping[Any, Any], key: Any) -> Any:
    if key in value:
        return value[key]
    names = [one for one in value if isinstance(one, str)]
    raise UndefinedFault(
        f"there is no key {short_repr(key)}{_hint(key, names) if isinstance(key, str) else ''}"
    )


def _hint(name: str, names: Iterable[str]) -> str:
    listed = list(names)
    found = near(name, listed)
    if found or not listed:
        return found
    return (
        f"; there are {', '.join(one_line(one, 30) for one in listed[:8])}{', …' if len(listed) > 8 else ''}"
    )


def item_of(value: object, index: object, budget: Budget) -> Any:
    """``value[index]``."""
    if is_mapping(value):
        if not isinstance(index, (str, int, float, type(None))):
            raise Fault(f"a key is a text or a number, got {a_type(index)}")
        _take_compared(index, budget)
        return _key_of(value, index)
    if is_sequence(value):
        if type(index) is not int:
            raise Fault(f"an index is a whole number, got {a_type(index)}")
        size = len(value)
        if not -size <= index < size:
            raise UndefinedFault(f"there is no item {index}: there are {size}, counted from 0")
        return value[index]
    raise Fault(f"{a_type(value)} has no items")


def slice_of(value: object, start: Any, stop: Any, step: Any, budget: Budget) -> Any:
    """``value[start:stop:step]`` of a text or list."""
    for bound in (start, stop, step):
        if bound is not None and type(bound) is not int:
            raise Fault(f"the bounds of a slice are whole numbers, got {a_type(bound)}")
    if step == 0:
        raise Fault("the step of a slice can't be 0")
    if not is_sequence(value):
        raise Fault(f"{a_type(value)} can't be sliced")
    size = len(range(*slice(start, stop, step).indices(len(value))))
    if isinstance(value, str):
        budget.characters(size)
    else:
        budget.items(size)
    try:
        return value[start:stop:step]
    except TypeError:  # a sequence without slices, such as a deque
        budget.items(len(value))
        return list(value)[start:stop:step]


def items_of(value: object) -> Iterator[Any]:
    """The items of what a loop or a function goes through."""
    if is_list(value) or is_mapping(value) or isinstance(value, range):
        return iter(value)
    if isinstance(value, str):
        raise Fault("a text is no list; its lines are `text | lines`")
    if is_set(value):
        raise Fault(f"{a_type(value)} has no order; give sorted(…)")
    if isinstance(value, Element) or is_bytes(value) or not is_iterable(value):
        raise Fault(f"{_kind(value)} is no list")
    return iter(value)


def text_of(value: object) -> str:
    """What a value is in the middle of a text: as it would stand in the prompt."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, (int, float)):
        if isinstance(value, float) and value - value != 0.0:
            raise Fault(f"{value!r} has no text: only finite numbers have")
        return number_text(value)
    raise Fault(refused(value, "a text", in_text=True))


def number_text(value: float) -> str:
    """The text of a number, as it stands in a prompt: of an enum's member its value's."""
    return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)


def truth_of(value: object) -> bool:
    """Whether a value counts as true."""
    if value is True or value is False:
        return value
    try:
        return bool(value)
    except (TypeError, ValueError) as error:
        raise Fault(f"{a_type(value)} is neither true nor false: {one_line(str(error))}") from None


def expanded_size(value: object) -> tuple[int, int]:
    """How many items data has, and how many characters, if what is shared in it is counted as often as it stands.

    What holds itself counts once there: who takes the data refuses it.
    """
    done: dict[int, tuple[int, int]] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack:
        one, is_counted = stack.pop()
        if id(one) in done and not is_counted:
            continue
        parts = _parts_of(one)
        if not is_counted:
            done[id(one)] = (1, len(one) if isinstance(one, str) else 0)
            if parts:
                stack.append((one, True))
                stack.extend((part, False) for part in parts)
            continue
        items, characters = 1, 0
        for part in parts:
            size = done[id(part)]
            items += size[0]
            characters += size[1]
        done[id(one)] = (items, characters)
    return done[id(value)]


def _parts_of(value: Any) -> list[Any]:
    if is_list(value):
        return list(value)
    return [part for pair in value.items() for part in pair] if is_dict(value) else []


# ------------------------------------------------------------------------------------------ comparing


def equal(left: Any, right: Any, budget: Budget) -> bool:
    """``left == right``; lists and mappings item by item, so that it ends."""
    stack = [(left, right)]
    while stack:
        one, other = stack.pop()
        budget.step()
        if is_list(one) and is_list(other):
            if isinstance(one, list) != isinstance(other, list) or len(one) != len(other):
                return False
            budget.step(len(one))
            stack.extend(zip(one, other, strict=True))
        elif is_dict(one) and is_dict(other):
            budget.step(len(one))
            for key in one:
                _take_compared(key, budget)
            if one.keys() != other.keys():
                return False
            stack.extend((item, other[key]) for key, item in one.items())
        elif one is not other:
            if isinstance(one, str) and isinstance(other, str) and len(one) == len(other):
                _take_compared(one, budget)
            if not _same(one, other):
                return False
    return True


def _take_compared(value: object, budget: Budget) -> None:
    """Take of the budget what comparing a text with another one costs: two that are equal are read to their ends."""
    if isinstance(value, str):
        budget.compared(len(value))


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except RecursionError:
        raise Fault("the values are nested too deeply to compare") from None


def compare(operator: str, left: Any, right: Any, budget: Budget) -> bool:
    """``left operator right``."""
    match operator:
        case "==":
            return equal(left, right, budget)
        case "!=":
            return not equal(left, right, budget)
        case "in":
            return contains(right, left, budget)
        case "not in":
            return not contains(right, left, budget)
        case _:
            pass
    if not ((is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str))):
        raise Fault(f"{_kind(left)} and {_kind(right)} have no order; numbers have, and texts")
    if isinstance(left, str):
        budget.compared(min(len(left), len(right)))
    match operator:
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)


def contains(container: object, item: object, budget: Budget) -> bool:
    """``item in container``."""
    if isinstance(container, str):
        if not isinstance(item, str):
            raise Fault(f"only a text can be in a text, not {_kind(item)}")
        budget.step((len(container) + len(item)) // 100)
        return item in container
    if is_mapping(container) or is_set(container):
        _take_compared(item, budget)
        return isinstance(item, (str, int, float, type(None))) and item in container
    if isinstance(container, range):
        return is_number(item) and item in container
    if is_list(container):
        return any(equal(one, item, budget) for one in container)
    raise Fault(f"nothing can be in {_kind(container)}")


def _kind(value: object) -> str:
    return "None" if value is None else a_type(value)


# ------------------------------------------------------------------------------------------ calculating


def arithmetic(operator: str, left: Any, right: Any, budget: Budget) -> Any:
    """``left operator right``, within the bounds."""
    if is_number(left) and is_number(right):
        return _calculate(operator, left, right, budget)
    if operator == "+":
        if isinstance(left, str) and isinstance(right, str):
            budget.characters(len(left) + len(right))
            return left + right
        if is_list(left) and type(left) is type(right):
            budget.items(len(left) + len(right))
            both: Any = [*left, *right]
            return both if isinstance(left, list) else tuple(both)
        if isinstance(left, str) or isinstance(right, str):
            raise Fault(f"{_kind(left)} and {_kind(right)} can't be joined; a number's text is str(number)")
    if operator == "*":
        for many, times in ((left, right), (right, left)):
            if type(times) is int:
                if isinstance(many, str):
                    budget.characters(max(0, len(many) * times))
                    return many * times
                if is_list(many):
                    budget.items(max(0, len(many) * times))
                    repeated: Any = many
                    return repeated * times
    raise Fault(f"`{operator}` can't be applied to {_kind(left)} and {_kind(right)}")


def _calculate(operator: str, left: Any, right: Any, budget: Budget) -> Any:
    try:
        match operator:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/":
                result = left / right
            case "//":
                result = left // right
            case "%":
                result = left % right
            case _:
                result = _power(left, right, budget)
    except ZeroDivisionError:
        raise Fault("division by zero") from None
    except OverflowError:
        raise Fault("the number is too large") from None
    if isinstance(result, int):
        return budget.whole(result)
    if isinstance(result, complex):
        raise Fault("the root of a negative number")
    if result - result != 0.0:
        raise Fault("the number is too large")
    return result


def _power(left: Any, right: Any, budget: Budget) -> Any:
    bits = budget.bounds.bits
    if (
        isinstance(left, int)
        and isinstance(right, int)
        and right > 0
        and left.bit_length() * (right - 1) > bits
    ):
        raise Fault(f"the number is too large: it has more than {bits:,} bits")
    return left**right
