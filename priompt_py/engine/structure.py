"""Rules that hold for a whole tree, whatever the cutoff: checked before any search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from priompt_py.errors import StructureError
from priompt_py.model.ops import Compiled, Location, MessageStart, Ops, ToolRecord

__all__ = ["can_be_together", "check_tools", "check_units", "drop_text_beside_messages", "partners"]


def can_be_together(a: Location, b: Location) -> bool:
    """Whether some cutoff may bring in both: nothing on their common way keeps them apart.

    In the frames that both stand in, their intervals have to meet; in a frame of one alone, its
    own interval must not be empty.
    """
    common = 0
    for (frame_a, low_a, high_a), (frame_b, low_b, high_b) in zip(a, b, strict=False):
        if frame_a != frame_b:
            break
        if max(low_a, low_b) >= min(high_a, high_b):
            return False
        common += 1
    return all(low < high for _, low, high in (*a[common:], *b[common:]))


def drop_text_beside_messages(compiled: Compiled) -> None:
    """Blank text between the messages of a chat becomes empty; other text there is an error."""
    for ops in compiled.ops.nested():
        if ops.in_message:
            continue
        position = 0
        for record in ops.messages:
            if record.present:
                _drop_text(compiled, ops, position, record.start)
                position = record.end + 1
        _drop_text(compiled, ops, position, len(ops.leaves))


def _drop_text(compiled: Compiled, ops: Ops, start: int, end: int) -> None:
    for index in range(start, end):
        leaf = ops.leaves[index]
        if isinstance(leaf, str):
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


def check_tools(tools: Sequence[ToolRecord]) -> None:
    """Two definitions of one name that can be in together have to be equal."""
    by_name: dict[str, list[ToolRecord]] = defaultdict(list)
    for tool in tools:
        for other in by_name[tool.element.name]:
            if not same_tool(other, tool) and can_be_together(other.location, tool.location):
                raise StructureError(
                    f"{tool.path}: the tool {tool.element.name!r} is defined otherwise at {other.path}; "
                    "two definitions of one name can't be in together unless they are equal"
                )
        by_name[tool.element.name].append(tool)


def same_tool(a: ToolRecord, b: ToolRecord) -> bool:
    """Whether two definitions are sent alike."""
    one, two = a.element, b.element
    return (one.description, one.parameters, one.strict) == (two.description, two.parameters, two.strict)


def partners(ops: Ops) -> list[tuple[MessageStart, dict[str, list[MessageStart]]]]:
    """Each message with tool calls, with the results that answer each of its ids: those that stand
    after it and can be in together with it."""
    results: dict[str, list[tuple[int, MessageStart]]] = defaultdict(list)
    for number, record in enumerate(ops.messages):
        if record.message.tool_call_id is not None:
            results[record.message.tool_call_id].append((number, record))
    units: list[tuple[MessageStart, dict[str, list[MessageStart]]]] = []
    for number, record in enumerate(ops.messages):
        if record.message.tool_calls:
            answers = {
                call.id or "": [
                    result
                    for later, result in results[call.id or ""]
                    if later > number and can_be_together(record.location, result.location)
                ]
                for call in record.message.tool_calls
            }
            units.append((record, answers))
    return units


def check_units(root: Ops) -> None:
    """Calls and results belong together: see the rules in each message."""
    everywhere = [(ops, record) for ops in root.nested() for record in ops.messages]
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
    ops: Ops, call_places: Mapping[str, Sequence[Ops]], result_places: Mapping[str, Sequence[Ops]]
) -> None:
    """Every call has a result in its ops, and every result a call before it."""
    answered = {record.message.tool_call_id for record in ops.messages if record.message.role == "tool"}
    called: set[str] = set()
    for record in ops.messages:
        message = record.message
        for call in message.tool_calls:
            call_id = call.id or ""
            called.add(call_id)
            if call_id not in answered:
                raise StructureError(
                    f"{record.path}: the tool call {call_id!r} has no result"
                    + _border(result_places.get(call_id, ()), ops)
                )
        if message.role == "tool" and message.tool_call_id not in called:
            raise StructureError(
                f"{record.path}: the tool result {message.tool_call_id!r} has no call before it"
                + _border(call_places.get(message.tool_call_id or "", ()), ops)
            )


def _border(places: Sequence[Ops], ops: Ops) -> str:
    if any(place is not ops for place in places):
        return "; its partner stands on the other side of an isolate's border"
    return ""


def _check_ids(ops: Ops) -> None:
    """No id is empty, and none stands twice among what can be in together."""
    calls: dict[str, list[MessageStart]] = defaultdict(list)
    results: dict[str, list[MessageStart]] = defaultdict(list)
    for record in ops.messages:
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
            _not_twice(results[message.tool_call_id], record, f"a tool result for {message.tool_call_id!r}")


def _not_twice(earlier: list[MessageStart], record: MessageStart, what: str) -> None:
    for other in earlier:
        if can_be_together(other.location, record.location):
            raise StructureError(f"{record.path}: {what} stands at {other.path} already, and both can be in together")
    earlier.append(record)
