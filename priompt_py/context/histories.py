"""Histories of providers as context messages, and messages back in a provider's form."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from priompt_py.context.messages import (
    ImagePart,
    InfoPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import Element, Image
from priompt_py.model.elements import Message as MessageElement
from priompt_py.model.elements import Part as PartElement
from priompt_py.model.prompt import ChatMessage
from priompt_py.model.prompt import TextPart as RenderedText
from priompt_py.providers import anthropic_history, openai_history
from priompt_py.providers.reading import PartTokens

__all__ = [
    "from_anthropic",
    "from_openai",
    "messages_of",
    "messages_of_chat",
    "to_anthropic_blocks",
    "to_openai_message",
]


def from_openai(messages: Iterable[Any], *, part_tokens: PartTokens | None = None) -> list[Message]:
    """Context messages of a history in the form of OpenAI's chat completions, one for each: ``m0``, ``m1``, …

    What is read and refused is as for ``priompt_py.from_openai``; the legacy ``function_call`` is refused too, since
    a call needs an id here. Marks for caching are not kept.
    """
    return messages_of(openai_history.from_openai(messages, part_tokens=part_tokens))


def from_anthropic(
    messages: Iterable[Any],
    *,
    system: str | Iterable[Any] | None = None,
    part_tokens: PartTokens | None = None,
) -> list[Message]:
    """Context messages of a history in Anthropic's form, after ``system``: ``m0``, ``m1``, …

    A message that holds results and text becomes several: each result is a tool message, what stands between them
    messages of the user; what the assistant says after a call is one of its own. Thinking becomes reasoning, other
    blocks of the provider's own opaque parts.
    """
    elements = anthropic_history.from_anthropic(messages, system=system, part_tokens=part_tokens)
    return messages_of(elements)


def messages_of(elements: Sequence[MessageElement]) -> list[Message]:
    """Context messages of message elements as the readers of histories make them, with ids by their places."""
    return [_message(f"m{i}", i, element) for i, element in enumerate(elements)]


def messages_of_chat(chat: Sequence[ChatMessage]) -> list[Message]:
    """Context messages of a rendered chat, with ids by their places."""
    found: list[Message] = []
    for i, message in enumerate(chat):
        parts: list[Part] = []
        for one in message.parts:
            if isinstance(one, RenderedText):
                parts += [TextPart(one.text)] if message.role != "tool" else []
            else:
                parts += _parts(one) if isinstance(one, Element) else []
        if message.role == "tool":
            parts.insert(
                0, ToolResultPart(message.tool_call_id or "", message.text, is_error=message.is_error)
            )
        parts += [ToolCallPart(call.id or "", call.name, call.arguments) for call in message.tool_calls]
        found.append(Message(f"m{i}", message.role, parts, name=message.name))
    return found


def _message(id_: str, i: int, element: MessageElement) -> Message:
    if element.function_call is not None:
        raise ArgumentValueError(
            f"messages[{i}]: function_call is the legacy form: give the call an id, and write it in tool_calls"
        )
    parts: list[Part] = []
    texts: list[str] = []
    for child in element.children:
        if isinstance(child, str):
            texts.append(child)
            if element.role != "tool":
                parts.append(TextPart(child))
        elif isinstance(child, Element):
            parts += _parts(child)
    if element.role == "tool":
        result = ToolResultPart(element.tool_call_id or "", "\n".join(texts), is_error=element.is_error)
        parts.insert(0, result)
    parts += [ToolCallPart(call.id or "", call.name, call.arguments) for call in element.tool_calls]
    return Message(id_, element.role, parts, name=element.name)


def _parts(element: Element) -> list[Part]:
    if isinstance(element, Image):
        return [ImagePart(data=element.data, url=element.url, detail=element.detail)]
    if isinstance(element, PartElement):
        kind = element.data.get("type")
        if kind in ("thinking", "redacted_thinking"):
            said = element.data.get("thinking")
            return [ReasoningPart(said if isinstance(said, str) else "", element.provider, element.data)]
        return [OpaquePart(element.provider, element.data, tokens=element.tokens)]
    return []  # a mark for caching


# ------------------------------------------------------------------------------------------ and back


def to_openai_message(message: Message) -> dict[str, Any]:
    """A message as OpenAI's chat completions have it. Notes, reasoning and parts of other providers are left out.

    Results inside an assistant message have no place there, and are left out too.
    """
    written: dict[str, Any] = {"role": message.role}
    if message.role == "tool":
        result = message.results[0]
        return written | {"tool_call_id": result.call_id, "content": result.content}
    if message.name is not None:
        written["name"] = message.name
    content = [part for part in map(_openai_part, message.parts) if part is not None]
    if all(part["type"] == "text" for part in content) and len(content) <= 1:
        text = content[0]["text"] if content else ""
        written["content"] = None if message.calls and not text else text
    else:
        written["content"] = content
    if message.calls:
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args}}
            for call in message.calls
        ]
    return written


def _openai_part(part: Part) -> dict[str, Any] | None:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(data=data, url=url, detail=detail):
            address = url if data is None else f"data:{_media_type(data)};base64,{_base64(data)}"
            return {"type": "image_url", "image_url": {"url": address, "detail": detail}}
        case OpaquePart(provider="openai", data=data):
            return dict(data)
        case _:
            return None


def to_anthropic_blocks(message: Message) -> list[dict[str, Any]]:
    """What a message is in Anthropic's form: the blocks of its content. Notes, blank texts and parts of other
    providers are left out; arguments that are no JSON object stand in one, under ``arguments``."""
    return [block for part in message.parts for block in _anthropic_blocks(part)]


def _anthropic_blocks(part: Part) -> list[dict[str, Any]]:
    match part:
        case TextPart(text=text):
            return [{"type": "text", "text": text}] if text.strip() else []
        case ImagePart(data=None, url=url):
            return [{"type": "image", "source": {"type": "url", "url": url}}]
        case ImagePart(data=bytes(data)):
            source = {"type": "base64", "media_type": _media_type(data), "data": _base64(data)}
            return [{"type": "image", "source": source}]
        case ToolCallPart(id=id_, name=name, args=args):
            return [{"type": "tool_use", "id": id_, "name": name, "input": _input(args)}]
        case ToolResultPart(call_id=call_id, content=content, is_error=is_error):
            block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
            return [block | ({"is_error": True} if is_error else {})]
        case ReasoningPart(provider="anthropic", data=data) | OpaquePart(provider="anthropic", data=data):
            return [dict(data)]
        case InfoPart() | ReasoningPart() | OpaquePart() | ImagePart():
            return []


def _input(args: str) -> Mapping[str, Any]:
    try:
        value: object = json.loads(args)
    except (ValueError, RecursionError):
        value = None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"arguments": args}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _media_type(data: bytes) -> str:
    from priompt_py.model.image_size import ImageDataError, sniff_image

    try:
        return sniff_image(data).media_type
    except ImageDataError:
        return "application/octet-stream"
