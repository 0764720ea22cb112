"""Exact counts of a prompt at any cutoff, by steps from one cutoff to the next.

The walker holds which leaves are in (``on``) and the exact token count of the prompt that they make
(``total``, reserves included). A leaf that comes in or goes out changes only the stretch around it:
from the last safe cut before it to the first one after it. Everything else keeps its count, since
counts add up exactly at safe cuts, and at separators with every tokenizer.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress
from operator import neg
from typing import Any, TypeVar, cast

from priompt_py.engine.presence import Presence, Timeline
from priompt_py.engine.pricing import Piece, Pricing
from priompt_py.model.elements import Message, Number
from priompt_py.model.ops import text_of
from priompt_py.tokens.safe_cuts import count_up_to

__all__ = ["Walker", "included", "measure_text"]

T = TypeVar("T")

_FEW = 2  # endings, each looked at for each text


def measure_text(text: str, pricing: Pricing, limit: int, lefts: str = "") -> Piece:
    """The piece that a text is, its core not counted yet. ``lefts`` are all characters that can stand before it, if
    that is known."""
    cuts = pricing.cuts
    if cuts is None:
        return _open(text, pricing, limit)
    if cuts.pattern is None:  # counts add up everywhere, at the ends too
        return Piece("", -1)
    first = 0 if lefts and all(cuts.border(left, text) for left in lefts) else cuts.first(text)
    if first < 0:
        return _open(text, pricing, limit)
    last = max(first, cuts.last(text))
    return Piece(text[:first], -1 if last > first else 0, text[last:])


def _open(text: str, pricing: Pricing, limit: int) -> Piece:
    if pricing.most_bytes is not None and (bound := -(-len(text) // pricing.most_bytes)) > limit:
        return Piece("", bound, capped=True)
    return Piece(text, 0, open=True)


def _count(text: str, pricing: Pricing, limit: int) -> int:
    if len(text) <= limit:  # a short text can't be worth stopping early
        return pricing.count(text)
    return count_up_to(pricing.tokenizer, text, limit, count=pricing.count)


def included(things: Sequence[T], on: bytearray) -> Iterator[T]:
    """The things whose flag is set: looked at only from the first such one to the last."""
    first = on.find(1)
    if first < 0:
        return iter(())
    end = on.rfind(1) + 1
    if end - first == len(things):
        return compress(things, on)
    return compress(things[first:end], on[first:end])


class Walker:
    """Walks over the levels of one presence, downwards or upwards.

    ``special`` are the pieces of the leaves that are not text. Counts above ``limit`` need not be
    exact: ``fits`` says whether the prompt at the present level is within it. ``pieces`` are those that a walker over the
    same presence has measured, ``special`` included, if its limit was not lower; they are shared with it.
    """

    def __init__(
        self,
        presence: Presence,
        timeline: Timeline,
        special: dict[int, Piece],
        pricing: Pricing,
        limit: int,
        pieces: dict[int, Piece] | None = None,
    ) -> None:
        self.presence = presence
        self.timeline = timeline
        self.pricing = pricing
        self.limit = limit
        self.pieces: dict[int, Piece] = dict(special) if pieces is None else pieces
        self.special = special  # their cores are given; one can be below 0
        self.on = bytearray(len(presence.leaves))
        self.in_at = 0
        self.out_at = 0
        self.total = 0
        self.capped = 0  # how many capped pieces came in by steps
        self.stale = False
        self.lefts = ""
        self.owed = sum(-piece.core for piece in special.values() if piece.core < 0)
        self.most = limit + self.owed  # what one leaf can cost where the prompt fits

    @property
    def fits(self) -> bool:
        """Whether the prompt at the present level is within the limit."""
        return self.total <= self.limit and not self.capped

    def know_lefts(self) -> None:
        """Find what texts end with, if that is always much the same, a line break say: a text that begins with a cut
        after all of these has a cut there wherever it stands. Before any text is measured."""
        cuts = self.pricing.cuts
        if cuts is None or cuts.pattern is None:
            return
        lefts = {leaf[-1] for leaf in self.presence.leaves if type(leaf) is str and leaf}
        lefts.update(text[-1] for piece in self.special.values() for text in (piece.head, piece.tail) if text)
        if len(lefts) <= _FEW:
            self.lefts = "".join(lefts)

    def piece(self, index: int) -> Piece:
        """The piece of a leaf, measured when first asked for."""
        piece = self.pieces.get(index)
        if piece is None:
            leaf = self.presence.leaves[index]
            if isinstance(leaf, str):
                piece = measure_text(leaf, self.pricing, self.limit, self.lefts)
            elif isinstance(leaf, Message):
                core = self.pricing.header(leaf) + _count(text_of(leaf), self.pricing, self.most)
                piece = Piece("", core, capped=core > self.most)
            else:
                piece = self.pricing.piece(leaf)
            self.pieces[index] = piece
        return piece

    def core(self, index: int) -> int:
        """The core of a leaf's piece, counted when first asked for. One above ``most`` may be only a
        lower bound above it."""
        piece = self.pieces.get(index) or self.piece(index)
        if piece.core < 0 and index not in self.special:
            text = self.presence.leaves[index]
            assert isinstance(text, str)
            middle = text[len(piece.head) : len(text) - len(piece.tail)]
            piece.core = _count(middle, self.pricing, self.most)
            piece.capped = piece.core > self.most
        return piece.core

    # -- jumping ------------------------------------------------------------------------------

    def place(self, cutoff: Number) -> None:
        """Go to a cutoff without counting: ``total`` is not valid until ``recount``."""
        on, line, start = self.on, self.timeline, self.in_at
        if start < len(line.ins) and line.in_levels[start] >= cutoff:
            self.in_at = bisect_right(line.in_levels, -cutoff, start, key=neg)
            for index in line.ins[start : self.in_at]:
                on[index] += 1
        while self.out_at < len(line.outs) and line.out_levels[self.out_at] >= cutoff:
            on[line.outs[self.out_at]] -= 1
            self.out_at += 1
        while self.out_at and line.out_levels[self.out_at - 1] < cutoff:
            self.out_at -= 1
            on[line.outs[self.out_at]] += 1
        while self.in_at and line.in_levels[self.in_at - 1] < cutoff:
            self.in_at -= 1
            on[line.ins[self.in_at]] -= 1

    def included(self, things: Sequence[T]) -> Iterator[T]:
        """Those of as many things as there are leaves whose leaf is in."""
        return included(things, self.on)

    def place_at(self, cutoff: Number) -> None:
        """Go to any cutoff without counting and without the timeline, which is of no use to the walker from then on."""
        self.on = self.presence.on_at(cutoff)

    def recount(self, most: int = sys.maxsize) -> int:
        """Count the prompt as it is now, text by text between separators.

        It ends where the count is above ``most``; ``total`` is then no more than what was counted so far.
        """
        presence, count = self.presence, self.pricing.count
        if most != sys.maxsize:
            count = partial(_count, pricing=self.pricing, limit=most)
        self.capped = 0
        self.stale = False
        if presence.only_text:
            self.total = count("".join(cast("Iterator[str]", self.included(presence.leaves))))
            return self.total
        total = 0
        texts: list[str] = []
        leaves, pieces, known, frame = (
            presence.leaves,
            self.pieces.get,
            self.pricing.known.get,
            self.pricing.frame,
        )
        for index in self.included(range(len(self.on))):
            leaf = leaves[index]
            if isinstance(leaf, str):
                texts.append(leaf)
                continue
            if type(leaf) is Message and leaf.name is None and leaf.to is None:
                parts: tuple[Any, ...] = leaf.children
                tokens = known(parts[0] if len(parts) == 1 else "".join(parts))
                if tokens is not None:  # most messages of a chat that has grown by a turn
                    total += frame + tokens
                    if texts:
                        total += count("".join(texts))
                        texts = []
                    if total > most:
                        break
                    continue
            if total > most:
                break
            piece = pieces(index) or self.piece(index)
            total += piece.core  # not text, so it is given
            if piece.capped:
                self.capped += 1
            if piece.head:
                texts.append(piece.head)
            if not piece.open:
                if texts:
                    total += count("".join(texts))
                    texts = []
                if piece.tail:
                    texts.append(piece.tail)
        self.total = total + count("".join(texts))
        return self.total

    def sum_up(self) -> int:
        """``recount`` from the cores, where most of them are known already."""
        pieces, count = self.pieces, self.pricing.count
        self.capped = 0
        self.stale = False
        total = 0
        seam: list[str] = []
        for index in self.included(range(len(self.on))):
            total += self.core(index)
            piece = pieces[index]
            if piece.capped:
                self.capped += 1
            if piece.head:
                if seam and self.is_border(seam[-1], piece.head):
                    total += count("".join(seam))
                    seam = []
                seam.append(piece.head)
            if not piece.open:
                if seam:
                    total += count(seam[0] if len(seam) == 1 else "".join(seam))
                    seam = []
                if piece.tail:
                    seam.append(piece.tail)
        self.total = total + count("".join(seam))
        return self.total

    # -- stepping -----------------------------------------------------------------------------

    def go(self, cutoff: Number) -> None:
        """Go to a cutoff, keeping ``total`` exact by steps."""
        line = self.timeline
        while self.in_at < len(line.ins) and line.in_levels[self.in_at] >= cutoff:
            self.toggle(line.ins[self.in_at], 1)
            self.in_at += 1
        while self.out_at < len(line.outs) and line.out_levels[self.out_at] >= cutoff:
            self.toggle(line.outs[self.out_at], -1)
            self.out_at += 1
        while self.out_at and line.out_levels[self.out_at - 1] < cutoff:
            self.out_at -= 1
            self.toggle(line.outs[self.out_at], 1)
        while self.in_at and line.in_levels[self.in_at - 1] < cutoff:
            self.in_at -= 1
            self.toggle(line.ins[self.in_at], -1)
        if self.stale:
            self.recount()

    def toggle(self, index: int, change: int) -> None:
        """Bring a leaf in (1) or out (-1)."""
        count = self.pricing.count
        piece = self.piece(index)
        core = self.core(index)
        self.on[index] += change
        if piece.open and not piece.head:
            self.total += change * core
            return
        left, right = self.left_of(index), self.right_of(index)
        without = count(left + right)
        if piece.open:
            within = count(left + piece.head + right) + core
        else:
            within = count(left + piece.head) + core + count(piece.tail + right)
        self.total += change * (within - without)
        if piece.capped:
            if change > 0:
                self.capped += 1
            else:  # what it really added is not known
                self.stale = True

    def left_of(self, index: int) -> str:
        """The text in that stands before a leaf and after the last cut before it."""
        on, pieces = self.on, self.pieces
        texts: list[str] = []
        here = on.rfind(1, 0, index)
        while here >= 0:
            piece = pieces.get(here) or self.piece(here)
            text = piece.head if piece.open else piece.tail
            if text:
                if texts and self.is_border(text, texts[-1]):
                    break
                texts.append(text)
            if not piece.open:
                break
            here = on.rfind(1, 0, here)
        if len(texts) == 1:
            return texts[0]
        return "".join(reversed(texts))

    def is_border(self, left: str, right: str) -> bool:
        """Whether tokens never merge between two texts that stand side by side."""
        return self.pricing.cuts is not None and self.pricing.cuts.border(left, right)

    def right_of(self, index: int) -> str:
        """The text in that stands after a leaf and before the first cut after it."""
        return self._right(index)[0]

    def _right(self, index: int) -> tuple[str, int]:
        """``right_of``, and the leaf at which it ends (or the number of leaves)."""
        on, pieces = self.on, self.pieces
        texts: list[str] = []
        here = on.find(1, index + 1)
        while here >= 0:
            piece = pieces.get(here) or self.piece(here)
            if piece.head:
                if texts and self.is_border(texts[-1], piece.head):
                    break
                texts.append(piece.head)
            if not piece.open:
                break
            here = on.find(1, here + 1)
        return texts[0] if len(texts) == 1 else "".join(texts), here if here >= 0 else len(on)

    # -- bounds -------------------------------------------------------------------------------

    def loss(self) -> int:
        """How many tokens of ``total`` later leaves could undo, at most, where leaves only come in.

        Only a stretch between cuts into which a leaf can still come can change, and what stands in
        it now will cost its bytes by the most a token holds in any case.
        """
        on, most_bytes = self.on, self.pricing.most_bytes
        loss = self.owed
        done = -1  # the last leaf of the stretch that was looked at last
        gap = on.find(0)
        while gap >= 0:
            after = on.find(1, gap)
            if after < 0:
                after = len(on)
            if gap > done:
                right, done = self._right(after - 1)
                text = self.left_of(gap) + right
                if text:
                    loss += self.pricing.count(text) - (
                        0 if most_bytes is None else -(-len(text) // most_bytes)
                    )
            gap = on.find(0, after)
        return loss
