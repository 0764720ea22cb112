"""What a template can write in place of a value that can't stand where it does."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Container, Iterable
from functools import lru_cache
from typing import Any

import attrs

from priompt_py.author.children import a_type, is_list, is_mapping
from priompt_py.model.elements import Element
from priompt_py.template.kinds import is_bytes, is_iterable, is_set
from priompt_py.template.source import near, one_line

__all__ = ["declared_fields", "refused", "undefined"]


def refused(value: object, where: str, *, in_text: bool = False) -> str:
    """The message about a value that can't stand ``where``; ``in_text``: in the middle of a text."""
    name: object = getattr(value, "__name__", None) if callable(value) else None
    if isinstance(name, str):
        met = f"the {'class' if isinstance(value, type) else 'function'} {one_line(name)}"
    else:
        met = a_type(value)
    return f"{met} can't stand in {where}{_instead_of(value, in_text=in_text)}"


def _instead_of(value: object, *, in_text: bool) -> str:
    """What would do."""
    if isinstance(value, Element):
        return ": elements stand between tags"
    if is_mapping(value):
        names = [key for key in value if isinstance(key, str) and key.isidentifier() and key[0] != "_"]
        return f"; take a part of it{f', such as .{names[0]}' if names else ''}, or write it with `| json`"
    if is_list(value):
        return '; write it with `| join(", ")` or `| json`'
    if is_set(value):
        return "; bring it in order with sorted(…)" + (
            "" if not in_text else ', and write that with `| join(", ")`'
        )
    if is_bytes(value):
        return ": bytes are no text until the program that gives them decodes them"
    cls: Any = type(value)
    fields = sorted(declared_fields(cls))
    if fields:
        return f"; take a part of it, such as .{fields[0]}"
    if callable(value):
        return ": the program has to call it, and give what it returns"
    if is_iterable(value):
        return '; go through it with <for>, or write it with `| join(", ")`'
    return ": the program has to give its text"


_CONSTANTS = {
    "true": "True",
    "false": "False",
    **dict.fromkeys(("none", "null", "nil", "undefined", "NULL"), "None"),
    **dict.fromkeys(("TRUE", "yes"), "True"),
    **dict.fromkeys(("FALSE", "no"), "False"),
}


def undefined(name: str, names: Iterable[str], functions: Container[str]) -> str:
    """The message about a name that isn't there, with the likely slip."""
    hint = near(name, names)
    if name in _CONSTANTS:
        hint = f"; it is written {_CONSTANTS[name]}"
    elif not hint and name in functions:
        hint = f"; it is a function: {name}(…)"
    return f"{name} is not defined{hint}"


@lru_cache(maxsize=512)
def declared_fields(cls: Any) -> frozenset[str]:
    """The fields of attrs classes, dataclasses, named tuples and pydantic models; no properties, nothing private."""
    names: Iterable[str] = ()
    found: Any = cls  # the checks below narrow the other one
    if issubclass(found, (type, Element)):
        return frozenset()
    if attrs.has(cls):
        names = [field.name for field in attrs.fields(found)]
    elif dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(found)]
    elif issubclass(cls, tuple) and isinstance(getattr(found, "_fields", None), tuple):
        names = getattr(found, "_fields")  # noqa: B009 - a private name by looks only
    elif any(base.__module__.partition(".")[0] == "pydantic" for base in found.__mro__):
        names = getattr(found, "model_fields", ())
    return frozenset(
        name
        for name in names
        if not name.startswith("_") and not isinstance(inspect.getattr_static(found, name, None), property)
    )
