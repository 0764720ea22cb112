"""Requests for Google's Gemini, read by the client's own models, which refuse unknown keys."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from google.genai import types
from pydantic import TypeAdapter

from priompt_py.errors import ArgumentValueError, ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.providers.gemini import to_gemini
from tests.providers.chats import chat, picture, plain, png, text_message

USER = text_message("user", "q", name="bob", to="ann")
ANSWER = text_message("assistant", "A")
SYSTEM = text_message("system", "S")
LOOK = Call("c1", "look", '{"at": "sky"}')
CALLS = ChatMessage("assistant", tool_calls=(LOOK,))

_CONTENTS = TypeAdapter(list[types.Content])


def check(request: dict[str, Any]) -> None:
    _CONTENTS.validate_python(request["contents"])
    types.GenerateContentConfig.model_validate(request["config"])
    assert set(request) == {"contents", "config"}


def request_of(*messages: ChatMessage, **options: Any) -> dict[str, Any]:
    request = to_gemini(chat(*messages), **options)
    check(request)
    return request


def test_a_chat() -> None:
    assert request_of(SYSTEM, text_message("developer", "D"), USER, ANSWER, ChatMessage("user"), ANSWER) == {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "A"}, {"text": "A"}]},
        ],
        "config": {"system_instruction": {"parts": [{"text": "S"}, {"text": "D"}]}},
    }


def test_a_plain_prompt_is_one_user_message() -> None:
    assert to_gemini(plain("Hi")) == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "config": {}}


def test_images_and_parts() -> None:
    own = {"file_data": {"file_uri": "gs://x", "mime_type": "application/pdf"}}
    message = ChatMessage(
        "user",
        (
            TextPart("see"),
            CacheMark(),
            picture(),
            Image(url="https://example.org/a.jpg?x=1", detail="low"),
            Image(url="https://example.org/a"),
            Part(provider="gemini", data=own),
            Part(provider="openai", data={"type": "file"}),
        ),
    )
    (content,) = request_of(message)["contents"]
    assert content["parts"] == [
        {"text": "see"},
        {"inline_data": {"mime_type": "image/png", "data": base64.b64encode(png()).decode()}},
        {"file_data": {"file_uri": "https://example.org/a.jpg?x=1", "mime_type": "image/jpeg"}},
        {"file_data": {"file_uri": "https://example.org/a"}},
        own,
    ]
    read: Any = types.Content.model_validate(content)
    assert read.parts[1].inline_data.data == png()


def test_calls_and_results() -> None:
    asked, *found = request_of(
        USER,
        text_message("assistant", " ", tool_calls=(LOOK, Call("c2", "wait", ""))),
        USER,
        ChatMessage("tool", (TextPart("blue"), picture()), tool_call_id="c1"),
        text_message("tool", "late", tool_call_id="c2", is_error=True),
    )["contents"]
    assert asked == {"role": "user", "parts": [{"text": "q"}]}
    assert found == [
        {
            "role": "model",
            "parts": [
                {"function_call": {"id": "c1", "name": "look", "args": {"at": "sky"}}},
                {"function_call": {"id": "c2", "name": "wait", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "function_response": {
                        "id": "c1",
                        "name": "look",
                        "response": {"output": "blue"},
                        "parts": [
                            {
                                "inline_data": {
                                    "mime_type": "image/png",
                                    "data": base64.b64encode(png()).decode(),
                                }
                            }
                        ],
                    }
                },
                {"function_response": {"id": "c2", "name": "wait", "response": {"error": "late"}}},
                {"text": "q"},
            ],
        },
    ]


def test_the_user_leads() -> None:
    result = text_message("tool", "blue", tool_call_id="c1")
    roles = ["user", "model", "user"]
    led = request_of(SYSTEM, ChatMessage("user"), CALLS, result)["contents"]
    assert [content["role"] for content in led] == roles
    assert led[0] == {"role": "user", "parts": [{"text": "(The conversation goes on.)"}]}
    assert request_of(ANSWER, lead_with_user="Go on.")["contents"][0]["parts"] == [{"text": "Go on."}]
    asked = request_of(USER, CALLS, result, lead_with_user=False)["contents"]
    assert [content["role"] for content in asked] == roles
    with pytest.raises(ProviderError) as caught:
        request_of(CALLS, result, lead_with_user=False)
    assert str(caught.value) == (
        "the first message is the assistant's, and Gemini needs one of the user before it; "
        "lead_with_user=True puts one there"
    )
    with pytest.raises(ArgumentValueError) as refused:
        request_of(USER, lead_with_user=" ")
    assert str(refused.value) == "to_gemini() needs text that is not blank for lead_with_user, got ' '"


def test_late_system() -> None:
    assert request_of(USER, SYSTEM, late_system="hoist")["config"] == {
        "system_instruction": {"parts": [{"text": "S"}]}
    }
    said = request_of(USER, SYSTEM, late_system="user", late_system_text="({text})")["contents"]
    assert said == [{"role": "user", "parts": [{"text": "q"}, {"text": "(S)"}]}]


def test_settings_and_tools() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}}
    config = PromptConfig(stop="x", max_response_tokens=5, extra={"temperature": 0.5, "max_output_tokens": 6})
    tools = [Tool("look", "Looks.", schema, strict=True), Tool("wait", "", {})]
    request = to_gemini(chat(USER, tools=tools, config=config))
    check(request)
    assert request["config"] == {
        "tools": [
            {
                "function_declarations": [
                    {"name": "look", "description": "Looks.", "parameters_json_schema": schema},
                    {"name": "wait"},
                ]
            }
        ],
        "stop_sequences": ["x"],
        "max_output_tokens": 6,
        "temperature": 0.5,
    }


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (chat(SYSTEM), "no message but system text is in, and Gemini needs at least one of the user"),
        (
            chat(USER, SYSTEM),
            "messages[1] (system message) stands after other messages, and Gemini takes system text in front alone; late_system says what becomes of it: 'user', 'hoist'",
        ),
        (
            chat(ChatMessage("assistant", (picture(),))),
            "messages[0] (assistant message) holds an image; Gemini takes images in user and tool messages alone: move it to one",
        ),
        (
            chat(ChatMessage("assistant", function_call=LOOK)),
            "messages[0] (assistant message) holds a legacy function_call, which Gemini can't hold; give it an id, in tool_calls",
        ),
        (
            chat(CALLS),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has no result, and Gemini refuses that",
        ),
        (
            chat(USER, tools=[Tool("1a", "", {})]),
            "tool_definition '1a': Gemini takes names of 1 to 128 letters, digits, '_', '.', ':' and '-' for functions, first a letter or '_', got '1a'",
        ),
        (
            chat(USER, config=PromptConfig(stop=("a", ""))),
            "Gemini refuses an empty stop sequence; leave stop out of config() for none",
        ),
        (
            chat(SYSTEM, USER, config=PromptConfig(extra={"system_instruction": "x"})),
            "extra holds 'system_instruction', which the prompt itself gives; leave it out of config(extra=...)",
        ),
    ],
)
def test_what_the_api_cannot_hold_is_named(outcome: Outcome, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        to_gemini(outcome)
    assert str(caught.value) == says


def test_inline_system_messages_are_not_for_gemini() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        to_gemini(chat(USER), late_system="inline")
    assert (
        str(caught.value) == "to_gemini() needs one of 'user', 'hoist' or None for late_system, got 'inline'"
    )
