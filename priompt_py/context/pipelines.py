"""Passes in a row: the default order, and any other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, Protocol, cast

from priompt_py.author.checks import got, wrong_type
from priompt_py.context.messages import CompactionPoint, Message
from priompt_py.context.passes.dedupe import dedupe
from priompt_py.context.passes.eligible import apply_compaction, drop_errors, drop_ineligible
from priompt_py.context.passes.expire import expire
from priompt_py.context.passes.limit import limit_messages
from priompt_py.context.passes.pairs import repair_tool_pairs
from priompt_py.context.passes.prune import PruneResult
from priompt_py.context.passes.prune import prune as prune_factory
from priompt_py.context.passes.restore import restore
from priompt_py.context.passes.tools import clean_tools, flatten_tools
from priompt_py.context.passes.units import Count, Pass
from priompt_py.context.reports import ContextReport, PassReport, PassResult

__all__ = ["Pipeline", "default_pipeline", "pipeline"]


class Pipeline(Protocol):
    """Passes in a row."""

    def __call__(self, messages: Sequence[Message], /) -> tuple[list[Message], ContextReport]: ...


def pipeline(*passes: Pass) -> Pipeline:
    """One function of all ``passes``, each of which gets what the one before gave; the report holds all of theirs.

    A pass is any function of messages that gives a ``PassResult``; what it raises goes up as it is.
    """
    for i, one in enumerate(passes):
        if not callable(cast("object", one)):
            raise wrong_type("passes", f"pipeline(): passes[{i}] is no pass, got {got(one)}")
        if one in _FACTORIES:
            name = cast("Any", one).__name__
            raise wrong_type("passes", f"pipeline(): passes[{i}] is {name} itself; call it: {name}(...)")

    def run(messages: Sequence[Message]) -> tuple[list[Message], ContextReport]:
        now: Sequence[Message] = list(messages)
        reports: list[PassReport] = []
        priorities: dict[str, float] = {}
        for i, one in enumerate(passes):
            result = cast("object", one(now))
            if not isinstance(result, PassResult):
                raise wrong_type("passes", f"pipeline(): passes[{i}] gave no PassResult, but {got(result)}")
            now = result.messages
            reports.append(result.report)
            if isinstance(result, PruneResult):
                priorities.update(result.priorities)
        return list(now), ContextReport(passes=tuple(reports), priorities=priorities)

    return run


_FACTORIES: tuple[Any, ...] = (
    apply_compaction,
    clean_tools,
    dedupe,
    drop_errors,
    drop_ineligible,
    expire,
    flatten_tools,
    limit_messages,
    prune_factory,
    repair_tool_pairs,
    restore,
)


def default_pipeline(
    points: Iterable[CompactionPoint] = (),
    prune: Pass | None = None,
    max_messages: int | None = None,
    keep_tool_rounds: int = 2,
    *,
    sticky: bool = False,
    tool_mode: Literal["remove", "stub"] = "remove",
    preserve_ids: Iterable[str] = (),
    count: Count | None = None,
) -> Pipeline:
    """The usual order: what may be seen, compaction, failed turns, pruning, the limit, old tool calls, pairs.

    ``prune`` is ``prune(...)`` with its settings, off when not given; it stands before the limit, so that a definition
    can still come back. ``count(text)`` gives tokens for all reports; each text is counted once.
    """
    counted = None if count is None else lru_cache(maxsize=1 << 16)(count)
    return pipeline(
        drop_ineligible(count=counted),
        apply_compaction(points=points, count=counted),
        drop_errors(count=counted),
        *(() if prune is None else (prune,)),
        limit_messages(n=max_messages, sticky=sticky, count=counted),
        clean_tools(keep_rounds=keep_tool_rounds, mode=tool_mode, preserve_ids=preserve_ids, count=counted),
        repair_tool_pairs(count=counted),
    )
