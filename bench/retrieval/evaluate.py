"""How many questions are answered: by words, by vectors and by both, each with and without a second look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from bench.retrieval.corpus import Document, Question
from priompt_py.context import Attachment, Hit, KnowledgeBase, rerank
from priompt_py.context.embedders.vectors import embed_texts
from priompt_py.context.knowledge.sqlite_store import SqliteStore

__all__ = ["SEARCHES", "Outcome", "evaluate", "made", "recall"]

SEARCHES = ("words", "vectors", "hybrid", "hybrid, k = 10")
RECALL = 20
FIRST = 5


@attrs.frozen
class Outcome:
    """For each question the place (from 1) of the first hit that answers, None where none of them does."""

    search: str
    reranker: str
    places: tuple[int | None, ...]

    def within(self, first: int) -> int:
        """How many questions are answered by the first so many hits."""
        return sum(1 for place in self.places if place is not None and place <= first)


def made(path: Path, documents: Sequence[Document], embedder: Any, **settings: Any) -> None:
    """A knowledge base of the documents."""
    attachments = [
        Attachment(document.id, f"{document.id}.txt", text=document.text) for document in documents
    ]
    with KnowledgeBase.open(path, embedder, **settings) as base:
        report = base.add(attachments)
        failed = [one for one in report.documents if one.status == "failed"]
        assert not failed, failed


def recall(path: Path, search: str, questions: Sequence[Question], embedder: Any) -> list[list[Hit]]:
    """The first twenty hits for each question."""
    if search == "vectors":
        return _by_vectors(path, questions, embedder)
    k = 10 if search == "hybrid, k = 10" else 60
    with KnowledgeBase.open(path, None if search == "words" else embedder, fusion_k=k) as base:
        return [list(base.search(question.ask, limit=RECALL)) for question in questions]


def _by_vectors(path: Path, questions: Sequence[Question], embedder: Any) -> list[list[Hit]]:
    store = SqliteStore(path)
    found: list[list[Hit]] = []
    for question in questions:
        near = store.nearest(embed_texts(embedder, [question.ask], "query")[0], RECALL)
        chunks = store.read_rows([one.row for one in near])
        found.append(
            [
                Hit(chunk.text, one.cosine, one.document, one.chunk)
                for one, chunk in zip(near, chunks, strict=True)
                if chunk is not None
            ]
        )
    store.close()
    return found


def evaluate(
    path: Path,
    documents: Sequence[Document],
    questions: Sequence[Question],
    embedder: Any,
    rerankers: Mapping[str, Any],
    searches: Sequence[str] = SEARCHES,
) -> list[Outcome]:
    """All searches, each as it is (``"none"``) and with each reranker; a reranker gets the first twenty hits."""
    by_id = {document.id: document for document in documents}
    outcomes: list[Outcome] = []
    for search in searches:
        recalled = recall(path, search, questions, embedder)
        for name, reranker in {"none": None, **rerankers}.items():
            places: list[int | None] = []
            for question, hits in zip(questions, recalled, strict=True):
                ordered = hits if reranker is None else rerank(question.ask, hits, reranker, final_k=RECALL)
                right = [question.answered_by(by_id[hit.source_id]) for hit in ordered]
                places.append(right.index(True) + 1 if True in right else None)
            outcomes.append(Outcome(search, name, tuple(places)))
    return outcomes
