"""From the leaves that are in to text, messages, settings and tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from priompt_py.engine.pricing import Pricing
from priompt_py.engine.sheet import is_same_tool
from priompt_py.model.elements import Call, Capture, Config, Message, ToolDefinition
from priompt_py.model.ops import (
    CacheCut,
    CallsOp,
    CaptureOp,
    ConfigOp,
    Cut,
    ImageOp,
    Leaf,
    MessageEnd,
    PartOp,
    ReserveOp,
    ToolOp,
)
from priompt_py.model.prompt import CacheMark, ChatMessage, ContentPart, PromptConfig, TextPart, Tool

__all__ = ["Assembled", "assemble"]


@attrs.define(eq=False)
class Assembled:
    """What the included leaves make. ``text`` for a plain prompt, ``messages`` for a chat."""

    text: TextPart | None
    messages: tuple[ChatMessage, ...] | None
    config: PromptConfig
    tokens_reserved: int
    tools: tuple[Tool, ...]
    tool_definitions: tuple[ToolDefinition, ...]
    captures: tuple[Capture, ...]


class _Content:
    """Text with its breaks, and parts between texts, while they are gathered."""

    def __init__(self) -> None:
        self.parts: list[ContentPart] = []
        self.texts: list[str] = []
        self.breaks: list[int] = []
        self.length = 0

    def text(self, text: str) -> None:
        self.texts.append(text)
        self.length += len(text)

    def cut(self) -> None:
        if not self.breaks or self.breaks[-1] != self.length:
            self.breaks.append(self.length)

    def part(self, part: ContentPart) -> None:
        self.flush()
        self.parts.append(part)

    def flush(self) -> None:
        text = "".join(self.texts)
        if text or self.breaks:
            self.parts.append(TextPart(text, tuple(self.breaks)))
        self.texts, self.breaks, self.length = [], [], 0

    def whole_text(self) -> TextPart:
        return TextPart("".join(self.texts), tuple(self.breaks))


def assemble(leaves: Iterable[Leaf], pricing: Pricing, *, is_chat: bool) -> Assembled:
    """Put included leaves, in document order and without isolates, together."""
    messages: list[ChatMessage] = []
    message: Message | None = None
    calls: tuple[Call, ...] = ()
    legacy: Call | None = None
    content = _Content()
    configs: list[Config] = []
    captures: list[Capture] = []
    definitions: list[ToolDefinition] = []
    reserved = 0
    for leaf in leaves:
        if isinstance(leaf, str):
            content.text(leaf)
        elif isinstance(leaf, Cut):
            content.cut()
        elif isinstance(leaf, CacheCut):
            if message is not None:
                content.part(CacheMark())
            elif not is_chat:
                content.cut()
            elif messages:  # between messages: what comes before it is what can be kept
                messages[-1] = attrs.evolve(messages[-1], parts=(*messages[-1].parts, CacheMark()))
        elif isinstance(leaf, Message):
            message, calls, legacy, content = leaf, (), None, _Content()
        elif isinstance(leaf, MessageEnd):
            assert message is not None
            content.flush()
            messages.append(_message(message, content.parts, calls, legacy))
            message, content = None, _Content()
        elif isinstance(leaf, CallsOp):
            if leaf.legacy:
                legacy = leaf.calls[0]
            else:
                calls = leaf.calls
        elif isinstance(leaf, ImageOp):
            content.part(leaf.element)
        elif isinstance(leaf, PartOp):
            content.part(leaf.element)
        elif isinstance(leaf, ReserveOp):
            reserved += pricing.cost(leaf)
        elif isinstance(leaf, ConfigOp):
            configs.append(leaf.element)
        elif isinstance(leaf, CaptureOp):
            captures.append(leaf.element)
        elif isinstance(leaf, ToolOp) and not any(_is_twin(known, leaf.element) for known in definitions):
            definitions.append(leaf.element)
    return Assembled(
        text=None if is_chat else content.whole_text(),
        messages=tuple(messages) if is_chat else None,
        config=merge_configs(configs),
        tokens_reserved=reserved,
        tools=tuple(Tool(d.name, d.description, d.parameters, d.strict) for d in definitions),
        tool_definitions=tuple(definitions),
        captures=tuple(captures),
    )


def _message(
    message: Message, parts: Sequence[ContentPart], calls: tuple[Call, ...], legacy: Call | None
) -> ChatMessage:
    return ChatMessage(
        role=message.role,
        parts=tuple(parts),
        name=message.name,
        to=message.to,
        tool_calls=calls,
        function_call=legacy,
        tool_call_id=message.tool_call_id,
        is_error=message.is_error,
    )


def _is_twin(a: ToolDefinition, b: ToolDefinition) -> bool:
    return a.name == b.name and is_same_tool(a, b)


def merge_configs(configs: Sequence[Config]) -> PromptConfig:
    """Settings merged per key: the first config in document order that sets a key wins."""
    stop: str | tuple[str, ...] | None = None
    most: int | str | None = None
    extra: dict[str, Any] = {}
    for config in configs:
        stop = config.stop if stop is None else stop
        most = config.max_response_tokens if most is None else most
        for key, value in (config.extra or {}).items():
            extra.setdefault(key, value)
    return PromptConfig(stop=stop, max_response_tokens=most, extra=extra)
