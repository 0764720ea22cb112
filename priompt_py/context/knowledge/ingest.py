"""Bringing documents in: read, chunk, embed, store, in batches between which it can be paused, killed, and gone on with."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal

import attrs

from priompt_py.context.analysis import analyse
from priompt_py.context.chunking import Chunk, chunk
from priompt_py.context.doors import Door, WrongDoor
from priompt_py.context.embedders.vectors import checked_vectors
from priompt_py.context.knowledge.sources import Entry
from priompt_py.context.knowledge.store import NewChunk, NewDocument, Settings, Store, Version
from priompt_py.context.reading import OnError, Parsers, Reader, check_parsers
from priompt_py.context.telling import Teller, said
from priompt_py.errors import ArgumentValueError, DocumentError, EmbedderError
from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["BATCH", "TIME_LIMIT", "AddProgress", "AddReport", "Added", "Ingest", "embedded_text"]

BATCH = 50
"""Chunks that are embedded and stored at once; of one document, or of several short ones."""
TIME_LIMIT = 300.0
"""Seconds that one document may take."""
MOST_FAILURES = 3
"""Failures of the embedder, one after the other, after which it isn't asked any more."""

_NOT_READABLE = ("unsupported", "encoding")  # reasons for which a file of a folder is passed over

AddStatus = Literal["added", "updated", "unchanged", "skipped", "paused", "gone", "failed"]


@attrs.frozen(kw_only=True)
class Added:
    """What became of one document.

    ``added`` and ``updated``: it can be searched now; ``unchanged``: it could be already. ``skipped``: a file of a folder
    in a format that can't be read, or one given twice. ``paused``: not finished, by request. ``gone``: it was deleted, or
    its content replaced, meanwhile. ``failed``: ``detail`` says why; a version from before can still be searched.
    ``stored`` of its ``chunks`` are in the base.
    """

    id: str
    name: str
    status: AddStatus
    chunks: int = 0
    stored: int = 0
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen
class AddReport:
    """What became of all documents, in the order in which they were given."""

    documents: tuple[Added, ...] = ()

    @property
    def paused(self) -> bool:
        """Whether it was paused: adding the same again goes on."""
        return any(one.status == "paused" for one in self.documents)

    @property
    def failed(self) -> tuple[Added, ...]:
        """Those that could not be added."""
        return tuple(one for one in self.documents if one.status == "failed")

    def to_json(self) -> dict[str, Any]:
        return {"paused": self.paused, "documents": [one.to_json() for one in self.documents]}


@attrs.frozen
class AddProgress:
    """How far an addition is: ``documents`` are through of ``total`` (None where that isn't known).

    ``chunks`` were stored in this run. ``name`` is the document that is being read or stored, ``part`` of which (0 to 1)
    is stored.
    """

    documents: int
    total: int | None
    chunks: int
    name: str
    part: float


def embedded_text(name: str, text: str) -> str:
    """What a chunk's vector is made of: the name of its document, and its text."""
    return f"{name}\n\n{text}"


@attrs.define
class _Work:
    """A document on its way."""

    place: int  # in the report
    document: NewDocument
    chunks: Sequence[Chunk]
    version: Version
    began: float
    known: bool  # something of it could be searched before
    ended: bool = False


class Ingest:
    """One addition. ``clock`` gives seconds that pass, ``now`` the time of day, in seconds since 1970."""

    def __init__(
        self,
        door: Door,
        store: Store,
        settings: Settings,
        embedder: Any,
        tokenizer: Tokenizer,
        *,
        parsers: Parsers,
        on_error: OnError,
        on_progress: Callable[[AddProgress], object] | None,
        should_pause: Callable[[], bool] | None,
        time_limit: float | None,
        batch: int,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        self._door = door
        self._store = store
        self._settings = settings
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._parsers = check_parsers("add", parsers)
        self._raises = on_error == "raise"
        self._on_progress = on_progress
        self._should_pause = should_pause or (lambda: False)
        self._time_limit = time_limit
        self._batch_size = batch
        self._clock = clock
        self._now = now
        self._results: dict[int, Added] = {}
        self._batch: list[tuple[_Work, int]] = []
        self._working: list[_Work] = []
        self._failures = 0
        self._chunks = 0
        self._total: int | None = None
        self._is_paused = False

    async def run(self, entries: Iterable[Entry], total: int | None) -> AddReport:
        """Add them all; what the report says of a document is true in the database already."""
        self._total = total
        try:
            return await self._run(entries)
        except BaseException:  # an interrupt or a cancellation, too
            self._leave()
            raise

    async def _run(self, entries: Iterable[Entry]) -> AddReport:
        ids: set[str] = set()
        for place, entry in enumerate(entries):
            if entry.attachment.id in ids:
                self._end(place, entry, "skipped", "it was given twice")
                continue
            ids.add(entry.attachment.id)
            if self._is_paused or self._asked_to_pause():
                self._end(place, entry, "paused", "it was not begun")
            elif self._failures >= MOST_FAILURES:
                detail = f"it was not begun, since the embedder failed {MOST_FAILURES} times in a row"
                self._end(place, entry, "failed", detail)
            else:
                await self._add(place, entry)
        if not self._is_paused:
            await self._flush()
        for work in self._working:
            if not work.ended:
                await self._stop(work, "paused", "")
        return AddReport(tuple(self._results[place] for place in sorted(self._results)))

    # -------------------------------------------------------------------------------------- one document

    async def _add(self, place: int, entry: Entry) -> None:
        began = self._clock()
        self._tell(entry.attachment.name, 0.0)
        chunks = await self._chunks_of(place, entry)
        if chunks is None:
            return
        name = entry.attachment.name
        document = NewDocument(
            id=entry.attachment.id,
            name=name,
            digest=_digest(name, chunks),
            characters=chunks[-1].end,
            chunks=len(chunks),
        )
        (before,) = await self._call(partial(self._store.find_documents, [document.id]))
        version: Version = await self._call(partial(self._store.begin, document, now=self._now()))
        known = before is not None and before.searchable
        work = _Work(place, document, chunks, version, began, known)
        if version.ready:
            self._finish(work, "unchanged")
            return
        self._working.append(work)
        for index in range(version.stored, len(chunks)):
            if work.ended or index < work.version.stored:  # another process was faster
                continue
            self._batch.append((work, index))
            if len(self._batch) == self._batch_size:
                await self._flush()
                if self._asked_to_pause():
                    return
        self._working = [one for one in self._working if not one.ended]

    async def _chunks_of(self, place: int, entry: Entry) -> list[Chunk] | None:
        """The chunks of a document, of which there is one at least; None where it ended here."""
        detail = entry.problem
        error: Exception | None = None
        if detail is None:
            reader = Reader(
                self._door,
                Teller(self._door),
                self._parsers,
                on_error="raise",
                time_limit=self._time_limit,
                clock=self._clock,
            )
            try:
                content = await reader.read(entry.attachment)
                if content.text is not None:
                    return await self._chunked(content.text)
                detail = content.detail
            except WrongDoor:
                raise
            except Exception as caught:  # noqa: BLE001 - reported, or raised again
                error, detail = caught, _detail(caught)
        if entry.from_folder and isinstance(error, DocumentError) and error.reason in _NOT_READABLE:
            self._end(place, entry, "skipped", detail)
            return None
        if not isinstance(error, FileNotFoundError):  # else it may be a slip of the pen
            document = NewDocument(id=entry.attachment.id, name=entry.attachment.name)
            version = await self._call(partial(self._store.begin, document, now=self._now()))
            await self._call(partial(self._store.stop, version.key, "failed", detail, now=self._now()))
        self._end(place, entry, "failed", detail)
        if self._raises:
            raise error or DocumentError(entry.attachment.name, "broken", detail)
        return None

    async def _chunked(self, text: str) -> list[Chunk]:
        size, overlap = self._settings.chunk_size, self._settings.overlap
        found: list[Chunk] = await self._call(partial(chunk, text, size, overlap, tokenizer=self._tokenizer))
        return found

    # -------------------------------------------------------------------------------------- a batch

    async def _flush(self) -> None:
        batch = [(work, index) for work, index in self._batch if not work.ended]
        self._batch = []
        if not batch:
            return
        vectors: Any = None
        if self._embedder is not None:
            try:
                vectors = await self._embedded(batch)
            except WrongDoor:
                raise
            except Exception as error:
                self._failures += 1
                for work in _works(batch):
                    await self._stop(work, "failed", f"the embedder failed: {_detail(error)}")
                if self._raises:
                    raise
                return
            self._failures = 0
        written = await self._call(partial(self._write, batch, vectors))
        self._chunks += len(batch)
        for work in _works(batch):
            await self._went_on(work, written[work.version.key])

    async def _embedded(self, batch: Sequence[tuple[_Work, int]]) -> Any:
        texts = [embedded_text(work.document.name, work.chunks[index].text) for work, index in batch]
        # Once: who pays for embeddings should not pay again without knowing.
        given = await self._door.call(
            "the embedder", self._embedder, "embed", texts, "passage", time_limit=self._time_limit
        )
        return checked_vectors(self._embedder.name, given, count=len(texts), dim=self._settings.dim)

    def _write(self, batch: Sequence[tuple[_Work, int]], vectors: Any) -> Any:
        rows = [
            NewChunk(
                work.version.key,
                index,
                work.chunks[index].text,
                work.chunks[index].start,
                analyse(work.chunks[index].text),
                None if vectors is None else vectors[i],
            )
            for i, (work, index) in enumerate(batch)
        ]
        return self._store.write(rows, now=self._now())

    async def _went_on(self, work: _Work, version: Version | None) -> None:
        if version is None:
            self._finish(work, "gone")
            return
        work.version = version
        if version.ready:
            self._finish(work, "updated" if work.known else "added")
            return
        self._tell(work.document.name, version.stored / work.document.chunks)
        if self._time_limit is not None and self._clock() - work.began > self._time_limit:
            await self._stop(work, "failed", f"it took longer than {self._time_limit:g} s")

    def _leave(self) -> None:
        """Say of what is not finished that nobody is at it any more, as far as the store still lets us."""
        for work in self._working:
            if not work.ended:
                with contextlib.suppress(Exception):
                    self._store.stop(work.version.key, "paused", _rest(work), now=self._now())

    async def _stop(self, work: _Work, state: Literal["failed", "paused"], why: str) -> None:
        detail = f"{why}; {_rest(work)}" if why else _rest(work)
        await self._call(partial(self._store.stop, work.version.key, state, detail, now=self._now()))
        self._finish(work, state, detail)

    # -------------------------------------------------------------------------------------- beside it

    async def _call(self, function: Callable[[], Any]) -> Any:
        return await self._door.call("the store", function, "__call__")

    def _asked_to_pause(self) -> bool:
        self._is_paused = self._is_paused or bool(self._should_pause())
        return self._is_paused

    def _finish(self, work: _Work, status: AddStatus, detail: str = "") -> None:
        work.ended = True
        document = work.document
        self._results[work.place] = Added(
            id=document.id,
            name=document.name,
            status=status,
            chunks=document.chunks,
            stored=0 if status == "gone" else work.version.stored,
            detail=detail,
        )
        self._tell(document.name, 1.0)

    def _end(self, place: int, entry: Entry, status: AddStatus, detail: str) -> None:
        """What became of a document of which nothing was stored."""
        attachment = entry.attachment
        self._results[place] = Added(id=attachment.id, name=attachment.name, status=status, detail=detail)
        self._tell(attachment.name, 1.0)

    def _tell(self, name: str, part: float) -> None:
        if self._on_progress is not None:
            self._on_progress(AddProgress(len(self._results), self._total, self._chunks, name, part))


def _rest(work: _Work) -> str:
    return f"{work.version.stored} of {work.document.chunks} chunks are stored; adding it again goes on from there"


def _works(batch: Sequence[tuple[_Work, int]]) -> list[_Work]:
    """The documents of a batch, each once, in order."""
    return list({id(work): work for work, _ in batch}.values())


def _digest(name: str, chunks: Sequence[Chunk]) -> str:
    """What tells versions apart: the name, which is embedded too, and the texts of all chunks."""
    digest = hashlib.sha256(f"{len(name)} {name}".encode())
    for one in chunks:
        digest.update(f"\n{one.start} {len(one.text)} {one.text}".encode())
    return digest.hexdigest()


def _detail(error: Exception) -> str:
    if isinstance(error, DocumentError):
        return error.detail
    if isinstance(error, (EmbedderError, ArgumentValueError)):  # whose sentences are whole
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"it can't be read: {error.strerror}"
    return said(error)
