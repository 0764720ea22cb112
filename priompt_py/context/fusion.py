"""Two rankings as one: reciprocal rank fusion, which asks for places alone, since a cosine and a BM25 affinity have no
common measure (Cormack, Clarke and Büttcher, SIGIR 2009, from where k = 60 is)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeVar

import attrs

from priompt_py.context.messages import Hit

__all__ = ["FIRST", "RRF_K", "fuse", "fuse_hits"]

RRF_K = 60
FIRST = 20  # of each ranking: what stands further down says little, and would outvote a first place


class _Key(Hashable, Protocol):
    """What a ranking holds: (document, chunk), say."""

    def __lt__(self, other: Any, /) -> bool: ...


_K = TypeVar("_K", bound=_Key)


def fuse(*rankings: Sequence[_K], k: int = RRF_K, first: int = FIRST) -> list[tuple[_K, float]]:
    """What is among the ``first`` of any ranking (each the best first), with its score, the best first.

    The score is the sum of 1 / (``k`` + place) over the rankings, places counted from 1; equal ones are in the order of
    the keys themselves, so those should be (document, chunk). What a ranking holds twice has its first place.
    """
    parts: dict[_K, list[float]] = {}
    for ranking in rankings:
        for place, key in enumerate(list(dict.fromkeys(ranking))[:first], 1):
            parts.setdefault(key, []).append(1 / (k + place))
    scores = [(key, math.fsum(found)) for key, found in parts.items()]
    scores.sort(key=lambda pair: pair[0])
    scores.sort(key=lambda pair: -pair[1])
    return scores


def _source_and_chunk(hit: Hit) -> tuple[str, int]:
    return hit.source_id, hit.chunk


def fuse_hits(
    vectors: Sequence[Hit],
    lexical: Sequence[Hit],
    *,
    key: Callable[[Hit], Any] = _source_and_chunk,
    k: int = RRF_K,
) -> list[Hit]:
    """Hits of a search by vectors and of one by words, both the best first, as one list with ``rank_score``.

    ``affinity`` stays the cosine for what the vectors found, and is that of BM25 for the rest. ``key`` tells hits apart
    and orders equal ones, ``k`` is as for :func:`fuse`. Thresholds belong before this: each list has a measure of its own.
    """
    by_key = {key(hit): hit for hit in lexical} | {key(hit): hit for hit in vectors}
    fused = fuse([key(hit) for hit in vectors], [key(hit) for hit in lexical], k=k)
    return [attrs.evolve(by_key[one], rank_score=score) for one, score in fused]
