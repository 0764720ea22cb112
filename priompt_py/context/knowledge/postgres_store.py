"""A knowledge base in PostgreSQL, with vectors by pgvector: for those who outgrow one machine.

Words are found by ``tsvector`` columns that hold our stems, not the database's: with a GIN index they give the chunks that
hold a stem, and how often. Their ranking chooses the candidates, nearly by BM25; what the candidates score is computed
outside, as for every store, from ``frequencies``: how many chunks hold a stem, kept up to date with each version that
becomes ready or goes. Vectors are compared one by one, in the server.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from priompt_py.context.knowledge.postgres_link import PostgresLink
from priompt_py.context.knowledge.postgres_vectors import copy_vectors
from priompt_py.context.knowledge.selection import choosing_stems
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
from priompt_py.context.scoring import K1, B, idf

if TYPE_CHECKING:
    import psycopg

    Db = psycopg.Connection[Any]

__all__ = ["PostgresStore"]

_WAIT = 30.0
_ENOUGH = 50
_MOST = 10_000
"""Places that are ranked for one search, see :func:`choosing_stems`: each takes 3 microseconds of the server's time."""
_RANKED = 16
"""Of the stems that choose the candidates, so many rank them, the rarest: each costs a microsecond a chunk."""


class PostgresStore:
    """A :class:`~priompt_py.context.knowledge.store.Store` in the database at ``url`` (``postgresql://…``).

    Its tables are made if they aren't there; with ``create=False`` that is a KnowledgeBaseError. They stand in the first
    schema of the search path, so that one database holds several bases: ``…?options=-csearch_path%3Dmine,public``.
    ``wait`` is how many seconds a step waits for another process. PostgreSQL's texts can't hold the character U+0000:
    it becomes U+FFFD.
    """

    def __init__(self, url: str, *, create: bool = True, wait: float = _WAIT) -> None:
        self._link = PostgresLink(url, create=create, wait=wait)

    @property
    def place(self) -> str:
        return self._link.place

    def close(self) -> None:
        self._link.close()

    # -------------------------------------------------------------------------------------- settings

    def settle(self, wanted: Settings, /) -> Settings:
        def step(db: Db) -> Settings:
            found = _settings(db)
            if found is None:
                self._link.hold_frequencies(db)
                found = _settings(db)
            if found is not None:
                return found
            if wanted.dim is not None:
                self._link.make_vectors(db, wanted.dim)
            db.execute(
                "INSERT INTO priompt_kb_settings VALUES (1, %s, %s, %s, %s, %s)",
                (wanted.embedder, wanted.dim, wanted.chunk_size, wanted.overlap, wanted.tokenizer),
            )
            return wanted

        return self._link.run(step)

    def settings(self) -> Settings | None:
        return self._link.read(_settings)

    # -------------------------------------------------------------------------------------- writing

    def begin(self, document: NewDocument, /, *, now: float) -> Version:
        id_ = _clean(document.id)

        def step(db: Db) -> Version:
            self._link.hold_documents(db, [id_])
            if document.digest:
                db.execute(
                    "DELETE FROM priompt_kb_versions WHERE document = %s AND digest <> %s AND state <> 'ready'",
                    (id_, document.digest),
                )
            row = db.execute(
                "INSERT INTO priompt_kb_versions AS v (document, name, digest, characters, chunks, touched)"
                " VALUES (%(id)s, %(name)s, %(digest)s, %(characters)s, %(chunks)s, %(now)s)"
                " ON CONFLICT (document, digest) DO UPDATE SET"
                " state = CASE WHEN v.state IN ('failed', 'paused') THEN 'indexing' ELSE v.state END,"
                " detail = CASE WHEN v.state IN ('failed', 'paused') THEN '' ELSE v.detail END,"
                " touched = CASE WHEN v.state IN ('failed', 'paused') THEN %(now)s ELSE v.touched END"
                " RETURNING key, stored, state",
                {
                    "id": id_,
                    "name": _clean(document.name),
                    "digest": document.digest,
                    "characters": document.characters,
                    "chunks": document.chunks,
                    "now": now,
                },
            ).fetchone()
            assert row is not None
            return Version(row[0], row[1], row[2] == "ready")

        return self._link.run(step)

    def write(self, chunks: Sequence[NewChunk], /, *, now: float) -> Mapping[int, Version | None]:
        by_key: dict[int, list[NewChunk]] = {}
        for one in chunks:
            by_key.setdefault(one.key, []).append(one)

        def step(db: Db) -> Mapping[int, Version | None]:
            keys = list(by_key)
            documents = _column(db, "SELECT document FROM priompt_kb_versions WHERE key = ANY(%s)", keys)
            self._link.hold_documents(db, documents)
            return {key: self._write(db, key, own, now) for key, own in by_key.items()}

        return self._link.run(step)

    def _write(self, db: Db, key: int, chunks: Sequence[NewChunk], now: float) -> Version | None:
        row = db.execute(
            "SELECT stored, chunks, state, document FROM priompt_kb_versions WHERE key = %s", (key,)
        ).fetchone()
        if row is None:
            return None
        stored, total, state, document = row
        new = [one for one in chunks if one.index >= stored]
        for due, one in enumerate(new, stored):
            if one.index != due:
                raise ValueError(f"version {key}: chunk {one.index} was given where {due} was due")
        if state != "ready":
            _insert(db, new)
            stored += len(new)
            db.execute(
                "UPDATE priompt_kb_versions SET stored = %s, stems = stems + %s, touched = %s WHERE key = %s",
                (stored, sum(len(one.stems) for one in new), now, key),
            )
            if stored == total:
                self._finish(db, key, document)
        return Version(key, stored, stored == total)

    def _finish(self, db: Db, key: int, document: str) -> None:
        """Make a version ready, in the place of the document's others."""
        self._drop(
            db,
            _column(
                db, "SELECT key FROM priompt_kb_versions WHERE document = %s AND key <> %s", document, key
            ),
        )
        self._link.hold_frequencies(db)
        db.execute(
            "INSERT INTO priompt_kb_frequencies AS f SELECT word, ndoc FROM ts_stat(%s)"
            " ON CONFLICT (stem) DO UPDATE SET chunks = f.chunks + excluded.chunks",
            (_lexemes_of([key]),),
        )
        db.execute("UPDATE priompt_kb_versions SET state = 'ready', detail = '' WHERE key = %s", (key,))

    def _drop(self, db: Db, keys: Sequence[int]) -> None:
        """Take versions out, with all that they stored."""
        ready = _column(
            db, "SELECT key FROM priompt_kb_versions WHERE key = ANY(%s) AND state = 'ready'", list(keys)
        )
        if ready:
            self._link.hold_frequencies(db)
            db.execute(
                "UPDATE priompt_kb_frequencies AS f SET chunks = f.chunks - gone.ndoc FROM ts_stat(%s) AS gone"
                " WHERE f.stem = gone.word",
                (_lexemes_of(ready),),
            )
            db.execute("DELETE FROM priompt_kb_frequencies WHERE chunks <= 0")
        db.execute("DELETE FROM priompt_kb_versions WHERE key = ANY(%s)", (list(keys),))

    def stop(self, key: int, state: Literal["failed", "paused"], detail: str, /, *, now: float) -> None:
        self._link.run(
            lambda db: db.execute(
                "UPDATE priompt_kb_versions SET state = %s, detail = %s, touched = %s"
                " WHERE key = %s AND state <> 'ready'",
                (state, _clean(detail), now, key),
            )
        )

    def delete(self, ids: Sequence[str], /) -> int:
        documents = [_clean(id_) for id_ in dict.fromkeys(ids)]

        def step(db: Db) -> int:
            self._link.hold_documents(db, documents)
            rows = db.execute(
                "SELECT key, document FROM priompt_kb_versions WHERE document = ANY(%s)", (documents,)
            ).fetchall()
            self._drop(db, [key for key, _ in rows])
            return len({document for _, document in rows})

        return self._link.run(step)

    # -------------------------------------------------------------------------------------- documents

    def documents(self, offset: int, limit: int, /) -> list[DocumentInfo]:
        def step(db: Db) -> list[DocumentInfo]:
            ids = _column(
                db,
                "SELECT DISTINCT document FROM priompt_kb_versions ORDER BY document LIMIT %s OFFSET %s",
                limit,
                offset,
            )
            return [info for info in _infos(db, ids) if info is not None]

        return self._link.read(step)

    def find_documents(self, ids: Sequence[str], /) -> list[DocumentInfo | None]:
        return self._link.read(lambda db: _infos(db, [_clean(id_) for id_ in ids]))

    def totals(self) -> Totals:
        return self._link.read(_totals)

    # -------------------------------------------------------------------------------------- searching

    def lexical(self, stems: Sequence[str], limit: int, /) -> Lexical:
        def step(db: Db) -> Lexical:
            totals = _totals(db)
            lexemes = {_lexeme(stem): stem for stem in stems}
            found = db.execute(
                "SELECT stem, chunks FROM priompt_kb_frequencies WHERE stem = ANY(%s)", (list(lexemes),)
            )
            frequencies = dict.fromkeys(stems, 0) | {lexemes[lexeme]: count for lexeme, count in found}
            chosen = choosing_stems(frequencies, enough=_ENOUGH, most=_MOST)
            rows = _ranked(db, chosen, frequencies, totals, limit) if chosen else []
            wanted = set(stems)
            candidates = [
                Candidate(row, document, chunk, _counts(text, wanted), length)
                for row, document, chunk, text, length in rows
            ]
            return Lexical(totals, frequencies, candidates)

        return self._link.read(step)

    def nearest(self, vector: Vector, limit: int, /) -> list[Near]:
        def step(db: Db) -> list[Near]:
            rows = db.execute(
                "SELECT n.row, v.document, n.chunk, n.vector <#> %s::vector AS far FROM priompt_kb_vectors AS n"
                " JOIN priompt_kb_versions AS v ON v.key = n.key AND v.state = 'ready'"
                " ORDER BY far, v.document, n.chunk LIMIT %s",
                ("[" + ",".join(map(str, vector.tolist())) + "]", limit),
            )
            return [Near(row, document, chunk, -far) for row, document, chunk, far in rows]

        return self._link.read(step)

    def read_rows(self, rows: Sequence[int], /) -> list[StoredChunk | None]:
        def step(db: Db) -> list[StoredChunk | None]:
            found = db.execute(f"{_CHUNK} WHERE c.row = ANY(%s)", (list(rows),)).fetchall()
            by_row = {row[0]: StoredChunk(*row) for row in found}
            return [by_row.get(row) for row in rows]

        return self._link.read(step)

    def read_chunks(self, places: Sequence[tuple[str, int]], /) -> list[StoredChunk | None]:
        wanted = [(_clean(document), chunk) for document, chunk in places]

        def step(db: Db) -> list[StoredChunk | None]:
            found = db.execute(
                f"{_CHUNK} JOIN unnest(%s::text[], %s::integer[]) AS w (document, chunk)"
                " ON v.document = w.document AND c.chunk = w.chunk WHERE v.state = 'ready'",
                ([document for document, _ in wanted], [chunk for _, chunk in wanted]),
            ).fetchall()
            by_place = {(row[1], row[3]): StoredChunk(*row) for row in found}
            return [by_place.get(place) for place in wanted]

        return self._link.read(step)


# ------------------------------------------------------------------------------------------ within a transaction

_CHUNK = (
    "SELECT c.row, v.document, v.name, c.chunk, c.text, c.start"
    " FROM priompt_kb_chunks AS c JOIN priompt_kb_versions AS v ON v.key = c.key"
)


def _column(db: Db, sql: str, *values: Any) -> list[Any]:
    return [row[0] for row in db.execute(sql.encode(), values)]


def _settings(db: Db) -> Settings | None:
    row = db.execute(
        "SELECT embedder, dim, chunk_size, overlap, tokenizer FROM priompt_kb_settings"
    ).fetchone()
    if row is None:
        return None
    embedder, dim, size, overlap, tokenizer = row
    return Settings(embedder=embedder, dim=dim, chunk_size=size, overlap=overlap, tokenizer=tokenizer)


def _totals(db: Db) -> Totals:
    row = db.execute(
        "SELECT count(DISTINCT document), coalesce(sum(chunks) FILTER (WHERE state = 'ready'), 0)::bigint,"
        " coalesce(sum(stems) FILTER (WHERE state = 'ready'), 0)::bigint FROM priompt_kb_versions"
    ).fetchone()
    assert row is not None
    return Totals(*row)


def _infos(db: Db, ids: Sequence[str]) -> list[DocumentInfo | None]:
    """Documents as their newest versions are; one that is not ready is always newer than the ready one."""
    rows = db.execute(
        "SELECT document, name, characters, chunks, stored, state, detail, touched FROM priompt_kb_versions"
        " WHERE document = ANY(%s) ORDER BY document, state = 'ready', key DESC",
        (list(ids),),
    ).fetchall()
    ready = {row[0] for row in rows if row[5] == "ready"}
    infos: dict[str, DocumentInfo] = {}
    for id_, name, characters, chunks, stored, state, detail, touched in rows:
        if id_ not in infos:
            infos[id_] = DocumentInfo(
                id=id_,
                name=name,
                characters=characters,
                chunks=chunks,
                stored=stored,
                state=state,
                detail=detail,
                touched=touched,
                searchable=id_ in ready,
            )
    return [infos.get(id_) for id_ in ids]


def _insert(db: Db, chunks: Sequence[NewChunk]) -> None:
    rows = _column(db, "SELECT nextval('priompt_kb_rows') FROM generate_series(1, %s)", len(chunks))
    numbered = list(zip(rows, chunks, strict=True))
    with db.cursor() as cursor:
        with cursor.copy("COPY priompt_kb_chunks (row, key, chunk, start, text, stems) FROM STDIN") as copy:
            for row, one in numbered:
                copy.write_row((row, one.key, one.index, one.start, _clean(one.text), " ".join(one.stems)))
        with cursor.copy("COPY priompt_kb_lexemes (row, key, length, stems) FROM STDIN") as copy:
            for row, one in numbered:
                copy.write_row((row, one.key, len(one.stems), _tsvector(one.stems)))
    copy_vectors(
        db, [(row, one.key, one.index, one.vector) for row, one in numbered if one.vector is not None]
    )


def _ranked(
    db: Db, chosen: Sequence[str], frequencies: Mapping[str, int], totals: Totals, limit: int
) -> list[Any]:
    """Rows of the chunks that BM25 puts first, as nearly as ``ts_rank`` lets it be computed in the database.

    For one lexeme of weight 1 that stands n times, ``ts_rank`` is the sum of 1 / i², i from 1 to n, as a part of
    pi² / 6; so n is 0.6079 / (1 - rank) - 0.5, near enough.
    """
    values: list[object] = []
    for stem in chosen[:_RANKED]:
        query = _quoted(_lexeme(stem))
        values += [query, idf(totals.chunks, frequencies[stem]), query]
    mean = totals.stems / totals.chunks
    terms = " + ".join([_TERM] * min(len(chosen), _RANKED))
    anything = " | ".join(_quoted(_lexeme(stem)) for stem in chosen)
    sql = _RANKING.replace(
        "TERMS", terms
    ).encode()  # bytes: text that was put together is refused by the types
    return db.execute(sql, [K1 * (1 - B), K1 * B, mean, anything, *values, limit]).fetchall()


_RANKING = """
SELECT c.row, found.document, c.chunk, c.stems, found.length
FROM (
    SELECT l.row, v.document, l.length
    FROM (
        SELECT row, key, length, stems, %s::float8 + %s::float8 * length / %s::float8 AS norm
        FROM priompt_kb_lexemes WHERE stems @@ %s::tsquery OFFSET 0
    ) AS l
    JOIN priompt_kb_versions AS v ON v.key = l.key AND v.state = 'ready'
    ORDER BY TERMS DESC, l.row LIMIT %s
) AS found
JOIN priompt_kb_chunks AS c ON c.row = found.row
"""
_TERM = """
CASE WHEN l.stems @@ %s::tsquery
THEN %s::float8 / (1 + norm / (0.6079271 / (1.000001 - ts_rank('{1,1,1,1}', l.stems, %s::tsquery)) - 0.5))
ELSE 0 END
"""


# ------------------------------------------------------------------------------------------ texts


def _clean(text: str) -> str:
    return text.replace("\0", "\ufffd")


def _lexeme(stem: str) -> str:
    """The stem as the database indexes it, which takes 2,046 bytes at most."""
    data = stem.encode()
    return stem if len(data) <= _LONGEST else f"sha256-{hashlib.sha256(data).hexdigest()}"


_LONGEST = 2_000
_MOST_PLACES = 255  # of a lexeme in a tsvector


def _quoted(lexeme: str) -> str:
    """A lexeme as tsvector and tsquery are written."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def _tsvector(stems: Iterable[str]) -> str:
    """The stems with how often each stands there, as a tsvector: the number of places tells, not where they are."""
    counts = Counter(_lexeme(stem) for stem in stems)
    return " ".join(f"{_quoted(lexeme)}:{_PLACES[min(n, _MOST_PLACES)]}" for lexeme, n in counts.items())


_PLACES = [",".join(map(str, range(1, n + 1))) for n in range(_MOST_PLACES + 1)]


def _lexemes_of(keys: Iterable[int]) -> str:
    """The query that ``ts_stat`` runs."""
    listed = ",".join(str(int(key)) for key in keys)
    return f"SELECT stems FROM priompt_kb_lexemes WHERE key IN ({listed})"  # noqa: S608 - whole numbers


def _counts(stems: str, wanted: set[str]) -> Mapping[str, int]:
    return Counter(stem for stem in stems.split(" ") if stem in wanted)
