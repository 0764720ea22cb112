"""Source maps the slow way, as the oracle of the quick one: an entry for each element and text of a recorded walk, its
leaves looked up in the solution."""

from __future__ import annotations

from priompt_py.engine.explain import Explanation
from priompt_py.model.elements import Message
from priompt_py.model.ops import IsolateOp
from priompt_py.model.place import ROOT
from priompt_py.model.source_map import Span

__all__ = ["recorded_spans"]


def recorded_spans(explanation: Explanation, text: str) -> Span:
    """The spans over a prompt's flat text."""
    entries = explanation.recorded.entries
    reasons = explanation.reasons()
    starts, end = explanation.starts()
    visible = _isolates_in(explanation)
    inside: dict[int, list[Span]] = {}
    for number in range(len(entries) - 1, -1, -1):
        entry, own = entries[number], inside.pop(number, [])
        own.reverse()
        if id(entry.ops) not in visible or reasons[number] != "included":
            continue
        places = starts[id(entry.ops)]
        start, stop = places[entry.start], places[entry.end]
        place = explanation.places[number]
        if isinstance(entry.element, Message):
            first, last = places[entry.start + 1], places[entry.end - 1]
            own = [Span(start, first, place, "frame"), *own]
            if last < stop:
                own.append(Span(last, stop, place, "frame"))
        span = Span(start, stop, place, entry.kind, entry.label, tuple(own))
        inside.setdefault(entry.parent, []).append(span)
    children = inside.get(-1, [])
    children.reverse()
    if end < len(text):
        children.append(Span(end, len(text), ROOT, "frame"))
    return Span(0, len(text), ROOT, "root", None, tuple(children))


def _isolates_in(explanation: Explanation) -> set[int]:
    """The prompt's ops and those of the isolates that are in, by identity."""
    root = explanation.recorded.ops
    visible = {id(root)}
    for ops in root.nested():
        part = explanation.solved(ops)
        if part is None or id(ops) not in visible:
            continue
        for index in ops.isolates:
            leaf = ops.leaves[index]
            if isinstance(leaf, IsolateOp) and part.on[index] and explanation.solved(leaf.ops) is not None:
                visible.add(id(leaf.ops))
    return visible
