"""Source maps: only what is in is visited.

An element is in where its priority and those around it reach the cutoff, and of alternatives the first that does. A max
has a level of its own, an isolate a cutoff of its own, and a tool unit may be out as a whole: the solution has all that
(:mod:`priompt_py.engine.inner_parts`). What is out costs a comparison, and what an element of lines holds is made when
somebody asks (:mod:`priompt_py.engine.simple_spans`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from priompt_py.engine.expand import Expansions
from priompt_py.engine.inner_parts import Part, parts_of
from priompt_py.engine.simple_spans import (
    LENGTHS,
    Frames,
    length_of_lines,
    length_of_texts,
    spans_of_lines,
    spans_of_texts,
)
from priompt_py.engine.solve import Solution
from priompt_py.model.elements import (
    BASE_PRIORITY,
    AsyncNode,
    Child,
    ComponentCall,
    Container,
    Element,
    Excerpt,
    Fallback,
    First,
    Isolate,
    Max,
    Message,
    Number,
    Scope,
)
from priompt_py.model.ops import Ops
from priompt_py.model.place import ROOT, Spot
from priompt_py.model.source_map import Inside, Span
from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["make_spans"]

_GIVEN = (ComponentCall, AsyncNode)  # elements whose children a function gives

_Open: TypeAlias = tuple[
    Element | None, tuple[Child, ...], int, int, list[Span], Number, Number, Spot, int, Part
]
"""An element that is in, and whose children are being visited: itself, its children, the index of the next one and where
they end, the spans of those that were, the declared priority and the cutoff that hold for them, where it stands, where it
begins in the text, and the part that it is in. A tuple, since one with names takes five times as long to make."""


class _Visit:
    """A visit of all that is in."""

    __slots__ = ("at", "expansions", "frames", "incomplete", "outside", "unclosed")

    def __init__(
        self, expansions: Expansions, frames: Frames, messages: int | None, *, incomplete: bool
    ) -> None:
        self.expansions = expansions
        self.frames = frames
        self.unclosed = messages or 0  # messages that are in and not closed yet
        self.incomplete = incomplete
        self.at = 0
        self.outside = messages is not None  # text there is blank, and dropped

    def run(self, children: tuple[Child, ...], root: Part) -> list[Span]:
        """The spans of the root's children."""
        stack: list[_Open] = []
        here: _Open = (None, children, 0, len(children), [], BASE_PRIORITY, root.cutoff, ROOT, 0, root)
        while True:
            element, kids, following, end, spans, around, cutoff, spot, start, part = here
            at, gives_text = self.at, not self.outside
            for index in range(following, end):
                child = kids[index]
                before = at
                if not isinstance(child, Element):
                    if child is not None and type(child) is not bool:
                        if gives_text:
                            at += len(child) if isinstance(child, str) else len(str(child))
                        spans.append(Span(before, at, spot, "text", None, (), index, child))
                    continue
                declared = child.p
                if declared is None:
                    declared = around if child.prel is None else around + child.prel
                if declared < cutoff and (  # what is around it reaches the cutoff
                    child.p is not None or child.prel is not None or isinstance(child, (Scope, Fallback))
                ):
                    continue
                if type(child) is Scope and len(child.children) == 1 and type(child.children[0]) is str:
                    if gives_text:  # the usual case, at once
                        at += len(child.children[0])
                    label = child.name if child.key is None else child.key  # child.label, quicker
                    spans.append(Span(before, at, spot, "scope", label, spans_of_texts, index, child))
                    continue
                self.at = at
                opened = self.take(child, spans, declared, cutoff, spot, index, part)
                if opened is not None:
                    stack.append((element, kids, index + 1, end, spans, around, cutoff, spot, start, part))
                    here = opened
                    break
                at = self.at
            else:
                self.at = at
                if element is None:
                    return spans
                here = stack.pop()
                if spans or not isinstance(element, First):  # a first of which no alternative is in is out
                    here[4].append(self.close(element, spans, spot, start))

    def take(
        self,
        child: Element,
        spans: list[Span],
        declared: Number,
        cutoff: Number,
        spot: Spot,
        index: int,
        part: Part,
    ) -> _Open | None:
        """Take an element that is in but for what its limit or its tool unit says; what there is to visit of it."""
        start = self.at
        if type(child) is Scope:  # most are
            return self.take_kids(child, child.children, spans, declared, cutoff, spot, index, part)
        length = LENGTHS[type(child)]
        if length is not None:
            if not self.outside:
                self.at += length
            spans.append(Span(start, self.at, spot, child.kind, child.key, (), index, child))
            return None
        if isinstance(child, Message):
            return self.take_message(child, spans, declared, cutoff, spot, index, part)
        own = (index, child, spot)
        if isinstance(child, Excerpt):
            pieces = tuple(self.pieces(child, declared, cutoff, own))
            spans.append(Span(start, self.at, own, "excerpt", child.key, pieces))
            return None
        if isinstance(child, (First, Fallback)):
            declared, first, end = _chosen(child, declared, cutoff)
            return (child, child.children, first, end, [], declared, cutoff, own, start, part)
        if isinstance(child, _GIVEN):
            given = self.expansions.results[id(child)]
            return self.take_kids(child, given, spans, declared, cutoff, spot, index, part)
        assert isinstance(child, Container)
        if isinstance(child, Isolate):
            part = part.isolate(child, own)
            if not part.is_in:
                return None
            declared, cutoff = BASE_PRIORITY, part.cutoff
        elif isinstance(child, Max):
            level = part.level(child, own, cutoff)
            if level is None:
                return None
            cutoff = level
        return self.take_kids(child, child.children, spans, declared, cutoff, spot, index, part)

    def take_kids(
        self,
        child: Element,
        kids: tuple[Child, ...],
        spans: list[Span],
        declared: Number,
        cutoff: Number,
        spot: Spot,
        index: int,
        part: Part,
    ) -> _Open | None:
        """Take an element that is in, with its children: what there is to visit of it."""
        start = self.at
        length = length_of_texts(kids)
        inside: Inside = spans_of_texts
        if length < 0 or isinstance(child, _GIVEN):  # whose children are not in the element
            length = length_of_lines(kids, declared, cutoff)
            inside = partial(spans_of_lines, kids, declared, cutoff)
        if length >= 0:
            if not self.outside:
                self.at += length
            spans.append(Span(start, self.at, spot, child.kind, child.label, inside, index, child))
            return None
        if (
            len(kids) == 1
            and type(kids[0]) is Message
            and self.take_around(child, kids[0], spans, declared, cutoff, spot, index)
        ):
            return None
        own = (index, child, spot)
        return (child, kids, 0, len(kids), [], declared, cutoff, own, start, part)

    def take_around(
        self,
        child: Element,
        message: Message,
        spans: list[Span],
        declared: Number,
        cutoff: Number,
        spot: Spot,
        index: int,
    ) -> bool:
        """Take an element around one message of lines; False for another message."""
        if message.p is not None or message.prel is not None or message.tool_calls or message.role == "tool":
            return False  # more decides on it than what is around it
        length = length_of_texts(message.children)
        inside: Inside = self.frames.spans_around
        if length < 0 or isinstance(child, _GIVEN):
            length = length_of_lines(message.children, declared, cutoff)
            inside = partial(self.frames.spans_around_lines, message, declared, cutoff)
        if length < 0:
            return False
        start = self.at
        self.at += self.frames.before(message) + length + self.end_of_message()
        spans.append(Span(start, self.at, spot, child.kind, child.label, inside, index, child))
        return True

    def take_message(
        self,
        message: Message,
        spans: list[Span],
        declared: Number,
        cutoff: Number,
        spot: Spot,
        index: int,
        part: Part,
    ) -> _Open | None:
        """Take a message; what there is to visit of it."""
        if (message.tool_calls or message.role == "tool") and part.is_unpaired(message):
            return None
        start, kids, before = self.at, message.children, self.frames.before(message)
        length = length_of_texts(kids)
        inside: Inside = self.frames.spans_of_texts
        if length < 0:
            length = length_of_lines(kids, declared, cutoff)
            inside = partial(self.frames.spans_of_lines, declared, cutoff)
        if length >= 0:
            self.at += before + length + self.end_of_message()
            spans.append(Span(start, self.at, spot, "message", message.key, inside, index, message))
            return None
        self.at += before
        self.outside = False
        own = (index, message, spot)
        frame = Span(start, self.at, own, "frame")
        return (message, kids, 0, len(kids), [frame], declared, cutoff, own, start, part)

    def pieces(self, excerpt: Excerpt, declared: Number, cutoff: Number, own: Spot) -> Iterator[Span]:
        """The pieces of an excerpt that are in, and the marks of the gaps between them."""
        omitted, is_gap = excerpt.omitted, False
        for index, (piece, p) in enumerate(zip(excerpt.pieces, excerpt.priorities(declared), strict=True)):
            if p >= cutoff:
                is_gap = False
                yield self.text(piece, (index, piece, own), "text")
            elif not is_gap and omitted is not None:
                is_gap = True
                yield self.text(omitted, (index, omitted, own), "omitted")

    def text(self, text: str, own: Spot, kind: str) -> Span:
        """Go past a text."""
        start = self.at
        if not self.outside:
            self.at += len(text)
        return Span(start, self.at, own, kind)

    def end_of_message(self) -> int:
        """The characters after the content of a message that is closed."""
        self.unclosed -= 1
        return self.frames.after if self.unclosed or not self.incomplete else 0

    def close(self, element: Element, spans: list[Span], spot: Spot, start: int) -> Span:
        """The span of an element whose children are done."""
        if type(element) is Scope:
            label = element.name if element.key is None else element.key
            return Span(start, self.at, spot, "scope", label, tuple(spans))
        if isinstance(element, Message):
            self.outside = True
            end = self.at
            self.at += self.end_of_message()
            if end < self.at:
                spans.append(Span(end, self.at, spot, "frame"))
        return Span(start, self.at, spot, element.kind, element.label, tuple(spans))


def _chosen(element: First | Fallback, declared: Number, cutoff: Number) -> tuple[Number, int, int]:
    """Which of the children of a first or a fallback is chosen at the cutoff: the declared priority around it, its index,
    and the one behind; twice the same where none is."""
    kids = [(at, kid) for at, kid in enumerate(element.children) if kid is not None and type(kid) is not bool]
    rank = 1 - len(kids)  # of fallbacks; see the compiler
    for at, kid in kids:
        priority: Number = BASE_PRIORITY
        if isinstance(element, Fallback):
            priority, rank = declared + rank, rank + 1
            if priority >= cutoff:
                return priority, at, at + 1
        elif isinstance(kid, Element) and kid.p is not None:
            priority = kid.p
        elif isinstance(kid, Element) and kid.prel is not None:
            priority = declared + kid.prel
        if priority >= cutoff:
            return declared, at, at + 1
    return declared, 0, 0


def make_spans(
    children: tuple[Child, ...],
    expansions: Expansions,
    ops: Ops,
    solution: Solution,
    chat_format: ChatFormat,
    text: str,
    *,
    incomplete: bool,
    pair_tools: bool,
) -> Span:
    """The spans over the flat text of a solved tree; ``ops`` are its compiled form."""
    messages = solution.assembled.messages
    visit = _Visit(
        expansions, Frames(chat_format), None if messages is None else len(messages), incomplete=incomplete
    )
    spans = visit.run(children, parts_of(ops, solution, pair_tools=pair_tools))
    if visit.at < len(text):
        spans.append(Span(visit.at, len(text), ROOT, "frame"))
    return Span(0, len(text), ROOT, "root", None, tuple(spans))
