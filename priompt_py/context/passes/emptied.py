"""What becomes of messages that lost parts: none is left empty, since providers refuse empty messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from priompt_py.context.messages import ImagePart, Message, OpaquePart, TextPart, ToolCallPart, ToolResultPart
from priompt_py.context.passes.units import is_kept_always
from priompt_py.context.reports import Drop

__all__ = ["is_empty", "settle"]


def is_empty(message: Message) -> bool:
    """Whether it has nothing to send: no visible text, picture, call, result, other part or attachment."""
    if message.attachments:
        return False
    return not any(
        bool(part.text.strip())
        if isinstance(part, TextPart)
        else isinstance(part, (ImagePart, ToolCallPart, ToolResultPart, OpaquePart))
        for part in message.parts
    )


def settle(
    messages: Sequence[Message], shrunk: Mapping[int, Message], *, placeholder: str, stage: str
) -> tuple[list[Message], list[Drop]]:
    """The messages with those that lost parts in their place, and a drop for each that goes.

    ``shrunk`` are these by index. One that is left empty goes if its turn (from one user message to the next) still
    has an assistant message that isn't; else, or if it is protected, it gets the one text ``placeholder``.
    """
    if not shrunk:
        return list(messages), []
    after: list[Message] = []
    dropped: list[Drop] = []
    for turn in _turns(messages):
        now = {i: shrunk.get(i, messages[i]) for i in turn}
        speaks = any(now[i].role == "assistant" and not is_empty(now[i]) for i in turn)
        for i in turn:
            message = now[i]
            if i in shrunk and is_empty(message):
                if speaks and not is_kept_always(message):
                    dropped.append(Drop(message.id, None, stage, "emptied", "its turn says more"))
                    continue
                speaks = True
                parts = [part for part in message.parts if not isinstance(part, TextPart)]
                message = attrs.evolve(message, parts=(*parts, TextPart(placeholder)))
            after.append(message)
    return after, dropped


def _turns(messages: Sequence[Message]) -> list[list[int]]:
    turns: list[list[int]] = [[]]
    for i, message in enumerate(messages):
        if message.role == "user":
            turns.append([])
        turns[-1].append(i)
    return turns
