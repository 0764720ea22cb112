"""A report as something that rich can print."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from priompt_py.face.drawing import Look, draw
from priompt_py.face.report import Report
from priompt_py.face.rows import Line, StyleName

__all__ = ["STYLES", "Drawn", "Panel"]

STYLES: dict[StyleName, Style] = {
    "text": Style(),
    "frame": Style(color="color(30)"),
    "title": Style(bold=True),
    "out": Style(color="color(243)"),
    "mark": Style(italic=True),
    "used": Style(color="color(30)"),
    "reserved": Style(color="color(130)"),
    "free": Style(color="color(243)"),
    "rank0": Style(color="color(28)"),
    "rank1": Style(color="color(30)"),
    "rank2": Style(color="color(63)"),
    "rank3": Style(color="color(133)"),
    "rank4": Style(color="color(130)"),
}
"""Colours of middling lightness: each has a contrast of at least 4 to 1 with black and with white."""


class Panel:
    """A report on a console. ``plain``: without frames and colours."""

    def __init__(
        self, report: Report, *, lines: int | None = 40, out_lines: int | None = 2, plain: bool = False
    ) -> None:
        self.report = report
        self.lines = lines
        self.out_lines = out_lines
        self.plain = plain

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plain = self.plain or options.ascii_only
        look = Look(max(20, options.max_width), self.lines, self.out_lines, plain=plain)
        yield Drawn(draw(self.report, look))


class Drawn:
    """Lines with the names of their styles, on a console. They are shown as they are: nothing is wrapped or escaped."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            for text, style in line:
                yield Segment(text, STYLES[style])
            yield Segment.line()
