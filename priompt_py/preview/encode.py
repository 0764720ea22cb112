"""Props as JSON that gives the same props again, or a refusal that names the value.

What JSON holds stands for itself. The rest is written plainly where the annotation says what it is (a date as text, a
dataclass as an object), and else as an object with the key ``$priompt``: see docs/registry_and_dumps.md.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import enum
import fractions
import math
import pathlib
import uuid
import zoneinfo
from typing import Any, TypeAlias

from priompt_py.author.children import a_type, has_digits
from priompt_py.author.json_form import to_json
from priompt_py.author.json_values import NotJsonError, json_copy, path_text
from priompt_py.author.type_schema import LISTS, SETS
from priompt_py.author.typed_fields import is_model
from priompt_py.errors import JsonFormError
from priompt_py.model.elements import Element
from priompt_py.preview.hints import (
    TEXTS,
    Options,
    Sort,
    arguments_of_init,
    fields_of,
    is_record,
    items_of,
    keys_of,
    kind_of,
    readers,
    values_of,
)
from priompt_py.preview.json_kinds import class_of, is_array, is_object

__all__ = ["DO_NOT_DUMP", "MARK", "MOST_DEEP", "Path", "RefusedError", "encode", "strip"]

MARK = "$priompt"
"""The key that tells what another value than JSON's is."""

DO_NOT_DUMP = "DO_NOT_DUMP"
"""How names begin of what is never written."""

MOST_DEEP = 100
"""Containers in each other, without those inside elements; a step takes several of Python's frames."""

Path: TypeAlias = "tuple[str | int, ...]"


class RefusedError(Exception):
    """A value has no JSON form that gives it back. ``path`` leads to it from the props."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path_text(path).removeprefix('.')}: {problem}")
        self.path = path
        self.problem = problem


def encode(value: Any, options: Options, path: Path) -> Any:
    """The JSON form of a value under the options of its annotation. Raises RefusedError."""
    kind = class_of(value)
    if value is None:
        return None
    if kind in (str, int, bool, float):
        return _scalar(value, options, path)
    if len(path) > MOST_DEEP:
        raise RefusedError(path[:6], f"nested more than {MOST_DEEP} deep")
    if kind is list:
        inner = items_of(options, LISTS, 0)
        items = [encode(item, inner, (*path, i)) for i, item in enumerate(list[Any](value))]
        return _marked("list", items) if readers(options, "array") else items
    if kind in (tuple, set, frozenset):
        return _array(value, kind, options, path)
    if kind is dict:
        return _dict(value, options, path)
    if kind in TEXTS or isinstance(value, pathlib.Path):
        return _text(value, pathlib.Path if isinstance(value, pathlib.Path) else kind, options, path)
    if kind is dt.timedelta:
        return _marked("timedelta", [value.days, value.seconds, value.microseconds])
    if isinstance(value, Element):
        return _node(value, path)
    if isinstance(value, enum.Enum):
        return _of_class(kind, "text", value.name if _has_name(value) else value.value, options, path)
    if is_model(kind):
        return _of_class(kind, "object", _model(value, path), options, path)
    if is_record(kind):
        return _of_class(kind, "object", _record(value, path), options, path)
    # The value itself may be a secret, and the message goes to a log.
    raise RefusedError(path, f"{a_type(value)} has no JSON form; give the prompt dehydrate= and hydrate=")


def strip(value: Any) -> Any:
    """JSON without what stands at names that begin with ``DO_NOT_DUMP``."""
    if is_object(value):
        return {key: strip(item) for key, item in value.items() if not key.startswith(DO_NOT_DUMP)}
    return [strip(item) for item in value] if is_array(value) else value


def _marked(mark: str, value: Any) -> dict[str, Any]:
    return {MARK: mark, "value": value}


def _scalar(value: Any, options: Options, path: Path) -> Any:
    kind = class_of(value)
    if kind is float and not math.isfinite(value):
        return _marked("float", repr(value))
    if kind is int and not has_digits(value):
        raise RefusedError(path, f"an int of {value.bit_length()} bits has too many digits")
    return _marked("plain", value) if readers(options, "text" if kind is str else "number") else value


def _array(value: Any, kind: Any, options: Options, path: Path) -> Any:
    """A tuple or a set; the items of a set in an order that depends on them alone."""
    kinds = (tuple,) if kind is tuple else SETS
    items = [
        encode(item, items_of(options, kinds, i), (*path, i))
        for i, item in enumerate(value if kind is tuple else sorted(value, key=repr))
    ]
    found = readers(options, "array")
    return items if len(found) == 1 and kind_of(found[0]) is kind else _marked(kind.__name__, items)


def _dict(value: dict[Any, Any], options: Options, path: Path) -> Any:
    keys = keys_of(options)
    plain = not readers(keys, "text") and all(type(key) is str for key in value)
    plain = plain and MARK not in value and not readers(options, "object")
    pairs: list[tuple[Any, Any]] = []
    for key, item in value.items():
        if isinstance(key, str) and key.startswith(DO_NOT_DUMP):
            continue
        step = key if isinstance(key, (str, int)) else repr(key)
        pairs.append((key, encode(item, values_of(options, key), (*path, step))))
    if plain:
        return dict(pairs)
    return _marked("dict", [[encode(key, keys, (*path, repr(key))), item] for key, item in pairs])


def _text(value: Any, kind: Any, options: Options, path: Path) -> Any:
    zone: dict[str, Any] = {}
    if kind in (bytes, bytearray):
        text = base64.b64encode(value).decode("ascii")
    elif kind in (dt.datetime, dt.time):
        text, zone = _moment(value, path)
    elif kind is dt.date:
        text = value.isoformat()
    else:  # Decimal, Fraction, UUID, Path
        assert kind in (decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.Path), kind
        text = str(value)
    found = readers(options, "text")
    if len(found) == 1 and kind_of(found[0]) is kind and not zone:
        return text
    return _marked(kind.__name__.lower(), text) | zone


def _moment(value: Any, path: Path) -> tuple[str, dict[str, Any]]:
    """A datetime or time as text, and what the text doesn't say: the zone's name and the fold."""
    more: dict[str, Any] = {"fold": 1} if value.fold else {}
    zone = value.tzinfo
    if zone is None or zone is dt.UTC:
        return value.isoformat(), more
    key = getattr(zone, "key", None)  # None for zones that were read from a file
    if type(zone) is zoneinfo.ZoneInfo and key is not None:
        return value.replace(tzinfo=None).isoformat(), more | {"zone": key}
    # One with a name of its own is written another way by strftime().
    if type(zone) is dt.timezone and str(zone) == str(dt.timezone(zone.utcoffset(None))):
        return value.isoformat(), more
    raise RefusedError(
        path, f"the time zone {zone!r} has no JSON form; zones of zoneinfo and plain offsets have"
    )


def _node(value: Element, path: Path) -> Any:
    try:
        return _marked("node", to_json(value))
    except JsonFormError as error:
        problem = str(error).partition("; drop_functions")[0]  # which can't be asked for here
        raise RefusedError(path, f"this element has no JSON form: {problem}") from None


def _has_name(value: enum.Enum) -> bool:
    return value.name in type(value).__members__


def _of_class(kind: Any, sort: Sort, data: Any, options: Options, path: Path) -> Any:
    """An instance of a class that the annotation has to name, since data must not choose what is made."""
    classes = [option for option in options if isinstance(option, type)]
    found = readers(options, sort)
    if found == (kind,) and (is_object(data) if sort == "object" else isinstance(data, str)):
        return data
    if kind not in classes:
        raise RefusedError(
            path,
            f"is a {kind.__qualname__}, and no annotation that can be read says so; annotate it, or give the prompt "
            "dehydrate= and hydrate=",
        )
    if sum(one.__qualname__ == kind.__qualname__ for one in classes) > 1:
        raise RefusedError(path, f"its annotation names two classes that are called {kind.__qualname__}")
    return {MARK: "class", "name": kind.__qualname__, "value": data}


def _record(value: Any, path: Path) -> dict[str, Any]:
    cls = class_of(value)
    fields = fields_of(cls)
    taken = arguments_of_init(cls)
    if taken != [field.argument for field in fields] and set(taken) != {field.argument for field in fields}:
        raise RefusedError(
            path, f"the constructor of {cls.__qualname__} takes other arguments than its fields"
        )
    data: dict[str, Any] = {}
    for field in fields:
        if field.attribute.startswith(DO_NOT_DUMP):
            continue
        try:
            item = getattr(value, field.attribute)
        except AttributeError:
            raise RefusedError(path, f"its field {field.attribute!r} has no value") from None
        data[field.argument] = encode(item, field.options, (*path, field.attribute))
    return data


def _model(value: Any, path: Path) -> Any:
    """A pydantic model as its own JSON, which has to give an equal one."""
    try:
        data = json_copy(value.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False))
    except NotJsonError as error:
        raise RefusedError((*path, *error.path), error.problem) from None
    cls = class_of(value)
    try:
        again = cls.model_validate(data)
    except ValueError:  # pydantic's, which shows the values
        again = None
    if again != value:
        raise RefusedError(path, f"what model_dump() of {cls.__qualname__} gives makes another one")
    return strip(data)
