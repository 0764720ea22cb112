"""Sets of cutoffs as disjoint half-open intervals ``low < cutoff <= high``, ascending."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from priompt_py.model.elements import Number
from priompt_py.model.ops import NEVER

__all__ = ["CutoffSet", "intersect", "through_levels", "union"]

CutoffSet: TypeAlias = Sequence[tuple[Number, Number]]


def union(sets: Iterable[CutoffSet]) -> list[tuple[Number, Number]]:
    """The cutoffs in any of the sets."""
    merged: list[tuple[Number, Number]] = []
    for low, high in sorted(pair for one in sets for pair in one):
        if low >= high:
            continue
        if merged and low <= merged[-1][1]:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged


def intersect(a: CutoffSet, b: CutoffSet) -> list[tuple[Number, Number]]:
    """The cutoffs in both sets."""
    common: list[tuple[Number, Number]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < high:
            common.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return common


def through_levels(inside: CutoffSet, levels: Sequence[Number]) -> list[tuple[Number, Number]]:
    """The cutoffs c whose level is in ``inside``, the level of c being the least of the ascending
    ``levels`` that is at least c."""
    outside: list[tuple[Number, Number]] = []
    for low, high in inside:
        first, after = bisect_right(levels, low), bisect_right(levels, high)
        if first < after:
            outside.append((levels[first - 1] if first else NEVER, levels[after - 1]))
    return outside
