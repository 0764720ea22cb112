"""At which cutoffs each element is in, and so under which limits."""

from __future__ import annotations

from collections.abc import Sequence

from priompt_py.engine.explain import Explanation
from priompt_py.engine.intervals import CutoffSet, intersect, through_levels, union
from priompt_py.engine.solve import Solved
from priompt_py.model.curve import CurvePoint, LimitRange
from priompt_py.model.elements import First, Message
from priompt_py.model.ops import Entry

__all__ = ["cutoffs_of_entries", "limit_ranges"]


def cutoffs_of_entries(explanation: Explanation) -> list[CutoffSet]:
    """For each entry the cutoffs of the whole prompt at which it is in.

    Maxes, isolates and shares of limits are as the solution has them: where no limit is relative, that
    holds under every limit.
    """
    entries = explanation.recorded.entries
    sets: list[CutoffSet] = []  # in terms of the cutoff of the ops that the entry stands in
    for entry in entries:
        part = explanation.solved(entry.ops)
        own = () if part is None else _own(entry, part)
        if entry.parent >= 0 and entries[entry.parent].ops is entry.ops:
            own = intersect(own, sets[entry.parent])
        if entry.inner is not None and explanation.solved(entry.inner) is None:
            own = ()
        sets.append(own)
    _settle_firsts(entries, sets)
    isolates = {id(entry.inner): number for number, entry in enumerate(entries) if entry.inner is not None}
    for number, entry in enumerate(entries):
        isolate = isolates.get(id(entry.ops))
        if isolate is not None:  # what is around it comes first, and is settled
            part = explanation.solved(entry.ops)
            inside = part is not None and any(low < part.cutoff <= high for low, high in sets[number])
            sets[number] = sets[isolate] if inside else ()
    return sets


def _own(entry: Entry, part: Solved) -> CutoffSet:
    """The cutoffs at which an entry is in, if what is around it is."""
    own: CutoffSet = ((entry.low, entry.high),) if entry.low < entry.high else ()
    fits = part.sheet.region_fits
    if entry.kind == "max" and entry.opened is not None and fits[entry.opened] is None:
        return ()
    number = entry.region
    while number is not None and own:
        levels, region = fits[number], entry.ops.regions[number]
        around: CutoffSet = ((region.low, region.high),) if region.low < region.high else ()
        own = () if levels is None else intersect(through_levels(own, levels), around)
        number = region.parent
    if own and isinstance(entry.element, Message):  # its tool unit may be out
        own = intersect(own, part.sheet.presence.intervals(entry.start))
    return own


def _settle_firsts(entries: Sequence[Entry], sets: list[CutoffSet]) -> None:
    """A first is in where one of its alternatives is: from the inside outwards."""
    alternatives: dict[int, list[CutoffSet]] = {}
    for number in range(len(entries) - 1, -1, -1):
        if isinstance(entries[number].element, First):
            sets[number] = intersect(sets[number], union(alternatives.pop(number, ())))
        if entries[number].is_alternative:
            alternatives.setdefault(entries[number].parent, []).append(sets[number])


def limit_ranges(steps: Sequence[CurvePoint], cutoffs: CutoffSet) -> tuple[LimitRange, ...]:
    """The limits, ascending, under which something is in that is in at these cutoffs; ``steps`` are a curve's."""
    found: list[LimitRange] = []
    for number, step in enumerate(steps):
        if not any(low < step.level <= high for low, high in cutoffs):
            continue
        end = steps[number + 1].tokens if number + 1 < len(steps) else None
        start = found.pop().start if found and found[-1].end == step.tokens else step.tokens
        found.append(LimitRange(start, end))
    return tuple(found)
