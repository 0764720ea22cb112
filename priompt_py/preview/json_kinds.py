"""Types of values that come from outside, told to the type checkers."""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["class_of", "is_array", "is_object"]


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is a dict, as json.loads makes them: its keys are texts."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a list."""
    return isinstance(value, list)


def class_of(value: object) -> Any:
    """The type of a value, of which a checker knows nothing."""
    return type(value)
