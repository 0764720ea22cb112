"""What both of OpenAI's APIs ask for: names, stop texts, and marks for prefix caching on content parts."""

from __future__ import annotations

import re
from typing import Any

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Part
from priompt_py.model.prompt import ChatMessage
from priompt_py.providers.shared import fitting_name

__all__ = ["PROVIDER", "Marks", "for_chats", "for_responses", "function_name", "message_name"]

PROVIDER = "openai"
"""Opaque parts of this provider are written back, those of others are left out."""


_FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MESSAGE_NAME = re.compile(r"[^\s<|\\/>]+")
_LONGEST_NAME = 64
# Content parts that a mark for prefix caching can stand on: of chats, then of responses.
_MARKABLE = ("text", "image_url", "input_audio", "file", "input_text", "input_image", "input_file")


_CHAT_PARTS = ("text", "refusal", "image_url", "input_audio", "file")


def for_chats(message: ChatMessage, part: Part) -> bool:
    """Whether a part is content of chat completions, and not of Responses.

    There the assistant has but texts and refusals, and no type but sound begins with ``input_``.
    """
    kind = str(part.data.get("type"))
    if message.role == "assistant":
        ours = kind in ("text", "refusal")
    else:
        ours = kind == "input_audio" or not kind.startswith("input_")
    return ours and part.provider == PROVIDER


def for_responses(_: ChatMessage, part: Part) -> bool:
    """Whether a part is content of Responses (beside the assistant's texts: an item), and not of chat completions."""
    return part.provider == PROVIDER and part.data.get("type") not in _CHAT_PARTS


def function_name(name: str, place: str) -> str:
    """A function's name, if OpenAI takes it."""
    rule = "OpenAI takes names of 1 to 64 letters, digits, '_' and '-' for functions"
    return fitting_name(name, _FUNCTION_NAME, place, rule)


def message_name(name: str, place: str) -> str:
    """The name of a message's author, if OpenAI takes it."""
    if len(name) > _LONGEST_NAME:
        raise ProviderError(
            f"{place}: OpenAI takes names of at most {_LONGEST_NAME} characters, got one of {len(name)}"
        )
    rule = "OpenAI takes names without white space, angle brackets, bars and slashes"
    return fitting_name(name, _MESSAGE_NAME, place, rule)


class Marks:
    """Where the next mark goes: on the nearest part before it that can hold one, in whatever message."""

    def __init__(self) -> None:
        self._holder: dict[str, Any] | None = None

    def passed(self, part: dict[str, Any]) -> dict[str, Any]:
        """``part``, on which the next mark may fall from now on."""
        if part.get("type") in _MARKABLE:
            self._holder = part
        return part

    def set(self) -> None:
        """Marks the nearest part, unless there is none or the author marked it otherwise."""
        if self._holder is not None:
            self._holder.setdefault("prompt_cache_breakpoint", {"mode": "explicit"})
