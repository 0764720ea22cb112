"""What was played, as a page of Markdown, and what it has to come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import attrs

from bench.prefix.conversations import LIMIT, Conversation
from bench.prefix.play import Played
from bench.prefix.policies import NAMES
from bench.prefix.rules import ANTHROPIC, OPENAI_STEPS, RULES

__all__ = ["Goal", "Row", "goals", "page"]

SMALL_TURN = 0.15  # of the limit: up to here memory has to halve what exact fit needs
HALF, KEEPS, AS_POET, AS_UNLIMITED, MOST_MARKS = 0.5, 0.75, 1.02, 0.9, 4


@attrs.frozen
class Row:
    """A conversation by all policies. ``fresh`` is what is new in a call, as a part of the limit."""

    conversation: Conversation
    fresh: float
    played: Mapping[str, Played]

    def share(self, policy: str, other: str = "exact") -> float:
        """The uncached tokens of one policy for one of another."""
        steps = OPENAI_STEPS.name
        return self.played[policy].uncached[steps] / self.played[other].uncached[steps]

    @property
    def counts(self) -> bool:
        """Whether the goals are for it."""
        changes_early = bool(self.conversation.file) and self.conversation.place == "before"
        return self.fresh <= SMALL_TURN and not changes_early

    @property
    def auto(self) -> float:
        """What Anthropic's cache reads with cache="auto", as a part of what it would with unlimited marks."""
        played = self.played["memory"]
        return played.auto / played.most if played.most else 1.0


class Goal(NamedTuple):
    """A goal, what was measured, what was wanted."""

    name: str
    shown: str
    wanted: str
    met: bool


def goals(rows: Sequence[Row]) -> Iterator[Goal]:
    """The goals of all conversations that they are for."""
    for row in rows:
        name = row.conversation.name
        if row.counts:
            share = row.share("memory")
            yield Goal(f"{name}: uncached, for exact fit's", f"{share:.2f}", f"at most {HALF}", share <= HALF)
            kept = row.played["memory"].kept / row.played["exact"].kept
            yield Goal(
                f"{name}: tokens kept, of exact fit's", f"{kept:.2f}", f"at least {KEEPS}", kept >= KEEPS
            )
            if row.conversation.kind == "chat" and "poet" in row.played:
                share = row.share("memory", "poet")
                wanted = f"at most {AS_POET}"
                yield Goal(f"{name}: uncached, for Prompt Poet's", f"{share:.2f}", wanted, share <= AS_POET)
        wanted = f"at least {AS_UNLIMITED:.0%}"
        yield Goal(f'{name}: cache="auto"', f"{row.auto:.0%}", wanted, row.auto >= AS_UNLIMITED)
        marks = max(played.marks for played in row.played.values())
        yield Goal(f"{name}: marks", str(marks), f"at most {MOST_MARKS}", marks <= MOST_MARKS)


INTRO = """\
---
orphan: true
---

# Prompts that keep their prefix: figures

Written by `python -m bench.prefix.run`; not to be edited. A simulation: conversations that grow are played call by call
under a limit of {limit:,} tokens, by four ways to keep under it, and caches that follow the published rules of OpenAI and
Anthropic say what they would have read. [prefix.md](prefix.md) is the guide.

* **exact fit**: `render()` as it is: on every call as much as fits.
* **memory**: `render(previous=...)` with its defaults, `keep=0.7` and `refill=0.35`.
* **Prompt Poet's step**: the package `prompt-poet` 0.0.52 with a truncation step of 0.3 of the limit.
* **sliding window**: the last N steps, N fixed when the limit is reached so that they take 0.7 of it on average, and fewer
  where those don't fit.

All figures are of the {calls} calls from the one on at which the limit binds. *Kept* are the mean tokens of a prompt: what sends
less caches more, so it always has to be read beside the rest. *Cuts* are the calls that showed less of the history
than the one before. *Uncached* are thousands of tokens that had to be computed. *Cost* is US dollars for the input. *Turn* is
what is new in a call, as a part of the limit. Calls are 45 seconds apart.

"""

WANTED = """\
Where what is new in a call is at most 0.15 of the limit, and nothing before the history changes, memory has to compute at
most half of exact fit's tokens and keep at least 0.75 of them, and in a steady chat compute at most 1.02 of Prompt Poet's.
`cache="auto"` has to read at least 90 % of what unlimited marks would, with 4 marks at most.

"""

MARKS = """\
What Anthropic's cache reads with `cache="auto"`, whose marks look back 20 blocks, as a part of what it would with a mark on
every block; and the most marks of a request. By memory, and by exact fit, where little is left to read.

"""

PAUSES = """\
The same chat with 10 minutes between every tenth call and the next: entries that live for 5 minutes are gone then.

"""

METHOD = """\
## How it was played

Conversations are made of the words and lines of two texts, by a random number generator with a fixed seed; a message's size
is 0.5 to 1.5 of the mean. The system message has about 300 tokens; agents have four tools, and get another task every ten
steps. What is new in a call (the question; an agent's last calls and their results) is always kept. A step of the history is one
scope, `scope(prel=turn(i))`; calls stay with their results. Prompt Poet decides by the tokens that the whole prompt counts
for each step, frames included, and its choice is sent in the same way as ours. *Kept* is what `token_count` says; what a
cache sees has the JSON of calls, their ids and tools in it, which is more: half as much again where results are small.

o200k_base stands in for every tokenizer. {rules}

Sources of the rules are in `bench/prefix/rules.py`, read in November 2026.

What a simulation can't say: which machine a request reaches, whether a provider evicts earlier than it says, and what
tokens the answers take.
"""


def page(
    rows: Sequence[Row], paused: Sequence[Row], *, calls: int, pictures: Sequence[tuple[str, str]]
) -> str:
    """The whole page; ``pictures`` are titles and names of the files beside it."""
    met = list(goals(rows))
    parts = [
        INTRO.format(limit=LIMIT, calls=calls),
        *(f"![{title}]({name})\n\n" for title, name in pictures),
        "## What it has to come to\n\n",
        WANTED,
        f"{sum(goal.met for goal in met)} of {len(met)} hold.",
        "".join(
            f"\n* Missed: {goal.name} is {goal.shown}, wanted {goal.wanted}." for goal in met if not goal.met
        ),
        "\n\n## All figures\n\n",
        _table(rows),
        "\n## Marks\n\n",
        MARKS,
        _marks(rows),
        "\n## Pauses\n\n",
        PAUSES,
        _table(paused),
        "\n",
        METHOD.format(rules=_rules()),
    ]
    return "".join(parts)


def _table(rows: Sequence[Row]) -> str:
    names = [rules.name for rules in RULES]
    heads = ["conversation", "turn", "way", "kept", "cuts"]
    heads += [f"uncached: {name}" for name in names] + [f"cost: {name}" for name in names]
    lines = [_row(heads), "|---|---:|---|" + "---:|" * (len(heads) - 3)]
    for row in rows:
        exact = row.played["exact"]
        for policy, played in row.played.items():
            first = policy == "exact"
            cells = [
                row.conversation.name if first else "",
                f"{row.fresh:.2f}" if first else "",
                NAMES[policy],
            ]
            cells += [f"{played.kept:,.0f} ({played.kept / exact.kept:.2f})", str(played.cuts)]
            for name in names:
                share = played.uncached[name] / exact.uncached[name]
                cells.append(f"{played.uncached[name] / 1e3:,.0f} ({share:.2f})")
            cells += [f"{played.cost[name]:.2f}" for name in names]
            lines.append(_row(cells))
    return "\n".join(lines) + "\n"


def _marks(rows: Sequence[Row]) -> str:
    lines = ["| conversation | memory | exact fit | marks |", "|---|---:|---:|---:|"]
    for row in rows:
        marks = str(max(played.marks for played in row.played.values()))
        read = [_read(row.played[policy]) for policy in ("memory", "exact")]
        lines.append(_row([row.conversation.name, *read, marks]))
    return "\n".join(lines) + "\n"


def _read(played: Played) -> str:
    if not played.most:
        return "nothing to read"
    return f"{played.auto / played.most:.1%} of {played.most / 1e3:,.0f} k"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rules() -> str:
    told: list[str] = []
    for rules in RULES:
        how = (
            f"steps of {rules.step} tokens"
            if rules.kind == "steps"
            else f"{rules.marks} marks, {rules.look_back} blocks back"
        )
        told.append(
            f"{rules.name} ({rules.model}): from {rules.minimum:,} tokens on, {how}, entries live {rules.lifetime // 60} minutes "
            f"after their last use; ${rules.price:.2f} for a million tokens, reading {rules.read:g} and writing "
            f"{rules.write:g} times that."
        )
    last = ANTHROPIC.name
    return (
        " ".join(told) + f' {last} gets `to_anthropic(cache="auto")`, OpenAI `to_openai(cache_marks=True)`.'
    )
