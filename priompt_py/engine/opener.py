"""What each kind of element does to the ops: how it begins, what leaves it gives, how it ends."""

from __future__ import annotations

from typing import cast

from priompt_py.engine.expand import Expansions
from priompt_py.engine.frames import Frame, Outer
from priompt_py.engine.recorder import Recorder
from priompt_py.errors import StructureError
from priompt_py.model.elements import (
    BASE_PRIORITY,
    RULE_TEXT,
    AsyncNode,
    CacheBreak,
    Capture,
    ComponentCall,
    Config,
    Container,
    Element,
    Empty,
    Excerpt,
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
)
from priompt_py.model.ops import (
    NEVER,
    CacheCut,
    CallsOp,
    CaptureOp,
    ConfigOp,
    Cut,
    ImageOp,
    IsolateOp,
    Leaf,
    MaxRegion,
    MessageEnd,
    MessageStart,
    Ops,
    PartOp,
    ReserveOp,
    ToolOp,
    ToolRecord,
    UnitRecord,
)

__all__ = ["Opener"]

_MESSAGE_END = MessageEnd()  # one for all: it has nothing of its own


def _a_message(message: Message) -> str:
    """A message in a sentence: ``an assistant message``."""
    return f"{'an' if message.role == 'assistant' else 'a'} {message.role} message"


class Opener(Recorder):
    """The state of one walk, and what elements do to it."""

    def __init__(self, expansions: Expansions, *, record: bool) -> None:
        super().__init__(record=record)
        self.expansions = expansions
        self.is_chat = False
        self.has_callbacks = False
        self.has_relative_limits = False
        self.has_units = False
        self.reserve_functions: list[ReserveOp] = []
        self.tools: list[ToolRecord] = []
        self.message: Message | None = None
        self.component_depth = 0
        self.firsts = 0

    def open(self, element: Container, frame: Frame) -> None:
        """Begin an element that holds others, and push its frame."""
        if isinstance(element, (Scope, First)):
            if element.on_include is not None or element.on_eject is not None:
                self.has_callbacks = True
            if isinstance(element, First):
                self.firsts += 1
                frame.choose(self.firsts)
        elif isinstance(element, Message):
            self.open_message(element, frame)
        elif isinstance(element, (Isolate, Max)):
            self.open_limit(element, frame)
        elif isinstance(element, Fallback):
            count = sum(kid is not None and kid is not True and kid is not False for kid in element.children)
            self.firsts += 1
            frame.choose(self.firsts, rank=1 - count)
        self.frames.append(frame)

    def leave(self, frame: Frame) -> None:
        """Close what the frame's element opened."""
        element = frame.element
        if isinstance(element, Message):
            self.close_message(frame)
        elif isinstance(element, (Isolate, Max)):
            self.close_limit(element, frame)
        elif isinstance(element, (ComponentCall, AsyncNode)):
            self.component_depth -= 1
        self.end_note(frame.entry)

    def void(self, element: Element, high: Number, low: Number) -> None:
        """Add the leaves of an element without children."""
        if isinstance(element, LineBreak):
            self.leaf("\n", high, low)
            self.leaf(Cut(), high, low)
            return
        leaf: Leaf
        if isinstance(element, TokenBreak):
            leaf = Cut()
        elif isinstance(element, Rule):
            leaf = RULE_TEXT
        elif isinstance(element, CacheBreak):
            leaf = CacheCut()
        elif isinstance(element, Empty):
            leaf = ReserveOp(element)
            if callable(element.tokens):
                leaf.path = self.path()
                self.reserve_functions.append(leaf)
        elif isinstance(element, Config):
            leaf = ConfigOp(element)
        elif isinstance(element, Capture):
            leaf = CaptureOp(element)
        elif isinstance(element, ToolDefinition):
            self.tools.append(ToolRecord(element, self.path_if_recording(), self.choices()))
            leaf = ToolOp(element)
        elif isinstance(element, Image):
            if self.message is None or self.message.role not in ("user", "tool"):
                where = "outside messages" if self.message is None else f"in {_a_message(self.message)}"
                raise StructureError(
                    f"{self.path()}: an image can't stand {where}, only in a user or tool message"
                )
            leaf = ImageOp(element)
        elif isinstance(element, Part):
            if self.message is None:
                raise StructureError(f"{self.path()}: a part can't stand outside messages")
            leaf = PartOp(element)
        else:
            raise StructureError(
                f"{self.path()}: {type(element).__name__} is not an element that can be rendered"
            )
        self.leaf(leaf, high, low)

    def pieces(self, element: Excerpt, declared: Number, high: Number, low: Number, entry: int) -> None:
        """Add the pieces of an excerpt, each as in a scope of its own, without an element for each."""
        priorities = element.priorities(declared)
        omitted = element.omitted
        if not self.recording and low == NEVER and omitted is None:
            self.ops.leaves += element.pieces
            if element.priority is None and declared <= high:
                self.ops.highs += priorities
            else:
                self.levels().extend(priorities)
                self.ops.highs += [min(high, p) for p in priorities]
            return
        self.levels().extend(priorities)
        frame = Frame(element, element.pieces, declared, high, low, entry)
        self.frames.append(frame)
        before = high
        for piece, p in zip(frame.iterator, priorities, strict=True):
            top = min(p, high)
            if omitted is not None:
                # The mark of a gap that begins here: this piece is out, the one before it is in.
                note = self.note(omitted, frame, "omitted", p, before, max(low, p))
                self.leaf(omitted, before, max(low, p))
                self.end_note(note)
                before = top
            note = self.note(piece, frame, "text", p, top, low)
            self.leaf(cast("str", piece), top, low)
            self.end_note(note)
        self.frames.pop()

    def open_message(self, message: Message, frame: Frame) -> None:
        """Begin a message."""
        if self.message is not None:
            raise StructureError(
                f"{self.path()}: {_a_message(message)} can't stand inside {_a_message(self.message)}"
            )
        self.message = message
        self.is_chat = True
        start = len(self.ops.leaves)
        if message.tool_calls or message.role == "tool":
            self.has_units = True
            frame.unit = UnitRecord(
                message=message,
                path=self.path_if_recording(),
                choices=self.choices(),
                present=frame.low < frame.high,
                start=start,
            )
            self.ops.units.append(frame.unit)
        if frame.low >= frame.high:
            frame.first_leaf = start
        else:
            self.ops.starts.append(start)
            self.ops.has_messages = True
        self.leaf(MessageStart(message), frame.high, frame.low)
        if message.tool_calls:
            self.leaf(CallsOp(message.tool_calls), frame.high, frame.low)
        if message.function_call is not None:
            self.leaf(CallsOp((message.function_call,), legacy=True), frame.high, frame.low)

    def close_message(self, frame: Frame) -> None:
        """End a message."""
        self.message = None
        end = len(self.ops.leaves)
        if frame.unit is not None:
            frame.unit.end = end
        if frame.low < frame.high:
            self.ops.ends.append(end)
        elif frame.first_leaf < end:
            self.ops.hidden.append(range(frame.first_leaf, end))
        self.leaf(_MESSAGE_END, frame.high, frame.low)

    def open_limit(self, element: Isolate | Max, frame: Frame) -> None:
        """Begin an isolate or a max: the intervals inside start afresh."""
        if isinstance(element.token_limit, str):
            self.has_relative_limits = True
        frame.outer = Outer(frame.high, frame.low, self.ops, self.region)
        if isinstance(element, Isolate):
            self.ops = Ops(in_message=self.message is not None)
            self.region = None
            frame.declared = BASE_PRIORITY
        else:
            self.ops.regions.append(
                MaxRegion(
                    element=element,
                    limit=element.token_limit,
                    low=frame.low,
                    high=frame.high,
                    parent=self.region,
                    path=self.path(),
                    start=len(self.ops.leaves),
                    levels=[frame.declared],  # of scopes inside that have no priority of their own
                )
            )
            self.region = len(self.ops.regions) - 1
        if self.recording:
            self.entries[frame.entry].opened = self.region
            self.entries[frame.entry].inner = self.ops if isinstance(element, Isolate) else None
        frame.high, frame.low = BASE_PRIORITY, NEVER

    def close_limit(self, element: Isolate | Max, frame: Frame) -> None:
        """End an isolate or a max."""
        outer = frame.outer
        assert outer is not None
        inner, self.ops = self.ops, outer.ops
        if isinstance(element, Isolate):
            self.region = outer.region
            self.leaf(
                IsolateOp(element, inner, element.token_limit, self.path()),
                outer.high,
                outer.low,
            )
        else:
            assert self.region is not None
            self.ops.regions[self.region].end = len(self.ops.leaves)
            self.region = outer.region
