"""Calls and results as text, for a request that holds no tools any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from priompt_py.model.elements import Call
from priompt_py.model.prompt import ChatMessage, TextPart
from priompt_py.providers.shared import Placed, without_last_marks

__all__ = ["flattened", "holds_tools"]


def holds_tools(placed: Iterable[Placed]) -> bool:
    """Whether any message holds calls, or is a result."""
    return any(message.tool_calls or message.role == "tool" for _, message in placed)


def flattened(placed: Sequence[Placed]) -> list[Placed]:
    """The messages with their calls as text of the assistant, and results as messages of the user, in their places."""
    names: dict[str | None, str] = {}
    found: list[Placed] = []
    for place, message in placed:
        if message.role == "tool":
            found.append((place, _result(message, names.get(message.tool_call_id, "a tool"))))
            continue
        names |= {call.id: call.name for call in message.tool_calls}
        calls = [*message.tool_calls, *([message.function_call] if message.function_call else ())]
        found.append((place, _with_calls(message, calls) if calls else message))
    return found


def _with_calls(message: ChatMessage, calls: Sequence[Call]) -> ChatMessage:
    lines = "\n".join(f"[called {call.name} with {call.arguments or '{}'}]" for call in calls)
    parts, last_marks = without_last_marks(message)
    gap = "\n" if message.text.strip() else ""
    return attrs.evolve(
        message, parts=(*parts, TextPart(gap + lines), *last_marks), tool_calls=(), function_call=None
    )


def _result(message: ChatMessage, name: str) -> ChatMessage:
    what = f"[{'error' if message.is_error else 'result'} of {name}]\n"
    return attrs.evolve(
        message, role="user", parts=(TextPart(what), *message.parts), tool_call_id=None, is_error=False
    )
