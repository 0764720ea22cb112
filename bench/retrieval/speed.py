"""A large knowledge base: how fast it is filled and searched, and in how much memory.

Texts are made of sentences of the licences, in an order of their own, so that words are as frequent as they are there.
"""

from __future__ import annotations

import random
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from bench.retrieval.corpus import Document
from priompt_py.context import Attachment, KnowledgeBase

__all__ = ["Speed", "documents_of", "measure"]

_SENTENCE = re.compile(r"[^.;\n]{20,}[.;]")
CHUNKS_IN_A_DOCUMENT = 50


@attrs.frozen
class Speed:
    """Figures of one store. ``searches`` are the milliseconds of each query, wall time; memory is in MiB."""

    store: str
    chunks: int
    words: float  # in a chunk, on the average
    seconds: float
    processor: float  # seconds of this process
    searches: dict[str, list[float]]
    memory_before: float
    memory_after_adding: float
    memory_after_searching: float
    size: float

    def median(self, search: str) -> float:
        return statistics.median(self.searches[search])

    def worst(self, search: str) -> float:
        return max(self.searches[search])


def documents_of(licences: Sequence[Document], chunks: int, sentences: int) -> Iterator[Attachment]:
    """Documents of 50 chunks of so many sentences, until there are about ``chunks`` of them; always the same."""
    pool = [found for document in licences for found in _SENTENCE.findall(document.text)]
    chance = random.Random(1)
    for number in range(chunks // CHUNKS_IN_A_DOCUMENT):
        paragraphs = [
            " ".join(chance.choice(pool).strip() for _ in range(sentences))
            for _ in range(CHUNKS_IN_A_DOCUMENT)
        ]
        yield Attachment(f"document {number}", f"{number}.txt", text="\n\n".join(paragraphs))


def measure(
    name: str,
    place: str,
    documents: Callable[[], Iterator[Attachment]],
    queries: Sequence[str],
    embedder: Any,
    *,
    chunk_size: int,
    on_progress: Callable[[Any], object] | None = None,
    size: Callable[[], float],
) -> Speed:
    """Fill the base at ``place``, and search it for each query by words, by vectors and by both; the second time counts."""
    before = _memory()
    with KnowledgeBase.open(place, embedder, chunk_size=chunk_size, overlap=0) as base:
        wall, cpu = time.perf_counter(), time.process_time()
        report = base.add(documents(), on_progress=on_progress)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert all(one.status == "added" for one in report.documents), report
        totals = base.totals()
    peak = _memory()
    searches: dict[str, list[float]] = {}
    with KnowledgeBase.open(place, embedder) as both, KnowledgeBase.open(place) as words:
        store: Any = both._store  # noqa: SLF001 - a search by vectors alone is no search of the base's
        vectors = embedder.embed(list(queries), "query")

        def nearest(index: int) -> object:
            return store.nearest(vectors[index], 20)

        def by_words(index: int) -> object:
            return words.search(queries[index])

        def by_both(index: int) -> object:
            return both.search(queries[index])

        for kind, search in (("words", by_words), ("vectors", nearest), ("both", by_both)):
            times: list[float] = []
            for index in range(len(queries)):
                search(index)
                start = time.perf_counter()
                search(index)
                times.append(1000 * (time.perf_counter() - start))
            searches[kind] = times
    return Speed(
        name,
        totals.chunks,
        totals.stems / totals.chunks,
        wall,
        cpu,
        searches,
        before,
        peak,
        _memory(),
        size(),
    )


def together(
    place: str, documents: Iterator[Attachment], queries: Sequence[str], embedder: Any
) -> tuple[int, int]:
    """Searches that were answered while documents were added by another connection, and those that failed."""
    answered = failed = 0
    done = threading.Event()

    def add() -> None:
        with KnowledgeBase.open(place, embedder) as base:
            base.add(documents)
        done.set()

    thread = threading.Thread(target=add)
    thread.start()
    with KnowledgeBase.open(place, embedder) as base:
        while not done.is_set():
            for query in queries:
                answered += 1
                failed += not base.search(query)
    thread.join()
    return answered, failed


def _memory() -> float:
    """MiB of this process that are in memory now."""
    line = next(line for line in Path("/proc/self/status").read_text("ascii").splitlines() if "VmRSS" in line)
    return int(line.split()[1]) / 1024
