"""How many tokens messages of a conversation take, by the rules that rendered chats are counted by."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from priompt_py.context.messages import (
    ImagePart,
    InfoPart,
    Message,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from priompt_py.tokens.chat_format import OPENAI_CHAT, ChatFormat

__all__ = ["chat_tokens", "message_tokens"]

Count = Callable[[str], int]


def message_tokens(message: Message, count: Count, *, chat_format: ChatFormat = OPENAI_CHAT) -> int:
    """The tokens of a message: its frame, its texts, calls and results; ``count`` counts a text.

    Each result has a frame of its own, also in an assistant message, where conversions move it out. Images cost
    nothing here, since their cost is the provider's and needs a model; attachments neither, since what goes in for
    them isn't decided yet. Notes for the user aren't sent, and cost nothing.
    """
    total = chat_format.message_cost(count, name=message.name)
    results = 0
    for part in message.parts:
        match part:
            case TextPart(text=text):
                total += count(text)
            case ToolResultPart(content=content):
                total += count(content)
                results += 1
            case ToolCallPart(name=name, args=args):
                total += chat_format.call_cost(count, name=name, arguments=args)
            case ReasoningPart(text=text, data=data):
                total += count(_json(data) if data else text)
            case OpaquePart(data=data, tokens=tokens):
                total += count(_json(data)) if tokens is None else tokens
            case ImagePart() | InfoPart():
                pass
    own = 1 if message.role == "tool" else 0  # a tool message is the frame of its first result
    return total + chat_format.message_tokens * max(0, results - own)


def chat_tokens(messages: Iterable[Message], count: Count, *, chat_format: ChatFormat = OPENAI_CHAT) -> int:
    """The tokens of a chat of these messages, the start of the answer included; 0 for none."""
    costs = [message_tokens(message, count, chat_format=chat_format) for message in messages]
    return sum(costs) + chat_format.chat_cost(len(costs))


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
