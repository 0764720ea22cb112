"""OpenAI's chat completions: a rendered prompt as a request, and a list of messages as elements.

The shapes are those of the ``TypedDict``s under ``openai.types.chat`` (openai 3.57); nothing of that package
is imported. Limits that the types don't hold are the API's own refusals: names of tools and functions of
letters, digits, ``_`` and ``-``, 64 at most; call ids of 40 characters at most; names of messages of 64 characters
at most without white space, angle brackets, bars and slashes; 4 stop texts, none empty; results directly after
their calls.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from priompt_py.errors import ArgumentValueError, ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, Tool
from priompt_py.providers.openai_history import from_openai
from priompt_py.providers.openai_rules import Marks, for_chats, function_name, message_name
from priompt_py.providers.pairs import paired
from priompt_py.providers.shared import (
    copy_data,
    fitting_id,
    image_url,
    placed_messages,
    refuse_image,
    response_tokens,
    segments,
    with_extra,
)

__all__ = ["MaxTokensKey", "from_openai", "to_openai"]

MaxTokensKey = Literal["max_completion_tokens", "max_tokens"]

_MOST_STOPS = 4
_CALL_ID = re.compile(r".{1,40}", re.DOTALL)


def to_openai(
    outcome: Outcome, *, max_tokens_key: MaxTokensKey = "max_completion_tokens", cache_marks: bool = False
) -> dict[str, Any]:
    """The request for ``client.chat.completions.create(model=..., **request)``.

    Its keys stand in a fixed order: ``messages``, ``tools`` and ``tool_choice="auto"`` where there are tools,
    ``stop``, the answer's tokens under ``max_tokens_key``, then ``extra`` of the prompt's config, which has the
    last word. ``max_tokens_key="max_tokens"`` is for servers that know no other (LM Studio, Ollama, older vLLM).
    ``cache_marks=True`` writes the author's ``cache_break``s as ``prompt_cache_breakpoint``s.

    A plain prompt becomes one user message. Content is a string, or a list of parts where there is more than
    text. Left out, because the API has no place for them: ``to``, ``is_error``, names of tool messages, parts of
    other providers. Messages that were emptied stay, with ``""``. Results that don't stand directly after the
    message with their calls are moved there, as the API wants it. Raises ProviderError for what can't be held.
    """
    if max_tokens_key not in ("max_completion_tokens", "max_tokens"):
        raise ArgumentValueError(
            f"to_openai() needs 'max_completion_tokens' or 'max_tokens' for max_tokens_key, got {max_tokens_key!r}"
        )
    request: dict[str, Any] = {"messages": _messages(outcome, cache_marks=cache_marks)}
    if outcome.tools:
        request["tools"] = [_tool(tool) for tool in outcome.tools]
        request["tool_choice"] = "auto"
    stop = _stop(outcome.config.stop)
    if stop is not None:
        request["stop"] = stop
    tokens = response_tokens(outcome)
    if tokens is not None:
        request[max_tokens_key] = tokens
    own = ("messages", "tools") if outcome.tools else ("messages",)
    return with_extra(request, outcome.config.extra, own)


def _stop(stop: tuple[str, ...] | str | None) -> str | list[str] | None:
    texts = [stop] if isinstance(stop, str) else list(stop or ())
    if len(texts) > _MOST_STOPS:
        raise ProviderError(f"OpenAI takes at most {_MOST_STOPS} stop texts, got {len(texts)}")
    if "" in texts:
        raise ProviderError("OpenAI refuses an empty stop text; leave stop out of config() for none")
    return stop if isinstance(stop, str) else texts or None


# ------------------------------------------------------------------------------------------ messages


def _messages(outcome: Outcome, *, cache_marks: bool) -> list[dict[str, Any]]:
    placed = paired(placed_messages(outcome), "OpenAI", "message")
    if not placed:
        raise ProviderError("no message of the prompt is in, and OpenAI needs at least one")
    marks = Marks()
    # All parts first: a mark may fall on a part of an earlier message, which is then no plain string any more.
    parts = [_parts(message, place, marks, cache_marks=cache_marks) for place, message in placed]
    return [_message(message, found, place) for (place, message), found in zip(placed, parts, strict=True)]


def _message(message: ChatMessage, parts: list[dict[str, Any]], place: str) -> dict[str, Any]:
    content: str | list[dict[str, Any]] | None = _content(parts, message)
    has_calls = bool(message.tool_calls) or message.function_call is not None
    if has_calls and isinstance(content, str) and not content.strip():
        content = None  # next to calls the types allow it, and it is what the API itself answers
    written: dict[str, Any] = {"role": message.role, "content": content}
    if message.name is not None and message.role != "tool":
        written["name"] = message_name(message.name, place)
    if message.tool_calls:
        written["tool_calls"] = [_call(call, place) for call in message.tool_calls]
    if message.function_call is not None:
        written["function_call"] = _function(message.function_call, place)
    if message.role == "tool":
        assert message.tool_call_id is not None, "a result has the id of its call: see pairs.py"
        written["tool_call_id"] = fitting_id(message.tool_call_id, _CALL_ID)
    return written


def _content(parts: list[dict[str, Any]], message: ChatMessage) -> str | list[dict[str, Any]]:
    """A string where the message holds text alone and no mark, else its parts."""
    if not parts:
        return ""
    ours = not any(isinstance(part, Part) and for_chats(message, part) for part in message.parts)
    if ours and len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return str(parts[0]["text"])
    return parts


def _parts(message: ChatMessage, place: str, marks: Marks, *, cache_marks: bool) -> list[dict[str, Any]]:
    """The message's content as parts: neighbouring texts joined, empty ones left out."""
    parts: list[dict[str, Any]] = []
    for item in segments(message, for_chats, marks=cache_marks):
        if isinstance(item, CacheMark):
            marks.set()
        elif isinstance(item, Image):
            refuse_image(message, place, "OpenAI", results=False)
            url = {"url": image_url(item, place), "detail": item.detail}
            parts.append(marks.passed({"type": "image_url", "image_url": url}))
        elif isinstance(item, Part):
            parts.append(marks.passed(copy_data(item.data)))
        else:
            parts.append(marks.passed({"type": "text", "text": item}))
    return parts


# ------------------------------------------------------------------------------------------ calls and tools


def _call(call: Call, place: str) -> dict[str, Any]:
    assert call.id is not None, "a call has an id: see pairs.py"
    return {"id": fitting_id(call.id, _CALL_ID), "type": "function", "function": _function(call, place)}


def _function(call: Call, place: str) -> dict[str, Any]:
    return {"name": function_name(call.name, place), "arguments": call.arguments}


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": function_name(tool.name, f"tool_definition {tool.name!r}")}
    if tool.description:
        function["description"] = tool.description
    if tool.parameters:  # left out means: no parameters
        function["parameters"] = copy_data(tool.parameters)
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}
