"""The one place that says what a child may be, spreads the rest, and refuses by name.

Spreading: lists, tuples, generators and other iterators give their items, in order, to any depth.
What is left is a text, a number, ``None``, a boolean or an element. Paths count what is left.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from io import IOBase
from typing import Any, TypeAlias, TypeGuard, cast

from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import (
    AsyncNode,
    Child,
    Container,
    Element,
    Fallback,
    First,
    Isolate,
    Max,
    Message,
    Scope,
    element_type,
)
from priompt_py.model.values import short_repr

__all__ = [
    "Owner",
    "a_type",
    "clean_number",
    "clean_text",
    "close_unawaited",
    "has_digits",
    "is_list",
    "is_mapping",
    "place",
    "spread",
    "type_name",
]

Owner: TypeAlias = str | Element
"""Whose children they are, for messages: an element, or a name."""

_LONG_INT_BITS = 2_000  # 640 digits (2,126 bits) are the least limit that Python can be set to


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether ``value`` is a list or tuple."""
    return isinstance(value, (list, tuple))


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether ``value`` is a mapping."""
    return isinstance(value, Mapping)


def clean_text(text: str) -> str:
    """``text`` as an exact ``str`` that can be encoded.

    Surrogate halves that form a pair are joined, lone ones become U+FFFD, so that the text that
    is sent and the text that is counted are the same.
    """
    if type(text) is not str:
        text = str.__str__(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_number(number: int | float, where: str) -> int | float:
    """A number as an exact ``int`` or finite ``float``; raises ArgumentValueError naming ``where``."""
    if isinstance(number, float):
        exact = number if type(number) is float else float.__float__(number)
        if not math.isfinite(exact):
            raise ArgumentValueError(f"{where}: got {exact!r}: only finite numbers have a text")
        return exact
    whole = number if type(number) is int else int.__int__(number)
    if not has_digits(whole):
        raise ArgumentValueError(
            f"{where}: an int of {whole.bit_length()} bits has too many digits to print; give its text"
        )
    return whole


def has_digits(whole: int) -> bool:
    """Whether Python prints the number: by default it refuses more than 4,300 digits."""
    if whole.bit_length() > _LONG_INT_BITS:
        try:
            str(whole)
        except ValueError:
            return False
    return True


_LISTS = (tuple, list)
_ELEMENT_TYPES = {type(None), Scope, First, Fallback, Message, Isolate, Max}


def spread(value: Any, owner: Owner) -> tuple[Child, ...]:
    """``value`` as the children of ``owner``, spread to a flat tuple.

    Raises ArgumentTypeError for what can't stand in a prompt, ArgumentValueError for numbers
    that have no text; both name the place as ``owner > index``.
    """
    if type(value) is str:
        return (clean_text(value),)
    if type(value) in _LISTS:
        if _ELEMENT_TYPES.issuperset(map(type, value)):  # twice as quick as a loop, where it applies
            return tuple(value)
        for item in value:
            if not ((type(item) is str and item.isascii()) or isinstance(item, Element) or item is None):
                break
        else:
            return tuple(value)
    try:
        return _spread(value, owner)
    except BaseException:
        close_unawaited(value)
        raise


def close_unawaited(value: object) -> None:
    """Close the coroutines in what was refused, so that nobody is warned of a mistake that is reported already.

    Looks into lists, tuples and elements; what a generator would still have given is its own.
    """
    stack: list[Any] = [value]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        if isinstance(item, AsyncNode):
            item = item.source
        if inspect.iscoroutine(item):
            if inspect.getcoroutinestate(item) == inspect.CORO_CREATED:
                item.close()
            continue
        inside: Any = item.children if isinstance(item, Container) else item
        if isinstance(inside, (list, tuple)) and id(item) not in seen:
            seen.add(id(item))
            stack.extend(cast("Sequence[Any]", inside))


def _spread(value: Any, owner: Owner) -> tuple[Child, ...]:
    out: list[Child] = []
    stack: list[Iterator[Any]] = []
    open_lists: dict[int, None] = {}  # by id, innermost last
    here: Iterator[Any] = iter((value,))
    while True:
        try:
            for item in here:
                if type(item) is str:
                    out.append(item if item.isascii() else clean_text(item))
                elif item is None or item is True or item is False or isinstance(item, Element):
                    out.append(item)
                elif issubclass(type(item), (list, tuple)) or _is_iterator(item, owner, len(out)):
                    if id(item) in open_lists:
                        raise ArgumentValueError(
                            f"{place(owner, len(out))}: {a_type(item)} that holds itself"
                        )
                    stack.append(here)
                    open_lists[id(item)] = None
                    here = iter(item)
                    break
                else:
                    out.append(_one(item, owner, len(out)))
            else:
                if not stack:
                    return tuple(out)
                here = stack.pop()
                open_lists.popitem()
        except Exception as error:
            if inspect.isgenerator(here):
                note = f"while {here.__name__} gave child {len(out)} of {_name(owner)}"
                if note not in getattr(error, "__notes__", ()):
                    error.add_note(note)
            raise


def _name(owner: Owner) -> str:
    """What messages call the owner: its type and label."""
    if isinstance(owner, str):
        return owner
    name = element_type(owner)
    if owner.key is not None:
        return f"{name}[key={owner.key}]"
    if isinstance(owner, (Scope, First, Fallback)) and owner.name is not None:
        return f"{name}[name={owner.name}]"
    return name


def place(owner: Owner, index: int) -> str:
    """The path of a child, from the element that is being built."""
    return f"{_name(owner)} > {index}"


def _is_iterator(item: object, owner: Owner, index: int) -> bool:
    """Whether to take items from ``item``; refuses a generator that is used up already."""
    if inspect.isgenerator(item) and item.gi_frame is None:
        raise ArgumentValueError(
            f"{place(owner, index)}: the generator {item.__name__!r} is used up already; "
            "make a new one, or give its items as a list"
        )
    return isinstance(item, Iterator) and not isinstance(item, IOBase)


def _one(item: object, owner: Owner, index: int) -> Child:
    """A child that is neither a plain string, an element nor spread."""
    if isinstance(item, str):
        return clean_text(item)
    if isinstance(item, (int, float)):
        return clean_number(item, place(owner, index))
    if inspect.iscoroutine(item):
        if inspect.getcoroutinestate(item) != inspect.CORO_CREATED:
            raise ArgumentValueError(
                f"{place(owner, index)}: the coroutine {item.__name__!r} was awaited already; "
                "give the async function itself, or call it again"
            )
        return AsyncNode(source=item)
    if inspect.iscoroutinefunction(item):
        if _needs_arguments(item):
            name = getattr(item, "__name__", "function")
            raise ArgumentTypeError(
                f"{place(owner, index)}: the async function {name!r} needs arguments; call it: {name}(...)"
            )
        return AsyncNode(source=item)
    raise ArgumentTypeError(f"{place(owner, index)}: {_refusal(item)}")


def _needs_arguments(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return True
    return False


def _refusal(item: object) -> str:
    """What was met and what would do, for a value that can't stand in a prompt."""
    met = f"{a_type(item)} can't stand in a prompt"
    if isinstance(item, (bytes, bytearray, memoryview)):
        return f"{met}; decode it to text, or use image(data=...)"
    if inspect.isasyncgen(item):
        return f"{met}; collect its items in an async component"
    if inspect.isawaitable(item):
        return f"{met}; give a coroutine or an async function"
    if isinstance(item, IOBase):
        return f"{met}; give its text: file.read()"
    if isinstance(item, Mapping) and "role" in item:
        return f"{met}; from_openai([...]) makes elements of messages in OpenAI's form"
    if isinstance(item, (Mapping, AbstractSet)):
        return f"{met}; write out its text, or give a list"
    if callable(item):
        name = getattr(item, "__name__", None)
        if not isinstance(name, str):
            return f"{met}; call it"
        return f"the {type_name(item)} {name!r} can't stand in a prompt; call it: {name}(...)"
    if isinstance(item, Iterable):
        return f"{met} (got {short_repr(item)}); give its items: list(...)"  # pyright: ignore[reportUnknownArgumentType]
    return f"{met} (got {short_repr(item)}); give its text: str(...)"


def type_name(value: object) -> str:
    """A type's name as its user writes it: ``int``, ``numpy.int64``."""
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def a_type(value: object) -> str:
    """The same with its article: ``an int``."""
    name = type_name(value)
    return f"{'an' if name.lstrip('_')[:1] in tuple('aeiouAEIOU') else 'a'} {name}"
