"""From an explanation of a render to its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from priompt_py.engine.curve import curve_levels
from priompt_py.engine.explain import Explanation
from priompt_py.engine.pricing import Pricing
from priompt_py.face.report import Report, ReportMessage, ReportPart, ReportPiece
from priompt_py.face.report_leaves import Leaf, counted_from, leaves_of
from priompt_py.face.report_pieces import Pieces
from priompt_py.model.elements import BASE_PRIORITY, Message
from priompt_py.model.ops import Compiled
from priompt_py.model.outcome import Outcome

__all__ = ["make_report"]

LARGEST = 5
"""How many of the largest parts are named."""


def make_report(explanation: Explanation, compiled: Compiled, pricing: Pricing, outcome: Outcome) -> Report:
    """The report of a solved prompt; ``compiled`` is what was solved."""
    return _Reporter(explanation, compiled, pricing, outcome).report()


class _Reporter:
    def __init__(
        self, explanation: Explanation, compiled: Compiled, pricing: Pricing, outcome: Outcome
    ) -> None:
        self.explanation = explanation
        self.pricing = pricing
        self.outcome = outcome
        self.entries = explanation.recorded.entries
        self.reasons = explanation.reasons()
        self.closing = pricing.tools_closing() if outcome.tools else 0
        self.leaves = list(leaves_of(explanation, self.reasons, is_chat=outcome.messages is not None))
        self.pieces = Pieces(explanation, compiled, pricing, outcome, counted_from(self.leaves))

    def report(self) -> Report:
        """All of it."""
        outcome, chat_format = self.outcome, self.pricing.chat_format
        messages = tuple(self.messages())
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
            # A remembered cutoff may be between two levels.
            level=max(1, sum(level >= outcome.cutoff for level in levels)),
            levels=len(levels),
            count_kind=outcome.count_kind,
            elements_in=sum(fates),
            elements_out=len(fates) - sum(fates),
            largest=tuple(self.largest()),
        )

    def messages(self) -> Iterator[ReportMessage]:
        """The messages, with what stands in them; what stands outside comes in ones without a role."""
        for number, group in groupby(self.leaves, key=_message):
            inside = list(group)
            if number >= 0:
                yield self.message(inside[0], inside[1:])
            else:
                yield self.outside(inside)

    def outside(self, leaves: list[Leaf]) -> ReportMessage:
        """A plain prompt, or what stands between messages."""
        pieces = tuple(self.pieces.of(leaves))
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

    def message(self, opening: Leaf, leaves: list[Leaf]) -> ReportMessage:
        """A message, its calls after its content."""
        entry, element = opening.entry, opening.entry.element
        assert isinstance(element, Message)
        pieces = (*self.pieces.of(leaves), *self.pieces.calls(opening, element))
        chat_format, count = self.pricing.chat_format, self.pricing.count
        frame = chat_format.message_cost(count, name=element.name, to=element.to)
        if opening.included:
            self.pieces.own[opening.number] += frame
        start, end = self.pieces.place(opening)
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
            tokens=self.explanation.tokens(entry, included=True) - self.pieces.repeated[opening.number]
            if opening.included
            else frame + _cost(pieces, included=False),
            pieces=pieces,
            start=start,
            end=end,
        )

    def largest(self) -> Iterator[ReportPart]:
        """What holds the most tokens itself."""
        for number, tokens in sorted(self.pieces.own.items(), key=lambda own: -own[1])[:LARGEST]:
            if tokens:
                entry = None if number < 0 else self.entries[number]
                yield ReportPart(
                    path="root" if number < 0 else str(self.explanation.places[number]),
                    label=None if entry is None else entry.label,
                    priority=BASE_PRIORITY if entry is None else entry.high,
                    tokens=tokens,
                )


def _message(leaf: Leaf) -> int:
    return leaf.message


def _cost(pieces: Sequence[ReportPiece], *, included: bool) -> int:
    """What pieces cost: those that are in, or of a message that is out, all."""
    return sum(piece.tokens for piece in pieces if piece.kind != "empty" and (piece.included or not included))
