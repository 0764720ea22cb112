"""What a run found, as plain data that can be kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import add
from pathlib import Path
from statistics import median
from typing import Any

import attrs

__all__ = ["NAMES", "PEERS", "PeerResult", "Results", "Row", "ratio", "read", "write"]

NAMES: Mapping[str, str] = {
    "ours": "priompt_py",
    "original": "Priompt",
    "pypriompt": "PyPriompt",
    "prompt-tsx": "prompt-tsx",
    "poet": "Prompt Poet",
}
PEERS = tuple(NAMES)

FIGURES = ("build", "render", "cpu", "floor", "floor_cpu", "excerpt")


@attrs.define
class PeerResult:
    """One peer's rounds of one shape. Times are in seconds, one figure a round; ``cpu`` is the processor's for the
    render; ``floor`` and ``excerpt`` (build and render of the text as one element) are ours only; ``beside_…`` are ours
    of the same rounds. ``fault`` says why there are no more rounds, ``text`` how the prompt's contents compare with ours.
    """

    build: list[float] = attrs.field(factory=list[float])
    render: list[float] = attrs.field(factory=list[float])
    cpu: list[float] = attrs.field(factory=list[float])
    floor: list[float] = attrs.field(factory=list[float])
    floor_cpu: list[float] = attrs.field(factory=list[float])
    excerpt: list[float] = attrs.field(factory=list[float])
    beside_build: list[float] = attrs.field(factory=list[float])
    beside_render: list[float] = attrs.field(factory=list[float])
    beside_cpu: list[float] = attrs.field(factory=list[float])
    tokens: int | None = None
    cutoff: float | None = None
    excerpt_same: bool | None = None
    text: str = ""
    fault: str = ""

    def add_beside(self, answer: Mapping[str, Any]) -> None:
        """Take up what ours took in the same round."""
        self.beside_build.append(answer["build"])
        self.beside_render.append(answer["render"])
        self.beside_cpu.append(answer["cpu"])

    def add(self, answer: Mapping[str, Any]) -> None:
        """Take a round's answer up."""
        for name in FIGURES:
            if name in answer:
                getattr(self, name).append(answer[name])
        self.tokens = answer.get("tokens", self.tokens)
        self.cutoff = answer.get("cutoff", self.cutoff)
        self.excerpt_same = answer.get("excerpt_same", self.excerpt_same)

    @property
    def whole(self) -> list[float]:
        """Building and rendering together."""
        return list(map(add, self.build, self.render))

    @property
    def beside_whole(self) -> list[float]:
        """The same of ours, in the same rounds."""
        return list(map(add, self.beside_build, self.beside_render))


@attrs.define
class Row:
    """One shape's results. ``limit`` in tokens."""

    name: str
    kind: str
    scopes: int
    limit: int
    results: dict[str, PeerResult]

    def times(self, peer: str, figure: str) -> list[float]:
        """A peer's rounds of ``build``, ``render``, ``whole``, ``floor`` or ``excerpt``; empty if there are none."""
        result = self.results.get(peer)
        if result is None:
            return []
        times: list[float] = getattr(result, figure)
        return times

    def by_ours(self, peer: str, figure: str) -> float | None:
        """How many times as long as ours a peer takes to ``render``, by ``cpu`` or for the ``whole``; None if it has no rounds."""
        return ratio(self.times(peer, figure), self.times(peer, f"beside_{figure}"))


@attrs.define
class Results:
    """A run: what it ran on, the rows of the table, and the rows of the plot."""

    about: dict[str, str]
    rows: list[Row]
    plot: list[Row] = attrs.field(factory=list[Row])


def ratio(upper: Sequence[float], lower: Sequence[float]) -> float | None:
    """The median of the rounds' ratios; None if one of the two has no rounds."""
    pairs = list(zip(upper, lower, strict=False))
    return median(a / b for a, b in pairs) if pairs else None


def write(results: Results, path: Path) -> None:
    """Keep a run."""
    path.write_text(json.dumps(attrs.asdict(results), indent=1) + "\n", "utf-8")


def read(path: Path) -> Results:
    """A run that was kept."""
    told = json.loads(path.read_text("utf-8"))
    return Results(told["about"], [_row(row) for row in told["rows"]], [_row(row) for row in told["plot"]])


def _row(told: dict[str, Any]) -> Row:
    results = {peer: PeerResult(**one) for peer, one in told["results"].items()}
    return Row(told["name"], told["kind"], told["scopes"], told["limit"], results)
