"""Maxes: the levels at which the content of each fits its ceiling, and what that means for the leaves inside.

Innermost first, each max's levels that fit are found, and the intervals inside, which hold for the level that the max is
taken at, are carried through them to the level of what is around.
"""

from __future__ import annotations

from collections.abc import Sequence

from priompt_py.engine.closed import Closed, OverLimit, TooBig
from priompt_py.engine.costs import tool_costs
from priompt_py.engine.cutoff import smallest_fit
from priompt_py.engine.cutoff_sets import Sets
from priompt_py.engine.intervals import CutoffSet, intersect, through_levels
from priompt_py.engine.pricing import Piece, Pricing
from priompt_py.engine.recall import Recall
from priompt_py.engine.walker import Walker
from priompt_py.errors import TokenizerError
from priompt_py.model.elements import BASE_PRIORITY, Number
from priompt_py.model.ops import NEVER, MaxRegion, Ops, ReserveOp

__all__ = ["carry_regions", "innermost_region", "is_required", "next_change"]


def carry_regions(
    ops: Ops,
    sets: Sets,
    special: dict[int, Piece],
    pricing: Pricing,
    limits: Sequence[int],
    closed: dict[int, Closed],
    recall: Recall | None,
) -> list[list[Number] | None]:
    """Take each max, innermost first, at the level that fits its ceiling."""
    fits: list[list[Number] | None] = [None] * len(ops.regions)
    late: list[tuple[MaxRegion, TooBig]] = []
    inside: dict[int, list[Number]] = {}
    for number in range(len(ops.regions) - 1, -1, -1):
        region = ops.regions[number]
        levels = _levels_inside(ops, number, inside)
        found = _fitting_levels(ops, number, sets, special, pricing, closed, levels, limits[number], recall)
        if isinstance(found, TooBig):
            if found.fixed:
                raise OverLimit(found)
            late.append((region, found))
            for index in range(region.start, region.end):
                sets.put(index, ())
            continue
        fits[number] = found
        outer: CutoffSet = [(region.low, region.high)] if region.low < region.high else []
        for index in range(region.start, region.end):
            sets.put(index, intersect(through_levels(sets.get(index), found), outer))
    for region, too_big in late:
        if is_required(ops, region.low, region.high, region.parent, fits):
            raise OverLimit(too_big)
    return fits


def innermost_region(ops: Ops, index: int) -> int | None:
    """The number of the innermost max around a leaf."""
    around = None
    for number, region in enumerate(ops.regions):
        if region.start <= index < region.end:
            around = number
    return around


def is_required(
    ops: Ops,
    low: Number,
    high: Number,
    region: int | None,
    fits: Sequence[Sequence[Number] | None],
) -> bool:
    """Whether what has this interval within this max is in when the cutoff is the base."""
    while low < BASE_PRIORITY <= high:
        if region is None:
            return True
        if fits[region] is None:
            return False
        around = ops.regions[region]
        low, high, region = around.low, around.high, around.parent
    return False


def _levels_inside(ops: Ops, number: int, inner: dict[int, list[Number]]) -> list[Number]:
    """The declared priorities of the scopes inside a max, and the base: ascending, none above the base.

    ``inner`` holds what was found for the maxes directly inside, and takes this one's.
    """
    region = ops.regions[number]
    levels: set[Number] = {
        BASE_PRIORITY,
        *ops.highs[region.start : region.end],
        *region.levels,
    }
    levels.update(inner.pop(number, ()))
    found = sorted({min(level, BASE_PRIORITY) for level in levels if level != NEVER})
    if region.parent is not None:
        inner.setdefault(region.parent, []).extend(found)
    return found


def _fitting_levels(
    ops: Ops,
    number: int,
    sets: Sets,
    special: dict[int, Piece],
    pricing: Pricing,
    closed: dict[int, Closed],
    levels: Sequence[Number],
    limit: int,
    recall: Recall | None,
) -> list[Number] | TooBig:
    """The ascending levels at which the content of a max costs at most its ceiling, counted alone; with memory,
    those of them that it may be taken at."""
    region = ops.regions[number]
    start, stop = region.start, region.end
    leaves = ops.leaves[start:stop]
    part = sets.slice(start, stop)
    pieces = {index - start: special[index] for index in range(start, stop) if index in special}
    moved = {index - start: closed[index] for index in range(start, stop) if index in closed}
    tools = [index - start for index in ops.tools if start <= index < stop]
    extra = tool_costs(tools, leaves, part, moved, pricing)
    presence = part.presence(leaves, extra, pieces)
    walker = Walker(presence, presence.timeline(), pieces, pricing, limit)
    walker.place(BASE_PRIORITY)
    base = walker.recount()
    if base > limit:
        reserved = sum(
            pricing.cost(leaf)
            for leaf, on in zip(leaves, walker.on, strict=False)
            if on and isinstance(leaf, ReserveOp)
        )
        return TooBig(
            region.path,
            base - reserved,
            reserved,
            limit,
            fixed=not isinstance(region.limit, str),
        )
    lowest = smallest_fit(walker)
    if lowest is None:  # the base fits, counted as a whole
        raise TokenizerError(
            f"the counts of {pricing.tokenizer.name!r} don't add up at the places that its safe_cuts name; "
            "declare fewer of them, or none"
        )
    # Levels below show what the lowest fitting one shows until something changes; then none fits.
    fitting: list[tuple[Number, int]] = []
    floor = next_change(walker)
    for level in levels:
        if floor is not None and level <= floor:
            continue
        if level > lowest:
            walker.go(level)
        if walker.fits:
            fitting.append((level, walker.total))
    if recall is None or floor is None:  # a max that everything is in of remembers nothing
        return [level for level, _ in fitting]
    at_remembered: int | None = None
    remembered = recall.remembered(region.path)
    if remembered is not None:
        walker.place_at(remembered)
        walker.recount(walker.most)
        at_remembered = walker.total if walker.fits else None
    return recall.max_levels(region.path, fitting, at_remembered, limit)


def next_change(walker: Walker) -> Number | None:
    """The highest level below the walker's at which something changes; None at the bottom."""
    line = walker.timeline
    below = [
        levels[at]
        for levels, at in (
            (line.in_levels, walker.in_at),
            (line.out_levels, walker.out_at),
        )
        if at < len(levels)
    ]
    return max(below) if below else None
