"""Reading what clients stream: their objects, or the same as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from priompt_py.providers.sdk_data import as_data

__all__ = ["failure", "field", "items", "mapping", "number", "text"]


def field(source: object, name: str) -> Any:
    """What stands under a name in a mapping or an object; None where nothing does."""
    if isinstance(source, Mapping):
        return cast("Mapping[str, Any]", source).get(name)
    return getattr(source, name, None)


def text(source: object, name: str) -> str:
    """The same where it is text, else ``""``: chunks say null and nothing in turns."""
    value = field(source, name)
    return value if isinstance(value, str) else ""


def mapping(source: object, name: str) -> dict[str, Any]:
    """The same as plain data where it is a mapping, else an empty one."""
    value: object = as_data(field(source, name))
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def number(source: object, name: str) -> int | None:
    """The same where it is a whole number."""
    value = field(source, name)
    return value if type(value) is int else None


def failure(event: object) -> str:
    """What an event says of a failure: its kind and its message, under ``error`` or in the event itself."""
    error = field(event, "error")
    if error is None:
        error = event
    kind = text(error, "code") or (text(error, "type") if error is not event else "")
    said = ": ".join(one for one in (kind, text(error, "message")) if one)
    return said or (str(error) if error is not event else "no reason given")


def items(source: object, name: str) -> list[Any]:
    """The same where it is a list, else none."""
    value = field(source, name)
    return [*cast("list[Any]", value)] if isinstance(value, list | tuple) else []
