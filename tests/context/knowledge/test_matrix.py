"""Vectors in memory: exact, bounded, in step with what is in the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest

from priompt_py.context.knowledge import matrix as module
from priompt_py.context.knowledge.matrix import Matrix, nearest_rows
from priompt_py.context.knowledge.selection import choosing_stems
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.context.knowledge.store import Settings, Vector
from tests.context.knowledge.stand_ins import near, put, unit

DIM = 8


def random_vectors(number: int, seed: int = 0) -> Vector:
    vectors = np.random.default_rng(seed).normal(size=(number, DIM)).astype(np.float32)
    result: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return result


@pytest.mark.parametrize("limit", [1, 5, 20, 300])
def test_blocks_give_what_sorting_gives(limit: int) -> None:
    vectors = random_vectors(200)
    vectors[50:60] = vectors[3]
    query = vectors[3]
    blocks = [
        (np.arange(at, min(at + 33, 200), dtype=np.int64), vectors[at : at + 33]) for at in range(0, 200, 33)
    ]
    cosines = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    least = np.sort(cosines)[::-1][: min(limit, 200)][-1]
    expected = [
        (int(i), float(cosines[i])) for i in np.lexsort((np.arange(200), -cosines)) if cosines[i] >= least
    ]
    assert nearest_rows(iter(blocks), query, limit) == expected
    assert nearest_rows([], query, limit) == []


class Read:
    """Gives the vectors of versions of ten, and notes which were asked for."""

    def __init__(self, vectors: Vector) -> None:
        self.vectors = vectors
        self.asked: list[Collection[int] | None] = []

    def __call__(self, keys: Collection[int] | None) -> Iterator[tuple[list[int], list[int], bytes]]:
        self.asked.append(None if keys is None else sorted(keys))
        wanted = range(len(self.vectors) // 10) if keys is None else sorted(keys)
        for key in wanted:
            rows = list(range(10 * key, 10 * key + 10))
            yield [key] * 10, rows, self.vectors[rows].tobytes()


def test_only_what_is_new_is_read() -> None:
    vectors = random_vectors(50)
    read = Read(vectors)
    kept = Matrix(DIM, 1 << 20)
    query = vectors[7]
    assert kept.nearest(1, lambda: [0, 1, 2], 30, read, query, 1) == [(7, near(1))]
    assert kept.nearest(1, list, 30, read, query, 1) == [(7, near(1))]
    assert kept.nearest(2, lambda: [1, 2, 4], 30, read, vectors[44], 1) == [(44, near(1))]
    assert kept.nearest(3, lambda: [1, 2], 20, read, query, 1) != [(7, near(1))]
    assert read.asked == [[0, 1, 2], [4]]
    assert kept.held == 20
    kept.clear()
    assert kept.held == 0


def test_vectors_that_come_and_go_any_time() -> None:
    """After each change the kept ones are as if all had been read anew."""
    vectors = random_vectors(400)
    read = Read(vectors)
    kept = Matrix(DIM, 1 << 20)
    random = np.random.default_rng(3)
    keys: set[int] = set()
    for step in range(60):
        keys ^= {int(one) for one in random.integers(0, 40, size=random.integers(1, 9))}
        if step % 20 == 19:
            keys = set()
        query = vectors[random.integers(0, 400)]
        fresh = Matrix(DIM, 1 << 20)
        given = kept.nearest(step, lambda: keys, 10 * len(keys), read, query, 7)  # noqa: B023 - called at once
        assert given == fresh.nearest(0, lambda: keys, 10 * len(keys), read, query, 7)  # noqa: B023
        assert kept.held == 10 * len(keys)


def test_what_fails_while_it_is_read_is_read_again() -> None:
    vectors = random_vectors(50)
    read = Read(vectors)
    kept = Matrix(DIM, 1 << 20)
    kept.nearest(1, lambda: [0, 1, 2], 30, read, vectors[7], 1)

    def breaking(keys: Collection[int] | None) -> Iterator[tuple[list[int], list[int], bytes]]:
        yield next(iter(read(keys)))
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        kept.nearest(2, lambda: [1, 2, 3, 4], 40, breaking, vectors[7], 1)
    assert kept.held == 20
    assert kept.nearest(2, lambda: [1, 2, 3, 4], 40, read, vectors[35], 1) == [(35, near(1))]
    assert kept.held == 40


def test_an_addition_copies_nothing_that_is_held() -> None:
    vectors = random_vectors(200)
    read = Read(vectors)
    kept = Matrix(DIM, 1 << 20)
    kept.nearest(1, lambda: range(16), 160, read, vectors[7], 1)
    before = kept._vectors
    kept.nearest(2, lambda: range(18), 180, read, vectors[7], 1)  # an eighth more has room
    assert kept._vectors is before
    kept.nearest(3, lambda: range(19), 190, read, vectors[7], 1)
    assert kept._vectors is not before
    kept.nearest(4, lambda: range(1), 10, read, vectors[7], 1)
    assert len(kept._vectors) == 11


def test_more_than_may_be_kept_is_read_each_time() -> None:
    vectors = random_vectors(50)
    read = Read(vectors)
    kept = Matrix(DIM, 4 * DIM * 30)
    assert kept.nearest(1, lambda: [0, 1, 2], 30, read, vectors[7], 1) == [(7, near(1))]
    assert kept.held == 30
    assert kept.nearest(2, lambda: range(5), 50, read, vectors[47], 1) == [(47, near(1))]
    assert kept.held == 0
    assert kept.nearest(2, lambda: range(5), 50, read, vectors[3], 1) == [(3, near(1))]
    assert read.asked == [[0, 1, 2], None, None]


def test_a_store_with_little_memory_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)
    vectors = random_vectors(60)
    large = SqliteStore(tmp_path / "base.db")
    large.settle(Settings(embedder="e", dim=DIM, tokenizer="words"))
    small = SqliteStore(tmp_path / "base.db", vector_memory=4 * DIM * 20)
    for n in range(6):
        put(large, f"d{n}", *["text"] * 10, vectors=list(vectors[10 * n : 10 * n + 10]))
        query = unit(*np.random.default_rng(n).normal(size=DIM))
        assert small.nearest(query, 5) == large.nearest(query, 5)
    assert large._matrix
    assert small._matrix
    assert (large._matrix.held, small._matrix.held) == (60, 0)
    large.close()
    small.close()


@pytest.mark.parametrize(
    ("frequencies", "chosen"),
    [
        ({}, []),
        ({"a": 0}, []),
        ({"a": 9, "b": 2, "c": 0}, ["b", "a"]),
        ({"a": 10, "b": 10}, ["a", "b"]),
        ({"a": 60, "b": 40}, ["b", "a"]),
        ({"a": 61, "b": 40}, ["b"]),
        ({"a": 500, "b": 9}, ["b", "a"]),
        ({"a": 500}, ["a"]),
        ({"a": 500, "b": 500}, ["a"]),
    ],
)
def test_the_stems_that_choose(frequencies: dict[str, int], chosen: list[str]) -> None:
    assert choosing_stems(frequencies, enough=10, most=100) == chosen


def test_places_times_stems_are_bounded() -> None:
    """Each of many stems is looked for in each of many places."""
    many = {f"s{n:03}": 1 for n in range(100)}
    assert len(choosing_stems(many, enough=10, most=1_000, work=10_000)) == 100
    assert len(choosing_stems(many, enough=10, most=1_000, work=400)) == 20
    assert len(choosing_stems(many, enough=30, most=1_000, work=400)) == 30
