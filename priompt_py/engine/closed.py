"""Solved isolates, as what is around them takes them; and what is said where something is over a limit of its own."""

from __future__ import annotations

import attrs

from priompt_py.engine.pricing import Piece, Pricing
from priompt_py.engine.walker import measure_text
from priompt_py.model.ops import Leaf

__all__ = ["Closed", "OverLimit", "TooBig", "closed_piece"]


@attrs.define(eq=False)
class TooBig:
    """What to say of something over its own limit: ``tokens`` needed, ``reserved`` besides."""

    path: str
    tokens: int
    reserved: int
    limit: int
    fixed: bool  # whether that limit is a number of its own, not a share of another


class OverLimit(Exception):
    """Raised within the engine where something required is over its own limit."""

    def __init__(self, what: TooBig) -> None:
        super().__init__(what.path)
        self.what = what


@attrs.define(eq=False)
class Closed:
    """A solved isolate: its leaves that are in, in order, nested isolates' included.

    ``too_big`` says why it counts as out: nothing in it fits its relative limit.
    """

    leaves: list[Leaf]
    too_big: TooBig | None = None


def closed_piece(inner: Closed, pricing: Pricing) -> Piece:
    """A solved isolate as one piece: the text before its first separator, the text after its last one,
    and what lies between, counted. Tools and the chat's own cost are counted outside."""
    core = 0
    head: str | None = None
    texts: list[str] = []
    for leaf in inner.leaves:
        if isinstance(leaf, str):
            texts.append(leaf)
            continue
        core += pricing.cost(leaf)
        if leaf.separates:
            text = "".join(texts)
            texts = []
            if head is None:
                head = text
            else:
                core += pricing.count(text)
    text = "".join(texts)
    if head is None:
        first, inner_core, last = _at_cuts(text, pricing)
        if first == text:
            return Piece(text, core, open=True)
        return Piece(first, core + inner_core, last)
    first, head_core, rest = _at_cuts(head, pricing)
    before, tail_core, last = _at_cuts(text, pricing)
    if rest:
        head_core += pricing.count(rest)
    if before != text:  # what stands before the tail's first cut is after a separator
        tail_core += pricing.count(before)
    else:
        last = text
    return Piece(first, core + head_core + tail_core, last)


def _at_cuts(text: str, pricing: Pricing) -> tuple[str, int, str]:
    """A text up to its first safe cut, the tokens between that and its last one, and the text after that;
    all of it and nothing more where it has no cut."""
    piece = measure_text(text, pricing, len(text))
    if piece.open:
        return text, 0, ""
    end = len(text) - len(piece.tail)
    return piece.head, pricing.count(text[len(piece.head) : end]), piece.tail
