"""What a solved prompt costs at each of its levels: one walk from the highest level to the lowest."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from priompt_py.engine.pricing import Pricing
from priompt_py.engine.sheet import Sheet
from priompt_py.engine.solve import Solution
from priompt_py.engine.walker import Walker
from priompt_py.model.curve import CurvePoint
from priompt_py.model.elements import BASE_PRIORITY, Number
from priompt_py.model.ops import NEVER, Compiled, IsolateOp, ReserveOp

__all__ = ["curve_levels", "curve_points"]


def curve_levels(solution: Solution) -> list[Number]:
    """The levels of the prompt, falling from the base: its declared priorities outside isolates."""
    sheet = _sheet(solution)
    found = {min(level, BASE_PRIORITY) for level in (*sheet.levels, *sheet.presence.highs) if level != NEVER}
    found.add(BASE_PRIORITY)
    return sorted(found, reverse=True)


def curve_points(compiled: Compiled, solution: Solution, pricing: Pricing) -> Iterator[CurvePoint]:
    """The exact cost at each level, from the base down; ``compiled`` is what was solved.

    Isolates, maxes and shares of limits are as the solution has them. A step costs a few words of tokenising
    where the tokenizer has safe cuts, else one whole count.
    """
    sheet = _sheet(solution)
    walker = Walker(sheet.presence, sheet.presence.timeline(), sheet.special, pricing, sys.maxsize)
    walker.place(BASE_PRIORITY)
    walker.recount()
    reserved, changes = 0, _reserve_changes(sheet, _reserves(compiled, solution, pricing))
    for level in curve_levels(solution):
        walker.go(level)
        while changes and changes[-1][0] >= level:
            reserved += changes.pop()[1]
        yield CurvePoint(level, walker.total, reserved)


def _sheet(solution: Solution) -> Sheet:
    part = solution.parts[0]
    assert part is not None  # the prompt itself was solved
    return part.sheet


def _reserves(compiled: Compiled, solution: Solution, pricing: Pricing) -> dict[int, int]:
    """What leaves of the root's ops keep free, isolates with what is in of theirs; by leaf."""
    inside: dict[int, int] = {}
    own: dict[int, int] = {}
    nested = list(zip(compiled.ops.nested(), solution.parts, strict=True))
    for ops, part in reversed(nested):  # isolates before what is around them
        own = {}
        for index, leaf in enumerate(ops.leaves):
            if isinstance(leaf, ReserveOp):
                own[index] = pricing.cost(leaf)
            elif isinstance(leaf, IsolateOp):
                own[index] = inside[id(leaf.ops)]
        inside[id(ops)] = 0 if part is None else sum(own[index] for index in own if part.on[index])
    return own


def _reserve_changes(sheet: Sheet, reserves: dict[int, int]) -> list[tuple[Number, int]]:
    """At which levels what is reserved changes, rising, and by how many tokens."""
    changes: list[tuple[Number, int]] = []
    for index, tokens in reserves.items():
        for low, high in sheet.presence.intervals(index):
            changes.append((high, tokens))
            if low != NEVER:
                changes.append((low, -tokens))
    return sorted(changes, key=_level)


def _level(change: tuple[Number, int]) -> Number:
    return change[0]
