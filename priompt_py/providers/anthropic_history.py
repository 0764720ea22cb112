"""Messages of Anthropic, read back as elements, so that a history can be put under a limit."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from priompt_py.author.messages import assistant_message, system_message, tool_message, user_message
from priompt_py.author.parts import image
from priompt_py.author.tags import cache_break
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import CacheBreak, Element, Message
from priompt_py.providers.reading import PartTokens, at, list_of, mapping, of_role, only, opaque, shown, text

__all__ = ["from_anthropic"]

_ROLES = ("user", "assistant", "system")
_CALL = ("type", "id", "name", "input", "caller", "cache_control")
_RESULT = ("type", "tool_use_id", "content", "is_error", "cache_control")


def from_anthropic(
    messages: Iterable[Any],
    *,
    system: str | Iterable[Any] | None = None,
    part_tokens: PartTokens | None = None,
) -> list[Message]:
    """The elements of messages in Anthropic's form, in order, after ``system`` (text or blocks), a message.

    Takes what requests hold and what answers give: ``{"role": "assistant", "content": answer.content}``, or the answer
    itself. Each result is a message of its own; what the user says beside results is another, in its place; what the
    assistant says after a call is one too. Thinking and redacted thinking, documents and the blocks of the provider's
    own tools become parts of provider ``anthropic``, verbatim and in their place, whose tokens ``part_tokens(part)``
    tells (else they count as their JSON text). Pictures become images, a ``cache_control`` a ``cache_break``; how long
    it lives is not kept, nor are the citations of a text.

    Raises ArgumentTypeError or ArgumentValueError, beginning with the place (``messages[2].content[0]``, 0-based), for
    whatever it does not know. Whether calls and results belong together is checked when rendered.
    """
    reader = _Reader(part_tokens)
    found: list[Message] = []
    if system is not None:
        content = reader.content(
            "system",
            system if isinstance(system, str) else list_of("from_anthropic", system, "blocks"),
            "system",
        )
        found.append(system_message[content])
    for i, value in enumerate(list_of("from_anthropic", messages, "messages")):
        found += reader.messages(f"messages[{i}]", value)
    return found


class _Reader:
    """Reads messages; every method gets the place that its errors begin with."""

    def __init__(self, part_tokens: PartTokens | None) -> None:
        self._part_tokens = part_tokens

    def messages(self, place: str, value: object) -> Iterator[Message]:
        message = mapping(place, value)
        role = message.get("role")
        if role not in _ROLES:
            raise ArgumentValueError(f"{place} needs one of the roles {', '.join(_ROLES)}, got {shown(role)}")
        if message.get("type") != "message":  # an answer of the client has much beside these
            only(place, message, ("role", "content"), f"{role} message")
        content = message.get("content")
        if role == "assistant":
            yield from self._said(place, content)
        elif role == "user":
            yield from self._asked(place, content)
        else:
            yield system_message[self.content(f"{place}.content", content, role)]

    def _said(self, place: str, content: object) -> Iterator[Message]:
        """The assistant's content up to and with its calls, and the rest as a message of its own. So is content that
        ends in a mark: one at the end of a message with calls would be the last call's."""
        found: list[str | Element] = []
        calls: list[dict[str, Any]] = []
        marks: list[Element] = []  # of the calls: a message's calls stand behind its content
        begun = place
        for where, value in _each(f"{place}.content", content):
            block = mapping(where, value)
            if block.get("type") == "tool_use":
                if not calls and found and isinstance(found[-1], CacheBreak):
                    yield _assistant(begun, [], found)
                    found, begun = [], where
                calls.append(_call(where, block))
                marks += _mark(block)
                continue
            if calls:
                yield _assistant(begun, calls, [*found, *marks])
                found, calls, marks, begun = [], [], [], where
            found += self._block(where, block, "assistant")
        yield _assistant(begun, calls, [*found, *marks])

    def _asked(self, place: str, content: object) -> Iterator[Message]:
        """Results one by one, and what stands between them."""
        found: list[str | Element] = []
        empty = True
        for where, value in _each(f"{place}.content", content):
            block = mapping(where, value)
            empty = False
            if block.get("type") != "tool_result":
                found += self._block(where, block, "user")
                continue
            if found:
                yield user_message[found]
                found = []
            yield self._result(where, block)
        if found or empty:
            yield user_message[found]

    def _result(self, place: str, block: Mapping[str, Any]) -> Message:
        only(place, block, _RESULT, "tool_result")
        if "tool_use_id" not in block:
            raise ArgumentValueError(f"{place} needs tool_use_id, the id of the call that it answers")
        content = self.content(f"{place}.content", block.get("content", ""), "tool")
        is_error = block.get("is_error", False)
        return at(
            place,
            lambda: tool_message(tool_call_id=block["tool_use_id"], is_error=is_error)[content, _mark(block)],
        )

    def content(self, place: str, content: object, role: str) -> list[str | Element]:
        """Text, or blocks that hold no calls and results."""
        found: list[str | Element] = []
        for where, value in _each(place, content):
            found += self._block(where, mapping(where, value), role)
        return found

    def _block(self, place: str, block: Mapping[str, Any], role: str) -> list[str | Element]:
        """A block that is neither call nor result; a mark for caching follows the block that it stands in."""
        kind = block.get("type")
        if kind == "text":
            only(place, block, ("type", "text", "citations", "cache_control"), "text block")
            return [text(f"{place}.text", block.get("text")), *_mark(block)]
        if not isinstance(kind, str) or kind in ("tool_use", "tool_result"):
            raise ArgumentValueError(f"{place}: {of_role(role)} can't hold a block of type {shown(kind)}")
        picture = _picture(place, block) if kind == "image" and role in ("user", "tool") else None
        if picture is not None:
            return [picture, *_mark(block)]
        return [opaque(place, "anthropic", block, self._part_tokens)]


def _each(place: str, content: object) -> Iterator[tuple[str, object]]:
    """The blocks with their places; text is one block, blank text none."""
    if isinstance(content, str):
        if content:
            yield place, {"type": "text", "text": content}
    elif isinstance(content, list):
        for i, block in enumerate(cast("list[object]", content)):
            yield f"{place}[{i}]", block
    else:
        raise ArgumentTypeError(f"{place} needs text or a list of blocks, got {shown(content)}")


def _assistant(place: str, calls: list[dict[str, Any]], content: list[str | Element]) -> Message:
    return at(place, lambda: assistant_message(tool_calls=calls or None)[content])


def _call(place: str, block: Mapping[str, Any]) -> dict[str, Any]:
    caller = block.get("caller")
    if caller is not None and mapping(f"{place}.caller", caller).get("type") != "direct":
        raise ArgumentValueError(f"{place}: a call that a program made can't be held: {shown(caller)}")
    only(place, block, _CALL, "tool_use")
    for key in ("id", "name", "input"):
        if key not in block:
            raise ArgumentValueError(f"{place} needs {key}")
    return {"id": block["id"], "name": block["name"], "arguments": block["input"]}


def _picture(place: str, block: Mapping[str, Any]) -> Element | None:
    """An image from bytes or a URL; None for other sources, which stay opaque."""
    only(place, block, ("type", "source", "cache_control", "transformations"), "image")
    source = mapping(f"{place}.source", block.get("source"))
    kind = source.get("type")
    if "transformations" in block or kind not in ("base64", "url"):
        return None
    if kind == "url":
        return at(place, lambda: image(url=source.get("url")))
    try:
        written = "".join(text(f"{place}.source.data", source.get("data")).split())
        data = base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        raise ArgumentValueError(f"{place}.source.data needs base64") from None
    return at(place, lambda: image(data=data))


def _mark(block: Mapping[str, Any]) -> list[Element]:
    return [cache_break] if "cache_control" in block else []
