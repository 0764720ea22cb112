"""What a database has to do for a knowledge base: ``Store``, and the data that goes in and out.

A *document* is what people know by its ``id``. Each content of it is a *version*: a row with a ``key`` that is never
used twice, told from others by the document's id and the ``digest`` of its chunks. A version is written in batches, and
can be searched only when its last chunk is stored: in the same transaction it takes the place of the version before, so
that a search finds the whole of a document or, until then, the whole of the old one. A process that is killed leaves
a version behind whose ``stored`` chunks count; whoever adds the same content again goes on from there.

All methods are synchronous, and called from several threads at once; several processes may work on one database.
Each method is one transaction: it is done, or nothing of it is. What the database refuses (full, locked, not there) is
a KnowledgeBaseError that says where and what would do; no other error of a database's library gets out.

Vectors are one-dimensional numpy arrays of float32 and of length 1, of ``Settings.dim`` numbers. Scores are not the
store's matter, but for cosines; it counts, and gives candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import attrs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Candidate",
    "DocumentInfo",
    "DocumentState",
    "Lexical",
    "Near",
    "NewChunk",
    "NewDocument",
    "Settings",
    "Store",
    "StoredChunk",
    "Totals",
    "Vector",
    "Version",
]

Vector: TypeAlias = "NDArray[np.float32]"
DocumentState = Literal["indexing", "paused", "ready", "failed"]


@attrs.frozen(kw_only=True)
class Settings:
    """What all chunks of a knowledge base have in common; it is set when the base is made, and never changes.

    ``embedder`` is the embedder's name and ``dim`` the numbers of its vectors, both None where there are no vectors.
    ``chunk_size`` and ``overlap`` are in tokens of ``tokenizer``.
    """

    embedder: str | None = None
    dim: int | None = None
    chunk_size: int = 512
    overlap: int = 50
    tokenizer: str = ""


# ------------------------------------------------------------------------------------------ in


@attrs.frozen(kw_only=True)
class NewDocument:
    """A version that is to be written. ``digest`` is of the texts of all its chunks (and its ``name``, which is
    embedded with them); ``characters`` are those of the whole text, ``chunks`` how many there will be.

    A document that could not be read has no digest, no characters and no chunks.
    """

    id: str
    name: str
    digest: str = ""
    characters: int = 0
    chunks: int = 0


@attrs.frozen
class Version:
    """How far a version has come: the chunks ``0`` to ``stored - 1`` are there, ``ready`` says that these are all."""

    key: int
    stored: int
    ready: bool = False


@attrs.frozen
class NewChunk:
    """A chunk of the version ``key``, the ``index``-th from 0; ``start`` is its first character's index in the text.

    ``stems`` is the analysed text, in order and with repetitions. ``vector`` is None where the base has none.
    """

    key: int
    index: int
    text: str
    start: int
    stems: Sequence[str]
    vector: Vector | None = attrs.field(default=None, eq=False)


# ------------------------------------------------------------------------------------------ out


@attrs.frozen(kw_only=True)
class DocumentInfo:
    """A document: what its newest version is like.

    ``stored`` of its ``chunks`` are there. ``detail`` says why it failed, ``touched`` when something was last written
    (seconds since 1970, by the clock of who wrote). ``searchable``: it can be found, be it by an older version.
    """

    id: str
    name: str
    characters: int
    chunks: int
    stored: int
    state: DocumentState
    detail: str = ""
    touched: float = 0.0
    searchable: bool = False


@attrs.frozen
class Totals:
    """``documents`` of every state; ``chunks`` that can be searched, and the sum of their ``stems``."""

    documents: int
    chunks: int
    stems: int


@attrs.frozen
class Candidate:
    """A chunk that holds at least one of the stems that were asked for.

    ``row`` is the store's own number of the chunk, never used twice. ``counts`` says how often it holds each of the
    stems asked for (those that it doesn't hold are left out), ``length`` how many stems it has in all.
    """

    row: int
    document: str
    chunk: int
    counts: Mapping[str, int]
    length: int


@attrs.frozen
class Lexical:
    """What is needed to score chunks by words: figures of all that can be searched, and the candidates, in any order.

    ``frequencies`` gives for each stem asked for the number of chunks that hold it, 0 included.
    """

    totals: Totals
    frequencies: Mapping[str, int]
    candidates: Sequence[Candidate]


@attrs.frozen
class Near:
    """A chunk and the cosine of its vector and the query's."""

    row: int
    document: str
    chunk: int
    cosine: float


@attrs.frozen
class StoredChunk:
    """A chunk as it is stored; ``name`` is its document's, ``start`` its first character's index in the text."""

    row: int
    document: str
    name: str
    chunk: int
    text: str
    start: int


# ------------------------------------------------------------------------------------------ the protocol


class Store(Protocol):
    """A database that holds a knowledge base.

    One that lies in files may have ``files``, a collection of their real paths: no folder that is added gives them.
    """

    @property
    def place(self) -> str:
        """Where it is, for messages; without a password."""
        ...

    def settle(self, wanted: Settings, /) -> Settings:
        """Make the base with these settings if it isn't there, in one step; give the settings that it has."""
        ...

    def settings(self) -> Settings | None:
        """The settings of the base; None if it is not made yet."""
        ...

    def begin(self, document: NewDocument, /, *, now: float) -> Version:
        """The version of this id and digest, made if it isn't there; a failed or paused one is ``indexing`` again.

        Versions of the document that are unfinished and have another digest go, and so does what they stored; but not
        for a document without a digest, whose file may be readable again tomorrow.
        """
        ...

    def write(self, chunks: Sequence[NewChunk], /, *, now: float) -> Mapping[int, Version | None]:
        """Store chunks of one or more versions, each version's in order and without gaps; how far each has come now.

        Chunks that are stored already (another process was faster) are left as they are. A version that is gone (the
        document was deleted, or other content of it was begun) is None, and nothing of it is stored. A version whose
        last chunk is stored becomes ready, and takes the place of the document's other versions.
        Raises ValueError for a gap: an ``index`` greater than the version's ``stored``.
        """
        ...

    def stop(self, key: int, state: Literal["failed", "paused"], detail: str, /, *, now: float) -> None:
        """Say why a version is not finished. What it stored stays; a ready or a gone version is left alone."""
        ...

    def delete(self, ids: Sequence[str], /) -> int:
        """Delete documents with all their versions; how many there were. Unknown ids are no error."""
        ...

    def documents(self, offset: int, limit: int, /) -> list[DocumentInfo]:
        """Documents in the order of their ids (by code point), from the ``offset``-th, from 0."""
        ...

    def find_documents(self, ids: Sequence[str], /) -> list[DocumentInfo | None]:
        """Documents in the order of ``ids``; None for an unknown one."""
        ...

    def totals(self) -> Totals:
        """How much there is."""
        ...

    def lexical(self, stems: Sequence[str], limit: int, /) -> Lexical:
        """At most ``limit`` candidates for distinct stems, those that the database's own ranking puts first."""
        ...

    def nearest(self, vector: Vector, limit: int, /) -> list[Near]:
        """The chunks with the greatest cosines, exactly, at most ``limit``; ties by document and chunk."""
        ...

    def read_rows(self, rows: Sequence[int], /) -> list[StoredChunk | None]:
        """Chunks in the order of ``rows``; None for one that is gone."""
        ...

    def read_chunks(self, places: Sequence[tuple[str, int]], /) -> list[StoredChunk | None]:
        """Chunks of searchable documents by id and index, in the order of ``places``; None for one that isn't there."""
        ...

    def close(self) -> None:
        """Let go of the database; twice does no harm."""
        ...
