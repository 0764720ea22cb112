"""A cutoff with memory: which cutoff is taken where an earlier one is remembered.

With a limit T, K = ⌊keep·T⌋ and R = ⌊refill·T⌋ it is the first of these that applies: the lowest level, if everything
fits T; the remembered cutoff, if its prompt fits T and needs more than R; the smallest level whose prompt fits K; the
smallest level whose prompt fits T. So the cut moves rarely, and then far enough to have room for some turns. The same
rules hold for the content of each max outside isolates, with its own limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from priompt_py.model.elements import Number
from priompt_py.model.memory import Memory

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Recall"]


@attrs.define(eq=False)
class Recall:
    """What is remembered while one prompt is solved, and what is to be remembered of it.

    ``previous`` None: the usual search for what fits exactly; what comes out is noted all the same. ``shares`` are
    keep and refill.
    """

    previous: Memory | None = None
    shares: tuple[Fraction, Fraction] | None = None
    cutoff: Number | None = None
    maxes: dict[str, Number] = attrs.field(factory=dict[str, Number])

    def memory(self) -> Memory:
        """What the next render may be given."""
        return Memory(cutoff=self.cutoff, maxes=self.maxes)

    def kept(self, limit: int) -> int:
        """K: the tokens that a prompt has at most after its cut moved."""
        assert self.shares is not None  # something is remembered
        return int(self.shares[0] * limit)

    def stays(self, tokens: int, limit: int) -> bool:
        """Whether a remembered cutoff stays, with so many tokens."""
        assert self.shares is not None
        return int(self.shares[1] * limit) < tokens <= limit

    def foreign(self, levels: Sequence[Number]) -> frozenset[Number]:
        """Remembered cutoffs of maxes that are none of the declared ``levels``."""
        return frozenset(self.maxes.values()).difference(levels) if self.maxes else frozenset()

    def remembered(self, path: str) -> Number | None:
        """The remembered cutoff of a max."""
        return None if self.previous is None else self.previous.maxes.get(path)

    def max_levels(
        self, path: str, fitting: Sequence[tuple[Number, int]], at_remembered: int | None, limit: int
    ) -> list[Number]:
        """The levels that a max may be taken at, ascending, not everything in it being within its limit.

        ``fitting`` are the ascending levels that fit, each with its tokens; ``at_remembered`` the tokens at the
        remembered cutoff, if there is one.
        """
        levels = [level for level, _ in fitting]
        remembered = self.remembered(path)
        if remembered is not None and at_remembered is not None and self.stays(at_remembered, limit):
            self.maxes[path] = remembered
            return [remembered, *(level for level in levels if level > remembered)]
        lowest = levels[0]
        if self.previous is not None:
            most = self.kept(limit)
            lowest = next((level for level, tokens in fitting if tokens <= most), lowest)
        self.maxes[path] = lowest
        return [level for level in levels if level >= lowest]
