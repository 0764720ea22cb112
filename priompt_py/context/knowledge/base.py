"""``KnowledgeBase``: documents in a database, to be searched."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Iterable, Sequence, Sized
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import attrs

from priompt_py.author.checks import (
    callable_or_none,
    choice,
    got,
    text,
    truth,
    whole_number,
    wrong_type,
    wrong_value,
)
from priompt_py.context.chunking import CHUNK_OVERLAP, CHUNK_SIZE
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, run_sync
from priompt_py.context.fusion import RRF_K
from priompt_py.context.knowledge.ingest import BATCH, TIME_LIMIT, AddProgress, AddReport, Ingest
from priompt_py.context.knowledge.retriever import KnowledgeRetriever
from priompt_py.context.knowledge.search import Searcher
from priompt_py.context.knowledge.sources import Source, entries_of
from priompt_py.context.knowledge.sqlite_file import MISSING
from priompt_py.context.knowledge.sqlite_store import VECTOR_MEMORY, WAIT, SqliteStore
from priompt_py.context.knowledge.store import DocumentInfo, Settings, Store, StoredChunk, Totals
from priompt_py.context.knowledge.tools import KnowledgeTools
from priompt_py.context.messages import Attachment
from priompt_py.context.reading import OnError, Parsers
from priompt_py.context.reports import Found
from priompt_py.context.reranking import FINAL_K, check_reranker
from priompt_py.errors import KnowledgeBaseError
from priompt_py.model.elements import ToolDefinition
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

__all__ = ["STALE", "KnowledgeBase"]

STALE = 300.0
"""Seconds without a word from whoever adds a document, after which it counts as failed."""

_TOKENIZER = "o200k_base"
_MOST = 2**31 - 1  # documents, and chunks of one, that both databases can count
_ON_ERROR = ("report", "raise")


class KnowledgeBase:
    """Documents, cut into chunks, to be searched by words, and by vectors too where an embedder is given.

    Made by :meth:`open`. It may be used by several threads, and one database by several processes at once.
    """

    def __init__(
        self,
        store: Store,
        embedder: Any = None,
        *,
        reranker: Any = None,
        chunk_size: int | None = None,
        overlap: int | None = None,
        tokenizer: str | Tokenizer | None = None,
        vector_threshold: float | None = None,
        fusion_k: int = RRF_K,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        tag = "KnowledgeBase"
        _check_embedder(tag, embedder)
        check_reranker(tag, reranker)
        self._store = store
        self._embedder = embedder
        self._reranker = reranker
        self._given_tokenizer = None if tokenizer is None else get_tokenizer(tokenizer)
        self._threshold = (
            None if vector_threshold is None else _cosine(tag, "vector_threshold", vector_threshold)
        )
        self._fusion_k = whole_number(tag, "fusion_k", fusion_k)
        self._retriever: KnowledgeRetriever | None = None
        self._clock = clock
        self._now = now
        self.settings = self._settled(tag, chunk_size, overlap)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        embedder: Any = None,
        *,
        reranker: Any = None,
        chunk_size: int | None = None,
        overlap: int | None = None,
        tokenizer: str | Tokenizer | None = None,
        vector_threshold: float | None = None,
        fusion_k: int = RRF_K,
        create: bool = True,
        wait: float = WAIT,
        vector_memory: int = VECTOR_MEMORY,
    ) -> KnowledgeBase:
        """The knowledge base in an SQLite file, or at a URL of PostgreSQL; made if it isn't there and ``create`` is True.

        A base that is made has vectors if there is an ``embedder``, and chunks of ``chunk_size`` (512) tokens of
        ``tokenizer`` (``o200k_base``) that share ``overlap`` (50) tokens; it keeps to that. One that has vectors can be
        searched without the embedder, by words alone. ``reranker`` orders what a search recalls. Cosines up to
        ``vector_threshold`` are no hits; which number that is depends on the embedder, and None, no threshold, suits any.
        ``fusion_k`` is the constant of the fusion of words and vectors: the smaller, the more first places count.
        ``wait`` is how many seconds a step waits for another process that writes; ``vector_memory`` how many bytes of
        vectors are kept in memory between searches (SQLite; more are read anew by each search).

        Raises KnowledgeBaseError: the base can't be opened, or was made with other settings.
        """
        _check_new("KnowledgeBase", place, embedder, chunk_size, overlap, tokenizer)
        store = _store_at(place, create=create, wait=wait, vector_memory=vector_memory)
        try:
            if (
                not create and store.settings() is None
            ):  # another process is making it, with settings of its own
                raise KnowledgeBaseError(store.place, "missing", MISSING)
            return cls(
                store,
                embedder,
                reranker=reranker,
                chunk_size=chunk_size,
                overlap=overlap,
                tokenizer=tokenizer,
                vector_threshold=vector_threshold,
                fusion_k=fusion_k,
            )
        except BaseException:
            store.close()
            raise

    # -------------------------------------------------------------------------------------- adding

    def add(
        self,
        sources: Source | Iterable[Source],
        *,
        parsers: Parsers = None,
        on_progress: Callable[[AddProgress], object] | None = None,
        should_pause: Callable[[], bool] | None = None,
        on_error: OnError = "report",
        time_limit: float | None = TIME_LIMIT,
        batch: int = BATCH,
    ) -> AddReport:
        """Bring in files, folders and attachments; a document that is there already is replaced if its text changed.

        Each document is read (``parsers`` as for ``assemble``), cut into chunks, and stored in batches of ``batch``
        chunks. It can be searched when its last chunk is stored; until then what it was before can. Whatever breaks an
        addition off, adding the same again goes on from the last stored batch. The embedder is called once for a batch;
        if it fails, the documents of that batch have failed, and after three failures in a row the rest isn't
        begun. A document that takes longer than ``time_limit`` seconds has failed, too; None is no limit.

        ``on_progress`` is told of each document and batch. ``should_pause`` is asked before each document and behind each batch: True ends
        the addition there, with ``paused`` in the report. Errors of single documents stand in the report; with
        ``on_error="raise"`` the first goes up. KnowledgeBaseError goes up always.
        """
        return run_sync(
            self._add(
                SyncDoor("add", "aadd"),
                sources,
                parsers,
                on_progress,
                should_pause,
                on_error,
                time_limit,
                batch,
            )
        )

    async def aadd(
        self,
        sources: Source | Iterable[Source],
        *,
        parsers: Parsers = None,
        on_progress: Callable[[AddProgress], object] | None = None,
        should_pause: Callable[[], bool] | None = None,
        on_error: OnError = "report",
        time_limit: float | None = TIME_LIMIT,
        batch: int = BATCH,
    ) -> AddReport:
        """As :meth:`add`; loaders, parsers and the embedder may be async, and the event loop goes on meanwhile."""
        return await self._add(
            AsyncDoor(), sources, parsers, on_progress, should_pause, on_error, time_limit, batch
        )

    async def _add(
        self,
        door: Door,
        sources: Source | Iterable[Source],
        parsers: Parsers,
        on_progress: Callable[[AddProgress], object] | None,
        should_pause: Callable[[], bool] | None,
        on_error: OnError,
        time_limit: float | None,
        batch: int,
    ) -> AddReport:
        if self.settings.embedder is not None and self._embedder is None:
            raise KnowledgeBaseError(
                self._store.place,
                "settings",
                f"its chunks have vectors by {self.settings.embedder!r}; open it with that embedder to add to it",
            )
        ingest = Ingest(
            door,
            self._store,
            self.settings,
            self._embedder,
            self._tokenizer,
            parsers=parsers,
            on_error=choice("add", "on_error", on_error, _ON_ERROR),
            on_progress=callable_or_none("add", "on_progress", on_progress),
            should_pause=callable_or_none("add", "should_pause", should_pause),
            time_limit=time_limit,
            batch=whole_number("add", "batch", batch, least=1),
            clock=self._clock,
            now=self._now,
        )
        entries = entries_of(sources, leave_out=getattr(self._store, "files", ()))
        if not isinstance(sources, (str, os.PathLike, Attachment, Sized)):  # a generator may be endless
            return await ingest.run(entries, None)
        listed = list(entries)
        return await ingest.run(listed, len(listed))

    # -------------------------------------------------------------------------------------- searching

    def search(
        self,
        query: str,
        *,
        limit: int = FINAL_K,
        on_error: OnError = "report",
        time_limit: float | None = None,
    ) -> Found:
        """The ``limit`` best chunks for a query, the best first: a list of hits with a ``report``.

        Twenty (or ``limit``, if that is more) are recalled, by words and by vectors, and the reranker's best of these
        are given. An embedder that fails (raises, takes longer than ``time_limit`` seconds, gives vectors of the wrong
        size) leaves the search by words, a reranker that fails, or none, the order of recall; the report says so. With
        ``on_error="raise"`` such a failure goes up.
        """
        door = SyncDoor("search", "asearch")
        return run_sync(
            self._searcher("search", door, limit, on_error, time_limit).find(_query(query), limit)
        )

    async def asearch(
        self,
        query: str,
        *,
        limit: int = FINAL_K,
        on_error: OnError = "report",
        time_limit: float | None = None,
    ) -> Found:
        """As :meth:`search`; embedder and reranker may be async, and the event loop goes on meanwhile."""
        return await self._searcher("asearch", AsyncDoor(), limit, on_error, time_limit).find(
            _query(query), limit
        )

    def _searcher(
        self, tag: str, door: Door, limit: int, on_error: OnError, time_limit: float | None
    ) -> Searcher:
        whole_number(tag, "limit", limit, least=1)
        return Searcher(
            tag=tag,
            door=door,
            store=self._store,
            settings=self.settings,
            embedder=self._embedder,
            reranker=self._reranker,
            vector_threshold=self._threshold,
            fusion_k=self._fusion_k,
            on_error=choice(tag, "on_error", on_error, _ON_ERROR),
            time_limit=time_limit,
        )

    # -------------------------------------------------------------------------------------- documents

    @property
    def place(self) -> str:
        """The file, or the address without its password."""
        return self._store.place

    def totals(self) -> Totals:
        """How many documents there are, and how many chunks can be searched."""
        return self._store.totals()

    def documents(self, *, offset: int = 0, limit: int | None = None) -> list[DocumentInfo]:
        """Documents in the order of their ids, from the ``offset``-th (from 0), at most ``limit``.

        One that nobody has gone on with for five minutes has failed, whatever ended its addition.
        """
        whole_number("documents", "offset", offset)
        most = self._store.totals().documents if limit is None else whole_number("documents", "limit", limit)
        return [self._seen(one) for one in self._store.documents(min(offset, _MOST), min(most, _MOST))]

    def find_documents(self, ids: Sequence[str]) -> list[DocumentInfo | None]:
        """Documents in the order of ``ids``; None for one that there isn't."""
        found = self._store.find_documents(_ids("find_documents", ids))
        return [None if one is None else self._seen(one) for one in found]

    def read(self, id: str) -> str:  # noqa: A002 - as attachments and documents have it
        """The text of a document, put together from its chunks; blanks between chunks may be other ones than they were.

        Raises ArgumentValueError where there is no such document that can be searched.
        """
        id_ = text("read", "id", id)
        (info,) = self._store.find_documents([id_])
        chunks: list[StoredChunk] = []
        if info is not None and info.searchable:
            while True:
                start = len(chunks)
                more = self._store.read_chunks([(id_, index) for index in range(start, start + 256)])
                chunks += [one for one in more if one is not None]
                if None in more:
                    break
        if not chunks:
            raise wrong_value("id", f"read(): there is no document {id_!r} that can be searched")
        return _joined(chunks)

    def read_chunks(self, places: Sequence[tuple[str, int]]) -> list[StoredChunk | None]:
        """Chunks by document and index (from 0), in the order of ``places``; None for one that there isn't."""
        tag = "read_chunks"
        asked = [(text(tag, "places", id_), _index(tag, index)) for id_, index in places]
        return self._store.read_chunks([(id_, index if 0 <= index <= _MOST else -1) for id_, index in asked])

    def delete(self, ids: str | Sequence[str]) -> int:
        """Delete documents; how many of them there were. An addition that is at one of them ends with ``gone``."""
        return self._store.delete(_ids("delete", ids))

    def _seen(self, info: DocumentInfo) -> DocumentInfo:
        if info.state != "indexing" or self._now() - info.touched <= STALE:
            return info
        detail = (
            f"nothing was added for {STALE / 60:g} minutes; {info.stored} of {info.chunks} chunks are stored; "
            "adding it again goes on from there"
        )
        return attrs.evolve(info, state="failed", detail=detail)

    # -------------------------------------------------------------------------------------- beside it

    def tools(self) -> list[ToolDefinition]:
        """``kb_query``, ``kb_files``, ``kb_read`` and ``kb_list``, to be put into a prompt; see :class:`KnowledgeTools`."""
        return self.tool_functions().tools()

    def tool_functions(self) -> KnowledgeTools:
        """The functions behind :meth:`tools`, which answer a model's calls."""
        return KnowledgeTools(self)

    def as_retriever(
        self, *, files: bool = True, threshold: float | None = None, time_limit: float | None = None
    ) -> KnowledgeRetriever:
        """The base as a retriever for ``assemble`` and ``preprocess``; ``retriever=base`` there means this, unchanged.

        It searches the base, and unless ``files=False`` the files of the conversation beside it. Cosines up to
        ``threshold`` are no hits; None is ``vector_threshold``, or the embedder's own ``default_threshold``, or 0.5:
        what is cited should belong to the question. ``time_limit`` is for a call of the embedder or the reranker, in
        seconds.
        """
        tag = "as_retriever"
        given = (truth(tag, "files", files), threshold, time_limit)
        if given != (True, None, None):
            return self._as_retriever(*given)
        if self._retriever is None:  # one for all turns, as it keeps what it worked out of files
            self._retriever = self._as_retriever(*given)
        return self._retriever

    def _as_retriever(
        self,
        files: bool,  # noqa: FBT001 - as given
        threshold: float | None,
        time_limit: float | None,
    ) -> KnowledgeRetriever:
        tag = "as_retriever"
        return KnowledgeRetriever(
            self._searcher(tag, SyncDoor(tag, tag), FINAL_K, "report", time_limit),
            self._tokenizer,
            files=files,
            threshold=None if threshold is None else _cosine(tag, "threshold", threshold),
            time_limit=time_limit,
        )

    def close(self) -> None:
        """Let go of the database; twice does no harm."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KnowledgeBase({self._store.place!r})"

    # -------------------------------------------------------------------------------------- settings

    @property
    def _tokenizer(self) -> Tokenizer:
        return self._given_tokenizer or get_tokenizer(self.settings.tokenizer)

    def _settled(self, tag: str, chunk_size: int | None, overlap: int | None) -> Settings:
        """The settings of the base, made where there are none; KnowledgeBaseError where they aren't those asked for."""
        found = self._store.settings()
        if found is None:
            size: Any = CHUNK_SIZE if chunk_size is None else chunk_size
            shared = overlap
            if shared is None:  # a tenth, as 50 is of 512
                shared = min(CHUNK_OVERLAP, whole_number(tag, "chunk_size", size, least=1) // 10)
            _check_sizes(tag, size, shared)
            embedder = self._embedder
            found = self._store.settle(
                Settings(
                    embedder=None if embedder is None else str(embedder.name),
                    dim=None if embedder is None else _dim(tag, embedder),
                    chunk_size=size,
                    overlap=shared,
                    tokenizer=(self._given_tokenizer or get_tokenizer(_TOKENIZER)).name,
                )
            )
        given = {
            "chunk_size": chunk_size,
            "overlap": overlap,
            "tokenizer": None if self._given_tokenizer is None else self._given_tokenizer.name,
            "embedder": None if self._embedder is None else self._embedder.name,
        }
        for name, value in given.items():
            made = getattr(found, name)
            if value is None or value == made:
                continue
            how = f"with {name}={made!r}, not {value!r}"
            if made is None:
                how = f"without an {name}, and holds no vectors; open it without one, or make another base"
            raise KnowledgeBaseError(self._store.place, "settings", f"it was made {how}")
        return found


# ------------------------------------------------------------------------------------------ helpers


def _store_at(place: str | os.PathLike[str], *, create: bool, wait: float, vector_memory: int) -> Store:
    given: object = place
    if not isinstance(given, (str, os.PathLike)):
        raise wrong_type("place", f"open() needs a path or a URL for place, got place={got(given)}")
    address = os.fspath(place)
    if address.startswith(("postgresql://", "postgres://")):
        postgres = import_module("priompt_py.context.knowledge.postgres_store")
        return cast("Store", postgres.PostgresStore(address, create=create, wait=wait))
    return SqliteStore(Path(address), create=create, wait=wait, vector_memory=vector_memory)


def _check_new(
    tag: str, place: object, embedder: Any, chunk_size: object, overlap: object, tokenizer: object
) -> None:
    """Refuse what no base can be made with, before a file is made."""
    size = None if chunk_size is None else whole_number(tag, "chunk_size", chunk_size, least=1)
    shared = None if overlap is None else whole_number(tag, "overlap", overlap)
    if tokenizer is not None:
        get_tokenizer(tokenizer)
    if size is not None and shared is not None:
        _check_sizes(tag, size, shared)
    _check_embedder(tag, embedder)
    if embedder is not None and isinstance(place, (str, os.PathLike)) and not Path(os.fspath(place)).exists():
        _dim(tag, embedder)  # which may be asked of a server


def _check_sizes(tag: str, size: int, overlap: int) -> None:
    if overlap >= size:
        raise wrong_value(
            "overlap",
            f"{tag}() needs overlap < chunk_size, got overlap={overlap} and chunk_size={size}",
        )


def _check_embedder(tag: str, embedder: Any) -> None:
    if embedder is None:
        return
    if not callable(getattr(embedder, "embed", None)) or not isinstance(getattr(embedder, "name", None), str):
        raise wrong_type(
            "embedder", f"{tag}() needs an object with name, dim and embed for embedder, got {got(embedder)}"
        )


def _cosine(tag: str, name: str, value: object) -> float:
    if type(value) not in (int, float):
        raise wrong_type(name, f"{tag}() needs a number or None for {name}, got {name}={got(value)}")
    cosine = float(cast("float", value))
    if not -1 <= cosine <= 1:  # NaN is outside too
        raise wrong_value(name, f"{tag}() needs a number from -1 to 1 for {name}, got {name}={got(value)}")
    return cosine


def _index(tag: str, index: object) -> int:
    if type(index) is not int:
        raise wrong_type("places", f"{tag}() needs ids and whole numbers for places, got {got(index)}")
    return index


def _dim(tag: str, embedder: Any) -> int:
    try:
        dim = operator.index(embedder.dim)  # numpy's numbers, too
    except TypeError:
        raise wrong_type(
            "embedder", f"{tag}() needs a whole number for the embedder's dim, got {got(embedder.dim)}"
        ) from None
    if dim < 1:
        raise wrong_value("embedder", f"{tag}() needs an embedder with dim >= 1, got dim={dim}")
    return dim


def _query(query: object) -> str:
    return text("search", "query", query)


def _ids(tag: str, ids: str | Sequence[str]) -> list[str]:
    return [text(tag, "ids", one) for one in ((ids,) if isinstance(ids, str) else ids)]


def _joined(chunks: Sequence[StoredChunk]) -> str:
    """The text that chunks were cut from: what two share is there once; blanks between two that share nothing aren't
    stored, but for their number."""
    parts: list[str] = []
    end = 0
    for one in chunks:
        if one.start > end and parts:
            parts.append(" " if one.start == end + 1 else "\n\n")
        parts.append(one.text[max(0, end - one.start) :])
        end = max(end, one.start + len(one.text))
    return "".join(parts)
