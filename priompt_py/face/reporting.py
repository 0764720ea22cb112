"""From an explanation of a render to its report."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

import attrs

from priompt_py.engine.curve import curve_levels
from priompt_py.engine.explain import Explanation
from priompt_py.engine.pricing import USUAL_CHARS, Pricing
from priompt_py.face.report import Report, ReportMessage, ReportPart, ReportPiece
from priompt_py.model.elements import (
    BASE_PRIORITY,
    RULE_TEXT,
    Child,
    Config,
    Element,
    Excerpt,
    Image,
    Message,
    Number,
    Part,
    ToolDefinition,
)
from priompt_py.model.ops import NEVER, CallsOp, Compiled, Entry, Op, ReserveOp, ToolOp
from priompt_py.model.outcome import Outcome, Reason

__all__ = ["make_report"]

OUT_TEXT = 4_000
"""Characters that are kept of what is out."""

COUNTED_OUT = 500_000
"""Characters of what is out that are counted, the highest priorities first; the rest is estimated. (Tokenising them takes
about as long as a prompt of 125,000 tokens.)"""

LARGEST = 5
"""How many of the largest parts are named."""

_TEXTS = frozenset({"text", "br", "hr", "omitted"})
_OTHERS = frozenset({"image", "part", "empty", "config", "capture", "tool_definition", "cache_break"})
"""Kinds of elements without children that are shown; a token break is not."""


@attrs.define(eq=False)
class _Leaf:
    """A text, or an element without children, or a message before what stands in it."""

    number: int
    entry: Entry
    owner: int  # an entry; -1: the root
    message: int  # an entry; -1: it stands outside messages
    included: bool
    reason: Reason


def make_report(explanation: Explanation, compiled: Compiled, pricing: Pricing, outcome: Outcome) -> Report:
    """The report of a solved prompt; ``compiled`` is what was solved."""
    return _Reporter(explanation, compiled, pricing, outcome).report()


class _Reporter:
    def __init__(
        self, explanation: Explanation, compiled: Compiled, pricing: Pricing, outcome: Outcome
    ) -> None:
        self.explanation = explanation
        # What functions reserve is known by the ops that were solved; the recorded walk made its own.
        recorded = explanation.recorded.reserve_functions
        self.solved_op = {id(op): one for op, one in zip(recorded, compiled.reserve_functions, strict=True)}
        self.pricing = pricing
        self.outcome = outcome
        self.entries = explanation.recorded.entries
        self.reasons = explanation.reasons()
        self.starts = explanation.starts()[0]
        self.unsent = {id(tool) for tool in outcome.tool_definitions}  # tools that no piece has counted yet
        self.own: dict[int, int] = defaultdict(int)  # tokens that are in, by owner
        self.repeated: dict[int, int] = defaultdict(int)  # of tools that are not sent again, by message
        self.closing = pricing.tools_closing() if outcome.tools else 0
        self.run: list[str] = []  # texts side by side of one owner
        self.run_owner = -1
        self.counted_from: Number = NEVER

    def report(self) -> Report:
        """All of it."""
        outcome, chat_format = self.outcome, self.pricing.chat_format
        leaves = list(self.leaves())
        self.counted_from = _counted_from(leaves)
        messages = tuple(self.messages(leaves))
        other = self.closing
        if outcome.messages:
            other += chat_format.chat_cost(1, incomplete=outcome.last_message_incomplete)
        alone = other + sum(
            message.frame_tokens + _cost(message.pieces, included=True)
            for message in messages
            if message.included
        )
        levels = curve_levels(self.explanation.solution)
        fates = [
            reason == "included"
            for entry, reason in zip(self.entries, self.reasons, strict=True)
            if self.explanation.is_decided(entry)
        ]
        return Report(
            is_chat=outcome.messages is not None,
            messages=messages,
            token_limit=outcome.token_limit,
            tokens_used=outcome.token_count,
            tokens_reserved=outcome.tokens_reserved,
            tokens_free=outcome.token_limit - outcome.token_count - outcome.tokens_reserved,
            other_tokens=other,
            shared_tokens=alone - outcome.token_count,
            cutoff=outcome.cutoff,
            level=max(
                1, sum(level >= outcome.cutoff for level in levels)
            ),  # a remembered one may be between two
            levels=len(levels),
            count_kind=outcome.count_kind,
            elements_in=sum(fates),
            elements_out=len(fates) - sum(fates),
            largest=tuple(self.largest()),
        )

    # -- leaves -------------------------------------------------------------------------------

    def leaves(self) -> Iterator[_Leaf]:
        """What gives text or stands for itself, in document order, and what it belongs to."""
        owners: list[int] = []
        around: list[int] = []
        causes: list[Reason] = []
        is_chat = self.outcome.messages is not None
        for number, (entry, reason) in enumerate(zip(self.entries, self.reasons, strict=True)):
            causes.append(causes[entry.parent] if reason == "parent_out" and entry.parent >= 0 else reason)
            is_message = isinstance(entry.element, Message)
            owner = -1 if entry.parent < 0 else owners[entry.parent]
            owners.append(number if is_message or _is_owner(entry) else owner)
            message = number if is_message else -1 if entry.parent < 0 else around[entry.parent]
            around.append(message)
            is_text = entry.kind in _TEXTS
            if is_text and is_chat and message < 0:
                continue  # blank text between messages, which is dropped
            if entry.kind == "omitted" and reason != "included":
                continue  # the mark of a gap that isn't there
            if is_message or is_text or entry.kind in _OTHERS:
                yield _Leaf(number, entry, owners[-1], message, reason == "included", causes[-1])

    def messages(self, leaves: list[_Leaf]) -> Iterator[ReportMessage]:
        """The messages, with what stands in them; what stands outside comes in ones without a role."""
        for number, group in groupby(leaves, key=_message):
            inside = list(group)
            if number >= 0:
                yield self.message(inside[0], inside[1:])
            else:
                yield self.outside(inside)

    def outside(self, leaves: list[_Leaf]) -> ReportMessage:
        """A plain prompt, or what stands between messages."""
        pieces = tuple(self.pieces(leaves))
        placed = [piece for piece in pieces if piece.start is not None]
        return ReportMessage(
            role=None,
            name=None,
            to=None,
            included=True,
            reason="included",
            path="root",
            label=None,
            priority=BASE_PRIORITY,
            frame_tokens=0,
            tokens=_cost(pieces, included=True)
            if self.outcome.text is None
            else self.outcome.token_count - self.closing,
            pieces=pieces,
            start=placed[0].start if placed else None,
            end=placed[-1].end if placed else None,
        )

    def message(self, opening: _Leaf, leaves: list[_Leaf]) -> ReportMessage:
        """A message, its calls after its content."""
        entry, element = opening.entry, opening.entry.element
        assert isinstance(element, Message)
        pieces = (*self.pieces(leaves), *self.calls(opening, element))
        chat_format, count = self.pricing.chat_format, self.pricing.count
        frame = chat_format.message_cost(count, name=element.name, to=element.to)
        if opening.included:
            self.own[opening.number] += frame
        start, end = self.place(opening)
        return ReportMessage(
            role=element.role,
            name=element.name,
            to=element.to,
            included=opening.included,
            reason=opening.reason,
            path=str(self.explanation.places[opening.number]),
            label=entry.label,
            priority=entry.high,
            frame_tokens=frame,
            tokens=self.explanation.tokens(entry, included=True) - self.repeated[opening.number]
            if opening.included
            else frame + _cost(pieces, included=False),
            pieces=pieces,
            start=start,
            end=end,
        )

    # -- pieces -------------------------------------------------------------------------------

    def pieces(self, leaves: list[_Leaf]) -> Iterator[ReportPiece]:
        """A piece for each leaf that is in; of what is out, one for each element that texts side by side belong to."""
        yield from self.pieces_of(leaves)
        self.end_run()

    def pieces_of(self, leaves: list[_Leaf]) -> Iterator[ReportPiece]:
        """``pieces``, but for the count of the last owner."""
        for (owner, _, number), group in groupby(leaves, key=_together):
            together = list(group)
            leaf = together[0]
            kind = leaf.entry.kind
            if kind in _OTHERS:
                yield self.other(leaf)
                continue
            text = "".join(_text(one.entry) for one in together)
            if not text:
                continue
            counted = leaf.included or leaf.entry.high >= self.counted_from
            tokens = self.pricing.count(text) if counted else ceil(len(text) / USUAL_CHARS)
            if leaf.included:
                self.add_text(owner, text, is_cut=kind == "br")
            highs = [one.entry.high for one in together]
            yield self.piece(
                leaf,
                kind if number >= 0 else "text",
                text if leaf.included else text[:OUT_TEXT],
                tokens,
                priorities=(max(highs), min(highs)),
                characters=len(text),
                is_estimate=not counted,
            )

    def add_text(self, owner: int, text: str, *, is_cut: bool) -> None:
        """Note a text that is in; those of one owner side by side are counted together."""
        if owner != self.run_owner:
            self.end_run()
        self.run_owner = owner
        self.run.append(text)
        if is_cut:  # tokens don't go on behind it
            self.end_run()

    def end_run(self) -> None:
        """Count the texts that were noted for one owner."""
        if self.run:
            self.own[self.run_owner] += self.pricing.count("".join(self.run))
            self.run = []

    def other(self, leaf: _Leaf) -> ReportPiece:
        """The piece of an element that is no text."""
        entry, element = leaf.entry, leaf.entry.element
        tokens = 0
        op = entry.ops.leaves[entry.start] if entry.start < entry.end else None
        if isinstance(op, ToolOp):
            tokens = self.pricing.tool(op)
            if leaf.included and id(element) not in self.unsent:  # equal definitions are sent once
                self.repeated[leaf.message] += tokens
                tokens = 0
            if leaf.included:
                self.unsent.discard(id(element))
        elif isinstance(op, Op):
            tokens = self.pricing.cost(self.solved_op.get(id(op), op))
        if leaf.included and not isinstance(op, ReserveOp):
            self.own[leaf.owner] += tokens
        return self.piece(leaf, entry.kind, _told(element), tokens)

    def calls(self, opening: _Leaf, message: Message) -> Iterator[ReportPiece]:
        """The tool calls of a message."""
        start = opening.entry.start + 1
        for index in range(start, min(start + 2, opening.entry.end)):
            leaf = opening.entry.ops.leaves[index]
            if not isinstance(leaf, CallsOp):
                break
            part = self.explanation.solved(opening.entry.ops)
            included = opening.included and part is not None and bool(part.on[index])
            tokens = self.pricing.cost(leaf)
            if included:
                self.own[opening.number] += tokens
            text = "\n".join(f"{call.name}({call.arguments})" for call in leaf.calls)
            reason = opening.reason if opening.reason != "included" or included else "pair_out"
            yield attrs.evolve(
                self.piece(opening, "tool_calls", text, tokens),
                included=included,
                reason=reason,
                start=None,
                end=None,
            )

    def piece(
        self,
        leaf: _Leaf,
        kind: str,
        text: str,
        tokens: int,
        *,
        priorities: tuple[Number, Number] | None = None,
        characters: int | None = None,
        is_estimate: bool = False,
    ) -> ReportPiece:
        """A piece of a leaf; priorities (the highest and the lowest) and characters are the leaf's where not given."""
        places = self.explanation.places
        highest, lowest = (leaf.entry.high, leaf.entry.high) if priorities is None else priorities
        start, end = self.place(leaf)
        return ReportPiece(
            kind=kind,
            text=text,
            included=leaf.included,
            reason=leaf.reason,
            path=str(places[leaf.number]),
            owner="root" if leaf.owner < 0 else str(places[leaf.owner]),
            label=None if leaf.owner < 0 else self.entries[leaf.owner].label,
            priority=highest,
            lowest=lowest,
            characters=len(text) if characters is None else characters,
            tokens=tokens,
            is_estimate=is_estimate,
            start=start,
            end=end,
        )

    def place(self, leaf: _Leaf) -> tuple[int, int] | tuple[None, None]:
        """Where a leaf that is in stands in the text."""
        if not leaf.included:
            return None, None
        starts = self.starts[id(leaf.entry.ops)]
        return starts[leaf.entry.start], starts[leaf.entry.end]

    def largest(self) -> Iterator[ReportPart]:
        """What holds the most tokens itself."""
        for number, tokens in sorted(self.own.items(), key=lambda own: -own[1])[:LARGEST]:
            if tokens:
                entry = None if number < 0 else self.entries[number]
                yield ReportPart(
                    path="root" if number < 0 else str(self.explanation.places[number]),
                    label=None if entry is None else entry.label,
                    priority=BASE_PRIORITY if entry is None else entry.high,
                    tokens=tokens,
                )


def _message(leaf: _Leaf) -> int:
    return leaf.message


def _together(leaf: _Leaf) -> tuple[int, bool, int]:
    """What is out of one element, side by side, makes one piece; all else one each."""
    alone = leaf.included or leaf.entry.kind in _OTHERS
    return leaf.owner, leaf.included, leaf.number if alone else -1


def _is_owner(entry: Entry) -> bool:
    """Whether texts are said to belong to this element: it has a priority or a label, or is an alternative."""
    element = entry.element
    if not isinstance(element, Element):
        return entry.is_alternative
    return (
        entry.is_alternative
        or element.p is not None
        or element.prel is not None
        or entry.label is not None
        or isinstance(element, Excerpt)
    )


def _cost(pieces: Sequence[ReportPiece], *, included: bool) -> int:
    """What pieces cost: those that are in, or of a message that is out, all."""
    return sum(piece.tokens for piece in pieces if piece.kind != "empty" and (piece.included or not included))


def _counted_from(leaves: list[_Leaf]) -> Number:
    """The priority from which on what is out is counted."""
    sizes: dict[Number, int] = defaultdict(int)
    for leaf in leaves:
        if not leaf.included and leaf.entry.kind == "text":
            sizes[leaf.entry.high] += len(_text(leaf.entry))
    total = 0
    counted: Number = math.inf
    for level in sorted(sizes, reverse=True):
        total += sizes[level]
        if total > COUNTED_OUT:
            return counted
        counted = level
    return NEVER


def _text(entry: Entry) -> str:
    """The text that an entry gives."""
    if isinstance(entry.element, Element):
        return RULE_TEXT if entry.kind == "hr" else "\n"
    return str(entry.element)


def _told(element: Child) -> str:
    """What a person should know of an element that is no text."""
    if isinstance(element, Image):
        size = "" if element.dimensions is None else f" {element.dimensions[0]}×{element.dimensions[1]}"
        source = "bytes" if element.url is None else element.url
        return f"{source}{size}, detail {element.detail}"
    if isinstance(element, Part):
        return f"for {element.provider}"
    if isinstance(element, ToolDefinition):
        return f"{element.name}: {element.description}"
    if isinstance(element, Config):
        told = {
            "stop": element.stop,
            "max_response_tokens": element.max_response_tokens,
            "extra": element.extra,
        }
        return ", ".join(f"{name}={value!r}" for name, value in told.items() if value)
    return ""
