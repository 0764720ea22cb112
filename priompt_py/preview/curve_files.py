"""A curve as a picture: SVG as text, PNG by Pillow (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from priompt_py.errors import SourceError
from priompt_py.face.visible import visible
from priompt_py.model.curve import Curve
from priompt_py.preview.plot import level_text, scale_of, short_number

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import BaseImageFont

__all__ = ["png_of", "svg_of"]

WIDTH, HEIGHT = 800, 450
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
"""The margins around the plot, in pixels."""

_MARKS = 8  # at most so many levels are named below
_LINE, _LIMIT, _GREY, _INK, _PAPER = "#008787", "#af5f00", "#767676", "#1a1a1a", "#ffffff"


class _Geometry:
    """Where things are, in pixels from the upper left corner."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.totals = [point.tokens for point in curve.points]
        most = max(1, *self.totals)
        self.limit = curve.token_limit if curve.token_limit <= 4 * most else None
        self.scale = scale_of(max(most, self.limit or 0))

    def x(self, number: float) -> float:
        """The left edge of a level, counted from 0."""
        return round(LEFT + number * (WIDTH - LEFT - RIGHT) / len(self.totals), 1)

    def y(self, tokens: int) -> float:
        return round(HEIGHT - BOTTOM - tokens * (HEIGHT - TOP - BOTTOM) / self.scale.most, 1)

    def steps(self) -> Iterator[tuple[float, float]]:
        """The corners of the curve."""
        for number, total in enumerate(self.totals):
            yield self.x(number), self.y(total)
            yield self.x(number + 1), self.y(total)

    def levels(self) -> Iterator[tuple[float, str]]:
        """The levels that are named below: the middle of each, and its name."""
        step = -(-len(self.totals) // _MARKS)
        for number in range(0, len(self.totals), step):
            yield self.x(number + 0.5), level_text(self.curve.points[number].level)

    def cutoff(self) -> float | None:
        """The middle of the level that was chosen."""
        if self.curve.cutoff is None:
            return None
        levels = [point.level for point in self.curve.points]
        return self.x(levels.index(self.curve.cutoff) + 0.5)


def svg_of(curve: Curve, title: str) -> str:
    """The curve as an SVG that is readable on light and dark pages."""
    at = _Geometry(curve)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" ',
        'font-family="sans-serif" font-size="12" role="img">\n',
        f"<title>{escape(visible(title))}</title>\n",
        f"<style>text{{fill:{_INK}}}@media(prefers-color-scheme:dark){{text{{fill:#e8e8e8}}}}</style>\n",
        f'<text x="{LEFT}" y="22" font-size="15">{escape(visible(title))}: tokens by cutoff</text>\n',
    ]
    for mark in at.scale.marks:
        y = at.y(mark)
        parts.append(
            f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="{_GREY}" stroke-opacity="0.3"/>'
            f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{short_number(mark)}</text>\n'
        )
    for x, name in at.levels():
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(name)}</text>\n')
    if at.limit is not None:
        y = at.y(at.limit)
        parts.append(
            f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="{_LIMIT}" stroke-dasharray="6 4"/>'
            f'<text x="{LEFT + 6}" y="{y - 5}">limit {at.limit:,}</text>\n'
        )
    cutoff = at.cutoff()
    if cutoff is not None:
        assert curve.cutoff is not None
        parts.append(
            f'<line x1="{cutoff}" y1="{TOP}" x2="{cutoff}" y2="{HEIGHT - BOTTOM}" stroke="{_LIMIT}"/>'
            f'<text x="{cutoff}" y="{HEIGHT - 10}" text-anchor="middle">cutoff {escape(level_text(curve.cutoff))}</text>\n'
        )
    corners = " ".join(f"{x},{y}" for x, y in at.steps())
    parts.append(f'<polyline points="{corners}" fill="none" stroke="{_LINE}" stroke-width="2"/>\n</svg>\n')
    return "".join(parts)


def png_of(curve: Curve, title: str) -> bytes:
    """The curve as a PNG. Raises SourceError where Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise SourceError(
            "a PNG needs Pillow: pip install 'priompt-py[plot]'; SVG and CSV need nothing"
        ) from None
    double = 2  # drawn twice as large, and halved: smooth lines
    picture = Image.new("RGB", (WIDTH * double, HEIGHT * double), _PAPER)
    font = ImageFont.load_default(12 * double)
    _draw_png(ImageDraw.Draw(picture), font, _Geometry(curve), title, double)
    written = BytesIO()
    picture.reduce(double).save(written, "PNG", optimize=True)
    return written.getvalue()


def _draw_png(draw: ImageDraw, font: BaseImageFont, at: _Geometry, title: str, double: int) -> None:
    def line(points: list[tuple[float, float]], colour: str, width: int = 1) -> None:
        draw.line(
            [(x * double, y * double) for x, y in points], fill=colour, width=width * double, joint="curve"
        )

    def text(x: float, y: float, said: str, anchor: str) -> None:
        draw.text((x * double, y * double), said, fill=_INK, font=font, anchor=anchor)

    text(LEFT, 18, f"{visible(title)}: tokens by cutoff", "lm")
    for mark in at.scale.marks:
        line([(LEFT, at.y(mark)), (WIDTH - RIGHT, at.y(mark))], "#d5d5d5")
        text(LEFT - 8, at.y(mark), short_number(mark), "rm")
    for x, name in at.levels():
        text(x, HEIGHT - BOTTOM + 14, name, "mm")
    if at.limit is not None:
        y = at.y(at.limit)
        line([(LEFT, y), (WIDTH - RIGHT, y)], _LIMIT)
        text(LEFT + 6, y - 9, f"limit {at.limit:,}", "lm")
    cutoff = at.cutoff()
    if cutoff is not None:
        assert at.curve.cutoff is not None
        line([(cutoff, TOP), (cutoff, HEIGHT - BOTTOM)], _LIMIT)
        text(cutoff, HEIGHT - 14, f"cutoff {level_text(at.curve.cutoff)}", "mm")
    line(list(at.steps()), _LINE, 2)
