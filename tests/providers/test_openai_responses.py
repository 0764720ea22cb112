"""Requests for OpenAI's Responses."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Call, Image, Part, Role
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.providers.openai import to_openai
from priompt_py.providers.openai_responses import to_openai_responses
from tests.providers.chats import chat, picture, plain, png, text_message
from tests.providers.sdk_types import check_responses

LOOK = Call("c1", "look", '{"at": "sky"}')
LOOKED = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "sky"}'}
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
MARK = {"mode": "explicit"}


def request_of(*messages: ChatMessage, **options: Any) -> dict[str, Any]:
    request = to_openai_responses(chat(*messages), **options)
    check_responses(request)
    return request


def items_of(*messages: ChatMessage, **options: Any) -> Any:
    return request_of(*messages, instructions=False, **options)["input"]


# ------------------------------------------------------------------------------------------ items


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_text_alone_is_a_string_and_names_are_left_out(role: Role) -> None:
    message = ChatMessage(role, (TextPart("a\n", (2,)), TextPart("b")), name="bob", to="ann")
    assert items_of(message) == [{"role": role, "content": "a\nb"}]


def test_a_plain_prompt_is_one_user_message() -> None:
    request = to_openai_responses(plain("Hi"))
    assert request == {"input": [{"role": "user", "content": "Hi"}]}
    check_responses(request)


def test_images_of_users_and_tools() -> None:
    url = Image(url="https://example.org/a.png", detail="low")
    data = base64.b64encode(png()).decode()
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{data}", "detail": "auto"}
    linked = {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low"}
    assert items_of(
        ChatMessage("user", (TextPart("see"), picture(), url)),
        ChatMessage("assistant", tool_calls=(LOOK,)),
        ChatMessage("tool", (url,), tool_call_id="c1"),
    ) == [
        {"role": "user", "content": [{"type": "input_text", "text": "see"}, image, linked]},
        LOOKED,
        {"type": "function_call_output", "call_id": "c1", "output": [linked]},
    ]


def test_calls_follow_the_text_and_results_stay_where_they_are() -> None:
    assert items_of(
        text_message("assistant", "Looking.", tool_calls=(LOOK,)),
        text_message("user", "Hurry."),
        text_message("tool", "blue", tool_call_id="c1", name="look", is_error=True),
        text_message("assistant", " \n", tool_calls=(Call("c2", "look", ""),)),
        ChatMessage("tool", tool_call_id="c2"),
    ) == [
        {"role": "assistant", "content": "Looking."},
        LOOKED,
        {"role": "user", "content": "Hurry."},
        {"type": "function_call_output", "call_id": "c1", "output": "blue"},
        {"type": "function_call", "call_id": "c2", "name": "look", "arguments": ""},
        {"type": "function_call_output", "call_id": "c2", "output": ""},
    ]


def test_reasoning_items_stand_where_they_stood() -> None:
    ours = Part(provider="openai", data=REASONING)
    message = ChatMessage(
        "assistant",
        (ours, Part(provider="anthropic", data={"type": "thinking"}), TextPart("Sky."), ours),
        tool_calls=(LOOK,),
    )
    assert items_of(message, ChatMessage("tool", tool_call_id="c1"))[:-1] == [
        REASONING,
        {"role": "assistant", "content": "Sky."},
        REASONING,
        LOOKED,
    ]


def test_the_two_apis_of_openai_get_their_own_parts() -> None:
    file: dict[str, Any] = {"type": "file", "file": {"file_id": "f"}}
    input_file = {"type": "input_file", "file_id": "f"}
    asked = ChatMessage(
        "user",
        (TextPart("a"), Part(provider="openai", data=file), Part(provider="openai", data=input_file)),
    )
    said = ChatMessage("assistant", (Part(provider="openai", data=REASONING), TextPart("b")))
    assert items_of(asked, said) == [
        {"role": "user", "content": [{"type": "input_text", "text": "a"}, input_file]},
        REASONING,
        {"role": "assistant", "content": "b"},
    ]
    assert to_openai(chat(asked, said))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, file]},
        {"role": "assistant", "content": "b"},
    ]


def test_emptied_messages_stay() -> None:
    assert items_of(ChatMessage("user"), ChatMessage("assistant"), text_message("assistant", " ")) == [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": " "},
    ]


def test_long_call_ids_are_shortened_alike() -> None:
    long = "x" * 65
    call, result = items_of(
        ChatMessage("assistant", tool_calls=(Call(long, "look", "{}"),)),
        ChatMessage("tool", tool_call_id=long),
    )
    assert call["call_id"] == result["call_id"] == "call_9537c5fdf120482f7d58d25e9ed583f5"


# ------------------------------------------------------------------------------------------ instructions


def test_a_leading_system_message_becomes_the_instructions() -> None:
    assert request_of(text_message("developer", "S"), text_message("user", "q")) == {
        "instructions": "S",
        "input": [{"role": "user", "content": "q"}],
    }


@pytest.mark.parametrize(
    "messages",
    [
        (text_message("system", "S"),),
        (text_message("user", "q"), text_message("system", "S")),
        (ChatMessage("system"), text_message("user", "q")),
    ],
)
def test_what_is_no_leading_text_stays_an_item(messages: tuple[ChatMessage, ...]) -> None:
    request = request_of(*messages)
    assert "instructions" not in request
    assert len(request["input"]) == len(messages)


def test_a_second_system_message_stays_an_item() -> None:
    request = request_of(text_message("system", "S"), text_message("system", "T"), text_message("user", "q"))
    assert (request["instructions"], request["input"][0]) == ("S", {"role": "system", "content": "T"})


# ------------------------------------------------------------------------------------------ marks


def test_marks_are_off_by_default() -> None:
    assert items_of(ChatMessage("user", (TextPart("a"), CacheMark(), TextPart("b")))) == [
        {"role": "user", "content": "ab"}
    ]


def test_marks_stand_on_the_nearest_part_before_them() -> None:
    request = request_of(
        ChatMessage("system", (TextPart("S"), CacheMark())),
        ChatMessage("assistant", (TextPart("a"), CacheMark()), tool_calls=(LOOK,)),
        ChatMessage("tool", (TextPart("R"), CacheMark()), tool_call_id="c1"),
        cache_marks=True,
    )
    assert "instructions" not in request  # they can't hold a mark
    assert request["input"] == [
        {
            "role": "system",
            "content": [{"type": "input_text", "text": "S", "prompt_cache_breakpoint": MARK}],
        },
        {"role": "assistant", "content": "a"},
        LOOKED,
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "R", "prompt_cache_breakpoint": MARK}],
        },
    ]


def test_marks_do_not_divide_what_the_assistant_said() -> None:
    request = request_of(
        text_message("user", "q"),
        ChatMessage("assistant", (TextPart("a"), CacheMark(), TextPart(" "), CacheMark(), TextPart("b"))),
        text_message("user", "r"),
        cache_marks=True,
    )
    assert request["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "q", "prompt_cache_breakpoint": MARK}]},
        {"role": "assistant", "content": "a b"},
        {"role": "user", "content": "r"},
    ]


def test_a_mark_that_falls_nowhere_leaves_the_instructions_alone() -> None:
    first = ChatMessage("system", (CacheMark(), TextPart("S")))
    assert request_of(first, text_message("user", "q"), cache_marks=True)["instructions"] == "S"


# ------------------------------------------------------------------------------------------ settings


def test_tools_always_have_parameters_and_strict() -> None:
    request = to_openai_responses(
        chat(
            text_message("user", "q"),
            tools=[
                Tool("look", "Looks.", {"type": "object", "required": ("a",)}, strict=True),
                Tool("wait", "", {}),
            ],
        )
    )
    check_responses(request)
    assert request["tools"] == [
        {
            "type": "function",
            "name": "look",
            "description": "Looks.",
            "parameters": {"type": "object", "required": ["a"]},
            "strict": True,
        },
        {
            "type": "function",
            "name": "wait",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    ]
    assert request["tool_choice"] == "auto"


def test_settings_stand_in_a_fixed_order_and_extra_has_the_last_word() -> None:
    config = PromptConfig(
        max_response_tokens=5, extra={"tool_choice": "none", "max_output_tokens": 6, "store": False}
    )
    request = to_openai_responses(
        chat(
            text_message("system", "S"),
            text_message("user", "q"),
            tools=[Tool("look", "", {})],
            config=config,
        )
    )
    check_responses(request)
    assert list(request) == ["instructions", "input", "tools", "tool_choice", "max_output_tokens", "store"]
    assert (request["tool_choice"], request["max_output_tokens"]) == ("none", 6)


def test_extra_may_bring_instructions_where_the_prompt_has_none() -> None:
    config = PromptConfig(extra={"instructions": "S", "tools": []})
    request = to_openai_responses(chat(text_message("user", "q"), config=config))
    assert (request["instructions"], request["tools"]) == ("S", [])


# ------------------------------------------------------------------------------------------ refusals

USER = text_message("user", "q")
SYSTEM = text_message("system", "S")


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (
            chat(USER, config=PromptConfig(stop="x")),
            "OpenAI's Responses take no stop texts; leave stop out of config(), or cut the answer yourself",
        ),
        (chat(), "no message of the prompt is in, and OpenAI needs at least one"),
        (
            chat(ChatMessage("assistant", (picture(),))),
            "messages[0] (assistant message) holds an image; OpenAI takes images in user and tool messages alone: move it to one",
        ),
        (
            chat(ChatMessage("system", (picture(),))),
            "messages[0] (system message) holds an image; OpenAI takes images in user and tool messages alone: move it to one",
        ),
        (
            chat(ChatMessage("assistant", function_call=Call(None, "look", "{}"))),
            "messages[0] (assistant message) holds a legacy function_call, which OpenAI's Responses can't hold; give it an id, in tool_calls",
        ),
        (
            chat(ChatMessage("assistant", tool_calls=(LOOK,))),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has no result, and OpenAI refuses that",
        ),
        (
            chat(*[ChatMessage("assistant", tool_calls=(LOOK,)), ChatMessage("tool", tool_call_id="c1")] * 2),
            "messages[2] (assistant message): the call of 'look' (id 'c1') has the id of a call before it; OpenAI wants another for each call",
        ),
        (
            chat(USER, config=PromptConfig(extra={"input": []})),
            "extra holds 'input', which the prompt itself gives; leave it out of config(extra=...)",
        ),
        (
            chat(SYSTEM, USER, config=PromptConfig(extra={"instructions": ""})),
            "extra holds 'instructions', which the prompt itself gives; leave it out of config(extra=...)",
        ),
        (
            chat(USER, tools=[Tool("look", "", {})], config=PromptConfig(extra={"tools": []})),
            "extra holds 'tools', which the prompt itself gives; leave it out of config(extra=...)",
        ),
        (
            chat(USER, tools=[Tool("x" * 65, "", {})]),
            f"tool_definition '{'x' * 65}': OpenAI takes names of 1 to 64 letters, digits, '_' and '-' for functions, got '{'x' * 65}'",
        ),
        (
            chat(
                USER,
                config=PromptConfig(max_response_tokens="tokens_remaining"),
                token_count=9,
                token_limit=9,
            ),
            "max_response_tokens='tokens_remaining' leaves 0 tokens for the answer: the prompt takes 9 of its limit of 9; reserve room with empty(tokens=...)",
        ),
    ],
)
def test_what_the_api_cannot_hold_is_named(outcome: Outcome, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        to_openai_responses(outcome)
    assert str(caught.value) == says
