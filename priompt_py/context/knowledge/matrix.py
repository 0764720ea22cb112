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
_SPARE = 8  # the part of the vectors that there is room for beside them


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
        self._held = 0  # so many of the arrays' rows are filled
        self._owners: Any = np.zeros(0, dtype=np.int64)  # the version of each vector
        self._rows: Any = np.zeros(0, dtype=np.int64)
        self._vectors: Any = np.zeros((0, dim), dtype=np.float32)

    @property
    def held(self) -> int:
        """How many vectors are in memory."""
        return self._held

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
        return nearest_rows([(self._rows[: self._held], self._vectors[: self._held])], vector, limit)

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
        self._forget(self._keys - keys)
        self._keys &= keys  # true now, whatever happens while the others are read
        at = self._held
        new = keys - self._keys
        for owners, rows, data in read(new) if new else ():
            end = at + len(rows)
            if end > len(self._rows):
                self._resize(max(end, total), at)
            self._owners[at:end], self._rows[at:end] = owners, rows
            self._vectors[at:end] = self._array(data)
            at = end
        self._held = at
        self._keys = keys

    def _forget(self, keys: Collection[int]) -> None:
        """Take the vectors of versions out; those at the end come into their places."""
        if not keys:
            return
        np = numpy()
        gone = np.isin(self._owners[: self._held], list(keys))
        left = self._held - int(gone.sum())
        holes = np.flatnonzero(gone[:left])
        last = left + np.flatnonzero(~gone[left:])
        for array in (self._owners, self._rows, self._vectors):
            array[holes] = array[last]
        self._held = left
        if 4 * left < len(self._rows):
            self._resize(left, left)

    def _resize(self, number: int, filled: int) -> None:
        """Make room for ``number`` vectors and some more, so that not every addition copies all; ``filled`` are there."""
        np = numpy()
        room = max(number, min(number + number // _SPARE, self._most))
        for name in ("_owners", "_rows", "_vectors"):
            old = getattr(self, name)
            array = np.empty(
                (room, *old.shape[1:]), dtype=old.dtype
            )  # no memory is used before it is written
            array[:filled] = old[:filled]
            setattr(self, name, array)
