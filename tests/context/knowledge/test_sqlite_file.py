"""What can be wrong with a file: each refusal says where, what, and what would do."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context.knowledge import sqlite_file
from priompt_py.context.knowledge.sqlite_file import SqliteFile
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.context.knowledge.store import Settings
from priompt_py.errors import KnowledgeBaseError
from tests.context.knowledge.stand_ins import put, unit

SETTINGS = Settings(embedder="e", dim=4, tokenizer="words")


def refusal(path: Path, **options: Any) -> KnowledgeBaseError:
    with pytest.raises(KnowledgeBaseError) as caught:
        SqliteStore(path, **options)
    return caught.value


def test_what_can_not_be_opened(tmp_path: Path) -> None:
    error = refusal(tmp_path / "no.db", create=False)
    assert (error.reason, str(error)) == (
        "missing",
        f"{tmp_path / 'no.db'}: there is no such knowledge base; `add` makes one",
    )
    assert not (tmp_path / "no.db").exists()
    error = refusal(tmp_path)
    assert (error.reason, error.detail) == ("access", "it can't be opened: it is a folder")
    error = refusal(tmp_path / "no" / "base.db")
    folder = str(tmp_path / "no")
    assert (error.reason, error.detail) == ("access", f"it can't be opened: there is no folder {folder!r}")
    (tmp_path / "text.db").write_text("This is a text, and no database at all. " * 9)
    error = refusal(tmp_path / "text.db")
    assert (error.reason, error.detail) == (
        "broken",
        "it is no knowledge base, or damaged (file is not a database)",
    )
    assert (tmp_path / "text.db").read_text().startswith("This is a text")


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    before = (tmp_path / "other.db").read_bytes()
    error = refusal(tmp_path / "other.db")
    assert (error.reason, error.detail) == ("broken", "it is an SQLite database, but no knowledge base")
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_newer_layout(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "base.db").close()
    with sqlite3.connect(tmp_path / "base.db") as db:
        db.execute("PRAGMA user_version = 2")
    db.close()
    error = refusal(tmp_path / "base.db")
    assert (error.reason, error.detail) == (
        "broken",
        "it was made by a newer version of priompt_py (layout 2; this one knows 1)",
    )


def test_an_empty_file_becomes_one(tmp_path: Path) -> None:
    (tmp_path / "base.db").touch()
    assert refusal(tmp_path / "base.db", create=False).reason == "missing"
    assert (tmp_path / "base.db").stat().st_size == 0
    store = SqliteStore(tmp_path / "base.db")
    assert store.settle(SETTINGS) == SETTINGS
    store.close()


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As SQLite refuses a file in a folder where nothing may be made; root may make everything."""

    def refuse(self: SqliteFile) -> sqlite3.Connection:
        raise KnowledgeBaseError(self.place, "access", "the file, or its folder, can't be written to")

    monkeypatch.setattr(SqliteFile, "_open_to_write", refuse)


def filled(path: Path, *ids: str) -> None:
    store = SqliteStore(path)
    store.settle(SETTINGS)
    for id_ in ids:
        put(store, id_, f"text of {id_}", vectors=[unit(1, 0, 0, 0)])
    store.close()


def test_a_base_that_may_not_be_written_to(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "odd ?#%41 name.db"
    filled(path, "a")
    request.getfixturevalue("read_only")
    store = SqliteStore(path)
    assert store.settings() == SETTINGS
    assert [near.document for near in store.nearest(unit(1, 0, 0, 0), 9)] == ["a"]
    with pytest.raises(KnowledgeBaseError) as caught:
        store.delete(["a"])
    assert (caught.value.reason, caught.value.detail) == (
        "access",
        "the file, or its folder, can't be written to",
    )
    # Another one is laid in its place, as an update does.
    monkeypatch.undo()
    filled(tmp_path / "new.db", "b", "c")
    (tmp_path / "new.db").replace(path)
    assert [one.id for one in store.documents(0, 9)] == ["b", "c"]
    store.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == [path.name]


def test_what_may_not_be_written_to_and_is_none(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    filled(tmp_path / "log.db", "a")
    Path(f"{tmp_path / 'log.db'}-wal").touch()  # another process writes
    SqliteStore(tmp_path / "newer.db").close()
    with sqlite3.connect(tmp_path / "newer.db") as db:
        db.execute("PRAGMA user_version = 2")
    db.close()
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("This is a text, and no database at all. " * 9)
    request.getfixturevalue("read_only")
    for name in ("log.db", "newer.db", "empty.db", "text.db", "none.db"):
        assert refusal(tmp_path / name).reason == "access", name


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_goes_away(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "base.db"
    filled(path, "a")
    store = SqliteStore(path)
    path.unlink()
    if replaced:
        path.write_bytes(b"another")
    with pytest.raises(KnowledgeBaseError) as caught:
        put(store, "b", "text", vectors=[unit(1, 0, 0, 0)])
    assert (caught.value.reason, caught.value.detail) == (
        "access",
        (
            "the file was deleted or replaced after it was opened; what was added to it since then is lost. "
            "Add it again"
        ),
    )
    assert [one.id for one in store.documents(0, 9)] == ["a"]  # readers keep what they opened
    store.close()


def test_a_base_in_memory() -> None:
    store = SqliteStore(":memory:")
    store.settle(SETTINGS)
    put(store, "a", "text", vectors=[unit(1, 0, 0, 0)])
    assert [one.id for one in store.documents(0, 9)] == ["a"]
    store.close()


def test_a_locked_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "base.db", wait=0.1)
    store.settle(SETTINGS)
    put(store, "a", "text", vectors=[unit(1, 0, 0, 0)])
    other = sqlite3.connect(tmp_path / "base.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(KnowledgeBaseError) as caught:
        put(store, "b", "text")
    assert (caught.value.reason, caught.value.detail) == (
        "locked",
        "another process has been writing for 0.1 s; nothing of this step was stored. Do it again when that has ended",
    )
    assert store.totals().chunks == 1  # readers don't wait
    other.execute("ROLLBACK")
    other.close()
    put(store, "b", "text", vectors=[unit(1, 0, 0, 0)])
    assert store.totals().chunks == 2
    store.close()


def test_waiting_for_another(tmp_path: Path) -> None:
    """Also for the step to write-ahead logging, for which SQLite itself doesn't wait."""
    path = tmp_path / "base.db"
    SqliteStore(path).close()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")

    def let_go() -> None:
        other.execute("COMMIT")
        other.close()

    threading.Timer(0.3, let_go).start()
    began = time.monotonic()
    store = SqliteStore(path, wait=10)
    assert 0.2 < time.monotonic() - began < 5
    assert store.totals().chunks == 0
    store.close()


def test_a_read_transaction_of_another_keeps_write_ahead_logging_out(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    SqliteStore(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN")
    other.execute("SELECT * FROM versions").fetchall()
    error = refusal(path, wait=0.1)
    assert error.reason == "locked"
    other.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "base.db")
    store.settle(SETTINGS)
    put(store, "a", "one text", vectors=[unit(1, 0, 0, 0)])
    with store._file.reading() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
    store._file._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(KnowledgeBaseError) as caught:
        put(store, "b", "word " * 100_000, vectors=[unit(1, 0, 0, 0)])
    assert (caught.value.reason, caught.value.detail) == (
        "full",
        "there is no room left on the disk; nothing of this step was stored. Free some and do it again",
    )
    assert [one.id for one in store.documents(0, 9) if one.state == "ready"] == ["a"]
    assert len(store.lexical(["text"], 9).candidates) == 1
    store._file._connection.execute("PRAGMA max_page_count = 1000000")
    put(store, "b", "word " * 100_000, vectors=[unit(1, 0, 0, 0)])
    assert store.totals().stems == 100_002
    store.close()


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    store = SqliteStore(path)
    store.settle(SETTINGS)
    put(store, "a", "word " * 20_000, vectors=[unit(1, 0, 0, 0)])
    store.close()
    data = bytearray(path.read_bytes())
    data[4096 : len(data)] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    store = SqliteStore(path)
    with pytest.raises(KnowledgeBaseError) as caught:
        store.documents(0, 9)
    assert (caught.value.reason, caught.value.detail) == (
        "broken",
        "it is no knowledge base, or damaged (database disk image is malformed)",
    )
    store.close()


@pytest.mark.parametrize(
    ("code", "words", "reason", "detail"),
    [
        ("SQLITE_READONLY_DBMOVED", "moved", "access", "the file, or its folder, can't be written to"),
        ("SQLITE_IOERR_WRITE", "disk I/O error", "full", "the disk refuses (disk I/O error); is it full?"),
        ("SQLITE_CANTOPEN", "unable to open", "access", "it can't be opened; may it be read and written?"),
        ("SQLITE_ERROR", "no  such\ntable: x", "broken", "SQLite refuses: no such table: x"),
        (
            "SQLITE_ERROR",
            "no such module: fts5",
            "library",
            "the SQLite that comes with this Python has no full-text search (FTS5)",
        ),
        (None, "odd", "broken", "SQLite refuses: odd"),
    ],
)
def test_what_sqlite_may_say(tmp_path: Path, code: str | None, words: str, reason: str, detail: str) -> None:
    store = SqliteStore(tmp_path / "base.db")
    error = sqlite3.OperationalError(words)
    if code is not None:
        error.sqlite_errorcode = getattr(sqlite3, code)
    said = store._file._said(error)
    assert (said.reason, said.detail) == (reason, detail)
    store.close()


def test_errors_while_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "_TABLES", "CREATE TABLE a (x);\nCREATE NONSENSE")
    error = refusal(tmp_path / "base.db")
    assert (error.reason, error.detail) == ("broken", 'SQLite refuses: near "NONSENSE": syntax error')
    monkeypatch.undo()
    store = SqliteStore(tmp_path / "base.db")  # nothing of it was made
    assert store.totals().chunks == 0
    store.close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of runners that have threads
def test_after_a_fork(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "base.db")
    store.settle(SETTINGS)
    put(store, "a", "text", vectors=[unit(1, 0, 0, 0)])
    child = os.fork()
    if child == 0:
        code = 1
        try:
            put(store, "b", "text", vectors=[unit(0, 1, 0, 0)])
            code = 0 if store.totals().chunks == 2 else 2
            store.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.totals().chunks == 2
    put(store, "c", "text", vectors=[unit(0, 1, 0, 0)])
    assert [one.document for one in store.nearest(unit(1, 0, 0, 0), 9)] == ["a", "b", "c"]
    store.close()
