"""What PostgreSQL alone can do to a knowledge base; what every store does is in test_store.py."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest

from priompt_py.context import Attachment, KnowledgeBase
from priompt_py.context.knowledge.postgres_link import PostgresLink, hidden_password
from priompt_py.context.knowledge.postgres_store import PostgresStore
from priompt_py.context.knowledge.store import NewChunk, NewDocument, Settings, Totals
from priompt_py.errors import KnowledgeBaseError
from tests.context.knowledge.stand_ins import Hashed, put, unit, words

SETTINGS = Settings(embedder="e", dim=4, chunk_size=9, overlap=2, tokenizer="words")


@pytest.fixture
def store(postgres: str) -> Iterator[PostgresStore]:
    made = PostgresStore(postgres, wait=5)
    made.settle(SETTINGS)
    yield made
    made.close()


@pytest.fixture
def db(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


def refused(call: Any) -> KnowledgeBaseError:
    with pytest.raises(KnowledgeBaseError) as caught:
        call()
    return caught.value


# ------------------------------------------------------------------------------------------ opening


def test_no_base_is_made_where_none_is_wanted(postgres: str, db: psycopg.Connection[Any]) -> None:
    error = refused(lambda: PostgresStore(postgres, create=False))
    assert (error.reason, error.detail) == (
        "missing",
        "there is no knowledge base in this database; `add` makes one",
    )
    row = db.execute("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()").fetchone()
    assert row == (0,)
    PostgresStore(postgres).close()
    PostgresStore(postgres, create=False).close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db.example/base", "postgresql://me@db.example/base"),
        (
            "postgresql://db.example/base?password=secret&user=me",
            "postgresql://db.example/base?password=…&user=me",
        ),
        ("postgres:///base", "postgres:///base"),
        ("postgresql://me:secret@[::1", "postgresql://me@[::1"),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert hidden_password(url) == shown


def test_nobody_there() -> None:
    error = refused(lambda: PostgresStore("postgresql://me:secret@127.0.0.1:1/base", wait=2))
    assert error.reason == "access"
    assert str(error).startswith("postgresql://me@127.0.0.1:1/base: it can't be reached: ")
    assert "secret" not in str(error)


@pytest.mark.parametrize("url", ["postgresql://[::1", "postgresql://127.0.0.1/b?nonsense=1"])
def test_urls_that_are_none(url: str) -> None:
    assert refused(lambda: PostgresStore(url, wait=2)).reason == "access"


def test_a_base_by_a_newer_version(postgres: str, db: psycopg.Connection[Any]) -> None:
    PostgresStore(postgres).close()
    db.execute("UPDATE priompt_kb_layout SET layout = 9")
    error = refused(lambda: PostgresStore(postgres))
    assert (error.reason, error.detail) == (
        "broken",
        "its tables have layout 9; this version of priompt_py knows 1",
    )
    db.execute("DELETE FROM priompt_kb_layout")
    assert refused(lambda: PostgresStore(postgres)).detail.startswith("its tables have layout None")


def test_tables_that_are_gone(store: PostgresStore, db: psycopg.Connection[Any]) -> None:
    db.execute("DROP TABLE priompt_kb_settings")
    error = refused(store.settings)
    assert error.reason == "broken"
    assert error.detail.startswith("its tables are gone or not ours: ")


def test_without_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused(lambda: PostgresStore("postgresql://a/b"))
    assert (error.reason, error.detail) == (
        "library",
        "PostgreSQL needs the package psycopg: pip install 'priompt-py[postgres]'",
    )


def test_vectors_that_are_too_long(postgres: str) -> None:
    store = PostgresStore(postgres)
    error = refused(lambda: store.settle(Settings(embedder="e", dim=16_001)))
    assert (error.reason, error.detail) == (
        "settings",
        "pgvector holds vectors of at most 16,000 numbers, not 16,001",
    )
    assert store.settings() is None
    assert store.settle(Settings(tokenizer="t")) == Settings(tokenizer="t")
    store.close()


# ------------------------------------------------------------------------------------------ rights


@pytest.fixture
def guest(db: psycopg.Connection[Any], postgres: str) -> Iterator[str]:
    """The URL for somebody who may look into the schema, and write nothing."""
    (schema,) = db.execute("SELECT current_schema()").fetchone() or ("",)
    name = f"guest_{schema}"
    db.execute(f"CREATE ROLE {name} LOGIN".encode())
    db.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}".encode())
    yield postgres.replace("postgres:@", f"{name}:@")
    db.execute(f"DROP OWNED BY {name}".encode())
    db.execute(f"DROP ROLE {name}".encode())


def test_who_may_not_make_tables(guest: str) -> None:
    error = refused(lambda: PostgresStore(guest))
    assert error.reason == "access"
    assert error.detail.startswith("it may not be written or read: permission denied for schema")


def test_who_may_not_read_tables(guest: str, postgres: str) -> None:
    PostgresStore(postgres).close()
    assert refused(lambda: PostgresStore(guest)).detail == (
        "it may not be written or read: permission denied for table priompt_kb_layout"
    )


def test_who_may_not_switch_pgvector_on(
    guest: str, db: psycopg.Connection[Any], postgres_server: str
) -> None:
    (schema,) = db.execute("SELECT current_schema()").fetchone() or ("",)
    name, base = f"guest_{schema}", f"base_{schema}"
    db.execute(f"CREATE DATABASE {base}".encode())
    own = postgres_server.replace("/postgres?", f"/{base}?")
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(f"GRANT ALL ON SCHEMA public TO {name}".encode())
    store = PostgresStore(own.replace("postgres:@", f"{name}:@"))
    error = refused(lambda: store.settle(SETTINGS))
    assert error.reason == "access"
    assert error.detail.startswith("vectors need the extension pgvector, which can't be switched on (")
    assert error.detail.endswith(
        "let an administrator run CREATE EXTENSION vector, or make the base without an embedder"
    )
    assert store.settle(Settings(tokenizer="t")).embedder is None
    store.close()
    db.execute(f"DROP DATABASE {base}".encode())


# ------------------------------------------------------------------------------------------ failures


def failing(db: psycopg.Connection[Any], table: str, code: str, words: str = "no") -> None:
    """From now on the database refuses to write into ``table``."""
    db.execute(
        f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{words}' USING ERRCODE = '{code}'; END $$".encode()
    )
    db.execute(f"CREATE TRIGGER fails BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fail()".encode())


@pytest.mark.parametrize(
    ("code", "reason", "detail"),
    [
        (
            "53100",
            "full",
            "there is no room left on the server's disk; nothing of this step was stored. Free some and do it again",
        ),
        (
            "55P03",
            "locked",
            "another process has kept it for 5 s; nothing of this step was stored. Try again later",
        ),
        ("25006", "access", "it may not be written or read: no"),
        (
            "22000",
            "broken",
            "no; nothing of this step was stored",
        ),
    ],
)
def test_a_step_that_fails_leaves_nothing(
    store: PostgresStore, db: psycopg.Connection[Any], code: str, reason: str, detail: str
) -> None:
    put(store, "old", "kept text", vectors=[unit(1, 0, 0, 0)])
    version = store.begin(NewDocument(id="d", name="d", digest="x", characters=9, chunks=1), now=1)
    failing(db, "priompt_kb_vectors", code)
    chunk = NewChunk(version.key, 0, "new text", 0, ["new", "text"], unit(1, 0, 0, 0))
    error = refused(lambda: store.write([chunk], now=2))
    assert (error.reason, error.detail) == (reason, detail)
    assert store.totals() == Totals(2, 1, 2)
    assert store.lexical(["text", "new"], 9).frequencies == {"text": 1, "new": 0}
    db.execute("DROP FUNCTION fail CASCADE")
    assert store.write([chunk], now=3)[version.key] is not None
    assert store.totals() == Totals(2, 2, 4)


def test_somebody_keeps_a_table(postgres: str, db: psycopg.Connection[Any]) -> None:
    store = PostgresStore(postgres, wait=0.2)
    store.settle(SETTINGS)
    with db.transaction():
        db.execute("LOCK TABLE priompt_kb_versions IN ACCESS EXCLUSIVE MODE")
        start = time.monotonic()
        error = refused(store.totals)
        assert time.monotonic() - start < 3
    assert (error.reason, error.detail) == (
        "locked",
        "another process has kept it for 0.2 s; nothing of this step was stored. Try again later",
    )
    assert store.totals() == Totals(0, 0, 0)
    store.close()


def test_idle_connections_that_died(store: PostgresStore, db: psycopg.Connection[Any]) -> None:
    """A server that was restarted, a firewall that forgot."""
    assert store.totals() == Totals(0, 0, 0)
    db.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    assert store.totals() == Totals(0, 0, 0)


def test_two_that_wait_for_each_other(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database ends one of them; what it did is done again."""
    link: PostgresLink = store._link
    met = threading.Barrier(2)
    tries: list[int] = []

    def step(first: int, second: int) -> None:
        def run(connection: Any) -> None:
            tries.append(first)
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (first,))
            if len(tries) <= 2:
                met.wait(5)
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (second,))

        link.run(run)

    other = threading.Thread(target=step, args=(2, 1))
    other.start()
    step(1, 2)
    other.join(10)
    assert len(tries) == 3


def test_the_same_document_by_many_at_once(postgres: str) -> None:
    """Contents that take each other's place: no deadlock, and what stays is one of them, whole."""
    stores = [PostgresStore(postgres) for _ in range(4)]
    stores[0].settle(SETTINGS)
    failures: list[BaseException] = []

    def add(number: int) -> None:
        try:
            for turn in range(6):
                put(
                    stores[number],
                    "d",
                    f"text {number} {turn}",
                    digest=f"{number} {turn}",
                    vectors=[unit(1, 0, 0, 0)],
                )
                stores[number].delete([f"other {turn}"])
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert stores[0].totals() == Totals(1, 1, 3)
    frequencies = stores[0].lexical(["text", "0", "1", "2", "3", "4", "5"], 9).frequencies
    assert frequencies["text"] == 1
    for one in stores:
        one.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_after_a_fork(store: PostgresStore) -> None:
    put(store, "a", "some text", vectors=[unit(1, 0, 0, 0)])
    child = os.fork()
    if not child:
        try:
            os._exit(0 if store.totals().chunks == 1 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert store.totals().chunks == 1


# ------------------------------------------------------------------------------------------ texts


def test_what_a_tsvector_can_not_hold(store: PostgresStore) -> None:
    """Words of more than 2,046 bytes, more than 255 places, and the character U+0000."""
    long = "я" * 1_500
    text = f"{long} " + "again " * 300 + "o'neil \\ 'quoted' nul\0nul"
    put(store, "a\0b", text, f"{long}x", vectors=[unit(1, 0, 0, 0)] * 2)
    found = store.lexical([long, "again", "o", "o'neil"], 9)
    assert found.frequencies == {long: 1, "again": 1, "o": 0, "o'neil": 1}
    (one,) = found.candidates
    assert one.counts == {long: 1, "again": 300, "o'neil": 1}
    assert one.document == "a\ufffdb"
    (chunk,) = store.read_chunks([("a\0b", 0)])
    assert chunk
    assert chunk.text == text.replace("\0", "\ufffd")
    assert store.delete(["a\0b"]) == 1


def test_candidates_are_those_that_bm25_puts_first(store: PostgresStore) -> None:
    """Nearly: the database's own ranking against the scores that count, where it has to choose."""
    from priompt_py.context.scoring import bm25

    generator = np.random.default_rng(7)
    vocabulary = [f"w{number}" for number in range(60)]
    chances = 1 / np.arange(1, 61)
    chances /= chances.sum()
    for number in range(40):
        texts = [
            " ".join(generator.choice(vocabulary, size=generator.integers(5, 60), p=chances))
            for _ in range(10)
        ]
        put(store, f"d{number:02}", *texts, vectors=[unit(1, 0, 0, 0)] * 10)
    for asked in (["w0"], ["w1", "w20"], ["w3", "w5", "w40", "w59"]):
        everything = store.lexical(asked, 400)
        few = store.lexical(asked, 20)
        query = bm25(
            asked,
            documents=everything.totals.chunks,
            mean_length=everything.totals.stems / everything.totals.chunks,
            frequencies=everything.frequencies,
        )
        best = sorted(everything.candidates, key=lambda one: -query.affinity(one.counts, one.length))[:20]
        assert len(few.candidates) == 20
        assert len({one.row for one in best} & {one.row for one in few.candidates}) >= 19


# ------------------------------------------------------------------------------------------ the whole


def test_both_databases_find_the_same(postgres: str, tmp_path: Any) -> None:
    documents = [
        Attachment(f"d{n}", f"d{n}.txt", text=words(60, "w", 7 * n) + " Оферта и её условия. 木兰许可证")
        for n in range(6)
    ]
    embedder = Hashed()
    with (
        KnowledgeBase.open(tmp_path / "base.db", embedder, chunk_size=40, overlap=5) as sqlite,
        KnowledgeBase.open(postgres, embedder, chunk_size=40, overlap=5) as other,
    ):
        for base in (sqlite, other):
            assert {one.status for one in base.add(documents).documents} == {"added"}
        assert sqlite.totals() == other.totals()
        for query in ("w30 w31", "условиями оферты", "许可证", "w1 w2 w3 nothing", "w59"):
            ours, theirs = sqlite.search(query, limit=9), other.search(query, limit=9)
            assert [(hit.source_id, hit.chunk, hit.text) for hit in ours] == [
                (hit.source_id, hit.chunk, hit.text) for hit in theirs
            ]
            assert [hit.affinity for hit in theirs] == pytest.approx([hit.affinity for hit in ours], abs=1e-6)
            assert [hit.rank_score for hit in theirs] == [hit.rank_score for hit in ours]
        assert urlsplit(other.place).scheme == "postgresql"
        with KnowledgeBase.open(postgres) as by_words, KnowledgeBase.open(tmp_path / "base.db") as same:
            found, expected = by_words.search("условиями оферты"), same.search("условиями оферты")
            assert [(hit.source_id, hit.chunk) for hit in found] == [
                (hit.source_id, hit.chunk) for hit in expected
            ]
            assert [hit.affinity for hit in found] == pytest.approx(
                [hit.affinity for hit in expected], abs=1e-6
            )
