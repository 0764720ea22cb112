"""Source maps: only what is in is visited.

An element is in where its priority and those around it reach the cutoff, and of alternatives the first that does. A max
has a level of its own, an isolate a cutoff of its own, and a tool unit may be out as a whole: the solution has all that
(:mod:`priompt_py.engine.inner_parts`). What is out costs a comparison, and what an element of texts alone holds is made
when somebody asks (:mod:`priompt_py.engine.simple_spans`).
"""

from __future__ import annotations

from collections.abc import Iterator

from priompt_py.engine.expand import Expansions
from priompt_py.engine.inner_parts import Part, parts_of
from priompt_py.engine.simple_spans import Frames, length_of_texts, spans_of_texts
from priompt_py.engine.solve import Solution
from priompt_py.model import elements
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
    Max,
    Message,
    Number,
    Scope,
)
from priompt_py.model.ops import Ops
from priompt_py.model.place import ROOT, Spot
from priompt_py.model.source_map import Span
from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["make_spans"]

_LENGTHS = (
    (elements.LineBreak, 1),
    (elements.Rule, len(RULE_TEXT)),
    (elements.CacheBreak, 0),
    (elements.Capture, 0),
    (elements.Config, 0),
    (elements.Empty, 0),
    (elements.Image, 0),
    (elements.Part, 0),
    (elements.TokenBreak, 0),
    (elements.ToolDefinition, 0),
)


class _Lengths(dict[type[Element], int | None]):
    """How many characters elements of a class give, that hold no others; None for those that do.

    By class, subclasses included: a tag without arguments is an element of a class of its own.
    """

    def __missing__(self, kind: type[Element]) -> int | None:
        self[kind] = next((length for base, length in _LENGTHS if issubclass(kind, base)), None)
        return self[kind]


class _Open:
    """An element that is in, and whose children are being visited. ``declared`` and ``cutoff`` hold for them."""

    __slots__ = ("children", "cutoff", "declared", "element", "part", "spans", "spot", "start")

    def __init__(
        self,
        element: Element | None,
        children: Iterator[tuple[int, Child]],
        declared: Number,
        cutoff: Number,
        spot: Spot,
        start: int,
        part: Part,
    ) -> None:
        self.element = element
        self.children = children
        self.declared = declared
        self.cutoff = cutoff
        self.spot = spot
        self.start = start
        self.part = part
        self.spans: list[Span] = []


class _Visit:
    """A visit of all that is in."""

    __slots__ = ("at", "expansions", "frames", "incomplete", "lengths", "outside", "stack", "unclosed")

    def __init__(
        self, expansions: Expansions, frames: Frames, messages: int | None, *, incomplete: bool
    ) -> None:
        self.expansions = expansions
        self.frames = frames
        self.unclosed = messages or 0  # messages that are in and not closed yet
        self.incomplete = incomplete
        self.at = 0
        self.outside = messages is not None  # text there is blank, and dropped
        self.stack: list[_Open] = []
        self.lengths = _Lengths()

    def run(self, children: tuple[Child, ...], root: Part) -> list[Span]:
        """The spans of the root's children."""
        stack = self.stack
        stack.append(_Open(None, enumerate(children), BASE_PRIORITY, root.cutoff, ROOT, 0, root))
        while True:
            here = stack[-1]
            if self.go_on(here):
                continue
            stack.pop()
            if not stack:
                return here.spans
            # A first of which no alternative is in is out.
            if here.spans or not isinstance(here.element, First):
                stack[-1].spans.append(self.close(here))

    def go_on(self, here: _Open) -> bool:
        """Visit children until one has to be entered (True) or all are done (False)."""
        spot, spans, around, cutoff = here.spot, here.spans, here.declared, here.cutoff
        at, gives_text, lengths = self.at, not self.outside, self.lengths
        for index, child in here.children:
            if not isinstance(child, Element):
                if child is not None and type(child) is not bool:
                    start = at
                    if gives_text:
                        at += len(child) if isinstance(child, str) else len(str(child))
                    spans.append(Span(start, at, (index, child, spot), "text"))
                continue
            declared = child.p
            if declared is None:
                declared = around if child.prel is None else around + child.prel
            if declared < cutoff and (  # what is around it reaches the cutoff
                child.p is not None or child.prel is not None or isinstance(child, (Scope, Fallback))
            ):
                continue
            if type(child) is Scope and len(child.children) == 1:
                text = child.children[0]
                if type(text) is str:  # the usual case, at once
                    start = at
                    if gives_text:
                        at += len(text)
                    label = child.name if child.key is None else child.key  # child.label, quicker
                    spans.append(Span(start, at, (index, child, spot), "scope", label, spans_of_texts))
                    continue
            own = (index, child, spot)
            length = lengths[type(child)]
            if length is not None:
                start = at
                if gives_text:
                    at += length
                spans.append(Span(start, at, own, child.kind, child.key))
                continue
            self.at = at
            if self.enter(child, here, declared, own):
                return True
            at = self.at
        self.at = at
        return False

    def enter(self, child: Element, here: _Open, declared: Number, own: Spot) -> bool:
        """Take an element that holds others; True if its children have to be visited."""
        cutoff, part = here.cutoff, here.part
        if type(child) is Scope:
            children = child.children
        elif isinstance(child, Message):
            return self.enter_message(child, here, declared, own)
        elif isinstance(child, Excerpt):
            start = self.at
            pieces = tuple(self.pieces(child, declared, cutoff, own))
            here.spans.append(Span(start, self.at, own, "excerpt", child.key, pieces))
            return False
        elif isinstance(child, (First, Fallback)):
            self.choose(child, here, declared, own)
            return True
        elif isinstance(child, (ComponentCall, AsyncNode)):
            given = self.expansions.results[id(child)]
            self.stack.append(_Open(child, enumerate(given), declared, cutoff, own, self.at, part))
            return True
        else:
            assert isinstance(child, Container)
            children = child.children
            if isinstance(child, Isolate):
                part = part.isolate(child, own)
                if not part.is_in:
                    return False
                declared, cutoff = BASE_PRIORITY, part.cutoff
            elif isinstance(child, Max):
                level = part.level(child, own, cutoff)
                if level is None:
                    return False
                cutoff = level
        kind = type(children[0]) if children else str
        if (kind is str or kind is Message) and self.take_simple(child, children, here, own):
            return False
        self.stack.append(_Open(child, enumerate(children), declared, cutoff, own, self.at, part))
        return True

    def take_simple(self, child: Element, kids: tuple[Child, ...], here: _Open, own: Spot) -> bool:
        """Take an element of texts alone, or around one message of texts alone; False for any other."""
        start = self.at
        length = length_of_texts(kids)
        if length >= 0:
            if not self.outside:
                self.at += length
            here.spans.append(Span(start, self.at, own, child.kind, child.label, spans_of_texts))
            return True
        message = kids[0]
        if len(kids) != 1 or type(message) is not Message or _has_rules(message):
            return False
        length = length_of_texts(message.children)
        if length < 0:
            return False
        self.at += self.frames.before(message) + length + self.end_of_message()
        here.spans.append(Span(start, self.at, own, child.kind, child.label, self.frames.spans_of_scope))
        return True

    def enter_message(self, message: Message, here: _Open, declared: Number, own: Spot) -> bool:
        """Take a message; True if its children have to be visited."""
        if (message.tool_calls or message.role == "tool") and here.part.is_unpaired(message):
            return False
        start, before = self.at, self.frames.before(message)
        length = length_of_texts(message.children)
        if length >= 0:
            self.at += before + length + self.end_of_message()
            spans = self.frames.spans_of_message
            here.spans.append(Span(start, self.at, own, "message", message.key, spans))
            return False
        self.at += before
        self.outside = False
        opened = _Open(message, enumerate(message.children), declared, here.cutoff, own, start, here.part)
        opened.spans.append(Span(start, self.at, own, "frame"))
        self.stack.append(opened)
        return True

    def choose(self, element: First | Fallback, here: _Open, declared: Number, own: Spot) -> None:
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
            if priority >= here.cutoff:
                chosen.append((at, kid))
                if isinstance(element, Fallback):
                    declared = priority
                break
        self.stack.append(_Open(element, iter(chosen), declared, here.cutoff, own, self.at, here.part))

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

    def close(self, here: _Open) -> Span:
        """The span of an element whose children are done."""
        element = here.element
        assert element is not None
        if isinstance(element, Message):
            self.outside = True
            end = self.at
            self.at += self.end_of_message()
            if end < self.at:
                here.spans.append(Span(end, self.at, here.spot, "frame"))
        return Span(here.start, self.at, here.spot, element.kind, element.label, tuple(here.spans))


def _has_rules(message: Message) -> bool:
    """Whether more decides on a message than what is around it."""
    return bool(
        message.p is not None or message.prel is not None or message.tool_calls or message.role == "tool"
    )


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
