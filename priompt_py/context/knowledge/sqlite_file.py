"""One SQLite file that holds a knowledge base: opening and checking it, its tables, transactions, and its errors."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

import attrs

from priompt_py.errors import KnowledgeBaseError

__all__ = ["MISSING", "SqliteFile"]

APPLICATION = 0x5072_6B62  # "Prkb", by which a file is known to be one of ours
LAYOUT = 1  # of the tables; a newer one is refused

# Stems hold letters and digits of any script, hyphens and apostrophes; to the tokenizer `ascii` every character beyond
# ASCII is part of a word, so that a stem stays one. Positions of stems are not needed, but `bm25` is slow without them.
_TABLES = """
CREATE TABLE settings (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    embedder TEXT, dim INTEGER, chunk_size INTEGER NOT NULL, overlap INTEGER NOT NULL, tokenizer TEXT NOT NULL
);
CREATE TABLE versions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL,
    characters INTEGER NOT NULL, chunks INTEGER NOT NULL, stored INTEGER NOT NULL,
    state TEXT NOT NULL, detail TEXT NOT NULL, touched REAL NOT NULL,
    UNIQUE (document, digest)
);
CREATE TABLE chunks (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    key INTEGER NOT NULL REFERENCES versions, chunk INTEGER NOT NULL, start INTEGER NOT NULL,
    length INTEGER NOT NULL, text TEXT NOT NULL, stems TEXT NOT NULL,
    UNIQUE (key, chunk)
);
CREATE TABLE vectors (row INTEGER PRIMARY KEY REFERENCES chunks, key INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_of ON vectors (key);
CREATE TABLE totals (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    documents INTEGER NOT NULL, chunks INTEGER NOT NULL, stems INTEGER NOT NULL, revision INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 0, 0, 0, 0);
CREATE VIRTUAL TABLE lexicon USING fts5 (
    stems, content = 'chunks', content_rowid = 'row', tokenize = "ascii tokenchars '-'''"
);
CREATE VIRTUAL TABLE frequencies USING fts5vocab (lexicon, row);
"""

MISSING = "there is no such knowledge base; `add` makes one"
_MOVED = "the file was deleted or replaced after it was opened; what was added to it since then is lost. Add it again"
_FULL = "there is no room left on the disk; nothing of this step was stored. Free some and do it again"


class SqliteFile:
    """A connection to the file; all methods may be called from any thread, and after a fork.

    A file that may not be written to is read. ``wait`` is how many seconds a step waits while another process writes. Raises KnowledgeBaseError alone.
    """

    def __init__(self, path: str | Path, *, create: bool, wait: float) -> None:
        self.place = str(path)
        self._path = Path(path)
        self._wait = wait
        self._create = create
        self._lock = threading.RLock()
        self._closed = False
        self._pid = os.getpid()
        if not create and not self._path.exists():
            raise KnowledgeBaseError(self.place, "missing", MISSING)
        self._inherited: list[sqlite3.Connection] = []  # of the process that forked; not ours to close
        self._unchanging: _Signature | None = None  # where it was opened as a file that nobody changes
        self._connection = self._open()

    @contextlib.contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A transaction that sees one state of the base."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self, *, synced: bool = True) -> Generator[sqlite3.Connection]:
        """A transaction that writes, alone; done at its end, or nothing of it is.

        One that is not ``synced`` need not outlive a power cut: it is on the disk with the next one that is.
        """
        with self._lock:
            self._synchronise(synced=synced)
            with self._transaction("BEGIN IMMEDIATE") as connection:
                if self._identity is not None and self._identity != _identity(self._path):
                    # What is written into a file without a name is lost, without an error by SQLite.
                    raise KnowledgeBaseError(self.place, "access", _MOVED)
                yield connection

    def _synchronise(self, *, synced: bool) -> None:
        """Say when commits wait for the disk; inside of a transaction that would have no effect."""
        if not self._closed and self._pid == os.getpid():
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")

    def close(self) -> None:
        """Close the connection; twice does no harm."""
        with self._lock:
            if not self._closed and self._pid == os.getpid():
                self._connection.close()
            self._closed = True

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Generator[sqlite3.Connection]:
        with self._lock:
            if self._closed:
                raise KnowledgeBaseError(self.place, "closed", "the knowledge base was closed")
            if self._pid != os.getpid():  # a connection must not be used on both sides of a fork
                self._inherited.append(self._connection)
                self._pid = os.getpid()
                self._connection = self._open()
            elif self._unchanging is not None and self._unchanging != _signature(self._path):
                self._connection.close()
                self._connection = self._open()
            connection = self._connection
            try:
                connection.execute(begin)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise self._said(error) from error

    # -------------------------------------------------------------------------------------- opening

    def _open(self) -> sqlite3.Connection:
        self._unchanging = None
        try:
            connection = self._open_to_write()
        except KnowledgeBaseError as error:
            unchanging = self._open_unchanging() if error.reason == "access" else None
            if unchanging is None:
                raise
            connection = unchanging
        self._identity = _identity(self._path)
        return connection

    def _open_unchanging(self) -> sqlite3.Connection | None:
        """A base that may not be written to, as in an image or on a disk that is read alone; None for another file.

        SQLite would write its notes for other processes beside it, and refuses where that is not allowed. Nobody else
        writes where there is no log; once the file is another, it is opened anew.
        """
        before = _signature(self._path)
        if before is None or before.log:
            return None
        place = f"file:{quote(str(self._path.absolute()))}?immutable=1"
        try:
            connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
        except sqlite3.Error:
            return None
        try:
            known = self._check(connection)
        except (sqlite3.Error, KnowledgeBaseError):
            known = False
        if not known:
            connection.close()
            return None
        self._unchanging = before
        return connection

    def _open_to_write(self) -> sqlite3.Connection:
        try:
            # Transactions are begun by us, which takes `isolation_level=None`.
            connection = sqlite3.connect(
                self._path, timeout=self._wait, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._said(error) from error
        try:
            self._prepare(connection)
        except sqlite3.Error as error:
            connection.close()
            raise self._said(error) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not self._check(connection):
            if not self._create:
                raise KnowledgeBaseError(self.place, "missing", MISSING)
            self._make(connection)
        # Readers and the one writer don't wait for each other. What a commit has said is on the disk.
        self._wal(connection)
        connection.execute("PRAGMA synchronous = FULL")

    def _check(self, connection: sqlite3.Connection) -> bool:
        """Whether the tables are there. Raises KnowledgeBaseError for another database."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        layout = connection.execute("PRAGMA user_version").fetchone()[0]
        if application == APPLICATION:
            if layout > LAYOUT:
                detail = (
                    f"it was made by a newer version of priompt_py (layout {layout}; this one knows {LAYOUT})"
                )
                raise KnowledgeBaseError(self.place, "broken", detail)
            return True
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] or application or layout:
            raise KnowledgeBaseError(self.place, "broken", "it is an SQLite database, but no knowledge base")
        return False

    def _make(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not self._check(connection):  # else another process has just made it
                for statement in _TABLES.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {LAYOUT}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _wal(self, connection: sqlite3.Connection) -> None:
        """Turn write-ahead logging on. The timeout does not count for that, so that we wait ourselves."""
        until = time.monotonic() + self._wait
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                    raise
                time.sleep(0.02)
            else:
                return

    # -------------------------------------------------------------------------------------- errors

    def _said(self, error: sqlite3.Error) -> KnowledgeBaseError:
        code, words = _code(error), " ".join(str(error).split())
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return KnowledgeBaseError(
                self.place,
                "locked",
                f"another process has been writing for {self._wait:g} s; nothing of this step was stored. "
                "Do it again when that has ended",
            )
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            detail = _FULL if code == sqlite3.SQLITE_FULL else f"the disk refuses ({words}); is it full?"
            return KnowledgeBaseError(self.place, "full", detail)
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return KnowledgeBaseError(self.place, "broken", f"it is no knowledge base, or damaged ({words})")
        if code == sqlite3.SQLITE_READONLY:
            return KnowledgeBaseError(self.place, "access", "the file, or its folder, can't be written to")
        if code == sqlite3.SQLITE_CANTOPEN:
            return KnowledgeBaseError(self.place, "access", f"it can't be opened{self._why()}")
        if "fts5" in words:
            return KnowledgeBaseError(
                self.place, "library", "the SQLite that comes with this Python has no full-text search (FTS5)"
            )
        return KnowledgeBaseError(self.place, "broken", f"SQLite refuses: {words}")

    def _why(self) -> str:
        if self._path.is_dir():
            return ": it is a folder"
        if not self._path.parent.is_dir():
            return f": there is no folder {str(self._path.parent)!r}"
        return "; may it be read and written?"


@attrs.frozen
class _Signature:
    """By which a file is known not to have changed. ``log``: another process writes to it, or did when it broke off."""

    size: int
    time: int
    inode: int
    log: bool


def _signature(path: Path) -> _Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Signature(found.st_size, found.st_mtime_ns, found.st_ino, Path(f"{path}-wal").exists())


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one of its name; None where there is none (``:memory:`` is one)."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's primary result code; the extended ones hold it in their last byte."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
