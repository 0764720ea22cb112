"""What readers of histories share: every function gets the place that its errors begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

from priompt_py.author.parts import part
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Element
from priompt_py.providers.sdk_data import as_data

__all__ = ["PartTokens", "at", "list_of", "mapping", "of_role", "only", "opaque", "shown", "text"]

PartTokens: TypeAlias = Callable[[Mapping[str, Any]], int]
"""Tells the tokens of a part that stays opaque."""

_T = TypeVar("_T")


def list_of(function: str, value: object, what: str) -> list[Any]:
    """The items of a history, whatever holds them; a client's objects as plain data."""
    if _is_list(value):
        return [as_data(item) for item in value]
    raise ArgumentTypeError(f"{function}() needs a list of {what}, got {shown(value)}")


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def mapping(place: str, value: object) -> dict[str, Any]:
    """``value`` as a dict without the keys that hold None."""
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {key: item for key, item in given.items() if item is not None}
    raise ArgumentTypeError(f"{place} needs a mapping, got {shown(value)}")


def only(place: str, given: Mapping[str, Any], keys: Iterable[str], what: str) -> None:
    """Raises ArgumentValueError for a key that is not among ``keys``."""
    for key in given:
        if key not in keys:
            article = "an" if what[0] in "aeio" else "a"
            raise ArgumentValueError(
                f"{place} has the unknown key {key!r}; {article} {what} takes {', '.join(keys)}"
            )


def of_role(role: str) -> str:
    """A message of this role, in an error."""
    return f"{'an' if role == 'assistant' else 'a'} {role} message"


def text(place: str, value: object) -> str:
    """``value``, if it is text."""
    if isinstance(value, str):
        return value
    raise ArgumentTypeError(f"{place} needs text, got {shown(value)}")


def opaque(place: str, provider: str, value: object, tokens: PartTokens | None) -> Element:
    """A part that only ``provider`` gets back, verbatim but for keys that hold None: dumps of a client's objects
    have them, and the APIs refuse many."""
    data = mapping(place, value)
    cost = None if tokens is None else tokens(data)
    return at(place, lambda: part(provider=provider, data=data, tokens=cost))


def at(place: str, build: Callable[[], _T]) -> _T:
    """What ``build`` makes; the errors of tags begin with ``place``."""
    try:
        return build()
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{place}: {error}") from None


def shown(value: object) -> str:
    """A value in an error: the beginning of its repr, and its type."""
    found = repr(value)
    return f"{found if len(found) <= 60 else found[:57] + '...'} ({type(value).__name__})"
