"""One walk from an element tree to flat ops: the only code that dispatches on element kinds.

The walk is iterative, so depth costs nothing, and every leaf gets the interval of cutoffs that it is
present for: its high end is the least priority on the way down, its low end the highest priority
among the earlier alternatives of the firsts above it. The inside of a max or an isolate starts
afresh, since it is taken at a level of its own; :mod:`priompt_py.engine.sheet` brings them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import length_hint
from typing import TYPE_CHECKING

import attrs

from priompt_py.engine.expand import MAX_COMPONENT_DEPTH, Expansions
from priompt_py.engine.structure import check_tools, check_units, drop_text_beside_messages
from priompt_py.errors import ArgumentValueError, StructureError
from priompt_py.model.elements import (
    BASE_PRIORITY,
    RULE_TEXT,
    AsyncNode,
    CacheBreak,
    Capture,
    Child,
    ComponentCall,
    Config,
    Container,
    Element,
    Empty,
    Fallback,
    First,
    Image,
    Isolate,
    LineBreak,
    Max,
    Message,
    Number,
    Part,
    Rule,
    Scope,
    TokenBreak,
    ToolDefinition,
    element_type,
)
from priompt_py.model.ops import (
    NEVER,
    CacheCut,
    CallsOp,
    CaptureOp,
    Choices,
    Compiled,
    ConfigOp,
    Cut,
    Entry,
    ImageOp,
    IsolateOp,
    Leaf,
    MaxRegion,
    MessageEnd,
    Ops,
    PartOp,
    ReserveOp,
    ToolOp,
    ToolRecord,
    UnitRecord,
)

__all__ = ["check_pairs", "compile_tree"]


def compile_tree(children: tuple[Child, ...], expansions: Expansions, *, record: bool = False) -> Compiled:
    """Compile a tree given as the root's children, and check its structure, pairs aside.

    ``record`` keeps an entry per element and text, for decisions and source maps; the ops are the
    same with and without. Raises StructureError, and what components raise.
    """
    compiler = _Compiler(expansions, record)
    compiler.run(children)
    compiled = Compiled(
        ops=compiler.ops,
        is_chat=compiler.is_chat,
        has_units=compiler.has_units,
        has_callbacks=compiler.has_callbacks,
        has_relative_limits=compiler.has_relative_limits,
        reserve_functions=compiler.reserve_functions,
        entries=compiler.entries,
    )
    try:
        if compiler.is_chat:
            drop_text_beside_messages(compiled)
        check_tools(compiler.tools)
    except StructureError:
        if not record:  # once more, with the paths that only a recorded walk keeps
            compile_tree(children, expansions, record=True)
        raise
    return compiled


def check_pairs(compiled: Compiled, children: tuple[Child, ...], expansions: Expansions) -> None:
    """Check that tool calls and results can be paired. Raises StructureError."""
    if not compiled.has_units:
        return
    try:
        check_units(compiled.ops)
    except StructureError:
        check_units(compile_tree(children, expansions, record=True).ops)  # again, with paths
        raise


class _Frame:
    """An element whose children are being walked.

    ``declared``, ``high`` and ``low`` hold for the children; ``dead`` is true where no cutoff can
    bring anything in. In a first (``choosing``), ``floor`` is the highest priority among the
    alternatives met so far, ``serial`` its number in the tree, and ``rank`` (fallbacks only) what the next
    alternative adds to ``declared``.
    """

    __slots__ = (
        "children",
        "choosing",
        "dead",
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
        children: tuple[Child, ...],
        declared: Number,
        high: Number,
        low: Number,
        dead: bool,
        entry: int = -1,
    ) -> None:
        self.element = element
        self.children = children
        self.iterator = iter(children)
        self.declared = declared
        self.high = high
        self.low = low
        self.dead = dead
        self.entry = entry
        self.choosing = False
        self.floor: Number = NEVER
        self.serial = 0
        self.rank: int | None = None
        self.unit: UnitRecord | None = None
        self.first_leaf = 0
        self.outer: _Outer | None = None


@attrs.define(eq=False)
class _Outer:
    """What an isolate or a max goes back to when it ends."""

    high: Number
    low: Number
    dead: bool
    ops: Ops
    region: int | None


_MESSAGE_END = MessageEnd()  # one for all: it has nothing of its own


class _Compiler:
    """The state of one walk."""

    def __init__(self, expansions: Expansions, record: bool) -> None:
        self.expansions = expansions
        self.recording = record
        self.ops = Ops()
        self.entries: list[Entry] = []
        self.frames: list[_Frame] = []
        self.is_chat = False
        self.has_callbacks = False
        self.has_relative_limits = False
        self.reserve_functions: list[ReserveOp] = []
        self.has_units = False
        self.tools: list[ToolRecord] = []
        self.message: Message | None = None
        self.region: int | None = None
        self.component_depth = 0
        self.firsts = 0

    # -- the walk ---------------------------------------------------------------------------

    def run(self, children: tuple[Child, ...]) -> None:
        """Walk the tree; what it finds is in ``ops``."""
        frames = self.frames
        frames.append(_Frame(None, children, BASE_PRIORITY, BASE_PRIORITY, NEVER, dead=False))
        while frames:
            frame = frames[-1]
            entered = self.choose(frame) if frame.choosing else self.go_on(frame)
            if not entered:
                frames.pop()
                self.leave(frame)

    def go_on(self, frame: _Frame) -> bool:
        """Walk on in a frame until a child has to be entered (True) or all are done (False)."""
        declared, high, low = frame.declared, frame.high, frame.low
        enter = self.enter
        if self.recording or frame.dead or low != NEVER:
            for child in frame.iterator:
                if enter(child, frame, declared, high, low):
                    return True
            return False
        # The hot path. Texts, messages of texts, and scopes around one of these give their leaves at
        # once, without a frame of their own; all else is entered.
        ops = self.ops
        leaf, leaf_high = ops.leaves.append, ops.highs.append
        level = self.levels().append
        for child in frame.iterator:
            kind = type(child)
            if kind is Scope:
                if TYPE_CHECKING:
                    assert isinstance(child, Scope)
                kids = child.children
                if len(kids) == 1 and child.on_include is None and child.on_eject is None:
                    p = child.p
                    if p is None:
                        prel = child.prel
                        if prel is None:
                            p = declared
                        elif type(prel) is int and type(declared) is int:
                            p = declared + prel
                        else:
                            p = self.declared(child, declared)
                    kid = kids[0]
                    if type(kid) is str and kid:
                        leaf(kid)
                        if p < high:
                            leaf_high(p)
                        else:
                            leaf_high(high)
                            if p != declared:
                                level(p)
                        continue
                    if type(kid) is Message and self.text_message(kid, p if p < high else high):
                        if p != declared:
                            level(p)
                        continue
            elif kind is str:
                if child:
                    leaf(child)  # type: ignore[arg-type]
                    leaf_high(high)
                continue
            elif kind is Message and self.text_message(child, high):  # type: ignore[arg-type]
                continue
            if enter(child, frame, declared, high, low):
                return True
        return False

    def text_message(self, message: Message, high: Number) -> bool:
        """Give the leaves of a message that holds only texts, and no calls; False if it is another one."""
        if (
            message.p is not None
            or message.prel is not None
            or message.tool_calls
            or message.role == "tool"
            or message.function_call is not None
            or self.message is not None
        ):
            return False
        for kid in message.children:
            if type(kid) is not str:
                return False
        ops = self.ops
        leaves, index = ops.leaves, len(ops.leaves)
        end = index + len(message.children) + 1
        leaves.append(message)
        leaves += message.children  # type: ignore[arg-type]
        leaves.append(_MESSAGE_END)
        ops.highs += [high] * (end + 1 - index)
        ops.only_text = False
        ops.starts.append(index)
        ops.ends.append(end)
        self.is_chat = True
        return True

    def choose(self, frame: _Frame) -> bool:
        """Go to the next alternative of a first; False when there is none left."""
        if not self.recording and not frame.dead and frame.rank is None:
            self.choose_texts(frame)
        for child in frame.iterator:
            if child is None or child is True or child is False:
                continue
            if frame.rank is not None:
                parent = frame.declared + frame.rank
                frame.rank += 1
                self.levels().append(parent)
                priority = parent
            else:
                parent = frame.declared
                priority = BASE_PRIORITY  # always eligible, unless it has a priority of its own
                if isinstance(child, Element) and (child.p is not None or child.prel is not None):
                    priority = self.declared(child, parent)
            high = min(frame.high, parent) if frame.rank is not None else frame.high
            low, frame.floor = frame.floor, max(frame.floor, priority)
            if self.enter(child, frame, parent, high, low):
                return True
        return False

    def choose_texts(self, frame: _Frame) -> None:
        """Give the leaves of alternatives that are scopes around one text, as long as they are."""
        declared, high = frame.declared, frame.high
        ops = self.ops
        level = self.levels().append
        for child in frame.children[len(frame.children) - length_hint(frame.iterator) :]:
            if type(child) is not Scope or len(child.children) != 1:
                return
            text = child.children[0]
            if type(text) is not str or not text or child.on_include is not None or child.on_eject is not None:
                return
            next(frame.iterator)
            p = self.declared(child, declared)
            level(p)
            low, top = frame.floor, min(p, high)
            if p > low:
                frame.floor = p if child.p is not None or child.prel is not None else BASE_PRIORITY
            if top > low:
                if low != NEVER:
                    ops.lows[len(ops.leaves)] = low
                ops.leaves.append(text)
                ops.highs.append(top)

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

    # -- entering and leaving ---------------------------------------------------------------

    def enter(self, child: Child, frame: _Frame, parent: Number, high: Number, low: Number) -> bool:
        """Take one child; True if it has children of its own, whose frame is pushed then."""
        if child is None or child is True or child is False:
            return False
        dead = frame.dead
        if not isinstance(child, Element):
            text = child if isinstance(child, str) else str(child)
            entry = self.note(child, frame, "text", parent, high, low)
            if text:
                self.leaf(text, high, low, dead)
            self.end_note(entry)
            return False
        declared = parent
        if child.p is not None or child.prel is not None or isinstance(child, (Scope, Fallback)):
            declared = self.declared(child, parent)
            self.levels().append(declared)
            high = min(high, declared)
        dead = dead or low >= high
        entry = self.note(child, frame, child.kind, declared, high, low)
        if not isinstance(child, Container) and not isinstance(child, AsyncNode):
            self.void(child, high, low, dead)
            self.end_note(entry)
            return False
        children: tuple[Child, ...]
        if isinstance(child, (ComponentCall, AsyncNode)):
            self.component_depth += 1
            if self.component_depth > MAX_COMPONENT_DEPTH:
                raise StructureError(
                    f"components stand more than {MAX_COMPONENT_DEPTH} deep in each other; "
                    f"does {child.name!r} give itself?"
                )
            children = self.expansions.children(child, self.path)
        else:
            children = child.children
        new = _Frame(child, children, declared, high, low, dead, entry)
        if isinstance(child, (Scope, First)):
            if child.on_include is not None or child.on_eject is not None:
                self.has_callbacks = True
            if isinstance(child, First):
                self.firsts += 1
                new.choosing, new.floor, new.serial = True, low, self.firsts
        elif isinstance(child, Message):
            self.open_message(child, new)
        elif isinstance(child, (Isolate, Max)):
            self.open_limit(child, new)
        elif isinstance(child, Fallback):
            count = sum(kid is not None and kid is not True and kid is not False for kid in children)
            self.firsts += 1
            new.choosing, new.floor, new.serial, new.rank = True, low, self.firsts, 1 - count
        self.frames.append(new)
        return True

    def leave(self, frame: _Frame) -> None:
        """Close what the frame's element opened."""
        element = frame.element
        if isinstance(element, Message):
            self.close_message(frame)
        elif isinstance(element, (Isolate, Max)):
            self.close_limit(element, frame)
        elif isinstance(element, (ComponentCall, AsyncNode)):
            self.component_depth -= 1
        self.end_note(frame.entry)

    def leaf(self, leaf: Leaf, high: Number, low: Number, dead: bool) -> None:
        """Add a leaf that some cutoff can bring in (an isolate always: its own limit is checked)."""
        if (dead or low >= high) and not isinstance(leaf, IsolateOp):
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

    def void(self, element: Element, high: Number, low: Number, dead: bool) -> None:
        """Add the leaves of an element without children."""
        if isinstance(element, LineBreak):
            self.leaf("\n", high, low, dead)
            self.leaf(Cut(), high, low, dead)
        elif isinstance(element, TokenBreak):
            self.leaf(Cut(), high, low, dead)
        elif isinstance(element, Rule):
            self.leaf(RULE_TEXT, high, low, dead)
        elif isinstance(element, CacheBreak):
            self.leaf(CacheCut(), high, low, dead)
        elif isinstance(element, Empty):
            reserve = ReserveOp(element)
            if callable(element.tokens):
                reserve.path = self.path()
                self.reserve_functions.append(reserve)
            self.leaf(reserve, high, low, dead)
        elif isinstance(element, Config):
            self.leaf(ConfigOp(element), high, low, dead)
        elif isinstance(element, Capture):
            self.leaf(CaptureOp(element), high, low, dead)
        elif isinstance(element, ToolDefinition):
            path = self.path() if self.recording else ""
            self.tools.append(ToolRecord(element, path, self.choices()))
            self.leaf(ToolOp(element), high, low, dead)
        elif isinstance(element, Image):
            if self.message is None or self.message.role not in ("user", "tool"):
                where = "outside messages" if self.message is None else f"in a {self.message.role} message"
                raise StructureError(f"{self.path()}: an image can't stand {where}, only in a user or tool message")
            self.leaf(ImageOp(element), high, low, dead)
        elif isinstance(element, Part):
            if self.message is None:
                raise StructureError(f"{self.path()}: a part can't stand outside messages")
            self.leaf(PartOp(element), high, low, dead)
        else:
            raise StructureError(f"{self.path()}: {type(element).__name__} is not an element that can be rendered")

    def open_message(self, message: Message, frame: _Frame) -> None:
        """Begin a message."""
        if self.message is not None:
            raise StructureError(
                f"{self.path()}: a {message.role} message can't stand inside a {self.message.role} message"
            )
        self.message = message
        self.is_chat = True
        start = len(self.ops.leaves)
        if message.tool_calls or message.role == "tool":
            self.has_units = True
            frame.unit = UnitRecord(
                message=message,
                path=self.path() if self.recording else "",
                choices=self.choices(),
                present=not frame.dead,
                start=start,
            )
            self.ops.units.append(frame.unit)
        if frame.dead:
            frame.first_leaf = start
        else:
            self.ops.starts.append(start)
        self.leaf(message, frame.high, frame.low, frame.dead)
        if message.tool_calls:
            self.leaf(CallsOp(message.tool_calls), frame.high, frame.low, frame.dead)
        if message.function_call is not None:
            self.leaf(CallsOp((message.function_call,), legacy=True), frame.high, frame.low, frame.dead)

    def close_message(self, frame: _Frame) -> None:
        """End a message."""
        self.message = None
        end = len(self.ops.leaves)
        if frame.unit is not None:
            frame.unit.end = end
        if not frame.dead:
            self.ops.ends.append(end)
        elif frame.first_leaf < end:
            self.ops.hidden.append(range(frame.first_leaf, end))
        self.leaf(_MESSAGE_END, frame.high, frame.low, frame.dead)

    def open_limit(self, element: Isolate | Max, frame: _Frame) -> None:
        """Begin an isolate or a max: the intervals inside start afresh."""
        if isinstance(element.token_limit, str):
            self.has_relative_limits = True
        frame.outer = _Outer(frame.high, frame.low, frame.dead, self.ops, self.region)
        if isinstance(element, Isolate):
            self.ops = Ops(in_message=self.message is not None)
            self.region = None
            frame.declared = BASE_PRIORITY
        else:
            self.ops.regions.append(
                MaxRegion(
                    limit=element.token_limit,
                    low=frame.low,
                    high=NEVER if frame.dead else frame.high,
                    parent=self.region,
                    path=self.path(),
                    start=len(self.ops.leaves),
                )
            )
            self.region = len(self.ops.regions) - 1
        if self.recording:
            self.entries[frame.entry].opened = self.region
            self.entries[frame.entry].inner = self.ops if isinstance(element, Isolate) else None
        frame.high, frame.low, frame.dead = BASE_PRIORITY, NEVER, False

    def close_limit(self, element: Isolate | Max, frame: _Frame) -> None:
        """End an isolate or a max."""
        outer = frame.outer
        assert outer is not None
        inner, self.ops = self.ops, outer.ops
        if isinstance(element, Isolate):
            self.region = outer.region
            self.leaf(IsolateOp(inner, element.token_limit, self.path()), outer.high, outer.low, outer.dead)
        else:
            assert self.region is not None
            self.ops.regions[self.region].end = len(self.ops.leaves)
            self.region = outer.region

    # -- places and records -----------------------------------------------------------------

    def choices(self) -> Choices:
        """The firsts around the child that was taken last, and the alternative of each that it stands in."""
        return tuple((frame.serial, position(frame)) for frame in self.frames if frame.choosing)

    def path(self) -> str:
        """The path of the child that was taken last, ``root > 2:user > 0:scope[name=docs]``."""
        return " > ".join(["root", *(self.segment(frame) for frame in self.frames)])

    def segment(self, frame: _Frame) -> str:
        """The last taken child of a frame, as a step of a path."""
        index = position(frame)
        return segment(index, frame.children[index])

    def note(
        self, child: Child, frame: _Frame, kind: str, priority: Number, high: Number, low: Number
    ) -> int:
        """Record an element or text; gives the entry's index, -1 when nothing is recorded."""
        if not self.recording:
            return -1
        start = len(self.ops.leaves)
        self.entries.append(
            Entry(
                segment=self.segment(frame),
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


def position(frame: _Frame) -> int:
    """The index of the child that was taken last."""
    return len(frame.children) - length_hint(frame.iterator) - 1


def segment(index: int, child: Child) -> str:
    """A step of a path: the index after spreading, the element's name and its label."""
    if not isinstance(child, Element):
        return f"{index}:text"
    step = f"{index}:{element_type(child)}"
    if child.key is not None:
        return f"{step}[key={child.key}]"
    name = getattr(child, "name", None) if isinstance(child, (Scope, First, Fallback)) else None
    return step if name is None else f"{step}[name={name}]"
