"""Strategies of types: what is drawn for a parameter by its annotation."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import importlib
import operator
import pathlib
import types
import typing
import uuid
from collections.abc import Hashable
from typing import Any, TypeGuard

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.type_schema import LISTS, MAPPINGS, SETS, is_enum
from priompt_py.author.typed_fields import fields_of_class, has_fields, is_model, without_wrappers
from priompt_py.model.elements import Element, Node
from priompt_py.testing.leaves import texts
from priompt_py.testing.strategies import elements

__all__ = ["Types", "UnknownTypeError", "Unreadable", "how_to_give", "is_strategy", "long_texts", "numbers"]

_STANDARD: tuple[type, ...] = (
    dt.datetime,
    dt.date,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    bytes,
    bytearray,
    complex,
    range,
)
"""Types of the standard library whose values hypothesis makes well."""


@attrs.frozen
class Unreadable:
    """An annotation whose names can't be found, often because they are imported for type checkers only."""

    text: str


def how_to_give(name: str, prop: str) -> str:
    """How to say what a prop is."""
    return f"props_for({name}, {prop}=st.…), or budget_test({name}, props={{{prop!r}: st.…}})"


class UnknownTypeError(Exception):
    """No strategy is known for a type; the message says which, and what would do."""


@attrs.define
class Types:
    """Strategies of types, for one prop of one prompt."""

    name: str
    prop: str
    open: list[Any] = attrs.field(factory=list[Any])

    def of(self, annotation: Any, place: str) -> SearchStrategy[Any]:
        if _is_node(annotation):
            return elements()
        registered = _registered(annotation)
        if registered is not None:
            return registered
        if typing.get_origin(annotation) is typing.Annotated and _has_constraints(annotation):
            return _of_hypothesis(annotation)
        plain = without_wrappers(annotation)
        if plain is not annotation:
            return self.of(plain, place)
        origin = typing.get_origin(annotation)
        if origin in (typing.Union, types.UnionType):
            members = sorted(typing.get_args(annotation), key=lambda one: one is not types.NoneType)
            return st.one_of(*(self.of(member, place) for member in members))
        if origin is typing.Literal:
            return st.sampled_from(typing.get_args(annotation))
        if isinstance(annotation, typing.TypeVar):
            bound = annotation.__constraints__ or ((annotation.__bound__ or str),)
            return st.one_of(*(self.of(one, place) for one in bound))
        return self.of_class(annotation, origin or annotation, place)

    def of_class(self, annotation: Any, origin: Any, place: str) -> SearchStrategy[Any]:
        scalar = _scalar(annotation)
        if scalar is not None:
            return scalar
        if is_enum(annotation):
            return st.sampled_from(list(annotation))
        if isinstance(origin, type) and issubclass(origin, Element):
            return elements().filter(lambda node: isinstance(node, origin))
        if _has_own_fields(origin):
            return self.of_fields(origin, place)
        if isinstance(origin, type) and issubclass(origin, pathlib.PurePath):
            return st.sampled_from(("a.txt", "src/naïve name.py", "/tmp/x")).map(origin)  # noqa: S108 - never opened
        if origin in _STANDARD:
            return _of_hypothesis(origin)
        return self.of_container(annotation, origin, place)

    def of_container(self, annotation: Any, origin: Any, place: str) -> SearchStrategy[Any]:
        args = typing.get_args(annotation)
        item = f"an item of {place}"
        if origin is tuple and args and args[-1] is not ...:
            return st.tuples(*(self.of(one, item) for one in args))
        if origin in LISTS or origin is tuple:
            made = st.lists(self.of(args[0], item) if args else long_texts(), max_size=5)
            return made.map(tuple) if origin is tuple else made
        if origin in SETS:
            inner = self.of(args[0], item) if args else texts()
            return st.frozensets(inner, max_size=5) if origin is frozenset else st.sets(inner, max_size=5)
        if origin in MAPPINGS:
            keys, values = (self.of(one, item) for one in args) if args else (texts(), texts())
            return st.dictionaries(keys, values, max_size=4)
        raise UnknownTypeError(
            f"props_for(): {place} has the type {_shown(annotation)}, which no strategy is known for; give one: "
            f"{how_to_give(self.name, self.prop)}{_how_to_register(annotation)}"
        )

    def of_fields(self, cls: Any, place: str) -> SearchStrategy[Any]:
        """An instance of a class with declared fields. A class that holds itself ends where it can."""
        if cls in self.open:
            again: SearchStrategy[Any] = st.deferred(lambda: Types(self.name, self.prop).of(cls, place))
            return again
        self.open.append(cls)
        required: dict[str, SearchStrategy[Any]] = {}
        optional: dict[str, SearchStrategy[Any]] = {}
        for name, annotation, is_required in _fields(cls):
            where = f"{place} ({cls.__name__}.{name})"
            try:
                strategy = self.of(annotation, where)
            except UnknownTypeError:
                if is_required:
                    raise
                continue
            (required if is_required else optional)[name] = strategy
        self.open.pop()
        return st.fixed_dictionaries(required, optional=optional).map(lambda fields: cls(**fields))


def _fields(cls: Any) -> list[tuple[str, Any, bool]]:
    """Name, annotation and whether it must be given, for each field of a class."""
    if _is_named_tuple(cls):
        hints = typing.get_type_hints(cls, include_extras=True)
        return [(name, hints.get(name, str), name not in cls._field_defaults) for name in cls._fields]
    if is_model(cls):
        return [
            (name, field.annotation, bool(field.is_required())) for name, field in cls.model_fields.items()
        ]
    return [(field.name, field.annotation, field.required) for field in fields_of_class(cls)]


def _has_own_fields(cls: Any) -> bool:
    return _is_named_tuple(cls) or has_fields(cls) or hasattr(cls, "model_fields")


def _is_named_tuple(cls: Any) -> bool:
    return isinstance(cls, type) and tuple in cls.__mro__ and hasattr(cls, "_fields")


def _scalar(annotation: Any) -> SearchStrategy[Any] | None:
    """The strategies of the plain types; texts for those that may be anything."""
    if annotation is None or annotation is types.NoneType:
        return st.none()
    if annotation is str or annotation is Any or annotation is object or annotation is Hashable:
        return long_texts()
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return numbers()
    if annotation is float:
        return st.integers(0, 9).map(float) | st.floats(-1e6, 1e6)
    return None


def is_strategy(value: object) -> TypeGuard[SearchStrategy[Any]]:
    """Whether ``value`` is a strategy of hypothesis."""
    return isinstance(value, SearchStrategy)


def long_texts() -> SearchStrategy[str]:
    """Texts as of ``texts``, one in four of them long: some hundred or thousand tokens, so that limits are reached."""
    short = texts()
    long = st.builds(operator.mul, texts(max_words=3), st.sampled_from((10, 100)))
    return st.one_of(short, short, short, long)


def numbers() -> SearchStrategy[int]:
    """Whole numbers, small ones above all: prompts take them for lengths and places."""
    return st.integers(0, 9) | st.integers(-3, 1_000)


def _is_node(annotation: Any) -> bool:
    """Whether a type is that of nodes, as it looks at run time."""
    return (
        annotation == Node or annotation is Element or getattr(annotation, "__forward_arg__", None) == "Node"
    )


def _registered(annotation: Any) -> SearchStrategy[Any] | None:
    """What was registered for a type with hypothesis by its users; hypothesis has no public question for that."""
    if not isinstance(annotation, Hashable) or _is_plain(annotation):
        return None
    known = getattr(
        importlib.import_module("hypothesis.strategies._internal.types"), "_global_type_lookup", {}
    )
    module = getattr(annotation, "__module__", "builtins").partition(".")[0]
    if module in ("builtins", "typing", "collections", *(one.__module__ for one in _STANDARD)):
        return None
    thing: Any = annotation
    found: SearchStrategy[Any] = st.from_type(thing)
    return found if annotation in known else None


def _is_plain(annotation: Any) -> bool:
    return annotation in (str, int, float, bool, None)


def _has_constraints(annotation: Any) -> bool:
    """Whether ``Annotated`` says more than a text: bounds of annotated_types, or a strategy."""
    return any(
        isinstance(note, SearchStrategy) or type(note).__module__.partition(".")[0] == "annotated_types"
        for note in annotation.__metadata__
    )


def _of_hypothesis(annotation: Any) -> SearchStrategy[Any]:
    for note in getattr(annotation, "__metadata__", ()):
        if is_strategy(note):
            return note
    found: SearchStrategy[Any] = st.from_type(annotation)
    return found


def _shown(annotation: Any) -> str:
    if isinstance(annotation, Unreadable):
        return f"{annotation.text!r}, whose names are not there at run time"
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


def _how_to_register(annotation: Any) -> str:
    if isinstance(annotation, type):
        name = annotation.__qualname__
        return f"; or for every prompt: st.register_type_strategy({name}, st.builds({name}, …))"
    return ""
