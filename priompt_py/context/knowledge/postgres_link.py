"""The way to a knowledge base in PostgreSQL: connections, tables, transactions, and the database's errors in our words."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Generator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from priompt_py.errors import KnowledgeBaseError

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresLink", "hidden_password"]

LAYOUT = 1  # of the tables; a newer one is refused
_LOCKS = 0x5072_6B62  # "Prkb": the advisory locks that are ours
_TRIES = 3

T = TypeVar("T")

# `COLLATE "C"` orders by code point. `lexemes` and `vectors` stand apart from the texts, so that a search reads as few
# pages as there can be; lexemes are kept beside their row up to 6 kB.
_TABLES = """
CREATE TABLE priompt_kb_layout (layout integer NOT NULL);
INSERT INTO priompt_kb_layout VALUES (1);
CREATE TABLE priompt_kb_settings (
    one integer PRIMARY KEY CHECK (one = 1),
    embedder text, dim integer, chunk_size integer NOT NULL, overlap integer NOT NULL, tokenizer text NOT NULL
);
CREATE TABLE priompt_kb_versions (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document text COLLATE "C" NOT NULL, name text NOT NULL, digest text COLLATE "C" NOT NULL,
    characters bigint NOT NULL, chunks integer NOT NULL, stored integer NOT NULL DEFAULT 0,
    stems bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'indexing', detail text NOT NULL DEFAULT '', touched double precision NOT NULL,
    UNIQUE (document, digest)
);
CREATE SEQUENCE priompt_kb_rows;
CREATE TABLE priompt_kb_chunks (
    row bigint PRIMARY KEY,
    key bigint NOT NULL REFERENCES priompt_kb_versions ON DELETE CASCADE,
    chunk integer NOT NULL, start bigint NOT NULL, text text NOT NULL, stems text NOT NULL,
    UNIQUE (key, chunk)
);
CREATE TABLE priompt_kb_lexemes (
    row bigint PRIMARY KEY,
    key bigint NOT NULL REFERENCES priompt_kb_versions ON DELETE CASCADE,
    length integer NOT NULL, stems tsvector NOT NULL
) WITH (toast_tuple_target = 6000);
ALTER TABLE priompt_kb_lexemes ALTER stems SET STORAGE MAIN;
CREATE INDEX priompt_kb_lexemes_key ON priompt_kb_lexemes (key);
CREATE INDEX priompt_kb_lexemes_stems ON priompt_kb_lexemes USING gin (stems);
CREATE TABLE priompt_kb_frequencies (
    stem text COLLATE "C" PRIMARY KEY, chunks bigint NOT NULL
) WITH (fillfactor = 70)
"""
_VECTORS = """
CREATE TABLE priompt_kb_vectors (
    row bigint PRIMARY KEY,
    key bigint NOT NULL REFERENCES priompt_kb_versions ON DELETE CASCADE,
    chunk integer NOT NULL, vector vector(DIM) NOT NULL
);
CREATE INDEX priompt_kb_vectors_key ON priompt_kb_vectors (key)
"""

_MISSING = "there is no knowledge base in this database; `add` makes one"
_NOTHING = "nothing of this step was stored"


class PostgresLink:
    """Connections to one database, as many as there are threads at a time; may be used after a fork.

    ``wait`` is how many seconds a step waits for another that holds what it needs, and for a connection. Raises
    KnowledgeBaseError alone.
    """

    def __init__(self, url: str, *, create: bool, wait: float) -> None:
        self.place = hidden_password(url)
        self._url = url
        self._wait = wait
        self._idle: list[psycopg.Connection[Any]] = []
        self._inherited: list[psycopg.Connection[Any]] = []  # of the process that forked
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._closed = False
        try:
            self._psycopg: Any = import_module("psycopg")
        except ImportError:
            detail = "PostgreSQL needs the package psycopg: pip install 'priompt-py[postgres]'"
            raise KnowledgeBaseError(self.place, "library", detail) from None
        try:
            self.run(lambda db: self._prepare(db, create=create))
        except BaseException:
            self.close()
            raise

    def read(self, step: Callable[[psycopg.Connection[Any]], T]) -> T:
        """What ``step`` gives, which only reads: the whole of it sees one state of the database."""

        def reading(db: psycopg.Connection[Any]) -> T:
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return step(db)

        return self.run(reading)

    def run(self, step: Callable[[psycopg.Connection[Any]], T]) -> T:
        """What ``step`` gives, in a transaction of its own; it is repeated where the database broke it off.

        Each statement sees what is committed then, so that what a step waited for counts.
        """
        tries = 0
        while True:
            tries += 1
            with self._lock:
                fresh = not self._idle
            try:
                with self._connection() as connection, connection.transaction():
                    return step(connection)
            except self._psycopg.Error as error:
                died = not fresh and self._is_end(
                    error
                )  # of a connection that had been idle: a restart, a firewall
                if died:
                    self._forget()
                again = died or isinstance(error, self._psycopg.errors.DeadlockDetected)
                if not again or tries == _TRIES:
                    raise self._said(error) from error

    def _is_end(self, error: psycopg.Error) -> bool:
        """Whether it is the end of a connection, and not of a step."""
        state = error.sqlstate or "08"
        return isinstance(error, self._psycopg.OperationalError) and state[:2] in ("08", "57")

    def _forget(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close the idle connections, and others when their steps end; twice does no harm."""
        with self._lock:
            self._closed = True
        if self._pid == os.getpid():
            self._forget()

    # -------------------------------------------------------------------------------------- locks

    @staticmethod
    def hold_documents(db: psycopg.Connection[Any], documents: list[str]) -> None:
        """Let no other step change these documents until the end of this one. All in one call, so in one order."""
        db.execute(
            "SELECT pg_advisory_xact_lock(%s, hash) FROM"
            " (SELECT DISTINCT hashtext(one) AS hash FROM unnest(%s::text[]) AS one ORDER BY hash) AS hashes",
            (_LOCKS, documents),
        )

    @staticmethod
    def hold_frequencies(db: psycopg.Connection[Any]) -> None:
        """Let no other step change the frequencies until the end of this one. After ``hold_documents``."""
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCKS,))

    # -------------------------------------------------------------------------------------- connections

    @contextlib.contextmanager
    def _connection(self) -> Generator[psycopg.Connection[Any]]:
        with self._lock:
            if self._closed:
                raise KnowledgeBaseError(self.place, "closed", "the knowledge base was closed")
            if self._pid != os.getpid():  # those of the process that forked are not ours, not even to close
                self._pid = os.getpid()
                self._inherited += self._idle
                self._idle = []
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._open()
        try:
            yield connection
        except BaseException:
            if (
                not connection.closed and connection.info.transaction_status != 0
            ):  # in the middle of something
                connection.close()
            raise
        finally:
            with self._lock:
                if not connection.closed and not self._closed:
                    self._idle.append(connection)
                else:
                    connection.close()

    def _open(self) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(
            self._url, autocommit=True, connect_timeout=max(2, round(self._wait))
        )
        milliseconds = max(1, round(self._wait * 1000))
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (str(milliseconds),))
        connection.execute("SET jit = off")  # it takes longer than the searches that it is to make faster
        # Starting workers takes as long as comparing 100,000 vectors does; beyond a million they are worth it.
        connection.execute("SET parallel_setup_cost = 10000")
        connection.execute("SET client_min_messages = warning")
        return connection  # type: ignore[no-any-return]

    # -------------------------------------------------------------------------------------- tables

    def _prepare(self, db: psycopg.Connection[Any], *, create: bool) -> None:
        if not create and not self._is_there(db):
            raise KnowledgeBaseError(self.place, "missing", _MISSING)
        if not self._is_there(db):
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCKS,))
        if not self._is_there(db):
            _all_of(db, _TABLES)
        row = db.execute("SELECT layout FROM priompt_kb_layout").fetchone()
        if row is None or row[0] != LAYOUT:
            layout = None if row is None else row[0]
            detail = f"its tables have layout {layout}; this version of priompt_py knows {LAYOUT}"
            raise KnowledgeBaseError(self.place, "broken", detail)

    @staticmethod
    def _is_there(db: psycopg.Connection[Any]) -> bool:
        row = db.execute("SELECT to_regclass('priompt_kb_layout')").fetchone()
        return row is not None and row[0] is not None

    def make_vectors(self, db: psycopg.Connection[Any], dim: int) -> None:
        """The table of vectors of ``dim`` numbers, and the extension that they need."""
        if dim > _MOST_NUMBERS:
            detail = f"pgvector holds vectors of at most {_MOST_NUMBERS:,} numbers, not {dim:,}"
            raise KnowledgeBaseError(self.place, "settings", detail)
        errors = self._psycopg.errors
        try:
            with db.transaction():
                db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.UndefinedFile) as error:
            detail = (
                f"vectors need the extension pgvector, which can't be switched on ({_words(error)});"
                " let an administrator run CREATE EXTENSION vector, or make the base without an embedder"
            )
            raise KnowledgeBaseError(self.place, "access", detail) from error
        _all_of(db, _VECTORS.replace("DIM", str(int(dim))))

    # -------------------------------------------------------------------------------------- errors

    def _said(self, error: psycopg.Error) -> KnowledgeBaseError:
        errors, said = self._psycopg.errors, _words(error)
        if isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected | errors.QueryCanceled):
            detail = f"another process has kept it for {self._wait:g} s; {_NOTHING}. Try again later"
            return KnowledgeBaseError(self.place, "locked", detail)
        if isinstance(error, errors.DiskFull):
            detail = f"there is no room left on the server's disk; {_NOTHING}. Free some and do it again"
            return KnowledgeBaseError(self.place, "full", detail)
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return KnowledgeBaseError(self.place, "access", f"it may not be written or read: {said}")
        if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
            return KnowledgeBaseError(self.place, "broken", f"its tables are gone or not ours: {said}")
        if isinstance(error, self._psycopg.OperationalError | self._psycopg.ProgrammingError):
            return KnowledgeBaseError(self.place, "access", f"it can't be reached: {said}")
        return KnowledgeBaseError(self.place, "broken", f"{said}; {_NOTHING}")


_MOST_NUMBERS = 16_000


def _all_of(db: psycopg.Connection[Any], statements: str) -> None:
    for statement in statements.split(";\n"):
        db.execute(statement.encode())  # bytes: text that was put together is refused by the types


def _words(error: psycopg.Error) -> str:
    """What the database said, in one line and without a password."""
    said = error.diag.message_primary or str(error)
    return re.sub(r"(password=)\S+", r"\1…", " ".join(said.split()))


def hidden_password(url: str) -> str:
    """The URL as it may be shown."""
    return re.sub(r"(password=)[^&]*", r"\1…", re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", url))
