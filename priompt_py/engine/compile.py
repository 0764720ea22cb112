"""One walk from an element tree to flat ops: with the opener, the only code that dispatches on element kinds.

The walk is iterative, so depth costs nothing, and every leaf gets the interval of cutoffs that it is
present for: its high end is the least priority on the way down, its low end the highest priority
among the earlier alternatives of the firsts above it. The inside of a max or an isolate starts
afresh, since it is taken at a level of its own; :mod:`priompt_py.engine.regions` brings them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from priompt_py.engine.expand import MAX_COMPONENT_DEPTH, Expansions
from priompt_py.engine.frames import Frame
from priompt_py.engine.opener import Opener
from priompt_py.engine.structure import (
    check_tools,
    check_units,
    drop_text_beside_messages,
)
from priompt_py.errors import StructureError
from priompt_py.model.elements import (
    BASE_PRIORITY,
    AsyncNode,
    Child,
    ComponentCall,
    Container,
    Element,
    Excerpt,
    Fallback,
    Message,
    Number,
    Scope,
)
from priompt_py.model.ops import (
    NEVER,
    Compiled,
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


class _Compiler(Opener):
    """The walk itself."""

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
            if kind is str or (
                (
                    kind is Message
                    and outside
                    and node.p is None
                    and len(node.children)
                    == 1  # a call of its own for the usual message costs a tenth of the walk
                    and type(node.children[0]) is str
                    and node.prel is None
                    and not node.tool_calls
                    and node.function_call is None
                    and node.role != "tool"
                )
                or (kind is Message and outside and _is_of_texts(node))
            ):
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
