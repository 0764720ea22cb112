"""What a context may be given from outside: everything that reads, searches, thinks or listens.

Each may be sync (a plain method) or async (an ``async def``); ``assemble`` takes sync ones alone, ``aassemble`` both, the
sync ones in a thread of their own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from priompt_py.context.messages import Attachment, Hit, Message
from priompt_py.context.reports import Event

__all__ = [
    "CitationSink",
    "Embedder",
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


class Embedder(Protocol):
    """Turns texts into vectors of ``dim`` numbers, a row each in order: lists of floats, or an array.

    ``kind`` says whether the texts are questions or what is to be found; some models write a word before each. What
    vectors are stored with is ``name``: two embedders of one name must give the same. Lengths of vectors don't matter.
    It may have a ``default_threshold``, a cosine up to which two texts have nothing to do with each other.
    """

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: Literal["query", "passage"], /) -> MaybeAwaitable[Any]: ...


class Retriever(Protocol):
    """Searches documents, given as attachments; the best hits first, at most ``limit``.

    What has an affinity of ``default_threshold`` or less is no hit. It may give :class:`~priompt_py.context.reports.Found`
    in place of a list, which also says how the search went, and have more than is asked for here:

    ``reads = True``
        it knows documents by their ids, or reads them itself; the others get them with their text.
    ``own_documents = True``
        it searches other documents beside the files it is given, or in place of them: it is asked for each question,
        also where no file is attached, or all go in whole.
    ``pending(documents)``
        gives those that need work first; ``prepare(document, progress)`` does it, and calls
        ``progress("Embedding", 12.5)`` meanwhile. An EmbedderError ends the work, not the search.
    """

    @property
    def default_threshold(self) -> float: ...

    def search(
        self, query: str, documents: Sequence[Attachment], limit: int, /
    ) -> MaybeAwaitable[Sequence[Hit]]: ...


class Reranker(Protocol):
    """Orders texts anew: pairs of index (into ``texts``, from 0) and score, greater is better, ``top_k`` or fewer.

    No index comes twice. Texts that are not in the answer are left out.
    """

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
