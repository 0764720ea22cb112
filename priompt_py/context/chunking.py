"""Texts in chunks that a search can give: cut where the text itself makes a pause, the widest pause first.

A text that is too long is cut at blank lines; what is still too long at line ends, then behind sentences, between words
(between characters where a script has no blanks), and only where nothing else is left, inside a word. Neighbouring
pieces are then put together as long as they fit. A chunk begins with the end of the one before it, so that a
sentence at the seam is found whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import attrs

from priompt_py.author.checks import text as checked_text
from priompt_py.author.checks import whole_number, wrong_value
from priompt_py.context.words import CJK
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

__all__ = ["CHUNK_OVERLAP", "CHUNK_SIZE", "Chunk", "chunk"]

CHUNK_SIZE = 512
CHUNK_OVERLAP = 50

_CUTS = (
    re.compile(r"\n[^\S\n]*\n\s*"),  # blank lines; the pause belongs to what is before it
    re.compile(r"\n"),
    re.compile(r"(?:[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？；]+[”’」』）]*)"),
    re.compile(rf"(?:\S(?=\s)|[{CJK}])"),
)
_SENTENCE = re.compile(rf"(?:{_CUTS[1].pattern}|{_CUTS[2].pattern})\s*")
_WORD = re.compile(rf"(?<=\s)\S|[{CJK}]")
_LONGEST_WORD = 24  # characters for each token of overlap, at most, that are looked at
_WORDS = 3  # the level of words in _CUTS
_FEW = 32  # groups of words that fill a chunk
_PARTS = 8  # of what fits, that a word which does not fit is cut into: small ones fill chunks better


@attrs.frozen
class Chunk:
    """A chunk: ``text`` is a text's ``[start:end]``, in characters from 0, and takes ``tokens``."""

    text: str
    start: int
    tokens: int

    @property
    def end(self) -> int:
        """Behind its last character."""
        return self.start + len(self.text)


def chunk(
    text: str,
    size: int = CHUNK_SIZE,
    overlap: int = CHUNK_OVERLAP,
    *,
    tokenizer: str | Tokenizer = "o200k_base",
) -> list[Chunk]:
    """``text`` in chunks of at most ``size`` tokens, each sharing at most ``overlap`` tokens with the one before it.

    No chunk begins or ends with a blank, and none is blank; all else of the text is in one, in order. Only a single
    character can take more than ``size``. ArgumentTypeError, ArgumentValueError: ``size`` below 1, ``overlap`` not below ``size``.
    """
    whole_number("chunk", "size", size, least=1)
    if whole_number("chunk", "overlap", overlap) >= size:
        raise wrong_value("overlap", f"chunk() needs overlap < size, got overlap={overlap} and size={size}")
    splitter = _Splitter(checked_text("chunk", "text", text), size, overlap, get_tokenizer(tokenizer).count)
    return list(splitter.chunks())


@attrs.frozen
class _Piece:
    start: int
    end: int
    tokens: int


class _Splitter:
    def __init__(self, text: str, size: int, overlap: int, count: Callable[[str], int]) -> None:
        self._text = text
        self._size = size
        self._overlap = overlap
        self._count = count

    def chunks(self) -> Iterator[Chunk]:
        pieces = list(self._pieces(0, len(self._text), 0))
        i = start = shared = 0
        while i < len(pieces):
            if i:
                start, shared = self._shared(start, pieces[i])
            else:
                start = pieces[0].start
            total, j = shared, i
            while j < len(pieces) and (j == i or total + pieces[j].tokens <= self._size):
                total += pieces[j].tokens
                j += 1
            found = self._chunk(start, pieces[j - 1].end)
            while found.tokens > self._size:  # the tokens of a whole are not always those of its parts
                if j > i + 1:
                    j -= 1
                elif start < pieces[i].start:
                    start = pieces[i].start
                else:
                    break
                found = self._chunk(start, pieces[j - 1].end)
            yield found
            start, i = found.start, j

    def _chunk(self, start: int, end: int) -> Chunk:
        start, end = self._stripped(start, end)
        text = self._text[start:end]
        return Chunk(text, start, self._count(text))

    def _stripped(self, start: int, end: int) -> tuple[int, int]:
        text = self._text[start:end]
        end = start + len(text.rstrip())
        return min(end, start + len(text) - len(text.lstrip())), end

    # -------------------------------------------------------------------------------------- pieces

    def _pieces(self, start: int, end: int, level: int) -> Iterator[_Piece]:
        """What fits, in order; blank stretches are left out."""
        first, last = self._stripped(start, end)
        if first == last:
            return
        tokens = self._count(self._text[first:last])
        if tokens <= self._size:
            # A token more for the pause at its end, which is in the chunk if something follows.
            yield _Piece(first, last, tokens + (last < end))
            return
        for at in range(level, len(_CUTS)):
            cuts = [match.end() for match in _CUTS[at].finditer(self._text, first, last)]
            if cuts and cuts[-1] == last:
                cuts.pop()
            if cuts:
                # Words one by one would take as many counts; a few together fill a chunk as well.
                group = len(cuts) * self._size // (_FEW * tokens) if at == _WORDS else 1
                deeper = at if group > 1 else at + 1
                for left, right in pairwise((first, *cuts[max(0, group - 1) :: max(1, group)], last)):
                    yield from self._pieces(left, right, deeper)
                return
        step = max(1, (last - first) * self._size // (_PARTS * tokens))
        if last - first == 1:
            yield _Piece(first, last, tokens)
            return
        for left in range(first, last, min(step, last - first - 1)):
            yield from self._pieces(left, min(left + step, last), len(_CUTS))

    # -------------------------------------------------------------------------------------- overlap

    def _shared(self, previous: int, following: _Piece) -> tuple[int, int]:
        """Where the chunk that ``following`` is to be in begins, and how many tokens it has before that.

        The chunk before it began at ``previous``.
        """
        end = following.start
        room = min(self._overlap, self._size - following.tokens)
        if room <= 0:
            return end, 0
        since = max(previous + 1, end - room * _LONGEST_WORD)
        places = [match.start() for match in _WORD.finditer(self._text, since, end)] or list(
            range(since, end)
        )
        low, high = 0, len(places)
        while low < high:  # the first place from which it fits
            middle = (low + high) // 2
            if self._count(self._text[places[middle] : end]) <= room:
                high = middle
            else:
                low = middle + 1
        if low == len(places):
            return end, 0
        start = places[low]
        sentence = _SENTENCE.search(self._text, start, start + (end - start) // 2)
        if sentence is not None:
            start = sentence.end()
        return start, self._count(self._text[start:end])
