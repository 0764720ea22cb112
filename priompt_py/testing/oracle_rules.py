"""The oracle's rules of structure: what may stand where, and which calls and results belong together."""

from __future__ import annotations

from itertools import combinations

from priompt_py.errors import StructureError
from priompt_py.model import elements as el
from priompt_py.model.prompt import Tool
from priompt_py.testing.oracle_tree import Spot, message_of, spots

__all__ = ["check_structure", "exclusive", "is_result", "results_of", "sent_of"]


def check_structure(root: Spot, *, pair_tools: bool) -> bool:
    """Raise StructureError where elements stand where they may not; say whether the tree is a chat."""
    everything = list(spots(root))
    chat = any(spot.kind == "message" for spot in everything)
    for spot in everything:
        message = _message_around(spot)
        if spot.kind == "message" and message is not None:
            raise StructureError(f"{spot.path}: a message inside a message")
        if spot.kind == "image" and (message is None or message.role not in ("user", "tool")):
            raise StructureError(f"{spot.path}: an image stands in a user message or a tool message")
        if spot.kind == "part" and message is None:
            raise StructureError(f"{spot.path}: a part stands in a message")
        if spot.text and chat and message is None:
            if spot.text.strip():
                raise StructureError(f"{spot.path}: text beside messages")
            spot.silent = True
    _check_tools(everything)
    if pair_tools:
        _check_pairs(everything)
    return chat


def _check_tools(everything: list[Spot]) -> None:
    tools = [spot for spot in everything if spot.kind == "tool_definition"]
    for a, b in combinations(tools, 2):
        one, other = a.element, b.element
        assert isinstance(one, el.ToolDefinition)
        assert isinstance(other, el.ToolDefinition)
        if one.name == other.name and sent_of(one) != sent_of(other) and not exclusive(a, b):
            raise StructureError(f"{b.path}: another tool has the name {one.name!r} already")


def sent_of(tool: el.ToolDefinition) -> Tool:
    """What goes to the provider of a tool definition: two that are alike in it are equal."""
    return Tool(tool.name, tool.description, tool.parameters, tool.strict)


def _check_pairs(everything: list[Spot]) -> None:
    calls = [spot for spot in everything if spot.kind == "calls"]
    results = [spot for spot in everything if is_result(spot)]
    named = [(spot, call.id) for spot in calls for call in message_of(spot).tool_calls]
    for where in (named, [(spot, message_of(spot).tool_call_id) for spot in results]):
        for spot, name in where:
            if not name:
                raise StructureError(f"{spot.path}: an empty id")
        for (a, one), (b, other) in combinations(where, 2):
            if one == other and not exclusive(a, b):
                raise StructureError(f"{b.path}: the id {one!r} is repeated")
    for spot, name in named:
        if not results_of(spot, name, everything):
            raise StructureError(f"{spot.path}: the call {name!r} has no result")
    for result in results:
        name = message_of(result).tool_call_id
        if not any(other == name and result in results_of(spot, name, everything) for spot, other in named):
            raise StructureError(f"{result.path}: no call {name!r} stands before this result")


def results_of(calls: Spot, name: str | None, everything: list[Spot]) -> list[Spot]:
    """The tool messages that can answer the id ``name`` of these calls: later, in the same isolate or none."""
    after = everything[everything.index(calls) + 1 :]
    return [
        spot
        for spot in after
        if is_result(spot)
        and message_of(spot).tool_call_id == name
        and _world(spot) is _world(calls)
        and not exclusive(calls, spot)
    ]


def is_result(spot: Spot) -> bool:
    """Whether this is the spot of a tool message."""
    return spot.kind == "message" and message_of(spot).role == "tool"


def exclusive(a: Spot, b: Spot) -> bool:
    """Whether two spots can never be in together: they stand in different alternatives of one first."""
    line_a, line_b = _line(a), _line(b)
    meeting = [x for x, y in zip(line_a, line_b, strict=False) if x is y]
    apart = len(meeting) < min(len(line_a), len(line_b))
    return apart and meeting[-1].kind in ("first", "alternatives")


def _line(spot: Spot) -> list[Spot]:
    """From the root down to ``spot``."""
    return [spot] if spot.parent is None else [*_line(spot.parent), spot]


def _world(spot: Spot) -> Spot:
    """The root or the nearest isolate's content around a spot."""
    return next(x for x in reversed(_line(spot)) if x.kind in ("root", "content"))


def _message_around(spot: Spot) -> el.Message | None:
    inside = [x for x in _line(spot)[:-1] if x.kind == "message"]
    return message_of(inside[-1]) if inside else None
