"""Times of several ways of doing one thing, taken by turns.

Absolute times mean little on a machine that does other things, so ways are compared within one run: each round times
every way once, one after the other, and what counts is the median over the rounds, and the median of each round's
ratio. The garbage of earlier rounds is collected before a round's clocks start, so that no way pays for another one's;
while a clock runs the collector is as it is in any program: on, with its usual thresholds and nothing frozen. What a
way returns is let go after its clock has stopped.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple, ParamSpec, TypeVar

__all__ = ["Times", "by_turns", "clock", "ratio", "times_of"]

P = ParamSpec("P")
T = TypeVar("T")


class Times(NamedTuple):
    """What one way took, in seconds, one figure a round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def least(self) -> float:
        return min(self.rounds)

    @property
    def most(self) -> float:
        return max(self.rounds)

    def __str__(self) -> str:
        return f"{1e3 * self.median:,.1f} ms ({1e3 * self.least:,.1f} to {1e3 * self.most:,.1f})"


def clock(way: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[float, T]:
    """Seconds, and what came out."""
    start = perf_counter()
    given = way(*args, **kwargs)
    return perf_counter() - start, given


def by_turns(ways: Mapping[str, Callable[[], object]], *, rounds: int, warm: int = 1) -> dict[str, Times]:
    """Each way's times over ``rounds`` rounds, after ``warm`` rounds that do not count."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(warm + rounds):
        for name, way in ways.items():
            gc.collect()
            seconds, given = clock(way)
            del given
            if number >= warm:
                taken[name].append(seconds)
    return {name: Times(tuple(one)) for name, one in taken.items()}


def times_of(rows: Sequence[Mapping[str, float]]) -> dict[str, Times]:
    """Rounds that were timed elsewhere, each with the seconds of every way."""
    return {name: Times(tuple(row[name] for row in rows)) for name in rows[0]}


def ratio(upper: Times, lower: Times) -> float:
    """The median over the rounds of the upper times by the lower ones of the same round."""
    return statistics.median(a / b for a, b in zip(upper.rounds, lower.rounds, strict=True))
