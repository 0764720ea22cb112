"""What a function's parameters or a class's fields are called, may be, and mean."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

import attrs

from priompt_py.author.docstrings import parse_docstring
from priompt_py.errors import ArgumentTypeError

__all__ = [
    "MISSING",
    "Field",
    "description_of",
    "fields_of_class",
    "fields_of_function",
    "has_fields",
    "is_model",
    "name_of",
    "own_docstring",
    "without_wrappers",
]

MISSING: Any = inspect.Parameter.empty
"""Stands where a field has no default."""


@attrs.frozen
class Field:
    """A parameter of a function or a field of a class; ``place`` is what messages call it."""

    name: str
    annotation: Any
    place: str
    required: bool
    default: Any = MISSING
    description: str | None = None


def name_of(value: object) -> str | None:
    """The name of a function or class; None for what has none, as a partial."""
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else None


def own_docstring(value: object) -> str | None:
    """The docstring that its author wrote: not one that is inherited or that dataclasses made."""
    inner: Any = value
    if isinstance(value, functools.partial):
        return own_docstring(inner.func)
    if not isinstance(value, type):
        return inspect.getdoc(value)
    doc = vars(value).get("__doc__")
    return None if not isinstance(doc, str) or doc.startswith(f"{value.__name__}(") else doc


def is_model(value: object) -> TypeGuard[Any]:
    """Whether ``value`` is a pydantic model class, told by its method; pydantic is never imported here."""
    return isinstance(value, type) and callable(getattr(value, "model_json_schema", None))


def _is_typed_dict(value: object) -> bool:
    # Not typing.is_typeddict, which does not know those of typing_extensions.
    return isinstance(value, type) and dict in value.__mro__ and hasattr(value, "__required_keys__")


def has_fields(value: object) -> TypeGuard[type[Any]]:
    """Whether ``value`` is a dataclass, an attrs class or a TypedDict."""
    cls: Any = value
    return isinstance(value, type) and (
        dataclasses.is_dataclass(cls) or attrs.has(cls) or _is_typed_dict(cls)
    )


def fields_of_function(function: Callable[..., Any]) -> list[Field]:
    """The parameters of a function that is called with keywords.

    Raises ArgumentTypeError for parameters without an annotation, without a name or for any number
    of arguments, and where the annotations can't be read.
    """
    name = name_of(function) or type(function).__name__
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        raise ArgumentTypeError(
            f"tool_definition(): the parameters of {name}() can't be read; give a JSON Schema"
        ) from None
    hints = _hints(_inner(function), f"{name}()")
    docs = parse_docstring(own_docstring(function)).parameters
    fields: list[Field] = []
    for parameter in parameters.values():
        place = f"parameter {parameter.name!r} of {name}()"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ArgumentTypeError(f"tool_definition(): {place} stands for any number; a tool's have names")
        if parameter.kind == parameter.POSITIONAL_ONLY:
            raise ArgumentTypeError(
                f"tool_definition(): {place} is positional only; a tool's are given by name"
            )
        if parameter.name not in hints:
            raise ArgumentTypeError(f"tool_definition(): {place} has no annotation")
        required = parameter.default is parameter.empty
        annotation = hints[parameter.name]
        described = description_of(annotation) or docs.get(parameter.name)
        fields.append(Field(parameter.name, annotation, place, required, parameter.default, described))
    return fields


def fields_of_class(cls: type[Any]) -> list[Field]:
    """The fields of a dataclass, an attrs class or a TypedDict, as its constructor calls them."""
    hints = _hints(cls, cls.__name__)
    docs = parse_docstring(own_docstring(cls)).parameters
    fields: list[Field] = []
    for name, attribute, required, default in _raw_fields(cls, hints):
        annotation = hints.get(attribute, Any)
        described = description_of(annotation) or docs.get(name)
        place = f"field {name!r} of {cls.__name__}"
        fields.append(Field(name, annotation, place, required, default, described))
    return fields


def _raw_fields(cls: type[Any], hints: Mapping[str, Any]) -> Iterator[tuple[str, str, bool, Any]]:
    """Name for the constructor, name of the attribute, whether it is required, and its default."""
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if field.init:
                plain = field.default is not dataclasses.MISSING
                required = not plain and field.default_factory is dataclasses.MISSING
                yield field.name, field.name, required, field.default if plain else MISSING
    elif attrs.has(cls):
        for attribute in attrs.fields(cls):
            if attribute.init:
                made = hasattr(attribute.default, "factory")
                required = attribute.default is attrs.NOTHING
                default = MISSING if made or required else attribute.default
                yield attribute.alias or attribute.name, attribute.name, required, default
    else:
        for name, annotation in hints.items():
            wrapper = typing.get_origin(annotation)
            required = name in cls.__required_keys__
            if wrapper in (typing.Required, typing.NotRequired):  # not seen in annotations that are text
                required = wrapper is typing.Required
            yield name, name, required, MISSING


def _inner(function: Any) -> Any:
    """What holds the annotations: the function in a partial, the ``__call__`` of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _hints(value: Any, name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(value, include_extras=True)
    except RecursionError:
        raise  # the annotations are not to blame: arguments of a call are nested too deep
    except Exception as error:
        raise ArgumentTypeError(
            f"tool_definition(): the annotations of {name} can't be read: {type(error).__name__}: {error}"
        ) from error


def without_wrappers(annotation: Any) -> Any:
    """The type inside ``Annotated``, ``Required``, ``NotRequired``, ``ReadOnly``, new types and aliases."""
    while True:
        origin = typing.get_origin(annotation)
        if origin in (typing.Annotated, typing.Required, typing.NotRequired) or _is_read_only(origin):
            annotation = (
                annotation.__origin__ if origin is typing.Annotated else typing.get_args(annotation)[0]
            )
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation


def _is_read_only(origin: object) -> bool:
    return origin is not None and origin is getattr(typing, "ReadOnly", None)


def description_of(annotation: Any) -> str | None:
    """The text in ``Annotated[int, "text"]``, or that of a ``Field(description=...)`` or ``Doc(...)``."""
    while typing.get_origin(annotation) in (typing.Required, typing.NotRequired):
        annotation = typing.get_args(annotation)[0]
    for note in getattr(annotation, "__metadata__", ()):
        for text in (note, getattr(note, "description", None), getattr(note, "documentation", None)):
            if isinstance(text, str):
                return text
    return None
