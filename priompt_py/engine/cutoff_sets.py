"""The cutoffs at which each leaf is in, while they are worked out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from priompt_py.engine.intervals import CutoffSet, intersect
from priompt_py.engine.presence import CostOp, Presence
from priompt_py.engine.pricing import Piece
from priompt_py.model.elements import Number
from priompt_py.model.ops import NEVER, Leaf

__all__ = ["Sets"]


class Sets:
    """The intervals of leaves while they change, kept as :class:`Presence` keeps them."""

    def __init__(self, highs: Sequence[Number], lows: dict[int, Number]) -> None:
        self.highs: list[Number] = list(highs)
        self.lows: dict[int, Number] = dict(lows)
        self.more: dict[int, list[tuple[Number, Number]]] = {}
        self.changed = False

    def slice(self, start: int, stop: int) -> Sets:
        """The sets of some leaves, numbered from 0."""
        part = Sets(self.highs[start:stop], {})
        for index in range(start, stop):
            if index in self.lows:
                part.lows[index - start] = self.lows[index]
            if index in self.more:
                part.more[index - start] = self.more[index]
        return part

    def get(self, index: int) -> list[tuple[Number, Number]]:
        low, high = self.lows.get(index, NEVER), self.highs[index]
        return [*self.more.get(index, ()), (low, high)] if low < high else []

    def put(self, index: int, intervals: CutoffSet) -> None:
        self.changed = True
        self.more.pop(index, None)
        self.lows.pop(index, None)
        if not intervals:
            self.highs[index] = NEVER
            return
        low, high = intervals[-1]
        self.highs[index] = high
        if low != NEVER:
            self.lows[index] = low
        if len(intervals) > 1:
            self.more[index] = list(intervals[:-1])

    def limit_to(self, indexes: Iterable[int], allowed: CutoffSet) -> None:
        """Take leaves out at all cutoffs but the allowed ones."""
        for index in indexes:
            own = self.get(index)
            kept = intersect(own, allowed)
            if kept != own:
                self.put(index, kept)

    def presence(
        self,
        leaves: Sequence[Leaf],
        extra: Sequence[tuple[CutoffSet, int]],
        special: dict[int, Piece],
    ) -> Presence:
        """The presence of the leaves and of further costs behind them, whose pieces go into ``special``."""
        changed = self.changed
        for intervals, tokens in extra:
            self.highs.append(NEVER)
            self.put(len(self.highs) - 1, intervals)
            special[len(self.highs) - 1] = Piece("", tokens, open=True)
        self.changed = changed
        everything = [*leaves, *(CostOp(tokens) for _, tokens in extra)]
        only_text = all(isinstance(leaf, str) for leaf in everything)
        return Presence(everything, self.highs, self.lows, only_text=only_text, more=self.more)
