"""Cases of tests/faults.jsonl that are about histories: calls and results, emptied messages, what slides."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from priompt_py import PromptTooLong, config, render, tool_definition
from priompt_py.context import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    assemble,
    default_pipeline,
    limit_messages,
    repair_tool_pairs,
)
from priompt_py.face.rendered import Rendered
from priompt_py.testing.tokenizers import CharTokenizer
from tests.context.cases import ids

CHARS = CharTokenizer()


@cache
def fault(name: str) -> dict[str, Any]:
    lines = (Path(__file__).parents[1] / "faults.jsonl").read_text("utf-8").splitlines()
    found: dict[str, Any] = next(one for one in map(json.loads, lines) if one["id"] == name)
    return found


def message(i: int, row: dict[str, Any]) -> Message:
    """A message of BC-025: role, text, calls, and the call that a tool answers."""
    if row["role"] == "tool":
        return Message(f"m{i}", "tool", ToolResultPart(row["for"], row["text"]))
    parts: list[Part] = [TextPart(row["text"])] if row["text"] else []
    parts += [ToolCallPart(call["id"], call["name"], call["args"]) for call in row.get("calls", ())]
    return Message(f"m{i}", row["role"], parts)


def request(rendered: Rendered) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = rendered.to_openai()["messages"]
    return messages


def test_a_message_with_calls_alone_is_not_empty() -> None:
    given = fault("BC-025")["input"]["messages"]
    messages = [message(i, row) for i, row in enumerate(given)]
    assert fault("BC-025")["expected"]["messages"].startswith("all four kept, in order")
    after, report = default_pipeline()(messages)
    assert after == messages
    assert not any(one.dropped for one in report.passes)
    sent = request(render(assemble(messages, window=1_000).node, token_limit=1_000))
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "user"]
    assert sent[2]["content"] == ""


def test_no_call_without_its_result() -> None:
    head = Message("a1", "assistant", [TextPart("let me look"), ToolCallPart("c1", "look")])
    rest = [Message("u2", "user", "U2"), Message("a2", "assistant", "A2"), Message("u3", "user", "U3")]
    messages = [Message("u1", "user", "U1"), head, *rest]  # the result went before: over its own cap
    after, _ = default_pipeline()(messages)
    assert ids(after) == ["u1", "a1", "u2", "a2", "u3"]
    assert after[1].parts == (TextPart("let me look"),)
    whole = [messages[0], head, Message("t1", "tool", ToolResultPart("c1", "r")), *rest]
    for most in range(6):  # whatever is cut, a call goes with its result
        kept = ids(limit_messages(n=most)(whole).messages)
        assert ("a1" in kept) == ("t1" in kept)


def test_where_nothing_is_to_be_trimmed_nothing_is_lost() -> None:
    assert fault("BC-067")["expected"]["messages"] == "identical to the input, equal element by element"
    messages = [
        Message("s", "system", "S"),
        Message("u", "user", "U1"),
        Message("a", "assistant", ToolCallPart("c1", "look", '{"a": 1}')),
        Message("t", "tool", ToolResultPart("c1", "R")),
    ]
    assert default_pipeline(max_messages=1_000)(messages)[0] == messages
    assert [one["role"] for one in request(render(assemble(messages, window=1_000).node, token_limit=1_000))] == [
        "system", "user", "assistant", "tool",
    ]  # fmt: skip


def test_an_id_that_comes_twice_in_a_message_is_named() -> None:
    assert fault("BC-069")["expected"]["accept_any_of"][0] == "error naming the message and the repeated id"
    with pytest.raises(ValueError, match="message 'a': two calls of the id 'x'"):
        Message("a", "assistant", [ToolCallPart("x", "f"), ToolCallPart("x", "f")])
    with pytest.raises(ValueError, match="needs id, got an empty text"):
        ToolCallPart("", "f")
    one = [Message("a", "assistant", ToolCallPart("x", "f"))]
    results = [Message(f"t{i}", "tool", ToolResultPart("x", f"R{i}")) for i in range(2)]
    result = repair_tool_pairs()([*one, *results])
    assert ids(result.messages) == ["a", "t0"]
    assert [drop.reason for drop in result.report.dropped] == ["duplicate-result"]


def test_emptied_messages_are_not_sent_where_blanks_are_refused() -> None:
    messages = [
        Message("a", "assistant", " \n"),
        Message("b", "assistant", [TextPart(" "), ToolCallPart("c1", "look")]),
        Message("t", "tool", ToolResultPart("c1", "R")),
        Message("u", "user", "q"),
    ]
    node = [
        assemble(messages, window=1_000).node,
        tool_definition(name="look"),
        config(max_response_tokens=5),
    ]
    sent = render(node, token_limit=1_000).to_anthropic(lead_with_user="Hello")["messages"]
    assert sent == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "R"}, {"type": "text", "text": "q"}]},
    ]  # fmt: skip
    assert messages[0].text == " \n"


def test_a_call_left_open_goes_and_its_neighbour_stays() -> None:
    assert (
        "call c2 removed from the assistant message, c1/R1 kept"
        in fault("BC-111")["expected"]["accept_any_of"]
    )
    messages = [
        Message("u1", "user", "U1"),
        Message("a", "assistant", [ToolCallPart("c1", "f"), ToolCallPart("c2", "g")]),
        Message("t", "tool", ToolResultPart("c1", "R1")),
        Message("u2", "user", "U2"),
    ]
    assembly = assemble(messages, window=1_000)
    assert [call.id for call in assembly.messages[1].calls] == ["c1"]
    (drop,) = [drop for one in assembly.report.passes for drop in one.dropped]
    assert (drop.message_id, drop.part, drop.reason, drop.detail) == (
        "a", 1, "unanswered-call", "g (c2), without a result",
    )  # fmt: skip
    with pytest.raises(ValueError, match="needs call_id, got an empty text"):
        ToolResultPart("", "x")


def test_an_oversized_result_of_the_newest_turn() -> None:
    size = 5_000_000
    messages = [
        Message("s", "system", "s" * 10),
        Message("u", "user", "u" * 20),
        Message("a", "assistant", ToolCallPart("c1", "look1234", "{}")),
        Message("t", "tool", ToolResultPart("c1", "r" * size)),
    ]
    began = time.process_time()
    assembly = assemble(messages, window=200, tokenizer=CHARS)
    tight = render(assembly.node, token_limit=200, tokenizer=CHARS)
    assert time.process_time() - began < 2
    assert tight.token_count <= 200
    assert [one["role"] for one in request(tight)] == ["system", "user", "assistant", "tool"]
    assert request(tight)[3]["content"] == "[result left out; call the tool again if it is needed]"
    wide = request(render(assembly.node, token_limit=3_000, tokenizer=CHARS))[3]["content"]
    assert wide.startswith("r" * 900)
    assert wide.count("[...]") == 1
    assert 1_800 < len(wide) <= 2_000
    with pytest.raises(PromptTooLong):
        render(assembly.node, token_limit=40, tokenizer=CHARS)


def test_a_window_that_slides_in_steps() -> None:
    assert fault("BC-083")["input"]["limit"] == 10
    history = [Message(f"m{i}", "user" if i % 2 == 0 else "assistant", f"{i}") for i in range(30)]
    starts: list[str] = []
    for size in range(1, 31):
        kept = limit_messages(n=9, sticky=True)(history[:size]).messages
        assert len(kept) <= 10
        starts.append(kept[0].id)
    moves = [i for i in range(10, 30) if starts[i] != starts[i - 1]]
    assert len(moves) <= len(range(10, 30)) / 3 + 1
    assert starts[-1] != "m0"
