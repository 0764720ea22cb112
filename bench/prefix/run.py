"""Growing conversations through providers' caches.

    bash bench/peers/setup.sh             once: installs Prompt Poet into build/peers
    python -m bench.prefix.run            everything; writes docs/prefix_figures.md and its pictures; about 3 minutes
    python -m bench.prefix.run --quick    three conversations, 20 calls; prints the page and writes nothing

Prompt Poet is left out where it isn't installed. The exit code is 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path

from bench.prefix.conversations import CONVERSATIONS, LIMIT, Conversation
from bench.prefix.play import CALLS, GAP, fresh_share, play
from bench.prefix.plot import Line, svg
from bench.prefix.policies import Policy, exact, memory, poet, poet_installed, window
from bench.prefix.report import Row, goals, page

__all__ = ["main"]

DOCS = Path(__file__).parents[2] / "docs"
QUICK = (CONVERSATIONS[1], CONVERSATIONS[5], CONVERSATIONS[9])
SIZES = (0.01, 0.02, 0.03, 0.045, 0.06, 0.09, 0.12, 0.15, 0.18, 0.21)  # turns of the picture, of the limit
PAUSED = CONVERSATIONS[1]
PAUSES = (*[GAP] * 9, 600.0)
COURSE = "chat, turns of 0.06"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.prefix.run", description="Play growing conversations."
    )
    parser.add_argument(
        "--quick", action="store_true", help="three conversations, 20 calls, nothing is written"
    )
    options = parser.parse_args(arguments)
    calls = 20 if options.quick else CALLS
    with ExitStack() as stack:
        policies: dict[str, Callable[[Conversation], Policy]] = {"exact": exact, "memory": memory}
        if poet_installed():
            policies["poet"] = stack.enter_context(poet())
        policies["window"] = window
        rows = [played(each, policies, calls) for each in (QUICK if options.quick else CONVERSATIONS)]
        paused = [played(PAUSED, policies, calls, gaps=PAUSES)]
        pictures: list[tuple[str, str, str]] = []
        if not options.quick:
            pictures = [by_size(policies, calls), course(rows)]
    text = page(rows, paused, calls=calls, pictures=[(title, name) for title, name, _ in pictures])
    if options.quick:
        print(text)
    else:
        (DOCS / "prefix_figures.md").write_text(text, "utf-8")
        for _, name, picture in pictures:
            (DOCS / name).write_text(picture, "utf-8")
    found = list(goals(rows))
    print(f"\n{sum(goal.met for goal in found)} of {len(found)} goals met")
    for goal in found:
        if not goal.met:
            print(f"missed: {goal.name}: {goal.shown}, wanted {goal.wanted}")
    return 0 if all(goal.met for goal in found) else 1


def played(
    conversation: Conversation,
    policies: Mapping[str, Callable[[Conversation], Policy]],
    calls: int,
    *,
    gaps: Sequence[float] = (GAP,),
) -> Row:
    """A conversation by all policies."""
    found = {
        name: play(conversation, make(conversation), name, calls=calls, gaps=gaps)
        for name, make in policies.items()
    }
    row = Row(conversation, fresh_share(conversation), found)
    print(conversation.name, {name: f"{row.share(name):.2f}" for name in found}, flush=True)
    return row


def by_size(policies: Mapping[str, Callable[[Conversation], Policy]], calls: int) -> tuple[str, str, str]:
    """Title, file and picture: uncached tokens for exact fit's, by the size of a turn."""
    title = "Steady chat: tokens to compute, for one of exact fit's"
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in policies if name != "exact"}
    for size in SIZES:
        row = played(Conversation(f"chat of {size:g}", "chat", round(size * LIMIT)), policies, calls)
        for name, found in points.items():
            found.append((row.fresh, row.share(name)))
    lines = [Line(name, found) for name, found in points.items()]
    picture = svg(title, lines, "a turn, as a part of the limit", "uncached tokens, exact fit = 1")
    return title, "prefix_sizes.svg", picture


def course(rows: Sequence[Row]) -> tuple[str, str, str]:
    """Title, file and picture: the uncached tokens of one conversation, call by call."""
    (row,) = (row for row in rows if row.conversation.name == COURSE)
    title = "Steady chat, turns of 0.06 of the limit: tokens computed so far"
    lines = [
        Line(name, [(number, total / 1e3) for number, total in enumerate(accumulate(each.course, initial=0))])
        for name, each in row.played.items()
    ]
    picture = svg(title, lines, "calls since the limit was reached", "thousands of tokens")
    return title, "prefix_course.svg", picture


if __name__ == "__main__":
    sys.exit(main())
