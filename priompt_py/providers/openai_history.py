"""Messages of OpenAI's chat completions, read back as elements, so that a history can be put under a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.parts import image
from priompt_py.author.tags import cache_break
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Element, Message
from priompt_py.providers.openai_rules import PROVIDER
from priompt_py.providers.reading import PartTokens, at, list_of, mapping, of_role, only, opaque, shown, text

__all__ = ["from_openai"]

# What answers hold and requests don't: what the text cites is in it already, and the thoughts that compatible servers
# show (DeepSeek, vLLM, OpenRouter) are refused or no use to them.
_ONLY_IN_ANSWERS = ("annotations", "reasoning_content", "reasoning", "reasoning_details")
_KEYS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "tool_calls", "function_call", *_ONLY_IN_ANSWERS),
    "tool": ("role", "content", "name", "tool_call_id"),
}
_SPEAKERS = {"system": system_message, "developer": developer_message, "user": user_message}
_REMEDIES = {
    "function": "the role 'function' is the legacy form: give the call an id, write it in tool_calls of the "
    "assistant message before, and make this {'role': 'tool', 'tool_call_id': that id, 'content': ...}",
    "audio": "an earlier spoken answer can't be held: put its transcript in content and leave audio out",
    "custom": "calls of custom tools can't be held: only those of functions",
}


def from_openai(messages: Iterable[Any], *, part_tokens: PartTokens | None = None) -> list[Message]:
    """The elements of messages in the form of OpenAI's chat completions, one for each, in order.

    Takes what requests hold and what answers give, the client's own objects too; a key whose value is ``None`` is as
    if it weren't there. Pictures become images, those in data URLs their bytes; a refusal becomes text of the
    assistant; audio and files become parts of provider ``openai``, whose tokens ``part_tokens(part)`` tells
    (else they count as their JSON text); a ``prompt_cache_breakpoint`` becomes a ``cache_break``.

    Raises ArgumentTypeError or ArgumentValueError, beginning with the place (``messages[2].content[0]``, 0-based),
    for whatever it does not know. Whether calls and results belong together is checked when rendered.
    """
    reader = _Reader(part_tokens)
    return [
        reader.message(f"messages[{i}]", message)
        for i, message in enumerate(list_of("from_openai", messages, "messages"))
    ]


class _Reader:
    """Reads messages; every method gets the place that its errors begin with."""

    def __init__(self, part_tokens: PartTokens | None) -> None:
        self._part_tokens = part_tokens

    def message(self, place: str, value: object) -> Message:
        message = mapping(place, value)
        role = message.get("role")
        if not isinstance(role, str) or role not in _KEYS:
            if role == "function":
                raise ArgumentValueError(f"{place}: {_REMEDIES['function']}")
            raise ArgumentValueError(f"{place} needs one of the roles {', '.join(_KEYS)}, got {shown(role)}")
        if "audio" in message:
            raise ArgumentValueError(f"{place}: {_REMEDIES['audio']}")
        only(place, message, _KEYS[role], f"{role} message")
        content = self.content(place, message, role)
        name = message.get("name")
        if role == "tool":
            if "tool_call_id" not in message:
                raise ArgumentValueError(f"{place} needs tool_call_id, the id of the call that it answers")
            call_id = message["tool_call_id"]
            return at(place, lambda: tool_message(tool_call_id=call_id, name=name)[content])
        if role == "assistant":
            calls = _calls(place, message)
            function_call = _function(f"{place}.function_call", message.get("function_call"))
            return at(
                place,
                lambda: assistant_message(name=name, tool_calls=calls, function_call=function_call)[content],
            )
        return at(place, lambda: _SPEAKERS[role](name=name)[content])

    def content(self, place: str, message: Mapping[str, Any], role: str) -> list[str | Element]:
        content = message.get("content")
        found: list[str | Element] = []
        if isinstance(content, str):
            found.append(content)
        elif isinstance(content, list | tuple):
            for i, item in enumerate(cast("list[object]", content)):
                found += self.part(f"{place}.content[{i}]", item, role)
        elif content is not None:
            raise ArgumentTypeError(f"{place}.content needs text or a list of parts, got {shown(content)}")
        elif role != "assistant":
            raise ArgumentValueError(f"{place} needs content")
        if "refusal" in message:
            found.append(text(f"{place}.refusal", message["refusal"]))
        return found

    def part(self, place: str, value: object, role: str) -> list[str | Element]:
        """A content part; a mark for prefix caching follows the part that it stands in."""
        item = mapping(place, value)
        kind = item.get("type")
        if kind == "text":
            only(place, item, ("type", "text", "prompt_cache_breakpoint"), "text part")
            return [text(f"{place}.text", item.get("text")), *_mark(place, item)]
        if kind == "refusal" and role == "assistant":
            only(place, item, ("type", "refusal"), "refusal part")
            return [text(f"{place}.refusal", item.get("refusal"))]
        if kind == "image_url" and role in ("user", "tool"):
            only(place, item, ("type", "image_url", "prompt_cache_breakpoint"), "image part")
            return [_image(f"{place}.image_url", item.get("image_url")), *_mark(place, item)]
        if kind in ("input_audio", "file") and role == "user":
            return [opaque(place, PROVIDER, value, self._part_tokens)]
        raise ArgumentValueError(f"{place}: {of_role(role)} can't hold a part of type {shown(kind)}")


# ------------------------------------------------------------------------------------------ parts and calls


def _image(place: str, value: object) -> Element:
    source = mapping(place, value)
    only(place, source, ("url", "detail"), "picture")
    url = text(f"{place}.url", source.get("url"))
    detail = source.get("detail", "auto")
    return at(place, lambda: image(url=url, detail=detail))


def _mark(place: str, item: Mapping[str, Any]) -> list[Element]:
    """How long a mark lives (``ttl``) is a setting of requests, and not kept."""
    if "prompt_cache_breakpoint" not in item:
        return []
    place = f"{place}.prompt_cache_breakpoint"
    mark = mapping(place, item["prompt_cache_breakpoint"])
    only(place, mark, ("mode", "ttl"), "mark")
    if mark.get("mode") != "explicit":
        raise ArgumentValueError(f"{place} needs the mode 'explicit', got {shown(mark.get('mode'))}")
    return [cache_break]


def _calls(place: str, message: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls", ())
    if not isinstance(calls, list | tuple):
        raise ArgumentTypeError(f"{place}.tool_calls needs a list of calls, got {shown(calls)}")
    return [_call(f"{place}.tool_calls[{i}]", call) for i, call in enumerate(cast("list[object]", calls))]


def _call(place: str, value: object) -> dict[str, Any]:
    call = mapping(place, value)
    kind = call.get("type", "function")
    if kind == "custom":
        raise ArgumentValueError(f"{place}: {_REMEDIES['custom']}")
    if kind != "function":
        raise ArgumentValueError(f"{place} needs the type 'function', got {shown(kind)}")
    only(
        place, call, ("id", "type", "function", "index"), "call"
    )  # streams and compatible servers number them
    function = _function(f"{place}.function", call.get("function"))
    if "id" not in call or function is None:
        raise ArgumentValueError(f"{place} needs {'function' if 'id' in call else 'id'}")
    return {"id": call["id"], **function}


def _function(place: str, value: object) -> dict[str, Any] | None:
    if value is None:
        return None
    function = mapping(place, value)
    only(place, function, ("name", "arguments"), "function")
    return function
