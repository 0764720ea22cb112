"""Places in a text where token counts add up exactly.

A *safe cut* of an encoding is a place between two characters such that, for every text around it, the count
of the whole is the sum of the counts of both sides. Everything that counts less than the whole text (joins,
early stops, chunks) rests on these places and on nothing else: counts are not monotone, and appending or
prepending a character can change a count by more than one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["ANYWHERE", "SafeCuts", "count_up_to"]

#: Code points that :meth:`SafeCuts.last` looks at first, from the end; doubled until a cut is found.
_FIRST_WINDOW = 1024

#: Code points that :func:`count_up_to` counts at once, at least.
_FIRST_PIECE = 1024


@attrs.frozen
class SafeCuts:
    """The safe cuts of an encoding, as a pattern.

    ``pattern`` matches with zero width at the safe places and looks at one character on the left and as many as it
    likes on the right, for something that is there; ``None`` means between any two characters, for counters like ``len``. Offsets are code points, from 0; a cut at ``n`` parts ``text[:n]`` from
    ``text[n:]``, and both are never empty.
    """

    pattern: re.Pattern[str] | None
    name: str
    # Greedy, so that it looks from the end: the end of a match is the last cut.
    _to_last: re.Pattern[str] | None = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        greedy = None
        if self.pattern is not None:
            bare = re.sub(r"^\(\?[aimsux]+\)", "", self.pattern.pattern)  # flags may stand at the start only
            greedy = re.compile(f"(?s:.*)(?:{bare})", self.pattern.flags)
        object.__setattr__(self, "_to_last", greedy)

    def first(self, text: str) -> int:
        """The first cut strictly inside ``text``, -1 if there is none."""
        if self.pattern is None:
            return 1 if len(text) > 1 else -1
        found = self.pattern.search(text)
        return -1 if found is None else found.start()

    def last(self, text: str) -> int:
        """The last cut strictly inside ``text``, -1 if there is none.

        Takes time in the distance from the end, not in the length of the text.
        """
        if self._to_last is None:
            return len(text) - 1 if len(text) > 1 else -1
        if len(text) <= _FIRST_WINDOW:
            found = self._to_last.match(text)
            return -1 if found is None else found.end()
        end, window = len(text), _FIRST_WINDOW
        while end > 0:
            start = max(0, end - window)
            # One character more on the left, so that a cut at `start` sees its neighbour.
            before = max(0, start - 1)
            found = self._to_last.match(text[before:])
            if found is not None:
                return before + found.end()
            end, window = start, window * 8
        return -1

    def iter(self, text: str) -> Iterator[int]:
        """All cuts strictly inside ``text``, ascending."""
        if self.pattern is None:
            return iter(range(1, len(text)))
        return (found.start() for found in self.pattern.finditer(text))

    def border(self, left: str, right: str) -> bool:
        """Whether the place between ``left`` and ``right``, both not empty, is known as a safe cut: what shows it has
        to stand in the first 80 code points of ``right``."""
        return self.pattern is None or self.pattern.match(left[-1] + right[:80], 1) is not None

    def after(self, text: str, offset: int) -> int:
        """The first cut at ``offset`` or later and strictly inside ``text``, -1 if there is none."""
        if self.pattern is None:
            place = max(1, offset)
            return place if place < len(text) else -1
        found = self.pattern.search(text, offset)
        return -1 if found is None else found.start()

    def chunks(self, text: str, size: int) -> Iterator[str]:
        """``text`` in pieces of ``size`` code points or a little more, cut at safe cuts alone.

        The pieces' counts sum up to the count of the whole exactly. A stretch without a safe cut stays in
        one piece, however long it is; only the last piece may be shorter than ``size``.
        """
        if size < 1:
            raise ValueError(f"chunks() needs a size of at least 1 code point, got {size!r}")
        start = 0
        while len(text) - start > size:
            cut = self.after(text, start + size)
            if cut < 0:
                break
            yield text[start:cut]
            start = cut
        if start < len(text):
            yield text[start:]


#: For counters that add up wherever a text is cut: ``len``, a count of bytes.
ANYWHERE = SafeCuts(None, "anywhere")


def count_up_to(
    tokenizer: Tokenizer, text: str, limit: int, *, count: Callable[[str], int] | None = None
) -> int:
    """The count of ``text`` if that is ``limit`` or less, else a proven lower bound above ``limit``.

    Stops as early as it can: before tokenising anything where the tokenizer says how many bytes a token can
    hold, else at the first safe cut at which the count so far is over ``limit``. A tokenizer without safe
    cuts counts the whole. ``count`` stands in for ``tokenizer.count`` (a cached one, say).

    A megabyte of prose against a limit of 1,000 takes under a microsecond with ``max_token_bytes`` (1 MB
    can't be fewer than 7,813 tokens of at most 128 bytes), 0.3 ms without.
    """
    count = tokenizer.count if count is None else count
    # Read by hand: the functions for this stand in a module that imports this one, and short texts are usual.
    most: int | None = getattr(tokenizer, "max_token_bytes", None)
    if most is not None and (bound := -(-len(text) // most)) > limit:
        return bound  # a code point has at least one byte
    cuts: SafeCuts | None = getattr(tokenizer, "safe_cuts", None)
    if cuts is None or len(text) <= _FIRST_PIECE:
        return count(text)
    total, start, smallest = 0, 0, _FIRST_PIECE
    while start < len(text):
        # 4 characters a token is usual: a piece that might just be over; doubled, so that text with much
        # fewer tokens (long runs of blanks) takes few rounds as well.
        size = max(smallest, 4 * (limit - total + 1))
        end = cuts.after(text, start + size) if start + size < len(text) else -1
        piece = text[start:] if end < 0 else text[start:end]
        total += count(piece)
        start += len(piece)
        rest = 0 if most is None else -(-(len(text) - start) // most)
        if total + rest > limit:
            return total + rest
        smallest *= 2
    return total
