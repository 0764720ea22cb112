"""A knowledge base in one SQLite file.

Chunks of a version that is not ready stand in their tables, but not yet in the full-text index nor in the totals:
that is done at once with its last chunk. Vectors lie in a table of their own, so that reading them all passes no text.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from priompt_py.context.knowledge.matrix import BLOCK, Matrix
from priompt_py.context.knowledge.selection import choosing_stems
from priompt_py.context.knowledge.sqlite_file import SqliteFile
from priompt_py.context.knowledge.store import (
    Candidate,
    DocumentInfo,
    Lexical,
    Near,
    NewChunk,
    NewDocument,
    Settings,
    StoredChunk,
    Totals,
    Vector,
    Version,
)

__all__ = ["VECTOR_MEMORY", "WAIT", "SqliteStore"]

VECTOR_MEMORY = 512 << 20
"""Bytes of vectors that are kept in memory: 524,288 of 256 numbers, 87,381 of 1,536."""
WAIT = 30.0
"""Seconds that a step waits for another process that writes."""

_BY_ROW = """
SELECT c.row, v.document, v.name, c.chunk, c.text, c.start
FROM chunks AS c JOIN versions AS v ON v.key = c.key WHERE c.row = ?
"""
_BY_PLACE = """
SELECT c.row, v.document, v.name, c.chunk, c.text, c.start
FROM chunks AS c JOIN versions AS v ON v.key = c.key WHERE v.document = ? AND v.state = 'ready' AND c.chunk = ?
"""


class SqliteStore:
    """A :class:`~priompt_py.context.knowledge.store.Store` in the file ``path``, made if it isn't there.

    With ``create=False`` a missing file is a KnowledgeBaseError. ``vector_memory`` bounds the bytes of vectors that are
    kept between searches (twice as much for a moment as they grow); a base with more is read block by block
    in each search. ``wait`` is how many seconds a step waits for another process.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        vector_memory: int = VECTOR_MEMORY,
        wait: float = WAIT,
    ) -> None:
        self._file = SqliteFile(path, create=create, wait=wait)
        self._vector_memory = vector_memory
        self._matrix: Matrix | None = None

    @property
    def place(self) -> str:
        return self._file.place

    @property
    def files(self) -> Collection[str]:
        real = os.path.realpath(self.place)
        return (real, f"{real}-wal", f"{real}-shm")

    def close(self) -> None:
        self._file.close()
        self._matrix = None

    # -------------------------------------------------------------------------------------- settings

    def settle(self, wanted: Settings, /) -> Settings:
        found = self.settings()
        if found is not None:
            return found
        with self._file.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO settings VALUES (1, ?, ?, ?, ?, ?)",
                (wanted.embedder, wanted.dim, wanted.chunk_size, wanted.overlap, wanted.tokenizer),
            )
            return _settings(db) or wanted

    def settings(self) -> Settings | None:
        with self._file.reading() as db:
            return _settings(db)

    # -------------------------------------------------------------------------------------- writing

    def begin(self, document: NewDocument, /, *, now: float) -> Version:
        with self._file.writing(
            synced=False
        ) as db:  # one sync for a batch, not one for each of its documents
            if not _is_known(db, document.id):
                db.execute("UPDATE totals SET documents = documents + 1")
            if document.digest:
                abandoned = _column(
                    db,
                    "SELECT key FROM versions WHERE document = ? AND digest <> ? AND state <> 'ready'",
                    document.id,
                    document.digest,
                )
                _drop(db, abandoned, keep=document.id)
            db.execute(
                "INSERT OR IGNORE INTO versions (document, name, digest, characters, chunks, stored, state, detail, touched)"
                " VALUES (?, ?, ?, ?, ?, 0, 'indexing', '', ?)",
                (document.id, document.name, document.digest, document.characters, document.chunks, now),
            )
            db.execute(
                "UPDATE versions SET state = 'indexing', detail = '', touched = ?"
                " WHERE document = ? AND digest = ? AND state IN ('failed', 'paused')",
                (now, document.id, document.digest),
            )
            key, stored, state = db.execute(
                "SELECT key, stored, state FROM versions WHERE document = ? AND digest = ?",
                (document.id, document.digest),
            ).fetchone()
            return Version(key, stored, state == "ready")

    def write(self, chunks: Sequence[NewChunk], /, *, now: float) -> Mapping[int, Version | None]:
        by_key: dict[int, list[NewChunk]] = {}
        for one in chunks:
            by_key.setdefault(one.key, []).append(one)
        with self._file.writing() as db:
            return {key: _write(db, key, own, now) for key, own in by_key.items()}

    def stop(self, key: int, state: Literal["failed", "paused"], detail: str, /, *, now: float) -> None:
        with self._file.writing(synced=False) as db:
            db.execute(
                "UPDATE versions SET state = ?, detail = ?, touched = ? WHERE key = ? AND state <> 'ready'",
                (state, detail, now, key),
            )

    def delete(self, ids: Sequence[str], /) -> int:
        with self._file.writing() as db:
            versions = [
                _column(db, "SELECT key FROM versions WHERE document = ?", id_) for id_ in dict.fromkeys(ids)
            ]
            _drop(db, [key for keys in versions for key in keys])
            return sum(1 for keys in versions if keys)

    # -------------------------------------------------------------------------------------- documents

    def documents(self, offset: int, limit: int, /) -> list[DocumentInfo]:
        with self._file.reading() as db:
            ids = _column(
                db,
                "SELECT DISTINCT document FROM versions ORDER BY document LIMIT ? OFFSET ?",
                limit,
                offset,
            )
            return [info for id_ in ids if (info := _info(db, id_)) is not None]

    def find_documents(self, ids: Sequence[str], /) -> list[DocumentInfo | None]:
        with self._file.reading() as db:
            return [_info(db, id_) for id_ in ids]

    def totals(self) -> Totals:
        with self._file.reading() as db:
            return _totals(db)

    # -------------------------------------------------------------------------------------- searching

    def lexical(self, stems: Sequence[str], limit: int, /) -> Lexical:
        with self._file.reading() as db:
            totals = _totals(db)
            frequencies = dict.fromkeys(stems, 0)
            for stem in stems:
                row = db.execute("SELECT doc FROM frequencies WHERE term = ?", (stem,)).fetchone()
                frequencies[stem] = 0 if row is None else row[0]
            chosen = choosing_stems(frequencies)
            if not chosen:
                return Lexical(totals, frequencies, [])
            rows = db.execute(
                "SELECT c.row, v.document, c.chunk, c.stems, c.length FROM"
                " (SELECT rowid FROM lexicon WHERE lexicon MATCH ? ORDER BY rank LIMIT ?) AS found"
                " JOIN chunks AS c ON c.row = found.rowid JOIN versions AS v ON v.key = c.key",
                (" OR ".join(f'"{stem}"' for stem in chosen), limit),
            ).fetchall()
        wanted = set(stems)
        return Lexical(
            totals,
            frequencies,
            [
                Candidate(row, document, chunk, _counts(text, wanted), length)
                for row, document, chunk, text, length in rows
            ],
        )

    def nearest(self, vector: Vector, limit: int, /) -> list[Near]:
        with self._file.reading() as db:
            matrix = self._matrix
            if matrix is None:
                matrix = self._matrix = Matrix(len(vector), self._vector_memory)
            total, revision = db.execute("SELECT chunks, revision FROM totals").fetchone()

            def keys() -> list[int]:
                return _column(db, "SELECT key FROM versions WHERE state = 'ready'")

            def read(wanted: Collection[int] | None) -> Iterator[tuple[list[int], list[int], bytes]]:
                return _vectors(db, wanted)

            found = matrix.nearest(revision, keys, total, read, vector, limit)
            places = {
                row: (document, chunk)
                for row, document, chunk in db.execute(
                    "SELECT c.row, v.document, c.chunk FROM chunks AS c JOIN versions AS v ON v.key = c.key"
                    " WHERE c.row IN (SELECT value FROM json_each(?))",
                    (json.dumps([row for row, _ in found]),),
                )
            }
        near = [Near(row, *places[row], cosine) for row, cosine in found]
        near.sort(key=lambda one: (-one.cosine, one.document, one.chunk))
        return near[:limit]

    def read_rows(self, rows: Sequence[int], /) -> list[StoredChunk | None]:
        with self._file.reading() as db:
            return [_chunk(db, _BY_ROW, row) for row in rows]

    def read_chunks(self, places: Sequence[tuple[str, int]], /) -> list[StoredChunk | None]:
        with self._file.reading() as db:
            return [_chunk(db, _BY_PLACE, document, chunk) for document, chunk in places]


# ------------------------------------------------------------------------------------------ within a transaction


def _settings(db: sqlite3.Connection) -> Settings | None:
    row = db.execute("SELECT embedder, dim, chunk_size, overlap, tokenizer FROM settings").fetchone()
    if row is None:
        return None
    embedder, dim, size, overlap, tokenizer = row
    return Settings(embedder=embedder, dim=dim, chunk_size=size, overlap=overlap, tokenizer=tokenizer)


def _column(db: sqlite3.Connection, sql: str, *values: Any) -> list[Any]:
    return [row[0] for row in db.execute(sql, values)]


def _totals(db: sqlite3.Connection) -> Totals:
    return Totals(*db.execute("SELECT documents, chunks, stems FROM totals").fetchone())


def _write(db: sqlite3.Connection, key: int, chunks: Sequence[NewChunk], now: float) -> Version | None:
    row = db.execute("SELECT stored, chunks, state FROM versions WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    stored, total, state = row
    for one in chunks:
        if one.index < stored:
            continue
        if one.index > stored:
            raise ValueError(f"version {key}: chunk {one.index} was given where {stored} was due")
        at = db.execute(
            "INSERT INTO chunks (key, chunk, start, length, text, stems) VALUES (?, ?, ?, ?, ?, ?)",
            (key, one.index, one.start, len(one.stems), one.text, " ".join(one.stems)),
        ).lastrowid
        if one.vector is not None:
            data = one.vector.astype("<f4").tobytes()
            db.execute("INSERT INTO vectors (row, key, vector) VALUES (?, ?, ?)", (at, key, data))
        stored += 1
    if state != "ready":
        db.execute("UPDATE versions SET stored = ?, touched = ? WHERE key = ?", (stored, now, key))
        if stored == total:
            _finish(db, key)
    return Version(key, stored, stored == total)


def _finish(db: sqlite3.Connection, key: int) -> None:
    """Make a version ready, in the place of the document's others."""
    others = _column(
        db,
        "SELECT key FROM versions WHERE document = (SELECT document FROM versions WHERE key = ?) AND key <> ?",
        key,
        key,
    )
    _drop(db, others)
    db.execute("INSERT INTO lexicon (rowid, stems) SELECT row, stems FROM chunks WHERE key = ?", (key,))
    _count(db, key, 1)
    db.execute("UPDATE versions SET state = 'ready', detail = '' WHERE key = ?", (key,))


def _drop(db: sqlite3.Connection, keys: Sequence[int], *, keep: str | None = None) -> None:
    """Take versions out, with all that they stored. The document ``keep`` gets another one at once."""
    for key in keys:
        document, state = db.execute("SELECT document, state FROM versions WHERE key = ?", (key,)).fetchone()
        if state == "ready":
            _count(db, key, -1)
            db.execute(
                "INSERT INTO lexicon (lexicon, rowid, stems) SELECT 'delete', row, stems FROM chunks WHERE key = ?",
                (key,),
            )
        db.execute("DELETE FROM vectors WHERE key = ?", (key,))
        db.execute("DELETE FROM chunks WHERE key = ?", (key,))
        db.execute("DELETE FROM versions WHERE key = ?", (key,))
        if document != keep and not _is_known(db, document):
            db.execute("UPDATE totals SET documents = documents - 1")


def _is_known(db: sqlite3.Connection, id_: str) -> bool:
    return db.execute("SELECT 1 FROM versions WHERE document = ?", (id_,)).fetchone() is not None


def _count(db: sqlite3.Connection, key: int, sign: int) -> None:
    """Add a version to the totals, or take it out of them."""
    chunks, stems = db.execute(
        "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE key = ?", (key,)
    ).fetchone()
    db.execute(
        "UPDATE totals SET chunks = chunks + ?, stems = stems + ?, revision = revision + 1",
        (sign * chunks, sign * stems),
    )


def _info(db: sqlite3.Connection, id_: str) -> DocumentInfo | None:
    """A document as its newest version is; one that is not ready is always newer than the ready one."""
    rows = db.execute(
        "SELECT name, characters, chunks, stored, state, detail, touched FROM versions"
        " WHERE document = ? ORDER BY state = 'ready', key DESC",
        (id_,),
    ).fetchall()
    if not rows:
        return None
    name, characters, chunks, stored, state, detail, touched = rows[0]
    return DocumentInfo(
        id=id_,
        name=name,
        characters=characters,
        chunks=chunks,
        stored=stored,
        state=state,
        detail=detail,
        touched=touched,
        searchable=rows[-1][4] == "ready",
    )


def _chunk(db: sqlite3.Connection, sql: str, *values: Any) -> StoredChunk | None:
    row = db.execute(sql, values).fetchone()
    return None if row is None else StoredChunk(*row)


def _counts(stems: str, wanted: Collection[str]) -> Mapping[str, int]:
    return Counter(stem for stem in stems.split(" ") if stem in wanted)


def _vectors(
    db: sqlite3.Connection, keys: Collection[int] | None
) -> Iterator[tuple[list[int], list[int], bytes]]:
    """The vectors of versions (of all that are ready for None), in blocks: versions, rows, and the vectors' bytes."""
    if keys is None:
        rows = db.execute(
            "SELECT key, row, vector FROM vectors WHERE key IN (SELECT key FROM versions WHERE state = 'ready')"
        )
    else:
        rows = db.execute(
            "SELECT key, row, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
    while block := rows.fetchmany(BLOCK):
        yield [key for key, _, _ in block], [row for _, row, _ in block], b"".join(v for _, _, v in block)
