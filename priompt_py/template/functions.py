"""The functions and filters that every template has. A filter is a function that gets the value first."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.author.children import a_type, is_list, is_mapping
from priompt_py.errors import PromptError
from priompt_py.model.elements import turn
from priompt_py.template.bounds import Budget, Fault
from priompt_py.template.source import one_line, shared_start
from priompt_py.template.values import is_number, items_of, text_of, truth_of

if TYPE_CHECKING:
    from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["BUILTINS", "Builtin", "Context"]


@attrs.frozen(eq=False)
class Context:
    """What functions may need: the budget, and a tokenizer, which is made when it is asked for."""

    budget: Budget
    tokenizer: Callable[[], Tokenizer]


class Builtin:
    """A function of the language: it gets the context, then its arguments. Its docstring is its reference."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name = name
        self.function = function
        self.meaning = inspect.cleandoc(function.__doc__ or "")
        parameters = list(inspect.signature(function).parameters.values())[1:]
        self.signature = inspect.Signature(parameters)

    def __call__(self, context: Context, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        context.budget.step(_COST_OF_CALL)
        try:
            return self.function(context, *arguments, **keywords)
        except TypeError as error:
            # Looked at only now: to bind each call would take three times as long as most of them.
            try:
                self.signature.bind(*arguments, **keywords)
            except TypeError as why:
                raise Fault(f"{self.name}(): {why}; it is {self.written}") from None
            raise Fault(f"{self.name}(): {one_line(str(error), 80)}") from None
        except (ValueError, ArithmeticError, LookupError, MemoryError, RecursionError) as error:
            raise Fault(f"{self.name}(): {one_line(str(error), 80)}") from None

    @property
    def written(self) -> str:
        """How a call of it is written."""
        pieces: list[str] = []
        for one in self.signature.parameters.values():
            if one.kind is inspect.Parameter.VAR_POSITIONAL:
                pieces.append("…")
            elif one.default is inspect.Parameter.empty:
                pieces.append(one.name)
            else:
                pieces.append(f"{one.name}={one.default!r}")
        return f"{self.name}({', '.join(pieces)})"


_COST_OF_CALL = 3  # steps

BUILTINS: dict[str, Builtin] = {}


def _builtin(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__.strip("_")
    BUILTINS[name] = Builtin(function, name)
    return function


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise Fault(f"{name} needs a text, got {_kind(value)}")


def _whole(name: str, value: object, *, least: int | None = None) -> int:
    if type(value) is not int:
        raise Fault(f"{name} needs a whole number, got {_kind(value)}")
    if least is not None and value < least:
        raise Fault(f"{name} needs a number of at least {least}, got {value}")
    return value


def _kind(value: object) -> str:
    return "None" if value is None else a_type(value)


def _listed(context: Context, value: Any) -> list[Any]:
    """The items as a new list, within the bounds."""
    if is_list(value) or isinstance(value, (range, dict)):
        context.budget.items(len(value))  # pyright: ignore[reportUnknownArgumentType]
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    found: list[Any] = []
    if isinstance(value, (set, frozenset)):
        context.budget.items(len(value))  # pyright: ignore[reportUnknownArgumentType]
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    most = context.budget.bounds.loop
    for item in items_of(value):
        if len(found) == most:
            raise Fault(f"a list of more than {most:,} items")
        found.append(item)
    context.budget.step(len(found))
    return found


# ------------------------------------------------------------------------------------------ numbers and lists


@_builtin
def _len(_: Context, value: Any) -> int:
    """How many characters, items or keys."""
    if (
        isinstance(value, (str, range))
        or is_list(value)
        or is_mapping(value)
        or isinstance(value, (set, frozenset))
    ):
        return len(value)  # pyright: ignore[reportUnknownArgumentType]
    raise Fault(f"{_kind(value)} has no length")


@_builtin
def _length(context: Context, value: Any) -> int:
    """The same as `len`."""
    size: int = _len(context, value)
    return size


@_builtin
def _turn(_: Context, index: int) -> int:
    """The `prel` of the message with this number since the conversation began, from 0."""
    return turn(_whole("turn", index))


@_builtin
def _range(context: Context, start: int, stop: int | None = None, step: int = 1) -> range:
    """Whole numbers: `range(3)` is 0, 1, 2; `range(1, 4)` is 1, 2, 3."""
    first, last = (0, start) if stop is None else (start, stop)
    if _whole("range", step) == 0:
        raise Fault("the step of range can't be 0")
    numbers = range(_whole("range", first), _whole("range", last), step)
    try:
        size = len(numbers)
    except OverflowError:
        size = context.budget.bounds.loop + 1
        raise Fault(f"a range has at most {context.budget.bounds.loop:,} numbers") from None
    if size > context.budget.bounds.loop:
        raise Fault(f"a range of {size:,} numbers: there may be {context.budget.bounds.loop:,}")
    return numbers


@_builtin
def _enumerate(context: Context, items: Any, start: int = 0) -> list[tuple[int, Any]]:
    """Pairs of a number and an item."""
    return list(enumerate(_listed(context, items), _whole("enumerate", start)))


@_builtin
def _zip(context: Context, *lists: Any) -> list[tuple[Any, ...]]:
    """Tuples of the first items, the second items, …; as many as the shortest list has."""
    return list(zip(*(_listed(context, one) for one in lists), strict=False))


@_builtin
def _min(context: Context, *values: Any) -> Any:
    """The least of a list, or of its arguments: numbers, or texts."""
    return min(_comparable(context, "min", values))


@_builtin
def _max(context: Context, *values: Any) -> Any:
    """The greatest of a list, or of its arguments: numbers, or texts."""
    return max(_comparable(context, "max", values))


def _comparable(context: Context, name: str, values: tuple[Any, ...]) -> list[Any]:
    items = _listed(context, values[0] if len(values) == 1 else values)
    if not items:
        raise Fault(f"{name} of nothing; ask `if` the list has items")
    _check_order(name, items)
    return items


def _check_order(name: str, items: list[Any]) -> None:
    if not (all(map(is_number, items)) or all(isinstance(item, str) for item in items)):
        raise Fault(f"{name} needs numbers, or texts; both have an order, other values have none")


@_builtin
def _sum(context: Context, numbers: Any) -> Any:
    """The sum of a list of numbers."""
    items = _listed(context, numbers)
    if not all(map(is_number, items)):
        raise Fault("sum needs numbers")
    return _finite(context, sum(items))


def _finite(context: Context, value: Any) -> Any:
    if isinstance(value, int):
        return context.budget.whole(value)
    if value - value != 0.0:
        raise Fault("the number is too large")
    return value


@_builtin
def _abs(_: Context, number: Any) -> Any:
    """The number without its sign."""
    if not is_number(number):
        raise Fault(f"abs needs a number, got {_kind(number)}")
    return abs(number)


@_builtin
def _round(_: Context, number: Any, digits: int | None = None) -> Any:
    """The nearest whole number, or the number with so many digits behind the point; halves go to the even one."""
    if not is_number(number):
        raise Fault(f"round needs a number, got {_kind(number)}")
    if digits is not None and not -400 <= _whole("round", digits) <= 400:
        raise Fault("round needs between -400 and 400 digits")
    if isinstance(number, float) and not math.isfinite(number):
        raise Fault(f"{number!r} can't be rounded")
    try:
        return round(number, digits)
    except OverflowError:
        raise Fault("the number is too large") from None


@_builtin
def _sorted(context: Context, items: Any, reverse: bool = False) -> list[Any]:  # noqa: FBT001, FBT002 - as Python's
    """The items in order: numbers, or texts."""
    found = _listed(context, items)
    _check_order("sorted", found)
    context.budget.step(len(found) * 4)
    return sorted(found, reverse=truth_of(reverse))


@_builtin
def _reversed(context: Context, items: Any) -> Any:
    """The items from the last to the first; of a text its characters."""
    if isinstance(items, str):
        context.budget.characters(len(items))
        return items[::-1]
    return _listed(context, items)[::-1]


@_builtin
def _first(_: Context, items: Any) -> Any:
    """The first item; None of an empty list."""
    return next(iter(_some(items, 1)), None)


@_builtin
def _last(_: Context, items: Any) -> Any:
    """The last item; None of an empty list."""
    return next(iter(_some(items, -1)), None)


def _some(items: Any, count: int) -> Any:
    if isinstance(items, (str, range)) or is_list(items):
        return items[:1] if count > 0 else items[-1:]
    raise Fault(f"{_kind(items)} has no first and last item")


# ------------------------------------------------------------------------------------------ kinds of values


@_builtin
def _str(_: Context, value: Any) -> str:
    """The text of a number, of True, False or None; a text as it is."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    raise Fault(f"str needs a text, a number, True, False or None, got {_kind(value)}; use json")


_MOST_DIGITS = 600


@_builtin
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
    raise Fault(f"int needs a text or a number, got {_kind(value)}")


@_builtin
def _float(_: Context, value: Any) -> float:
    """The number of a text, with a point."""
    try:
        if isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MOST_DIGITS):
            found = float(value)
            if found - found == 0.0:
                return found
    except (ValueError, OverflowError):
        pass
    shown = one_line(repr(value)) if isinstance(value, (str, int, float)) else _kind(value)
    raise Fault(f"float needs a finite number, got {shown}")


@_builtin
def _bool(_: Context, value: Any) -> bool:
    """True or False: empty texts and lists, 0 and None are False."""
    return truth_of(value)


@_builtin
def _json(context: Context, value: Any, indent: int | None = None) -> str:
    """The value as JSON text, on one line, or indented by so many blanks a level."""
    if indent is not None:
        indent = min(_whole("json", indent, least=0), 16)
    _measure_json(context, value, 0 if indent is None else indent)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(f"json can't write this value: {one_line(str(error), 80)}") from None


@_builtin
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
        elif isinstance(here, dict):
            context.budget.step(len(here))  # pyright: ignore[reportUnknownArgumentType]
            for key, item in here.items():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                context.budget.characters(len(key) if isinstance(key, str) else 20)
                stack.append((item, depth + 1))
        elif not (here is None or isinstance(here, (bool, int, float))):
            raise Fault(f"json can't write {a_type(here)}; it takes texts, numbers, lists and mappings")


# ------------------------------------------------------------------------------------------ texts


@_builtin
def _capitalize(context: Context, text: str) -> str:
    """The first character as a capital, the others small."""
    return _changed(context, _text("capitalize", text)).capitalize()


@_builtin
def _upper(context: Context, text: str) -> str:
    """All in capitals."""
    return _changed(context, _text("upper", text)).upper()


@_builtin
def _lower(context: Context, text: str) -> str:
    """All in small letters."""
    return _changed(context, _text("lower", text)).lower()


@_builtin
def _title(context: Context, text: str) -> str:
    """Each word with a capital."""
    return _changed(context, _text("title", text)).title()


def _changed(context: Context, text: str) -> str:
    context.budget.characters(3 * len(text) if not text.isascii() else len(text))
    return text


@_builtin
def _strip(context: Context, text: str, characters: str | None = None) -> str:
    """Without blanks (or these characters) at both ends."""
    context.budget.characters(len(_text("strip", text)))
    return text.strip(None if characters is None else _text("strip", characters)[:1_000])


@_builtin
def _replace(context: Context, text: str, old: str, new: str) -> str:
    """With `new` in place of each `old`."""
    count = _text("replace", text).count(_text("replace", old))
    context.budget.characters(len(text) + count * max(0, len(_text("replace", new)) - len(old)) + count)
    return text.replace(old, new)


@_builtin
def _split(context: Context, text: str, separator: str | None = None) -> list[str]:
    """The parts between blanks, or between the separators."""
    if separator == "":
        raise Fault("split needs a separator that is not empty")
    context.budget.characters(len(_text("split", text)))
    count = text.count(_text("split", separator)) + 1 if separator is not None else len(text) // 2 + 1
    if separator is not None:
        context.budget.items(count)
    parts = text.split(separator)
    context.budget.items(len(parts))
    return parts


@_builtin
def _join(context: Context, items: Any, separator: str = "") -> str:
    """The items' texts, with the separator between them."""
    texts = [text_of(item) for item in _listed(context, items)]
    context.budget.characters(sum(map(len, texts)) + len(_text("join", separator)) * max(0, len(texts) - 1))
    return separator.join(texts)


@_builtin
def _lines(context: Context, text: str) -> list[str]:
    """The lines, without their breaks; what a last break ends is no further line."""
    context.budget.characters(len(_text("lines", text)))
    context.budget.items(text.count("\n") + 1)
    found = text.split("\n")
    if not found[-1]:
        found.pop()
    return [line.removesuffix("\r") for line in found]


@_builtin
def _indent(context: Context, text: str, width: int = 4, first: bool = False) -> str:  # noqa: FBT001, FBT002
    """With so many blanks before each line but the first (that too with `first=True`); blank lines get none."""
    if _whole("indent", width, least=0) > 1_000:
        raise Fault("indent takes at most 1,000 blanks")
    count = _text("indent", text).count("\n") + 1
    context.budget.characters(len(text) + count * width)
    blanks = " " * width
    done = re.sub(r"\n(?=[^\n])", "\n" + blanks, text)
    return blanks + done if truth_of(first) and done else done


@_builtin
def _dedent(context: Context, text: str) -> str:
    """Without the blanks that all lines share."""
    context.budget.characters(2 * len(_text("dedent", text)))
    lines = text.split("\n")
    context.budget.step(len(lines))
    shared = shared_start(
        [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip(" \t")]
    )
    return "\n".join(line.removeprefix(shared) if line.strip(" \t") else line.lstrip(" \t") for line in lines)


@_builtin
def _truncate(context: Context, text: str, length: int, marker: str = "…") -> str:
    """Cut to so many characters (code points), marker included."""
    size = _whole("truncate", length, least=0)
    if len(_text("truncate", text)) <= size:
        return text
    end = _text("truncate", marker)
    context.budget.characters(size)
    return text[: size - len(end)] + end if len(end) <= size else end[:size]


@_builtin
def _fit(context: Context, text: str, tokens: int, marker: str = "…", keep: str = "head") -> str:
    """Cut to so many tokens, marker included; `keep` says what stays: `head`, `tail` or `ends`."""
    from priompt_py.tokens.truncate import truncate_to

    context.budget.characters(len(_text("fit", text)) + len(_text("fit", marker)))
    context.budget.step(_whole("fit", tokens, least=0) // 4)
    choice: Any = keep
    try:
        return truncate_to(text, tokens, context.tokenizer(), marker=marker, keep=choice)
    except PromptError as error:
        raise Fault(str(error).replace("truncate_to()", "fit")) from None


@_builtin
def _tokens(context: Context, text: str) -> int:
    """How many tokens a text has."""
    context.budget.characters(len(_text("tokens", text)))
    context.budget.step(len(text) // 4)
    return context.tokenizer().count(text)


@_builtin
def _default(_: Context, value: Any, other: Any) -> Any:
    """`other` where the value is None or not defined."""
    return other if value is None else value
