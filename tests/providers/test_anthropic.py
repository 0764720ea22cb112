"""Requests for Anthropic's Messages."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.providers.anthropic import to_anthropic
from tests.providers.chats import chat, picture, plain, png, text_message
from tests.providers.sdk_types import check_anthropic, check_messages_of_anthropic

LOOK = Call("c1", "look", '{"at": "sky"}')
LOOKED = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sky"}}
TOOL = Tool("look", "", {})
FIVE = PromptConfig(max_response_tokens=5)
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK"}

USER = text_message("user", "q")
SYSTEM = text_message("system", "S")
ANSWER = text_message("assistant", "A")
CALLS = ChatMessage("assistant", tool_calls=(LOOK,))
RESULT = text_message("tool", "blue", tool_call_id="c1")


def request_of(*messages: ChatMessage, **options: Any) -> dict[str, Any]:
    tools = [TOOL] if any(m.tool_calls for m in messages) and not options.get("flatten_tools") else []
    request = to_anthropic(chat(*messages, tools=tools, config=FIVE), **options)
    check_anthropic(request)
    check_messages_of_anthropic(request["messages"])
    return request


def messages_of(*messages: ChatMessage, **options: Any) -> Any:
    return request_of(*messages, **options)["messages"]


# ------------------------------------------------------------------------------------------ turns


def test_a_chat() -> None:
    assert request_of(SYSTEM, USER, ANSWER, text_message("user", "r", name="bob", to="ann")) == {
        "system": [{"type": "text", "text": "S"}],
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "A"},
            {"role": "user", "content": "r"},
        ],
        "max_tokens": 5,
    }


def test_a_plain_prompt_is_one_user_message() -> None:
    assert to_anthropic(plain("Hi", config=FIVE)) == {
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 5,
    }


def test_neighbours_of_one_role_are_merged() -> None:
    assert messages_of(USER, USER, ANSWER, ANSWER) == [
        {"role": "user", "content": [{"type": "text", "text": "q"}] * 2},
        {"role": "assistant", "content": [{"type": "text", "text": "A"}] * 2},
    ]


def test_blank_messages_and_texts_are_left_out() -> None:
    foreign = Part(provider="openai", data={"type": "file"})
    assert messages_of(
        ChatMessage("assistant", (TextPart(" \n"), foreign)),
        ChatMessage("user"),
        ChatMessage("user", (TextPart(" \n"), picture(), TextPart("  "))),
        ChatMessage("user", (TextPart("a "), foreign, TextPart(" b"))),
    ) == [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": base64.b64encode(png()).decode(),
                    },
                },
                {"type": "text", "text": "a  b"},
            ],
        }
    ]


def test_images_by_url() -> None:
    url = Image(url="https://example.org/a.png", detail="low")
    assert messages_of(ChatMessage("user", (url,))) == [
        {
            "role": "user",
            "content": [{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}],
        }
    ]


def test_all_results_of_a_turn_stand_in_one_user_message_before_any_text() -> None:
    found = messages_of(
        ChatMessage("assistant", (TextPart("Both."),), tool_calls=(LOOK, Call("c2", "look", ""))),
        ChatMessage("assistant", tool_calls=(Call("c3", "look", "{}"),)),
        text_message("user", "Hurry."),
        ChatMessage("tool", (TextPart("2"), picture()), tool_call_id="c2"),
        text_message("tool", "1", tool_call_id="c1", name="look", is_error=True),
        ChatMessage("tool", tool_call_id="c3"),
        text_message("user", "Well?"),
    )
    assert [message["role"] for message in found] == ["user", "assistant", "user"]
    assert [block["type"] for block in found[1]["content"]] == ["text", "tool_use", "tool_use", "tool_use"]
    second, first, third, *texts = found[2]["content"]
    assert (second["tool_use_id"], second["content"][0]) == ("c2", {"type": "text", "text": "2"})
    assert first == {"type": "tool_result", "tool_use_id": "c1", "content": "1", "is_error": True}
    assert third == {"type": "tool_result", "tool_use_id": "c3"}
    assert texts == [{"type": "text", "text": "Hurry."}, {"type": "text", "text": "Well?"}]


def test_results_of_two_turns_stay_apart() -> None:
    again = [
        ChatMessage("assistant", tool_calls=(Call("c2", "look", "{}"),)),
        ChatMessage("tool", tool_call_id="c2"),
    ]
    found = messages_of(USER, CALLS, RESULT, *again)
    assert [message["role"] for message in found] == ["user", "assistant", "user", "assistant", "user"]
    assert found[1]["content"] == [LOOKED]


def test_thinking_stands_where_it_stood() -> None:
    parts = (
        Part(provider="anthropic", data=THINKING),
        Part(provider="openai", data={"type": "reasoning"}),
        Part(provider="anthropic", data=REDACTED),
        TextPart("Looking."),
    )
    found = messages_of(USER, ChatMessage("assistant", parts, tool_calls=(LOOK,)), RESULT)
    assert found[1]["content"] == [THINKING, REDACTED, {"type": "text", "text": "Looking."}, LOOKED]


def test_call_ids_that_are_refused_are_rewritten_alike() -> None:
    odd = ("a b", "ä", "fine_1-")
    found = messages_of(
        ChatMessage("assistant", tool_calls=tuple(Call(i, "look", "{}") for i in odd)),
        *(text_message("tool", i, tool_call_id=i) for i in odd),
    )
    ids = [block["id"] for block in found[1]["content"]]
    assert ids == [block["tool_use_id"] for block in found[2]["content"]]
    assert ids == [
        "call_c8687a08aa5d6ed2044328fa6a697ab8",
        "call_33e6d73fee82904c8d7afb78de1154d1",
        "fine_1-",
    ]


def test_white_space_at_the_end_of_an_answer_to_be_continued_is_left_out() -> None:
    assert messages_of(USER, text_message("assistant", " The answer: \n"))[1]["content"] == " The answer:"
    assert messages_of(USER, text_message("assistant", "a "), USER)[1]["content"] == "a "


# ------------------------------------------------------------------------------------------ who begins


def test_the_user_begins() -> None:
    assert messages_of(SYSTEM, ANSWER)[0] == {"role": "user", "content": "(The conversation goes on.)"}
    assert messages_of(ANSWER, USER, lead_with_user="Go on.")[0] == {"role": "user", "content": "Go on."}
    assert messages_of(USER, ANSWER, lead_with_user="Go on.")[0] == {"role": "user", "content": "q"}


# ------------------------------------------------------------------------------------------ system text


def test_leading_instructions_become_blocks_of_system() -> None:
    request = request_of(
        ChatMessage("user"), SYSTEM, ChatMessage("system"), text_message("developer", "D"), USER
    )
    assert request["system"] == [{"type": "text", "text": "S"}, {"type": "text", "text": "D"}]
    assert request["messages"] == [{"role": "user", "content": "q"}]


LATE = text_message("developer", "Late.")


def test_a_later_one_is_an_error_unless_it_is_blank() -> None:
    assert messages_of(USER, ChatMessage("system"), ANSWER)[1] == {"role": "assistant", "content": "A"}
    with pytest.raises(ProviderError) as caught:
        request_of(SYSTEM, USER, LATE)
    assert str(caught.value) == (
        "messages[2] (developer message) stands after other messages, and Anthropic takes system text in front alone; "
        "late_system says what becomes of it: 'inline', 'user', 'hoist'"
    )


def test_late_system_hoisted() -> None:
    request = request_of(SYSTEM, USER, LATE, ANSWER, late_system="hoist")
    assert request["system"] == [{"type": "text", "text": "S"}, {"type": "text", "text": "Late."}]
    assert [message["role"] for message in request["messages"]] == ["user", "assistant"]


def test_late_system_said_by_the_user() -> None:
    wrapped = messages_of(USER, LATE, late_system="user")
    assert wrapped[0]["content"][1] == {"type": "text", "text": "<system>\nLate.\n</system>"}
    braces = text_message("system", "{text} {x}")
    own = messages_of(USER, ANSWER, braces, late_system="user", late_system_text="Note: {text}!")
    assert own[2] == {"role": "user", "content": "Note: {text} {x}!"}


def test_late_system_in_its_place_behind_the_users_turn() -> None:
    found = messages_of(USER, LATE, CALLS, LATE, RESULT, text_message("user", "r"), late_system="inline")
    assert [message["role"] for message in found] == ["user", "system", "assistant", "user", "system"]
    assert found[1] == found[4] == {"role": "system", "content": "Late."}
    assert [block["type"] for block in found[3]["content"]] == ["tool_result", "text"]


def test_late_system_behind_the_assistant_has_no_place() -> None:
    with pytest.raises(ProviderError) as caught:
        messages_of(USER, ANSWER, LATE, late_system="inline")
    assert str(caught.value) == (
        "messages[2] (developer message) stands behind the assistant's message, and Anthropic takes system messages "
        "directly behind the user's alone; late_system='user' or 'hoist' would do"
    )


# ------------------------------------------------------------------------------------------ tools


def test_tools() -> None:
    schema = {"properties": {"at": {"type": "string"}}, "required": ("at",)}
    tools = [
        Tool("look", "Looks.", schema, strict=True),
        Tool("wait", "", {}),
        Tool("go", "", {"type": "object"}),
    ]
    request = to_anthropic(chat(USER, tools=tools, config=FIVE))
    check_anthropic(request)
    assert request["tools"] == [
        {
            "name": "look",
            "description": "Looks.",
            "input_schema": {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "required": ["at"],
            },
            "strict": True,
        },
        {"name": "wait", "input_schema": {"type": "object", "properties": {}}},
        {"name": "go", "input_schema": {"type": "object"}},
    ]


def test_calls_without_tools_are_an_error_or_text() -> None:
    messages = (
        USER,
        ChatMessage("assistant", (TextPart("Looking."),), tool_calls=(LOOK, Call("c2", "wait", ""))),
        RESULT,
        ChatMessage("tool", (picture(),), tool_call_id="c2", is_error=True),
        ChatMessage("tool", tool_call_id="gone"),
    )
    with pytest.raises(ProviderError) as caught:
        to_anthropic(chat(*messages, config=FIVE))
    assert str(caught.value) == (
        "messages[1] (assistant message) holds calls or results of tools, and Anthropic refuses those in a request "
        "without tools; add a tool_definition, or write them as text with flatten_tools=True"
    )
    _, said, heard = messages_of(*messages, flatten_tools=True)
    assert said["content"] == 'Looking.\n[called look with {"at": "sky"}]\n[called wait with {}]'
    assert [block.get("text") for block in heard["content"]] == [
        "[result of look]\nblue",
        "[error of wait]\n",
        None,
        "[result of a tool]\n",
    ]


def test_tools_in_extra_are_tools() -> None:
    config = PromptConfig(
        max_response_tokens=5, extra={"tools": [{"name": "look", "input_schema": {"type": "object"}}]}
    )
    request = to_anthropic(chat(USER, CALLS, RESULT, config=config))
    check_anthropic(request)
    assert request["messages"][1]["content"] == [LOOKED]


def test_a_legacy_call_is_flattened_with_the_others() -> None:
    legacy = ChatMessage("assistant", function_call=Call(None, "look", "{}"))
    assert messages_of(USER, legacy, text_message("tool", "R", tool_call_id="x"), flatten_tools=True)[1] == {
        "role": "assistant",
        "content": "[called look with {}]",
    }


# ------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("config", "figures", "tokens"),
    [
        (FIVE, {}, 5),
        (PromptConfig(max_response_tokens="tokens_reserved"), {"tokens_reserved": 6}, 6),
        (PromptConfig(max_response_tokens="tokens_remaining"), {"token_count": 3, "token_limit": 10}, 7),
        (PromptConfig(extra={"max_tokens": 8}), {}, 8),
        (PromptConfig(max_response_tokens=5, extra={"max_tokens": 8}), {}, 8),
    ],
)
def test_tokens_of_the_answer(config: PromptConfig, figures: dict[str, Any], tokens: int) -> None:
    assert to_anthropic(chat(USER, config=config, **figures))["max_tokens"] == tokens


def test_stop_and_extra() -> None:
    config = PromptConfig(stop=("a", "b"), max_response_tokens=5, extra={"thinking": {"type": "adaptive"}})
    request = to_anthropic(chat(SYSTEM, USER, tools=[TOOL], config=config))
    check_anthropic(request)
    assert list(request) == ["system", "messages", "tools", "stop_sequences", "max_tokens", "thinking"]
    assert request["stop_sequences"] == ["a", "b"]
    assert to_anthropic(chat(USER, config=PromptConfig(stop="a", max_response_tokens=5)))[
        "stop_sequences"
    ] == ["a"]
    assert "stop_sequences" not in to_anthropic(
        chat(USER, config=PromptConfig(stop=(), max_response_tokens=5))
    )


# ------------------------------------------------------------------------------------------ refusals


def with_config(config: PromptConfig, *messages: ChatMessage, **more: Any) -> Outcome:
    return chat(*(messages or (USER,)), config=config, **more)


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (
            with_config(PromptConfig()),
            "Anthropic needs max_tokens, the most tokens that the answer may take: say it with config(max_response_tokens=...), or with max_tokens=...",
        ),
        (
            with_config(PromptConfig(max_response_tokens="tokens_reserved")),
            "Anthropic needs max_tokens, the most tokens that the answer may take: config(max_response_tokens='tokens_reserved') says none, as nothing is reserved; add empty(tokens=...)",
        ),
        (
            with_config(PromptConfig(max_response_tokens=5, stop=("a", " \n"))),
            "Anthropic refuses blank stop sequences, got ' \\n'; choose a stop with visible text",
        ),
        (
            with_config(FIVE, SYSTEM),
            "no message but system text is in, and Anthropic needs at least one of the user",
        ),
        (
            plain(" ", config=FIVE),
            "no message but system text is in, and Anthropic needs at least one of the user",
        ),
        (
            with_config(FIVE, ChatMessage("system", (picture(),))),
            "messages[0] (system message) holds an image; Anthropic takes images in user and tool messages alone: move it to one",
        ),
        (
            with_config(FIVE, ChatMessage("user", (Image(data=b"x", media_type="image/tiff"),))),
            "messages[0] (user message) holds an image of type 'image/tiff'; Anthropic takes image/jpeg, image/png, image/gif, image/webp",
        ),
        (
            with_config(FIVE, ChatMessage("assistant", function_call=Call(None, "look", "{}"))),
            "messages[0] (assistant message) holds a legacy function_call, which Anthropic can't hold; give it an id, in tool_calls",
        ),
        (
            with_config(
                FIVE, ChatMessage("assistant", tool_calls=(Call("c1", "look", "[1]"),)), RESULT, tools=[TOOL]
            ),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has arguments that are no JSON object, and Anthropic takes nothing else: '[1]'",
        ),
        (
            with_config(
                FIVE,
                ChatMessage("assistant", tool_calls=(Call("c1", "look", '{"a": 1e999}'),)),
                RESULT,
                tools=[TOOL],
            ),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has arguments that are no JSON object, and Anthropic takes nothing else: '{\"a\": 1e999}'",
        ),
        (
            with_config(
                FIVE,
                ChatMessage("assistant", tool_calls=(Call("c1", "look", '{"a": NaN}'),)),
                RESULT,
                tools=[TOOL],
            ),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has arguments that are no JSON object, and Anthropic takes nothing else: '{\"a\": NaN}'",
        ),
        (
            with_config(FIVE, CALLS, tools=[TOOL]),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has no result, and Anthropic refuses that",
        ),
        (
            with_config(
                FIVE, CALLS, text_message("tool", " \n", tool_call_id="c1", is_error=True), tools=[TOOL]
            ),
            "messages[1] (tool message, tool_call_id='c1') is an error without content, which Anthropic refuses; say in its text what went wrong",
        ),
        (
            with_config(FIVE, CALLS, RESULT, CALLS, RESULT, tools=[TOOL]),
            "messages[2] (assistant message): the call of 'look' (id 'c1') has the id of a call before it; Anthropic wants another for each call",
        ),
        (
            with_config(FIVE, tools=[Tool("a.b", "", {})]),
            "tool_definition 'a.b': Anthropic takes names of 1 to 128 letters, digits, '_' and '-' for tools, got 'a.b'",
        ),
        (
            with_config(FIVE, tools=[Tool("a", "", {"type": "array"})]),
            "tool_definition 'a': Anthropic needs parameters of type 'object', got 'array'",
        ),
        (
            with_config(PromptConfig(max_response_tokens=5, extra={"system": ""}), SYSTEM, USER),
            "extra holds 'system', which the prompt itself gives; leave it out of config(extra=...)",
        ),
        (
            with_config(PromptConfig(max_response_tokens=5, extra={"tools": [TOOL]}), tools=[TOOL]),
            "extra holds 'tools', which the prompt itself gives; leave it out of config(extra=...)",
        ),
    ],
)
def test_what_the_api_cannot_hold_is_named(outcome: Outcome, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        to_anthropic(outcome)
    assert str(caught.value) == says


def test_the_assistant_may_not_begin_on_request() -> None:
    with pytest.raises(ProviderError) as caught:
        messages_of(ANSWER, lead_with_user=False)
    assert str(caught.value) == (
        "the first message is the assistant's, and Anthropic needs one of the user before it; "
        "lead_with_user=True puts one there"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"late_system": "drop"},
            "to_anthropic() needs one of 'inline', 'user', 'hoist' or None for late_system, got 'drop'",
        ),
        ({"late_system_text": "x"}, "to_anthropic() needs {text} once in late_system_text, got 'x'"),
        ({"lead_with_user": " "}, "to_anthropic() needs text that is not blank for lead_with_user, got ' '"),
        ({"cache": "none"}, "to_anthropic() needs 'auto', 'marks', 'off' or None for cache, got 'none'"),
        ({"late_system_text": None}, "to_anthropic() needs text for late_system_text, got None"),
        ({"lead_with_user": 1}, "to_anthropic() needs text, True or False for lead_with_user, got 1"),
    ],
)
def test_wrong_options(options: Any, says: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        to_anthropic(chat(USER, config=FIVE), **options)
    assert str(caught.value) == says


def test_what_cannot_be_encoded_is_mended_in_data_too() -> None:
    halves = Call("c1", "look", '{"a": "\\ud800", "b\\ud83d\\udc4d": "\\ud83d\\udc4d"}')
    part = Part(provider="anthropic", data={**THINKING, "thinking": "\ud83d\udc4d\ud800"})
    config = PromptConfig(max_response_tokens=5, extra={"metadata": {"user_id": "\udfff"}})
    messages = (USER, ChatMessage("assistant", (part,), tool_calls=(halves,)), RESULT)
    request = to_anthropic(
        chat(*messages, tools=[Tool("look", "", {"description": "\ud800"})], config=config)
    )
    thought, call = request["messages"][1]["content"]
    assert thought["thinking"] == "👍\ufffd"
    assert call["input"] == {"a": "\ufffd", "b👍": "👍"}
    assert request["tools"][0]["input_schema"]["description"] == "\ufffd"
    assert request["metadata"] == {"user_id": "\ufffd"}
