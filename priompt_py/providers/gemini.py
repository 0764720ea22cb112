"""Google's Gemini: a rendered prompt as a request, in the plain form that the client's models take (google-genai 3.6).

Limits that the models don't hold are the API's own: names of functions begin with a letter or ``_`` and go on with
letters, digits, ``_``, ``.``, ``:`` and ``-``, 128 at most; texts and parts are not empty; 5 stop sequences; calls stand
directly behind a turn of the user, so no conversation begins with them.
"""

from __future__ import annotations

import mimetypes
import re
from typing import Any

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, Tool
from priompt_py.providers.late_system import LATE_SYSTEM_TEXT, LateSystem, check_late_system, split_system
from priompt_py.providers.leading_text import checked_leading_text, needed_leading_text
from priompt_py.providers.pairs import paired
from priompt_py.providers.shared import (
    base64_data,
    call_arguments,
    copy_data,
    fitting_name,
    has_content,
    of_provider,
    placed_messages,
    refuse_image,
    refuse_legacy_call,
    response_tokens,
    segments,
    with_extra,
)

__all__ = ["to_gemini"]

PROVIDER = "gemini"
"""Opaque parts of this provider are written back, those of others are left out."""

_HOLDS = of_provider(PROVIDER)
_LATE: tuple[LateSystem, ...] = ("user", "hoist")
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")


def to_gemini(
    outcome: Outcome,
    *,
    late_system: LateSystem | None = None,
    late_system_text: str = LATE_SYSTEM_TEXT,
    lead_with_user: bool | str = True,
) -> dict[str, Any]:
    """The request for ``client.models.generate_content(model=..., **request)``: ``contents`` and ``config``.

    Leading messages of system and developer become ``config.system_instruction``; of a later one ``late_system`` says
    what it becomes (``"user"`` or ``"hoist"``, as for Anthropic); None is an error. Neighbours of one role are merged,
    blank messages left out, results stand directly behind the turn with their calls. If the first message is the
    assistant's, the user says ``lead_with_user`` before it (True: "(The conversation goes on.)"; False is an error).
    ``extra`` of the prompt's config is merged into ``config``. A plain prompt becomes one user message. Left out: ``name``, ``to``, ``detail``,
    ``strict``, marks for caching, parts of other providers. Raises ProviderError for what can't be held.
    """
    check_late_system("to_gemini", late_system, late_system_text, _LATE)
    leading_text = checked_leading_text("to_gemini", lead_with_user=lead_with_user)
    placed = paired(placed_messages(outcome), "Gemini", "turn")
    leading, others = split_system(placed, "Gemini", late_system, late_system_text, _LATE, _HOLDS)
    names = {call.id: call.name for _, message in others for call in message.tool_calls}
    contents: list[dict[str, Any]] = []
    for place, message in others:
        parts = _parts(message, place, names)
        role = "model" if message.role == "assistant" else "user"
        if parts and contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
    if not contents:
        raise ProviderError("no message but system text is in, and Gemini needs at least one of the user")
    if contents[0]["role"] == "model":
        contents.insert(0, {"role": "user", "parts": [{"text": needed_leading_text(leading_text, "Gemini")}]})
    return {"contents": contents, "config": _config(outcome, [_content(m, place) for place, m in leading])}


def _config(outcome: Outcome, system: list[list[dict[str, Any]]]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    instruction = [part for parts in system for part in parts]
    if instruction:
        config["system_instruction"] = {"parts": instruction}
    if outcome.tools:
        config["tools"] = [{"function_declarations": [_tool(tool) for tool in outcome.tools]}]
    own = set(config)
    stop = outcome.config.stop
    texts = [stop] if isinstance(stop, str) else list(stop or ())
    if "" in texts:
        raise ProviderError("Gemini refuses an empty stop sequence; leave stop out of config() for none")
    if texts:
        config["stop_sequences"] = texts
    tokens = response_tokens(outcome)
    if tokens is not None:
        config["max_output_tokens"] = tokens
    return with_extra(config, outcome.config.extra, own)


def _parts(message: ChatMessage, place: str, names: dict[str | None, str]) -> list[dict[str, Any]]:
    refuse_legacy_call(message, place, "Gemini")
    if message.role == "tool":
        return [{"function_response": _result(message, place, names)}]
    calls = [
        {
            "function_call": {
                "id": call.id,
                "name": _name(call.name, place),
                "args": call_arguments(call, place, "Gemini"),
            }
        }
        for call in message.tool_calls
    ]
    return [*(_content(message, place) if has_content(message, _HOLDS) else ()), *calls]


def _result(message: ChatMessage, place: str, names: dict[str | None, str]) -> dict[str, Any]:
    """The text under the key that the API documents for it; pictures beside it."""
    response = {"error" if message.is_error else "output": message.text}
    written: dict[str, Any] = {
        "id": message.tool_call_id,
        "name": _name(names[message.tool_call_id], place),
        "response": response,
    }
    beside = [part for part in _content(message, place) if "text" not in part]
    if beside:
        written["parts"] = beside
    return written


def _content(message: ChatMessage, place: str) -> list[dict[str, Any]]:
    """The content as parts: neighbouring texts joined, empty ones left out."""
    parts: list[dict[str, Any]] = []
    for found in segments(message, _HOLDS, marks=False):
        assert not isinstance(found, CacheMark), "no marks are asked for"
        if isinstance(found, Image):
            refuse_image(message, place, "Gemini")
            parts.append(_image(found, place))
        elif isinstance(found, Part):
            parts.append(copy_data(found.data))
        else:
            parts.append({"text": found})
    return parts


def _image(image: Image, place: str) -> dict[str, Any]:
    if image.data is not None:
        media_type, data = base64_data(image, place)
        return {"inline_data": {"mime_type": media_type, "data": data}}
    written: dict[str, Any] = {"file_uri": image.url}
    guessed = mimetypes.guess_type((image.url or "").partition("?")[0])[0]
    if guessed is not None and guessed.startswith("image/"):
        written["mime_type"] = guessed
    return {"file_data": written}


def _name(name: str, place: str) -> str:
    rule = "Gemini takes names of 1 to 128 letters, digits, '_', '.', ':' and '-' for functions, first a letter or '_'"
    return fitting_name(name, _NAME, place, rule)


def _tool(tool: Tool) -> dict[str, Any]:
    written: dict[str, Any] = {"name": _name(tool.name, f"tool_definition {tool.name!r}")}
    if tool.description:
        written["description"] = tool.description
    if tool.parameters:
        written["parameters_json_schema"] = copy_data(tool.parameters)
    return written
