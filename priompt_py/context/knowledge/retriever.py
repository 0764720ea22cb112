"""A knowledge base where a retriever is asked for: its own documents, and beside them the files of the conversation."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import attrs

from priompt_py.author.checks import text as checked_text
from priompt_py.author.checks import whole_number
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, run_sync
from priompt_py.context.fusion import fuse
from priompt_py.context.knowledge.search import Searcher
from priompt_py.context.knowledge.tools import is_small_talk
from priompt_py.context.messages import Attachment, Hit
from priompt_py.context.reports import Found
from priompt_py.context.reranking import RECALL_K, rerank_flow
from priompt_py.context.retrieval import BM25Retriever
from priompt_py.context.vector_retrieval import COSINE_THRESHOLD, Progress, VectorRetriever
from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["KnowledgeRetriever"]


class KnowledgeRetriever:
    """Searches a knowledge base, and the files that it is given (``files=False``: not those), as one.

    Made by ``KnowledgeBase.as_retriever``. Both are searched alike: cut and compared as the base's settings say, by
    words, and by vectors where the base is opened with its embedder; cosines up to ``threshold`` are no hits. Both
    lists are fused by their places, since their affinities are worked out from different texts; of equals the file's
    hit goes first, and a text that both hold is one hit, the file's. Then the base's reranker looks at them, if it has
    one. Greetings and thanks are not searched for in the base.

    An embedder that fails is asked no more in that search, and words find the rest. Thread-safe.
    """

    default_threshold = float("-inf")  # each list had its own before
    own_documents = True

    def __init__(
        self,
        searcher: Searcher,
        tokenizer: Tokenizer,
        *,
        files: bool,
        threshold: float | None,
        time_limit: float | None,
    ) -> None:
        settings = searcher.settings
        shared: dict[str, Any] = {
            "chunk_size": settings.chunk_size,
            "overlap": settings.overlap,
            "tokenizer": tokenizer,
        }
        self._files = files
        self._words = BM25Retriever(**shared)
        self._vectors: VectorRetriever | None = None
        embedder = searcher.embedder
        self._once: _AskedOnce | None = None
        if embedder is not None and settings.dim is not None:
            if threshold is None:
                threshold = searcher.vector_threshold
            if threshold is None:
                threshold = float(getattr(embedder, "default_threshold", COSINE_THRESHOLD))
            embedder = self._once = _AskedOnce(embedder)
            self._vectors = VectorRetriever(
                embedder,
                threshold=max(0.0, threshold),
                time_limit=time_limit,
                fusion_k=searcher.fusion_k,
                **shared,
            )
        self._reranker = searcher.reranker
        self._searcher = attrs.evolve(
            searcher,
            tag="KnowledgeRetriever.search",
            embedder=embedder,
            reranker=None,
            vector_threshold=threshold,
            time_limit=time_limit,
        )

    # -------------------------------------------------------------------------------------- the search

    def search(self, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        """At most ``limit`` hits of the base and of ``documents`` (with their texts), the best first.

        ``rank_score`` is the score of both lists' places. Raises KnowledgeBaseError, ArgumentTypeError (also for an
        async embedder or reranker) and ArgumentValueError.
        """
        return run_sync(self._search(_sync_door("search"), query, documents, limit))

    async def asearch(self, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        """As :meth:`search`; embedder and reranker may be async."""
        return await self._search(AsyncDoor(), query, documents, limit)

    async def _search(self, door: Door, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        try:
            return await self._searched(door, query, documents, limit)
        finally:
            if self._once is not None:
                self._once.forget()

    async def _searched(self, door: Door, query: str, documents: Sequence[Attachment], limit: int) -> Found:
        tag = self._searcher.tag
        query = checked_text(tag, "query", query)
        whole_number(tag, "limit", limit, least=1)
        if not query.strip():
            return Found()
        recall = limit if self._reranker is None else max(limit, RECALL_K)
        of_files, of_base = Found(), Found()
        if self._files and documents:
            of_files = await self._in_files(door, self._vectors or self._words, query, documents, recall)
        said = of_files
        if not is_small_talk(query):
            searcher = attrs.evolve(self._searcher, door=door)
            if of_files.report.embedding == "failed":  # and is asked no more
                searcher = attrs.evolve(searcher, embedder=None)
            of_base = await searcher.find(query, recall)
            if of_files.report.embedding != "failed":
                said = of_base
            if of_files and of_base.report.embedding == "failed":  # files by the same measure
                of_files = await self._in_files(door, self._words, query, documents, recall)
        threshold = (
            0.0 if said.report.embedding == "failed" else None
        )  # cosines can't be had, nor what bounds them
        hits = _together(of_files, of_base, k=self._searcher.fusion_k)[:recall]
        return await rerank_flow(
            tag,
            door,
            query,
            Found(hits, said.report, threshold, failure=said.failure),
            self._reranker,
            final_k=limit,
            time_limit=self._searcher.time_limit,
        )

    async def _in_files(
        self, door: Door, retriever: object, query: str, documents: Sequence[Attachment], limit: int
    ) -> Found:
        given: Sequence[Hit] = await door.call(
            "the search in files", retriever, "search", query, documents, limit
        )
        return given if isinstance(given, Found) else Found(given)

    # -------------------------------------------------------------------------------------- what files need

    def pending(self, documents: Sequence[Attachment]) -> list[Attachment]:
        """The documents that have no vectors yet."""
        return [] if self._vectors is None or not self._files else self._vectors.pending(documents)

    def prepare(self, document: Attachment, progress: Progress) -> None:
        """Make a document's vectors; EmbedderError where they can't be had."""
        if self._vectors is not None:
            self._vectors.prepare(document, progress)

    async def aprepare(self, document: Attachment, progress: Progress) -> None:
        """As :meth:`prepare`, for an async embedder, too."""
        if self._vectors is not None:
            await self._vectors.aprepare(document, progress)


def _sync_door(method: str) -> SyncDoor:
    return SyncDoor(f"KnowledgeRetriever.{method}", f"a{method}() or aassemble")


def _together(of_files: Sequence[Hit], of_base: Sequence[Hit], *, k: int) -> list[Hit]:
    """Both as one list, fused by their places; a text that both hold is the file's, at the sum of its scores."""
    if not of_files or not of_base:  # nothing to fuse: scores stay as they are
        return list(of_files or of_base)
    hits: dict[str, Hit] = {}
    for place in range(max(len(of_files), len(of_base))):
        for ranking in (of_files, of_base):
            for hit in ranking[place : place + 1]:
                hits.setdefault(hit.text, hit)
    hits |= {hit.text: hit for hit in reversed(of_files)}
    order = {text: number for number, text in enumerate(hits)}
    rankings = [[order[hit.text] for hit in ranking] for ranking in (of_files, of_base)]
    best = list(hits.values())
    fused = fuse(*rankings, k=k, first=len(best))
    return [attrs.evolve(best[number], rank_score=score) for number, score in fused]


class _AskedOnce:
    """An embedder that isn't asked twice in a search for the vector of its question, which base and files both need."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._last: tuple[list[str], Any] | None = None
        if callable(getattr(embedder, "aembed", None)):
            self.aembed = partial(self._embed, embedder.aembed)  # doors prefer it where they can

    @property
    def name(self) -> str:
        return str(self._embedder.name)

    @property
    def dim(self) -> int:
        return int(self._embedder.dim)

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        """What the embedder gives, or an awaitable of it."""
        return self._embed(self._embedder.embed, texts, kind)

    def forget(self) -> None:
        """The search is over: what was given may have been wrong."""
        self._last = None

    def _embed(self, embed: Callable[..., Any], texts: Sequence[str], kind: str) -> Any:
        if kind != "query":
            return embed(texts, kind)
        last = self._last
        if last is not None and last[0] == list(texts):
            return last[1]
        if inspect.iscoroutinefunction(embed):
            return self._later(embed, texts, kind)
        given = embed(texts, kind)
        if not inspect.isawaitable(given):
            self._last = (list(texts), given)
        return given

    async def _later(self, embed: Callable[..., Awaitable[Any]], texts: Sequence[str], kind: str) -> Any:
        given = await embed(texts, kind)
        self._last = (list(texts), given)
        return given
