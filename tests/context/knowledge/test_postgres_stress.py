"""PostgreSQL: additions that are killed, and several at once while others search."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from priompt_py.context import KnowledgeBase
from tests.context.knowledge.stand_ins import everything, words
from tests.context.knowledge.worker import open_base

ROOT = Path(__file__).parents[3]
KILLS = 40
DOCUMENTS = 8


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight documents of 1 to 15 chunks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for n in range(DOCUMENTS):
        (tmp_path / f"docs/d{n:02}.txt").write_text(words(20 * n + 3, f"d{n}w"))
    return tmp_path


def contents(base: KnowledgeBase) -> list[Any]:
    totals, documents, chunks = everything(base)
    texts = [[(one.document, one.chunk, one.start, one.text) for one in own if one] for own in chunks]
    hits = [
        [(hit.source_id, hit.chunk, round(hit.affinity, 6)) for hit in base.search(query, limit=20)]
        for query in ("d3w5", "d7w100 d7w101", "d5w1 d6w1 d7w1")
    ]
    return [totals, documents, texts, hits]


def frequencies_are_those_of_the_chunks(url: str) -> None:
    """No stem is counted that no chunk holds, and none of those that are gone has left anything."""
    with psycopg.connect(url) as db:
        counted: dict[str, int] = dict(
            db.execute("SELECT stem, chunks FROM priompt_kb_frequencies").fetchall()
        )
        held = db.execute(
            "SELECT word, ndoc FROM ts_stat('SELECT l.stems FROM priompt_kb_lexemes AS l"
            " JOIN priompt_kb_versions AS v ON v.key = l.key WHERE v.state = ''ready''')"
        ).fetchall()
        assert counted == dict(held)
        for table in ("priompt_kb_lexemes", "priompt_kb_vectors"):
            own = [
                db.execute(f"SELECT row FROM {one} ORDER BY row".encode()).fetchall()  # noqa: S608 - our own tables
                for one in (table, "priompt_kb_chunks")
            ]
            assert own[0] == own[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of runners that have threads
def test_killed_forty_times(postgres: str, postgres_server: str, folder: Path) -> None:
    """At random moments; nothing that was stored is lost, and the end is as if nothing had happened."""
    chance = random.Random(1)
    open_base(postgres).close()
    stored = rounds = 0
    moments: set[int] = set()
    for _ in range(KILLS):
        child = os.fork()
        if not child:
            try:
                with open_base(postgres) as base:
                    base.add("docs", batch=3)
            finally:
                os._exit(0)
        time.sleep(chance.random() * 0.4)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open_base(postgres) as base:
            documents = base.documents()
            now = sum(one.stored for one in documents)
            assert now >= stored
            stored = now
            moments.add(now)
            if len(documents) == DOCUMENTS and all(one.state == "ready" for one in documents):
                base.delete([one.id for one in documents])
                stored = 0
                rounds += 1
    frequencies_are_those_of_the_chunks(postgres)
    assert len(moments) > 3
    with open_base(postgres) as base:
        base.add("docs")
        found = contents(base)
    frequencies_are_those_of_the_chunks(postgres)
    other = postgres.replace("csearch_path%3Dtest", "csearch_path%3Dother")
    schema = other.partition("csearch_path%3D")[2].partition("%2C")[0]
    with psycopg.connect(postgres_server, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {schema}".encode())
    with open_base(other) as undisturbed:
        undisturbed.add("docs")
        assert contents(undisturbed) == found


@pytest.mark.slow
def test_three_processes_add_the_same_while_one_searches(postgres: str, folder: Path) -> None:
    open_base(postgres).close()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.context.knowledge.worker", postgres, "docs"]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)
    ]
    answered = 0
    with open_base(postgres) as base:
        while any(process.poll() is None for process in processes):
            hits = base.search("d7w100 d7w101", limit=20)
            assert all(
                "d7w10" in hit.text for hit in hits if hit.source_id == "docs/d07.txt" and hit.affinity > 0.9
            )
            answered += 1
        assert answered > 0
        assert [process.communicate()[1] for process in processes] == [None] * 3
        assert {process.returncode for process in processes} == {0}
        documents = base.documents()
        assert len(documents) == DOCUMENTS
        assert {one.state for one in documents} == {"ready"}
        assert sum(one.chunks for one in documents) == base.totals().chunks
    frequencies_are_those_of_the_chunks(postgres)
