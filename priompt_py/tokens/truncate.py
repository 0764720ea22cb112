"""Text cut to a number of tokens."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Literal, get_args

from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.tokens.safe_cuts import count_up_to
from priompt_py.tokens.tokenizer import Tokenizer, safe_cuts_of

__all__ = ["Keep", "truncate_to"]

Keep = Literal["head", "tail", "ends"]


def truncate_to(text: str, limit: int, tokenizer: Tokenizer, *, marker: str = "", keep: Keep = "head") -> str:
    """``text`` if it has at most ``limit`` tokens, else as much of it as fits together with ``marker``.

    ``keep`` says what stays: the ``"head"`` (with the marker after it), the ``"tail"`` (the marker before it), or both
    ``"ends"`` in equal parts (the marker between them). The result never has more than ``limit`` tokens, marker
    included; it is cut between characters, so none is broken; without room for any text it is the marker alone, without
    room for the marker ``""``.

    How much fits is searched for, and counts are not quite monotone: a few characters more may have fitted. A megabyte
    against a limit of 1,000 takes under a millisecond with a tokenizer that has safe cuts: little is counted twice.
    """
    given: object = limit
    if isinstance(given, bool) or not isinstance(given, int):
        raise ArgumentTypeError(
            f"truncate_to() needs an int for limit, got {given!r} ({type(given).__name__})"
        )
    if limit < 0:
        raise ArgumentValueError(f"truncate_to() needs a limit of 0 or more tokens, got {limit}")
    if keep not in get_args(Keep):
        raise ArgumentValueError(
            f"truncate_to() keeps one of {', '.join(map(repr, get_args(Keep)))}, got {keep!r}"
        )
    if count_up_to(tokenizer, text, limit) <= limit:
        return text
    if tokenizer.count(marker) > limit:
        return ""
    search = _Search(text, tokenizer, marker, keep)
    fits, over = 0, len(text)  # code points that are kept: known to fit, known not to
    step = 4 * limit
    while fits < step < over:  # most texts have about 4 characters a token: start there, not in the middle
        if search.cost(step) > limit:
            over = step
        else:
            fits, step = step, step + step // 2 + 1
    while over - fits > 1:
        middle = (fits + over) // 2
        if search.cost(middle) > limit:
            over = middle
        else:
            fits = middle
    while fits:
        result = search.result(fits)
        if tokenizer.count(result) <= limit:  # counted again, whole: the promise rests on nothing else
            return result
        fits //= 2  # pragma: no cover - only with a tokenizer whose safe cuts are not safe
    return marker


class _Search:
    """What is left when so many code points are kept, and its count; what was counted once is remembered."""

    def __init__(self, text: str, tokenizer: Tokenizer, marker: str, keep: Keep) -> None:
        self._text = text
        self._count = tokenizer.count
        self._cuts = safe_cuts_of(tokenizer)
        self._marker = marker
        self._keep = keep
        #: Safe cuts of the text that were met, and the count of what stands before (or behind) each.
        self._heads: list[tuple[int, int]] = [(0, 0)]
        self._tails: list[tuple[int, int]] = [(0, 0)]  # by distance from the end

    def result(self, kept: int) -> str:
        start, end = self._ends(kept)
        return self._text[:start] + self._marker + self._text[end:]

    def cost(self, kept: int) -> int:
        start, end = self._ends(kept)
        text = self._text
        if self._cuts is None:
            return self._count(text[:start] + self._marker + text[end:])
        left = max(0, self._cuts.last(text[:start]))
        cut = self._cuts.first(text[end:])
        right = len(text) if cut < 0 else end + cut
        middle = text[left:start] + self._marker + text[end:right]
        return self._head(left) + self._count(middle) + self._tail(right)

    def _ends(self, kept: int) -> tuple[int, int]:
        """``text[:start]`` and ``text[end:]`` are kept. Halves of one character are not parted."""
        text = self._text
        start = 0 if self._keep == "tail" else kept if self._keep == "head" else kept - kept // 2
        end = len(text) - (kept - start)
        if start and _halves(text, start):
            start -= 1
        if end < len(text) and _halves(text, end):
            end += 1
        return start, end

    def _head(self, cut: int) -> int:
        before, count = self._heads[bisect_right(self._heads, cut, key=lambda known: known[0]) - 1]
        if before < cut:
            count += self._count(self._text[before:cut])
            insort(self._heads, (cut, count))
        return count

    def _tail(self, cut: int) -> int:
        distance = len(self._text) - cut
        known, count = self._tails[bisect_right(self._tails, distance, key=lambda known: known[0]) - 1]
        if known < distance:
            count += self._count(self._text[cut : len(self._text) - known])
            insort(self._tails, (distance, count))
        return count


def _halves(text: str, place: int) -> bool:
    """Whether the two halves of one character (surrogates) meet at ``place``."""
    return "\ud800" <= text[place - 1] <= "\udbff" and "\udc00" <= text[place : place + 1] <= "\udfff"
