"""Rerankers of our own, for want of one whose weights come with a package: two rules, no models that read.

Both look at one passage at a time, as a real one would, and so see what a whole chunk's score has averaged away.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from priompt_py.context.analysis import analyse
from priompt_py.context.embedders.vectors import embed_texts

__all__ = ["BestSentence", "DenseTerms"]

WINDOW = 60  # stems
_SENTENCES = re.compile(r"(?<=[.!?;:。；])\s+|\n+")


class DenseTerms:
    """The weight of the query's stems that stand together in the best window of 60, as a part of all its stems' weight.

    A stem weighs the more the fewer of the given texts hold it.
    """

    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> list[tuple[int, float]]:
        analysed = [analyse(text) for text in texts]
        held = Counter(stem for stems in analysed for stem in set(stems))
        weights = {stem: math.log(1 + len(texts) / (0.5 + held[stem])) for stem in set(analyse(query))}
        total = math.fsum(weights.values()) or 1.0
        scores = [_best_window(stems, weights) / total for stems in analysed]
        return _first(scores, top_k)


class BestSentence:
    """The cosine of the query and the nearest sentence (or line) of a text, by an embedder."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> list[tuple[int, float]]:
        asked = embed_texts(self._embedder, [query], "query")[0]
        parts = [
            (index, sentence)
            for index, text in enumerate(texts)
            for sentence in (_SENTENCES.split(text) if text.strip() else [text])
            if sentence.strip()
        ]
        cosines = embed_texts(self._embedder, [sentence for _, sentence in parts], "passage") @ asked
        scores = [-1.0] * len(texts)
        for (index, _), cosine in zip(parts, cosines, strict=True):
            scores[index] = max(scores[index], float(cosine))
        return _first(scores, top_k)


def _best_window(stems: Sequence[str], weights: dict[str, float]) -> float:
    inside: Counter[str] = Counter()
    score = best = 0.0
    for at, stem in enumerate(stems):
        if at >= WINDOW:
            old = stems[at - WINDOW]
            inside[old] -= 1
            if old in weights and not inside[old]:
                score -= weights[old]
        inside[stem] += 1
        if stem in weights and inside[stem] == 1:
            score += weights[stem]
        best = max(best, score)
    return best


def _first(scores: Sequence[float], top_k: int) -> list[tuple[int, float]]:
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    return [(index, scores[index]) for index in order[:top_k]]
