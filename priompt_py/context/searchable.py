"""Documents in the form that a search in memory needs, and a shelf that keeps some of them for the next search."""

from __future__ import annotations

import hashlib
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, cast

import attrs

from priompt_py.author.checks import got, wrong_type, wrong_value
from priompt_py.context.analysis import analyse, term_counts
from priompt_py.context.chunking import Chunk, chunk
from priompt_py.context.messages import Attachment, Hit
from priompt_py.context.scoring import bm25
from priompt_py.tokens.tokenizer import Tokenizer

__all__ = [
    "Document",
    "Searchable",
    "Shelf",
    "best_by_words",
    "distinct_documents",
    "hit_of",
    "searchable",
]

_T = TypeVar("_T")


@attrs.frozen
class Searchable:
    """A text's chunks, how many terms each has, and for each term pairs of a chunk that holds it and how often."""

    chunks: tuple[Chunk, ...]
    lengths: Sequence[int]
    postings: dict[str, Sequence[int]]

    def holding(self, term: str) -> Iterator[tuple[int, int]]:
        """(chunk, how often), for each chunk that holds ``term``."""
        pairs = self.postings.get(term, ())
        return zip(pairs[::2], pairs[1::2], strict=True)


def searchable(text: str, size: int, overlap: int, tokenizer: Tokenizer) -> Searchable:
    """``text`` cut and analysed."""
    chunks = tuple(chunk(text, size, overlap, tokenizer=tokenizer))
    lengths = array("L")
    postings: dict[str, array[int]] = {}
    for place, one in enumerate(chunks):
        counts = term_counts(one.text)
        lengths.append(counts.total())
        for term, count in counts.items():
            postings.setdefault(term, array("L")).extend((place, count))
    return Searchable(chunks, lengths, dict(postings))


# ------------------------------------------------------------------------------------------ a shelf


class Shelf(Generic[_T]):
    """What was worked out, by key; the longest unused goes when the whole weighs more than ``most``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, tuple[_T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> _T | None:
        """What is kept under ``key``; it counts as used then."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: bytes, value: _T, weight: int) -> None:
        """Keep it, until :meth:`trim` at least."""
        with self._lock:
            self._kept[key] = (value, weight)
            self._kept.move_to_end(key)

    def trim(self) -> None:
        """Let go of what is too much: between searches, so that none loses what it is about to use."""
        with self._lock:
            weight = sum(weight for _, weight in self._kept.values())
            while weight > self._most:
                _, (_, freed) = self._kept.popitem(last=False)
                weight -= freed

    def __len__(self) -> int:
        return len(self._kept)


# ------------------------------------------------------------------------------------------ documents


@attrs.frozen
class Document:
    """A file to search: its place among those that are searched, its text, and what both are known by."""

    place: int
    attachment: Attachment
    text: str
    digest: bytes


def distinct_documents(tag: str, documents: object) -> list[Document]:
    """Attachments as documents, without those whose id or text came before.

    Raises ArgumentTypeError for anything else, ArgumentValueError for one without text.
    """
    if isinstance(documents, (str, bytes, Attachment)) or not isinstance(documents, Sequence):
        raise wrong_type("documents", f"{tag}() needs a list of attachments, got documents={got(documents)}")
    found: list[Document] = []
    ids: set[str] = set()
    digests: set[bytes] = set()
    for place, one in enumerate(cast("Sequence[object]", documents)):
        if not isinstance(one, Attachment):
            raise wrong_type(
                f"documents[{place}]", f"{tag}() needs attachments, got documents[{place}]={got(one)}"
            )
        if one.text is None:
            raise wrong_value(
                f"documents[{place}]",
                f"{tag}() searches attachments with a text, and {one.id!r} has none; assemble() reads them before",
            )
        digest = hashlib.sha256(one.text.encode()).digest()
        if one.id not in ids and digest not in digests:
            found.append(Document(len(found), one, one.text, digest))
        ids.add(one.id)
        digests.add(digest)
    return found


def hit_of(document: Document, ready: Searchable, place: int, affinity: float) -> Hit:
    """The chunk ``place`` of a document as a hit."""
    one = document.attachment
    return Hit(ready.chunks[place].text, affinity, one.id, place, source_name=one.name)


def best_by_words(query: str, documents: Sequence[tuple[Document, Searchable]], limit: int) -> list[Hit]:
    """The ``limit`` chunks with the greatest affinities; those that hold no term of ``query`` are none."""
    lengths = [length for _, ready in documents for length in ready.lengths]
    if not lengths:
        return []
    terms = list(dict.fromkeys(analyse(query)))
    counts: dict[tuple[int, int], dict[str, int]] = {}
    frequencies = dict.fromkeys(terms, 0)
    for document, ready in documents:
        for term in terms:
            for place, count in ready.holding(term):
                counts.setdefault((document.place, place), {})[term] = count
                frequencies[term] += 1
    weighed = bm25(
        terms, documents=len(lengths), mean_length=sum(lengths) / len(lengths), frequencies=frequencies
    )
    by_place = {document.place: (document, ready) for document, ready in documents}
    scored = sorted(
        (-weighed.affinity(held, by_place[key[0]][1].lengths[key[1]]), key) for key, held in counts.items()
    )
    return [hit_of(*by_place[key[0]], key[1], -affinity) for affinity, key in scored[:limit]]
