"""Source maps of usual prompts without a recorded walk: only what is in is visited.

Without limits within the prompt and tool calls, an element is in where its priority and those around it reach the cutoff,
and of alternatives the first that does; nothing else has to be known. Other prompts are left to :mod:`priompt_py.engine.explain`, which gives the
same spans for these. A recorded walk makes an entry for each element, also of what is out, which costs several times what
the render did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from priompt_py.engine.expand import Expansions
from priompt_py.engine.frames import segment
from priompt_py.model.elements import (
    BASE_PRIORITY,
    RULE_TEXT,
    AsyncNode,
    Child,
    ComponentCall,
    Container,
    Element,
    Excerpt,
    Fallback,
    First,
    Isolate,
    LineBreak,
    Max,
    Message,
    Number,
    Rule,
    Scope,
)
from priompt_py.model.place import ROOT, Place
from priompt_py.model.source_map import Span
from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["quick_spans"]

_OTHERS = (Isolate, Max)
_CHOICES = (First, Fallback)


class _Open:
    """An element that is in, and whose children are being visited."""

    __slots__ = ("children", "declared", "element", "high", "place", "spans", "start")

    def __init__(
        self,
        element: Element | None,
        children: Iterator[tuple[int, Child]],
        declared: Number,
        high: Number,
        place: Place,
        start: int,
    ) -> None:
        self.element = element
        self.children = children
        self.declared = declared
        self.high = high
        self.place = place
        self.start = start
        self.spans: list[Span] = []


class _Visit:
    """A visit of all that is in at a cutoff."""

    def __init__(
        self,
        expansions: Expansions,
        cutoff: Number,
        chat_format: ChatFormat,
        messages: int | None,
        *,
        incomplete: bool,
    ) -> None:
        self.expansions = expansions
        self.cutoff = cutoff
        self.chat_format = chat_format
        self.messages = messages  # how many are in and not closed yet; None: it is no chat
        self.incomplete = incomplete
        self.at = 0
        self.outside = messages is not None  # text there is blank, and dropped
        self.stack: list[_Open] = []

    def run(self, children: tuple[Child, ...]) -> list[Span] | None:
        """The spans of the root's children; None where there is something that this can't tell."""
        stack = self.stack
        stack.append(_Open(None, enumerate(children), BASE_PRIORITY, BASE_PRIORITY, ROOT, 0))
        while True:
            here = stack[-1]
            entered = self.go_on(here)
            if entered is None:
                return None
            if entered:
                continue
            stack.pop()
            if not stack:
                return here.spans
            # A first of which no alternative is in is out.
            if here.spans or not isinstance(here.element, First):
                stack[-1].spans.append(self.close(here))

    def go_on(self, here: _Open) -> bool | None:
        """Visit children until one has to be entered (True) or all are done (False); None: give up."""
        place, add = here.place, here.spans.append
        cutoff = self.cutoff
        for index, child in here.children:
            if not isinstance(child, Element):
                if child is None or child is True or child is False:
                    continue
                start = self.at
                if not self.outside:
                    self.at += len(child) if isinstance(child, str) else len(str(child))
                add(Span(start, self.at, Place(f"{index}:text", place), "text"))
                continue
            declared, high = here.declared, here.high
            if child.p is not None:
                declared = child.p
            elif child.prel is not None:
                declared += child.prel
            if declared < high:
                high = declared
                if high < cutoff:
                    continue
            if type(child) is Scope:
                label = child.name if child.key is None else child.key  # child.label, quicker
                own = Place(f"{index}:scope" if label is None else segment(index, child), place)
                kids = child.children
                if len(kids) == 1 and type(kids[0]) is str:  # the usual case, without a frame of its own
                    start = self.at
                    end = self.at = start if self.outside else start + len(kids[0])
                    add(Span(start, end, own, "scope", label, None))
                    continue
            else:
                own = Place(segment(index, child), place)
            if isinstance(child, _CHOICES):
                self.choose(child, declared, high, own)
                return True
            children = self.children_of(child, own)
            if children is not None:
                opened = _Open(child, enumerate(children), declared, high, own, self.at)
                self.stack.append(opened)
                if isinstance(child, Message):
                    self.open_message(opened, child)
                return True
            if isinstance(child, _OTHERS):
                return None
            start = self.at
            spans = self.inside(child, declared, high, own)
            add(Span(start, self.at, own, child.kind, child.label, spans))
        return False

    def choose(self, element: First | Fallback, declared: Number, high: Number, place: Place) -> None:
        """Enter a first or a fallback: of its children the one that is chosen at the cutoff."""
        kids = [
            (at, kid) for at, kid in enumerate(element.children) if kid is not None and type(kid) is not bool
        ]
        rank = 1 - len(kids)  # of fallbacks; see the compiler
        chosen: list[tuple[int, Child]] = []
        for at, kid in kids:
            priority: Number = BASE_PRIORITY
            if isinstance(element, Fallback):
                priority, rank = declared + rank, rank + 1
            elif isinstance(kid, Element) and kid.p is not None:
                priority = kid.p
            elif isinstance(kid, Element) and kid.prel is not None:
                priority = declared + kid.prel
            if priority >= self.cutoff:
                chosen.append((at, kid))
                if isinstance(element, Fallback):
                    declared, high = priority, min(high, priority)
                break
        self.stack.append(_Open(element, iter(chosen), declared, high, place, self.at))

    def children_of(self, child: Element, place: Place) -> tuple[Child, ...] | None:
        """The children of an element that is entered."""
        if isinstance(child, (Scope, Message)):
            return child.children
        if isinstance(child, (ComponentCall, AsyncNode)):
            return self.expansions.children(child, lambda: str(place))
        if isinstance(child, Container) and not isinstance(child, _OTHERS):
            return child.children
        return None

    def inside(self, child: Element, declared: Number, high: Number, place: Place) -> tuple[Span, ...]:
        """Go past an element without children; the pieces of an excerpt are spans of their own."""
        if isinstance(child, Excerpt):
            return tuple(self.pieces(child, declared, high, place))
        if isinstance(child, LineBreak):
            self.at += 0 if self.outside else 1
        elif isinstance(child, Rule):
            self.at += 0 if self.outside else len(RULE_TEXT)
        return ()

    def pieces(self, excerpt: Excerpt, declared: Number, high: Number, place: Place) -> Iterator[Span]:
        """The pieces of an excerpt that are in, and the marks of the gaps between them."""
        cutoff, omitted, before = self.cutoff, excerpt.omitted, high
        for index, (piece, p) in enumerate(zip(excerpt.pieces, excerpt.priorities(declared), strict=True)):
            top = min(p, high)
            if omitted is not None:
                if p < cutoff <= before:
                    yield self.text(omitted, index, place, "omitted")
                before = top
            if top >= cutoff:
                yield self.text(piece, index, place, "text")

    def text(self, text: str, index: int, place: Place, kind: str) -> Span:
        """Go past a text."""
        start = self.at
        if not self.outside:
            self.at += len(text)
        return Span(start, self.at, Place(f"{index}:text", place), kind)

    def open_message(self, opened: _Open, message: Message) -> None:
        """Begin a message: what stands before its content is a span of its own."""
        chat_format = self.chat_format
        header = chat_format.header(message.role, message.name, message.to)
        self.at += len(chat_format.im_start) + len(header) + len(chat_format.im_sep)
        opened.spans.append(Span(opened.start, self.at, opened.place, "frame"))
        self.outside = False

    def close(self, here: _Open) -> Span:
        """The span of an element whose children are done."""
        element: Any = here.element
        if isinstance(element, Message):
            assert self.messages is not None
            self.messages -= 1
            self.outside = True
            end = self.at
            if self.messages or not self.incomplete:
                self.at += len(self.chat_format.im_end)
            if end < self.at:
                here.spans.append(Span(end, self.at, here.place, "frame"))
        return Span(here.start, self.at, here.place, element.kind, element.label, tuple(here.spans))


def quick_spans(
    children: tuple[Child, ...],
    expansions: Expansions,
    cutoff: Number,
    chat_format: ChatFormat,
    text: str,
    messages: int | None,
    *,
    incomplete: bool,
) -> Span | None:
    """The spans over a flat text at a cutoff; ``messages`` are in, None in a plain prompt. None: ask the explanation.

    Without pairs of tool calls: those may be out for other reasons than their priority.
    """
    visit = _Visit(expansions, cutoff, chat_format, messages, incomplete=incomplete)
    spans = visit.run(children)
    if spans is None:
        return None
    if visit.at < len(text):
        spans.append(Span(visit.at, len(text), ROOT, "frame"))
    return Span(0, len(text), ROOT, "root", None, tuple(spans))
