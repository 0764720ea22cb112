"""A run as a page of Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from bench.peers.results import NAMES, PEERS, Results, Row, ratio

__all__ = ["Goal", "goals", "page", "table"]

OTHERS = tuple(peer for peer in PEERS if peer != "ours")
LARGE = 50_000  # tokens of a prompt, from which on more is asked for

INTRO = """\
# Performance: the figures

Written by `python -m bench.peers.run`, from one run on one machine; not to be edited. Absolute times say little about
another machine, or about this one on another day: what counts is the ratios, which are of one run.

"""

METHOD = """\
## How it was measured

Each peer is a process of its own, and so is this package; the two are asked by turns for one round each, so that
whatever else the machine does meets both. A round builds a fresh tree from the same texts and renders it once: the
original writes into its tree, so that it needs a fresh one. Times are taken inside the peer's process. Shown is the
median over the rounds, with the least and the most in brackets where they differ by more than a tenth, and in the column
of this package the rounds beside the original; a ratio is the median of each round's ratio. There are at least as many
rounds as said below, and more where they are short. The first round of each peer, which loads the vocabulary and warms
the compilers, is not counted. Garbage of earlier rounds is collected before a round begins; within a round nothing is:
collectors run as they do in any program, with their usual settings. A peer that takes too long for a round has no
figures. The original is given its scopes as one array: as separate arguments, more than about 120,000 overflow its stack.

The texts are lines of Python's standard library, o200k_base counts. The *floor* is one bare visit of every node of our
tree, by a loop that does nothing else, and one tokenisation of the final prompt; it is measured in the same rounds.

The peers' prompts are compared with ours. Where the text differs: the original's and PyPriompt's bisection supposes that
counts only grow as the cutoff falls; prompt-tsx adds up its counts by parts; Prompt Poet counts each part by itself,
strips parts and reads a backslash and an `n` in them as a line break. Prompt Poet's building includes its template.
"""


class Goal(NamedTuple):
    """A goal, what was measured, what was wanted."""

    name: str
    shown: str
    wanted: str
    met: bool


def page(results: Results, *, plot: str) -> str:
    """The whole page; ``plot`` is the name of the picture beside it."""
    about = "\n".join(f"* {name}: {value}" for name, value in results.about.items())
    peers = [peer for peer in PEERS if any(peer in row.results for row in results.rows)]
    others = [peer for peer in peers if peer != "ours"]
    heads = ["shape", "tokens shown", *(NAMES[peer] for peer in peers)]
    parts = [
        INTRO,
        f"![Time against size: rendering lines under 8,192 tokens]({plot})\n",
        "## Render against render\n",
        "Milliseconds, and how many times as long as ours.\n",
        table(heads, [render_cells(row, peers, "render") for row in results.rows]),
        "The same by the processor's time, of all threads, which a busy machine spoils less:\n",
        table(
            ["shape", *(NAMES[peer] for peer in others)],
            [[row.name, *(cpu_cell(row, peer) for peer in others)] for row in results.rows],
        ),
        "## Build and render together\n",
        table(
            [*heads, "ours by `excerpt`"],
            [[*render_cells(row, peers, "whole"), excerpt_cell(row)] for row in results.rows],
        ),
        "## Against the floor\n",
        "Milliseconds of the processor's time.\n",
        table(
            ["shape", "render", "floor", "render by floor"],
            [floor_cells(row) for row in results.rows if row.times("ours", "floor_cpu")],
        ),
        "## The same text?\n",
        "The contents of the peers' prompts, compared with ours.\n",
        table(
            ["shape", *(NAMES[peer] for peer in others)],
            [[row.name, *(text_cell(row, peer) for peer in others)] for row in results.rows],
        ),
        "## Goals\n",
        table(
            ["goal", "measured", "wanted", ""],
            [
                [goal.name, goal.shown, goal.wanted, "met" if goal.met else "**missed**"]
                for goal in goals(results)
            ],
        ),
        METHOD,
        about + "\n",
    ]
    return "\n".join(parts)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is to the left, figures are to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


# ------------------------------------------------------------------------------------------ cells


def shown(times: Sequence[float]) -> str:
    """Seconds as milliseconds: the median, and the spread where there is much of it."""
    if not times:
        return "—"
    middle, least, most = (1e3 * value for value in (median(times), min(times), max(times)))
    digits = 0 if middle >= 100 else 1
    text = f"{middle:,.{digits}f}"
    return f"{text} ({least:,.{digits}f}–{most:,.{digits}f})" if most > 1.1 * least else text


def render_cells(row: Row, peers: Sequence[str], figure: str) -> list[str]:
    """A row of ``render`` or ``whole`` figures."""
    result = row.results.get("ours")
    tokens = "—" if result is None or result.tokens is None else f"{result.tokens:,}"
    return [row.name, tokens, *(peer_cell(row, peer, figure) for peer in peers)]


def peer_cell(row: Row, peer: str, figure: str) -> str:
    """A peer's time, and by ours; or why there is none."""
    result = row.results.get(peer)
    if result is None:
        return ""
    if result.fault:
        return fault_in_words(result.fault)
    times = row.times(peer, figure)
    by_ours = row.by_ours(peer, figure)
    return shown(times) if by_ours is None else f"{shown(times)}, **{by_ours:.1f}×**"


def cpu_cell(row: Row, peer: str) -> str:
    """A peer's processor time by ours."""
    by_ours = row.by_ours(peer, "cpu")
    return "" if by_ours is None or row.results[peer].fault else f"{by_ours:.1f}×"


def fault_in_words(fault: str) -> str:
    """Short enough for a cell."""
    if "Maximum call stack" in fault or "RecursionError" in fault or "maximum recursion" in fault:
        return "stack overflow"
    return fault.replace("|", "/")[:60]


def excerpt_cell(row: Row) -> str:
    """Our time through ``excerpt``, and how many times the original takes."""
    times = row.times("ours", "excerpt")
    if not times:
        return ""
    if row.results["ours"].excerpt_same is False:
        return "another text"
    by_ours = ratio(row.times("original", "whole"), times)
    return shown(times) if by_ours is None else f"{shown(times)}, Priompt **{by_ours:.1f}×**"


def floor_cells(row: Row) -> list[str]:
    """A row of our figures against the floor."""
    render, floor = row.times("ours", "cpu"), row.times("ours", "floor_cpu")
    return [row.name, shown(render), shown(floor), f"**{ratio(render, floor) or 0:.2f}×**"]


def text_cell(row: Row, peer: str) -> str:
    """How a peer's text compares, with its cutoff where that differs."""
    result, ours = row.results.get(peer), row.results.get("ours")
    if result is None or ours is None or result.fault:
        return ""
    if result.cutoff is not None and result.cutoff != ours.cutoff:
        return f"{result.text}; cutoff {result.cutoff:,} against {ours.cutoff:,}"
    return result.text


# ------------------------------------------------------------------------------------------ goals


def goals(results: Results) -> Iterator[Goal]:
    """The goals that this run can tell about."""
    for row in results.rows:
        ours = row.results.get("ours")
        if ours is None or not ours.render:
            continue
        at_least = 10 if (ours.tokens or 0) >= LARGE else 5
        yield from _at_least(f"{row.name}: faster than Priompt, render", row, "original", "render", at_least)
        yield from _at_least(f"{row.name}: faster than PyPriompt, render", row, "pypriompt", "render", 20)
        few_shown = row.scopes == 100_000 and row.limit == 8_192
        yield from _at_least(
            f"{row.name}: faster than Priompt, build and render",
            row,
            "original",
            "whole",
            1.7 if few_shown else 2,
        )
        by_excerpt = ratio(row.times("original", "whole"), ours.excerpt)
        if by_excerpt is not None:
            name = f"{row.name}: faster than Priompt through `excerpt`, build and render"
            yield Goal(name, f"{by_excerpt:.1f}×", "≥ 5×", by_excerpt >= 5)
        by_floor = ratio(ours.cpu, ours.floor_cpu)
        if by_floor is not None:
            most = 2.5 if row.scopes >= 10_000 else 4
            yield Goal(f"{row.name}: by the floor", f"{by_floor:.2f}×", f"≤ {most:g}×", by_floor <= most)
        if row.scopes == 1_000_000:
            taken = median(ours.render)
            yield Goal(f"{row.name}: render", f"{taken:.2f} s", "≤ 1.5 s", taken <= 1.5)


def _at_least(name: str, row: Row, peer: str, figure: str, bound: float) -> Iterator[Goal]:
    by_ours = row.by_ours(peer, figure)
    if by_ours is not None and not row.results[peer].fault:
        yield Goal(name, f"{by_ours:.1f}×", f"≥ {bound:g}×", by_ours >= bound)
