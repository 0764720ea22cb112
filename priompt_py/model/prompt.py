"""A rendered prompt as data: messages and their content.

Offsets are in code points, 0-based. Everything here is immutable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from priompt_py.model.elements import Call, Image, Part, Role

__all__ = ["CacheMark", "ChatMessage", "ContentPart", "PromptConfig", "TextPart", "Tool"]


@attrs.define(on_setattr=attrs.setters.frozen, unsafe_hash=True)  # as frozen, but made in half the time
class TextPart:
    """A stretch of text. ``breaks`` are the offsets in ``text`` that tokens never merge across,
    ascending; 0 and ``len(text)`` can be among them."""

    text: str
    breaks: tuple[int, ...] = ()


@attrs.frozen
class CacheMark:
    """A mark for prefix caching, at the place where it stands."""


ContentPart: TypeAlias = TextPart | Image | Part | CacheMark


@attrs.define(on_setattr=attrs.setters.frozen, unsafe_hash=True)  # as TextPart
class ChatMessage:
    """One message as it will be sent: what was left out is not in it any more."""

    role: Role
    parts: tuple[ContentPart, ...] = ()
    name: str | None = None
    to: str | None = None
    tool_calls: tuple[Call, ...] = ()
    function_call: Call | None = None
    tool_call_id: str | None = None
    is_error: bool = False

    @property
    def text(self) -> str:
        """All text of the message, joined."""
        if len(self.parts) == 1 and isinstance(self.parts[0], TextPart):
            return self.parts[0].text
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text cut at its token breaks: what is tokenised on its own. No piece is empty."""
        pieces: list[str] = []
        open_piece = ""
        for part in self.parts:
            if isinstance(part, CacheMark):
                pieces.append(open_piece)
                open_piece = ""
            elif isinstance(part, TextPart):
                first, *rest = split_at(part.text, part.breaks)
                open_piece += first
                for piece in rest:
                    pieces.append(open_piece)
                    open_piece = piece
        pieces.append(open_piece)
        return tuple(piece for piece in pieces if piece)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to send: no visible text, image, part or call. A tool message
        and a message with calls are never blank."""
        if self.role == "tool" or self.tool_calls or self.function_call is not None:
            return False
        return not any(
            part.text.strip() if isinstance(part, TextPart) else isinstance(part, (Image, Part))
            for part in self.parts
        )


@attrs.frozen
class Tool:
    """A tool definition as it will be sent."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None = None


@attrs.frozen
class PromptConfig:
    """Request settings, merged per key over all included ``config`` elements."""

    stop: tuple[str, ...] | str | None = None
    max_response_tokens: int | str | None = None
    extra: Mapping[str, Any] = attrs.field(factory=dict[str, Any])


def split_at(text: str, offsets: tuple[int, ...]) -> list[str]:
    """``text`` cut at ascending offsets (inclusive 0 and ``len(text)``): one piece more than offsets."""
    pieces: list[str] = []
    start = 0
    for offset in offsets:
        pieces.append(text[start:offset])
        start = offset
    pieces.append(text[start:])
    return pieces
