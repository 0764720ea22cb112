"""The goals that need no peer, measured: a table of what is reached and what is not.

    python -m bench.goals                 every goal at every size, 2 to 3 minutes
    python -m bench.goals --quick         small sizes and few rounds: a smoke, a few seconds
    python -m bench.goals --only floor    some of the goals: floor, scale, again, characters, exact

Ends with exit code 1 if a goal was missed; under ``--quick`` only if a goal was missed that does not depend on time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

from bench import exactness, speed
from bench.goal import Goal

__all__ = ["main", "table"]

GROUPS: dict[str, Callable[..., Iterator[Goal]]] = {
    "floor": speed.against_the_floor,
    "scale": speed.scale,
    "again": speed.rendered_again,
    "characters": exactness.characters,
    "exact": exactness.exact,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say with the exit code whether all is well."""
    parser = argparse.ArgumentParser(prog="python -m bench.goals", description="Measure the goals.")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument("--rounds", type=int, default=None, help="rounds of each case (5; quick: 3)")
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="only these goals")
    options = parser.parse_args(arguments)
    rounds: int = options.rounds or (3 if options.quick else 5)
    goals: list[Goal] = []
    for name in options.only or GROUPS:
        for goal in GROUPS[name](rounds, quick=options.quick):
            goals.append(goal)
            print(line(goal), flush=True)
    missed = [goal for goal in goals if not goal.met]
    print(f"\n{len(goals) - len(missed)} of {len(goals)} goals met")
    for goal in missed:
        print(f"missed: {goal.name}: {goal.shown}, goal {goal.wanted}")
    return 1 if [goal for goal in missed if not (options.quick and goal.timed)] else 0


def line(goal: Goal) -> str:
    """One row on the terminal."""
    mark = "ok    " if goal.met else "MISSED"
    return f"{mark} {goal.name:<58} {goal.shown:>14}  goal {goal.wanted:<10} {goal.note}".rstrip()


def table(goals: list[Goal]) -> str:
    """The rows as a Markdown table."""
    rows = ["| what | measured | goal | |", "|---|---|---|---|"]
    for goal in goals:
        mark = "met" if goal.met else "**missed**"
        rows.append(f"| {goal.name} | {goal.shown} | {goal.wanted} | {mark} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
