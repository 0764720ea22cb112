"""Embedders and rerankers of the tests, and small helpers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from priompt_py.context import Attachment, KnowledgeBase
from priompt_py.context.analysis import analyse
from priompt_py.context.knowledge.store import NewChunk, NewDocument, Store, Vector
from priompt_py.testing import WordTokenizer

WORDS = WordTokenizer()


def unit(*numbers: float) -> Vector:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def put(
    store: Store,
    id_: str,
    *texts: str,
    digest: str = "x",
    vectors: Sequence[Vector] | None = None,
    now: float = 1.0,
) -> int:
    """Store a document whole; its version's key."""
    version = store.begin(
        NewDocument(
            id=id_, name=f"{id_}.txt", digest=digest, characters=sum(map(len, texts)), chunks=len(texts)
        ),
        now=now,
    )
    chunks = [
        NewChunk(version.key, i, text, 10 * i, analyse(text), None if vectors is None else vectors[i])
        for i, text in enumerate(texts)
    ]
    store.write(chunks, now=now)
    return version.key


class Hashed:
    """An embedder: a text's words each turn one of ``dim`` numbers up. Counts what it is asked."""

    def __init__(self, dim: int = 16, name: str = "hashed") -> None:
        self.name = name
        self.dim = dim
        self.asked: list[tuple[list[str], str]] = []

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.asked.append((list(texts), kind))
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        numbers = [0.0] * self.dim
        for stem in analyse(text):
            numbers[int(hashlib.sha256(stem.encode()).hexdigest(), 16) % self.dim] += 1
        return numbers


class Failing(Hashed):
    """Fails from its ``after``-th call on, in the way that is given."""

    def __init__(self, how: Any, *, after: int = 0, times: int | None = None) -> None:
        super().__init__()
        self.how = how
        self.after = after
        self.times = times

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        given = super().embed(texts, kind)
        number = len(self.asked) - 1
        if number < self.after or (self.times is not None and number >= self.after + self.times):
            return given
        if isinstance(self.how, Exception):
            raise self.how
        if self.how == "slow":
            time.sleep(0.3)
            return given
        return self.how(given)


def too_few(given: list[Any]) -> list[Any]:
    return given[:-1]


def too_short(given: list[list[float]]) -> list[list[float]]:
    return [one[:-1] for one in given]


def not_numbers(given: list[list[float]]) -> list[list[float]]:
    return [[float("nan")] * len(one) for one in given]


def nothing(given: list[Any]) -> None:
    return None


class Later(Hashed):
    """The same, async."""

    async def embed(self, texts: Sequence[str], kind: str) -> Any:
        return super().embed(texts, kind)


class Ticks:
    """A clock that goes on by a step with each look."""

    def __init__(self, step: float = 0.0) -> None:
        self.time = 0.0
        self.step = step

    def __call__(self) -> float:
        self.time += self.step
        return self.time


def near(value: Any) -> Any:
    """Equal to six places."""
    return pytest.approx(value, abs=1e-6)


def note(id_: str, text: str) -> Attachment:
    return Attachment(id_, f"{id_}.txt", text=text)


def words(number: int, prefix: str = "w", start: int = 0) -> str:
    """Many words, a sentence each ten."""
    return " ".join(f"{prefix}{n}{'.' if n % 10 == 9 else ''}" for n in range(start, start + number))


def everything(base: KnowledgeBase) -> list[Any]:
    """All that can be told of a base from outside, without times."""
    return [
        base.totals(),
        [(info.id, info.chunks, info.stored, info.state, info.characters) for info in base.documents()],
        [base.read_chunks([(info.id, i) for i in range(info.chunks)]) for info in base.documents()],
    ]
