"""The oracle's drafts: a prompt with everything that is out gone, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Literal, TypeAlias

import attrs

from priompt_py.model import elements as el
from priompt_py.model.prompt import CacheMark, ChatMessage, ContentPart, PromptConfig, TextPart, Tool
from priompt_py.testing.oracle_rules import sent_of
from priompt_py.testing.oracle_tree import Spot, message_of
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.image_cost import image_cost
from priompt_py.tokens.models import ModelInfo
from priompt_py.tokens.tokenizer import Tokenizer
from priompt_py.tokens.tool_cost import tool_cost, tools_closing_cost

__all__ = ["Draft", "DraftMessage", "Prices", "as_message", "as_text", "draft", "merged", "texts_of"]

Item: TypeAlias = str | Literal[True] | CacheMark | el.Image | el.Part
"""Something in the content of a message or a plain prompt; ``True`` is a token break."""


@attrs.define
class DraftMessage:
    """A message with the content that is in; ``calls`` are its tool calls that are in."""

    element: el.Message
    items: list[Item] = attrs.field(factory=list[Item])
    calls: tuple[el.Call, ...] = ()


@attrs.define
class Draft:
    """A prompt as it would be sent, with what it reserves. ``items`` stand outside messages."""

    items: list[Item] = attrs.field(factory=list[Item])
    messages: list[DraftMessage] = attrs.field(factory=list[DraftMessage])
    tools: list[Tool] = attrs.field(factory=list[Tool])
    configs: list[el.Config] = attrs.field(factory=list[el.Config])
    reserved: int = 0
    marks_tools: bool = False
    """Whether a mark stands behind tools, before all messages: it begins the first one."""


def draft(inside: AbstractSet[Spot], root: Spot) -> Draft:
    """The draft of what is ``inside``, at ``root`` and below."""
    made = Draft()
    _add(made, made.items, inside, root)
    if made.marks_tools and made.messages:
        made.messages[0].items.insert(0, CacheMark())
    return made


def _add(made: Draft, items: list[Item], inside: AbstractSet[Spot], spot: Spot) -> None:
    if spot not in inside:
        return
    element = spot.element
    if spot.text and not spot.silent:
        items.append(spot.text)
    if spot.kind == "calls":
        made.messages[-1].calls = message_of(spot).tool_calls
    elif spot.kind in ("br", "token_break"):
        items.append(True)
    elif spot.kind == "cache_break" and items is made.items and made.tools and not made.messages:
        items.append(CacheMark())
        made.marks_tools = True
    elif spot.kind == "cache_break":  # between messages it marks the end of the one before
        (made.messages[-1].items if items is made.items and made.messages else items).append(CacheMark())
    elif isinstance(element, (el.Image, el.Part)):
        items.append(element)
    elif isinstance(element, el.Empty):
        made.reserved += spot.reserve
    elif isinstance(element, el.Config):
        made.configs.append(element)
    elif isinstance(element, el.ToolDefinition):
        tool = sent_of(element)
        if tool not in made.tools:
            made.tools.append(tool)
    elif isinstance(element, el.Message):
        message = DraftMessage(element)
        made.messages.append(message)
        items = message.items
    for child in spot.children:
        items.extend(_gap(spot, child, inside))
        _add(made, items, inside, child)


def _gap(spot: Spot, child: Spot, inside: AbstractSet[Spot]) -> list[str]:
    """What an excerpt puts once where neighbouring pieces were left out, if they begin with ``child``."""
    if not isinstance(spot.element, el.Excerpt) or spot.element.omitted is None or child in inside:
        return []
    index = spot.children.index(child)
    return [spot.element.omitted] if index == 0 or spot.children[index - 1] in inside else []


def texts_of(inside: AbstractSet[Spot], spot: Spot) -> list[tuple[str, str]]:
    """Path and text of all that shows, at ``spot`` and below; a gap's is the path of the first piece left out."""
    if spot not in inside:
        return []
    own = [(spot.path, spot.text)] if spot.text and not spot.silent else []
    for child in spot.children:
        own += [(child.path, text) for text in _gap(spot, child, inside)] + texts_of(inside, child)
    return own


# ------------------------------------------------------------------------------------------ what it costs


@attrs.frozen
class Prices:
    """Everything that a count depends on besides the prompt."""

    tokenizer: Tokenizer
    chat_format: ChatFormat
    families: ModelInfo

    def cost(self, made: Draft) -> int:
        """What a draft costs, reserves included, without the start of the answer."""
        messages = sum(self._message(message) for message in made.messages)
        tools = sum(self._tool(tool) for tool in made.tools)
        closing = tools_closing_cost(self.families.tools) if made.tools else 0
        return self._content(made.items) + messages + tools + closing + made.reserved

    def chat(self, made: Draft, *, incomplete: bool) -> int:
        """What a chat costs once."""
        return self.chat_format.chat_cost(len(made.messages), incomplete=incomplete)

    def _message(self, message: DraftMessage) -> int:
        element = message.element
        calls = [*message.calls, *([element.function_call] if element.function_call else [])]
        count = self.tokenizer.count
        return (
            self.chat_format.message_cost(count, name=element.name, to=element.to)
            + self._content(message.items)
            + sum(self.chat_format.call_cost(count, name=c.name, arguments=c.arguments) for c in calls)
        )

    def _tool(self, tool: Tool) -> int:
        return tool_cost(
            self.tokenizer.count,
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            family=self.families.tools,
        )

    def _content(self, items: list[Item]) -> int:
        total = 0
        for item in items:
            if isinstance(item, el.Image):
                width, height = item.dimensions or (None, None)
                total += image_cost(width, height, item.detail, self.families.images)
            elif isinstance(item, el.Part):
                total += self._part(item)
        return total + sum(self.tokenizer.count(piece) for piece in pieces(items))

    def _part(self, part: el.Part) -> int:
        if part.tokens is not None:
            return part.tokens
        return self.tokenizer.count(json.dumps(part.data, ensure_ascii=False))


def pieces(items: Iterable[Item]) -> list[str]:
    """The text that is tokenised on its own: joined, but for token breaks and cache marks."""
    found = [""]
    for item in items:
        if isinstance(item, str):
            found[-1] += item
        elif item is True or isinstance(item, CacheMark):
            found.append("")
    return [piece for piece in found if piece]


# ------------------------------------------------------------------------------------------ as the user gets it


def as_message(message: DraftMessage) -> ChatMessage:
    """The message as it is sent."""
    element = message.element
    return ChatMessage(
        role=element.role,
        parts=tuple(_parts(message.items)),
        name=element.name,
        to=element.to,
        tool_calls=message.calls,
        function_call=element.function_call,
        tool_call_id=element.tool_call_id,
        is_error=element.is_error,
    )


def as_text(items: list[Item]) -> TextPart:
    """A plain prompt's text; cache marks are breaks in it."""
    parts = list(_parts([True if isinstance(item, CacheMark) else item for item in items]))
    (only,) = parts or [TextPart("")]
    assert isinstance(only, TextPart)
    return only


def _parts(items: list[Item]) -> list[ContentPart]:
    parts: list[ContentPart] = []
    for item in items:
        if not isinstance(item, str) and item is not True:
            parts.append(item)
            continue
        last = parts.pop() if parts and isinstance(parts[-1], TextPart) else TextPart("")
        assert isinstance(last, TextPart)
        if isinstance(item, str):
            parts.append(TextPart(last.text + item, last.breaks))
        else:
            parts.append(TextPart(last.text, (*last.breaks, len(last.text))))
    return parts


def merged(configs: list[el.Config]) -> PromptConfig:
    """Per key, what the first config in document order says."""
    stop = next((c.stop for c in configs if c.stop is not None), None)
    most = next((c.max_response_tokens for c in configs if c.max_response_tokens is not None), None)
    extra: dict[str, Any] = {}
    for config in reversed(configs):
        extra.update(config.extra or _NOTHING)
    return PromptConfig(stop=stop, max_response_tokens=most, extra=extra)


_NOTHING: Mapping[str, Any] = {}
