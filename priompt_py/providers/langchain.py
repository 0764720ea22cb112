"""LangChain: the messages of a rendered prompt, in the plain form that every chat model of it takes."""

from __future__ import annotations

from typing import Any

from priompt_py.model.elements import Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage
from priompt_py.providers.pairs import paired
from priompt_py.providers.shared import (
    base64_data,
    call_arguments,
    copy_data,
    of_provider,
    placed_messages,
    refuse_image,
    refuse_legacy_call,
    segments,
)

__all__ = ["to_langchain"]

PROVIDER = "langchain"
"""Opaque parts of this provider are written back, those of others are left out."""

_HOLDS = of_provider(PROVIDER)


def to_langchain(outcome: Outcome) -> list[dict[str, Any]]:
    """The messages for ``model.invoke(messages)``; a plain prompt is one user message.

    Settings and tools belong to LangChain's model, not to its input: ``model.bind_tools(request["tools"])`` with
    ``request = rendered.to_openai()``, ``model.invoke(messages, stop=[...])``. Pictures are LangChain's own content
    blocks, which it writes for each provider. Results stand directly after the message with their calls. Left out:
    ``to``, ``detail``, marks for caching, parts of other providers. Raises ProviderError for what can't be held.
    """
    placed = paired(placed_messages(outcome), "LangChain", "message")
    return [_message(message, place) for place, message in placed]


def _message(message: ChatMessage, place: str) -> dict[str, Any]:
    refuse_legacy_call(message, place, "LangChain")
    written: dict[str, Any] = {"role": message.role, "content": _content(message, place)}
    if message.name is not None:
        written["name"] = message.name
    if message.tool_calls:
        written["tool_calls"] = [
            {
                "type": "tool_call",
                "id": call.id,
                "name": call.name,
                "args": call_arguments(call, place, "LangChain"),
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        written["tool_call_id"] = message.tool_call_id
        written["status"] = "error" if message.is_error else "success"
    return written


def _content(message: ChatMessage, place: str) -> str | list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    found = segments(message, _HOLDS, marks=False)
    if all(isinstance(item, str) for item in found):
        return "".join(item for item in found if isinstance(item, str))
    for item in found:
        assert not isinstance(item, CacheMark), "no marks are asked for"
        if isinstance(item, Image):
            refuse_image(message, place, "LangChain")
            blocks.append(_image(item, place))
        elif isinstance(item, Part):
            blocks.append(copy_data(item.data))
        else:
            blocks.append({"type": "text", "text": item})
    return blocks


def _image(image: Image, place: str) -> dict[str, Any]:
    if image.data is None:
        return {"type": "image", "url": image.url}
    media_type, data = base64_data(image, place)
    return {"type": "image", "base64": data, "mime_type": media_type}
