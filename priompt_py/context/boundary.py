"""How far a conversation can be summarised: up to the turn that is still waiting for its answer, at most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from priompt_py.context.messages import CompactionPoint, Message
from priompt_py.context.passes.eligible import applicable_point

__all__ = ["find_boundary"]


def find_boundary(
    messages: Sequence[Message], points: Iterable[CompactionPoint], keep_tail_rounds: int = 0
) -> int | None:
    """The index of the last message that a new summary would stand for; None where it would stand for nothing new.

    That is the last message that is neither a summary, nor an instruction, nor left out anyway (unfinished, hidden);
    it may be one of a failed turn. Behind it stay the pending turn, which is the last user's as long as no answer
    ends it (a failed one doesn't, and neither does a call or its result), and ``keep_tail_rounds`` rounds of question
    and answer before it.
    """
    spoken = [
        index
        for index, message in enumerate(messages)
        if not (
            message.generating
            or message.hidden
            or message.is_summary
            or message.role in ("system", "developer")
        )
    ]
    end = _before_rounds(messages, spoken, _before_pending(messages, spoken), keep_tail_rounds)
    start = 0
    point = applicable_point(messages, points)
    if point is not None:
        start = next(i for i, message in enumerate(messages) if message.id == point.boundary_id) + 1
    new = [index for index in spoken[:end] if index >= start]
    if all(messages[index].error is not None for index in new):
        return None
    return new[-1]


def _before_pending(messages: Sequence[Message], spoken: Sequence[int]) -> int:
    """How many of the spoken messages stand before the pending turn."""
    last = next((n for n in reversed(range(len(spoken))) if messages[spoken[n]].role == "user"), None)
    if last is None:
        return len(spoken)
    behind = [messages[index] for index in spoken[last + 1 :] if messages[index].error is None]
    if behind and behind[-1].role == "assistant" and not _is_open(behind[-1]):
        return len(spoken)
    while last > 0 and messages[spoken[last - 1]].role == "user":
        last -= 1
    return last


def _is_open(message: Message) -> bool:
    """Whether a call of the message has no result in it."""
    answered = {result.call_id for result in message.results}
    return any(call.id not in answered for call in message.calls)


def _before_rounds(messages: Sequence[Message], spoken: Sequence[int], end: int, rounds: int) -> int:
    """How many of the first ``end`` spoken messages stand before the last ``rounds`` rounds."""
    is_open = False
    for n in range(end - 1, -1, -1):
        if rounds == 0:
            return end
        role = messages[spoken[n]].role
        if role == "assistant":
            is_open = True
        elif role == "user" and is_open:
            is_open = False
            rounds -= 1
            end = n
    return end if rounds == 0 else 0
