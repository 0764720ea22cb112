"""Where the compiler is, and what it writes down: leaves, levels, and entries where they are recorded."""

from __future__ import annotations

import math

from priompt_py.engine.frames import Frame
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import Child, Element, Number
from priompt_py.model.ops import NEVER, Choices, Entry, IsolateOp, Leaf, Ops, ToolOp

__all__ = ["Recorder"]


class Recorder:
    """The ops that are being written, and the frames that lead to the child that was taken last."""

    def __init__(self, *, record: bool) -> None:
        self.recording = record
        self.ops = Ops()
        self.entries: list[Entry] = []
        self.frames: list[Frame] = []
        self.region: int | None = None

    def path(self) -> str:
        """The path of the child that was taken last, ``root > 2:user > 0:scope[name=docs]``."""
        return " > ".join(["root", *(frame.step for frame in self.frames)])

    def path_if_recording(self) -> str:
        """The path where entries are recorded, else nothing: a path costs more than most elements."""
        return self.path() if self.recording else ""

    def choices(self) -> Choices:
        """The firsts around the child that was taken last, and the alternative of each that it stands in."""
        return tuple((frame.serial, frame.at) for frame in self.frames if frame.choosing)

    def levels(self) -> list[Number]:
        """Where declared priorities are noted: the region's list, else the ops'."""
        return self.ops.levels if self.region is None else self.ops.regions[self.region].levels

    def declared(self, element: Element, parent: Number) -> Number:
        """An element's declared priority. Raises ArgumentValueError where the sum overflows."""
        if element.p is not None:
            return element.p
        if element.prel is None:
            return parent
        try:
            total = parent + element.prel
        except OverflowError:  # an int beyond floats plus a float
            total = math.inf
        if type(total) is float and not math.isfinite(total):
            raise ArgumentValueError(
                f"{self.path()}: the priority overflows: prel={element.prel!r} on a parent of {parent!r}"
            )
        return total

    def leaf(self, leaf: Leaf, high: Number, low: Number) -> None:
        """Add a leaf that some cutoff can bring in (an isolate always: its own limit is checked)."""
        if low >= high and not isinstance(leaf, IsolateOp):
            return
        ops = self.ops
        index = len(ops.leaves)
        ops.leaves.append(leaf)
        ops.highs.append(high)
        if low != NEVER:
            ops.lows[index] = low
        if type(leaf) is not str:
            ops.only_text = False
            if isinstance(leaf, IsolateOp):
                ops.isolates.append(index)
            elif isinstance(leaf, ToolOp):
                ops.tools.append(index)

    def note(
        self,
        child: Child,
        frame: Frame,
        kind: str,
        priority: Number,
        high: Number,
        low: Number,
    ) -> int:
        """Record the child that was taken last from a frame; gives the entry's index, -1 when not recording."""
        if not self.recording:
            return -1
        start = len(self.ops.leaves)
        self.entries.append(
            Entry(
                segment=frame.step,
                parent=frame.entry,
                kind=kind,
                label=child.label if isinstance(child, Element) else None,
                priority=priority,
                low=low,
                high=high,
                region=self.region,
                ops=self.ops,
                start=start,
                end=start,
                element=child,
                is_alternative=frame.choosing,
            )
        )
        return len(self.entries) - 1

    def end_note(self, entry: int) -> None:
        """Note where the leaves of an entry end."""
        if entry >= 0:
            self.entries[entry].end = len(self.entries[entry].ops.leaves)
