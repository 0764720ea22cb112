"""From the leaves that are in to text, messages, settings and tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, cast

import attrs

from priompt_py.engine.pricing import Pricing
from priompt_py.engine.structure import same_tool
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
    MessageStart,
    Op,
    PartOp,
    ReserveOp,
    ToolOp,
)
from priompt_py.model.prompt import (
    CacheMark,
    ChatMessage,
    ContentPart,
    PromptConfig,
    TextPart,
    Tool,
)

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
    has_unsized_image: bool  # a picture counted as the most that it can cost


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
    draft = _Draft(is_chat=is_chat)
    messages = draft.messages
    kept = {} if pricing.messages is None else pricing.messages
    known = pricing.known if pricing.messages is not None else ()
    leaves = list(leaves)
    if not is_chat and set(map(type, leaves)) == {str}:
        draft.content.text("".join(cast("list[str]", leaves)))
        leaves = []
    for leaf in leaves:
        if isinstance(leaf, Message):
            texts: tuple[Any, ...] = leaf.children
            text: str = texts[0] if len(texts) == 1 else "".join(texts)
            if leaf.name is None and leaf.to is None:
                message = kept.get(text)
                if message is None or message.role != leaf.role:
                    message = ChatMessage(leaf.role, (TextPart(text),) if text else ())
                    if text in known:
                        kept[text] = message
                messages.append(message)
            else:
                messages.append(ChatMessage(leaf.role, (TextPart(text),) if text else (), leaf.name, leaf.to))
        elif isinstance(leaf, str):
            draft.content.text(leaf)
        else:
            draft.take(leaf, pricing)
    if draft.marks_tools and messages:
        messages[0] = attrs.evolve(messages[0], parts=(CacheMark(), *messages[0].parts))
    return Assembled(
        text=None if is_chat else draft.content.whole_text(),
        messages=tuple(draft.messages) if is_chat else None,
        config=merge_configs(draft.configs),
        tokens_reserved=draft.reserved,
        tools=tuple(Tool(d.name, d.description, deepcopy(d.parameters), d.strict) for d in draft.definitions),
        tool_definitions=tuple(draft.definitions),
        captures=tuple(draft.captures),
        has_unsized_image=draft.has_unsized_image,
    )


class _Draft:
    """What was put together so far. ``content`` is the open message's, or stands outside messages."""

    def __init__(self, *, is_chat: bool) -> None:
        self.is_chat = is_chat
        self.messages: list[ChatMessage] = []
        self.message: Message | None = None
        self.calls: tuple[Call, ...] = ()
        self.legacy: Call | None = None
        self.content = _Content()
        self.configs: list[Config] = []
        self.captures: list[Capture] = []
        self.definitions: list[ToolDefinition] = []
        self.reserved = 0
        self.has_unsized_image = False
        self.marks_tools = False  # a mark stands behind tools, before all messages

    def take(self, leaf: Op, pricing: Pricing) -> None:
        """Take a leaf that is neither a text nor a message of texts."""
        if isinstance(leaf, MessageStart):
            self.message, self.calls, self.legacy, self.content = (
                leaf.message,
                (),
                None,
                _Content(),
            )
        elif isinstance(leaf, MessageEnd):
            self.end_message()
        elif isinstance(leaf, Cut):
            self.content.cut()
        elif isinstance(leaf, CacheCut):
            self.mark()
        elif isinstance(leaf, CallsOp):
            if leaf.legacy:
                self.legacy = leaf.calls[0]
            else:
                self.calls = leaf.calls
        elif isinstance(leaf, ImageOp):
            image = leaf.element
            self.content.part(image)
            self.has_unsized_image |= image.dimensions is None and image.detail != "low"
        elif isinstance(leaf, PartOp):  # data is copied: what is done to a result must not reach the tree
            self.content.part(attrs.evolve(leaf.element, data=deepcopy(leaf.element.data)))
        elif isinstance(leaf, ReserveOp):
            self.reserved += pricing.cost(leaf)
        elif isinstance(leaf, ConfigOp):
            self.configs.append(leaf.element)
        elif isinstance(leaf, CaptureOp):
            self.captures.append(leaf.element)
        elif isinstance(leaf, ToolOp):
            element = leaf.element
            if not any(
                known.name == element.name and same_tool(known, element) for known in self.definitions
            ):
                self.definitions.append(element)

    def end_message(self) -> None:
        """Close the open message."""
        message = self.message
        assert message is not None
        self.content.flush()
        self.messages.append(
            ChatMessage(
                role=message.role,
                parts=tuple(self.content.parts),
                name=message.name,
                to=message.to,
                tool_calls=self.calls,
                function_call=self.legacy,
                tool_call_id=message.tool_call_id,
                is_error=message.is_error,
            )
        )
        self.message, self.content = None, _Content()

    def mark(self) -> None:
        """A cache mark: in the open message, at the end of the last one, or at the beginning of the first one, where tools stand
        before it; a token break in plain text."""
        if self.message is not None:
            self.content.part(CacheMark())
        elif not self.is_chat:
            self.content.cut()
        elif self.messages:  # what stands before the mark is what can be kept
            last = self.messages[-1]
            self.messages[-1] = attrs.evolve(last, parts=(*last.parts, CacheMark()))
        elif self.definitions:
            self.marks_tools = True


def merge_configs(configs: Sequence[Config]) -> PromptConfig:
    """Settings merged per key: the first config in document order that sets a key wins."""
    stop: str | tuple[str, ...] | None = None
    most: int | str | None = None
    extra: dict[str, Any] = {}
    for config in configs:
        stop = config.stop if stop is None else stop
        most = config.max_response_tokens if most is None else most
        for key, value in (config.extra or {}).items():
            extra.setdefault(key, deepcopy(value))
    return PromptConfig(stop=stop, max_response_tokens=most, extra=extra)
