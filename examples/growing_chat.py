"""A chat that grows under a limit and keeps its beginning: what a provider's prefix cache can read again.

The lines of Wilde's *The Importance of Being Earnest* come in one by one; each is the newest message once. `render` alone
fits as much as it can on every call, so each call begins elsewhere. With `previous=` the cut stays until it has to
move, and then moves far enough to stay again. The memory is plain data: here it goes through JSON between the calls,
as it would in a server that keeps conversations in a database.

Prints:

    as much as fits: 475 tokens on average, 32 of 70 calls begin anew
    with memory: 420 tokens on average, 8 of 70 calls begin anew
    what is remembered: {"cutoff": 999000058, "maxes": {}}
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from priompt_py import (
    Memory,
    Node,
    Rendered,
    assistant_message,
    cache_break,
    render,
    scope,
    system_message,
    turn,
    user_message,
)

PLAY = Path(__file__).parent / "data" / "earnest.txt"
LIMIT = 600


def prompt(lines: list[str]) -> Node:
    """The prompt after some lines: what never changes first, then the history, then what is new."""
    *past, newest = lines
    return [
        system_message["You are Algernon Moncrieff. Answer Jack in one or two sentences."],
        cache_break,
        [scope(prel=turn(i))[said(line)] for i, line in enumerate(past)],
        said(newest),
    ]


def said(line: str) -> Node:
    speaker, _, words = line.partition(": ")
    message = user_message if speaker == "Jack" else assistant_message
    return message[words]


def tell(name: str, renders: list[Rendered]) -> None:
    texts = [[message["content"] for message in rendered.to_messages()] for rendered in renders]
    # A call begins anew if it doesn't begin with all that the one before had.
    anew = sum(after[: len(before)] != before for before, after in pairwise(texts))
    mean = fmean(rendered.token_count for rendered in renders)
    print(f"{name}: {mean:.0f} tokens on average, {anew} of {len(texts)} calls begin anew")


def main() -> None:
    lines = PLAY.read_text("utf-8").splitlines()
    calls = [lines[:end] for end in range(1, len(lines) + 1)]
    tell("as much as fits", [render(prompt(call), token_limit=LIMIT) for call in calls])

    renders: list[Rendered] = []
    stored = json.dumps(Memory().to_json())
    for call in calls:
        memory = Memory.from_json(json.loads(stored))
        rendered = render(prompt(call), token_limit=LIMIT, previous=memory)
        stored = json.dumps(rendered.memory.to_json())
        renders.append(rendered)
    tell("with memory", renders)
    print("what is remembered:", stored)


if __name__ == "__main__":
    main()
