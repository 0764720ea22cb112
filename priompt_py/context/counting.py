"""How many tokens messages of a conversation take, by the rules that rendered chats are counted by."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from priompt_py.author.parts import image
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
from priompt_py.errors import ArgumentValueError
from priompt_py.tokens.chat_format import OPENAI_CHAT, ChatFormat
from priompt_py.tokens.image_cost import image_cost
from priompt_py.tokens.models import info_for_encoding
from priompt_py.tokens.tokenizer import Tokenizer, chat_format_of

__all__ = ["chat_tokens", "message_tokens", "tokens_as_sent"]

Count = Callable[[str], int]


def message_tokens(
    message: Message, count: Count, *, chat_format: ChatFormat = OPENAI_CHAT, images: str = "gpt-4o"
) -> int:
    """The tokens of a message: its frame, its texts, calls, results and images; ``count`` counts a text.

    Each result has a frame of its own, also in an assistant message, where conversions move it out. Images cost what
    the family ``images`` takes for them, as in a rendered chat; one that can't be read isn't sent, and costs nothing.
    Attachments cost nothing, since what goes in for them isn't decided yet, and neither do notes for the user, which
    aren't sent.
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
            case ImagePart():
                total += _image_tokens(part, images)
            case InfoPart():
                pass
    own = 1 if message.role == "tool" else 0  # a tool message is the frame of its first result
    return total + chat_format.message_tokens * max(0, results - own)


def chat_tokens(
    messages: Iterable[Message],
    count: Count,
    *,
    chat_format: ChatFormat = OPENAI_CHAT,
    images: str = "gpt-4o",
) -> int:
    """The tokens of a chat of these messages, the start of the answer included; 0 for none."""
    costs = [message_tokens(message, count, chat_format=chat_format, images=images) for message in messages]
    return sum(costs) + chat_format.chat_cost(len(costs))


def tokens_as_sent(messages: Iterable[Message], tokenizer: Tokenizer) -> int:
    """The same by a tokenizer: with its chat format, and images as the models of its encoding count them."""
    family = info_for_encoding(tokenizer.name).images
    return chat_tokens(messages, tokenizer.count, chat_format=chat_format_of(tokenizer), images=family)


def _image_tokens(part: ImagePart, family: str) -> int:
    try:
        size = image(data=part.data, url=part.url, detail=part.detail).dimensions
    except ArgumentValueError:
        return 0
    width, height = size or (None, None)
    return image_cost(width, height, part.detail, family)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
