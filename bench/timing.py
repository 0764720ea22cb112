"""Times of several ways of doing one thing, taken by turns.

Absolute times mean little on a machine that does other things, so ways are compared within one run: each round times
every way once, one after the other, and what counts is the median over the rounds, and the median of each round's
ratio. Where all ways run in one thread of this process the processor's time is taken: a machine that is busy with
something else stops a process of some milliseconds or does not, and the wall's clock would tell that instead.

The garbage of earlier rounds is collected before a round's clocks start, so that no way pays for another one's; while a
clock runs the collector is as it is in any program: on, with its usual thresholds and nothing frozen.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter, process_time
from typing import NamedTuple, ParamSpec, TypeVar

__all__ = ["Times", "clock", "processor", "ratio", "rounds_of", "times_of"]

ENOUGH = 2.0  # seconds, after which there are no more rounds than asked for
MOST_ROUNDS = 15

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
    """Seconds by the clock on the wall, and what came out."""
    start = perf_counter()
    given = way(*args, **kwargs)
    return perf_counter() - start, given


def processor(way: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[float, T]:
    """Seconds of this process's processor time, and what came out."""
    start = process_time()
    given = way(*args, **kwargs)
    return process_time() - start, given


def rounds_of(least: int) -> Iterator[int]:
    """Numbers of rounds, from 0, which is to warm up: as many as asked for, and more if there is time."""
    start = perf_counter()
    number = 0
    while number <= least or (number <= MOST_ROUNDS and perf_counter() - start < ENOUGH):
        yield number
        number += 1


def times_of(rows: Sequence[Mapping[str, float]]) -> dict[str, Times]:
    """Rounds that were timed elsewhere, each with the seconds of every way."""
    return {name: Times(tuple(row[name] for row in rows)) for name in rows[0]}


def ratio(upper: Times, lower: Times) -> float:
    """The median over the rounds of the upper times by the lower ones of the same round."""
    return statistics.median(a / b for a, b in zip(upper.rounds, lower.rounds, strict=True))
