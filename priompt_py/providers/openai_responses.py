"""OpenAI's Responses: a rendered prompt as a request.

The shapes are those of the ``TypedDict``s under ``openai.types.responses`` (openai 3.57); nothing of that package is
imported. Limits that the types don't hold are the API's own refusals: names of functions as in chat completions, call
ids of 64 characters at most, a result for every call.
"""

from __future__ import annotations

import re
from typing import Any

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, Tool
from priompt_py.providers.openai_rules import Marks, for_responses, function_name
from priompt_py.providers.pairs import paired
from priompt_py.providers.responses_history import from_openai_responses
from priompt_py.providers.shared import (
    Placed,
    copy_data,
    fitting_id,
    image_url,
    placed_messages,
    refuse_image,
    refuse_legacy_call,
    response_tokens,
    segments,
    with_extra,
)

__all__ = ["from_openai_responses", "to_openai_responses"]

_CALL_ID = re.compile(r".{1,64}", re.DOTALL)


def to_openai_responses(
    outcome: Outcome, *, instructions: bool = True, cache_marks: bool = False
) -> dict[str, Any]:
    """The request for ``client.responses.create(model=..., **request)``.

    Its keys stand in a fixed order: ``instructions``, ``input``, ``tools`` and ``tool_choice="auto"`` where there are
    tools, ``max_output_tokens``, then ``extra`` of the prompt's config, which has the last word.

    A first message of system or developer that holds text alone becomes ``instructions`` where others follow it;
    ``instructions=False`` leaves it among the items. ``cache_marks=True`` writes the author's ``cache_break``s as
    ``prompt_cache_breakpoint``s, on the nearest part before them that can hold one: text that the assistant said
    can't. A plain prompt becomes one user message. Left out: ``name``, ``to``, ``is_error``, parts of other
    providers. Raises ProviderError for what can't be held: stop texts, legacy function calls, images of the
    assistant or in instructions, a call without its result.
    """
    if outcome.config.stop is not None and outcome.config.stop != ():
        raise ProviderError(
            "OpenAI's Responses take no stop texts; leave stop out of config(), or cut the answer yourself"
        )
    placed = paired(placed_messages(outcome), "OpenAI", None, unique=True)
    if not placed:
        raise ProviderError("no message of the prompt is in, and OpenAI needs at least one")
    request: dict[str, Any] = {}
    leading = _leading_text(placed, cache_marks=cache_marks) if instructions else None
    if leading is not None:
        request["instructions"] = leading
        placed = placed[1:]
    marks = Marks()
    request["input"] = [
        item for place, message in placed for item in _items(message, place, marks, cache_marks=cache_marks)
    ]
    for item in request["input"]:
        _shorten(item)
    own = set(request)
    if outcome.tools:
        request["tools"] = [_tool(tool) for tool in outcome.tools]
        request["tool_choice"] = "auto"
        own.add("tools")
    tokens = response_tokens(outcome)
    if tokens is not None:
        request["max_output_tokens"] = tokens
    return with_extra(request, outcome.config.extra, own)


def _leading_text(placed: list[Placed], *, cache_marks: bool) -> str | None:
    """The text of the first message, if it can be the instructions."""
    message = placed[0][1]
    if message.role not in ("system", "developer") or len(placed) == 1:
        return None
    found = segments(message, for_responses, marks=cache_marks)
    while found and isinstance(found[0], CacheMark):  # nothing is before it that could hold it
        del found[0]
    return found[0] if len(found) == 1 and isinstance(found[0], str) else None


# ------------------------------------------------------------------------------------------ items


def _items(message: ChatMessage, place: str, marks: Marks, *, cache_marks: bool) -> list[dict[str, Any]]:
    refuse_legacy_call(message, place, "OpenAI's Responses")
    if message.role == "assistant":
        return _said(message, place, marks, cache_marks=cache_marks)
    content = _content(message, place, marks, cache_marks=cache_marks)
    if message.role == "tool":
        assert message.tool_call_id is not None, "a result has the id of its call: see pairs.py"
        call_id = fitting_id(message.tool_call_id, _CALL_ID)
        return [{"type": "function_call_output", "call_id": call_id, "output": content}]
    return [{"role": message.role, "content": content}]


def _said(message: ChatMessage, place: str, marks: Marks, *, cache_marks: bool) -> list[dict[str, Any]]:
    """What the assistant said, thought and called: an item each. A message of nothing is left as empty text."""
    if cache_marks and any(isinstance(part, CacheMark) for part in message.parts):
        marks.set()  # nothing here can hold it; it divides no text neither
    items: list[dict[str, Any]] = []
    for found in segments(message, for_responses, marks=False):
        assert not isinstance(found, CacheMark), "no marks are asked for"
        if isinstance(found, Image):
            refuse_image(message, place, "OpenAI")
        elif isinstance(found, Part):
            items.append(copy_data(found.data))
        elif found.strip() or not message.tool_calls:
            items.append({"role": "assistant", "content": found})
    for call in message.tool_calls:
        assert call.id is not None, "a call has an id: see pairs.py"
        items.append(
            {
                "type": "function_call",
                "call_id": fitting_id(call.id, _CALL_ID),
                "name": function_name(call.name, place),
                "arguments": call.arguments,
            }
        )
    return items or [{"role": "assistant", "content": ""}]


def _content(message: ChatMessage, place: str, marks: Marks, *, cache_marks: bool) -> list[dict[str, Any]]:
    """The content as parts: neighbouring texts joined, empty ones left out."""
    parts: list[dict[str, Any]] = []
    for found in segments(message, for_responses, marks=cache_marks):
        if isinstance(found, CacheMark):
            marks.set()
        elif isinstance(found, Image):
            refuse_image(message, place, "OpenAI")
            image = {"type": "input_image", "image_url": image_url(found, place), "detail": found.detail}
            parts.append(marks.passed(image))
        elif isinstance(found, Part):
            parts.append(marks.passed(copy_data(found.data)))
        else:
            parts.append(marks.passed({"type": "input_text", "text": found}))
    return parts


def _shorten(item: dict[str, Any]) -> None:
    """Writes content of one unmarked text as a string: only when all marks stand where they fall."""
    for key in ("content", "output"):
        if not isinstance(item.get(key), list):
            continue
        parts: list[dict[str, Any]] = item[key]
        if not parts:
            item[key] = ""
        elif len(parts) == 1 and parts[0].keys() == {"type", "text"} and parts[0]["type"] == "input_text":
            item[key] = parts[0]["text"]


# ------------------------------------------------------------------------------------------ tools


def _tool(tool: Tool) -> dict[str, Any]:
    """``parameters`` and ``strict`` are always written: left out, the API would take strict for granted."""
    written: dict[str, Any] = {
        "type": "function",
        "name": function_name(tool.name, f"tool_definition {tool.name!r}"),
    }
    if tool.description:
        written["description"] = tool.description
    written["parameters"] = copy_data(tool.parameters) or {"type": "object", "properties": {}}
    written["strict"] = bool(tool.strict)
    return written
