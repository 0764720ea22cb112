"""OpenAI's chat completions: a rendered prompt as a request, and a list of messages as elements.

The shapes are those of the ``TypedDict``s under ``openai.types.chat`` (openai 3.57); nothing of that package
is imported. Limits that the types don't hold are the API's own refusals: names of tools and functions of
letters, digits, ``_`` and ``-``, 64 at most; call ids of 40 characters at most; names of messages without
white space, angle brackets, bars and slashes; 4 stop texts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Literal

from priompt_py.errors import ArgumentValueError, ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart, Tool
from priompt_py.providers.openai_history import from_openai
from priompt_py.providers.shared import copy_data, fitting_id, message_place, plain_text, response_tokens

__all__ = ["MaxTokensKey", "from_openai", "to_openai"]

MaxTokensKey = Literal["max_completion_tokens", "max_tokens"]

PROVIDER = "openai"
"""Opaque parts of this provider are written back, those of others are left out."""

_MOST_STOPS = 4
_FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MESSAGE_NAME = re.compile(r"[^\s<|\\/>]+")
_CALL_ID = re.compile(r".{1,40}", re.DOTALL)
# Content parts that a mark for prefix caching can stand on.
_MARKABLE = ("text", "image_url", "input_audio", "file")
_MARK = {"mode": "explicit"}


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
    other providers. Messages that were emptied stay, with ``""``. Raises ProviderError for what can't be held.
    """
    if max_tokens_key not in ("max_completion_tokens", "max_tokens"):
        raise ArgumentValueError(
            f"to_openai() needs 'max_completion_tokens' or 'max_tokens' for max_tokens_key, got {max_tokens_key!r}"
        )
    request: dict[str, Any] = {"messages": _messages(outcome, cache_marks=cache_marks)}
    if outcome.tools:
        request["tools"] = [_tool(tool) for tool in outcome.tools]
        request["tool_choice"] = "auto"
    stop = outcome.config.stop
    if stop is not None and stop != ():
        if not isinstance(stop, str) and len(stop) > _MOST_STOPS:
            raise ProviderError(f"OpenAI takes at most {_MOST_STOPS} stop texts, got {len(stop)}")
        request["stop"] = stop if isinstance(stop, str) else list(stop)
    tokens = response_tokens(outcome)
    if tokens is not None:
        request[max_tokens_key] = tokens
    return _with_extra(request, outcome.config.extra)


def _with_extra(request: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in extra.items():
        if key == "messages" or (key == "tools" and "tools" in request):
            raise ProviderError(
                f"extra holds {key!r}, which the prompt itself gives; leave it out of config(extra=...)"
            )
        request[key] = copy_data(value)
    return request


# ------------------------------------------------------------------------------------------ messages


def _messages(outcome: Outcome, *, cache_marks: bool) -> list[dict[str, Any]]:
    if outcome.messages is None:
        return [{"role": "user", "content": plain_text(outcome).text}]
    if not outcome.messages:
        raise ProviderError("no message of the prompt is in, and OpenAI needs at least one")
    marks = _Marks(on=cache_marks)
    places = [message_place(i, message) for i, message in enumerate(outcome.messages)]
    # All parts first: a mark may fall on a part of an earlier message, which is then no plain string any more.
    parts = [_parts(message, place, marks) for message, place in zip(outcome.messages, places, strict=True)]
    return [_message(*triple) for triple in zip(outcome.messages, parts, places, strict=True)]


def _message(message: ChatMessage, parts: list[dict[str, Any]], place: str) -> dict[str, Any]:
    content: str | list[dict[str, Any]] | None = _content(parts, message)
    has_calls = bool(message.tool_calls) or message.function_call is not None
    if has_calls and isinstance(content, str) and not content.strip():
        content = None  # next to calls the types allow it, and it is what the API itself answers
    written: dict[str, Any] = {"role": message.role, "content": content}
    if message.name is not None and message.role != "tool":
        if not _MESSAGE_NAME.fullmatch(message.name):
            raise ProviderError(
                f"{place}: OpenAI takes names without white space, angle brackets, bars and slashes, got {message.name!r}"
            )
        written["name"] = message.name
    if message.tool_calls:
        written["tool_calls"] = [_call(call, place) for call in message.tool_calls]
    if message.function_call is not None:
        written["function_call"] = _function(message.function_call, place)
    if message.role == "tool":
        if message.tool_call_id is None:
            raise ProviderError(f"{place}: a tool message needs the id of the call that it answers")
        written["tool_call_id"] = fitting_id(message.tool_call_id, _CALL_ID)
    return written


def _content(parts: list[dict[str, Any]], message: ChatMessage) -> str | list[dict[str, Any]]:
    """A string where the message holds text alone and no mark, else its parts."""
    if not parts:
        return ""
    ours = not any(isinstance(part, Part) and part.provider == PROVIDER for part in message.parts)
    if ours and len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return str(parts[0]["text"])
    return parts


def _parts(message: ChatMessage, place: str, marks: _Marks) -> list[dict[str, Any]]:
    """The message's content as parts: neighbouring texts joined, empty ones left out."""
    parts: list[dict[str, Any]] = []
    open_text: dict[str, Any] | None = None  # the last part, while more text may be joined to it
    for part in message.parts:
        if isinstance(part, CacheMark):
            if marks.set():
                open_text = None
        elif isinstance(part, TextPart):
            if open_text is not None:
                open_text["text"] += part.text
            elif part.text:
                open_text = {"type": "text", "text": part.text}
                parts.append(marks.passed(open_text))
        elif isinstance(part, Image):
            if message.role != "user":
                raise ProviderError(
                    f"{place} holds an image; OpenAI takes images in user messages alone: move it to one"
                )
            parts.append(marks.passed(_image(part, place)))
            open_text = None
        elif part.provider == PROVIDER:
            parts.append(marks.passed(copy_data(part.data)))
            open_text = None
    return parts


class _Marks:
    """Where the next mark goes: on the nearest part before it that can hold one, in whatever message."""

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._holder: dict[str, Any] | None = None

    def passed(self, part: dict[str, Any]) -> dict[str, Any]:
        """``part``, on which the next mark may fall from now on."""
        if part.get("type") in _MARKABLE:
            self._holder = part
        return part

    def set(self) -> bool:
        """Marks the holder; whether there is one, and marks are asked for."""
        if not self._on or self._holder is None:
            return False
        self._holder.setdefault("prompt_cache_breakpoint", dict(_MARK))
        return True


def _image(image: Image, place: str) -> dict[str, Any]:
    if image.data is None:
        url = image.url
    elif image.media_type is None:
        raise ProviderError(f"{place} holds an image of {len(image.data)} bytes without a media type")
    else:
        url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url, "detail": image.detail}}


# ------------------------------------------------------------------------------------------ calls and tools


def _call(call: Call, place: str) -> dict[str, Any]:
    if call.id is None:
        raise ProviderError(f"{place}: the call of {call.name!r} has no id")
    return {"id": fitting_id(call.id, _CALL_ID), "type": "function", "function": _function(call, place)}


def _function(call: Call, place: str) -> dict[str, Any]:
    return {"name": _function_name(call.name, place), "arguments": call.arguments}


def _function_name(name: str, place: str) -> str:
    if not _FUNCTION_NAME.fullmatch(name):
        raise ProviderError(
            f"{place}: OpenAI takes names of 1 to 64 letters, digits, '_' and '-' for functions, got {name!r}"
        )
    return name


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": _function_name(tool.name, f"tool_definition {tool.name!r}")}
    if tool.description:
        function["description"] = tool.description
    if tool.parameters:  # left out means: no parameters
        function["parameters"] = copy_data(tool.parameters)
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}
