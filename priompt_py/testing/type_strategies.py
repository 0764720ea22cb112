"""Strategies of types: what is drawn for a parameter by its annotation."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import fractions
import importlib
import operator
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeGuard

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.type_schema import LISTS, MAPPINGS, SETS, is_enum
from priompt_py.author.typed_fields import fields_of_class, has_fields, is_model, without_wrappers
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import Element, Node
from priompt_py.testing.constraints import constrained, constraints
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
    """Strategies of types, for one prop of one prompt.

    ``names`` are those of the prompt's module, for annotations that are text. ``known`` are the strategies of types
    that hold themselves; ``bound`` is what stands for the variables of the generic classes around.
    """

    name: str
    prop: str
    names: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    known: dict[Any, SearchStrategy[Any]] = attrs.field(factory=dict[Any, SearchStrategy[Any]])
    bound: Mapping[Any, Any] = attrs.field(factory=dict[Any, Any])

    def of(self, annotation: Any, place: str) -> SearchStrategy[Any]:
        if _is_node(annotation):
            return elements()
        if isinstance(annotation, typing.ForwardRef):
            return self.of_text(annotation.__forward_arg__, place)
        if type(annotation).__name__ == "TypeAliasType":
            return self.once(annotation, lambda: self.of(annotation.__value__, place))
        registered = _registered(annotation)
        if registered is not None:
            return registered
        plain = without_wrappers(annotation)
        if typing.get_origin(annotation) is typing.Annotated:
            return self.of_annotated(annotation, plain, place)
        if plain is not annotation:
            return self.of(plain, place)
        origin = typing.get_origin(annotation)
        if origin in (typing.Union, types.UnionType):
            members = sorted(typing.get_args(annotation), key=lambda one: one is not types.NoneType)
            return st.one_of(*(self.of(member, place) for member in members))
        if origin is typing.Literal:
            return st.sampled_from(typing.get_args(annotation))
        if isinstance(annotation, typing.TypeVar):
            if annotation in self.bound:
                return self.of(self.bound[annotation], place)
            bound = annotation.__constraints__ or ((annotation.__bound__ or str),)
            return st.one_of(*(self.of(one, place) for one in bound))
        return self.of_class(annotation, origin or annotation, place)

    def once(self, key: Any, make: Callable[[], SearchStrategy[Any]]) -> SearchStrategy[Any]:
        """A strategy that is made once, so that one that holds itself ends where it can."""
        if key not in self.known:
            made: list[SearchStrategy[Any]] = []
            self.known[key] = st.deferred(lambda: made[0])
            made.append(make())
            self.known[key] = made[0]
        return self.known[key]

    def of_text(self, text: str, place: str) -> SearchStrategy[Any]:
        """An annotation that is text: what it names in the prompt's module."""
        holder = types.SimpleNamespace(__annotations__={"x": text})
        try:
            meant = typing.get_type_hints(holder, dict(self.names), include_extras=True)["x"]
        except Exception:  # noqa: BLE001 - whatever it says, it can't be read
            raise self.unknown(Unreadable(text), place) from None
        return self.once(text, lambda: self.of(meant, place))

    def of_annotated(self, annotation: Any, plain: Any, place: str) -> SearchStrategy[Any]:
        for note in annotation.__metadata__:
            if is_strategy(note):
                return note
        said = constraints(annotation.__metadata__)
        inner = annotation.__origin__
        return constrained(plain, said, lambda: self.of(inner, place)) if said else self.of(inner, place)

    def of_class(self, annotation: Any, origin: Any, place: str) -> SearchStrategy[Any]:
        scalar = _scalar(annotation)
        if scalar is not None:
            return scalar
        if is_enum(annotation) and list(annotation):
            return st.sampled_from(list(annotation))
        if isinstance(origin, type) and issubclass(origin, Element):
            return elements().filter(lambda node: isinstance(node, origin))
        if _has_own_fields(origin):
            return self.of_fields(annotation, origin, place)
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
        if origin in LISTS or origin in (tuple, collections.deque):
            made = st.lists(self.of(args[0], item) if args else long_texts(), max_size=5)
            kind: Any = list if origin in LISTS else origin
            return made if kind is list else made.map(kind)
        if origin in SETS:
            inner = self.of(args[0], item) if args else texts()
            return st.frozensets(inner, max_size=5) if origin is frozenset else st.sets(inner, max_size=5)
        if origin is collections.Counter:
            keys = self.of(args[0], item) if args else texts()
            return st.dictionaries(keys, st.integers(0, 9), max_size=4).map(collections.Counter)
        if origin in MAPPINGS or origin in (collections.OrderedDict, collections.defaultdict):
            keys, values = (self.of(one, item) for one in args) if args else (texts(), texts())
            pairs = st.dictionaries(keys, values, max_size=4)
            if origin is collections.defaultdict:
                return pairs.map(lambda each: collections.defaultdict(None, each))
            return pairs.map(collections.OrderedDict) if origin is collections.OrderedDict else pairs
        raise self.unknown(annotation, place)

    def unknown(self, annotation: Any, place: str) -> UnknownTypeError:
        return UnknownTypeError(
            f"props_for(): {place} has the type {_shown(annotation)}, which no strategy is known for; give one: "
            f"{how_to_give(self.name, self.prop)}{_how_to_register(annotation)}"
        )

    def of_fields(self, annotation: Any, cls: Any, place: str) -> SearchStrategy[Any]:
        """An instance of a class with declared fields. A class that holds itself ends where it can."""
        given = tuple(self.bound.get(one, one) for one in typing.get_args(annotation))
        bound = dict(zip(getattr(cls, "__parameters__", ()), given, strict=False))
        inside = attrs.evolve(self, bound=bound)
        return self.once((cls, given), lambda: inside.of_instance(cls, place))

    def of_instance(self, cls: Any, place: str) -> SearchStrategy[Any]:
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

        def instance(fields: dict[str, Any]) -> Any:
            try:
                return cls(**fields)
            except Exception as error:
                raise ArgumentValueError(
                    f"props_for(): {place}: {cls.__name__} refuses the values that are drawn for it by its types "
                    f"({type(error).__name__}: {_in_a_line(error)}); give a strategy: "
                    f"{how_to_give(self.name, self.prop)}{_how_to_register(cls)}"
                ) from error

        return st.fixed_dictionaries(required, optional=optional).map(instance)


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _fields(cls: Any) -> list[tuple[str, Any, bool]]:
    """Name, annotation and whether it must be given, for each field of a class."""
    if _is_named_tuple(cls):
        hints = typing.get_type_hints(cls, include_extras=True)
        return [(name, hints.get(name, str), name not in cls._field_defaults) for name in cls._fields]
    if is_model(cls):
        return [
            (_given_as(name, field), _with_notes(field), bool(field.is_required()))
            for name, field in cls.model_fields.items()
        ]
    return [(field.name, field.annotation, field.required) for field in fields_of_class(cls)]


def _given_as(name: str, field: Any) -> str:
    """What pydantic's constructor calls a field."""
    alias = field.validation_alias if field.validation_alias is not None else field.alias
    return alias if isinstance(alias, str) else name


def _with_notes(field: Any) -> Any:
    """The type of a field of pydantic, with its bounds."""
    return typing.Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def _has_own_fields(cls: Any) -> bool:
    return _is_named_tuple(cls) or has_fields(cls) or hasattr(cls, "model_fields")


def _is_named_tuple(cls: Any) -> bool:
    return isinstance(cls, type) and tuple in cls.__mro__ and hasattr(cls, "_fields")


def _scalar(annotation: Any) -> SearchStrategy[Any] | None:
    """The strategies of the plain types; texts for those that may be anything."""
    if annotation is None or annotation is types.NoneType:
        return st.none()
    if (
        annotation is str
        or annotation is typing.LiteralString
        or annotation is Any
        or annotation is object
        or annotation is Hashable
    ):
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


def _of_hypothesis(annotation: Any) -> SearchStrategy[Any]:
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
