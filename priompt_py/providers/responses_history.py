"""Items of OpenAI's Responses, read back as elements, so that a history can be put under a limit."""

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

__all__ = ["from_openai_responses"]

_SPEAKERS = {"system": system_message, "developer": developer_message, "user": user_message}
# Beside what is read: what the API gives with its items and does not need back.
_MESSAGE = ("type", "role", "content", "id", "status", "phase")
_CALL = ("type", "call_id", "name", "arguments", "id", "status")
_RESULT = ("type", "call_id", "output", "id", "status", "name")
_OUTPUT_TEXT = ("type", "text", "annotations", "logprobs")


def from_openai_responses(
    items: str | Iterable[Any], *, instructions: str | None = None, part_tokens: PartTokens | None = None
) -> list[Message]:
    """The elements of items in the form of OpenAI's Responses, in order; ``instructions`` are a system message.

    Takes what requests hold (text alone too) and what answers give: ``[*items, *response.output]``. A message of the
    assistant takes in the calls that follow it, and the reasoning items before it; what else the API gives (files,
    calls of its own tools, items to come) becomes parts of provider ``openai``, verbatim and in its place, whose
    tokens ``part_tokens(part)`` tells (else they count as their JSON text). Pictures become images, a
    ``prompt_cache_breakpoint`` a ``cache_break``. Ids and states of messages, calls and results, notes on the text
    and ``phase`` are not kept.

    Raises ArgumentTypeError or ArgumentValueError, beginning with the place (``items[2].content[0]``, 0-based), for
    whatever it does not know. Whether calls and results belong together is checked when rendered.
    """
    given = [{"role": "user", "content": items}] if isinstance(items, str) else items
    reader = _Reader(part_tokens)
    if instructions is not None:
        reader.messages.append(system_message[text("instructions", instructions)])
    for i, item in enumerate(list_of("from_openai_responses", given, "items")):
        reader.item(f"items[{i}]", item)
    reader.close()
    return reader.messages


class _Reader:
    """Reads items one by one; the assistant's message stays open while more may belong to it."""

    def __init__(self, part_tokens: PartTokens | None) -> None:
        self.messages: list[Message] = []
        self._part_tokens = part_tokens
        self._content: list[str | Element] = []
        self._calls: list[dict[str, Any]] = []
        self._begun = ""  # the place of the first item of the open message
        self._spoken = False  # whether it holds text or a call: then no reasoning or text is added

    def close(self) -> None:
        """Ends the open message of the assistant, if there is one."""
        if self._begun:
            calls, content = self._calls, self._content
            self.messages.append(
                at(self._begun, lambda: assistant_message(tool_calls=calls or None)[content])
            )
        self._content, self._calls, self._begun, self._spoken = [], [], "", False

    def item(self, place: str, value: object) -> None:
        item = mapping(place, value)
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "message":
            self._message(place, item)
        elif kind == "function_call":
            self._call(place, item)
        elif kind == "function_call_output":
            only(place, item, _RESULT, "function_call_output")
            self.close()
            call_id = item.get("call_id")
            if call_id is None:
                raise ArgumentValueError(f"{place} needs call_id, the id of the call that it answers")
            content = self._parts(f"{place}.output", item.get("output"), "tool")
            self.messages.append(at(place, lambda: tool_message(tool_call_id=call_id)[content]))
        elif isinstance(kind, str):
            if self._spoken:
                self.close()
            self._begun = self._begun or place
            self._content.append(opaque(place, PROVIDER, value, self._part_tokens))
        else:
            raise ArgumentValueError(f"{place} needs a type or a role, got {shown(value)}")

    def _message(self, place: str, item: Mapping[str, Any]) -> None:
        role = item.get("role")
        only(place, item, _MESSAGE, "message")
        if role == "assistant":
            if self._spoken:
                self.close()
            self._begun = self._begun or place
            self._content += self._parts(f"{place}.content", item.get("content"), role)
            self._spoken = True
            return
        if role not in _SPEAKERS:
            roles = ", ".join([*_SPEAKERS, "assistant"])
            raise ArgumentValueError(f"{place} needs one of the roles {roles}, got {shown(role)}")
        self.close()
        content = self._parts(f"{place}.content", item.get("content"), role)
        self.messages.append(at(place, lambda: _SPEAKERS[role][content]))

    def _call(self, place: str, item: Mapping[str, Any]) -> None:
        caller = item.get("caller")
        if caller is not None and mapping(f"{place}.caller", caller).get("type") != "direct":
            raise ArgumentValueError(f"{place}: a call that a program made can't be held: {shown(caller)}")
        only(place, item, (*_CALL, "caller"), "function_call")
        for key in ("call_id", "name", "arguments"):
            if key not in item:
                raise ArgumentValueError(f"{place} needs {key}")
        self._begun = self._begun or place
        self._calls.append({"id": item["call_id"], "name": item["name"], "arguments": item["arguments"]})
        self._spoken = True

    def _parts(self, place: str, value: object, role: str) -> list[str | Element]:
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list):
            raise ArgumentTypeError(f"{place} needs text or a list of parts, got {shown(value)}")
        found: list[str | Element] = []
        for i, item in enumerate(cast("list[object]", value)):
            found += self._part(f"{place}[{i}]", item, role)
        return found

    def _part(self, place: str, value: object, role: str) -> list[str | Element]:
        """A content part; a mark for prefix caching follows the part that it stands in."""
        item = mapping(place, value)
        kind = item.get("type")
        if role == "assistant" and kind == "output_text":
            only(place, item, _OUTPUT_TEXT, "text")
            return [text(f"{place}.text", item.get("text"))]
        if role == "assistant" and kind == "refusal":
            only(place, item, ("type", "refusal"), "refusal")
            return [text(f"{place}.refusal", item.get("refusal"))]
        if kind == "input_text":
            only(place, item, ("type", "text", "prompt_cache_breakpoint"), "text")
            return [text(f"{place}.text", item.get("text")), *_mark(item)]
        if kind == "input_image" and role in ("user", "tool") and "image_url" in item:
            only(place, item, ("type", "image_url", "detail", "prompt_cache_breakpoint"), "picture")
            detail = item.get("detail", "auto")
            return [at(place, lambda: image(url=item["image_url"], detail=detail)), *_mark(item)]
        if kind in ("input_image", "input_file") and role in ("user", "tool"):
            return [opaque(place, PROVIDER, value, self._part_tokens)]
        raise ArgumentValueError(f"{place}: {of_role(role)} can't hold a part of type {shown(kind)}")


def _mark(item: Mapping[str, Any]) -> list[Element]:
    """How long a mark lives (``ttl``) is a setting of requests, and not kept."""
    return [cache_break] if "prompt_cache_breakpoint" in item else []
