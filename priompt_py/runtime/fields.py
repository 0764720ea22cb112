"""Reading what clients stream: their objects, or the same as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["field", "items", "number", "text"]


def field(source: object, name: str) -> Any:
    """What stands under a name in a mapping or an object; None where nothing does."""
    if isinstance(source, Mapping):
        return cast("Mapping[str, Any]", source).get(name)
    return getattr(source, name, None)


def text(source: object, name: str) -> str:
    """The same where it is text, else ``""``: chunks say null and nothing in turns."""
    value = field(source, name)
    return value if isinstance(value, str) else ""


def number(source: object, name: str) -> int | None:
    """The same where it is a whole number."""
    value = field(source, name)
    return value if type(value) is int else None


def items(source: object, name: str) -> list[Any]:
    """The same where it is a list, else none."""
    value = field(source, name)
    return [*cast("list[Any]", value)] if isinstance(value, list | tuple) else []
