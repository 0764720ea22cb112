"""What clients hand over, read as plain data: mappings, their own objects, and stand-ins for these in tests."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

__all__ = ["as_data"]


def as_data(value: Any) -> Any:
    """``value`` with every object of a client as a dict, every sequence as a list; other values as they are.

    A client's object (a pydantic model) gives what was set in it, under the names that are sent: what the client
    itself would send if it were handed back. Mappings keep their order. The caller's data are not changed.
    """
    if isinstance(value, Mapping):
        return {key: as_data(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [as_data(item) for item in cast("list[object]", value)]
    if isinstance(value, SimpleNamespace):
        return as_data(vars(value))
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    return value
