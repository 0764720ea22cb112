"""What went wrong for others with the answer's size: never negative, never a silent minimum."""

from __future__ import annotations

import pytest

from priompt_py import (
    Node,
    PromptError,
    assistant_message,
    config,
    empty,
    render,
    scope,
    tool_message,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()


def test_what_remains_is_asked_for() -> None:
    found = render(
        [config(max_response_tokens="tokens_remaining"), "012345678"], token_limit=10, tokenizer=CHARS
    )
    assert found.tokens_remaining == 1
    assert found.to_openai()["max_completion_tokens"] == 1
    assert found.to_openai(max_tokens_key="max_tokens")["max_tokens"] == 1


def test_nothing_remaining_is_an_error_of_the_request() -> None:
    found = render(
        [config(max_response_tokens="tokens_remaining"), "0123456789"], token_limit=10, tokenizer=CHARS
    )
    assert found.tokens_remaining == 0
    with pytest.raises(PromptError):
        found.to_openai()


def test_what_is_reserved_is_asked_for() -> None:
    tree: Node = [config(max_response_tokens="tokens_reserved"), "0", empty(tokens=4)]
    found = render(tree, token_limit=10, tokenizer=CHARS)
    assert (found.tokens_reserved, found.tokens_remaining) == (4, 9)
    assert found.to_openai()["max_completion_tokens"] == 4


def test_nothing_reserved_is_not_set() -> None:
    found = render([config(max_response_tokens="tokens_reserved"), "0"], token_limit=10, tokenizer=CHARS)
    assert "max_completion_tokens" not in found.to_openai()


def test_the_first_config_that_is_in_wins_per_key() -> None:
    tree: Node = [
        scope(p=-1)[config(stop="out", max_response_tokens=1), "xxxx"],
        config(extra={"seed": 1}),
        config(stop="b", extra={"seed": 2, "user": "u"}),
        config(stop="c", max_response_tokens=7),
    ]
    found = render(tree, token_limit=3, tokenizer=CHARS)
    assert (found.config.stop, found.config.max_response_tokens) == ("b", 7)
    assert dict(found.config.extra) == {"seed": 1, "user": "u"}


def test_calls_and_results_without_visible_text_are_sent() -> None:
    tree: Node = [
        user_message["hi"],
        assistant_message(tool_calls=[{"id": "c1", "name": "look", "arguments": "{}"}])[""],
        tool_message(tool_call_id="c1")[""],
        user_message["and?"],
    ]
    messages = render(tree, token_limit=99, tokenizer=CHARS).to_openai()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "c1"
