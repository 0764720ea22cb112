"""What a provider's server answers, in the three protocols, whole and as events; and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import attrs

__all__ = ["PATHS", "Protocol", "Say", "events_of", "fault_of", "whole_of"]

Protocol = Literal["chat", "responses", "anthropic"]

PATHS: dict[str, Protocol] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}


@attrs.define
class Say:
    """One answer: what the model says, and what goes wrong on its way.

    ``calls`` are (id, name, arguments). A stream is sent in pieces of ``size`` characters; ``cut_after`` events the
    connection breaks off, ``hang_after`` events nothing more comes. ``status`` other than 200 is an error.
    """

    text: str = ""
    calls: list[tuple[str, str, str]] = attrs.field(factory=list[tuple[str, str, str]])
    finish: Literal["stop", "length", "tool_calls"] | None = None
    status: int = 200
    size: int = 4
    cut_after: int | None = None
    hang_after: int | None = None
    pause: float = 0.0  # seconds between two events

    @property
    def reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")

    def pieces(self, text: str) -> list[str]:
        return [text[i : i + self.size] for i in range(0, len(text), self.size)]


# ------------------------------------------------------------------------------------------ whole answers


def whole_of(protocol: Protocol, say: Say, model: str) -> dict[str, Any]:
    """The body of an answer that is sent at once."""
    if say.status != 200:
        kind = {429: "rate_limit_error", 500: "api_error", 400: "invalid_request_error"}[say.status]
        error = {"type": kind, "message": say.text or kind, "code": kind, "param": None}
        return {"type": "error", "error": error} if protocol == "anthropic" else {"error": error}
    return {"chat": _chat, "responses": _response, "anthropic": _message}[protocol](say, model)


def _chat(say: Say, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None, "refusal": None}
    if say.calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in say.calls
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": say.reason, "logprobs": None}],
        "usage": _CHAT_USAGE,
    }


_CHAT_USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 3},
}


def _response(say: Say, model: str) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if say.text:
        content: list[dict[str, Any]] = [
            {"type": "output_text", "text": say.text, "annotations": [], "logprobs": []}
        ]
        output.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{call_id}",
            "call_id": call_id,
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        for call_id, name, arguments in say.calls
    ]
    cut = say.reason == "length"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 11,
            "output_tokens": 7,
            "total_tokens": 18,
            "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


_ANTHROPIC_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


def _message(say: Say, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = (
        [{"type": "text", "text": say.text, "citations": None}] if say.text else []
    )
    content += [
        {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments or "{}")}
        for call_id, name, arguments in say.calls
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": _ANTHROPIC_REASONS[say.reason],
        "stop_sequence": None,
        "usage": {
            "input_tokens": 8,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 0,
            "output_tokens": 7,
        },
    }


# ------------------------------------------------------------------------------------------ streams


def events_of(protocol: Protocol, say: Say, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of the same answer as a stream."""
    if protocol == "chat":
        yield from _chat_chunks(say, request)
    elif protocol == "responses":
        for number, event in enumerate(_response_events(say, request["model"])):
            yield {**event, "sequence_number": number}
    else:
        yield from _message_events(say, request["model"])


def _chat_chunks(say: Say, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in say.pieces(say.text):
        yield chunk({"content": piece})
    for index, (call_id, name, arguments) in enumerate(say.calls):
        begun = {
            "index": index,
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        yield chunk({"tool_calls": [begun]})
        for piece in say.pieces(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, say.reason)
    options: dict[str, Any] = request.get("stream_options") or {}
    if options.get("include_usage"):
        yield {**head, "choices": [], "usage": _CHAT_USAGE}


def _response_events(say: Say, model: str) -> Iterator[dict[str, Any]]:
    whole = _response(say, model)
    begun: dict[str, Any] = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        without: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        empty = {**item, "status": "in_progress", **without}
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        if item["type"] == "message":
            place["content_index"] = 0
            for piece in say.pieces(say.text):
                yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **place, "text": say.text, "logprobs": []}
        else:
            for piece in say.pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield {"type": "response.function_call_arguments.done", **place, **done}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    ending = "incomplete" if whole["status"] == "incomplete" else "completed"
    yield {"type": f"response.{ending}", "response": whole}


def _message_events(say: Say, model: str) -> Iterator[dict[str, Any]]:
    whole = _message(say, model)
    begun: dict[str, Any] = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**whole["usage"], "output_tokens": 1},
    }
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    for index, block in enumerate(whole["content"]):
        is_text = block["type"] == "text"
        without: dict[str, Any] = {"text": ""} if is_text else {"input": {}}
        empty = {**block, **without}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        text = say.text if is_text else say.calls[index - bool(say.text)][2]
        kind, name = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
        for piece in say.pieces(text):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, name: piece}}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {
        "type": "message_delta",
        "delta": ended,
        "usage": {"output_tokens": whole["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}


# ------------------------------------------------------------------------------------------ what is refused


def fault_of(protocol: Protocol, request: dict[str, Any]) -> str | None:
    """What the provider would refuse: pairs of calls and results, their order, ids, pictures, roles."""
    faults = {"chat": _chat_faults, "responses": _response_faults, "anthropic": _message_faults}
    return next(faults[protocol](request), None)


def _chat_faults(request: dict[str, Any]) -> Iterator[str]:
    owed: list[str] = []
    for number, message in enumerate(request["messages"]):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in owed:
                yield f"messages[{number}]: a result without a call before it"
            else:
                owed.remove(message["tool_call_id"])
            if isinstance(message["content"], list):
                yield from (
                    f"messages[{number}]: {p['type']} in a result"
                    for p in message["content"]
                    if p["type"] != "text"
                )
            continue
        if owed:
            yield f"messages[{number}]: stands before the results of {owed}"
        if role not in ("system", "developer", "user", "assistant"):
            yield f"messages[{number}]: role {role!r}"
        if isinstance(message.get("content"), list):
            known = ("text", "image_url") if role == "user" else ("text",)
            yield from (
                f"messages[{number}]: {p['type']}" for p in message["content"] if p["type"] not in known
            )
        calls: list[dict[str, Any]] = message.get("tool_calls") or []
        owed = [call["id"] for call in calls]
        if len({*owed}) != len(owed) or any(not 0 < len(one) <= 40 for one in owed):
            yield f"messages[{number}]: ids {owed}"
    if owed:
        yield f"no result for {owed}"
    tools: list[dict[str, Any]] = request.get("tools") or []
    yield from _tool_faults([tool["function"] for tool in tools])


def _response_faults(request: dict[str, Any]) -> Iterator[str]:
    calls: list[str] = []
    results: list[str] = []
    for number, item in enumerate(request["input"]):
        kind = item.get("type", "message")
        if kind == "function_call":
            calls.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in calls:
                yield f"input[{number}]: an output without a call before it"
            results.append(item["call_id"])
        elif kind == "message" and item["role"] not in ("system", "developer", "user", "assistant"):
            yield f"input[{number}]: role {item['role']!r}"
    if sorted(calls) != sorted(results) or len({*calls}) != len(calls):
        yield f"calls {calls} against outputs {results}"
    if "stop" in request:
        yield "unknown parameter: stop"
    yield from _tool_faults(request.get("tools") or [])


def _message_faults(request: dict[str, Any]) -> Iterator[str]:
    if not isinstance(request.get("max_tokens"), int):
        yield "max_tokens: field required"
    owed: set[str] = set()
    before = "assistant"
    for number, message in enumerate(request["messages"]):
        role, content = message["role"], message["content"]
        if role not in ("user", "assistant") or role == before:
            yield f"messages[{number}]: role {role!r} after {before!r}"
        before = role
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            yield f"messages[{number}]: text must not be blank"
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if (
            {*results} != owed
            or len(results) != len(owed)
            or kinds[: len(results)] != ["tool_result"] * len(results)
        ):
            yield f"messages[{number}]: results {results} where {sorted(owed)} are owed, first in the message"
        owed = {block["id"] for block in blocks if block["type"] == "tool_use"}
    if owed:
        yield f"no results for {sorted(owed)}"
    yield from _tool_faults(request.get("tools") or [])


def _tool_faults(tools: list[dict[str, Any]]) -> Iterator[str]:
    names = [tool["name"] for tool in tools]
    if len({*names}) != len(names):
        yield f"tools: names {names}"
