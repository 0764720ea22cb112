"""Plays a conversation by a policy, and tells what providers' caches made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import fmean
from typing import Any

import attrs

from bench.prefix.cache import Block, Cache, MarkedCache, Usage, cost, make_cache
from bench.prefix.conversations import LIMIT, Call, Conversation, calls_of, prompt_of
from bench.prefix.policies import Policy
from bench.prefix.rules import ANTHROPIC, OPENAI_MARKS, OPENAI_STEPS, RULES, Rules
from bench.prefix.sent import anthropic_blocks, openai_blocks
from priompt_py import Rendered, TokenCache, render

__all__ = ["CALLS", "GAP", "Played", "binding", "fresh_share", "play"]

CALLS = 200
GAP = 45.0  # seconds between two calls

_counts = TokenCache(max_chars=100_000_000, max_entries=200_000)


@attrs.define
class Played:
    """What a policy came to in the calls that count. ``uncached`` and ``cost`` are by the names of rules: tokens that
    had to be computed, US dollars. ``tokens`` are what each prompt had, ``cuts`` the calls that showed less of the
    history than the one before, ``auto`` and ``most`` what Anthropic's cache read with ``cache="auto"`` and would with
    unlimited marks, ``marks`` the most marks of a request, ``course`` the uncached tokens of each call (steps)."""

    name: str
    tokens: list[int] = attrs.field(factory=list[int])
    cuts: int = 0
    uncached: dict[str, int] = attrs.field(factory=dict[str, int])
    cost: dict[str, float] = attrs.field(factory=dict[str, float])
    auto: int = 0
    most: int = 0
    marks: int = 0
    course: list[int] = attrs.field(factory=list[int])

    @property
    def kept(self) -> float:
        """Mean tokens of a prompt."""
        return fmean(self.tokens)


def binding(conversation: Conversation) -> int:
    """The number of calls that fit as a whole: the limit binds from the next one on."""
    for number, call in enumerate(calls_of(conversation, 10_000)):
        if whole(conversation, call).token_count > LIMIT:
            return number
    raise AssertionError("a conversation grows beyond every limit")


def whole(conversation: Conversation, call: Call) -> Rendered:
    """A call with all of its history."""
    return render(prompt_of(conversation, call), token_limit=10**9, cache=_counts)


def fresh_share(conversation: Conversation, calls: int = 50) -> float:
    """What is new in a call, its file included where that changes with each one, as a part of the limit; the mean."""
    sizes = [whole(conversation, call).token_count for call in calls_of(conversation, calls)]
    file = conversation.file if conversation.place == "after" and conversation.edited else 0
    return ((sizes[-1] - sizes[0]) / (calls - 1) + file) / LIMIT


def play(
    conversation: Conversation,
    policy: Policy,
    name: str,
    *,
    calls: int = CALLS,
    gaps: Sequence[float] = (GAP,),
) -> Played:
    """Play all calls; those from where the limit binds count, ``calls`` of them. ``gaps`` are the seconds between calls,
    over and over."""
    caches: dict[str, Cache] = {rules.name: make_cache(rules) for rules in RULES}
    unlimited = MarkedCache(ANTHROPIC, unlimited=True)
    start = binding(conversation)
    played = Played(name)
    shown: set[int] = set()
    now = 0.0
    for number, call in enumerate(islice(calls_of(conversation, start + calls), start + calls)):
        rendered = policy(call)
        request = rendered.to_anthropic(cache="auto")
        marked = list(anthropic_blocks(request))
        usages = {
            rules.name: caches[rules.name].ask(blocks, now) for rules, blocks in _sent(rendered, marked)
        }
        most = unlimited.ask(marked, now)
        before, shown = shown, set(_steps(rendered))
        now += gaps[number % len(gaps)]
        if number < start:
            continue
        played.tokens.append(rendered.token_count)
        played.cuts += not before <= shown
        _add(played, usages)
        played.auto += usages[ANTHROPIC.name].read
        played.most += most.read
        played.marks = max(played.marks, sum(block.mark for block in marked))
    return played


def _sent(rendered: Rendered, marked: list[Block]) -> Iterator[tuple[Rules, list[Block]]]:
    """What each provider gets."""
    request = rendered.to_openai(cache_marks=True)
    blocks = list(openai_blocks(request, implicit=True))
    yield OPENAI_STEPS, blocks
    yield OPENAI_MARKS, blocks
    yield ANTHROPIC, marked


def _add(played: Played, usages: dict[str, Usage]) -> None:
    for rules in RULES:
        usage = usages[rules.name]
        played.uncached[rules.name] = played.uncached.get(rules.name, 0) + usage.uncached
        played.cost[rules.name] = played.cost.get(rules.name, 0.0) + cost(usage, rules)
    played.course.append(usages[OPENAI_STEPS.name].uncached)


def _steps(rendered: Rendered) -> Iterator[int]:
    """The numbers of the steps that are in."""
    for decision in rendered.decisions:
        label: Any = decision.label
        if decision.included and label is not None and label.startswith("step "):
            yield int(label.removeprefix("step "))
