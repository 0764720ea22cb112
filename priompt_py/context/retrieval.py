"""The search that needs nothing set up: BM25 over the attachments of a conversation, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from priompt_py.author.checks import text as checked_text
from priompt_py.author.checks import whole_number, wrong_value
from priompt_py.context.analysis import analyse
from priompt_py.context.chunking import CHUNK_OVERLAP, CHUNK_SIZE
from priompt_py.context.messages import Attachment, Hit
from priompt_py.context.searchable import (
    Document,
    Searchable,
    Shelf,
    best_by_words,
    distinct_documents,
    searchable,
)
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

__all__ = ["KEPT", "BM25Retriever", "Cutter"]

KEPT = 4_000_000
"""Characters of analysed text that a retriever keeps for the next search: 12 to 24 MB, of Chinese up to 120 MB."""


class Cutter:
    """Cuts and analyses documents, and keeps what it did; used by several threads at once."""

    def __init__(
        self, tag: str, chunk_size: int, overlap: int, tokenizer: str | Tokenizer, keep: int
    ) -> None:
        self.size = whole_number(tag, "chunk_size", chunk_size, least=1)
        self.overlap = whole_number(tag, "overlap", overlap)
        if overlap >= chunk_size:
            raise wrong_value(
                "overlap",
                f"{tag}() needs overlap < chunk_size, got overlap={overlap} and chunk_size={chunk_size}",
            )
        self.tokenizer = get_tokenizer(tokenizer)
        analyse("word")  # what is not installed is said here, and not in the middle of a turn
        self._shelf = Shelf[Searchable](whole_number(tag, "keep", keep))

    def cut(self, document: Document) -> Searchable:
        """The document's chunks and terms."""
        found = self._shelf.get(document.digest)
        if found is None:
            found = searchable(document.text, self.size, self.overlap, self.tokenizer)
            self._shelf.put(document.digest, found, len(document.text))
        return found

    def cut_all(self, documents: Sequence[Document]) -> list[tuple[Document, Searchable]]:
        return [(document, self.cut(document)) for document in documents]

    def trim(self) -> None:
        self._shelf.trim()


class BM25Retriever:
    """Finds chunks of attachments by their words: no model, no index, nothing to set up.

    Texts are cut into chunks of ``chunk_size`` tokens, ``overlap`` of them shared, and compared by stems, see
    :func:`~priompt_py.context.analysis.analyse`. ``Hit.affinity`` is how much of the query a chunk answers, from over 0
    to below 1 (:mod:`~priompt_py.context.scoring`); every chunk that holds a term of the query is a hit. The analysis
    of ``keep`` characters of text is kept for the next search, the longest unused goes first. Thread-safe.

    Raises ArgumentTypeError, ArgumentValueError, and PromptError without the extra ``context``.
    """

    default_threshold = 0.0

    def __init__(
        self,
        *,
        chunk_size: int = CHUNK_SIZE,
        overlap: int = CHUNK_OVERLAP,
        tokenizer: str | Tokenizer = "o200k_base",
        keep: int = KEPT,
    ) -> None:
        self._cutter = Cutter(type(self).__name__, chunk_size, overlap, tokenizer, keep)

    def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
        """At most ``limit`` hits, the best first; equal ones in the order of documents, then of chunks.

        A document whose id or text came before is searched once. Raises ArgumentTypeError and ArgumentValueError, the
        latter also for a document without text.
        """
        tag = f"{type(self).__name__}.search"
        query = checked_text(tag, "query", query)
        whole_number(tag, "limit", limit, least=1)
        ready = self._cutter.cut_all(distinct_documents(tag, documents))
        found = best_by_words(query, ready, limit)
        self._cutter.trim()
        return found
