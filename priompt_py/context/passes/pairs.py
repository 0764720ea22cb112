"""Calls and results that belong together: what providers refuse is mended, and told."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from priompt_py.author.checks import text
from priompt_py.context.messages import Message, ReasoningPart, ToolCallPart, ToolResultPart
from priompt_py.context.passes.emptied import settle
from priompt_py.context.passes.tools import PLACEHOLDER
from priompt_py.context.passes.units import Count, Pass, checked, finish, units
from priompt_py.context.reports import Drop, PassResult, Reason

__all__ = ["repair_tool_pairs"]

_STAGE = "repair_tool_pairs"


def repair_tool_pairs(*, placeholder: str = PLACEHOLDER, count: Count | None = None) -> Pass:
    """Leaves only calls with exactly one result each, and results with a call.

    A result goes if its call isn't in the nearest assistant message before it, with tool messages alone between, and
    if it is the second of its id; then calls without a result go, also one that is still pending at the end. A result
    may stand behind its call in the assistant message itself. A message that is left empty goes if its turn says more,
    else it says ``placeholder``; a tool message that is left without results goes, even a pinned one: no provider
    takes it.
    """
    placeholder = text(_STAGE, "placeholder", placeholder)

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked(_STAGE, messages)
        dropped: list[Drop] = []
        shrunk: dict[int, Message] = {}
        gone: set[str] = set()
        for unit in units(before):
            answered: set[str] = set()
            calls = {call.id for call in before[unit.start].calls}
            for i in unit:
                out = _wrong_results(before[i], calls, answered, dropped)
                if before[i].role == "tool" and len(out) == len(before[i].results):
                    gone.add(before[i].id)
                elif out:
                    shrunk[i] = _without(before[i], out)
            head = shrunk.get(unit.start, before[unit.start])
            if calls - answered:
                ended = unit.stop == len(before)
                shrunk[unit.start] = _without_calls(before[unit.start], head, answered, dropped, ended=ended)
        after, emptied = settle(before, shrunk, placeholder=placeholder, stage=_STAGE)
        order = {message.id: i for i, message in enumerate(before)}
        return finish(
            _STAGE,
            before,
            [message for message in after if message.id not in gone],
            count=count,
            dropped=sorted([*dropped, *emptied], key=lambda drop: order[drop.message_id]),
        )

    return run


def _wrong_results(message: Message, calls: set[str], answered: set[str], dropped: list[Drop]) -> set[int]:
    """The places of results that go; those that stay are added to ``answered``, drops to ``dropped``."""
    found: dict[int, Drop] = {}
    made: set[str] = set()  # calls before the result, where both stand in one message
    for k, part in enumerate(message.parts):
        if isinstance(part, ToolCallPart):
            made.add(part.id)
        elif isinstance(part, ToolResultPart):
            known = part.call_id in (calls if message.role == "tool" else made)
            if known and part.call_id not in answered:
                answered.add(part.call_id)
                continue
            reason: Reason = "duplicate-result" if known else "orphan-result"
            found[k] = Drop(message.id, k, _STAGE, reason, f"of call {part.call_id}")
    if message.role == "tool" and len(found) == len(message.results):
        detail = f"of call {', '.join(result.call_id for result in message.results)}"
        dropped.append(attrs.evolve(next(iter(found.values())), part=None, detail=detail))
    else:
        dropped += found.values()
    return set(found)


def _without(message: Message, places: set[int]) -> Message:
    return attrs.evolve(message, parts=tuple(part for k, part in enumerate(message.parts) if k not in places))


def _without_calls(
    given: Message, now: Message, answered: set[str], dropped: list[Drop], *, ended: bool
) -> Message:
    """``now`` without the calls that nothing answers, and without reasoning if no call is left."""
    detail = "pending at the end" if ended else "without a result"
    for k, part in enumerate(given.parts):
        if isinstance(part, ToolCallPart) and part.id not in answered:
            dropped.append(Drop(given.id, k, _STAGE, "unanswered-call", f"{part.name} ({part.id}), {detail}"))
        elif isinstance(part, ReasoningPart) and not answered:
            dropped.append(Drop(given.id, k, _STAGE, "unanswered-call", "reasoning of calls without results"))
    return attrs.evolve(
        now,
        parts=tuple(
            part
            for part in now.parts
            if not (isinstance(part, ToolCallPart) and part.id not in answered)
            and not (isinstance(part, ReasoningPart) and not answered)
        ),
    )
