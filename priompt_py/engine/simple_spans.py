"""The spans inside elements that hold texts alone: made from the element's own span when somebody asks.

Most elements of large prompts are such, and few are looked at.
"""

from __future__ import annotations

from priompt_py.model.elements import Child, Container, Message
from priompt_py.model.place import Spot
from priompt_py.model.source_map import Span
from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["Frames", "length_of_texts", "spans_of_texts", "texts_in"]


def length_of_texts(children: tuple[Child, ...]) -> int:
    """The characters of children that are all texts; -1 where one is something else."""
    total = 0
    for child in children:
        if type(child) is not str:
            return -1
        total += len(child)
    return total


def texts_in(children: tuple[Child, ...], spot: Spot, start: int, end: int) -> list[Span]:
    """The spans of children that are all texts, in an element that stands at ``spot``; all empty where they were
    dropped beside messages."""
    spans: list[Span] = []
    for index, child in enumerate(children):
        stop = min(start + len(str(child)), end)
        spans.append(Span(start, stop, (index, child, spot), "text"))
        start = stop
    return spans


def spans_of_texts(span: Span) -> tuple[Span, ...]:
    """The spans inside an element that holds texts alone."""
    element = _element(span)
    return tuple(texts_in(element.children, span.spot, span.start, span.end))


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

    def spans_of_message(self, span: Span) -> tuple[Span, ...]:
        """The spans inside a message that holds texts alone."""
        message = _element(span)
        assert isinstance(message, Message)
        start = span.start + self.before(message)
        end = start + max(0, length_of_texts(message.children))
        spans = [
            Span(span.start, start, span.spot, "frame"),
            *texts_in(message.children, span.spot, start, end),
        ]
        if end < span.end:
            spans.append(Span(end, span.end, span.spot, "frame"))
        return tuple(spans)

    def spans_of_scope(self, span: Span) -> tuple[Span, ...]:
        """The span inside a scope that holds a message of texts alone."""
        (message,) = _element(span).children
        assert isinstance(message, Message)
        spot = (0, message, span.spot)
        return (Span(span.start, span.end, spot, "message", message.key, self.spans_of_message),)


def _element(span: Span) -> Container:
    assert isinstance(span.spot, tuple)
    element = span.spot[1]
    assert isinstance(element, Container)
    return element
