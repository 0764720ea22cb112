"""Checks requests against the types of the openai package, as strictly as the API does.

Those types are TypedDicts whose lists are typed `Iterable`: pydantic validates such items lazily, that is never, and
lets unknown keys pass. Here every TypedDict forbids extra keys and every list is a list, at every depth.
"""

from __future__ import annotations

import collections.abc
import functools
import types
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict, is_typeddict

# Types are made from types here, which checkers don't follow: to them these are plain values.
_list: Any = list
_dict: Any = dict
_union: Any = Union
_required: Any = Required
_not_required: Any = NotRequired
_typed_dict: Any = TypedDict

_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)


def strict_type(hint: Any, known: dict[Any, Any] | None = None) -> Any:
    """`hint` with lists for iterables and closed TypedDicts, at every depth."""
    known = {} if known is None else known
    convert = functools.partial(strict_type, known=known)
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        if hint not in known:
            known[hint] = _closed(hint, known)
        return known[hint]
    if origin is Annotated:
        return convert(arguments[0])
    if origin in (Union, types.UnionType):
        return _union[tuple(convert(argument) for argument in arguments)]
    if origin in _LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        return _list[convert(arguments[0])]
    if origin in (dict, collections.abc.Mapping):
        return _dict[arguments[0], convert(arguments[1])]
    if origin is None or origin is Literal:
        return hint
    raise TypeError(f"a type that this converter doesn't know: {hint!r}")


def _closed(cls: Any, known: dict[Any, Any]) -> Any:
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        needed = get_origin(hint) is Required
        inner = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        converted = strict_type(inner, known)
        fields[name] = _required[converted] if needed else _not_required[converted]
    closed = _typed_dict(cls.__name__, fields)
    closed.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    return closed


@functools.cache
def request_type() -> TypeAdapter[Any]:
    """The strict type of a request of chat completions."""
    return TypeAdapter(strict_type(CompletionCreateParamsNonStreaming))


def check_request(request: dict[str, Any]) -> None:
    """Raises pydantic's ValidationError unless `create(model=..., **request)` is well-formed."""
    request_type().validate_python({"model": "gpt-4o", **request}, strict=True)
