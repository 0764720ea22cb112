"""Passes that leave out what a model shouldn't see: unfinished messages, markers, failed turns, compacted history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import attrs

from priompt_py.author.checks import got, wrong_type
from priompt_py.context.messages import CompactionPoint, Message
from priompt_py.context.passes.units import Count, Pass, Removal, checked, finish, units, without
from priompt_py.context.reports import PassResult

__all__ = ["applicable_point", "apply_compaction", "drop_errors", "drop_ineligible"]


def drop_ineligible(*, count: Count | None = None) -> Pass:
    """Drops messages that are still being generated, and markers of the user interface; a tool unit goes whole.

    ``count(text)`` gives tokens for the report, as in every pass.
    """

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("drop_ineligible", messages)
        gone = {
            i: Removal("ineligible", "still being generated" if message.generating else "hidden")
            for i, message in enumerate(before)
            if message.generating or message.hidden
        }
        after, dropped = without(before, gone, stage="drop_ineligible")
        return finish("drop_ineligible", before, after, count=count, dropped=dropped)

    return run


def drop_errors(*, count: Count | None = None) -> Pass:
    """Drops messages of failed turns (``Message.error``); a tool unit goes whole.

    A result that is an error (``ToolResultPart.is_error``) is none of these: the model has to know of it.
    """

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("drop_errors", messages)
        gone = {
            i: Removal("error", message.error)
            for i, message in enumerate(before)
            if message.error is not None
        }
        after, dropped = without(before, gone, stage="drop_errors")
        return finish("drop_errors", before, after, count=count, dropped=dropped)

    return run


def apply_compaction(*, points: Iterable[CompactionPoint] = (), count: Count | None = None) -> Pass:
    """Puts the summary of the newest point that applies in place of what it stands for.

    A point applies if its boundary and its summary are both among the messages; of several that with the greatest
    ``created_at`` counts, among equals the first. Then come: of what stands up to the boundary, system, developer and
    pinned messages, in order; the summary; what follows the boundary without other summaries. Without such a point all
    stay but summaries, which stand for nothing then. A tool unit that the boundary parts stays whole.
    """
    given_points = cast("object", points)
    if isinstance(given_points, (str, bytes)) or not isinstance(given_points, Iterable):
        raise wrong_type("points", f"apply_compaction() needs a list of points, got {got(points)}")
    given = tuple(points)
    for i, point in enumerate(given):
        if not isinstance(cast("object", point), CompactionPoint):
            raise wrong_type(
                "points", f"apply_compaction(): points[{i}] is no CompactionPoint, got {got(point)}"
            )

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("apply_compaction", messages)
        point = applicable_point(before, given)
        if point is None:
            gone = {
                i: Removal("compacted", "a summary without a point that applies")
                for i, message in enumerate(before)
                if message.is_summary and not message.pinned
            }
            after, dropped = without(before, gone, stage="apply_compaction")
            return finish("apply_compaction", before, after, count=count, dropped=dropped)
        gone, first = _compacted(before, point)
        summary = next(i for i, message in enumerate(before) if message.id == point.summary_id)
        gone[summary] = Removal("compacted")  # and put in its place below
        kept, dropped = without(before, gone, stage="apply_compaction")
        ids = {message.id for message in before[:first]}
        place = sum(message.id in ids for message in kept)
        kept.insert(place, attrs.evolve(before[summary], is_summary=True))
        dropped = [drop for drop in dropped if drop.message_id != point.summary_id]
        return finish("apply_compaction", before, kept, count=count, dropped=dropped)

    return run


def applicable_point(
    messages: Sequence[Message], points: Iterable[CompactionPoint]
) -> CompactionPoint | None:
    """The point that counts for these messages, or None."""
    ids = {message.id for message in messages}
    there = [point for point in points if point.boundary_id in ids and point.summary_id in ids]
    return max(there, key=lambda point: point.created_at, default=None)


def _compacted(messages: Sequence[Message], point: CompactionPoint) -> tuple[dict[int, Removal], int]:
    """What goes by index, and the index of the first message behind the boundary, where units stay whole."""
    boundary = next(i for i, message in enumerate(messages) if message.id == point.boundary_id)
    first = boundary + 1
    for unit in units(messages):
        if unit.start < first < unit.stop:
            first = unit.start
    gone: dict[int, Removal] = {}
    for unit in units(messages):
        if any(messages[i].pinned or messages[i].role in ("system", "developer") for i in unit):
            continue
        for i in unit:
            if messages[i].is_summary:
                gone[i] = Removal("compacted", "another summary")
            elif i < first:
                gone[i] = Removal("compacted", f"in {point.summary_id}")
    return gone, first
