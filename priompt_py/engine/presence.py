"""Which leaves are in at which cutoffs, and in what order they come in as the cutoff falls."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from priompt_py.model.elements import Number
from priompt_py.model.ops import NEVER, Leaf, Op

__all__ = ["CostOp", "Presence", "Timeline"]


@attrs.define(eq=False)
class CostOp(Op):
    """A cost that belongs to no leaf alone: the start of the answer, a tool, the closing of the tools."""

    tokens: int


@attrs.define(eq=False)
class Timeline:
    """The comings and goings of leaves, by falling level.

    ``ins[k]`` comes in at ``in_levels[k]`` (present for cutoffs up to it), ``outs[k]`` goes out at
    ``out_levels[k]`` (absent for cutoffs up to it). Both level lists fall.
    """

    ins: list[int]
    in_levels: list[Number]
    outs: list[int]
    out_levels: list[Number]


@attrs.define(eq=False)
class Presence:
    """Leaves in document order and the cutoffs that each is present for.

    ``highs[i]`` and ``lows.get(i)`` are the ends of a leaf's interval (see :mod:`priompt_py.model.ops`);
    ``more`` holds further intervals of leaves that are in at several. A leaf that no cutoff brings
    in has the high end ``NEVER``. ``only_text``: no leaf is an op.
    """

    leaves: Sequence[Leaf]
    highs: Sequence[Number]
    lows: dict[int, Number]
    only_text: bool
    more: dict[int, list[tuple[Number, Number]]] = attrs.field(factory=dict)

    def intervals(self, index: int) -> list[tuple[Number, Number]]:
        """The cutoffs that a leaf is present for, ascending."""
        low, high = self.lows.get(index, NEVER), self.highs[index]
        own = [(low, high)] if low < high else []
        return [*own, *self.more.get(index, ())]

    def timeline(self) -> Timeline:
        """The order in which leaves come and go."""
        highs = self.highs
        ins = sorted(range(len(highs)), key=highs.__getitem__, reverse=True)
        if not self.lows and not self.more:
            while ins and highs[ins[-1]] == NEVER:
                ins.pop()
            return Timeline(ins, [highs[index] for index in ins], [], [])
        comings: list[tuple[Number, int]] = []
        goings: list[tuple[Number, int]] = []
        for index in range(len(highs)):
            for low, high in self.intervals(index):
                comings.append((high, index))
                if low != NEVER:
                    goings.append((low, index))
        comings.sort(key=_level, reverse=True)
        goings.sort(key=_level, reverse=True)
        return Timeline(
            [index for _, index in comings],
            [level for level, _ in comings],
            [index for _, index in goings],
            [level for level, _ in goings],
        )


def _level(event: tuple[Number, int]) -> Number:
    return event[0]
