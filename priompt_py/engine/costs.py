"""What several leaves bring about together: tool units, and costs that belong to no leaf alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from priompt_py.engine.closed import Closed
from priompt_py.engine.cutoff_sets import Sets
from priompt_py.engine.intervals import CutoffSet, intersect, union
from priompt_py.engine.pricing import Pricing
from priompt_py.engine.structure import partners, same_tool
from priompt_py.model.elements import Message
from priompt_py.model.ops import CallsOp, ImageOp, Leaf, MessageStart, Ops, PartOp, ToolOp

__all__ = ["chat_costs", "close_units", "tool_costs"]


def close_units(ops: Ops, sets: Sets, closed: dict[int, Closed]) -> None:
    """Tool calls and results are in together or not at all."""
    allowed: dict[int, list[CutoffSet]] = defaultdict(list)
    for record, answers in partners(ops):
        together: CutoffSet = sets.get(record.start) if record.present else ()
        for results in answers.values():
            together = intersect(together, union(sets.get(r.start) for r in results if r.present))
        for results in answers.values():
            for result in results:
                allowed[id(result)].append(together)
        if record.present:
            span = range(record.start, record.end + 1)
            shows = union(sets.get(i) for i in span if _is_visible(ops.leaves[i], closed.get(i)))
            for index in span:
                leaf = ops.leaves[index]
                if isinstance(leaf, CallsOp) and not leaf.legacy:
                    sets.limit_to((index,), together)
            sets.limit_to(span, union((together, shows)))
    for record in ops.units:
        if record.message.role == "tool" and record.present:
            sets.limit_to(range(record.start, record.end + 1), union(allowed.get(id(record), ())))


def _is_visible(leaf: Leaf, inner: Closed | None) -> bool:
    """Whether a message with this leaf in is not blank."""
    if isinstance(leaf, str):
        return bool(leaf.strip())
    if inner is not None:
        return any(_is_visible(one, None) for one in inner.leaves)
    return isinstance(leaf, (ImageOp, PartOp)) or (isinstance(leaf, CallsOp) and leaf.legacy)


def chat_costs(ops: Ops, sets: Sets, closed: dict[int, Closed], cost: int) -> list[tuple[CutoffSet, int]]:
    """What a chat costs besides its messages, once, wherever a message is in."""
    if not cost:
        return []
    starts = [sets.get(i) for i, leaf in enumerate(ops.leaves) if isinstance(leaf, (Message, MessageStart))]
    starts += [
        sets.get(index)
        for index, inner in closed.items()
        if any(isinstance(leaf, (Message, MessageStart)) for leaf in inner.leaves)
    ]
    intervals = union(starts)
    return [(intervals, cost)] if intervals else []


def tool_costs(
    tools: Sequence[int],
    leaves: Sequence[Leaf],
    sets: Sets,
    closed: dict[int, Closed],
    pricing: Pricing,
) -> list[tuple[CutoffSet, int]]:
    """What tools cost: each name once, and the closing once, wherever a tool is in."""
    groups: list[tuple[ToolOp, list[CutoffSet]]] = []
    by_name: dict[str, list[int]] = defaultdict(list)

    def add(op: ToolOp, intervals: CutoffSet) -> None:
        for number in by_name[op.element.name]:
            if same_tool(groups[number][0].element, op.element):
                groups[number][1].append(intervals)
                return
        by_name[op.element.name].append(len(groups))
        groups.append((op, [intervals]))

    for index in tools:
        leaf = leaves[index]
        if isinstance(leaf, ToolOp):
            add(leaf, sets.get(index))
    for index, inner in closed.items():
        for leaf in inner.leaves:
            if isinstance(leaf, ToolOp):
                add(leaf, sets.get(index))
    costs: list[tuple[CutoffSet, int]] = []
    for op, intervals in groups:
        if together := union(intervals):
            costs.append((together, pricing.tool(op)))
    if costs and (closing := pricing.tools_closing()):
        costs.append((union(intervals for intervals, _ in costs), closing))
    return costs
