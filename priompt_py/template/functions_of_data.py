"""Functions on numbers, lists and kinds of values. Their docstrings are their reference."""

from __future__ import annotations

import json
import math
from typing import Any

from priompt_py.author.children import a_type, is_list, is_mapping
from priompt_py.model.elements import turn
from priompt_py.template.bounds import Fault
from priompt_py.template.builtin import Context, builtin, kind_of, listed, whole_argument
from priompt_py.template.kinds import is_dict, is_sequence, is_set
from priompt_py.template.source import one_line
from priompt_py.template.values import is_number, number_text, truth_of

# ------------------------------------------------------------------------------------------ numbers and lists


@builtin
def _len(_: Context, value: object) -> int:
    """How many characters, items or keys."""
    if is_sequence(value) or is_mapping(value) or is_set(value):
        return len(value)
    raise Fault(f"{kind_of(value)} has no length")


@builtin
def _length(context: Context, value: Any) -> int:
    """The same as `len`."""
    size: int = _len(context, value)
    return size


@builtin
def _turn(_: Context, index: int) -> int:
    """The `prel` of the message with this number since the conversation began, from 0."""
    return turn(whole_argument("turn", index))


@builtin
def _range(context: Context, start: int, stop: int | None = None, step: int = 1) -> range:
    """Whole numbers: `range(3)` is 0, 1, 2; `range(1, 4)` is 1, 2, 3."""
    first, last = (0, start) if stop is None else (start, stop)
    if whole_argument("range", step) == 0:
        raise Fault("the step of range can't be 0")
    numbers = range(whole_argument("range", first), whole_argument("range", last), step)
    try:
        size = len(numbers)
    except OverflowError:
        size = context.budget.bounds.loop + 1
        raise Fault(f"a range has at most {context.budget.bounds.loop:,} numbers") from None
    if size > context.budget.bounds.loop:
        raise Fault(f"a range of {size:,} numbers: there may be {context.budget.bounds.loop:,}")
    return numbers


@builtin
def _enumerate(context: Context, items: Any, start: int = 0) -> list[tuple[int, Any]]:
    """Pairs of a number and an item."""
    return list(enumerate(listed(context, items), whole_argument("enumerate", start)))


@builtin
def _zip(context: Context, *lists: Any) -> list[tuple[Any, ...]]:
    """Tuples of the first items, the second items, …; as many as the shortest list has."""
    return list(zip(*(listed(context, one) for one in lists), strict=False))


@builtin
def _min(context: Context, *values: Any) -> Any:
    """The least of a list, or of its arguments: numbers, or texts."""
    return min(_comparable(context, "min", values))


@builtin
def _max(context: Context, *values: Any) -> Any:
    """The greatest of a list, or of its arguments: numbers, or texts."""
    return max(_comparable(context, "max", values))


def _comparable(context: Context, name: str, values: tuple[Any, ...]) -> list[Any]:
    items = listed(context, values[0] if len(values) == 1 else values)
    if not items:
        raise Fault(f"{name} of nothing; ask `if` the list has items")
    _check_order(name, items)
    _take_ordered(context, items, 1)
    return items


def _take_ordered(context: Context, items: list[Any], times: int) -> None:
    """Take of the budget that each of the texts is compared so many times."""
    context.budget.compared(times * sum(len(item) for item in items if isinstance(item, str)))


def _check_order(name: str, items: list[Any]) -> None:
    if not (all(map(is_number, items)) or all(isinstance(item, str) for item in items)):
        raise Fault(f"{name} needs numbers, or texts; both have an order, other values have none")


@builtin
def _sum(context: Context, numbers: Any) -> Any:
    """The sum of a list of numbers."""
    items = listed(context, numbers)
    if not all(map(is_number, items)):
        raise Fault("sum needs numbers")
    return _finite(context, sum(items))


def _finite(context: Context, value: Any) -> Any:
    if isinstance(value, int):
        return context.budget.whole(value)
    if value - value != 0.0:
        raise Fault("the number is too large")
    return value


@builtin
def _abs(_: Context, number: Any) -> Any:
    """The number without its sign."""
    if not is_number(number):
        raise Fault(f"abs needs a number, got {kind_of(number)}")
    return abs(number)


@builtin
def _round(_: Context, number: Any, digits: int | None = None) -> Any:
    """The nearest whole number, or the number with so many digits behind the point; halves go to the even one."""
    if not is_number(number):
        raise Fault(f"round needs a number, got {kind_of(number)}")
    if digits is not None and not -400 <= whole_argument("round", digits) <= 400:
        raise Fault("round needs between -400 and 400 digits")
    if isinstance(number, float) and not math.isfinite(number):
        raise Fault(f"{number!r} can't be rounded")
    try:
        return round(number, digits)
    except OverflowError:
        raise Fault("the number is too large") from None


@builtin
def _sorted(context: Context, items: Any, reverse: bool = False) -> list[Any]:  # noqa: FBT001, FBT002 - as Python's
    """The items in order: numbers, or texts."""
    found = listed(context, items)
    _check_order("sorted", found)
    context.budget.step(len(found) * 4)
    _take_ordered(context, found, len(found).bit_length())
    return sorted(found, reverse=truth_of(reverse))


@builtin
def _reversed(context: Context, items: Any) -> Any:
    """The items from the last to the first; of a text its characters."""
    if isinstance(items, str):
        context.budget.characters(len(items))
        return items[::-1]
    return listed(context, items)[::-1]


@builtin
def _first(_: Context, items: Any) -> Any:
    """The first item; None of an empty list."""
    return next(iter(_some(items, 1)), None)


@builtin
def _last(_: Context, items: Any) -> Any:
    """The last item; None of an empty list."""
    return next(iter(_some(items, -1)), None)


def _some(items: Any, count: int) -> Any:
    if isinstance(items, (str, range)) or is_list(items):
        return items[:1] if count > 0 else items[-1:]
    raise Fault(f"{kind_of(items)} has no first and last item")


# ------------------------------------------------------------------------------------------ kinds of values


@builtin
def _str(_: Context, value: Any) -> str:
    """The text of a number, of True, False or None; a text as it is."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    hint = "; use json" if is_list(value) or is_dict(value) else ""
    raise Fault(f"str needs a text, a number, True, False or None, got {kind_of(value)}{hint}")


_MOST_DIGITS = 600


@builtin
def _int(context: Context, value: Any) -> int:
    """The whole number of a text, or the whole part of a number."""
    try:
        if isinstance(value, str):
            if len(value) > _MOST_DIGITS:
                raise Fault(f"int needs at most {_MOST_DIGITS} digits, got {len(value):,} characters")
            return context.budget.whole(int(value))
        if isinstance(value, (bool, int, float)):
            return context.budget.whole(int(value))
    except (ValueError, OverflowError):
        raise Fault(f"int needs a whole number, got {one_line(repr(value))}") from None
    raise Fault(f"int needs a text or a number, got {kind_of(value)}")


@builtin
def _float(_: Context, value: Any) -> float:
    """The number of a text, with a point."""
    try:
        if isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MOST_DIGITS):
            found = float(value)
            if found - found == 0.0:
                return found
    except (ValueError, OverflowError):
        pass
    shown = one_line(repr(value)) if isinstance(value, (str, int, float)) else kind_of(value)
    raise Fault(f"float needs a finite number, got {shown}")


@builtin
def _bool(_: Context, value: Any) -> bool:
    """True or False: empty texts and lists, 0 and None are False."""
    return truth_of(value)


@builtin
def _json(context: Context, value: Any, indent: int | None = None) -> str:
    """The value as JSON text, on one line, or indented by so many blanks a level."""
    if indent is not None:
        indent = min(whole_argument("json", indent, least=0), 16)
    _measure_json(context, value, 0 if indent is None else indent)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(f"json can't write this value: {one_line(str(error), 80)}") from None


@builtin
def _tojson(context: Context, value: Any, indent: int | None = None) -> str:
    """The same as `json`."""
    text: str = _json(context, value, indent)
    return text


def _measure_json(context: Context, value: Any, indent: int) -> None:
    """Charge for a value's JSON before it is made: shared parts count each time that they stand in it."""
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        here, depth = stack.pop()
        if depth > 100:
            raise Fault("json can't write this value: it is nested more than 100 deep")
        context.budget.step()
        context.budget.characters(2 + indent * depth)
        if isinstance(here, str):
            context.budget.characters(len(here) + 2)
        elif is_list(here):
            context.budget.step(len(here))
            stack.extend((item, depth + 1) for item in here)
        elif is_dict(here):
            context.budget.step(len(here))
            for key, item in here.items():
                context.budget.characters(len(key) if isinstance(key, str) else 20)
                stack.append((item, depth + 1))
        elif not (here is None or isinstance(here, (bool, int, float))):
            raise Fault(f"json can't write {a_type(here)}; it takes texts, numbers, lists and mappings")


@builtin
def _default(_: Context, value: Any, other: Any) -> Any:
    """`other` where the value is None or not defined."""
    return other if value is None else value
