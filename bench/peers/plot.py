"""Time against size as an SVG picture, both on logarithmic scales.

It has its own background, light or dark as the reader's system is, so that it can be read on any page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

__all__ = ["Series", "svg"]

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 46, 56
LABEL_HEIGHT = 15
COLOURS: Mapping[str, tuple[str, str]] = {  # on light pages, on dark ones
    "ours": ("#0b5fc4", "#6cb2ff"),
    "original": ("#b3420a", "#ff9a62"),
    "pypriompt": ("#7a3fb0", "#c79bf0"),
    "prompt-tsx": ("#0f7a4a", "#5fd39a"),
    "poet": ("#8a6d00", "#e0c04a"),
    "floor": ("#5d6673", "#a3adb9"),
}

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #24292f }
.back { fill: #ffffff }
.title { font-weight: 600; font-size: 15px }
.grid { stroke: #d0d7de; stroke-width: 1 }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
@media (prefers-color-scheme: dark) {
text { fill: #d7dde4 }
.back { fill: #15181d }
.grid { stroke: #3a424d }
}
"""


class Series(NamedTuple):
    """One line: ``key`` gives its colour, ``points`` are size and seconds, by size. ``dashed`` for what is no peer."""

    key: str
    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


def svg(title: str, series: Sequence[Series]) -> str:
    """The picture. Series without points are left out."""
    lines = [one for one in series if one.points]
    sizes = [size for one in lines for size, _ in one.points] or [1.0, 10.0]
    times = [seconds for one in lines for _, seconds in one.points] or [1.0, 10.0]
    across = _Scale(min(sizes), max(sizes), LEFT, WIDTH - RIGHT)
    up = _Scale(min(times), max(times), HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}{_colours(lines)}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
    ]
    for exponent in across.decades():
        x = across.at(10.0**exponent)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{10**exponent:,}</text>'
        )
    for exponent in up.decades():
        y = up.at(10.0**exponent)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_seconds(exponent)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle">scopes</text>')
    labels: list[tuple[float, Series]] = []
    largest = max(sizes)
    for one in lines:
        places = [(across.at(size), up.at(seconds)) for size, seconds in one.points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        dash = ' stroke-dasharray="6 4"' if one.dashed else ""
        parts.append(f'<path class="line s-{one.key}"{dash} d="{path}"/>')
        parts += [f'<circle class="d-{one.key}" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>' for x, y in places]
        x, y = places[-1]
        if one.points[-1][0] == largest:
            labels.append((y, one))
        else:  # it ends within the picture: its name goes to the upper left, where lines that rise are not
            name = escape(one.name)
            parts.append(
                f'<text class="t-{one.key}" text-anchor="end" x="{x - 8:.1f}" y="{y - 6:.1f}">{name}</text>'
            )
    for y, one in _apart(labels):
        x = across.at(largest) + 9
        parts.append(f'<text class="t-{one.key}" x="{x:.1f}" y="{y + 4:.1f}">{escape(one.name)}</text>')
    return "\n".join([*parts, "</svg>\n"])


class _Scale:
    """A logarithmic scale: whole decades around what is shown, from one pixel to another."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self.low = floor(log10(least) + 1e-9)
        self.high = max(ceil(log10(most) - 1e-9), self.low + 1)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        return self.start + (log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def decades(self) -> range:
        return range(self.low, self.high + 1)


def _seconds(exponent: int) -> str:
    """A power of ten of seconds in its usual unit."""
    if exponent >= 0:
        return f"{10**exponent:,} s"
    return f"{10 ** (exponent + 3)} ms" if exponent >= -3 else f"{10 ** (exponent + 6)} µs"


def _colours(lines: Sequence[Series]) -> str:
    def rules(which: int) -> str:
        return "".join(
            f".s-{one.key} {{ stroke: {COLOURS[one.key][which]} }}\n"
            f".d-{one.key}, .t-{one.key} {{ fill: {COLOURS[one.key][which]} }}\n"
            for one in lines
        )

    return f"{rules(0)}@media (prefers-color-scheme: dark) {{\n{rules(1)}}}\n"


def _apart(labels: Sequence[tuple[float, Series]]) -> list[tuple[float, Series]]:
    """The labels from top to bottom, moved down as far as needed to stand apart."""
    placed: list[tuple[float, Series]] = []
    for y, one in sorted(labels, key=lambda label: label[0]):
        placed.append((max(y, placed[-1][0] + LABEL_HEIGHT) if placed else y, one))
    return placed
