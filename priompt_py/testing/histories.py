"""Message histories as APIs give and take them, with tool calls that are answered."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.testing.leaves import texts

__all__ = ["message_histories"]

Message = dict[str, Any]

_TOOLS = ("now", "search", "read_file")


def message_histories(
    *, max_turns: int = 4, tools: bool = True, system: bool = True
) -> SearchStrategy[list[Message]]:
    """Histories in OpenAI's form: a system message or none, then turns of a user and an assistant.

    With ``tools``, the assistant may call tools first, one or several at once and in several rounds: every call has an
    id of its own and is answered by one tool message right after it, in any order. At most ``max_turns`` turns; they
    shrink to none. ``from_openai`` makes elements of them.
    """
    return _histories(max_turns, tools, system)


@st.composite
def _histories(draw: st.DrawFn, max_turns: int, tools: bool, system: bool) -> list[Message]:  # noqa: FBT001
    messages: list[Message] = []
    if system and draw(st.booleans()):
        messages.append({"role": "system", "content": draw(texts())})
    number = 0
    for _ in range(draw(st.integers(0, max_turns))):
        messages.append({"role": "user", "content": draw(texts())})
        for _ in range(draw(st.integers(0, 2)) if tools else 0):
            names = draw(st.lists(st.sampled_from(_TOOLS), min_size=1, max_size=3))
            ids = [f"call_{number + at}" for at in range(len(names))]
            number += len(names)
            calls = [
                {"id": each, "type": "function", "function": {"name": name, "arguments": draw(_arguments())}}
                for each, name in zip(ids, names, strict=True)
            ]
            messages.append({"role": "assistant", "content": draw(st.none() | texts()), "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": each, "content": draw(texts())}
                for each in draw(st.permutations(ids))
            ]
        messages.append({"role": "assistant", "content": draw(texts())})
    return messages


def _arguments() -> SearchStrategy[str]:
    """Arguments of a call, as the JSON text that models send."""
    values = texts(max_words=2) | st.integers(0, 9)
    return st.dictionaries(st.sampled_from(("query", "path")), values, max_size=2).map(json.dumps)
