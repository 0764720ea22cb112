"""Ways to keep a growing conversation under its limit: each chooses what of the history every call shows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench.peers.process import Worker
from bench.prefix.conversations import LIMIT, Call, Conversation, prompt_of
from priompt_py import Memory, Rendered, TokenCache, render

__all__ = ["NAMES", "POET", "Policy", "exact", "memory", "poet", "poet_installed", "window"]

ROOT = Path(__file__).parents[2]
POET = ROOT / "build" / "peers" / "poet" / "bin" / "python"
STEP = 0.3  # of the limit: what Prompt Poet cuts at once; as much as memory does with keep=0.7
ENOUGH = 10**9
NAMES = {
    "exact": "exact fit",
    "memory": "memory",
    "poet": "Prompt Poet's step",
    "window": "sliding window",
}

Policy: TypeAlias = Callable[[Call], Rendered]
"""Renders one call after the other."""

_counts = TokenCache(max_chars=200_000_000, max_entries=200_000)


def exact(conversation: Conversation) -> Policy:
    """As much as fits, on every call."""

    def policy(call: Call) -> Rendered:
        return render(prompt_of(conversation, call), token_limit=LIMIT, cache=_counts)

    return policy


def memory(conversation: Conversation) -> Policy:
    """The cutoff with memory, with its defaults."""
    remembered = Memory()

    def policy(call: Call) -> Rendered:
        nonlocal remembered
        rendered = render(
            prompt_of(conversation, call), token_limit=LIMIT, previous=remembered, cache=_counts
        )
        remembered = rendered.memory
        return rendered

    return policy


def window(conversation: Conversation) -> Policy:
    """The last steps, always as many: those that take 0.7 of the limit on average, and fewer where they don't fit."""
    number: int | None = None

    def policy(call: Call) -> Rendered:
        nonlocal number
        sizes = _sizes(conversation, call)
        steps = len(sizes.steps)
        if number is None:
            if sum(sizes.steps) + sizes.rest <= LIMIT:
                return _shown(conversation, call, range(steps))  # it has not begun to slide
            number = max(1, int((0.7 * LIMIT - sizes.rest) * steps / sum(sizes.steps)))
        start = max(0, steps - number)
        while start < steps and sizes.rest + sum(sizes.steps[start:]) > LIMIT:
            start += 1
        return _shown(conversation, call, range(start, steps))

    return policy


@contextmanager
def poet() -> Generator[Callable[[Conversation], Policy]]:
    """Prompt Poet, whose process ends with the context; a step of the history is a part that can be cut, the rest is not."""
    command = [str(POET), "-m", "bench.prefix.poet"]
    with Worker(command, folder=ROOT, environment={"PYTHONPATH": str(ROOT)}) as worker:

        def make(conversation: Conversation) -> Policy:
            def policy(call: Call) -> Rendered:
                sizes = _sizes(conversation, call)
                parts = [(f"s{index}", tokens, 1) for index, tokens in enumerate(sizes.steps)]
                request = {
                    "parts": [("rest", sizes.rest, 0), *parts],
                    "limit": LIMIT,
                    "step": round(STEP * LIMIT),
                }
                kept: list[str] = worker.ask(request, patience=300)["kept"]
                return _shown(conversation, call, [int(name[1:]) for name in kept if name != "rest"])

            return policy

        yield make


def poet_installed() -> bool:
    """Whether ``bench/peers/setup.sh`` has installed it."""
    return os.access(POET, os.X_OK) and sys.platform != "win32"


class _Sizes(NamedTuple):
    """What each step of the history costs, and all else together, in tokens."""

    steps: list[int]
    rest: int


_known: dict[tuple[str, int], int] = {}


def _sizes(conversation: Conversation, call: Call) -> _Sizes:
    """Costs of steps are differences of whole prompts; those of a conversation don't change, so they are kept."""
    rest = _count(conversation, call, ())
    steps: list[int] = []
    for index in range(len(call.history)):
        key = (conversation.name, index)
        if key not in _known:
            _known[key] = _count(conversation, call, (index,)) - rest
        steps.append(_known[key])
    return _Sizes(steps, rest)


def _count(conversation: Conversation, call: Call, kept: Sequence[int]) -> int:
    return _shown(conversation, call, kept).token_count


def _shown(conversation: Conversation, call: Call, kept: Sequence[int]) -> Rendered:
    return render(prompt_of(conversation, call, kept), token_limit=ENOUGH, cache=_counts)
