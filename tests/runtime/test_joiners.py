"""Streams of all providers, joined: what servers send is in the files under streams/."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import ajoin_stream, join_stream
from priompt_py.errors import ModelError, ModelOutputError, RunError
from priompt_py.model.delta import CallDelta, Delta
from priompt_py.model.elements import Part
from priompt_py.model.model_output import ModelOutput, ToolCall, Usage
from priompt_py.runtime.joiners import AnyJoiner
from tests.runtime.recorded import RECORDED, Recorded, as_client_objects, split

FAULTS = {
    case["id"]: case
    for case in map(json.loads, (Path(__file__).parents[1] / "faults.jsonl").read_text("utf-8").splitlines())
}


def join(chunks: Iterable[Any]) -> ModelOutput | tuple[str, ModelOutput]:
    """The answer, or the error and what came before it."""
    try:
        return join_stream(chunks)
    except ModelError as error:
        return (str(error), error.output)


def check(found: ModelOutput | tuple[str, ModelOutput], expected: dict[str, Any]) -> None:
    """Compare an answer with what a file says of it; what the file doesn't name is to be empty."""
    assert ("error" in expected) == isinstance(found, tuple)
    if isinstance(found, tuple):
        said, found = found
        assert said == expected["error"]
    calls = [(*call, "")[:4] for call in expected.get("calls", [])]
    usage = expected.get("usage")
    assert found.text == expected.get("text", "")
    assert found.refusal == expected.get("refusal")
    assert found.reasoning == expected.get("reasoning")
    assert found.finish_reason == expected.get("finish_reason")
    assert [
        (c.id, c.name, c.arguments, "incomplete" if c.incomplete else "") for c in found.tool_calls
    ] == calls
    used = found.usage
    assert (used and [used.input_tokens, used.output_tokens, used.cached_tokens]) == usage
    if "parsed" in expected:
        assert [call.parsed for call in found.tool_calls] == expected["parsed"]
    if "parts" in expected:
        assert [dict(part.data) for part in found.content if isinstance(part, Part)] == expected["parts"]


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_recorded_stream(recorded: Recorded) -> None:
    check(join(recorded.chunks), recorded.expected)


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_recorded_stream_as_the_clients_objects(recorded: Recorded) -> None:
    check(join(as_client_objects(recorded)), recorded.expected)


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_deltas_join_to_the_answer(recorded: Recorded) -> None:
    if (
        "error" in recorded.expected
        or "something else" in recorded.about
        or "said something else" in recorded.about
    ):
        return  # what follows the end of a call, and what is said otherwise at the end, can't be unsaid
    joiner = AnyJoiner()
    deltas = [delta for chunk in recorded.chunks for delta in joiner.add(chunk)]
    assert Delta() not in deltas
    again, whole = join_stream(deltas), joiner.output()
    assert (again.text, again.refusal, again.reasoning, again.finish_reason, again.usage) == (
        whole.text,
        whole.refusal,
        whole.reasoning,
        whole.finish_reason,
        whole.usage,
    )
    assert [(c.id, c.name, c.arguments) for c in again.tool_calls] == [
        (c.id, c.name, c.arguments) for c in whole.tool_calls
    ]


@given(st.data())
def test_any_split_of_a_recorded_stream_gives_the_same(data: st.DataObject) -> None:
    recorded = data.draw(st.sampled_from(RECORDED))
    cuts = st.lists(st.floats(0, 1), max_size=4)
    chunks = [
        piece for chunk in recorded.chunks for piece in split(recorded.provider, chunk, data.draw(cuts))
    ]
    check(join(chunks), recorded.expected)


@given(st.data())
def test_any_beginning_of_a_recorded_stream_gives_an_answer(data: st.DataObject) -> None:
    """Wherever a stream breaks off, joining raises nothing of its own and never makes up a whole call."""
    recorded = data.draw(st.sampled_from(RECORDED))
    found = join(recorded.chunks[: data.draw(st.integers(0, len(recorded.chunks)))])
    output = found[1] if isinstance(found, tuple) else found
    for call in output.tool_calls:
        if not call.incomplete and output.finish_reason is None:
            assert isinstance(call.parsed, dict)


# ------------------------------------------------------------------------------------------ known faults


def chat_chunks(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The short form of the cases as chunks."""
    chunks: list[dict[str, Any]] = []
    for short in case["input"]["chunks"]:
        if "finish" in short:
            reason = {"tool": "tool_calls"}.get(short["finish"], short["finish"])
            chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            continue
        function = {
            long: short[name] for name, long in (("name", "name"), ("args", "arguments")) if name in short
        }
        call = {long: short[name] for name, long in (("i", "index"), ("id", "id")) if name in short}
        chunks.append({"choices": [{"index": 0, "delta": {"tool_calls": [{**call, "function": function}]}}]})
    return chunks


def test_arguments_split_over_chunks() -> None:
    case = FAULTS["BC-085"]
    chunks = chat_chunks(case)
    wanted = case["expected"]["call"]
    (call,) = join_stream(chunks).tool_calls
    assert (call.id, call.name, call.arguments) == (wanted["id"], wanted["name"], wanted["arguments_text"])
    assert (call.parsed, call.incomplete) == (wanted["parsed"], False)


def test_arguments_of_a_stream_that_ends_early() -> None:
    (call,) = join_stream(chat_chunks(FAULTS["BC-085"])[:2]).tool_calls
    assert call == ToolCall("c1", "look", '{"q": "a\\', incomplete=True)
    with pytest.raises(ModelOutputError) as caught:
        _ = call.parsed
    assert str(caught.value) == (
        "the arguments of the call 'look' (id 'c1') are no JSON (at character 6): '{\"q\": \"a\\\\'; "
        "the answer ended before the call did"
    )


def test_one_index_or_none_for_several_calls() -> None:
    case = FAULTS["BC-087"]
    found = join_stream(chat_chunks(case))
    assert [{"id": call.id, "parsed": call.parsed} for call in found.tool_calls] == case["expected"]["calls"]


# ------------------------------------------------------------------------------------------ other streams


def test_texts_and_deltas() -> None:
    usage = Usage(1, 2)
    found = join_stream(
        [
            "a",
            Delta(reasoning="r"),
            Delta(text="b", refusal="no"),
            Delta(call=CallDelta(1, "y", "say", "{}")),
            Delta(call=CallDelta(0, "x", None, '{"q"')),
            Delta(call=CallDelta(0, None, "look", ": 1}")),
            Delta(),
            "",
            Delta(finish_reason="tool_calls", usage=usage),
        ]
    )
    assert found == ModelOutput(
        text="ab",
        tool_calls=(ToolCall("x", "look", '{"q": 1}'), ToolCall("y", "say", "{}")),
        refusal="no",
        finish_reason="tool_calls",
        usage=usage,
        reasoning="r",
    )
    assert str(Delta(text="b", refusal="no")) == "b"


def test_nothing_at_all() -> None:
    assert join_stream([]) == ModelOutput()


@pytest.mark.anyio
async def test_an_asynchronous_stream() -> None:
    async def stream() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    assert (await ajoin_stream(stream())).text == "ab"


def test_helpers_of_the_clients_wrap_chunks_and_add_events() -> None:
    wrapped = [{"type": "chunk", "chunk": chunk, "snapshot": {}} for chunk in RECORDED_TEXT["chat"]]
    between = itertools.chain.from_iterable([one, {"type": "content.delta", "delta": "x"}] for one in wrapped)
    assert join_stream(between).text == "Hello 😀"
    added = [*RECORDED_TEXT["anthropic"][:4], {"type": "text", "text": "Hel", "snapshot": "Hel"}]
    assert join_stream([*added, *RECORDED_TEXT["anthropic"][4:]]).text == "Hello 😀"


RECORDED_TEXT = {
    provider: next(
        one.chunks for one in RECORDED if one.provider == provider and one.about.startswith("text")
    )
    for provider in ("anthropic", "chat", "responses")
}


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (
            [5],
            "piece 1 of the model's stream is no text, no Delta and no piece of a known provider: 5 (int)",
        ),
        (
            [{"a": 1}],
            "piece 1 of the model's stream is no text, no Delta and no piece of a known provider: {'a': 1} (dict)",
        ),
        (
            [{"type": "weather"}],
            (
                "piece 1 of the model's stream is no text, no Delta and no piece of a known provider: "
                "{'type': 'weather'} (dict)"
            ),
        ),
        (["a", 5], "piece 2 of the model's stream is of another kind than those before: 5 (int)"),
        (
            ["a", {"type": "ping"}],
            "piece 2 of the model's stream is of another kind than those before: {'type': 'ping'} (dict)",
        ),
        (
            [{"type": "ping"}, "a"],
            "piece 2 of the model's stream is of another kind than those before: 'a' (str)",
        ),
    ],
)
def test_what_is_no_piece_is_named(chunks: list[Any], message: str) -> None:
    with pytest.raises(RunError) as caught:
        join_stream(chunks)
    assert str(caught.value) == message


def test_the_joined_answer_is_what_the_provider_would_have_sent_at_once() -> None:
    found = join_stream(RECORDED_TEXT["chat"])
    assert found.raw == {
        "id": "c1",
        "created": 1,
        "model": "m",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello 😀"}}
        ],
    }
    assert join_stream(RECORDED_TEXT["anthropic"]).raw == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hello 😀"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 2,
            "output_tokens": 4,
        },
    }
    assert join_stream(RECORDED_TEXT["responses"]).raw == RECORDED_TEXT["responses"][-1]["response"]


def huge_piece(function: dict[str, str]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": function}]}}]}


@pytest.mark.slow
def test_a_huge_call_is_joined_in_linear_time() -> None:
    text = json.dumps({"text": 'line "quoted" \\ \n' * 20_000})
    chunks = [huge_piece({"arguments": text[i : i + 4]}) for i in range(0, len(text), 4)]
    chunks[0] = huge_piece({"name": "write", "arguments": text[:4]})
    (call,) = join_stream(chunks).tool_calls
    assert (call.arguments, call.incomplete) == (text, False)
