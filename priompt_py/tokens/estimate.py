"""Estimates for models without a public tokenizer: o200k_base and an addition per word, by script.

``count(text)`` is o200k_base's count plus, for every word (run of characters that are not white), a whole number that
depends on the word alone: so many hundredths of a token for each character, by its script, rounded. So estimates add up
exactly at those safe cuts of o200k_base that part a word from white.

The weights were set so that the estimate is at or above what is known, on prose, code and data in twenty scripts:

``claude_4``
    Claude up to 4.6 (Sonnet 4.6, Opus 4.6, Haiku 4.5). Known: the vocabulary of Claude 2, which Anthropic published
    (``@anthropic-ai/tokenizer``), and users' measurements of 3.6 to 4.3 characters a token for English.
``claude``
    Opus 4.7 and later, Sonnet 5 and later. Known: the migration guide's 1.0 to 1.35 times as many tokens as 4.6, and users'
    measurements of up to 1.47 for Latin script, 1.0 for others.
``gemini``
    Known: the vocabulary that Gemma and Gemini share (256,000 pieces, each digit a token).
``o200k``
    OpenAI models whose encoding is not published: o200k_base's count as it is.

Nobody can prove a bound for a tokenizer that is not public, so these call themselves ``"estimate"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NoReturn

import attrs

from priompt_py.errors import TokenizerError
from priompt_py.tokens.encodings import WORD_CUTS
from priompt_py.tokens.safe_cuts import SafeCuts

__all__ = ["ESTIMATES", "FAMILIES", "EstimateTokenizer", "Weights", "estimate_tokenizer"]


@attrs.frozen
class Weights:
    """Hundredths of a token that are added for each character of a word, by kind; ``start`` for each word.

    ``start`` decides how the sum is rounded: 50 to the nearest, 99 up. ``white`` is the length from which a run of white
    costs one token more for each such length; 0 is never.
    """

    start: int = 0
    letter: int = 0  # A–Z
    digit: int = 0
    sign: int = 0  # all other ASCII
    latin: int = 0  # Latin letters beyond ASCII
    cyrillic: int = 0
    near: int = 0  # Greek, Armenian, Hebrew, Arabic, Syriac
    brahmic: int = 0  # U+0900–U+1FFF: scripts of India and South-East Asia, Georgian, Ethiopic
    east: int = 0  # Chinese, Japanese, Korean
    symbol: int = 0  # all else in the first 65,536: arrows, mathematics
    astral: int = 0  # emoji and other code points beyond
    white: int = 0


#: Family -> weights; each reason in the module's text.
FAMILIES: Mapping[str, Weights] = {
    "claude": Weights(
        start=50,
        letter=19,
        digit=10,
        sign=25,
        latin=60,
        cyrillic=35,
        near=90,
        brahmic=130,
        east=50,
        symbol=60,
        astral=150,
    ),
    "claude_4": Weights(
        start=64,
        letter=6,
        digit=5,
        sign=16,
        latin=55,
        cyrillic=30,
        near=90,
        brahmic=130,
        east=50,
        symbol=60,
        astral=150,
    ),
    "gemini": Weights(
        start=34,
        letter=3,
        digit=69,
        sign=33,
        latin=10,
        cyrillic=8,
        near=12,
        brahmic=13,
        east=17,
        symbol=10,
        white=16,
    ),
    "o200k": Weights(),
}

#: Name for ``get_tokenizer`` -> family.
ESTIMATES: Mapping[str, str] = {f"{family}_estimate": family for family in FAMILIES}

#: Kind -> runs of it. Together with ASCII they are all there is.
_KINDS: Mapping[str, re.Pattern[str]] = {
    "letter": re.compile("[A-Za-z]+"),
    "digit": re.compile("[0-9]+"),
    "latin": re.compile("[\x80-\u036f]+"),
    "near": re.compile("[\u0370-\u03ff\u0530-\u08ff]+"),
    "cyrillic": re.compile("[\u0400-\u052f]+"),
    "brahmic": re.compile("[\u0900-\u1fff]+"),
    "symbol": re.compile("[\u2000-\u2dff\ud800-\uf8ff\ufb00-\ufeff\ufff0-\uffff]+"),
    "east": re.compile("[\u2e00-\ud7ff\uf900-\ufaff\uff00-\uffef]+"),
    "astral": re.compile("[\U00010000-\U0010ffff]+"),
}
_ASCII_KINDS = ("letter", "digit")

#: Longer words are not remembered.
_LONG_WORD = 64


class EstimateTokenizer:
    """Counts by estimate, from ``weights``; has no ids, so ``encode`` and ``decode`` refuse."""

    __slots__ = ("__weakref__", "_base", "_known", "name", "weights")

    kind: Literal["estimate"] = "estimate"

    def __init__(self, name: str, weights: Weights) -> None:
        from priompt_py.tokens.bpe import BpeTokenizer

        self.name = name
        self.weights = weights
        self._base = BpeTokenizer("o200k_base")
        self._known = lru_cache(1 << 16)(self._addition)

    @property
    def safe_cuts(self) -> SafeCuts | None:
        """Those of o200k_base between words and white."""
        return WORD_CUTS

    @property
    def max_token_bytes(self) -> int | None:
        """That of o200k_base: an estimate is never below its count."""
        return self._base.max_token_bytes

    def count(self, text: str) -> int:
        """About the number of tokens of ``text``, rather too many than too few."""
        total = self._base.count(text)
        weights = self.weights
        if weights.start:
            known, addition = self._known, self._addition
            for word in text.split():
                total += known(word) if len(word) < _LONG_WORD else addition(word)
        if weights.white:
            total += sum(len(run) // weights.white for run in re.findall(rf"\s{{{weights.white},}}", text))
        return total

    def encode(self, text: str) -> NoReturn:
        raise TokenizerError(f"{self.name} is an estimate: there are no token ids")

    def decode(self, ids: Sequence[int]) -> NoReturn:
        raise TokenizerError(f"{self.name} is an estimate: there are no token ids")

    def _addition(self, word: str) -> int:
        weights, hundredths, rest = self.weights, self.weights.start, len(word)
        for kind in _ASCII_KINDS if word.isascii() else _KINDS:
            length = sum(map(len, _KINDS[kind].findall(word)))
            hundredths += length * getattr(weights, kind)
            rest -= length
        return (hundredths + rest * weights.sign) // 100

    def __repr__(self) -> str:
        return f"EstimateTokenizer({self.name!r})"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return EstimateTokenizer, (self.name, self.weights)


def estimate_tokenizer(family: str) -> EstimateTokenizer:
    """An estimate for a family of models: ``"claude"``, ``"claude_4"``, ``"gemini"``, ``"o200k"``.

    For weights of your own (set from your provider's counts, say): ``EstimateTokenizer(name, Weights(…))``.
    """
    weights = FAMILIES.get(family)
    if weights is None:
        raise TokenizerError(f"no estimate for {family!r}; there are {', '.join(FAMILIES)}")
    return EstimateTokenizer(f"{family}_estimate", weights)
