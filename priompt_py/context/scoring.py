"""BM25, from counts alone, so that every store and the search in memory give the same affinity for the same texts.

The form is Lucene's: a term that stands ``f`` times in a chunk of ``length`` terms scores

    idf · f / (f + k1 · (1 - b + b · length / mean_length)),    idf = ln(1 + (N - df + 0.5) / (df + 0.5))

with ``N`` chunks, ``df`` of which hold the term. The *affinity* is the sum over the query's distinct terms, divided by
the sum of their idf (also of those that no chunk holds): how much of the query a chunk answers, from 0 to below 1.

No library for this: they score whole matrices that they have built themselves (bm25s in 32-bit floats), while a store has
200 candidates and asks for frequencies. Sums are taken with ``math.fsum``, which no order of terms changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import attrs

__all__ = ["K1", "B", "Bm25", "affinities", "affinity", "bm25", "idf"]

K1 = 1.5
B = 0.75


def idf(documents: int, frequency: int) -> float:
    """The weight of a term that ``frequency`` of ``documents`` chunks hold; over 0 for any frequency up to all."""
    # Figures that a store reads while another process writes may be a chunk apart.
    frequency = min(frequency, documents)
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


@attrs.frozen
class Bm25:
    """A query's distinct terms, weighed by one collection of chunks: ``weights`` by term, ``total`` is their sum."""

    weights: Mapping[str, float]
    total: float
    mean_length: float

    def affinity(self, term_counts: Mapping[str, int], length: int) -> float:
        """How much of the query a chunk answers: 0 where it holds none of its terms, else below 1.

        ``term_counts`` are the chunk's terms, at least those of the query, ``length`` how many it has in all.
        """
        if not self.total:  # a query without a term
            return 0.0
        relative = length / self.mean_length if self.mean_length else 1.0
        norm = K1 * (1 - B + B * relative)
        shorter = term_counts if len(term_counts) < len(self.weights) else self.weights
        scores = [
            self.weights[term] * count / (count + norm)
            for term in shorter
            if term in self.weights and (count := term_counts.get(term, 0))
        ]
        return math.fsum(scores) / self.total


def bm25(
    query_terms: Iterable[str], *, documents: int, mean_length: float, frequencies: Mapping[str, int]
) -> Bm25:
    """The query weighed by a collection: ``documents`` chunks of ``mean_length`` terms on the average.

    ``frequencies`` says how many chunks hold each of the query's terms; one that it hasn't is in none.
    """
    weights = {term: idf(documents, frequencies.get(term, 0)) for term in query_terms}
    return Bm25(weights, math.fsum(weights.values()), mean_length)


def affinity(
    query_terms: Iterable[str],
    term_counts: Mapping[str, int],
    length: int,
    *,
    documents: int,
    mean_length: float,
    frequencies: Mapping[str, int],
) -> float:
    """The affinity of one chunk, see :func:`bm25` and :meth:`Bm25.affinity`."""
    query = bm25(query_terms, documents=documents, mean_length=mean_length, frequencies=frequencies)
    return query.affinity(term_counts, length)


def affinities(
    query_terms: Iterable[str],
    chunks: Sequence[tuple[Mapping[str, int], int]],
    *,
    documents: int,
    mean_length: float,
    frequencies: Mapping[str, int],
) -> list[float]:
    """The affinities of many chunks, each given as its term counts and its length, in order."""
    query = bm25(query_terms, documents=documents, mean_length=mean_length, frequencies=frequencies)
    return [query.affinity(counts, length) for counts, length in chunks]
