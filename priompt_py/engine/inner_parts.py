"""What a visit of a solved tree asks about isolates, maxes and tool units, by the element it is at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from priompt_py.engine.solve import Solution, Solved
from priompt_py.model.elements import BASE_PRIORITY, Element, Isolate, Max, Message, Number
from priompt_py.model.ops import IsolateOp, MaxRegion, Ops
from priompt_py.model.place import Spot, path_of

__all__ = ["Part", "parts_of"]


class Part:
    """The prompt, or the inside of an isolate, at the cutoff that was found for it.

    ``is_in`` False: it counts as out, and its cutoff means nothing.
    """

    __slots__ = ("_isolates", "_maxes", "_ops", "_paired", "_parts", "_solved", "_units", "cutoff", "is_in")

    def __init__(self, ops: Ops, solved: Solved | None, parts: dict[int, Part], *, paired: bool) -> None:
        self.is_in = solved is not None
        self.cutoff: Number = BASE_PRIORITY if solved is None else solved.cutoff
        self._solved = solved
        self._ops = ops
        self._parts = parts  # all of them, by the identity of their ops
        self._paired = paired
        self._isolates: _Occurrences | None = None
        self._maxes: _Occurrences | None = None
        self._units: set[int] | None = None

    def isolate(self, element: Isolate, spot: Spot) -> Part:
        """The inside of an isolate that stands in this part."""
        if self._isolates is None:
            leaves = [self._ops.leaves[index] for index in self._ops.isolates]
            self._isolates = _Occurrences([leaf for leaf in leaves if isinstance(leaf, IsolateOp)])
        found = self._isolates.find(element, spot)
        assert isinstance(found, IsolateOp)
        return self._parts[id(found.ops)]

    def level(self, element: Max, spot: Spot, around: Number) -> Number | None:
        """The level that a max takes its content at, ``around`` being that of what is around it; None: it is out."""
        if self._maxes is None:
            self._maxes = _Occurrences(self._ops.regions)
        assert self._solved is not None  # nobody visits what is out
        fits = self._solved.sheet.region_fits[self._maxes.number(element, spot)]
        return None if fits is None else fits[bisect_left(fits, around)]

    def is_unpaired(self, message: Message) -> bool:
        """Whether a message of a tool unit, in by all the priorities around it, is out with its unit.

        A message that stands in several places stands in alternatives, of which one can be in.
        """
        if not self._paired:
            return False
        if self._units is None:
            assert self._solved is not None
            on = self._solved.on
            self._units = {id(unit.message) for unit in self._ops.units if unit.present and on[unit.start]}
        return id(message) not in self._units


class _Occurrences:
    """What elements became in the compiled form: found by the element, or by its path where it stands in several
    places."""

    __slots__ = ("_by_path", "_numbers", "_things")

    def __init__(self, things: Sequence[IsolateOp | MaxRegion]) -> None:
        self._things = things
        self._by_path: dict[str, int] = {}
        self._numbers: dict[int, int] = {}  # -1: several
        for number, thing in enumerate(things):
            known = self._numbers.setdefault(id(thing.element), number)
            if known != number:
                self._numbers[id(thing.element)] = -1

    def number(self, element: Element, spot: Spot) -> int:
        """Which of the things the element at a spot became."""
        number = self._numbers[id(element)]
        if number >= 0:
            return number
        if not self._by_path:
            self._by_path = {thing.path: at for at, thing in enumerate(self._things)}
        return self._by_path[path_of(spot)]

    def find(self, element: Element, spot: Spot) -> IsolateOp | MaxRegion:
        """The thing that the element at a spot became."""
        return self._things[self.number(element, spot)]


def parts_of(root: Ops, solution: Solution, *, pair_tools: bool) -> Part:
    """The prompt as a part, from which the others are found."""
    parts: dict[int, Part] = {}
    for ops, solved in zip(root.nested(), solution.parts, strict=True):
        parts[id(ops)] = Part(ops, solved, parts, paired=pair_tools)
    return parts[id(root)]
