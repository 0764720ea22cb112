"""The strict types must refuse what the API refuses, else tests that use them prove nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from tests.providers.sdk_types import check_request

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
    request: Any = copy.deepcopy(GOOD)
    *way, last = path
    holder = request
    for step in way:
        holder = holder[step]
    holder[last] = value
    with pytest.raises(ValidationError):
        check_request(request)


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
