"""What a context may be given from outside: everything that reads, searches, thinks or listens.

Each may be sync (a plain method) or async (an ``async def``); ``assemble`` takes sync ones alone, ``aassemble`` both, the
sync ones in a thread of their own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from priompt_py.context.messages import Attachment, Hit, Message
from priompt_py.context.reports import Event

__all__ = [
    "CitationSink",
    "EventSink",
    "Loader",
    "MaybeAwaitable",
    "Parser",
    "Reranker",
    "Retriever",
    "Summarizer",
]

_T = TypeVar("_T")
MaybeAwaitable: TypeAlias = _T | Awaitable[_T]


class Loader(Protocol):
    """Reads what an attachment refers to."""

    def read(self, attachment: Attachment, /) -> MaybeAwaitable[bytes]: ...


class Parser(Protocol):
    """Turns a file's bytes into text; ``name`` is the file's, whose ending says what it is."""

    def parse(self, data: bytes, name: str, /) -> MaybeAwaitable[str]: ...


class Retriever(Protocol):
    """Searches documents, given as attachments; the best hits first, at most ``limit``.

    What has an affinity of ``default_threshold`` or less is no hit.
    """

    @property
    def default_threshold(self) -> float: ...

    def search(
        self, query: str, documents: Sequence[Attachment], limit: int, /
    ) -> MaybeAwaitable[Sequence[Hit]]: ...


class Reranker(Protocol):
    """Orders texts anew: pairs of index (into ``texts``, from 0) and score, the best first, at most ``top_k``."""

    def rerank(
        self, query: str, texts: Sequence[str], top_k: int, /
    ) -> MaybeAwaitable[Sequence[tuple[int, float]]]: ...


class Summarizer(Protocol):
    """Says in short what messages say."""

    def summarize(self, messages: Sequence[Message], instructions: str, /) -> MaybeAwaitable[str]: ...


class EventSink(Protocol):
    """Is told what happens, an event at a time, in order."""

    def __call__(self, event: Event, /) -> MaybeAwaitable[None]: ...


class CitationSink(Protocol):
    """Gets the hits that go into the prompt, the first being citation 1."""

    def __call__(self, hits: Sequence[Hit], /) -> MaybeAwaitable[None]: ...
