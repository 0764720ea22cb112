"""Words and their stems: the one analysis that pruning and retrieval share.

A word is letters and digits, also with single hyphens or apostrophes inside (``state-of-the-art`` is one, and is
stemmed whole); it is folded (NFKC, casefold, ё as е), and stemmed by its script: Cyrillic as Russian, Latin as
English, by Snowball (extra: ``pip install priompt-py[context]``). A run of Chinese, Japanese or Korean characters has no
blanks to go by, and is cut out of whatever is around it: it is compared by its overlapping bigrams, or as text.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from priompt_py.context.word_lists import fold, word_list
from priompt_py.errors import PromptError

__all__ = [
    "CJK",
    "CJK_RUN",
    "TOKEN",
    "WORD",
    "bigrams",
    "cjk_runs",
    "has_cjk",
    "is_stop_word",
    "stem",
    "stems",
    "words",
]

CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30fa\u30fc-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""The inside of a character class: Han, kana, bopomofo and hangul; marks of punctuation are not among them."""

CJK_RUN = re.compile(f"[{CJK}]+")
_LETTER = f"[^\\W_{CJK}]"
WORD = re.compile(f"{_LETTER}+(?:[-'\u2019]{_LETTER}+)*")
TOKEN = re.compile(f"(?P<cjk>[{CJK}]+)|{WORD.pattern}")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_LATIN = re.compile("[a-z]")


# ------------------------------------------------------------------------------------------ stems


class _Stemmers(threading.local):
    """Stemmers hold the word that they work on, so that each thread needs its own."""

    def __init__(self) -> None:
        try:
            snowball = import_module("snowballstemmer")
        except ImportError:
            raise PromptError(
                "pruning and retrieval compare words by their stems: pip install 'priompt-py[context]'"
            ) from None
        self.russian: Any = snowball.stemmer("russian")
        self.english: Any = snowball.stemmer("english")


@lru_cache(maxsize=1)
def _stemmers() -> _Stemmers:
    return _Stemmers()


@lru_cache(maxsize=1 << 16)  # words repeat; a stem costs 20 microseconds
def stem(word: str) -> str:
    """The stem of a folded word."""
    if len(word) > _LONGEST:  # no word of a language: a key, a hash
        return word
    if _CYRILLIC.search(word):
        return str(_stemmers().russian.stemWord(word))
    if _LATIN.search(word):
        return str(_stemmers().english.stemWord(word.replace("\u2019", "'")))
    return word


_LONGEST = 64  # characters that are stemmed


# ------------------------------------------------------------------------------------------ text


def words(text: str) -> list[str]:
    """The folded words of ``text``, in order, without CJK runs."""
    return WORD.findall(fold(text))


def stems(text: str) -> list[str]:
    """The stems of the words of ``text``, in order, without CJK runs."""
    return [stem(word) for word in WORD.findall(fold(text))]


def has_cjk(text: str) -> bool:
    """Whether ``text`` holds a Chinese, Japanese or Korean character."""
    return not text.isascii() and CJK_RUN.search(text) is not None


def cjk_runs(text: str) -> list[str]:
    """The CJK runs of ``text``, folded, in order."""
    return [] if text.isascii() else CJK_RUN.findall(fold(text))


def bigrams(run: str) -> Iterator[str]:
    """The overlapping pairs of a run's characters; a run of one character gives itself."""
    if len(run) == 1:
        yield run
    for i in range(len(run) - 1):
        yield run[i : i + 2]


def is_stop_word(word: str) -> bool:
    """Whether a folded word says nothing about a subject."""
    return word.replace("\u2019", "'") in word_list("stop_words")


# ------------------------------------------------------------------------------------------ loose text


def loose(text: str) -> tuple[str, ...]:
    """``text`` without what makes no difference to its sense: case, blanks, and marks between words.

    Signs that do make one stay: emoji, currencies, arithmetic, ``# % & @``. ``"OK, fine!"`` and ``"ok fine"`` are alike,
    ``C++`` and ``C#`` are not.
    """
    return tuple(_SIGNIFICANT.findall(fold(text)) if text.isascii() else _significant(fold(text)))


_SIGNIFICANT = re.compile(f"{WORD.pattern}|[+<>=~^|$#%&@*/\\\\]")


def _significant(folded: str) -> Iterator[str]:
    for match in re.finditer(rf"{TOKEN.pattern}|\S", folded):
        token = match[0]
        if len(token) > 1 or token.isalnum() or token in "#%&@*/\\" or unicodedata.category(token) in _SIGNS:
            yield token


_SIGNS = {"Sm", "Sc", "Sk", "So"}
