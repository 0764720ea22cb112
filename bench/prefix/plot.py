"""Lines as an SVG picture, both scales from 0 on, with its own background, light or dark as the reader's system is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

from bench.peers.plot import STYLE
from bench.prefix.policies import NAMES

__all__ = ["Line", "svg"]

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 76, 56
COLOURS: Mapping[str, tuple[str, str]] = {  # on light pages, on dark ones
    "exact": ("#b3420a", "#ff9a62"),
    "memory": ("#0b5fc4", "#6cb2ff"),
    "poet": ("#8a6d00", "#e0c04a"),
    "window": ("#5d6673", "#a3adb9"),
}


class Line(NamedTuple):
    """A policy, and its points from left to right."""

    policy: str
    points: Sequence[tuple[float, float]]


def svg(title: str, lines: Sequence[Line], across: str, up: str) -> str:
    """The picture; ``across`` and ``up`` say what the scales are."""
    most_x = max(x for line in lines for x, _ in line.points)
    most_y = max(y for line in lines for _, y in line.points)
    x_step, y_step = _step(most_x), _step(most_y)
    end_y = ceil(most_y / y_step - 1e-9) * y_step

    def place(x: float, y: float) -> tuple[float, float]:
        wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return LEFT + wide * x / most_x, HEIGHT - BOTTOM - high * y / end_y

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}{_colours()}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
    ]
    for number in range(round(end_y / y_step) + 1):
        _, y = place(0, number * y_step)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number * y_step:,.6g}</text>')
    for number in range(floor(most_x / x_step + 1e-9) + 1):
        x, y = place(number * x_step, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{number * x_step:,.6g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 10}">{escape(up)}</text>')
    for number, line in enumerate(lines):
        path = "M" + "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in line.points)
        parts.append(f'<path class="line s-{line.policy}" d="{path}"/>')
        x = LEFT + 160 * number
        parts.append(f'<path class="line s-{line.policy}" d="M{x} 44h24"/>')
        parts.append(f'<text x="{x + 30}" y="48">{escape(NAMES[line.policy])}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _step(most: float) -> float:
    """A round distance between lines of a grid, 4 to 10 of them."""
    power = 10.0 ** floor(log10(most))
    return next(power * part for part in (0.1, 0.2, 0.25, 0.5, 1.0) if most / (power * part) <= 10)


def _colours() -> str:
    light = "".join(f".s-{name} {{ stroke: {colours[0]} }}\n" for name, colours in COLOURS.items())
    dark = "".join(f".s-{name} {{ stroke: {colours[1]} }}\n" for name, colours in COLOURS.items())
    return f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"
