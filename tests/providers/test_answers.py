"""Answers of the official clients, as their objects and as plain data, in our form."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from priompt_py.errors import ModelOutputError
from priompt_py.model.elements import Part
from priompt_py.model.model_output import ModelOutput, ToolCall, Usage
from priompt_py.providers.answers import (
    output_from_anthropic,
    output_from_openai,
    output_from_openai_responses,
)
from priompt_py.providers.sdk_data import as_data

# ------------------------------------------------------------------------------------------ OpenAI's chats


def completion(message: dict[str, Any], finish_reason: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
USAGE = {
    "prompt_tokens": 50,
    "completion_tokens": 9,
    "total_tokens": 59,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def both(data: dict[str, Any], model: Any) -> list[Any]:
    return [data, model.construct(**data)]


@pytest.mark.parametrize(
    "given", both(completion({"content": "Hello"}, usage=USAGE), ChatCompletion), ids=("data", "object")
)
def test_a_chat_completion(given: Any) -> None:
    output = output_from_openai(given)
    assert output == ModelOutput(
        "Hello",
        finish_reason="stop",
        usage=Usage(input_tokens=50, output_tokens=9, cached_tokens=40, reasoning_tokens=5),
    )
    assert output.raw is given


@pytest.mark.parametrize(
    ("message", "reason", "output"),
    [
        (
            {"content": None, "tool_calls": [CALL]},
            "tool_calls",
            ModelOutput(tool_calls=(ToolCall("c1", "look", '{"a": 1}'),), finish_reason="tool_calls"),
        ),
        (
            {"content": "", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
            "length",
            ModelOutput(
                tool_calls=(
                    ToolCall("c1", "look", '{"a": 1}'),
                    ToolCall("c2", "look", '{"a": 1}', incomplete=True),
                ),
                finish_reason="length",
            ),
        ),
        (
            {"content": None, "refusal": "No."},
            "stop",
            ModelOutput(refusal="No.", finish_reason="stop", content=("No.",)),
        ),
        (
            {"content": None, "function_call": {"name": "look", "arguments": "{}"}},
            "function_call",
            ModelOutput(tool_calls=(ToolCall(None, "look", "{}"),), finish_reason="tool_calls"),
        ),
        (
            {"content": "4", "reasoning_content": "2 + 2"},
            "stop",
            ModelOutput("4", finish_reason="stop", reasoning="2 + 2"),
        ),
        (
            {"content": "4", "reasoning": "2 + 2"},
            "eos",
            ModelOutput("4", finish_reason="eos", reasoning="2 + 2"),
        ),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]},
            "stop",
            ModelOutput("ab", finish_reason="stop"),
        ),
        (
            {"tool_calls": [{"function": {"name": "look", "arguments": {"a": "ß"}}}]},
            "tool_calls",
            ModelOutput(tool_calls=(ToolCall(None, "look", '{"a": "ß"}'),), finish_reason="tool_calls"),
        ),
        (
            {"tool_calls": [{"id": "c", "function": {"name": "look"}}]},
            "tool_calls",
            ModelOutput(tool_calls=(ToolCall("c", "look", ""),), finish_reason="tool_calls"),
        ),
    ],
)
def test_what_chats_answer(message: dict[str, Any], reason: str, output: ModelOutput) -> None:
    assert output_from_openai(completion(message, reason)) == output


def test_a_stand_in_of_a_client_is_read() -> None:
    message = SimpleNamespace(content="Hello")
    assert output_from_openai(SimpleNamespace(choices=[SimpleNamespace(message=message)])).text == "Hello"


NO_COMPLETIONS: list[tuple[Any, str]] = [
    ("Hello", "a chat completion needs a mapping or a client's object, got 'Hello'"),
    (ChatCompletion, f"a chat completion needs a mapping or a client's object, got {ChatCompletion!r}"),
    ({"error": "x"}, "the provider reports a failure: x"),
    ({"error": {"code": 5}}, "a chat completion needs choices, got None"),
    ({"choices": []}, "a chat completion needs choices, got []"),
    ({"choices": [{}]}, "choices[0].message needs a mapping or a client's object, got None"),
    (completion({"content": 5}), "choices[0].message.content needs text, got 5"),
    (completion({"tool_calls": 5}), "tool_calls needs a list, got 5"),
    (completion({"tool_calls": [{"function": {}}]}), "name needs text, got None"),
    (
        completion({"tool_calls": [{"id": "c", "type": "custom", "custom": {}}]}),
        "choices[0].message.tool_calls[0]: calls of custom tools can't be held: only those of functions",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), NO_COMPLETIONS)
def test_what_is_no_chat_completion_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        output_from_openai(given)
    assert str(caught.value) == sentence


# ------------------------------------------------------------------------------------------ OpenAI's responses

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}],
    "encrypted_content": "gAAA",
}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "r",
        "object": "response",
        "created_at": 1.0,
        "model": "m",
        "output": list(output),
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


def said(text: str, kind: str = "output_text") -> dict[str, Any]:
    part: dict[str, Any] = (
        {"type": kind, "text": text, "annotations": []}
        if kind == "output_text"
        else {"type": kind, "refusal": text}
    )
    return {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}


def function_call(call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", **more}


RESPONSES_USAGE = {
    "input_tokens": 5,
    "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 1},
    "total_tokens": 9,
}


@pytest.mark.parametrize(
    "given",
    both(response(REASONING, said("Hello"), usage=RESPONSES_USAGE), Response),
    ids=("data", "object"),
)
def test_a_response(given: Any) -> None:
    assert output_from_openai_responses(given) == ModelOutput(
        "Hello",
        finish_reason="stop",
        usage=Usage(5, 4, 3, 2, 1),
        reasoning="First.\n\nThen.",
        content=(Part(provider="openai", data=REASONING), "Hello"),
    )


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (
            response(function_call(), function_call("c2")),
            ModelOutput(
                tool_calls=(ToolCall("c1", "look", "{}"), ToolCall("c2", "look", "{}")),
                finish_reason="tool_calls",
            ),
        ),
        (
            response(said("Hel"), incomplete_details={"reason": "max_output_tokens"}),
            ModelOutput("Hel", finish_reason="length"),
        ),
        (
            response(function_call(status="incomplete"), incomplete_details={"reason": "content_filter"}),
            ModelOutput(
                tool_calls=(ToolCall("c1", "look", "{}", incomplete=True),), finish_reason="content_filter"
            ),
        ),
        (
            response(said("No.", "refusal")),
            ModelOutput(refusal="No.", finish_reason="stop", content=("No.",)),
        ),
        (
            response({"type": "web_search_call", "id": "ws_1"}, said("")),
            ModelOutput(
                finish_reason="stop",
                content=(Part(provider="openai", data={"type": "web_search_call", "id": "ws_1"}),),
            ),
        ),
    ],
)
def test_what_responses_hold(given: dict[str, Any], output: ModelOutput) -> None:
    assert output_from_openai_responses(given) == output


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            response(status="failed", error={"code": "server_error", "message": "Oops"}),
            "the response failed: Oops",
        ),
        (response(status="failed"), "the response failed: no reason given"),
        ({"id": "r"}, "a response needs output, got None"),
        ({"output": ["x"]}, "output[0] needs a mapping or a client's object, got 'x'"),
    ],
)
def test_what_is_no_response_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        output_from_openai_responses(given)
    assert str(caught.value) == sentence


# ------------------------------------------------------------------------------------------ Anthropic

THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK"}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": "ß"}}


def message(*content: dict[str, Any], stop_reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 1, "output_tokens": 2},
        **more,
    }


ANTHROPIC_USAGE = {
    "input_tokens": 1,
    "output_tokens": 9,
    "cache_read_input_tokens": 20,
    "cache_creation_input_tokens": 300,
    "output_tokens_details": {"thinking_tokens": 4},
}


@pytest.mark.parametrize(
    "given",
    both(
        message(
            THINKING,
            REDACTED,
            {"type": "text", "text": "Looking."},
            TOOL_USE,
            stop_reason="tool_use",
            usage=ANTHROPIC_USAGE,
        ),
        AnthropicMessage,
    ),
    ids=("data", "object"),
)
def test_an_answer_of_anthropic(given: Any) -> None:
    assert output_from_anthropic(given) == ModelOutput(
        "Looking.",
        tool_calls=(ToolCall("toolu_1", "look", '{"a": "ß"}'),),
        finish_reason="tool_calls",
        usage=Usage(321, 9, 20, 300, 4),
        reasoning="Hm.",
        content=(
            Part(provider="anthropic", data=THINKING),
            Part(provider="anthropic", data=REDACTED),
            "Looking.",
        ),
    )


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause"),
        ("refusal", "content_filter"),
        ("something_new", "something_new"),
    ],
)
def test_reasons_are_the_same_for_every_provider(reason: str, ours: str) -> None:
    assert output_from_anthropic(message(stop_reason=reason)).finish_reason == ours


def test_a_refusal_is_explained() -> None:
    given = message(stop_reason="refusal", stop_details={"type": "refusal", "explanation": "Not that."})
    assert output_from_anthropic(given).refusal == "Not that."


def test_a_call_that_was_cut_is_incomplete() -> None:
    (call,) = output_from_anthropic(message(TOOL_USE, stop_reason="max_tokens")).tool_calls
    assert call == ToolCall("toolu_1", "look", '{"a": "ß"}', incomplete=True)


def test_figures_that_are_not_there_are_none() -> None:
    assert output_from_anthropic({"content": [{"type": "text", "text": ""}]}) == ModelOutput()
    assert output_from_anthropic(message(usage={"output_tokens": 2})).usage == Usage(output_tokens=2)


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(ModelOutputError, match=r"^a message needs content, got None$"):
        output_from_anthropic({"type": "error"})


# ------------------------------------------------------------------------------------------ objects of clients


def test_data_of_clients_are_copied_at_every_depth() -> None:
    given = {"a": ({"b": [1]},), "c": SimpleNamespace(d=(2,))}
    data = as_data(given)
    assert data == {"a": [{"b": [1]}], "c": {"d": [2]}}
    data["a"][0]["b"].append(3)
    assert given["a"] == ({"b": [1]},)


def test_objects_of_clients_give_what_was_set() -> None:
    block = AnthropicMessage.construct(**message(THINKING)).content[0]
    assert as_data([block]) == [THINKING]
