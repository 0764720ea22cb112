"""Tokenizers for small exact numbers: a word, a character or a listed piece is a token.

Messages cost nothing with them, only their text counts, unless another ``chat_format`` is given. They
have ids (``decode`` gives the text back, but for :class:`WordTokenizer`'s white space), can be pickled
and used by several threads.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from typing import cast

import attrs
import tiktoken

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError
from priompt_py.tokens.chat_format import PLAIN_FORMAT, ChatFormat
from priompt_py.tokens.safe_cuts import ANYWHERE, SafeCuts
from priompt_py.tokens.tokenizer import (
    CountKind,
    Tokenizer,
    chat_format_of,
    kind_of,
    max_token_bytes_of,
    safe_cuts_of,
)

__all__ = ["CharTokenizer", "CountingTokenizer", "GreedyTokenizer", "ToyBPE", "WordTokenizer"]

_BESIDE_WHITE = SafeCuts(re.compile(r"(?<=\s)(?=[\s\S])|(?<=[\s\S])(?=\s)"), "beside white space")


def _as_tuple(pieces: Iterable[str]) -> tuple[str, ...]:
    """Pieces as they are given; raises ArgumentTypeError for one text, whose letters would be taken for them."""
    given = (
        None if isinstance(pieces, str) or not isinstance(cast("object", pieces), Iterable) else tuple(pieces)
    )
    if given is None or not all(isinstance(cast("object", piece), str) for piece in given):
        raise ArgumentTypeError(
            f'a toy tokenizer needs a list of texts, as in ["ab", "abc"], got {got(pieces if given is None else given)}'
        )
    return given


@attrs.frozen
class WordTokenizer:
    r"""A word is a token; white space parts words and costs nothing: ``count("a  b\\n") == 2``.

    White is what ``str.split`` takes for it. Counts add up at a cut with white space on one side. Decoding
    joins words with one blank.
    """

    chat_format: ChatFormat = attrs.field(default=PLAIN_FORMAT, repr=False)
    name: str = attrs.field(default="words", init=False, repr=False)
    safe_cuts: SafeCuts = attrs.field(default=_BESIDE_WHITE, init=False, repr=False)

    def count(self, text: str, /) -> int:
        return len(text.split())

    def encode(self, text: str, /) -> list[int]:
        """A word's id is the number that its bytes make, after a leading 1."""
        return [int.from_bytes(b"\x01" + word.encode("utf-8")) for word in text.split()]

    def decode(self, ids: Sequence[int], /) -> str:
        words = (number.to_bytes((number.bit_length() + 7) // 8)[1:] for number in ids)
        return " ".join(word.decode("utf-8", "replace") for word in words)


@attrs.frozen
class CharTokenizer:
    """A code point is a token; counts add up wherever a text is cut."""

    chat_format: ChatFormat = attrs.field(default=PLAIN_FORMAT, repr=False)
    name: str = attrs.field(default="characters", init=False, repr=False)
    safe_cuts: SafeCuts = attrs.field(default=ANYWHERE, init=False, repr=False)
    max_token_bytes: int = attrs.field(default=4, init=False, repr=False)

    def count(self, text: str, /) -> int:
        return len(text)

    def encode(self, text: str, /) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, ids: Sequence[int], /) -> str:
        return "".join(map(chr, ids))


@attrs.frozen
class GreedyTokenizer:
    """From left to right, the longest of ``pieces`` that fits is a token, else one code point.

    What is counted apart may cost more or less together, and nothing is declared about it:
    with the pieces ``ab`` and ``bcd``, ``a`` and ``bcd`` are one token each, ``abcd`` is three.
    """

    pieces: tuple[str, ...] = attrs.field(converter=_as_tuple)
    chat_format: ChatFormat = attrs.field(default=PLAIN_FORMAT, repr=False)
    name: str = attrs.field(init=False, repr=False)
    _pattern: re.Pattern[str] = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        longest_first = sorted(filter(None, self.pieces), key=len, reverse=True)
        pattern = re.compile("|".join([*map(re.escape, longest_first), "."]), re.DOTALL)
        object.__setattr__(self, "name", f"greedy {' '.join(map(repr, self.pieces))}")
        object.__setattr__(self, "_pattern", pattern)

    def count(self, text: str, /) -> int:
        return len(self._pattern.findall(text))

    def encode(self, text: str, /) -> list[int]:
        """Ids: the place in ``pieces``, or the code point after those."""
        places = {piece: place for place, piece in reversed([*enumerate(self.pieces)])}
        most = len(self.pieces)
        return [
            places[token] if token in places else most + ord(token) for token in self._pattern.findall(text)
        ]

    def decode(self, ids: Sequence[int], /) -> str:
        most = len(self.pieces)
        return "".join(self.pieces[number] if number < most else chr(number - most) for number in ids)


@attrs.frozen
class ToyBPE:
    """Byte pair encoding of 256 bytes and a few ``merges``, lowest first, over the whole text at once.

    A merge is one that can happen: two tokens that exist already, side by side. Borders between texts
    can be made to merge on purpose: with the merges ``ab`` and ``abc``, ``a`` + ``bc`` is one token.
    No safe cuts are declared.
    """

    merges: tuple[str, ...] = attrs.field(converter=_as_tuple)
    chat_format: ChatFormat = attrs.field(default=PLAIN_FORMAT, repr=False)
    name: str = attrs.field(init=False, repr=False)
    _encoding: tiktoken.Encoding = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        name = f"toy bpe {' '.join(map(repr, self.merges))}"
        ranks = {bytes([byte]): byte for byte in range(256)}
        for merge in self.merges:
            ranks.setdefault(merge.encode("utf-8"), len(ranks))
        encoding = tiktoken.Encoding(name, pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_encoding", encoding)

    def count(self, text: str, /) -> int:
        return len(self._encoding.encode_ordinary(text))

    def encode(self, text: str, /) -> list[int]:
        return self._encoding.encode_ordinary(text)

    def decode(self, ids: Sequence[int], /) -> str:
        return self._encoding.decode(ids)

    def __reduce__(self) -> tuple[type[ToyBPE], tuple[tuple[str, ...], ChatFormat]]:
        return (ToyBPE, (self.merges, self.chat_format))  # an Encoding pickles by a registered name only


@attrs.define
class CountingTokenizer:
    """Counts as ``inner`` does and declares what it declares; notes how much it was asked.

    ``calls`` are the calls of ``count`` and ``encode``, ``characters`` the code points given to them.
    """

    inner: Tokenizer
    calls: int = attrs.field(default=0, init=False)
    characters: int = attrs.field(default=0, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False, eq=False)

    @property
    def name(self) -> str:
        return f"counting {self.inner.name}"

    @property
    def safe_cuts(self) -> SafeCuts | None:
        return safe_cuts_of(self.inner)

    @property
    def max_token_bytes(self) -> int | None:
        return max_token_bytes_of(self.inner)

    @property
    def chat_format(self) -> ChatFormat:
        return chat_format_of(self.inner)

    @property
    def kind(self) -> CountKind:
        return kind_of(self.inner)

    def count(self, text: str, /) -> int:
        self._note(text)
        return self.inner.count(text)

    def encode(self, text: str, /) -> list[int]:
        self._note(text)
        return self.inner.encode(text)

    def decode(self, ids: Sequence[int], /) -> str:
        return self.inner.decode(ids)

    def reset(self) -> None:
        """Begin again at nothing."""
        with self._lock:
            self.calls = self.characters = 0

    def _note(self, text: str) -> None:
        with self._lock:
            self.calls += 1
            self.characters += len(text)
