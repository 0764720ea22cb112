"""What things cost in tokens: everything that depends on the tokenizer, the model and the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import attrs

from priompt_py.errors import TokenizerError
from priompt_py.model.elements import Message
from priompt_py.model.ops import CallsOp, ImageOp, MessageStart, Op, PartOp, ReserveOp, ToolOp, text_of
from priompt_py.model.prompt import ChatMessage
from priompt_py.model.values import short_repr
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.image_cost import image_cost
from priompt_py.tokens.safe_cuts import SafeCuts
from priompt_py.tokens.tokenizer import (
    Tokenizer,
    max_token_bytes_of,
    safe_cuts_of,
)
from priompt_py.tokens.tool_cost import tool_cost, tools_closing_cost

__all__ = ["Piece", "Pricing"]

USUAL_CHARS = 4.0
"""Characters a token, where nothing was counted yet."""

_MEMO_CHARS = 2_000
"""Code points; without a shared cache, longer texts are not remembered: they are large, hits unlikely."""


@attrs.define(eq=False)
class Piece:
    """What a leaf does to the count.

    ``head`` is the text before its first cut, ``tail`` the text after its last, ``core`` the tokens
    that are its own whatever stands around it (-1: not counted yet). ``open``: it has no cut, and
    ``head`` is all its text. ``capped``: ``core`` is a lower bound above the limit, not the count.
    """

    head: str
    core: int
    tail: str = ""
    open: bool = False
    capped: bool = False


@attrs.define(eq=False)
class Pricing:
    """The costs of one render. ``reserves`` are what functions of ``empty`` gave, by their op.

    ``known`` is a memo of counts by text: a shared cache's view, or this render's own. ``messages`` are the shared
    cache's, of texts in ``known``.
    """

    tokenizer: Tokenizer
    chat_format: ChatFormat
    tool_family: str
    image_family: str
    last_message_incomplete: bool = False
    cache: TokenCache | None = None
    reserves: Mapping[int, int] = attrs.field(factory=dict[int, int])
    known: dict[str, int] = attrs.field(init=False)
    messages: dict[str, ChatMessage] | None = attrs.field(init=False, default=None)
    remember: Callable[[str, int], object] = attrs.field(init=False)
    memo_chars: int = attrs.field(init=False)
    frame: int = attrs.field(init=False)
    shared: dict[tuple[int, bool], Piece] = attrs.field(init=False, factory=dict[tuple[int, bool], Piece])
    last: tuple[str, int] = attrs.field(init=False, default=("", 0))
    cuts: SafeCuts | None = attrs.field(init=False)
    most_bytes: int | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        if self.cache is None:
            self.known = {}
            self.remember = self.known.__setitem__
            self.memo_chars = _MEMO_CHARS
        else:
            view = self.cache.for_tokenizer(self.tokenizer)
            self.known = view
            self.messages = view.messages
            self.remember = view.put
            self.memo_chars = self.cache.max_text
        self.frame = self.chat_format.message_cost(self.count)
        self.cuts = safe_cuts_of(self.tokenizer)
        self.most_bytes = max_token_bytes_of(self.tokenizer)

    def count(self, text: str) -> int:
        """The tokens of a text on its own; texts of a usual size are remembered."""
        if not text:
            return 0
        tokens = self.known.get(text)
        if tokens is None:
            if len(text) <= self.memo_chars:
                tokens = self.counted(text)
                self.remember(text, tokens)
            elif text == self.last[0]:
                tokens = self.last[1]
            else:
                tokens = self.counted(text)
                self.last = (text, tokens)
        return tokens

    def counted(self, text: str) -> int:
        """What the tokenizer says, checked: it may be the user's. Raises TokenizerError."""
        tokens = self.tokenizer.count(text)
        if type(tokens) is not int or tokens < 0:
            raise TokenizerError(
                f"the tokenizer {self.tokenizer.name!r} has to count with an int of 0 or more, got {short_repr(tokens)}"
            )
        return tokens

    def cost(self, op: Op | Message) -> int:
        """The fixed cost of a leaf that is not text; tools and isolates are counted apart."""
        if isinstance(op, Message):
            return self.header(op) + self.count(text_of(op))
        if isinstance(op, MessageStart):
            return self.header(op.message)
        if isinstance(op, ReserveOp):
            tokens = op.element.tokens
            return tokens if isinstance(tokens, int) else self.reserves[id(op)]
        if isinstance(op, CallsOp):
            return sum(
                self.chat_format.call_cost(self.count, name=call.name, arguments=call.arguments)
                for call in op.calls
            )
        if isinstance(op, ImageOp):
            width, height = op.element.dimensions or (None, None)
            return image_cost(width, height, op.element.detail, self.image_family)
        if isinstance(op, PartOp):
            given = op.element.tokens
            return self.count(json.dumps(op.element.data, ensure_ascii=False)) if given is None else given
        return 0

    def header(self, message: Message) -> int:
        """What a message costs besides its content."""
        if message.name is None and message.to is None:
            return self.frame
        return self.chat_format.message_cost(self.count, name=message.name, to=message.to)

    def piece(self, op: Op) -> Piece:
        """The piece of a leaf that is not text. Pieces of one cost are shared: most messages cost the same."""
        cost = self.cost(op)
        key = (cost, op.separates)
        piece = self.shared.get(key)
        if piece is None:
            piece = self.shared[key] = Piece("", cost, open=not op.separates)
        return piece

    def tool(self, op: ToolOp) -> int:
        """The cost of one tool definition, without the closing constant."""
        element = op.element
        return tool_cost(
            self.count,
            name=element.name,
            description=element.description,
            parameters=element.parameters,
            family=self.tool_family,
        )

    def tools_closing(self) -> int:
        """What a prompt with at least one tool costs besides."""
        return tools_closing_cost(self.tool_family)
