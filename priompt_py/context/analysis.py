"""What texts are found by: one analysis for documents and for queries, in memory and in every store.

Words are those of :mod:`priompt_py.context.words`, folded and stemmed by their script; a run of Chinese, Japanese or
Korean characters gives its overlapping pairs. Nothing is left out, no stop words and no short words: BM25 weighs a
frequent word low by itself, and "5", "C" or «не» may be what is asked for.
"""

from __future__ import annotations

from collections import Counter

from priompt_py.context.word_lists import fold
from priompt_py.context.words import TOKEN, bigrams, stem

__all__ = ["analyse", "term_counts"]


def analyse(text: str) -> list[str]:
    """The stems of the words of ``text`` and the bigrams of its CJK runs, in order.

    A run of one character gives that character, which finds other runs of one alone. Each holds letters and digits,
    within a word also single hyphens and apostrophes: no blank, no quotation mark. Raises PromptError without the
    extra ``context``.
    """
    found: list[str] = []
    for match in TOKEN.finditer(fold(text)):
        run = match["cjk"]
        if run:
            found += bigrams(run)
        else:
            found.append(stem(match[0]))
    return found


def term_counts(text: str) -> Counter[str]:
    """How often each of :func:`analyse` occurs in ``text``; its ``total()`` is the text's length in BM25."""
    return Counter(analyse(text))
