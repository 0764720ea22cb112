"""Rules that hold for a whole tree, whatever the cutoff: checked before any search."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from priompt_py.errors import StructureError
from priompt_py.model.elements import ToolDefinition
from priompt_py.model.ops import Choices, Compiled, Ops, ToolRecord, UnitRecord
from priompt_py.model.place import ROOT, Place

__all__ = [
    "can_be_together",
    "check_tools",
    "check_units",
    "drop_text_beside_messages",
    "partners",
    "same_tool",
]


def can_be_together(a: Choices, b: Choices) -> bool:
    """Whether both can be in at once: they don't stand in different alternatives of one first."""
    return all(one == other for one, other in zip(a, b, strict=False) if one[0] == other[0])


def drop_text_beside_messages(compiled: Compiled) -> None:
    """Blank text between the messages of a chat becomes empty; other text there is an error."""
    for ops in compiled.ops.nested():
        if ops.in_message:
            continue
        position = 0
        for start, end in zip(ops.starts, ops.ends, strict=True):
            if position < start:
                _drop_text(compiled, ops, position, start)
            position = end + 1
        _drop_text(compiled, ops, position, len(ops.leaves))


def _drop_text(compiled: Compiled, ops: Ops, start: int, end: int) -> None:
    if str not in map(type, ops.leaves[start:end]):  # the usual case, quickly
        return
    for index in range(start, end):
        leaf = ops.leaves[index]
        if not isinstance(leaf, str) or any(index in hidden for hidden in ops.hidden):
            continue
        if leaf.strip():
            shown = repr(leaf if len(leaf) <= 40 else leaf[:37] + "...")
            raise StructureError(
                f"{path_of_leaf(compiled, ops, index)}: the text {shown} stands beside messages; "
                "put it into a message"
            )
        ops.leaves[index] = ""


def path_of_leaf(compiled: Compiled, ops: Ops, index: int) -> str:
    """The path of the innermost entry that holds a leaf; ``root`` where the walk kept no entries."""
    for number in range(len(compiled.entries) - 1, -1, -1):
        entry = compiled.entries[number]
        if entry.ops is ops and entry.start <= index < entry.end:
            return path_of_entry(compiled, number)
    return "root"


def path_of_entry(compiled: Compiled, number: int) -> str:
    """The path of an entry from the root."""
    steps: list[str] = []
    while number >= 0:
        steps.append(compiled.entries[number].segment)
        number = compiled.entries[number].parent
    return " > ".join(["root", *reversed(steps)])


def places(compiled: Compiled) -> list[Place]:
    """The place of each entry."""
    found: list[Place] = []
    for entry in compiled.entries:
        found.append(Place(entry.segment, ROOT if entry.parent < 0 else found[entry.parent]))
    return found


def check_tools(tools: Sequence[ToolRecord]) -> None:
    """Two definitions of one name that can be in together have to be equal."""
    by_name: dict[str, list[ToolRecord]] = defaultdict(list)
    for tool in tools:
        for other in by_name[tool.element.name]:
            if not same_tool(other.element, tool.element) and can_be_together(other.choices, tool.choices):
                raise StructureError(
                    f"{tool.path}: the tool {tool.element.name!r} is defined otherwise at {other.path}; "
                    "two definitions of one name can't be in together unless they are equal"
                )
        by_name[tool.element.name].append(tool)


def same_tool(a: ToolDefinition, b: ToolDefinition) -> bool:
    """Whether two definitions of one name are sent alike: to the letter, since True is not 1 in JSON."""
    return (a.description, a.strict, a.parameters) == (
        b.description,
        b.strict,
        b.parameters,
    ) and json.dumps(a.parameters, sort_keys=True) == json.dumps(b.parameters, sort_keys=True)


def partners(ops: Ops) -> list[tuple[UnitRecord, dict[str, list[UnitRecord]]]]:
    """Each message with tool calls, with the results that answer each of its ids: those that stand
    after it and can be in together with it."""
    results: dict[str, list[tuple[int, UnitRecord]]] = defaultdict(list)
    for number, record in enumerate(ops.units):
        if record.message.tool_call_id is not None:
            results[record.message.tool_call_id].append((number, record))
    units: list[tuple[UnitRecord, dict[str, list[UnitRecord]]]] = []
    for number, record in enumerate(ops.units):
        if record.message.tool_calls:
            answers = {
                call.id or "": [
                    result
                    for later, result in results[call.id or ""]
                    if later > number and can_be_together(record.choices, result.choices)
                ]
                for call in record.message.tool_calls
            }
            units.append((record, answers))
    return units


def check_units(root: Ops) -> None:
    """Calls and results belong together: see the rules in each message."""
    everywhere = [(ops, record) for ops in root.nested() for record in ops.units]
    call_places: dict[str, list[Ops]] = defaultdict(list)
    result_places: dict[str, list[Ops]] = defaultdict(list)
    for ops, record in everywhere:
        for call in record.message.tool_calls:
            call_places[call.id or ""].append(ops)
        if record.message.role == "tool":
            result_places[record.message.tool_call_id or ""].append(ops)
    for ops in root.nested():
        _check_ids(ops)
        _check_partners(ops, call_places, result_places)


def _check_partners(
    ops: Ops,
    call_places: Mapping[str, Sequence[Ops]],
    result_places: Mapping[str, Sequence[Ops]],
) -> None:
    """Every call has a result that can be in with it, and every result such a call before it."""
    calls: dict[str, list[UnitRecord]] = defaultdict(list)
    results: dict[str, list[UnitRecord]] = defaultdict(list)
    for record in ops.units:
        if record.message.role == "tool":
            results[record.message.tool_call_id or ""].append(record)
    for record in ops.units:
        message = record.message
        for call in message.tool_calls:
            call_id = call.id or ""
            if not _has_partner(record, results[call_id]):
                raise StructureError(
                    f"{record.path}: the tool call {call_id!r} has no result; "
                    f"put tool_message(tool_call_id={call_id!r}) after it"
                    + _why(results[call_id], result_places.get(call_id, ()), ops)
                )
            calls[call_id].append(record)
        if message.role == "tool" and not _has_partner(record, calls[message.tool_call_id or ""]):
            call_id = message.tool_call_id or ""
            raise StructureError(
                f"{record.path}: the tool result {call_id!r} has no call before it"
                + _why(calls[call_id], call_places.get(call_id, ()), ops)
            )


def _has_partner(record: UnitRecord, partners: Sequence[UnitRecord]) -> bool:
    return any(can_be_together(record.choices, partner.choices) for partner in partners)


def _why(partners: Sequence[UnitRecord], places: Sequence[Ops], ops: Ops) -> str:
    if partners:
        return f" that can be in together with it: {partners[0].path} can't"
    return _border(places, ops)


def _border(places: Sequence[Ops], ops: Ops) -> str:
    if any(place is not ops for place in places):
        return "; its partner stands on the other side of an isolate's border"
    return ""


def _check_ids(ops: Ops) -> None:
    """No id is empty, and none stands twice among what can be in together."""
    calls: dict[str, list[UnitRecord]] = defaultdict(list)
    results: dict[str, list[UnitRecord]] = defaultdict(list)
    for record in ops.units:
        message = record.message
        own: set[str] = set()
        for call in message.tool_calls:
            if not call.id:
                raise StructureError(f"{record.path}: the tool call {call.name!r} has an empty id")
            if call.id in own:
                raise StructureError(f"{record.path}: two tool calls have the id {call.id!r}")
            own.add(call.id)
            _not_twice(calls[call.id], record, f"a tool call with the id {call.id!r}")
        if message.role == "tool":
            if not message.tool_call_id:
                raise StructureError(f"{record.path}: the tool message has an empty tool_call_id")
            _not_twice(
                results[message.tool_call_id],
                record,
                f"a tool result for {message.tool_call_id!r}",
            )


def _not_twice(earlier: list[UnitRecord], record: UnitRecord, what: str) -> None:
    for other in earlier:
        if can_be_together(other.choices, record.choices):
            raise StructureError(
                f"{record.path}: {what} stands at {other.path} already, and both can be in together"
            )
    earlier.append(record)
