"""Vectors of a knowledge base in memory, searched exactly; within a bound, else read block by block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from priompt_py.context.embedders.vectors import numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from priompt_py.context.knowledge.store import Vector

__all__ = ["Matrix", "nearest_rows"]

BLOCK = 8_192
"""Vectors that are compared at once where not all are in memory."""

_SLACK = 1e-5


def nearest_rows(
    blocks: Iterable[tuple[NDArray[np.int64], NDArray[np.float32]]], vector: Vector, limit: int
) -> list[tuple[int, float]]:
    """The rows with the greatest cosines and these, the best first, from blocks of row numbers and their vectors.

    All rows that are as near as the last of the ``limit`` best are among them, so that whoever knows more can break the
    tie: what comes may be longer than ``limit``. Equal vectors have equal cosines.
    """
    np = numpy()
    best_rows = np.zeros(0, dtype=np.int64)
    best = np.zeros(0, dtype=np.float32)
    best_vectors = np.zeros((0, len(vector)), dtype=np.float32)
    for rows, vectors in blocks:
        cosines = vectors @ vector
        if len(cosines) > limit:  # a product of 32-bit floats may differ by its place in the block
            few = cosines >= np.partition(cosines, len(cosines) - limit)[len(cosines) - limit] - _SLACK
            rows, vectors, cosines = rows[few], vectors[few], cosines[few]  # noqa: PLW2901 - the few that matter
        best_rows = np.concatenate([best_rows, rows])
        best = np.concatenate([best, cosines])
        best_vectors = np.concatenate([best_vectors, vectors])
    exact = (best_vectors.astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    if len(exact) > limit:
        few = exact >= np.partition(exact, len(exact) - limit)[len(exact) - limit]
        best_rows, exact = best_rows[few], exact[few]
    order = np.lexsort((best_rows, -exact))
    return [(int(best_rows[i]), float(exact[i])) for i in order]


class Matrix:
    """The vectors of versions that can be searched, kept in step with the database by the keys of those versions.

    A version's vectors never change once it is ready, so that only what is new is read. At most ``most_bytes`` of vectors
    are kept (4 bytes a number); while there are more, each search reads them all.
    """

    def __init__(self, dim: int, most_bytes: int) -> None:
        np = numpy()
        self._dim = dim
        self._most = most_bytes // (4 * dim)
        self._revision = -1
        self._keys: frozenset[int] = frozenset()
        self._owners: Any = np.zeros(0, dtype=np.int64)  # the version of each vector
        self._rows: Any = np.zeros(0, dtype=np.int64)
        self._vectors: Any = np.zeros((0, dim), dtype=np.float32)

    @property
    def held(self) -> int:
        """How many vectors are in memory."""
        return len(self._rows)

    def nearest(
        self,
        revision: int,
        keys: Callable[[], Collection[int]],
        total: int,
        read: Callable[[Collection[int] | None], Iterator[tuple[list[int], list[int], bytes]]],
        vector: Vector,
        limit: int,
    ) -> list[tuple[int, float]]:
        """As :func:`nearest_rows`, over the versions ``keys()``, which have ``total`` vectors together.

        ``revision`` is another number whenever the keys may be others.
        ``read(keys)`` gives the vectors of versions (None for all) in blocks: versions, rows, and the vectors' bytes.
        """
        if total > self._most:
            self.clear()
            return nearest_rows(self._blocks(read(None)), vector, limit)
        if revision != self._revision:
            self._update(frozenset(keys()), total, read)
            self._revision = revision
        return nearest_rows([(self._rows, self._vectors)], vector, limit)

    def clear(self) -> None:
        """Forget all vectors."""
        self.__init__(self._dim, self._most * 4 * self._dim)  # type: ignore[misc]  # every field is set anew

    def _blocks(
        self, read: Iterator[tuple[list[int], list[int], bytes]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        np = numpy()
        for _, rows, data in read:
            yield np.array(rows, dtype=np.int64), self._array(data)

    def _array(self, data: bytes) -> Any:
        np = numpy()
        return np.frombuffer(data, dtype="<f4").reshape(-1, self._dim)

    def _update(
        self,
        keys: frozenset[int],
        total: int,
        read: Callable[[Collection[int] | None], Iterator[tuple[list[int], list[int], bytes]]],
    ) -> None:
        np = numpy()
        stays = np.isin(self._owners, list(keys & self._keys))
        old = int(stays.sum())
        owners, rows = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
        vectors = np.zeros((total, self._dim), dtype=np.float32)
        owners[:old], rows[:old], vectors[:old] = self._owners[stays], self._rows[stays], self._vectors[stays]
        at = old
        new = keys - self._keys
        for block_owners, block_rows, data in read(new) if new else ():
            end = at + len(block_rows)
            owners[at:end], rows[at:end] = block_owners, block_rows
            vectors[at:end] = self._array(data)
            at = end
        self._owners, self._rows, self._vectors = owners[:at], rows[:at], vectors[:at]
        self._keys = keys
