"""The spans inside elements of *lines*: of texts, scopes around one text, and elements without children. They are made when
somebody asks.

Most elements of large prompts are such, and few are looked at; their own span needs only the length of what is in. An object
less for each also spares the collector, which costs more than the visit where there are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from priompt_py.model import elements
from priompt_py.model.elements import RULE_TEXT, Child, Container, Element, Message, Number, Scope
from priompt_py.model.place import Spot
from priompt_py.model.source_map import Inside, Span
from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["LENGTHS", "Frames", "length_of_lines", "length_of_texts", "spans_of_lines", "spans_of_texts"]


class _Lengths(dict[type[Element], int | None]):
    """How many characters elements of a class give, that hold no others; None for those that do.

    By class, subclasses included: a tag without arguments is an element of a class of its own.
    """

    _BASES: Sequence[tuple[type[Element], int]] = (
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

    def __missing__(self, kind: type[Element]) -> int | None:
        self[kind] = next((length for base, length in self._BASES if issubclass(kind, base)), None)
        return self[kind]


LENGTHS = _Lengths()


def length_of_texts(children: tuple[Child, ...]) -> int:
    """The characters of children that are all texts; -1 where one is something else."""
    total = 0
    for child in children:
        if type(child) is not str:
            return -1
        total += len(child)
    return total


def length_of_lines(children: tuple[Child, ...], declared: Number, cutoff: Number) -> int:
    """The characters of what is in of children that are all lines; -1 where one is something else. ``declared`` is the
    priority around them."""
    total = 0
    for child in children:
        if not isinstance(child, Element):
            total += _length_of_text(child)
            continue
        length = LENGTHS[type(child)]
        if length is None:
            if type(child) is not Scope or len(child.children) != 1:
                return -1
            text = child.children[0]
            if type(text) is not str:
                return -1
            length = len(text)
        if _is_in(child, declared, cutoff):
            total += length
    return total


def _length_of_text(child: str | float | None) -> int:
    if isinstance(child, str):
        return len(child)
    return 0 if child is None or type(child) is bool else len(str(child))


def _is_in(child: Element, around: Number, cutoff: Number) -> bool:
    """Whether a line's priority reaches the cutoff; what has none is in with what is around it."""
    if child.p is not None:
        return child.p >= cutoff
    if child.prel is not None:
        return around + child.prel >= cutoff
    return around >= cutoff or type(child) is not Scope


def spans_of_texts(span: Span) -> tuple[Span, ...]:
    """The spans inside an element that holds texts alone."""
    return tuple(_lines(_kids(_element(span)), 0, 0, span.spot, span.start, span.end))


def spans_of_lines(
    children: tuple[Child, ...], declared: Number, cutoff: Number, span: Span
) -> tuple[Span, ...]:
    """The spans inside an element whose children have a length of lines."""
    return tuple(_lines(children, declared, cutoff, span.spot, span.start, span.end))


def _lines(
    children: tuple[Child, ...], declared: Number, cutoff: Number, spot: Spot, start: int, end: int
) -> list[Span]:
    """The spans of lines, from ``start`` on; all are empty where they were dropped beside messages."""
    spans: list[Span] = []
    for index, child in enumerate(children):
        own = (index, child, spot)
        if isinstance(child, Element):
            if _is_in(child, declared, cutoff):
                length = LENGTHS[type(child)]
                inside: Inside = ()
                if length is None:  # a scope around a text
                    length, inside = length_of_texts(_kids(child)), spans_of_texts
                stop = min(start + length, end)
                spans.append(Span(start, stop, own, child.kind, child.label, inside))
                start = stop
        elif child is not None and type(child) is not bool:
            stop = min(start + _length_of_text(child), end)
            spans.append(Span(start, stop, own, "text"))
            start = stop
    return spans


def _kids(element: Child) -> tuple[Child, ...]:
    assert isinstance(element, Container)
    return element.children


def _element(span: Span) -> Child:
    assert isinstance(span.spot, tuple)
    return span.spot[1]


class Frames:
    """What a chat's flat form puts around the content of messages."""

    __slots__ = ("_before", "_chat_format", "after")

    def __init__(self, chat_format: ChatFormat) -> None:
        self._chat_format = chat_format
        self._before: dict[tuple[str, str | None, str | None], int] = {}
        self.after = len(chat_format.im_end)

    def before(self, message: Message) -> int:
        """The characters before a message's content."""
        key = (message.role, message.name, message.to)
        length = self._before.get(key)
        if length is None:
            marks = self._chat_format
            length = len(marks.im_start) + len(marks.header(*key)) + len(marks.im_sep)
            self._before[key] = length
        return length

    def spans_of_texts(self, span: Span) -> tuple[Span, ...]:
        """The spans inside a message that holds texts alone."""
        return self.spans_of_lines(0, 0, span)

    def spans_of_lines(self, declared: Number, cutoff: Number, span: Span) -> tuple[Span, ...]:
        """The spans inside a message whose children have a length of lines."""
        message = _element(span)
        assert isinstance(message, Message)
        start = span.start + self.before(message)
        end = start + length_of_lines(message.children, declared, cutoff)
        spans = [
            Span(span.start, start, span.spot, "frame"),
            *_lines(message.children, declared, cutoff, span.spot, start, end),
        ]
        if end < span.end:
            spans.append(Span(end, span.end, span.spot, "frame"))
        return tuple(spans)

    def spans_around(self, span: Span) -> tuple[Span, ...]:
        """The span inside an element around one message of texts alone."""
        (message,) = _kids(_element(span))
        return _around(message, span, self.spans_of_texts)

    def spans_around_lines(
        self, message: Message, declared: Number, cutoff: Number, span: Span
    ) -> tuple[Span, ...]:
        """The span inside an element around one message whose children have a length of lines."""
        return _around(message, span, partial(self.spans_of_lines, declared, cutoff))


def _around(message: Child, span: Span, inside: Inside) -> tuple[Span, ...]:
    assert isinstance(message, Message)
    spot = (0, message, span.spot)
    return (Span(span.start, span.end, spot, "message", message.key, inside),)
