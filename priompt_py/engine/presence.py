"""Which leaves are in at which cutoffs, and in what order they come in as the cutoff falls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, compress, islice, repeat
from operator import le
from typing import Any, cast

import attrs

from priompt_py.model.elements import Message, Number
from priompt_py.model.ops import FRAME_SIZE, NEVER, Leaf, Op, size_of

__all__ = ["NO_TIMELINE", "CostOp", "Presence", "Timeline"]


@attrs.define(eq=False)
class CostOp(Op):
    """A cost that belongs to no leaf alone: the start of the answer, a tool, the closing of the tools."""

    tokens: int


@attrs.frozen(eq=False)
class Timeline:
    """The comings and goings of leaves, by falling level.

    ``ins[k]`` comes in at ``in_levels[k]`` (present for cutoffs up to it), ``outs[k]`` goes out at
    ``out_levels[k]`` (absent for cutoffs up to it). Both level lists fall. ``sums[k]`` is the size of
    the first k ins together, about in characters. Not ``complete``: only the ins of the highest levels
    are there, whole levels each; the others come after them.
    """

    ins: Sequence[int]
    in_levels: Sequence[Number]
    sums: Sequence[int]
    outs: Sequence[int] = ()
    out_levels: Sequence[Number] = ()
    complete: bool = True


NO_TIMELINE = Timeline((), (), (0,))
"""For a walker that walks nowhere."""

_SAMPLED = 512  # leaves that a part of a timeline is guessed from
_BLOCK = 128  # leaves that are measured at a time
_WORTH_PARTING = 8_000  # leaves; sorting fewer costs no more than looking which to sort


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
    more: dict[int, list[tuple[Number, Number]]] = attrs.field(factory=dict[int, list[tuple[Number, Number]]])

    def intervals(self, index: int) -> list[tuple[Number, Number]]:
        """The cutoffs that a leaf is present for, ascending."""
        low, high = self.lows.get(index, NEVER), self.highs[index]
        own = [(low, high)] if low < high else []
        return [*self.more.get(index, ()), *own]

    def on_at(self, cutoff: Number) -> bytearray:
        """For each leaf 1 if a cutoff brings it in, else 0."""
        on = bytearray(map(le, repeat(cutoff), self.highs))
        for index, low in self.lows.items():
            if cutoff <= low:
                on[index] = 0
        for index in self.more:
            on[index] = any(low < cutoff <= high for low, high in self.intervals(index))
        return on

    def timeline(self, size: int | None = None) -> Timeline:
        """The order in which leaves come and go; with ``size``, perhaps only as far as that much is in."""
        highs = self.highs
        if self.lows or self.more:
            return self._with_goings()
        if size is not None and len(highs) >= _WORTH_PARTING:
            ins = self._highest(size)
            if ins is not None:
                return self._by_ins(ins, complete=False)
        ins = sorted(range(len(highs)), key=highs.__getitem__, reverse=True)
        while ins and highs[ins[-1]] == NEVER:
            ins.pop()
        if size is not None and len(ins) > _BLOCK:
            return self._up_to(size, ins)
        return self._by_ins(ins, complete=True)

    def _up_to(self, size: int, ins: list[int]) -> Timeline:
        """What comes in until ``size`` is in, to the end of a level: leaves below are not even looked at."""
        sums, end = [0], 0
        while end < len(ins) and sums[-1] <= size:
            block = ins[end : end + _BLOCK]
            end += len(block)
            sums += islice(accumulate(self._sizes(block), initial=sums[-1]), 1, None)
        levels = list(map(self.highs.__getitem__, ins[:end]))
        while end < len(ins) and self.highs[ins[end]] == levels[-1]:
            levels.append(levels[-1])
            sums.append(sums[-1] + next(iter(self._sizes(ins[end : end + 1]))))
            end += 1
        return Timeline(ins[:end], levels, sums, complete=end == len(ins))

    def _by_ins(self, ins: list[int], *, complete: bool) -> Timeline:
        levels = [self.highs[index] for index in ins]
        return Timeline(ins, levels, [0, *accumulate(self._sizes(ins))], complete=complete)

    def _sizes(self, indexes: Iterable[int]) -> Iterable[int]:
        if self.only_text:
            return map(len, map(cast("Sequence[str]", self.leaves).__getitem__, indexes))
        length: Callable[[Any], int] = (
            len  # of what is known to be a text; a cast for each would cost a tenth
        )
        return [
            length(leaf)
            if type(leaf) is str
            else FRAME_SIZE + length(leaf.children[0])
            if type(leaf) is Message and len(leaf.children) == 1
            else size_of(leaf)
            for leaf in map(self.leaves.__getitem__, indexes)
        ]

    def _highest(self, size: int) -> list[int] | None:
        """The leaves of the highest levels, in order, down to a level at which about ``size`` is in; None
        where that is most of them, or cannot be told from a sample."""
        highs = self.highs
        step = len(highs) // _SAMPLED
        sample = sorted(
            zip(highs[::step], self._sizes(range(0, len(highs), step)), strict=True),
            key=_level,
            reverse=True,
        )
        sofar = 0
        number, floor = 0, NEVER
        for number, (level, one) in enumerate(sample):
            sofar += one * step
            floor = level
            if sofar > size and number > _SAMPLED // 32:
                break
        else:
            return None
        if number > len(sample) // 3 or floor == NEVER:
            return None
        chosen = list(compress(range(len(highs)), map(le, repeat(floor), highs)))
        if len(chosen) * 2 > len(highs) or sum(self._sizes(chosen)) * 3 < size * 2:
            return None
        chosen.sort(key=highs.__getitem__, reverse=True)
        return chosen

    def _with_goings(self) -> Timeline:
        comings: list[tuple[Number, int]] = []
        goings: list[tuple[Number, int]] = []
        lows, more = self.lows, self.more
        for index, high in enumerate(self.highs):
            if index in more:
                for low, top in self.intervals(index):
                    comings.append((top, index))
                    if low != NEVER:
                        goings.append((low, index))
                continue
            floor = lows.get(index)
            if floor is None:
                if high != NEVER:
                    comings.append((high, index))
            elif floor < high:
                comings.append((high, index))
                goings.append((floor, index))
        comings.sort(key=_level, reverse=True)
        goings.sort(key=_level, reverse=True)
        ins = [index for _, index in comings]
        return Timeline(
            ins,
            [level for level, _ in comings],
            [0, *accumulate(self._sizes(ins))],
            [index for _, index in goings],
            [level for level, _ in goings],
        )


def _level(event: tuple[Number, int]) -> Number:
    return event[0]
