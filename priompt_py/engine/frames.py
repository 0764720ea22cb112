"""What the compiler holds while it walks: a frame for each element whose children it is at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import length_hint

import attrs

from priompt_py.model.elements import Child, Element, Number
from priompt_py.model.ops import NEVER, Ops, UnitRecord
from priompt_py.model.place import segment

__all__ = ["Frame", "Outer"]


@attrs.define(eq=False)
class Outer:
    """What an isolate or a max goes back to when it ends."""

    high: Number
    low: Number
    ops: Ops
    region: int | None


class Frame:
    """An element whose children are being walked.

    ``declared``, ``high`` and ``low`` hold for the children; where no cutoff can bring anything in,
    ``low`` is not below ``high``. In a first (``choosing``), ``floor`` is the highest priority among the
    alternatives met so far, ``serial`` its number in the tree, and ``rank`` (fallbacks only) what the
    next alternative adds to ``declared``. ``entry`` is what was recorded of the element, -1 if nothing.
    """

    __slots__ = (
        "children",
        "choosing",
        "declared",
        "element",
        "entry",
        "first_leaf",
        "floor",
        "high",
        "iterator",
        "low",
        "outer",
        "rank",
        "serial",
        "unit",
    )

    def __init__(
        self,
        element: Element | None,
        children: Sequence[Child],
        declared: Number,
        high: Number,
        low: Number,
        entry: int = -1,
    ) -> None:
        self.element = element
        self.children = children
        self.iterator: Iterator[Child] = iter(children)
        self.declared = declared
        self.high = high
        self.low = low
        self.entry = entry
        self.choosing = False
        self.floor: Number = NEVER
        self.serial = 0
        self.rank: int | None = None
        self.unit: UnitRecord | None = None
        self.first_leaf = 0
        self.outer: Outer | None = None

    def choose(self, serial: int, *, rank: int | None = None) -> None:
        """Make the children alternatives of the first with this number."""
        self.choosing = True
        self.floor = self.low
        self.serial = serial
        self.rank = rank

    @property
    def at(self) -> int:
        """The index of the child that was taken last."""
        return len(self.children) - length_hint(self.iterator) - 1

    @property
    def step(self) -> str:
        """The child that was taken last, as a step of a path."""
        index = self.at
        return segment(index, self.children[index])
