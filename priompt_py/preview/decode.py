"""Props from their JSON form: the other direction of :mod:`priompt_py.preview.encode`, for props typed by hand too.

Data choose no code: a class is made only where an annotation of the prompt names it, and what is no JSON (what
``hydrate`` supplied) stays as it is.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import decimal
import enum
import fractions
import functools
import inspect
import pathlib
import re
import uuid
import zoneinfo
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from priompt_py.author.checks import got
from priompt_py.author.json_form import from_json
from priompt_py.author.json_values import path_text
from priompt_py.author.type_schema import LISTS, SETS
from priompt_py.author.typed_fields import is_model
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, JsonFormError
from priompt_py.preview.encode import MARK, MOST_DEEP, Path
from priompt_py.preview.hints import (
    Options,
    fields_of,
    hints_of,
    is_record,
    items_of,
    keys_of,
    kind_of,
    readers,
    values_of,
)
from priompt_py.preview.json_kinds import class_of, is_array, is_object

__all__ = ["decode", "decode_props", "hints_of_function"]


def decode_props(props: Mapping[str, Any], hints: Mapping[str, Options]) -> dict[str, Any]:
    """The props of a prompt from their JSON form, by the options of its parameters.

    Raises ArgumentTypeError or ArgumentValueError, whose message begins with the prop and the path in it.
    """
    return {name: decode(value, hints.get(name, (Any,)), (name,)) for name, value in props.items()}


def decode(value: Any, options: Options, path: Path) -> Any:
    """A value from its JSON form. Raises ArgumentTypeError or ArgumentValueError that names the path."""
    kind = class_of(value)
    if kind is str:
        return _first(value, readers(options, "text"), path)
    if kind in (int, float, bool):
        return _first(value, readers(options, "number"), path)
    if kind not in (list, dict):
        return value
    if len(path) > MOST_DEEP:
        _fail(path[:6], f"nested more than {MOST_DEEP} deep")
    if kind is list:
        found = readers(options, "array")
        return _first(value, found, path) if found else _items(value, options, LISTS, path)
    if MARK in value:
        return _of_mark(value, options, path)
    found = readers(options, "object")
    if found:
        return _first(value, found, path)
    keys = keys_of(options)
    if readers(keys, "text"):
        return _pairs([[key, item] for key, item in value.items()], options, path)
    return {key: decode(item, values_of(options, key), (*path, str(key))) for key, item in value.items()}


def _fail(path: Path, problem: str) -> NoReturn:
    raise ArgumentValueError(f"{path_text(path).removeprefix('.')}: {problem}")


def _first(value: Any, options: Options, path: Path) -> Any:
    """What the first option makes of plain JSON that fits it; the value itself where there is no option."""
    problems: list[Exception] = []
    for option in options:
        try:
            return _read(value, option, path)
        except (ArgumentTypeError, ArgumentValueError) as error:
            problems.append(error)
    if len(problems) > 1:
        _fail(path, f"{got(value)} fits none of its types: {'; '.join(map(str, problems))}")
    if problems:
        raise problems[0]
    return value


def _read(value: Any, option: Any, path: Path) -> Any:
    kind = kind_of(option)
    if isinstance(kind, enum.EnumMeta):
        return _member(value, kind, path)
    if kind in _PARSERS:
        return _parsed(value, kind, path)
    if is_model(kind) or is_record(kind):
        return _instance(value, kind, path)
    items = _items(value, (option,), (kind,), path)
    return _collected(kind if kind in (tuple, frozenset) else set, items, path)


def _items(value: list[Any], options: Options, kinds: tuple[Any, ...], path: Path) -> list[Any]:
    if tuple not in kinds:  # of lists and sets all items are alike
        inner = items_of(options, kinds, 0)
        return [decode(item, inner, (*path, i)) for i, item in enumerate(value)]
    return [decode(item, items_of(options, kinds, i), (*path, i)) for i, item in enumerate(value)]


def _collected(kind: Callable[[list[Any]], Any], items: list[Any], path: Path) -> Any:
    try:
        return kind(items)
    except TypeError:
        _fail(path, "its items can't be those of a set")


# ------------------------------------------------------------------------------------------ texts


def _base64(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii"), validate=True)


def _fraction(text: str) -> fractions.Fraction:
    """Of whole numbers only: Fraction("1e999999999") would take all memory."""
    if not re.fullmatch(r"-?[0-9]+(?:/[0-9]+)?", text):
        raise ValueError(text)
    return fractions.Fraction(text)


_PARSERS: dict[Any, tuple[Callable[[Any], Any], str]] = {
    bytes: (_base64, "base64 text"),
    bytearray: (lambda text: bytearray(_base64(text)), "base64 text"),
    dt.datetime: (dt.datetime.fromisoformat, "a date and time such as 2024-05-01T10:00:00+02:00"),
    dt.date: (dt.date.fromisoformat, "a date such as 2024-05-01"),
    dt.time: (dt.time.fromisoformat, "a time such as 10:00:00"),
    decimal.Decimal: (decimal.Decimal, "a decimal number"),
    fractions.Fraction: (_fraction, "a fraction such as 1/3"),
    uuid.UUID: (uuid.UUID, "a UUID"),
    pathlib.Path: (pathlib.Path, "a path"),
    float: (float, "nan, inf or -inf"),
}
_KINDS: dict[str, Any] = {kind.__name__.lower(): kind for kind in _PARSERS}


def _parsed(value: Any, kind: Any, path: Path) -> Any:
    parser, wanted = _PARSERS[kind]
    if not isinstance(value, str):
        _fail(path, f"needs {wanted}, got {got(value)}")
    try:
        return parser(value)
    except (ValueError, ArithmeticError):  # also of a Decimal, of base64, of a text that is no ASCII
        _fail(path, f"needs {wanted}, got {got(value)}")


# ------------------------------------------------------------------------------------------ classes


def _member(value: Any, cls: Any, path: Path) -> Any:
    """A member by its name, else by its value; combined flags by their number."""
    if isinstance(value, str) and value in cls.__members__:
        return cls.__members__[value]
    for member in cls:
        if type(member.value) is type(value) and member.value == value:
            return member
    if issubclass(cls, enum.Flag) and type(value) is int:
        try:
            return cls(value)
        except ValueError:
            pass
    _fail(path, f"needs one of {', '.join(cls.__members__)}, got {got(value)}")


def _instance(value: Any, cls: Any, path: Path) -> Any:
    if is_model(cls):
        try:
            return cls.model_validate(value)
        except ValueError as error:  # pydantic's, whose message says where
            _fail(path, str(error))
    if not is_object(value):
        _fail(path, f"needs an object, got {got(value)}")
    fields = {field.argument: field for field in fields_of(cls)}
    for name in value:
        if name not in fields:
            _fail(path, f"{cls.__qualname__} has no field {name!r}; it has {', '.join(fields) or 'none'}")
    missing = [name for name, field in fields.items() if field.required and name not in value]
    if missing:
        _fail(path, f"{cls.__qualname__} needs {', '.join(missing)}")
    arguments = {name: decode(item, fields[name].options, (*path, name)) for name, item in value.items()}
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:  # the class's own checks
        _fail(path, f"{cls.__qualname__} refuses its fields: {error}")


# ------------------------------------------------------------------------------------------ marks


def _of_mark(data: dict[str, Any], options: Options, path: Path) -> Any:
    mark = data[MARK]
    extra = {"class": {"name"}, "datetime": {"zone", "fold"}, "time": {"zone", "fold"}}.get(str(mark), set())
    if "value" not in data or not data.keys() <= {MARK, "value", *extra}:
        _fail(path, f"an object with {MARK!r} has a value and nothing else, got {got(data)}")
    value: Any = data["value"]
    items: list[Any] | None = value if is_array(value) else None
    if items is not None and isinstance(mark, str) and mark in _CONTAINERS:
        return _CONTAINERS[mark](items, options, path)
    if mark == "plain" and not is_array(value) and not is_object(value):
        return value
    if mark == "node":
        try:
            return from_json(value)
        except JsonFormError as error:
            _fail(path, f"no node: {error}")
    if mark == "class":
        return _named(data.get("name"), value, options, path)
    if isinstance(mark, str) and mark in _KINDS:
        return _moment(_parsed(value, _KINDS[mark], path), data, path)
    _fail(path, f"{MARK!r} can't be {got(mark)} with the value {got(value)}")


def _moment(value: Any, data: Mapping[str, Any], path: Path) -> Any:
    changes: dict[str, Any] = {}
    if "zone" in data:
        try:
            changes["tzinfo"] = zoneinfo.ZoneInfo(str(data["zone"]))
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):  # OSError: the name of a folder
            _fail(path, f"there is no time zone {got(data['zone'])} here")
    if "fold" in data:
        if data["fold"] not in (0, 1):
            _fail(path, f"fold is 0 or 1, got {got(data['fold'])}")
        changes["fold"] = int(data["fold"])
    return value.replace(**changes) if changes else value


def _pairs(value: list[Any], options: Options, path: Path) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for pair in value:
        if not is_array(pair) or len(pair) != 2:
            _fail(path, f"a dict is a list of pairs, got {got(pair)}")
        key = decode(pair[0], keys_of(options), (*path, "key"))
        item = decode(pair[1], values_of(options, key), (*path, str(key)))
        try:
            made[key] = item
        except TypeError:
            _fail(path, f"{got(key)} can't be the key of a dict")
    return made


def _timedelta(value: list[Any], _options: Options, path: Path) -> dt.timedelta:
    if len(value) == 3 and all(type(one) is int for one in value):
        with contextlib.suppress(OverflowError):
            return dt.timedelta(days=value[0], seconds=value[1], microseconds=value[2])
    _fail(path, f"needs days, seconds and microseconds, got {got(value)}")


def _set(value: list[Any], options: Options, path: Path) -> Any:
    return _collected(set, _items(value, options, SETS, path), path)


def _frozenset(value: list[Any], options: Options, path: Path) -> Any:
    return _collected(frozenset, _items(value, options, SETS, path), path)


_CONTAINERS: dict[Any, Callable[[list[Any], Options, Path], Any]] = {
    "list": lambda value, options, path: _items(value, options, LISTS, path),
    "tuple": lambda value, options, path: tuple(_items(value, options, (tuple,), path)),
    "set": _set,
    "frozenset": _frozenset,
    "dict": _pairs,
    "timedelta": _timedelta,
}
"""What makes the marked containers of their lists."""


def _named(name: Any, value: Any, options: Options, path: Path) -> Any:
    """An instance of the class that the data name, if the annotation names it too."""
    for option in options:
        if isinstance(option, type) and option.__qualname__ == name:
            if isinstance(option, enum.EnumMeta):
                return _member(value, option, path)
            if is_model(option) or is_record(option):
                return _instance(value, option, path)
    _fail(path, f"its annotation names no class {got(name)}")


def hints_of_function(function: Any) -> Mapping[str, Options]:
    """The options of the parameters of a function, a partial, a method or an object with ``__call__``."""
    while isinstance(function, functools.partial):
        function = function.func
    return hints_of(function if inspect.isroutine(function) else type(function).__call__)
