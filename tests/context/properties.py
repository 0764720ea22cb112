"""What holds for every chat, as functions that tell what is wrong; shared by the tests and by longer runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from priompt_py.context import Message, PassResult, ToolCallPart, ToolResultPart
from priompt_py.context.passes.emptied import is_empty
from priompt_py.context.passes.units import is_kept_always, last_user, units


def is_subsequence(inner: Sequence[str], outer: Sequence[str]) -> bool:
    rest = iter(outer)
    return all(one in rest for one in inner)


def ids(messages: Sequence[Message]) -> list[str]:
    return [one.id for one in messages]


def protected_ids(messages: Sequence[Message], *, last_turn: bool) -> set[str]:
    """Whom no pass may drop; with ``last_turn`` also all from the last user message on."""
    found = {one.id for one in messages if is_kept_always(one)}
    return found | {one.id for one in messages[last_user(messages) :]} if last_turn else found


def halves(before: Sequence[Message], after: Sequence[Message]) -> Iterator[str]:
    """Units of which a pass kept a part only."""
    there = set(ids(after))
    for unit in units(before):
        kept = [before[i].id in there for i in unit]
        if any(kept) and not all(kept):
            yield f"half of {[before[i].id for i in unit]}"


def wrong_pairs(messages: Sequence[Message]) -> Iterator[str]:
    """What a provider would refuse: calls without exactly one result, results without a call, empty messages."""
    for i, message in enumerate(messages):
        calls = [call.id for call in message.calls]
        answered: list[str] = []
        made: set[str] = set()
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                made.add(part.id)
            elif isinstance(part, ToolResultPart) and message.role == "assistant":
                if part.call_id not in made:
                    yield f"{message.id}: result before its call"
                answered.append(part.call_id)
        if message.role == "assistant":
            for later in messages[i + 1 :]:
                if later.role != "tool":
                    break
                answered += [result.call_id for result in later.results]
            if sorted(answered) != sorted(calls):
                yield f"{message.id}: calls {calls}, answered {answered}"
        if message.role == "tool":
            before = next((m for m in reversed(messages[:i]) if m.role != "tool"), None)
            known = {call.id for call in before.calls} if before is not None else set[str]()
            if not {result.call_id for result in message.results} <= known:
                yield f"{message.id}: result without a call"


def accounted(before: Sequence[Message], result: PassResult) -> Iterator[str]:
    """Whether each message that is missing is told, once, and none else."""
    told = [drop.message_id for drop in result.report.dropped if drop.part is None]
    missing = set(ids(before)) - set(ids(result.messages))
    if sorted(told) != sorted(missing):
        yield f"missing {sorted(missing)}, told {sorted(told)}"
    if result.report.kept != len(result.messages):
        yield "kept is wrong"


def newly_empty(before: Sequence[Message], after: Sequence[Message]) -> Iterator[str]:
    was = {one.id: is_empty(one) for one in before}
    yield from (f"{one.id} is empty now" for one in after if is_empty(one) and not was[one.id])
