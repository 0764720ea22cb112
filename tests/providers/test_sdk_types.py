"""The strict types must refuse what the API refuses, else tests that use them prove nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from tests.providers.sdk_types import (
    check_anthropic,
    check_messages_of_anthropic,
    check_request,
    check_responses,
)

# ------------------------------------------------------------------------------------------ OpenAI's chats

GOOD: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "S", "name": "boss"},
        {"role": "developer", "content": [{"type": "text", "text": "D"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "U", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "image_url", "image_url": {"url": "https://example.org", "detail": "low"}},
                {"type": "file", "file": {"file_id": "f"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "R"},
        {"role": "assistant", "content": "A", "function_call": {"name": "look", "arguments": "{}"}},
    ],
    "tools": [
        {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}
    ],
    "tool_choice": "auto",
    "stop": ["a", "b"],
    "max_completion_tokens": 5,
}

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org"}}


def test_a_good_request_passes() -> None:
    check_request(GOOD)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("messages", 0, "role"), "wizard"),
        (("messages", 0, "colour"), "red"),
        (("messages", 0, "to"), "bob"),
        (("messages", 0, "content"), [IMAGE]),
        (("messages", 2, "content", 0, "colour"), "red"),
        (("messages", 2, "content", 0, "type"), "texts"),
        (("messages", 2, "content", 0, "prompt_cache_breakpoint"), {"mode": "implicit"}),
        (("messages", 2, "content", 1, "image_url", "detail"), "huge"),
        (("messages", 2, "content", 1, "image_url", "width"), 5),
        (("messages", 2, "content", 1), {"type": "part"}),
        (("messages", 3, "tool_calls", 0, "type"), "tool"),
        (("messages", 3, "tool_calls", 0, "function", "arguments"), {"a": 1}),
        (("messages", 3, "tool_calls", 0, "index"), 0),
        (("messages", 4, "name"), "look"),
        (("messages", 4, "content"), [IMAGE]),
        (("messages", 4, "content"), None),
        (("messages", 4, "is_error"), True),
        (("messages", 5, "content"), [IMAGE]),
        (("tools", 0, "name"), "look"),
        (("tools", 0, "function", "strict"), "yes"),
        (("stop",), 5),
        (("max_completion_tokens",), "5"),
        (("max_output_tokens",), 5),
    ],
)
def test_a_bad_value_is_refused(path: tuple[str | int, ...], value: object) -> None:
    with pytest.raises(ValidationError):
        check_request(changed(GOOD, path, value))


def changed(request: Any, path: tuple[Any, ...], value: object) -> Any:
    """A copy of a request with another value at a path."""
    request = copy.deepcopy(request)
    *way, last = path
    holder = request
    for step in way:
        holder = holder[step]
    holder[last] = value
    return request


@pytest.mark.parametrize(
    "path", [("messages", 4, "tool_call_id"), ("messages", 0, "role"), ("tools", 0, "type")]
)
def test_a_missing_key_is_refused(path: tuple[Any, ...]) -> None:
    request: Any = copy.deepcopy(GOOD)
    *way, last = path
    holder = request
    for step in way:
        holder = holder[step]
    del holder[last]
    with pytest.raises(ValidationError):
        check_request(request)


# ------------------------------------------------------------------------------------------ OpenAI's responses

GOOD_RESPONSES: dict[str, Any] = {
    "instructions": "S",
    "input": [
        {"role": "developer", "content": "D"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "U", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "input_image", "image_url": "https://example.org", "detail": "low"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"role": "assistant", "content": "A"},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_image", "image_url": "https://example.org", "detail": "low"}],
        },
    ],
    "tools": [{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}],
    "tool_choice": "auto",
    "max_output_tokens": 5,
}


def test_a_good_request_of_responses_passes() -> None:
    check_responses(GOOD_RESPONSES)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("stop",), "x"),
        (("input", 0, "role"), "wizard"),
        (("input", 0, "name"), "boss"),
        (("input", 0, "content"), 5),
        (("input", 1, "content", 0, "type"), "text"),
        (("input", 1, "content", 0, "colour"), "red"),
        (("input", 1, "content", 1, "detail"), "huge"),
        (("input", 1, "content", 1), {"type": "input_image", "image_url": "https://example.org"}),
        (("input", 2, "summary"), None),
        (("input", 2, "status"), None),
        (("input", 3, "content"), [{"type": "text", "text": "A"}]),
        (("input", 4, "arguments"), {}),
        (("input", 4), {"type": "function_call", "name": "look", "arguments": "{}"}),
        (("input", 5, "output"), None),
        (("input", 5, "is_error"), True),
        (("tools", 0), {"type": "function", "name": "look", "parameters": {}}),
        (("tools", 0, "function"), {}),
        (("max_tokens",), 5),
        (("messages",), []),
    ],
)
def test_a_bad_value_of_responses_is_refused(path: tuple[Any, ...], value: object) -> None:
    with pytest.raises(ValidationError):
        check_responses(changed(GOOD_RESPONSES, path, value))


# ------------------------------------------------------------------------------------------ Anthropic

EPHEMERAL = {"type": "ephemeral"}
GOOD_ANTHROPIC: dict[str, Any] = {
    "system": [{"type": "text", "text": "S", "cache_control": EPHEMERAL}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "U"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                {"type": "image", "source": {"type": "url", "url": "https://example.org"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "T", "signature": "s"},
                {"type": "tool_use", "id": "c", "name": "look", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "R", "is_error": True},
                {"type": "text", "text": "U"},
            ],
        },
        {"role": "system", "content": "S"},
    ],
    "tools": [{"name": "look", "input_schema": {"type": "object"}, "strict": True}],
    "stop_sequences": ["x"],
    "max_tokens": 5,
}


def test_a_good_request_of_anthropic_passes() -> None:
    check_anthropic(GOOD_ANTHROPIC)
    check_messages_of_anthropic(GOOD_ANTHROPIC["messages"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("messages", 0, "role"), "tool"),
        (("messages", 0, "name"), "bob"),
        (("messages", 1, "name"), "bob"),
        (("messages", 2, "name"), "bob"),
        (("messages", 3, "name"), "bob"),
        (("messages", 0, "content", 0, "colour"), "red"),
        (("messages", 0, "content", 0, "text"), None),
        (("messages", 0, "content", 1, "source", "media_type"), "image/tiff"),
        (("messages", 0, "content", 1, "detail"), "low"),
        (("messages", 1, "content", 0), {"type": "thinking", "thinking": "T"}),
        (("messages", 1, "content", 0, "cache_control"), EPHEMERAL),
        (("messages", 1, "content", 1, "input"), "{}"),
        (("messages", 2, "content", 0, "name"), "look"),
        (("messages", 3, "content"), [{"type": "image", "source": {"type": "url", "url": "x"}}]),
        (("system", 0, "cache_control"), {"type": "forever"}),
        (("tools", 0, "parameters"), {}),
        (("stop_sequences",), "x"),
        (("stop",), "x"),
        (("max_tokens",), None),
    ],
)
def test_a_bad_value_of_anthropic_is_refused(path: tuple[Any, ...], value: object) -> None:
    with pytest.raises(ValidationError):
        check_anthropic(changed(GOOD_ANTHROPIC, path, value))


RESULT = {"type": "tool_result", "tool_use_id": "c"}
SAID = {"type": "text", "text": "U"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("messages", 0, "role"), "assistant"),
        (("messages", 1, "role"), "user"),
        (("messages", 2, "content"), [SAID, RESULT]),
        (("messages", 2, "content"), [RESULT, RESULT]),
        (("messages", 2, "content"), [SAID]),
        (("messages", 1, "content"), "x"),
        (("messages", 0, "content", 0, "text"), " "),
        (("messages", 0, "content"), []),
        (("messages", 2), {"role": "system", "content": "S"}),
    ],
)
def test_bad_turns_of_anthropic_are_refused(path: tuple[Any, ...], value: object) -> None:
    with pytest.raises(AssertionError):
        check_messages_of_anthropic(changed(GOOD_ANTHROPIC, path, value)["messages"])
