"""One walk from an element tree to flat ops: the only code that dispatches on element kinds.

The walk is iterative, so depth costs nothing, and every leaf gets the interval of cutoffs that it is
present for: its high end is the least priority on the way down, its low end the highest priority
among the earlier alternatives of the firsts above it. The inside of a max or an isolate starts
afresh, since it is taken at a level of its own; :mod:`priompt_py.engine.sheet` brings them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from priompt_py.engine.expand import MAX_COMPONENT_DEPTH, Expansions
from priompt_py.engine.frames import Frame, Outer
from priompt_py.engine.recorder import Recorder
from priompt_py.engine.structure import (
    check_tools,
    check_units,
    drop_text_beside_messages,
)
from priompt_py.errors import StructureError
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
    Compiled,
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

__all__ = ["check_pairs", "compile_tree"]


def compile_tree(children: tuple[Child, ...], expansions: Expansions, *, record: bool = False) -> Compiled:
    """Compile a tree given as the root's children, and check its structure, pairs aside.

    ``record`` keeps an entry per element and text, for decisions and source maps; the ops are the
    same with and without. Raises StructureError, and what components raise.
    """
    compiler = _Compiler(expansions, record=record)
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


def _a_message(message: Message) -> str:
    """A message in a sentence: ``an assistant message``."""
    return f"{'an' if message.role == 'assistant' else 'a'} {message.role} message"


def _is_of_texts(message: Message) -> bool:
    """Whether a message holds only texts, and no calls, and has no priority of its own: it is one leaf then."""
    if (
        message.tool_calls
        or message.p is not None
        or message.prel is not None
        or message.function_call is not None
        or message.role == "tool"
    ):
        return False
    texts = message.children
    if len(texts) == 1:
        return type(texts[0]) is str
    return all(type(text) is str for text in texts)


_MESSAGE_END = MessageEnd()  # one for all: it has nothing of its own


class _Compiler(Recorder):
    """The state of one walk."""

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

    # -- the walk ---------------------------------------------------------------------------

    def run(self, children: tuple[Child, ...]) -> None:
        """Walk the tree; what it finds is in ``ops``."""
        frames = self.frames
        frames.append(Frame(None, children, BASE_PRIORITY, BASE_PRIORITY, NEVER))
        while frames:
            frame = frames[-1]
            if frame.choosing:
                entered = self.choose(frame)
            elif self.recording or frame.low != NEVER:
                entered = self.go_on(frame)
            else:
                entered = self.go_on_quickly(frame)
            if not entered:
                frames.pop()
                self.leave(frame)
        self.is_chat = self.is_chat or any(ops.has_messages for ops in self.ops.nested())

    def go_on(self, frame: Frame) -> bool:
        """Walk on in a frame until a child has to be entered (True) or all are done (False)."""
        enter, declared, high, low = self.enter, frame.declared, frame.high, frame.low
        return any(enter(child, frame, declared, high, low) for child in frame.iterator)

    def go_on_quickly(self, frame: Frame) -> bool:
        """``go_on`` for the hot path: nothing is recorded, and no first is around.

        Texts, messages of texts, and scopes around one of these give their leaves at once, without a
        frame of their own; all else is entered.
        """
        declared, high = frame.declared, frame.high
        enter, ops, outside = self.enter, self.ops, self.message is None
        leaf, leaf_high = ops.leaves.append, ops.highs.append
        level = self.levels().append
        whole = type(declared) is int
        # Any: what `type` says is enough here, and a call per child for the type checkers would cost a sixth.
        for child in cast("Iterator[Any]", frame.iterator):
            node: Any = child
            p: Any = high
            if type(child) is Scope:
                kids = child.children
                if len(kids) == 1 and child.on_include is None and child.on_eject is None:
                    node, p = kids[0], child.p
                    if p is None:
                        prel = child.prel
                        p = declared + prel if whole and type(prel) is int else self.declared(child, declared)
            kind = type(node)  # pyright: ignore[reportUnknownVariableType] - of Any
            if kind is str or (kind is Message and outside and _is_of_texts(node)):
                if node:
                    leaf(node)
                    if kind is Message:
                        ops.only_text, ops.has_messages = False, True
                    if p < high:
                        leaf_high(p)
                        continue
                    leaf_high(high)
            elif enter(child, frame, declared, high, NEVER):
                return True
            else:
                continue
            if p != declared and node is not child:
                level(p)
        return False

    def choose(self, frame: Frame) -> bool:
        """Go to the next alternative of a first; False when there is none left."""
        if not self.recording and frame.low < frame.high and frame.rank is None:
            self.choose_texts(frame)
        for child in frame.iterator:
            if child is None or child is True or child is False:
                continue
            high = frame.high
            if frame.rank is not None:
                parent = priority = frame.declared + frame.rank
                frame.rank += 1
                self.levels().append(parent)
                high = min(high, parent)
            else:
                parent = frame.declared
                priority = BASE_PRIORITY  # always eligible, unless it has a priority of its own
                if isinstance(child, Element) and (child.p is not None or child.prel is not None):
                    priority = self.declared(child, parent)
            low, frame.floor = frame.floor, max(frame.floor, priority)
            if self.enter(child, frame, parent, high, low):
                return True
        return False

    def choose_texts(self, frame: Frame) -> None:
        """Give the leaves of alternatives that are scopes around one text, as long as they are."""
        declared, high = frame.declared, frame.high
        ops = self.ops
        level = self.levels().append
        for child in frame.children[frame.at + 1 :]:
            if type(child) is not Scope or len(child.children) != 1:
                return
            text = child.children[0]
            if type(text) is not str or not text:
                return
            if child.on_include is not None or child.on_eject is not None:
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

    # -- entering and leaving ---------------------------------------------------------------

    def enter(self, child: Child, frame: Frame, parent: Number, high: Number, low: Number) -> bool:
        """Take one child; True if it has children of its own, whose frame is pushed then."""
        if child is None or child is True or child is False:
            return False
        if not isinstance(child, Element):
            text = child if isinstance(child, str) else str(child)
            entry = self.note(child, frame, "text", parent, high, low)
            if text:
                self.leaf(text, high, low)
            self.end_note(entry)
            return False
        declared = parent
        if child.p is not None or child.prel is not None or isinstance(child, (Scope, Fallback)):
            declared = self.declared(child, parent)
            self.levels().append(declared)
            high = min(high, declared)
        entry = self.note(child, frame, child.kind, declared, high, low)
        if low >= high:
            low = BASE_PRIORITY  # no cutoff brings it in, nor anything inside, whatever its high end
        if isinstance(child, Excerpt):
            self.pieces(child, declared, high, low, entry)
        elif isinstance(child, (ComponentCall, AsyncNode)):
            self.component_depth += 1
            if self.component_depth > MAX_COMPONENT_DEPTH:
                raise StructureError(
                    f"components stand more than {MAX_COMPONENT_DEPTH} deep in each other; "
                    f"does {child.name!r} give itself?"
                )
            children = self.expansions.children(child, self.path)
            self.frames.append(Frame(child, children, declared, high, low, entry))
            return True
        elif isinstance(child, Container):
            self.open(child, Frame(child, child.children, declared, high, low, entry))
            return True
        else:
            self.void(child, high, low)
        self.end_note(entry)
        return False

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
                IsolateOp(inner, element.token_limit, self.path()),
                outer.high,
                outer.low,
            )
        else:
            assert self.region is not None
            self.ops.regions[self.region].end = len(self.ops.leaves)
            self.region = outer.region
