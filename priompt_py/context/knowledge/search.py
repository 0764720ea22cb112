"""Finding chunks in a knowledge base: by words, by vectors where it has some, and a reranker's second look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs

from priompt_py.context.analysis import analyse
from priompt_py.context.doors import Door, WrongDoor
from priompt_py.context.embedders.vectors import checked_vectors
from priompt_py.context.fusion import fuse
from priompt_py.context.knowledge.store import Lexical, Near, Settings, Store, StoredChunk
from priompt_py.context.messages import Hit
from priompt_py.context.reading import OnError
from priompt_py.context.reports import Found, SearchReport
from priompt_py.context.reranking import RECALL_K, rerank_flow
from priompt_py.context.scoring import bm25
from priompt_py.context.telling import said

__all__ = ["CANDIDATES", "Searcher"]

CANDIDATES = 200
"""Chunks that the words of a query choose, before they are scored."""

_Place = tuple[str, int]  # document, chunk


@attrs.frozen
class _Scored:
    place: _Place
    row: int
    affinity: float


@attrs.frozen(kw_only=True)
class Searcher:
    """A search behind a door. ``tag`` is the function whose arguments are checked.

    ``vector_threshold``: cosines up to it are no hits; None is no threshold. ``time_limit`` is for a call of the embedder
    or the reranker, in seconds.
    """

    tag: str
    door: Door
    store: Store
    settings: Settings
    embedder: Any
    reranker: Any
    vector_threshold: float | None
    fusion_k: int
    on_error: OnError
    time_limit: float | None

    async def find(self, query: str, limit: int) -> Found:
        """The best ``limit`` chunks for ``query``, and how they were found."""
        if not query.strip():
            return Found((), SearchReport(notes=("the query is empty: nothing was searched",)))
        recall = max(RECALL_K, limit)
        by_words = await self._by_words(query, recall)
        by_vectors, report, failure = await self._by_vectors(query, recall)
        if by_vectors is None:
            places, scores = [one.place for one in by_words], {}
        else:
            fused = fuse(
                [one.place for one in by_vectors],
                [one.place for one in by_words],
                k=self.fusion_k,
                first=recall,
            )
            places, scores = [place for place, _ in fused], dict(fused)
        known = {
            one.place: one for one in (*by_words, *(by_vectors or ()))
        }  # the cosine counts, if there is one
        chosen = [known[place] for place in places[:recall]]
        chunks = await self._call(partial(self.store.read_rows, [one.row for one in chosen]))
        hits = [
            _hit(chunk, one.affinity, scores.get(one.place))
            for one, chunk in zip(chosen, chunks, strict=True)
            if chunk is not None  # another process has just deleted it
        ]
        return await rerank_flow(
            self.tag,
            self.door,
            query,
            Found(hits, report, failure=failure),
            self.reranker,
            final_k=limit,
            on_error=self.on_error,
            time_limit=self.time_limit,
        )

    async def _by_words(self, query: str, limit: int) -> list[_Scored]:
        stems = list(dict.fromkeys(analyse(query)))
        if not stems:
            return []
        found: Lexical = await self._call(partial(self.store.lexical, stems, CANDIDATES))
        totals = found.totals
        weighed = bm25(
            stems,
            documents=totals.chunks,
            mean_length=totals.stems / totals.chunks if totals.chunks else 0.0,
            frequencies=found.frequencies,
        )
        scored = [
            _Scored((one.document, one.chunk), one.row, weighed.affinity(one.counts, one.length))
            for one in found.candidates
        ]
        return sorted(scored, key=lambda one: (-one.affinity, one.place))[:limit]

    async def _by_vectors(
        self, query: str, limit: int
    ) -> tuple[list[_Scored] | None, SearchReport, Exception | None]:
        if self.embedder is None or self.settings.dim is None:
            return None, SearchReport(), None
        try:
            given = await self.door.call(
                "the embedder", self.embedder, "embed", [query], "query", time_limit=self.time_limit
            )
            vectors = checked_vectors(self.embedder.name, given, count=1, dim=self.settings.dim)
        except WrongDoor:
            raise
        except Exception as error:
            if self.on_error == "raise":
                raise
            note = f"the embedder failed, so that the search was by words alone: {said(error)}"
            return None, SearchReport(embedding="failed", notes=(note,)), error
        if (
            not vectors.any()
        ):  # near to nothing; all chunks would be equally far, and the first by name be found
            return [], SearchReport(embedding="done"), None
        found: Sequence[Near] = await self._call(partial(self.store.nearest, vectors[0], limit))
        kept = [
            _Scored((one.document, one.chunk), one.row, one.cosine)
            for one in found
            if self.vector_threshold is None or one.cosine > self.vector_threshold
        ]
        return kept, SearchReport(embedding="done"), None

    async def _call(self, function: Callable[[], Any]) -> Any:
        return await self.door.call("the store", function, "__call__")


def _hit(chunk: StoredChunk, affinity: float, rank_score: float | None) -> Hit:
    return Hit(
        chunk.text,
        affinity,
        chunk.document,
        chunk.chunk,
        rank_score=rank_score,
        source_name=chunk.name,
    )
