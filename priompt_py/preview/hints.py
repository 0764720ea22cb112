"""What the annotations of a prompt say about its props: which Python type a JSON value stands for.

An annotation becomes its *options*: the members of a union, without ``None``, wrappers and aliases. ``Any`` stands for
what is not annotated and for annotations that can't be read.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import functools
import inspect
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from priompt_py.author.type_schema import LISTS, MAPPINGS, SETS
from priompt_py.author.typed_fields import has_fields, is_model, without_wrappers

__all__ = [
    "ANY",
    "TEXTS",
    "FieldHint",
    "Options",
    "Sort",
    "arguments_of_init",
    "fields_of",
    "hints_of",
    "is_record",
    "items_of",
    "keys_of",
    "kind_of",
    "options_of",
    "readers",
    "values_of",
]

Options: TypeAlias = "tuple[Any, ...]"
"""What a value may be, as types without parameters (``str``), with them (``list[str]``), or ``Any``."""

Sort: TypeAlias = Literal["text", "number", "array", "object"]
"""The sorts of JSON; booleans count as numbers, null is always None."""

TEXTS: tuple[type, ...] = (
    bytes,
    bytearray,
    dt.datetime,
    dt.date,
    dt.time,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    pathlib.Path,
)
"""Types whose JSON form is a text."""

ANY: Options = (Any,)


def options_of(annotation: Any) -> Options:
    """The options of an annotation, each once."""
    found: list[Any] = []
    stack = [annotation]
    while stack:
        here = without_wrappers(stack.pop())
        origin = typing.get_origin(here)
        if origin in (typing.Union, types.UnionType):
            stack.extend(reversed(typing.get_args(here)))
        elif origin is Literal:
            values: tuple[object, ...] = typing.get_args(here)
            stack.extend(map(type, reversed(values)))
        elif isinstance(here, typing.TypeVar):
            stack.extend(reversed(here.__constraints__ or (here.__bound__ or Any,)))
        elif here in (None, types.NoneType):
            continue
        else:
            one = origin if is_record(origin) or is_model(origin) else here
            if isinstance(one, type) and issubclass(one, pathlib.PurePath):
                one = pathlib.Path
            if one not in found:
                found.append(one)
    return tuple(found) or ANY


def kind_of(option: Any) -> Any:
    """The type of an option without its parameters: ``list`` for ``list[str]``."""
    return typing.get_origin(option) or option


def is_record(value: object) -> bool:
    """Whether a type is a dataclass, an attrs class or a named tuple, which is written as an object of its fields."""
    cls: Any = value
    if tuple in getattr(cls, "__mro__", ()):
        return hasattr(cls, "_fields")
    return has_fields(cls) and dict not in cls.__mro__


def _is_typed_dict(value: object) -> bool:
    return has_fields(value) and issubclass(value, dict)


# ------------------------------------------------------------------------------------------ plain JSON


def _sorts(option: Any) -> tuple[Sort, ...]:
    """The sorts of plain JSON that stand for something else under this option; () where all stay as they are."""
    kind = kind_of(option)
    if kind in TEXTS:
        return ("text",)
    if isinstance(kind, enum.EnumMeta):
        return ("text", "number")
    if is_record(kind) or is_model(kind):
        return ("object",)
    return ("array",) if kind is tuple or kind in SETS else ()


def _keeps(option: Any, sort: Sort) -> bool:
    """Whether plain JSON of this sort is what it is under this option."""
    kind = kind_of(option)
    if kind is str:
        return sort == "text"
    if kind in (int, float, bool, complex, dt.timedelta):
        return sort == "number"
    if kind in LISTS:
        return sort == "array"
    if kind in MAPPINGS or _is_typed_dict(kind):
        return sort == "object"
    return not _sorts(option)  # Any, and types that we don't know


@functools.lru_cache(maxsize=4_000)
def readers(options: Options, sort: Sort) -> Options:
    """The options that make something else of plain JSON of this sort; () where it is what it is."""
    if any(_keeps(option, sort) for option in options):
        return ()
    return tuple(option for option in options if sort in _sorts(option))


@functools.lru_cache(maxsize=4_000)
def items_of(options: Options, kinds: tuple[Any, ...], index: int) -> Options:
    """The options of the item at a 0-based index of a list, tuple or set, whose types are ``kinds``."""
    found: list[Any] = []
    for option in options:
        if kind_of(option) in kinds:
            inner = typing.get_args(option)
            if kind_of(option) is tuple and inner[1:] != (...,):
                found.extend(options_of(inner[index]) if index < len(inner) else ANY)
            else:
                found.extend(options_of(inner[0]) if inner else ANY)
    return tuple(dict.fromkeys(found)) or ANY


@functools.lru_cache(maxsize=4_000)
def keys_of(options: Options) -> Options:
    """The options of the keys of a dict."""
    found: list[Any] = []
    for option in options:
        if kind_of(option) in MAPPINGS:
            inner = typing.get_args(option)
            found.extend(options_of(inner[0]) if inner else ANY)
        elif _is_typed_dict(kind_of(option)):
            found.append(str)
    return tuple(dict.fromkeys(found)) or ANY


def values_of(options: Options, key: Any) -> Options:
    """The options of the value at a key of a dict."""
    if options == ANY:
        return ANY
    found: list[Any] = []
    for option in options:
        kind = kind_of(option)
        if _is_typed_dict(kind):
            found.extend(hints_of(kind).get(key, ANY))
        elif kind in MAPPINGS:
            inner = typing.get_args(option)
            found.extend(options_of(inner[1]) if inner else ANY)
    return tuple(dict.fromkeys(found)) or ANY


# ------------------------------------------------------------------------------------------ functions and classes


@attrs.frozen
class FieldHint:
    """A field of a class: its attribute, what the constructor calls it, its options, whether it must be given."""

    attribute: str
    argument: str
    options: Options
    required: bool


@functools.lru_cache(maxsize=1_000)
def hints_of(value: Any) -> Mapping[str, Options]:
    """The options of a function's parameters or a class's attributes, by name."""
    try:
        annotations: dict[str, Any] = typing.get_type_hints(value, include_extras=True)
    except Exception:  # noqa: BLE001 - one annotation can't be read, often because its name is imported for type checkers only
        annotations = _one_by_one(value)
    return {name: options_of(annotation) for name, annotation in annotations.items()}


def _one_by_one(value: Any) -> dict[str, Any]:
    """The annotations that can be read, each by itself."""
    found: dict[str, Any] = {}
    for owner in reversed(value.__mro__) if isinstance(value, type) else (inspect.unwrap(value),):
        for name, annotation in getattr(owner, "__annotations__", {}).items():
            names = vars(inspect.getmodule(owner) or types)
            holder = types.SimpleNamespace(__annotations__={name: annotation})
            try:
                found.update(typing.get_type_hints(holder, names, dict(vars(owner)), include_extras=True))
            except Exception:  # noqa: BLE001 - as above
                found[name] = Any
    return found


@functools.lru_cache(maxsize=1_000)
def fields_of(cls: Any) -> tuple[FieldHint, ...]:
    """The fields of a dataclass, an attrs class or a named tuple that its constructor takes."""
    hints = hints_of(cls)
    names: Any = getattr(cls, "_fields", None)
    if names is not None:
        return tuple(
            FieldHint(name, name, hints.get(name, ANY), name not in cls._field_defaults) for name in names
        )
    if dataclasses.is_dataclass(cls):
        return tuple(
            FieldHint(
                field.name,
                field.name,
                hints.get(field.name, ANY),
                field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            )
            for field in dataclasses.fields(cls)
            if field.init
        )
    return tuple(
        FieldHint(
            field.name, field.alias or field.name, hints.get(field.name, ANY), field.default is attrs.NOTHING
        )
        for field in attrs.fields(cls)
        if field.init
    )


def arguments_of_init(cls: Callable[..., Any]) -> list[str]:
    """What the constructor of a class takes."""
    return list(inspect.signature(cls).parameters)
