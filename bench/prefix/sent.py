"""Requests as providers read them: blocks of tokens in the order tools, system, messages.

o200k_base stands in for every provider's tokenizer, and 4 tokens for the frame of a message. Token ids are those of the
texts; structures are their JSON, in the order in which the conversion wrote them: a prefix is one only if the bytes are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

from bench.prefix.cache import Block
from priompt_py import get_tokenizer

__all__ = ["anthropic_blocks", "openai_blocks", "tokens_of"]

ENCODING = "o200k_base"
FRAME = 4  # tokens: as chats are counted


@lru_cache(maxsize=100_000)
def tokens_of(text: str) -> tuple[int, ...]:
    """The token ids of a text."""
    return tuple(get_tokenizer(ENCODING).encode(text))


def openai_blocks(request: Mapping[str, Any], *, implicit: bool) -> Iterator[Block]:
    """A request of chat completions. ``implicit`` puts a mark at the end of the newest message."""
    for tool in request.get("tools", ()):
        yield _block("tool", tool, mark=False)
    messages = request["messages"]
    for number, message in enumerate(messages):
        rest = {name: value for name, value in message.items() if name != "content"}
        content: Any = message.get("content") or []
        parts: list[dict[str, Any]] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        if len(rest) > 1 or not parts:  # calls, or the id of one
            yield _block("calls", rest, mark=False, role=message["role"])
            rest = {}
        for place, part in enumerate(parts):
            newest = number == len(messages) - 1 and place == len(parts) - 1
            mark = "prompt_cache_breakpoint" in part or (implicit and newest)
            yield _block(message["role"], part, mark=mark, role=rest.get("role", "") if place == 0 else "")


def anthropic_blocks(request: Mapping[str, Any]) -> Iterator[Block]:
    """A request of Anthropic's Messages."""
    for tool in request.get("tools", ()):
        yield _block("tool", tool, mark="cache_control" in tool)
    for block in request.get("system", ()):
        yield _block("system", block, mark="cache_control" in block)
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for place, block in enumerate(blocks):
            role = "" if place else message["role"]
            yield _block(message["role"], block, mark="cache_control" in block, role=role)


def _block(key: str, data: Mapping[str, Any], *, mark: bool, role: str = "") -> Block:
    """A block; ``role`` is that of the message that it begins."""
    left_out = ("cache_control", "content", "prompt_cache_breakpoint", "role", "text", "type")
    rest = {name: value for name, value in data.items() if name not in left_out}
    text = _text(data.get("text", data.get("content")))
    if rest:
        text += json.dumps(rest, ensure_ascii=False)
    frame = tokens_of(role)[:1] * FRAME
    return Block(f"{key} {data.get('type', '')}", frame + tokens_of(text), mark)


def _text(content: object) -> str:
    """A text, or those of a list of parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in cast("list[dict[str, Any]]", content))
    return content if isinstance(content, str) else ""
