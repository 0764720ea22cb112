"""The search for the smallest level that fits: numbers in, a level out.

Two searches give the same answer. Where leaves only come in as the level falls, a guess by sizes is
measured once, and the rest is walked exactly; the walk goes on below the answer until it is proven
that no lower level can fit. Where leaves also go out (``first``, tool units), lower bounds of every
level are summed up first, and every level that they leave open is counted, from the lowest up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from operator import neg
from typing import cast

from priompt_py.engine.pricing import USUAL_CHARS
from priompt_py.engine.walker import Walker
from priompt_py.model.elements import BASE_PRIORITY, Message, Number
from priompt_py.model.ops import text_of

__all__ = ["smallest_fit"]

_SAMPLE_CHARS = 1_500
_MARGIN = 1.02  # the first guess aims a little above the limit, so that the walk is mostly upwards
_NEAR = 10  # a guess further off than one such part of the limit is made again with what was learnt
_STEP_COST = 60  # characters that could be counted at once in the time of one step
_BIG_GROUP = 24  # leaves of one level that are bounded before they are walked


_negative = cast("Callable[[object], int]", neg)
"""The key by which falling levels rise, for bisection; numbers of any size and kind, whatever its type says."""


def _times(limit: int, ratio: float) -> int:
    """A limit by a ratio, rounded; limits may be greater than any float."""
    return limit * round(ratio * 1_024) // 1_024


def smallest_fit(walker: Walker) -> Number | None:
    """The lowest level of change at which the prompt fits, and the walker placed there, its ``total``
    exact. None if no level fits; the walker is then anywhere."""
    if walker.timeline.outs:
        return _by_bounds(walker)
    return _Monotone(walker).search()


class _Monotone:
    """The search where leaves only come in. Positions are numbers of leaves that are in, at the end
    of a level each."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.limit = walker.limit
        self.base = bisect_right(walker.timeline.in_levels, -BASE_PRIORITY, key=_negative)
        self.read()

    def read(self) -> None:
        """Take the walker's timeline up."""
        line = self.walker.timeline
        self.ins, self.levels, self.sums = line.ins, line.in_levels, line.sums

    def extend(self) -> None:
        """Let the rest of a timeline follow; positions stay what they are."""
        self.walker.timeline = self.walker.presence.timeline()
        self.read()

    def is_bottom(self, position: int) -> bool:
        """Whether everything is in at a position."""
        if position == len(self.ins) and not self.walker.timeline.complete:
            self.extend()
        return position == len(self.ins)

    def level(self, position: int) -> Number:
        return self.levels[position - 1] if position > self.base else BASE_PRIORITY

    def lower(self, position: int) -> int:
        """The next lower level's position."""
        level = self.levels[position]
        end = position + 1
        count = len(self.levels)
        while end < count and self.levels[end] == level:
            end += 1
        return end

    def higher(self, position: int) -> int:
        """The next higher level's position."""
        level = self.levels[position - 1]
        start = position - 1
        while start > self.base and self.levels[start - 1] == level:
            start -= 1
        return start

    def guess(self, ratio: float) -> int:
        """The last position whose size comes to about the limit."""
        if self.sums[-1] <= _times(self.limit, ratio) and not self.walker.timeline.complete:
            self.extend()
        position = bisect_right(self.sums, _times(self.limit, ratio)) - 1
        position = max(self.base, min(position, len(self.ins)))
        if position in (self.base, len(self.ins)) or self.levels[position - 1] != self.levels[position]:
            return position
        return self.higher(position + 1)

    def measure(self, position: int) -> int:
        self.walker.place(self.level(position))
        return self.walker.recount()

    def search(self) -> Number | None:
        position = self.start()
        best = self.down(position)
        if best is None:
            best = self.up(position)
        if best is None:
            return None
        at, total = best
        self.walker.place(self.level(at))
        self.walker.total = total
        self.walker.capped = 0
        return self.level(at)

    def start(self) -> int:
        """A position near the limit, its prompt counted."""
        walker, everything = self.walker, self.sums[-1]
        ratio = self.sample() if everything > 2 * _SAMPLE_CHARS else everything / max(1, self.limit)
        if walker.timeline.complete and (
            everything <= _times(self.limit, ratio * _MARGIN) or everything <= 2 * _SAMPLE_CHARS
        ):
            position = len(self.ins)
            if self.measure(position) <= self.limit and not walker.capped:
                return position
        else:
            position = self.guess(ratio * _MARGIN)
            self.measure(position)
        for _ in range(4):
            total = walker.total
            if abs(total - self.limit) * _NEAR <= self.limit or total == 0 or walker.capped:
                break
            again = self.guess(self.sums[position] / total * _MARGIN)
            steps = abs(again - position)
            if steps * _STEP_COST < self.sums[again] or again == position:
                break
            position = again
            self.measure(position)
        return position

    def sample(self) -> float:
        """Characters a token, from some of the leaves that come in first."""
        count, leaves = self.walker.pricing.count, self.walker.presence.leaves
        end = max(1, bisect_left(self.sums, _times(self.limit, USUAL_CHARS)))
        step = max(1, end // 24)
        chars = tokens = 0
        for index in self.ins[0:end:step]:
            leaf = leaves[index]
            if isinstance(leaf, Message):
                leaf = text_of(leaf)
            if isinstance(leaf, str):
                text = leaf[:400]
                chars += len(text)
                tokens += count(text)
                if chars > _SAMPLE_CHARS:
                    break
        return chars / tokens if tokens else USUAL_CHARS

    def down(self, position: int) -> tuple[int, int] | None:
        """Walk down until no lower level can fit; the lowest position that fits, and its count."""
        walker, limit = self.walker, self.limit
        best: tuple[int, int] | None = None
        next_proof = limit
        while True:
            if walker.fits:
                best = (position, walker.total)
            elif walker.capped:
                break  # a leaf that is above the limit alone stays in at all lower levels
            elif walker.total > next_proof:
                loss = walker.loss()
                if walker.total - loss > limit:
                    break
                next_proof = max(walker.total, min(limit + loss, walker.total + loss // 2))
            if self.is_bottom(position) or self.too_many_bytes(position):
                break
            after = self.lower(position)
            if after - position >= _BIG_GROUP and self.group_is_over(position, after):
                break
            self.move(position, after)
            position = after
        return best

    def up(self, position: int) -> tuple[int, int] | None:
        """Walk up from a position that does not fit to the first one that does."""
        walker = self.walker
        if walker.in_at != position:
            # Back from the walk down: what was counted there is remembered, or counted once more.
            self.move(walker.in_at, position)
        while not walker.fits:
            if position == self.base:
                return None
            before = self.higher(position)
            self.move(position, before)
            position = before
        return position, walker.total

    def move(self, position: int, to: int) -> None:
        """Go from one position to another by whichever is quicker: steps, or one count of all."""
        if abs(to - position) * _STEP_COST > self.sums[to] + len(self.walker.on) // 4:
            self.measure(to)
            self.walker.capped = 0
        else:
            self.walker.go(self.level(to))

    def too_many_bytes(self, position: int) -> bool:
        """Whether the next level has more text than the limit's tokens can hold."""
        most = self.walker.pricing.most_bytes
        if most is None or not self.walker.presence.only_text:
            return False
        return self.sums[self.lower(position)] > self.limit * most

    def group_is_over(self, position: int, after: int) -> bool:
        """Whether what the next level brings in is above the limit by its own cores alone."""
        total = 0
        for index in self.ins[position:after]:
            total += self.walker.core(index)
            if total > self.limit:
                return True
        return False


def _by_bounds(walker: Walker) -> Number | None:
    """The search where leaves also go out: from the lowest level that is not ruled out upwards.

    What stays in for good once it came in rules out all levels at which it alone is over the limit.
    Going up from there, a level is counted only if the cores of what is in would fit.
    """
    walker.know_lefts()
    line, limit = walker.timeline, walker.limit
    ins, in_levels, outs, out_levels = (
        line.ins,
        line.in_levels,
        line.outs,
        line.out_levels,
    )
    levels = sorted({*in_levels, *out_levels, BASE_PRIORITY}, reverse=True)
    last = min(_last_by_bytes(walker, levels), _last_by_lasting(walker, levels))
    if last < 0:
        return None
    walker.place(levels[last])
    most = walker.pricing.most_bytes
    cores = open_chars = 0
    piece_of, core_of = walker.piece, walker.core
    for index in walker.included(range(len(walker.on))):
        piece = piece_of(index)
        cores += core_of(index)
        if piece.open:
            open_chars += len(piece.head)
    in_at, out_at = walker.in_at, walker.out_at
    counted = False
    for number in range(last, -1, -1):
        level = levels[number]
        # Undo what happened below this level.
        while out_at and out_levels[out_at - 1] < level:
            out_at -= 1
            piece = piece_of(outs[out_at])
            cores += core_of(outs[out_at])
            if piece.open:
                open_chars += len(piece.head)
        while in_at and in_levels[in_at - 1] < level:
            in_at -= 1
            piece = piece_of(ins[in_at])
            cores -= core_of(ins[in_at])
            if piece.open:
                open_chars -= len(piece.head)
        if cores + (-(-open_chars // most) if most else 0) > limit:
            continue
        if counted and _changes(walker, level) * _STEP_COST < 4 * limit:
            walker.go(level)
        else:
            walker.place(level)
            walker.sum_up()
            counted = True
        if walker.fits:
            return level
    return None


def _last_by_lasting(walker: Walker, levels: Sequence[Number]) -> int:
    """The number of the lowest level that is not ruled out by the leaves that stay in for good; -1 if none."""
    line, limit = walker.timeline, walker.limit + walker.owed
    most = walker.pricing.most_bytes
    temporary = set(line.outs)
    cores = open_chars = 0
    for index, level in zip(line.ins, line.in_levels, strict=True):
        if index in temporary:
            continue
        cores += walker.core(index)
        piece = walker.piece(index)
        if piece.open:
            open_chars += len(piece.head)
        if cores + (-(-open_chars // most) if most else 0) > limit:
            return bisect_left(levels, -level, key=_negative) - 1
    return len(levels) - 1


def _last_by_bytes(walker: Walker, levels: Sequence[Number]) -> int:
    """The number of the lowest level whose text the limit's tokens could hold; -1 if there is none."""
    most = walker.pricing.most_bytes
    line, leaves = walker.timeline, walker.presence.leaves
    if most is None or line.sums[-1] <= walker.limit * most:
        return len(levels) - 1
    last, chars, in_at, out_at = -1, 0, 0, 0
    for number, level in enumerate(levels):
        while in_at < len(line.ins) and line.in_levels[in_at] >= level:
            leaf = leaves[line.ins[in_at]]
            in_at += 1
            if isinstance(leaf, str):
                chars += len(leaf)
        while out_at < len(line.outs) and line.out_levels[out_at] >= level:
            leaf = leaves[line.outs[out_at]]
            out_at += 1
            if isinstance(leaf, str):
                chars -= len(leaf)
        if chars <= walker.limit * most:
            last = number
    return last


def _changes(walker: Walker, level: Number) -> int:
    """How many leaves come or go between the walker's level and another one."""
    line = walker.timeline
    ins = bisect_right(line.in_levels, -level, key=_negative)
    outs = bisect_right(line.out_levels, -level, key=_negative)
    return abs(ins - walker.in_at) + abs(outs - walker.out_at)
