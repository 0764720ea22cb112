"""Lines of a width, in cells of a terminal: runs of text with the names of their styles, cut and wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from rich.cells import cell_len

__all__ = ["Line", "StyleName", "cut", "cut_start", "wrapped"]

StyleName: TypeAlias = Literal[
    "text",
    "frame",
    "title",
    "out",
    "mark",
    "used",
    "reserved",
    "free",
    "rank0",
    "rank1",
    "rank2",
    "rank3",
    "rank4",
]
Run: TypeAlias = tuple[str, StyleName]
Line: TypeAlias = list[Run]


def cut(text: str, width: int, *, plain: bool = False) -> str:
    """``text`` cut to a width, with an ellipsis; where that is plain and has no room, with as many dots as there is."""
    if cell_len(text) <= width:
        return text
    dots = "..."[: max(0, width)] if plain else "…"
    kept = text
    while kept and cell_len(kept) > width - len(dots):
        kept = kept[: max(0, min(len(kept) - 1, width))]
    return f"{kept}{dots}"


def cut_start(text: str, width: int, *, plain: bool = False) -> str:
    """``text`` cut at its beginning to a width, with an ellipsis: the end of a path tells most."""
    return cut(text[::-1], width, plain=plain)[::-1]


def wrapped(line: Line, width: int, most: int | None = None) -> Iterator[Line]:
    """The rows of a line: broken at blanks where that is possible, else within words; at most ``most`` rows, the last
    of which then says what is missing."""
    text = "".join(part for part, _ in line).replace("\t", "    ")
    missing = 0
    if most is not None and len(text) > most * width:
        missing = len(text) - most * width
        text = text[: most * width]
    runs: Line = [(part.replace("\t", "    "), style) for part, style in line]
    for start, end in _breaks(text, width):
        yield _slice(runs, start, end)
    if missing:
        yield [(cut(f"[{missing:,} more characters]", width), "out")]


def _breaks(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Where the rows of a text begin and end; a blank at which a row is broken is in neither."""
    if len(text) <= width and cell_len(text) <= width:
        yield 0, len(text)
        return
    is_narrow = text.isascii()
    start = 0
    while start < len(text):
        end = min(start + width, len(text)) if is_narrow else _fitting(text, start, width)
        after = end
        if end < len(text):
            blank = text.rfind(" ", start + 1, end + 1)
            if blank > start:
                end, after = blank, blank + 1
        yield start, end
        start = after


def _fitting(text: str, start: int, width: int) -> int:
    """The end of what of a text fits into a width; one character at least."""
    end = start
    cells = 0
    while end < len(text):
        cells += cell_len(text[end])
        if cells > width and end > start:
            break
        end += 1
    return end


def _slice(runs: Line, start: int, end: int) -> Line:
    found: Line = []
    at = 0
    for text, style in runs:
        stop = at + len(text)
        if at < end and stop > start:
            found.append((text[max(0, start - at) : end - at], style))
        at = stop
    return found
