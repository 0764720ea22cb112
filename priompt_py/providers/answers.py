"""Answers of providers as ``ModelOutput``: from the official clients' objects, or the same as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard, cast

from priompt_py.errors import ModelOutputError
from priompt_py.model.elements import Part
from priompt_py.model.model_output import ModelOutput, OutputContent, ToolCall, Usage
from priompt_py.model.values import short_repr
from priompt_py.providers.sdk_data import as_data

__all__ = ["output_from_anthropic", "output_from_openai", "output_from_openai_responses"]

# Every provider's reasons in our words; what is not listed stands as the provider gave it.
_FINISH = {
    "function_call": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "refusal": "content_filter",
}


# ------------------------------------------------------------------------------------------ OpenAI


def output_from_openai(completion: Any) -> ModelOutput:
    """The first choice of a chat completion. ``reasoning`` is what compatible servers send as ``reasoning_content``
    (DeepSeek, vLLM) or ``reasoning`` (OpenRouter). Raises ModelOutputError for what is no chat completion."""
    data = _mapping(completion, "a chat completion")
    choices = data.get("choices")
    if not _is_list(choices) or not choices:
        raise _refused(data, f"a chat completion needs choices, got {short_repr(choices)}")
    choice = _mapping(choices[0], "choices[0]")
    message = _mapping(choice.get("message"), "choices[0].message")
    reason = _reason(choice.get("finish_reason"))
    calls = [
        _chat_call(call, f"choices[0].message.tool_calls[{i}]") for i, call in _each(message, "tool_calls")
    ]
    if not calls and message.get("function_call") is not None:
        legacy = _mapping(message["function_call"], "choices[0].message.function_call")
        calls = [ToolCall(None, _text(legacy, "name"), _arguments(legacy.get("arguments")))]
    return ModelOutput(
        text=_chat_text(message.get("content")),
        tool_calls=_cut(calls, reason),
        refusal=message.get("refusal") or None,
        finish_reason=reason,
        usage=_usage(data.get("usage"), "prompt", "completion"),
        reasoning=message.get("reasoning_content") or message.get("reasoning") or None,
        raw=completion,
    )


def _chat_text(content: object) -> str:
    """A string, or the texts of parts, which some compatible servers send."""
    if content is None or isinstance(content, str):
        return content or ""
    if not _is_list(content):
        raise ModelOutputError(f"choices[0].message.content needs text, got {short_repr(content)}")
    parts = [_mapping(part, f"choices[0].message.content[{i}]") for i, part in enumerate(content)]
    return "".join(_text(part, "text") for part in parts if part.get("type") == "text")


def _chat_call(value: object, place: str) -> ToolCall:
    call = _mapping(value, place)
    if call.get("type") == "custom":
        raise ModelOutputError(f"{place}: calls of custom tools can't be held: only those of functions")
    function = _mapping(call.get("function"), f"{place}.function")
    return ToolCall(call.get("id") or None, _text(function, "name"), _arguments(function.get("arguments")))


def output_from_openai_responses(response: Any) -> ModelOutput:
    """The output items of a response. Reasoning items, and items of the provider's own tools, are parts of
    ``content``, in order; their summaries are ``reasoning``. Where reasoning stands between calls,
    ``from_openai_responses(response.output)`` keeps that order too.

    Raises ModelOutputError for what is no response, and for a failed one.
    """
    data = _mapping(response, "a response")
    if data.get("status") == "failed":
        error = _inner(data, "error")
        raise ModelOutputError(
            f"the response failed: {error.get('message') or error.get('code') or 'no reason given'}"
        )
    if not _is_list(data.get("output")):
        raise _refused(data, f"a response needs output, got {short_repr(data.get('output'))}")
    calls: list[ToolCall] = []
    content: list[OutputContent] = []
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    for i, value in enumerate(data["output"]):
        item = _mapping(value, f"output[{i}]")
        kind = item.get("type")
        if kind == "function_call":
            incomplete = item.get("status") == "incomplete"
            calls.append(
                ToolCall(
                    _text(item, "call_id"), _text(item, "name"), _arguments(item.get("arguments")), incomplete
                )
            )
        elif kind == "message":
            for _, part in _each(item, "content"):
                text = part.get("text") if part.get("type") == "output_text" else part.get("refusal")
                if text:
                    (texts if part.get("type") == "output_text" else refusals).append(text)
                    content.append(text)
        else:
            if kind == "reasoning":
                thoughts += [part["text"] for key in ("summary", "content") for _, part in _each(item, key)]
            content.append(Part(provider="openai", data=item))
    reason = _reason(_inner(data, "incomplete_details").get("reason")) or ("tool_calls" if calls else "stop")
    return ModelOutput(
        text="".join(texts),
        tool_calls=_cut(calls, reason),
        refusal="".join(refusals) or None,
        finish_reason=reason,
        usage=_usage(data.get("usage"), "input", "output"),
        reasoning="\n\n".join(thoughts) or None,
        content=tuple(content),
        raw=response,
    )


# ------------------------------------------------------------------------------------------ Anthropic


def output_from_anthropic(message: Any) -> ModelOutput:
    """The content blocks of an answer. Thinking blocks, and blocks of the provider's own tools, are parts of
    ``content``, in order; what can be read of the thinking is ``reasoning``. ``usage.input_tokens`` is the sum of
    the three figures that the provider gives: new, read from a cache, written to one.

    Raises ModelOutputError for what is no answer.
    """
    data = _mapping(message, "a message")
    if not _is_list(data.get("content")):
        raise _refused(data, f"a message needs content, got {short_repr(data.get('content'))}")
    calls: list[ToolCall] = []
    content: list[OutputContent] = []
    thoughts: list[str] = []
    for i, value in enumerate(data["content"]):
        block = _mapping(value, f"content[{i}]")
        kind = block.get("type")
        if kind == "text":
            if block.get("text"):
                content.append(block["text"])
        elif kind == "tool_use":
            calls.append(ToolCall(_text(block, "id"), _text(block, "name"), _arguments(block.get("input"))))
        else:
            if kind == "thinking" and block.get("thinking"):
                thoughts.append(block["thinking"])
            content.append(Part(provider="anthropic", data=block))
    reason = data.get("stop_reason")
    details = _inner(data, "stop_details")
    refusal = details.get("explanation") if reason == "refusal" else None
    return ModelOutput(
        text="".join(item for item in content if isinstance(item, str)),
        tool_calls=_cut(calls, _reason(reason)),
        refusal=refusal or None,
        finish_reason=_reason(reason),
        usage=_anthropic_usage(data.get("usage")),
        reasoning="\n\n".join(thoughts) or None,
        content=tuple(content),
        raw=message,
    )


# ------------------------------------------------------------------------------------------ figures


def _usage(value: object, asked: str, answered: str) -> Usage | None:
    """OpenAI's figures: ``prompt`` and ``completion`` tokens of chats, ``input`` and ``output`` of responses."""
    if not isinstance(value, Mapping):
        return None
    usage = cast("Mapping[str, Any]", value)
    into, out = _inner(usage, f"{asked}_tokens_details"), _inner(usage, f"{answered}_tokens_details")
    return Usage(
        input_tokens=_count(usage, f"{asked}_tokens"),
        output_tokens=_count(usage, f"{answered}_tokens"),
        cached_tokens=_count(into, "cached_tokens"),
        cache_write_tokens=_count(into, "cache_write_tokens"),
        reasoning_tokens=_count(out, "reasoning_tokens"),
    )


def _anthropic_usage(value: object) -> Usage | None:
    if not isinstance(value, Mapping):
        return None
    usage = cast("Mapping[str, Any]", value)
    parts = [
        _count(usage, key)
        for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    details = _inner(usage, "output_tokens_details")
    return Usage(
        input_tokens=None if parts[0] is None else sum(part or 0 for part in parts),
        output_tokens=_count(usage, "output_tokens"),
        cached_tokens=parts[1],
        cache_write_tokens=parts[2],
        reasoning_tokens=_count(details, "thinking_tokens"),
    )


# ------------------------------------------------------------------------------------------ reading


def _reason(value: object) -> str | None:
    return _FINISH.get(value, value) if isinstance(value, str) else None


def _cut(calls: Sequence[ToolCall], reason: str | None) -> tuple[ToolCall, ...]:
    """The calls; where the answer was cut the last one is incomplete."""
    if not calls or reason != "length":
        return tuple(calls)
    last = calls[-1]
    return (*calls[:-1], ToolCall(last.id, last.name, last.arguments, incomplete=True))


def _arguments(value: object) -> str:
    """Arguments as text; servers that send a mapping mean its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _refused(data: Mapping[str, Any], otherwise: str) -> ModelOutputError:
    """For what is no answer: some servers report a failure with the status of a success."""
    error = data.get("error")
    said = _inner(data, "error").get("message") if isinstance(error, Mapping) else error
    return ModelOutputError(f"the provider reports a failure: {said}" if said else otherwise)


def _count(data: Mapping[str, Any], key: str) -> int | None:
    """A figure; None where there is none."""
    value = data.get(key)
    return value if type(value) is int else None


def _mapping(value: object, what: str) -> dict[str, Any]:
    data: object = as_data(value)
    if not isinstance(data, dict):
        raise ModelOutputError(f"{what} needs a mapping or a client's object, got {short_repr(value)}")
    return cast("dict[str, Any]", data)


def _inner(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The mapping under ``key``; an empty one where there is none."""
    value = data.get(key)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _each(data: Mapping[str, Any], key: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """The mappings in the list under ``key``, numbered from 0; none where there is no list."""
    items: object = data.get(key)
    if items is None:
        items = []
    if not _is_list(items):
        raise ModelOutputError(f"{key} needs a list, got {short_repr(items)}")
    return ((i, _mapping(item, f"{key}[{i}]")) for i, item in enumerate(items))


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise ModelOutputError(f"{key} needs text, got {short_repr(value)}")
    return value
