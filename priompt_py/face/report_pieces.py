"""The pieces of a report: what leaves show and cost, and to whom the tokens are put down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from math import ceil

import attrs

from priompt_py.engine.explain import Explanation
from priompt_py.engine.pricing import USUAL_CHARS, Pricing
from priompt_py.face.report import ReportPiece
from priompt_py.face.report_leaves import OTHERS, Leaf, text_of_entry
from priompt_py.model.elements import Child, Config, Image, Message, Number, Part, ToolDefinition
from priompt_py.model.ops import CallsOp, Compiled, Op, ReserveOp, ToolOp
from priompt_py.model.outcome import Outcome

__all__ = ["Pieces"]

OUT_TEXT = 4_000
"""Characters that are kept of what is out."""


class Pieces:
    """Makes the pieces of one report, message by message in document order.

    ``own`` are the tokens that are in, by the entry that they belong to (-1: the root); ``repeated`` those of tools
    that are not sent again, by message. What is out is counted from the priority ``counted_from`` on.
    """

    def __init__(
        self,
        explanation: Explanation,
        compiled: Compiled,
        pricing: Pricing,
        outcome: Outcome,
        counted_from: Number,
    ) -> None:
        self.explanation = explanation
        self.pricing = pricing
        self.counted_from = counted_from
        self.own: dict[int, int] = defaultdict(int)
        self.repeated: dict[int, int] = defaultdict(int)
        # What functions reserve is known by the ops that were solved; the recorded walk made its own.
        recorded = explanation.recorded.reserve_functions
        self._solved_op = {id(op): one for op, one in zip(recorded, compiled.reserve_functions, strict=True)}
        self._starts = explanation.starts()[0]
        self._unsent = {id(tool) for tool in outcome.tool_definitions}  # tools that no piece has counted yet
        self._run: list[str] = []  # texts side by side of one owner
        self._run_owner = -1

    def of(self, leaves: list[Leaf]) -> Iterator[ReportPiece]:
        """A piece for each leaf that is in; of what is out, one for each element that texts side by side belong to."""
        yield from self._pieces_of(leaves)
        self._end_run()

    def _pieces_of(self, leaves: list[Leaf]) -> Iterator[ReportPiece]:
        """``of``, but for the count of the last owner."""
        for (owner, _, number), group in groupby(leaves, key=_together):
            together = list(group)
            leaf = together[0]
            kind = leaf.entry.kind
            if kind in OTHERS:
                yield self._other(leaf)
                continue
            text = "".join(text_of_entry(one.entry) for one in together)
            if not text:
                continue
            counted = leaf.included or leaf.entry.high >= self.counted_from
            tokens = self.pricing.count(text) if counted else ceil(len(text) / USUAL_CHARS)
            if leaf.included:
                self._add_text(owner, text, is_cut=kind == "br")
            highs = [one.entry.high for one in together]
            yield self._piece(
                leaf,
                kind if number >= 0 else "text",
                text if leaf.included else text[:OUT_TEXT],
                tokens,
                priorities=(max(highs), min(highs)),
                characters=len(text),
                is_estimate=not counted,
            )

    def _add_text(self, owner: int, text: str, *, is_cut: bool) -> None:
        """Note a text that is in; those of one owner side by side are counted together."""
        if owner != self._run_owner:
            self._end_run()
        self._run_owner = owner
        self._run.append(text)
        if is_cut:  # tokens don't go on behind it
            self._end_run()

    def _end_run(self) -> None:
        """Count the texts that were noted for one owner."""
        if self._run:
            self.own[self._run_owner] += self.pricing.count("".join(self._run))
            self._run = []

    def _other(self, leaf: Leaf) -> ReportPiece:
        """The piece of an element that is no text."""
        entry, element = leaf.entry, leaf.entry.element
        tokens = 0
        op = entry.ops.leaves[entry.start] if entry.start < entry.end else None
        if isinstance(op, ToolOp):
            tokens = self.pricing.tool(op)
            if leaf.included and id(element) not in self._unsent:  # equal definitions are sent once
                self.repeated[leaf.message] += tokens
                tokens = 0
            if leaf.included:
                self._unsent.discard(id(element))
        elif isinstance(op, Op):
            tokens = self.pricing.cost(self._solved_op.get(id(op), op))
        if leaf.included and not isinstance(op, ReserveOp):
            self.own[leaf.owner] += tokens
        return self._piece(leaf, entry.kind, _told(element), tokens)

    def calls(self, opening: Leaf, message: Message) -> Iterator[ReportPiece]:
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
                self._piece(opening, "tool_calls", text, tokens),
                included=included,
                reason=reason,
                start=None,
                end=None,
            )

    def _piece(
        self,
        leaf: Leaf,
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
            label=None if leaf.owner < 0 else self.explanation.recorded.entries[leaf.owner].label,
            priority=highest,
            lowest=lowest,
            characters=len(text) if characters is None else characters,
            tokens=tokens,
            is_estimate=is_estimate,
            start=start,
            end=end,
        )

    def place(self, leaf: Leaf) -> tuple[int, int] | tuple[None, None]:
        """Where a leaf that is in stands in the text."""
        if not leaf.included:
            return None, None
        starts = self._starts[id(leaf.entry.ops)]
        return starts[leaf.entry.start], starts[leaf.entry.end]


def _together(leaf: Leaf) -> tuple[int, bool, int]:
    """What is out of one element, side by side, makes one piece; all else one each."""
    alone = leaf.included or leaf.entry.kind in OTHERS
    return leaf.owner, leaf.included, leaf.number if alone else -1


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
