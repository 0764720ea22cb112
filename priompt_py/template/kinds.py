"""What kind of data a value is, in a form that type checkers follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeGuard

__all__ = ["is_bytes", "is_dict", "is_iterable", "is_sequence", "is_set"]


def is_bytes(value: object) -> bool:
    """Whether ``value`` is bytes of any kind: to templates they are no list of numbers."""
    return isinstance(value, (bytes, bytearray, memoryview))


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """Whether ``value`` is a dict."""
    return isinstance(value, dict)


def is_set(value: object) -> TypeGuard[AbstractSet[Any]]:
    """Whether ``value`` is a set: data without an order."""
    return isinstance(value, AbstractSet)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether ``value`` has numbered items: a text, a list, a tuple, a range, …"""
    return not is_bytes(value) and isinstance(value, Sequence)


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether items can be taken from ``value``."""
    return isinstance(value, Iterable)
