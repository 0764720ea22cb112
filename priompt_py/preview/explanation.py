"""What ``priompt explain`` says: a table of what is in and out, and why one element is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from priompt_py.face.drawing import REASONS
from priompt_py.face.rows import Line, StyleName, cut, cut_start
from priompt_py.face.visible import in_one_line, priority_text, tokens_text
from priompt_py.model.curve import Curve, LimitRange, Why
from priompt_py.model.elements import BASE_PRIORITY, Number
from priompt_py.model.outcome import Decision, Reason

__all__ = ["table_lines", "why_lines"]

_ISOLATE = re.compile(r"^(.*? > \d+:isolate(?:\[[^\]]*\])?) > ")
"""The outermost isolate in the path of what stands in it."""

_WIDE = 80  # cells in which a row has room for a path and a whole reason

_BRIEF: dict[Reason, str] = {
    "included": "in",
    "below_cutoff": "below cutoff",
    "parent_out": "parent is out",
    "not_chosen": "another is in",
    "over_max": "over ceiling",
    "pair_out": "its pair is out",
}


def table_lines(
    decisions: Sequence[Decision], curve: Curve, width: int, *, plain: bool = False
) -> Iterator[Line]:
    """A row for each decision, the highest priorities first, what is in an isolate with that isolate, and what is in a max
    not above that max.

    ``total`` is the count of the whole prompt when the row's level is the cutoff, with what is reserved: where it passes
    the limit is where the cutoff had to stop. It is not told of what is in an isolate, whose levels are its own.
    """
    rows = _rows(decisions)
    wide = [8, 5, 7, 7]
    counts = [f"{row.tokens:,}" for row, _, _ in rows]  # a decision counts each time it is asked
    wide[0] = max([8, *(len(priority_text(row.effective_priority)) for row, _, _ in rows)])
    wide[2] = max([6, *map(len, counts)])
    wide[3] = max([6, *(len(f"{point.tokens:,}") for point in curve.points)])
    head = f"{'priority':>{wide[0]}}  {'':<3}  {'tokens':>{wide[2]}}  {'total':>{wide[3]}}  element"
    yield [(head, "title")]
    drawn = curve.cutoff is None
    for (row, level, is_inside), count in zip(rows, counts, strict=True):
        if not drawn and curve.cutoff is not None and level < curve.cutoff:
            drawn = True
            yield [(_limit_line(curve, width, plain=plain), "frame")]
        total = "" if is_inside else f"{curve.at(min(level, BASE_PRIORITY)).tokens:,}"
        facts = (
            f"{priority_text(row.effective_priority if is_inside else level):>{wide[0]}}  {'in' if row.included else 'out':<3}  "
            f"{count:>{wide[2]}}  {total:>{wide[3]}}  "
        )
        style: StyleName = "text" if row.included else "out"
        reasons = REASONS if width >= _WIDE else _BRIEF
        reason = "" if row.included else f"  {reasons[row.reason]}"
        room = max(10, width - len(facts) - len(reason))
        if row.label:
            name = cut(in_one_line(f"{row.label} ({row.path})"), room, plain=plain)
        else:
            name = cut_start(in_one_line(row.path), room, plain=plain)
        yield [(facts, style), (name, style), (reason, "out")]
    if not drawn:
        yield [(_limit_line(curve, width, plain=plain), "frame")]


def _rows(decisions: Sequence[Decision]) -> list[tuple[Decision, Number, bool]]:
    """Each decision with the level of the prompt that it belongs to, and whether it is in an isolate."""
    limits = {one.path: one for one in decisions if one.kind in ("isolate", "max")}
    ceilings: dict[str, Number] = {}  # of maxes, with those around them
    rows: list[tuple[Decision, Number, bool]] = []
    for decision in decisions:
        path = decision.path
        found = _ISOLATE.match(path)
        outer = limits.get(found[1]) if found else None
        level = (outer or decision).effective_priority
        around = path if outer is None else outer.path
        while " > " in around:  # a max's content is in at the max's own priority at the most
            around = around.rpartition(" > ")[0]
            if around in ceilings:
                level = min(level, ceilings[around])
                break
        if decision.kind == "max":
            ceilings[path] = level
        rows.append((decision, level, outer is not None))
    return sorted(rows, key=_falling)


def _falling(row: tuple[Decision, Number, bool]) -> Number:
    return -row[1]


def _limit_line(curve: Curve, width: int, *, plain: bool) -> str:
    assert curve.cutoff is not None
    cutoff = "base" if curve.cutoff >= BASE_PRIORITY else priority_text(curve.cutoff)
    said = f" cutoff {cutoff}, limit {curve.token_limit:,} "
    line = "-" if plain else "─"
    return f"{line * 8}{said}{line * max(0, min(width, 80) - 8 - len(said))}"


# ------------------------------------------------------------------------------------------ why


def why_lines(found: Sequence[Why], limit: int, *, fits: bool = True) -> Iterator[Line]:
    """For each element what became of it, why, and at which limits it is in. ``fits``: whether the prompt fits its limit;
    else nothing is in, and the decisions are those under the smallest limit that works."""
    for why in found:
        decision = why.decision
        title = in_one_line(f"{decision.label} ({decision.path})" if decision.label else decision.path)
        yield [(title, "title")]
        priority = priority_text(decision.effective_priority)
        declared = priority_text(decision.priority)
        if declared != priority:
            priority += f" (its own is {declared}; what is around it has less)"
        state = "in" if decision.included else f"out, {REASONS[decision.reason]}"
        tokens = tokens_text(decision.tokens)
        if not fits:
            state = "out, since the prompt doesn't fit"
        yield [(f"  under the limit of {limit:,}: {state}; priority {priority}; {tokens}", "text")]
        yield [(f"  {_limits(why, limit)}", "text")]


def _limits(why: Why, limit: int) -> str:
    if why.smallest_limit is None:
        if why.is_searched:
            return "no limit was found at which it is in"
        return "it is in under no limit"
    start = f"it comes in at a limit of {why.smallest_limit:,}{_distance(why.smallest_limit, limit)}"
    if why.is_searched:
        return f"{start}; found by trying, since limits in this prompt depend on its own"
    rest = [_range(one) for one in why.ranges]
    if rest == [f"from {why.smallest_limit:,} on"]:
        return start
    return f"{start}; it is in under limits {' and '.join(rest)}"


def _range(one: LimitRange) -> str:
    return f"from {one.start:,} on" if one.end is None else f"from {one.start:,} to {one.end - 1:,}"


def _distance(smallest: int, limit: int) -> str:
    if smallest > limit:
        return f", {smallest - limit:,} more than now"
    return f", {limit - smallest:,} less than now" if smallest < limit else ", the present one"
