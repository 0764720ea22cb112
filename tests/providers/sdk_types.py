"""Checks requests against the types of the openai and anthropic packages, as strictly as the APIs do.

Those types are TypedDicts whose lists are typed `Iterable`: pydantic validates such items lazily, that is never, and
lets unknown keys pass. Here every TypedDict forbids extra keys and every list is a list, at every depth.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import os
import types
from typing import (
    IO,
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import BaseModel, ConfigDict, InstanceOf, TypeAdapter
from typing_extensions import TypedDict, is_typeddict

# Types are made from types here, which checkers don't follow: to them these are plain values.
_list: Any = list
_instance_of: Any = InstanceOf
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
    if origin in (IO, os.PathLike):
        return bytes  # an open file, which no conversion writes
    if inspect.isclass(hint) and issubclass(hint, BaseModel):
        return _instance_of[hint]  # an answer's own object, which no conversion writes; a dict is none
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
def _adapter(params: Any) -> TypeAdapter[Any]:
    return TypeAdapter(strict_type(params))


def check_request(request: dict[str, Any]) -> None:
    """Raises pydantic's ValidationError unless `chat.completions.create(model=..., **request)` is well-formed."""
    _adapter(CompletionCreateParamsNonStreaming).validate_python({"model": "m", **request}, strict=True)


def check_responses(request: dict[str, Any]) -> None:
    """The same for `responses.create(model=..., **request)`."""
    _adapter(ResponseCreateParamsNonStreaming).validate_python({"model": "m", **request}, strict=True)


def check_anthropic(request: dict[str, Any]) -> None:
    """The same for `messages.create(model=..., **request)` of Anthropic's client."""
    _adapter(MessageCreateParamsNonStreaming).validate_python({"model": "m", **request}, strict=True)


def check_messages_of_anthropic(messages: list[dict[str, Any]]) -> None:
    """What the types of Anthropic's messages don't hold: the order of roles, where results stand, blank texts."""
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        assert blocks, "an empty message"
        kinds = [block["type"] for block in blocks]
        before = messages[index - 1]["role"] if index else None
        assert message["role"] != before, "two neighbours of one role"
        if message["role"] == "system":
            assert before == "user", "a system message that is not behind the user's"
        if index == 0:
            assert message["role"] == "user"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls), "calls without results, or the other way round"
        assert "tool_result" not in kinds[len(results) :], "results behind other blocks"
        assert all(block.get("content") for block in blocks if block.get("is_error")), "an error says nothing"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert len(set(open_calls)) == len(open_calls)
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
    assert not open_calls
