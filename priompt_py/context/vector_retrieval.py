"""A search in memory by what texts mean, and by their words beside it: attachments, given an embedder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from priompt_py.author.checks import got, truth, whole_number, wrong_type, wrong_value
from priompt_py.author.checks import text as checked_text
from priompt_py.context.chunking import CHUNK_OVERLAP, CHUNK_SIZE
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, WrongDoor, run_sync
from priompt_py.context.embedders.vectors import checked_vectors, numpy
from priompt_py.context.fusion import FIRST, RRF_K, fuse_hits
from priompt_py.context.messages import Attachment, Hit
from priompt_py.context.reports import Found, SearchReport
from priompt_py.context.retrieval import KEPT, Cutter
from priompt_py.context.searchable import (
    Document,
    Searchable,
    Shelf,
    best_by_words,
    distinct_documents,
    hit_of,
)
from priompt_py.context.telling import said
from priompt_py.errors import EmbedderError
from priompt_py.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    from priompt_py.context.embedders.vectors import Kind, Vectors

__all__ = ["COSINE_THRESHOLD", "VectorRetriever"]

COSINE_THRESHOLD = 0.5
"""What suits nomic-embed-text, for an embedder that doesn't say what suits it; multilingual-e5 would need 0.8."""

_PLACES = 6  # of a cosine: what 32-bit sums can tell apart, so that equal texts are equal

Progress = Callable[[str, float], object]
_Ready = Sequence[tuple[Document, Searchable]]


class VectorRetriever:
    """Finds chunks of attachments by the cosine of their vectors and the query's, fused with a search by words.

    ``embedder`` is an :class:`~priompt_py.context.protocols.Embedder`, sync or async. What is embedded is the file's name
    and the chunk. A chunk is found by its vector if its cosine is over ``threshold`` (None: the embedder's own
    ``default_threshold``, or 0.5), by its words if it holds one of the query's; both lists are fused
    (:mod:`~priompt_py.context.fusion`), with ``fusion_k`` as their constant: the smaller, the more first places count.
    ``hybrid=False`` takes vectors alone.

    Vectors are made once for each text, in batches of ``batch``, and none is asked for again after a failure in the
    same search. An embedder that fails (raises, takes longer than ``time_limit`` seconds for a batch, gives what are no
    vectors) leaves the search by words, and ``Found.report`` says so. Chunks, terms and vectors of ``keep`` characters
    of text are kept for the next search; a vector takes 4 bytes a number. The time limit of ``assemble`` is for a search
    as a whole, which has failed then: give a smaller one here.

    Raises ArgumentTypeError, ArgumentValueError, and PromptError without the extras ``context`` and ``embeddings``.
    """

    def __init__(
        self,
        embedder: Any,
        *,
        hybrid: bool = True,
        threshold: float | None = None,
        chunk_size: int = CHUNK_SIZE,
        overlap: int = CHUNK_OVERLAP,
        tokenizer: str | Tokenizer = "o200k_base",
        batch: int = 50,
        keep: int = KEPT,
        time_limit: float | None = None,
        fusion_k: int = RRF_K,
    ) -> None:
        tag = type(self).__name__
        if not callable(getattr(embedder, "embed", None)):
            raise wrong_type(
                "embedder", f"{tag}() needs an object with a method embed for embedder, got {got(embedder)}"
            )
        numpy()  # what is not installed is said here, and not in the middle of a turn
        self._embedder = embedder
        self._hybrid = truth(tag, "hybrid", hybrid)
        own = getattr(embedder, "default_threshold", COSINE_THRESHOLD)
        self._threshold = _cosine(tag, own if threshold is None else threshold)
        self._batch = whole_number(tag, "batch", batch, least=1)
        self._time_limit = time_limit
        self._fusion_k = whole_number(tag, "fusion_k", fusion_k)
        self._cutter = Cutter(tag, chunk_size, overlap, tokenizer, keep)
        self._vectors = Shelf["Vectors"](keep)
        self._failed: dict[bytes, Exception] = {}

    @property
    def default_threshold(self) -> float:
        """That of the cosines; 0 where two lists are fused, which had each their own before."""
        return 0.0 if self._hybrid else self._threshold

    # ------------------------------------------------------------------------------------ the search

    def search(self, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        """At most ``limit`` hits, the best first, and how they were found.

        ``Hit.affinity`` is the cosine, or that of BM25 for what only its words found; ``rank_score`` is the fused score.
        Each search looks at 20 of each list. A document whose id or text came before is searched once. Raises
        ArgumentTypeError (also for an async embedder) and ArgumentValueError.
        """
        return run_sync(self._search(self._sync_door("search"), query, documents, limit))

    async def asearch(self, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        """As :meth:`search`, for an async embedder, too."""
        return await self._search(AsyncDoor(), query, documents, limit)

    async def _search(self, door: Door, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        tag = f"{type(self).__name__}.search"
        query = checked_text(tag, "query", query)
        whole_number(tag, "limit", limit, least=1)
        distinct = distinct_documents(tag, documents)
        cut: _Ready = await door.call("cutting texts", self._cutter, "cut_all", distinct)
        ready = [(document, one) for document, one in cut if one.chunks]
        if not query.strip() or not ready:
            return Found()
        most = FIRST if self._hybrid else limit
        try:
            near = await self._by_vectors(door, query, ready, most)
        except WrongDoor:
            raise
        except Exception as error:  # noqa: BLE001 - said in the report, which `Found.failure` can raise again
            lexical = best_by_words(query, ready, limit)
            notes = (f"the embedder failed: {said(error)}",)
            return Found(lexical, SearchReport(embedding="failed", notes=notes), 0.0, failure=error)
        finally:
            self._cutter.trim()
            self._vectors.trim()
        if self._hybrid:
            places = {document.attachment.id: document.place for document, _ in ready}
            near = [hit for hit in near if hit.affinity > self._threshold]
            lexical = best_by_words(query, ready, FIRST)
            near = fuse_hits(
                near, lexical, key=lambda hit: (places[hit.source_id], hit.chunk), k=self._fusion_k
            )
        return Found(near[:limit], SearchReport(embedding="done"))

    async def _by_vectors(self, door: Door, query: str, ready: _Ready, most: int) -> list[Hit]:
        keys = [self._key(document) for document, _ in ready]
        for failure in [self._failed.pop(key, None) for key in keys]:
            if failure is not None:  # a moment ago, when it was prepared
                raise failure
        rows = [await self._rows(door, document, one) for document, one in ready]
        [wanted] = await self._embed(door, [query], "query")
        scored = sorted(
            (-round(float(cosine), _PLACES), document.place, chunk)
            for (document, _), vectors in zip(ready, rows, strict=True)
            for chunk, cosine in enumerate(vectors @ wanted)
        )
        by_place = {document.place: (document, one) for document, one in ready}
        return [hit_of(*by_place[place], chunk, -cosine) for cosine, place, chunk in scored[:most]]

    # ------------------------------------------------------------------------------------ vectors

    def pending(self, documents: Sequence[Attachment]) -> list[Attachment]:
        """The documents that have no vectors yet."""
        self._vectors.trim()
        distinct = distinct_documents(f"{type(self).__name__}.pending", documents)
        for document in distinct:
            self._failed.pop(self._key(document), None)
        return [one.attachment for one in distinct if self._vectors.get(self._key(one)) is None]

    def prepare(self, document: Attachment, progress: Progress) -> None:
        """Make a document's vectors; ``progress`` is told the step and how far it is, in per cent.

        EmbedderError where they can't be had; the next search doesn't ask for them again then.
        """
        run_sync(self._prepare(self._sync_door("prepare"), document, progress))

    async def aprepare(self, document: Attachment, progress: Progress) -> None:
        """As :meth:`prepare`, for an async embedder, too."""
        await self._prepare(AsyncDoor(), document, progress)

    async def _prepare(self, door: Door, attachment: Attachment, progress: Progress) -> None:
        for document in distinct_documents(f"{type(self).__name__}.prepare", [attachment]):
            progress("Chunking", 0.0)
            ready = await door.call("cutting texts", self._cutter, "cut", document)
            progress("Chunking", 100.0)
            if not ready.chunks:
                return
            try:
                await self._rows(door, document, ready, progress)
            except WrongDoor:
                raise
            except Exception as error:
                self._failed[self._key(document)] = error
                raise

    async def _rows(
        self, door: Door, document: Document, ready: Searchable, progress: Progress | None = None
    ) -> Vectors:
        """The vectors of a document's chunks, made if they aren't there."""
        key = self._key(document)
        known = self._vectors.get(key)
        if known is not None:
            return known
        texts = [f"{document.attachment.name}\n{one.text}" for one in ready.chunks]
        parts: list[Vectors] = []
        for start in range(0, len(texts), self._batch):
            parts.append(await self._embed(door, texts[start : start + self._batch], "passage"))
            if progress is not None:
                progress("Embedding", 100 * min(start + self._batch, len(texts)) / len(texts))
        made: Vectors = numpy().concatenate(parts)
        self._vectors.put(key, made, len(document.text))
        return made

    async def _embed(self, door: Door, texts: list[str], kind: Kind) -> Vectors:
        name = str(getattr(self._embedder, "name", type(self._embedder).__name__))
        try:
            given: Any = await door.call(
                "the embedder", self._embedder, "embed", texts, kind, time_limit=self._time_limit
            )
            dim = self._embedder.dim
        except (EmbedderError, WrongDoor):
            raise
        except TimeoutError as error:
            raise EmbedderError(name, "timeout", str(error)) from error
        except Exception as error:
            detail = f"it failed with {said(error)}"
            raise EmbedderError(name, "failed", detail) from error
        return checked_vectors(name, given, count=len(texts), dim=dim)

    def _key(self, document: Document) -> bytes:
        name = document.attachment.name.encode()
        return hashlib.sha256(name + b"\0" + document.digest).digest()

    def _sync_door(self, method: str) -> SyncDoor:
        return SyncDoor(f"{type(self).__name__}.{method}", f"a{method}() or aassemble")


def _cosine(tag: str, value: object) -> float:
    if type(value) not in (int, float):
        raise wrong_type("threshold", f"{tag}() needs a number for threshold, got threshold={got(value)}")
    threshold = float(cast("float", value))
    if not 0 <= threshold <= 1:  # NaN is outside too
        raise wrong_value(
            "threshold", f"{tag}() needs a number from 0 to 1 for threshold, got threshold={got(value)}"
        )
    return threshold
