"""A curve as a plot in characters: tokens upwards, levels from the highest on the left to the lowest on the right."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from priompt_py.face.visible import priority_text
from priompt_py.model.curve import Curve
from priompt_py.model.elements import BASE_PRIORITY, Number

__all__ = ["Scale", "level_text", "plot_lines", "scale_of", "short_number", "told_of"]

HEIGHT = 15
"""Rows of the plot itself."""

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille sign, by row and column
_BLANK = 0x2800


@attrs.frozen
class Scale:
    """The upper end of the axis of tokens, and how far apart its marks are."""

    most: int
    step: int

    @property
    def marks(self) -> Sequence[int]:
        """Where the marks are, from 0."""
        return range(0, self.most + 1, self.step)


def scale_of(most: int, marks: int = 5) -> Scale:
    """A scale from 0 to at least ``most`` with about so many marks, at 1, 2 or 5 times a power of ten."""
    step = 1
    while step * marks < most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return Scale(max(step, -(-most // step) * step), step)


def short_number(number: int) -> str:
    """``950``, ``1.2k``, ``3M``: a number of tokens in at most five characters, up to a billion."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}" if number < 1_000 * size else f"{number // size:,}{letter}"
    return str(number)


def level_text(level: Number) -> str:
    """A level on an axis."""
    return "base" if level >= BASE_PRIORITY else priority_text(level)


def plot_lines(curve: Curve, width: int, *, plain: bool = False) -> list[str]:
    """The plot in lines of at most ``width`` cells. ``plain``: in ASCII."""
    totals = [point.tokens for point in curve.points]
    limit = curve.token_limit if curve.token_limit <= 4 * max(1, *totals) else None
    scale = scale_of(max(1, *totals, *(() if limit is None else (limit,))))
    side = max(len(short_number(mark)) for mark in scale.marks) + 1
    cells = max(10, width - side - 2)
    across, down = (cells, HEIGHT) if plain else (cells * 2, HEIGHT * 4)
    heights = _columns(totals, across)
    dots = [[False] * across for _ in range(down)]
    before: int | None = None
    for column, total in enumerate(heights):
        row = _row(total, scale, down)
        for one in range(
            min(row, row if before is None else before), max(row, row if before is None else before) + 1
        ):
            dots[one][column] = True
        before = row
    rows = _plain_rows(dots) if plain else _braille_rows(dots)
    limit_row = None if limit is None else _row(limit, scale, HEIGHT)
    labels = {_row(mark, scale, HEIGHT): short_number(mark) for mark in scale.marks}
    lines: list[str] = []
    for number, signs in enumerate(rows):
        shown = signs if number != limit_row else _limit_row(signs, curve.token_limit, "-" if plain else "╌")
        tick = ("+" if plain else "┤") if number in labels else ("|" if plain else "│")
        lines.append(f"{labels.get(number, ''):>{side}} {tick}{shown}".rstrip())
    lines.append(f"{'':>{side}} {('+' if plain else '└')}{('-' if plain else '─') * cells}")
    lines.append(f"{'':>{side}}  {_below(curve, cells)}".rstrip())
    return lines


def told_of(curve: Curve, *, has_limit: bool = True) -> str:
    """The curve in a sentence."""
    levels = f"{len(curve.points):,} {'level' if len(curve.points) == 1 else 'levels'}"
    least, most = min(point.tokens for point in curve.points), max(point.tokens for point in curve.points)
    told = f"{levels}, {least:,} to {most:,} tokens with what is reserved"
    if not has_limit:
        return told
    if curve.cutoff is None:
        return f"{told}; none fits the limit of {curve.token_limit:,}"
    chosen = curve.at(curve.cutoff)
    return f"{told}; under the limit of {curve.token_limit:,} the cutoff is {level_text(chosen.level)}, at {chosen.tokens:,}"


def _columns(totals: Sequence[int], across: int) -> list[int]:
    """The count shown in each column: levels side by side, or of several in one the last, which is the lowest."""
    count = len(totals)
    if count >= across:
        return [totals[(column + 1) * count // across - 1] for column in range(across)]
    return [totals[column * count // across] for column in range(across)]


def _row(tokens: int, scale: Scale, rows: int) -> int:
    """The row, counted from the top, in which a count of tokens is."""
    return rows - 1 - min(rows - 1, tokens * (rows - 1) // scale.most)


def _plain_rows(dots: Sequence[Sequence[bool]]) -> list[str]:
    return ["".join("*" if dot else " " for dot in row) for row in dots]


def _braille_rows(dots: Sequence[Sequence[bool]]) -> list[str]:
    rows: list[str] = []
    for top in range(0, len(dots), 4):
        signs: list[str] = []
        for left in range(0, len(dots[0]), 2):
            bits = sum(
                _DOTS[down][right]
                for down in range(4)
                for right in range(2)
                if dots[top + down][left + right]
            )
            signs.append(chr(_BLANK + bits) if bits else " ")
        rows.append("".join(signs))
    return rows


def _limit_row(row: str, limit: int, line: str) -> str:
    """The row of the limit, with what it is where the curve isn't."""
    told = f" limit {limit:,} "
    row = row.replace(" ", line)
    for at in (len(row) - len(told) - 2, 2):
        if at >= 0 and row[at : at + len(told)] == line * len(told):
            return row[:at] + told + row[at + len(told) :]
    return row


def _below(curve: Curve, cells: int) -> str:
    """The levels at the ends, and the cutoff where there is room between."""
    first, last = level_text(curve.points[0].level), level_text(curve.points[-1].level)
    if len(curve.points) == 1:
        return first
    row = list(first + " " * max(1, cells - len(first) - len(last)) + last)
    if curve.cutoff is not None:
        levels = [point.level for point in curve.points]
        mark = f"^ {level_text(curve.cutoff)}"
        at = min(levels.index(curve.cutoff) * cells // len(levels), max(0, cells - len(mark)))
        if "".join(row[max(0, at - 1) : at + len(mark) + 1]).strip() == "":
            row[at : at + len(mark)] = mark
    return "".join(row)
