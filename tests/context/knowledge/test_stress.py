"""Additions that are killed at any moment, that run side by side, and that meet a full disk."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context import KnowledgeBase
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.errors import KnowledgeBaseError
from tests.context.knowledge.stand_ins import WORDS, Hashed, everything, words
from tests.context.knowledge.worker import BATCH, CHUNK_SIZE, open_base

ROOT = Path(__file__).parents[3]
KILLS = 200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fifteen documents of 1 to 29 chunks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for n in range(15):
        (tmp_path / f"docs/d{n:02}.txt").write_text(words(20 * n + 3, f"d{n}w"))
    return tmp_path


def start(place: Path, *pause: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.context.knowledge.worker", str(place), "docs", *pause],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def contents(base: KnowledgeBase) -> list[Any]:
    """What a base holds, told without the numbers of its rows; and what searches find in it."""
    totals, documents, chunks = everything(base)
    texts = [[(one.document, one.chunk, one.start, one.text) for one in own if one] for own in chunks]
    queries = ["d3w5", "d14w200 d14w201", "d7w1 d8w1 d9w1", "w"]
    hits = [
        [(hit.source_id, hit.chunk, round(hit.affinity, 6)) for hit in base.search(query, limit=20)]
        for query in queries
    ]
    return [totals, documents, texts, hits]


def frequencies_are_those_of_the_texts(base: KnowledgeBase, *, ready: bool = True) -> None:
    """The full-text index holds each chunk that can be searched once, and nothing else; where all are ``ready``, there
    are no others."""
    store: Any = base._store
    chunks = (base.totals().chunks,)
    with store._file.reading() as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if ready:  # FTS5's own check takes chunks that are not ready for missing ones
            db.execute("INSERT INTO lexicon (lexicon, rank) VALUES ('integrity-check', 1)")
            assert db.execute("SELECT count(*) FROM chunks").fetchone() == chunks
            assert db.execute("SELECT count(*) FROM vectors").fetchone() == chunks
        found = dict(db.execute("SELECT term, cnt FROM frequencies").fetchall())
        texts = [
            row[0]
            for row in db.execute("SELECT stems FROM chunks JOIN versions USING (key) WHERE state = 'ready'")
        ]
    assert found == Counter(stem for text in texts for stem in text.split())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of runners that have threads
def test_killed_two_hundred_times(folder: Path) -> None:
    """Additions that are killed at a random moment behind a random step; what is found between is whole, and the end
    is as if nothing had happened. Forks, not new processes, since starting Python 200 times takes longer than the
    rest."""
    place = folder / "base.db"
    for n in range(8, 15):  # eight documents, of 64 chunks
        (folder / f"docs/d{n:02}.txt").unlink()
    ids = [f"docs/d{n:02}.txt" for n in range(8)]
    open_base(str(place)).close()
    generator = random.Random(1)
    killed = stored = rounds = 0
    moments: set[int] = set()
    while killed < KILLS:
        killed += _killed_behind(str(place), generator.randrange(1, 30), generator.random() * 0.003)
        with open_base(str(place)) as base:
            documents = base.documents()
            now = sum(one.stored for one in documents)
            assert now >= stored  # nothing that was stored is lost
            stored = now
            moments.add(stored)
            if killed % 20 == 0:
                _documents_are_whole_or_not_there(base)
                frequencies_are_those_of_the_texts(base, ready=False)
            if len(documents) == 8 and all(one.state == "ready" for one in documents):
                base.delete(ids)  # and once more from the beginning
                stored = 0
                rounds += 1
    assert rounds > 3
    assert len(moments) > 15  # it was killed all over the place
    with open_base(str(place)) as base, open_base(str(folder / "undisturbed.db")) as undisturbed:
        base.add("docs")
        undisturbed.add("docs")
        assert contents(base) == contents(undisturbed)
        frequencies_are_those_of_the_texts(base)


def _killed_behind(place: str, steps: int, seconds: float) -> bool:
    """Add in a fork, and kill that after some steps and a moment; whether it was killed before it was done."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with open_base(place) as base:
                base.add("docs", batch=BATCH, on_progress=lambda _: os.write(write, b"."))
        finally:
            os._exit(0)
    os.close(write)
    while steps > 0 and (told := os.read(read, steps)):
        steps -= len(told)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(read)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def _documents_are_whole_or_not_there(base: KnowledgeBase) -> None:
    for info in base.documents():
        chunks = base.read_chunks([(info.id, i) for i in range(info.chunks)])
        if info.searchable:
            assert None not in chunks
            assert base.read(info.id) == Path(info.id).read_text()
        else:
            assert set(chunks) == {None}


def test_killed_processes(folder: Path) -> None:
    """Whole processes, a few of them, killed where they are in the middle of it."""
    place = folder / "base.db"
    for n in range(3):
        process = start(place, "0.01")
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.05 + 0.1 * n)
        process.kill()
        process.communicate()
    process = start(place)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.count("\n") == 16
    with open_base(str(place)) as base, open_base(str(folder / "undisturbed.db")) as undisturbed:
        undisturbed.add("docs")
        assert contents(base) == contents(undisturbed)
        frequencies_are_those_of_the_texts(base)


def test_two_processes_add_while_a_third_searches(folder: Path) -> None:
    place = folder / "base.db"
    with open_base(str(place)) as base:
        processes = [start(place), start(place)]
        searches = 0
        while any(process.poll() is None for process in processes):
            hits = base.search("d14w200 d7w30 d3w5", limit=20)
            for hit in hits:
                assert hit.text in Path(hit.source_id).read_text()
            searches += 1
        outputs = [process.communicate()[0] for process in processes]
        assert [process.returncode for process in processes] == [0, 0]
        assert searches > 0
        assert {line.split()[1] for out in outputs for line in out.splitlines()[1:]} <= {"added", "unchanged"}
        with open_base(str(folder / "undisturbed.db")) as undisturbed:
            undisturbed.add("docs")
            assert contents(base) == contents(undisturbed)
        frequencies_are_those_of_the_texts(base)


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Bounds the pages of every base that is opened: SQLite's own way to have a disk that is full."""
    pages: list[int | None] = [None]
    begin = SqliteStore.begin
    write = SqliteStore.write

    def bound(store: SqliteStore) -> None:
        limit = 1_000_000 if pages[0] is None else pages[0]
        store._file._connection.execute(f"PRAGMA max_page_count = {limit}")

    def bounded_begin(self: SqliteStore, *arguments: Any, **options: Any) -> Any:
        bound(self)
        return begin(self, *arguments, **options)

    def bounded_write(self: SqliteStore, *arguments: Any, **options: Any) -> Any:
        bound(self)
        return write(self, *arguments, **options)

    monkeypatch.setattr(SqliteStore, "begin", bounded_begin)
    monkeypatch.setattr(SqliteStore, "write", bounded_write)

    def set_pages(number: int | None) -> None:
        pages[0] = number

    return set_pages


def test_a_disk_that_fills_while_adding(folder: Path, bounded: Callable[[int | None], None]) -> None:
    place = folder / "base.db"
    with open_base(str(place)) as base, open_base(str(folder / "undisturbed.db")) as undisturbed:
        seen = 0
        for limit in range(20, 90, 5):
            bounded(limit)
            error = _refusal(lambda: base.add("docs", batch=BATCH))
            if error is not None:
                assert error.reason == "full"
                assert str(error).startswith(
                    f"{place}: there is no room left on the disk; nothing of this step"
                )
            _documents_are_whole_or_not_there(base)
            stored = sum(one.stored for one in base.documents())
            assert stored >= seen
            seen = stored
        assert seen > 0
        bounded(None)
        base.add("docs")
        undisturbed.add("docs")
        assert contents(base) == contents(undisturbed)
        frequencies_are_those_of_the_texts(base)


def test_another_holds_the_lock_while_adding(folder: Path) -> None:
    import sqlite3

    place = folder / "base.db"
    store = SqliteStore(place, wait=0.05)
    base = KnowledgeBase(store, Hashed(), chunk_size=CHUNK_SIZE, overlap=0, tokenizer=WORDS)
    other = sqlite3.connect(place, isolation_level=None)

    def lock(progress: Any) -> None:
        if progress.chunks == 4 * BATCH and not other.in_transaction:
            other.execute("BEGIN IMMEDIATE")

    with pytest.raises(KnowledgeBaseError) as caught:
        base.add("docs", batch=BATCH, on_progress=lock)
    assert caught.value.reason == "locked"
    assert sum(one.stored for one in base.documents()) == 4 * BATCH
    other.execute("ROLLBACK")
    other.close()
    report = base.add("docs")
    assert {one.status for one in report.documents} <= {"added", "unchanged"}
    with open_base(str(folder / "undisturbed.db")) as undisturbed:
        undisturbed.add("docs")
        assert contents(base) == contents(undisturbed)
    base.close()


def _refusal(add: Callable[[], object]) -> KnowledgeBaseError | None:
    try:
        add()
    except KnowledgeBaseError as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of runners that have threads
def test_a_disk_that_refuses(folder: Path) -> None:
    """Writes that the system itself refuses: a process whose files may not grow beyond 150 kB."""
    place = folder / "base.db"
    open_base(str(place)).close()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
            with open_base(str(place)) as base:
                error = _refusal(lambda: base.add("docs", batch=BATCH))
                code = 2 if error is None else 3 if error.reason != "full" else 0
                (folder / "said").write_text(str(error))
                base.search("d3w5")
                _documents_are_whole_or_not_there(base)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    said = "the disk refuses (disk I/O error); is it full?"
    assert (folder / "said").read_text() == f"{place}: {said}"
    with open_base(str(place)) as base, open_base(str(folder / "undisturbed.db")) as undisturbed:
        assert sum(one.stored for one in base.documents()) > 0
        base.add("docs")
        undisturbed.add("docs")
        assert contents(base) == contents(undisturbed)
        frequencies_are_those_of_the_texts(base)
