"""A limit on how many messages of the history stay."""

from __future__ import annotations

from collections.abc import Sequence

from priompt_py.author.checks import truth
from priompt_py.context.messages import Message
from priompt_py.context.passes.units import (
    Count,
    Pass,
    Removal,
    checked,
    finish,
    is_kept_always,
    units,
    whole_or_none,
    without,
)
from priompt_py.context.reports import PassResult

__all__ = ["first_kept", "limit_messages"]


def limit_messages(*, n: int | None = None, sticky: bool = False, count: Count | None = None) -> Pass:
    """Keeps the last message and ``n`` before it; None is no limit.

    System and developer messages, summaries and pinned messages stay wherever they stand, and don't count. A tool unit
    that the cut would part goes out whole, unless it holds the last message. ``sticky`` drops in steps of a quarter of
    what stays, so that the beginning of the prompt, and what a provider cached of it, changes seldom.
    """
    limit = whole_or_none("limit_messages", "n", n)
    truth("limit_messages", "sticky", sticky)

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("limit_messages", messages)
        gone: dict[int, Removal] = {}
        if limit is not None:
            groups = [unit for unit in units(before) if not any(is_kept_always(before[i]) for i in unit)]
            counted = [i for unit in groups for i in unit]
            cut = first_kept(len(counted), limit, sticky=sticky)
            going = set(counted[:cut])
            for unit in groups[:-1]:
                if unit.start in going:
                    gone |= {
                        i: Removal("over-limit", f"more than {limit} before the last message") for i in unit
                    }
        after, dropped = without(before, gone, stage="limit_messages")
        return finish("limit_messages", before, after, count=count, dropped=dropped)

    return run


def first_kept(messages: int, limit: int, *, sticky: bool) -> int:
    """How many of so many messages go, from the first on, where the last one and ``limit`` before it may stay.

    With ``sticky`` whole steps of ``max(1, ceil((limit + 1) / 4))`` go: up to one less than a step more than needed.
    """
    overflow = max(0, messages - (limit + 1))
    if not sticky:
        return overflow
    step = max(1, (limit + 4) // 4)
    return -(-overflow // step) * step
