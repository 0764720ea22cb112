"""Shares as an SVG picture: a stacked bar a row, with its own background, light or dark as the reader's system is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from bench.peers.plot import STYLE

__all__ = ["svg"]

WIDTH, LEFT, RIGHT, TOP = 760, 172, 24, 84
BAR, GAP = 26, 14
COLOURS: Mapping[str, tuple[str, str]] = {  # on light pages, on dark ones
    "kept": ("#0f7a4a", "#5fd39a"),
    "restored": ("#0b5fc4", "#6cb2ff"),
    "expired": ("#b3420a", "#ff9a62"),
    "duplicate": ("#7a3fb0", "#c79bf0"),
    "merged": ("#8a6d00", "#e0c04a"),
}


def svg(
    title: str,
    rows: Sequence[tuple[str, Mapping[str, float]]],
    colours: Mapping[str, tuple[str, str]] = COLOURS,
) -> str:
    """The picture of rows of shares (0 to 1, by the names of ``colours``, which are one word each)."""
    height = TOP + len(rows) * (BAR + GAP) + 14
    across = WIDTH - LEFT - RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}{_styles(colours)}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="20" y="28">{escape(title)}</text>',
    ]
    for i, name in enumerate(colours):
        left = 20 + 720 // len(colours) * i
        parts.append(f'<rect class="{name}" x="{left}" y="46" width="14" height="14"/>')
        parts.append(f'<text x="{left + 20}" y="58">{name}</text>')
    for i, (label, shares) in enumerate(rows):
        y = TOP + i * (BAR + GAP)
        parts.append(f'<text x="{LEFT - 10}" y="{y + 18}" text-anchor="end">{escape(label)}</text>')
        x = float(LEFT)
        for name in colours:
            width = across * shares.get(name, 0.0)
            if width > 0:
                tip = f"{name}: {100 * shares[name]:.2f} %"
                parts.append(
                    f'<rect class="{name}" x="{x:.1f}" y="{y}" width="{max(width, 0.6):.1f}" height="{BAR}">'
                    f"<title>{tip}</title></rect>"
                )
            if width > 46:
                parts.append(
                    f'<text class="share" x="{x + width / 2:.1f}" y="{y + 18}" text-anchor="middle">'
                    f"{100 * shares[name]:.1f} %</text>"
                )
            x += width
    return "\n".join([*parts, "</svg>"]) + "\n"


def _styles(shown: Mapping[str, tuple[str, str]]) -> str:
    light = "".join(f".{name} {{ fill: {colours[0]} }}\n" for name, colours in shown.items())
    dark = "".join(f".{name} {{ fill: {colours[1]} }}\n" for name, colours in shown.items())
    return f".share {{ fill: #ffffff }}\n{light}@media (prefers-color-scheme: dark) {{\n{dark}.share {{ fill: #15181d }}\n}}\n"
