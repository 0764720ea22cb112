"""``excerpt``: a long text whose pieces come in by importance, as one node."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, cast

from priompt_py.author.calls import explained
from priompt_py.author.checks import (
    check_priority,
    choice,
    got,
    one_of_priorities,
    text_or_none,
    whole_number,
    wrong_type,
    wrong_value,
)
from priompt_py.author.checks import text as checked_text
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import Excerpt, Number

__all__ = ["excerpt", "split_text"]

UNITS = ("line", "sentence", "word")

# A sentence ends at marks of the full stop's kind, with what closes a quotation, and its blanks belong to it; CJK
# marks need no blank after them. An empty line ends one too.
_SENTENCE_END = re.compile(
    r"""[.!?\u2026]+["'\u2019\u201d)\]\u00bb]*\s+"""
    r"""|[\u3002\uff01\uff1f]+["'\u2019\u201d\u300d\u300f)]*\s*"""
    r"""|\n[ \t]*\n\s*"""
)
_WORD_END = re.compile(r"(?<=\S)\s+")
_OTHER_LINE_ENDS = re.compile("[\\r\\x0b\\x0c\\x1c-\\x1e\\x85\\u2028\\u2029]")


@explained("excerpt", takes_children=False)
def excerpt(
    text: str,
    *,
    by: str | re.Pattern[str] = "line",
    priority: Callable[[int, str], Number] | Sequence[Number] | None = None,
    around: int | None = None,
    keep: Literal["head", "tail", "ends"] | None = None,
    omitted: str | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> Excerpt:
    """A text in pieces, each of which renders as if it stood in a scope of its own.

    ``by`` is ``"line"`` (line feeds end lines), ``"sentence"``, ``"word"``, or a compiled pattern whose
    matches end the pieces; what ends a piece belongs to it. Exactly one of these says what comes in first:

    ``priority``
        a priority for each piece, as ``p`` of a scope would be, or a function of its 0-based index and text.
    ``around``
        the number of a piece, from 1: it has the excerpt's own priority, its neighbours 1 less, and so on.
    ``keep``
        ``"head"``, ``"tail"`` or ``"ends"``: what is there goes last.

    ``omitted`` is a text that is put once wherever neighbouring pieces were left out.
    Raises ArgumentTypeError or ArgumentValueError.
    """
    one_of_priorities("excerpt", p, prel)
    text = checked_text("excerpt", "text", text)
    pieces = split_text(text, by)
    given = [
        name
        for name, value in (("priority", priority), ("around", around), ("keep", keep))
        if value is not None
    ]
    if len(given) != 1:
        raise ArgumentValueError(
            f"excerpt() needs exactly one of priority, around and keep, got {' and '.join(given) or 'none'}"
        )
    if around is not None and whole_number("excerpt", "around", around, least=1) > max(1, len(pieces)):
        raise wrong_value(
            "around", f"excerpt() has {len(pieces)} pieces, which count from 1, got around={around}"
        )
    if keep is not None:
        choice("excerpt", "keep", keep, ("head", "tail", "ends"))
    return Excerpt(
        text=text,
        by=by,
        priority=None if priority is None else _priorities(priority, pieces),
        around=around,
        keep=keep,
        omitted=text_or_none("excerpt", "omitted", omitted) or None,
        pieces=pieces,
        p=p,
        prel=prel,
        key=text_or_none("excerpt", "key", key),
    )


def split_text(text: str, by: str | re.Pattern[str]) -> tuple[str, ...]:
    """``text`` in pieces that make it up again; none is empty."""
    if isinstance(by, re.Pattern):
        if not isinstance(by.pattern, str):
            raise wrong_type("by", f"excerpt() needs a pattern for text, got by={got(by)}")
        return _split_after(by, text)
    choice("excerpt", "by", by, UNITS)
    if by == "sentence":
        return _split_after(_SENTENCE_END, text)
    if by == "word":
        return _split_after(_WORD_END, text)
    if not _OTHER_LINE_ENDS.search(text):
        return tuple(text.splitlines(keepends=True))
    *lines, last = text.split("\n")
    return (*(line + "\n" for line in lines), *((last,) if last else ()))


def _split_after(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """``text`` cut after each match."""
    places = [0, *(match.end() for match in pattern.finditer(text)), len(text)]
    return tuple(text[start:end] for start, end in pairwise(places) if start < end)


def _priorities(
    priority: Callable[[int, str], Number] | Sequence[Number], pieces: Sequence[str]
) -> tuple[Number, ...]:
    if callable(priority):
        numbers: Sequence[Number] = [priority(index, piece) for index, piece in enumerate(pieces)]
    elif not isinstance(priority, (str, bytes)) and isinstance(cast("object", priority), Sequence):
        numbers = priority
    else:
        raise wrong_type(
            "priority",
            f"excerpt() needs a function or a list of numbers for priority, got priority={got(priority)}",
        )
    if len(numbers) != len(pieces):
        raise wrong_value(
            "priority",
            f"excerpt() needs a priority for each of its {len(pieces)} pieces, got {len(numbers)} of them",
        )
    for index, number in enumerate(numbers):
        if type(number) is not int:
            check_priority("excerpt", f"priority[{index}]", number)
    return tuple(numbers)
