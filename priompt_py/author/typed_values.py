"""The arguments of a tool call as the types that its function declares."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from priompt_py.author.checks import got
from priompt_py.author.children import is_list, is_mapping
from priompt_py.author.type_schema import LISTS, MAPPINGS, is_enum
from priompt_py.author.typed_fields import (
    Field,
    fields_of_class,
    fields_of_function,
    has_fields,
    is_model,
    without_wrappers,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["arguments_of_function", "instance_of_class"]


def arguments_of_function(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments for ``function``, of the types that it declares.

    Raises ArgumentTypeError or ArgumentValueError naming the place, or what a class that is made
    of an argument raises.
    """
    return _fields(fields_of_function(function), given, "arguments")


def instance_of_class(cls: Any, given: Mapping[str, Any]) -> Any:
    """An instance of a pydantic model, dataclass or attrs class (of a TypedDict: a dict)."""
    return _value(given, cls, "arguments")


def _fields(fields: list[Field], given: Mapping[str, Any], place: str) -> dict[str, Any]:
    known = {field.name: field for field in fields}
    for name in given:
        if name not in known:
            raise ArgumentValueError(
                f"{place}: there is no {name!r}; it takes {', '.join(known) or 'nothing'}"
            )
    for name, field in known.items():
        if field.required and name not in given:
            raise ArgumentValueError(f"{place}: {name!r} is missing")
    return {name: _value(value, known[name].annotation, f"{place}.{name}") for name, value in given.items()}


def _value(value: Any, annotation: Any, place: str) -> Any:
    annotation = without_wrappers(annotation)
    origin = typing.get_origin(annotation)
    if annotation is Any or annotation is object:
        return value
    if annotation in (str, int, float, bool, None, types.NoneType):
        return _scalar(value, annotation, place)
    if origin in (typing.Union, types.UnionType):
        return _union(value, typing.get_args(annotation), place)
    if origin is typing.Literal:
        return _choice(value, list(typing.get_args(annotation)), place)
    if is_enum(annotation):
        return _choice(value, list(annotation), place)
    if is_model(annotation):
        return _model(value, annotation, place)
    if has_fields(annotation):
        if not is_mapping(value):
            raise _wrong(place, "an object", value)
        return annotation(**_fields(fields_of_class(annotation), value, place))
    return _container(value, origin or annotation, typing.get_args(annotation), place)


def _model(value: Any, cls: Any, place: str) -> Any:
    """An instance of a pydantic model; what it refuses by place, without pydantic's links to its manual."""
    try:
        return cls.model_validate(value)
    except ValueError as error:
        faults: Any = getattr(error, "errors", None)
        if not callable(faults):
            raise
        found: Any = faults(include_url=False)
        said = [f"{place}{''.join(map(_step, fault['loc']))}: {fault['msg']}" for fault in found]
        raise ArgumentValueError("; ".join(said)) from error


def _step(key: str | int) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{key}"


def _container(value: Any, origin: Any, args: tuple[Any, ...], place: str) -> Any:
    if origin in MAPPINGS:
        if not is_mapping(value):
            raise _wrong(place, "an object", value)
        return {key: _value(item, args[1] if args else Any, f"{place}.{key}") for key, item in value.items()}
    if not is_list(value):
        raise _wrong(place, "an array", value)
    if origin is not tuple:
        kind = args[0] if args else Any
        items = [_value(item, kind, f"{place}[{i}]") for i, item in enumerate(value)]
        return items if origin in LISTS else frozenset(items) if origin is frozenset else set(items)
    kinds = args if args and args[-1] is not ... else (args[0] if args else Any,) * len(value)
    if len(kinds) != len(value):
        raise ArgumentValueError(f"{place}: needs {len(kinds)} items, got {len(value)}")
    return tuple(
        _value(item, kind, f"{place}[{i}]") for i, (item, kind) in enumerate(zip(value, kinds, strict=True))
    )


def _scalar(value: Any, kind: Any, place: str) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is str:
        fits, wanted = isinstance(value, str), "text"
    elif kind is bool:
        fits, wanted = isinstance(value, bool), "true or false"
    elif kind is int:  # JSON has one kind of number: 3.0 is a whole one
        fits, wanted = number and value == value // 1, "a whole number"
    elif kind is float:
        fits, wanted = number, "a number"
    else:
        fits, wanted = value is None, "null"
    if not fits:
        raise _wrong(place, wanted, value)
    return kind(value) if kind in (int, float) else value


def _choice(value: Any, choices: list[Any], place: str) -> Any:
    for choice in choices:
        plain = choice.value if isinstance(choice, enum.Enum) else choice
        if plain == value and type(plain) is type(value):
            return choice
    shown = ", ".join(repr(c.value if isinstance(c, enum.Enum) else c) for c in choices)
    raise ArgumentValueError(f"{place}: needs one of {shown}, got {got(value)}")


def _union(value: Any, members: tuple[Any, ...], place: str) -> Any:
    problems: list[Exception] = []
    for member in members:
        try:
            return _value(value, member, place)
        except (TypeError, ValueError) as error:  # ours, and those of a class that is made of the value
            problems.append(error)
    if len(members) == 2 and types.NoneType in members:
        raise problems[members.index(types.NoneType) - 1]  # the problem with the other of the two
    raise ArgumentTypeError(f"{place}: {got(value)} fits none of its types: {'; '.join(map(str, problems))}")


def _wrong(place: str, wanted: str, value: object) -> ArgumentTypeError:
    return ArgumentTypeError(f"{place}: needs {wanted}, got {got(value)}")
