"""Histories of providers as context messages, and back."""

from __future__ import annotations

from typing import Any

import pytest

from priompt_py import ArgumentValueError, render
from priompt_py.context import (
    ImagePart,
    InfoPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    from_anthropic,
    from_openai,
)
from priompt_py.context.histories import messages_of_chat, to_anthropic_blocks, to_openai_message
from priompt_py.providers.openai import from_openai as elements_of

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
        {"type": "file", "file": {"file_id": "f"}},
    ], "name": "Ann"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"a\": 1}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "assistant", "content": "Here", "tool_calls": [
        {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c2", "content": ""},
    {"role": "assistant", "content": ""},
]  # fmt: skip


def test_openai() -> None:
    messages = from_openai(OPENAI)
    assert [(one.id, one.role, one.name) for one in messages] == [
        ("m0", "system", None), ("m1", "user", "Ann"), ("m2", "assistant", None), ("m3", "tool", None),
        ("m4", "assistant", None), ("m5", "tool", None), ("m6", "assistant", None),
    ]  # fmt: skip
    text, picture, file = messages[1].parts
    assert text == TextPart("See")
    assert isinstance(picture, ImagePart)
    assert (picture.data is None, picture.detail) == (False, "low")
    assert file == OpaquePart("openai", {"type": "file", "file": {"file_id": "f"}})
    assert messages[2].parts == (ToolCallPart("c1", "look", '{"a": 1}'),)
    assert messages[3].parts == (ToolResultPart("c1", "found"),)
    assert messages[4].parts == (TextPart("Here"), ToolCallPart("c2", "look", "{}"))
    assert messages[5].parts == (ToolResultPart("c2", ""),)


def test_openai_there_and_back() -> None:
    assert [to_openai_message(message) for message in from_openai(OPENAI)] == OPENAI


def test_tokens_of_opaque_parts() -> None:
    (message,) = from_openai([OPENAI[1]], part_tokens=lambda part: 7)
    assert message.parts[2] == OpaquePart("openai", {"type": "file", "file": {"file_id": "f"}}, tokens=7)


def test_openai_leaves_out_what_it_has_no_place_for() -> None:
    parts: list[Part] = [
        ReasoningPart("hm", "anthropic", {"a": 1}),
        InfoPart("note"),
        OpaquePart("gemini", {"a": 1}),
        TextPart("x"),
    ]
    assert to_openai_message(Message("a", "assistant", parts)) == {"role": "assistant", "content": "x"}
    url = Message("a", "user", ImagePart(url="https://x.org/a.png"))
    assert to_openai_message(url) == {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "https://x.org/a.png", "detail": "auto"}}],
    }


def test_the_legacy_call_is_refused() -> None:
    with pytest.raises(
        ArgumentValueError, match=r"messages\[0\]: function_call is the legacy form: give the call an id"
    ):
        from_openai(
            [{"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}]
        )


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "assistant", "content": [
        THINKING, {"type": "redacted_thinking", "data": "zz"}, {"type": "text", "text": "Let me"},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
        {"type": "tool_use", "id": "c2", "name": "look", "input": {}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c1", "content": "found"},
        {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
         "is_error": True},
        {"type": "text", "text": "and?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "image", "source": {"type": "url", "url": "https://x.org/a.png"}}]},
]  # fmt: skip


def test_anthropic() -> None:
    messages = from_anthropic(ANTHROPIC, system="Be brief.")
    assert [(one.id, one.role) for one in messages] == [
        ("m0", "system"), ("m1", "assistant"), ("m2", "tool"), ("m3", "tool"), ("m4", "user"),
    ]  # fmt: skip
    assert messages[1].parts == (
        ReasoningPart("hm", "anthropic", THINKING),
        ReasoningPart("", "anthropic", {"type": "redacted_thinking", "data": "zz"}),
        TextPart("Let me"),
        ToolCallPart("c1", "look", '{"a": 1}'),
        ToolCallPart("c2", "look", "{}"),
    )
    assert messages[3].parts == (ToolResultPart("c2", "a\nb", is_error=True),)


def test_anthropic_there_and_back() -> None:
    said, *asked = from_anthropic(ANTHROPIC)
    assert to_anthropic_blocks(said) == ANTHROPIC[0]["content"]
    written = [block for message in asked for block in to_anthropic_blocks(message)]
    expected = list(ANTHROPIC[1]["content"])
    expected[1] = {"type": "tool_result", "tool_use_id": "c2", "content": "a\nb", "is_error": True}
    assert written == expected


def test_anthropic_leaves_out_what_it_has_no_place_for() -> None:
    parts: list[Part] = [
        ReasoningPart("hm", "openai", {"a": 1}),
        InfoPart("note"),
        OpaquePart("openai", {"a": 1}),
        TextPart(" \n"),
    ]
    assert to_anthropic_blocks(Message("a", "assistant", parts)) == []
    odd = Message("a", "assistant", [ToolCallPart("c", "f", "[1]"), ToolCallPart("d", "f", "{")])
    assert [block["input"] for block in to_anthropic_blocks(odd)] == [
        {"arguments": "[1]"},
        {"arguments": "{"},
    ]
    unknown = Message("a", "user", ImagePart(data=b"no picture"))
    assert to_anthropic_blocks(unknown)[0]["source"]["media_type"] == "application/octet-stream"


def test_rendered_chats() -> None:
    rendered = render(elements_of(OPENAI), token_limit=10_000)
    assert rendered.messages is not None
    assert [to_openai_message(message) for message in messages_of_chat(rendered.messages)] == OPENAI
