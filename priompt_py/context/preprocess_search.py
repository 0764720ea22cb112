"""The search of ``preprocess``: what the retriever needs first, its hits, and their order by a reranker."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs

from priompt_py.context.doors import Door, WrongDoor
from priompt_py.context.messages import Attachment, Hit
from priompt_py.context.preprocess_options import Options
from priompt_py.context.preprocess_parts import checked_hits
from priompt_py.context.reading import Content
from priompt_py.context.reports import Found
from priompt_py.context.reranking import rerank_flow
from priompt_py.context.telling import Teller, said
from priompt_py.errors import EmbedderError

__all__ = ["NOT_SEARCHED", "Search", "hit_metrics"]

# "Nothing was found" would not be true.
NOT_SEARCHED = ("retriever-failed", "no-retriever", "no-documents", "empty-query")


def hit_metrics(hit: Hit, tokens: int) -> dict[str, Any]:
    """What a report says of a hit, which is all but its text."""
    more = {"rerank": hit.rerank, "rank_score": hit.rank_score}
    return {"source": hit.source_id, "chunk": hit.chunk, "affinity": hit.affinity, "tokens": tokens} | {
        name: score for name, score in more.items() if score is not None
    }


class Search:
    """One search, with what it has to say for the report. ``read`` gives contents of files."""

    def __init__(
        self,
        options: Options,
        door: Door,
        teller: Teller,
        read: Callable[[Sequence[Attachment]], Awaitable[list[Content]]],
    ) -> None:
        self.options = options
        self.door = door
        self.teller = teller
        self.read = read
        self.notes: list[str] = []
        self.metrics: dict[str, Any] = {}

    async def run(self, query: str, files: Sequence[Attachment]) -> tuple[list[Hit], str]:
        """The hits to cite, the best first, or none and why."""
        options, tell = self.options, self.teller.tell
        hits: list[Hit] = []
        await tell("retrieving", "loading", text="loading the search")
        if not query.strip():
            reason = "empty-query"
        elif options.retriever is None:
            reason = "no-retriever"
            self.notes.append("files would have been searched, but no retriever was given")
        else:
            try:
                hits, reason = await self._search(query, files)
            except WrongDoor:
                raise
            except Exception as error:
                if options.on_error == "raise":
                    raise
                self.notes.append(f"the retriever failed: {said(error)}")
                await tell("retrieving", "error", text=said(error))
                return [], "retriever-failed"
            if hits:
                hits = await self._rerank(query, hits)
                names = {one.id: one.name for one in files}
                hits = [
                    hit
                    if hit.source_name is not None
                    else attrs.evolve(hit, source_name=names.get(hit.source_id))
                    for hit in hits
                ]
                reason = "" if hits else "no-hits"
        count = len(hits)
        await tell("retrieving", "done" if hits else "canceled", text=f"{count} found" if hits else reason)
        return hits, reason

    async def _search(self, query: str, files: Sequence[Attachment]) -> tuple[Found, str]:
        options = self.options
        documents = await self._documents(files)
        if not documents and not options.own_documents:
            return Found(), "no-documents"
        await self._prepare(documents)
        await self.teller.tell("retrieving", "loading", text="searching")
        limit = options.limit if options.reranker is None else max(options.limit, options.recall_k)
        given: object = await self._call("search", query, documents, limit)
        found = checked_hits(given)[:limit]
        threshold = options.threshold
        if threshold is None:
            threshold = float(getattr(options.retriever, "default_threshold", 0.0))
        report = None
        if isinstance(given, Found):
            report = given.report
            if given.failure is not None and options.on_error == "raise":
                raise given.failure
            if given.threshold is not None:
                threshold = given.threshold
            self._note(report.notes)
            self.metrics |= {"embedding": report.embedding, "rerank": report.rerank}
        lost = sum(math.isnan(hit.affinity) for hit in found)
        if lost:  # over no threshold, and so they would go without a word
            self.notes.append(
                f"the retriever gave {lost} of {len(found)} hits the affinity NaN; they are left out"
            )
        hits = Found((hit for hit in found if hit.affinity > threshold), report)
        return hits, "" if hits else "no-hits"

    async def _rerank(self, query: str, hits: Found) -> list[Hit]:
        options = self.options
        if options.reranker is None:
            return hits
        await self.teller.tell("reranking", "loading", text=f"{len(hits)} hits")
        found = await rerank_flow(
            options.tag,
            self.door,
            query,
            hits,
            options.reranker,
            final_k=options.limit,
            on_error=options.on_error,
            time_limit=options.time_limit,
        )
        self._note(found.report.notes)
        self.metrics["rerank"] = found.report.rerank
        failed = found.report.rerank == "failed"
        text = said(found.failure) if failed and found.failure is not None else f"{len(found)} hits"
        await self.teller.tell("reranking", "error" if failed else "done", text=text)
        return found

    def _note(self, notes: Sequence[str]) -> None:
        self.notes += [note for note in notes if note not in self.notes]

    # ------------------------------------------------------------------------------------ before it

    async def _documents(self, files: Sequence[Attachment]) -> Sequence[Attachment]:
        """The files with their text. A retriever that says ``reads = True`` knows files by their id, or reads them."""
        if getattr(self.options.retriever, "reads", False):
            return files
        return [
            attrs.evolve(content.attachment, text=content.text)
            for content in await self.read(files)
            if content.text is not None
        ]

    async def _prepare(self, documents: Sequence[Attachment]) -> None:
        """Let the retriever do what it has to do for files that it doesn't know yet, if it says which those are.

        Its method ``pending(documents)`` gives them, ``prepare(document, progress)`` works, and calls
        ``progress("Chunking", 12.5)`` meanwhile. An embedder that fails once is asked no more; the search goes on.
        """
        retriever, tell = self.options.retriever, self.teller.tell
        if not callable(getattr(retriever, "pending", None)):
            return
        waiting: list[Attachment] = list(await self._call("pending", documents))
        for document in waiting:
            await tell("embedding", "waiting", document.id)
        failed = False
        for document in waiting:
            if failed:
                await tell("embedding", "canceled", document.id)
                continue
            relay = self.teller.relay("embedding", document.id)
            await tell("embedding", "loading", document.id, text="loading")

            def progress(
                step: str, percent: float, relay: Callable[[str, float | None], None] = relay
            ) -> None:
                relay(step, round(percent, 1))

            try:
                await self._call("prepare", document, progress)
            except EmbedderError as error:
                if self.options.on_error == "raise":
                    raise
                failed = True
                self._note([f"the embedder failed: {said(error)}"])
                await relay.settled()
                await tell("embedding", "error", document.id, text=said(error))
            else:
                await relay.settled()
                await tell("embedding", "done", document.id)

    async def _call(self, method: str, *arguments: Any) -> Any:
        return await self.door.call(
            "the retriever", self.options.retriever, method, *arguments, time_limit=self.options.time_limit
        )
