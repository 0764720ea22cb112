"""A goal: a figure and its bound."""

from __future__ import annotations

from typing import NamedTuple

from bench.shapes import Shape

__all__ = ["QUICK", "Goal", "at_most"]

QUICK = (Shape("lines", 300, 1_000), Shape("chat", 60, 1_000), Shape("firsts", 300, 0))
"""Shapes for a smoke; they stand in no table."""


class Goal(NamedTuple):
    """What was measured against what. ``shown`` and ``wanted`` are the figures in words; ``timed``: it is a matter
    of time, which a busy machine can spoil."""

    name: str
    met: bool
    shown: str
    wanted: str
    note: str = ""
    timed: bool = True


def at_most(
    name: str, value: float, bound: float, *, unit: str = "times", note: str = "", timed: bool = True
) -> Goal:
    """A goal that a figure stays at or under a bound."""
    return Goal(name, value <= bound, f"{value:,.2f} {unit}", f"{bound:g} {unit}", note, timed)
