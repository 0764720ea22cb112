"""What went wrong for others with blank messages, pictures and calls in requests."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from priompt_py import (
    Node,
    ProviderError,
    assistant_message,
    config,
    from_openai,
    image,
    render,
    scope,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer
from tests.providers.chats import png

CHARS = CharTokenizer()
ANSWER = config(max_response_tokens=5)
LOOK = tool_definition(name="look", description="", parameters={})
CALL = {"id": "c1", "name": "look", "arguments": "{}"}


def test_a_provider_that_refuses_blank_messages_gets_none() -> None:
    tree: Node = [
        user_message[scope(p=1)["long text"]],
        assistant_message[" \n"],
        system_message[scope(p=1)["x" * 50]],
        user_message["q"],
        ANSWER,
    ]
    found = render(tree, token_limit=30, tokenizer=CHARS)
    request = {"messages": [{"role": "user", "content": "q"}], "max_tokens": 5}
    assert found.to_anthropic() == request
    assert [message["content"] for message in found.to_openai()["messages"]] == ["", " \n", "", "q"]
    assert found.to_anthropic() == request


def test_a_blank_text_beside_a_call_is_left_out_and_the_call_stays() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "\n",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    kept = [dict(message) for message in history]
    found = render([from_openai(history), LOOK, ANSWER], token_limit=10_000, tokenizer=CHARS)
    assert found.to_anthropic()["messages"] == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]},
    ]
    assert history == kept


def test_a_picture_in_a_result_is_sent_where_the_provider_takes_it() -> None:
    tree: Node = [
        user_message["q"],
        assistant_message(tool_calls=[CALL]),
        tool_message(tool_call_id="c1")[image(data=png())],
        LOOK,
        ANSWER,
    ]
    found = render(tree, token_limit=10_000, tokenizer=CHARS)
    with pytest.raises(
        ProviderError, match=r"^messages\[2\] \(tool message, tool_call_id='c1'\) holds an image"
    ):
        found.to_openai()
    data = base64.b64encode(png()).decode()
    sent: Any = found.to_openai_responses()["input"][2]["output"]
    assert sent == [{"type": "input_image", "image_url": f"data:image/png;base64,{data}", "detail": "auto"}]
    (result,) = found.to_anthropic()["messages"][2]["content"]
    assert result["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    ]


def test_a_call_that_never_ran_is_named_before_anything_is_sent() -> None:
    tree: Node = [
        user_message["q"],
        assistant_message(tool_calls=[CALL]),
        user_message["Stop."],
        LOOK,
        ANSWER,
    ]
    found = render(tree, token_limit=10_000, tokenizer=CHARS, pair_tools=False)
    for convert in (found.to_openai, found.to_openai_responses, found.to_anthropic, found.to_gemini):
        with pytest.raises(
            ProviderError, match=r"^messages\[1\] .* the call of 'look' \(id 'c1'\) has no result"
        ):
            convert()
