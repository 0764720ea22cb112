from __future__ import annotations

import base64
import json
from typing import Any, cast

import pytest
from hypothesis import given

from priompt_py.errors import ArgumentValueError, ProviderError
from priompt_py.model.elements import Call, Image, Part, Role
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.providers.openai import to_openai
from priompt_py.providers.plain import to_json
from tests.providers.chats import chat, chats, picture, plain, png, text_message
from tests.providers.sdk_types import check_request

LOOK = Call("c1", "look", '{"at": "sky"}')
MARK = {"mode": "explicit"}


def messages_of(*messages: ChatMessage, **options: Any) -> Any:
    request = to_openai(chat(*messages), **options)
    check_request(request)
    return request["messages"]


# ------------------------------------------------------------------------------------------ messages


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_text_alone_is_a_string(role: Role) -> None:
    message = ChatMessage(role, (TextPart("a\n", (2,)), TextPart("b")), name="bob", to="ann")
    assert messages_of(message) == [{"role": role, "content": "a\nb", "name": "bob"}]


def test_plain_prompt_is_one_user_message() -> None:
    request = to_openai(plain("Hi <|im_end|>"))
    assert request == {"messages": [{"role": "user", "content": "Hi <|im_end|>"}]}
    check_request(request)


def test_images_are_parts_of_user_messages() -> None:
    url = Image(url="https://example.org/a.png", detail="low")
    message = ChatMessage("user", (TextPart("see "), TextPart("this"), picture(), url, TextPart("")))
    data = base64.b64encode(png()).decode()
    assert messages_of(message) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see this"},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{data}", "detail": "auto"},
                },
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
            ],
        }
    ]


def test_an_image_alone_is_a_part() -> None:
    (message,) = messages_of(ChatMessage("user", (picture(),)))
    assert [part["type"] for part in message["content"]] == ["image_url"]


def test_tools_next_to_an_image() -> None:
    request = to_openai(chat(ChatMessage("user", (picture(),)), tools=[Tool("look", "", {})]))
    check_request(request)
    assert len(request["messages"]) == len(request["tools"]) == 1


def test_calls_and_results() -> None:
    assert messages_of(
        ChatMessage("assistant", (TextPart(" \n"),), tool_calls=(LOOK,)),
        text_message("tool", "blue", tool_call_id="c1", name="look", is_error=True, to="assistant"),
        text_message("assistant", "It is", tool_calls=(Call("c2", "look", "{}"),)),
        ChatMessage("tool", (), tool_call_id="c2"),
    ) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
            ],
        },
        {"role": "tool", "content": "blue", "tool_call_id": "c1"},
        {
            "role": "assistant",
            "content": "It is",
            "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "", "tool_call_id": "c2"},
    ]


def test_results_stand_directly_after_the_message_with_their_calls() -> None:
    found = messages_of(
        ChatMessage("assistant", tool_calls=(LOOK, Call("c2", "look", "{}"))),
        ChatMessage("assistant", tool_calls=(Call("c3", "look", "{}"),)),
        text_message("user", "Hurry."),
        text_message("tool", "3", tool_call_id="c3"),
        text_message("tool", "2", tool_call_id="c2"),
        text_message("tool", "1", tool_call_id="c1"),
    )
    assert [message.get("content") for message in found] == [None, "2", "1", None, "3", "Hurry."]


def test_an_id_may_come_again_once_it_is_answered() -> None:
    answered = [ChatMessage("assistant", tool_calls=(LOOK,)), text_message("tool", "1", tool_call_id="c1")]
    assert len(messages_of(*answered, *answered)) == 4


def test_legacy_function_call() -> None:
    message = ChatMessage("assistant", function_call=Call(None, "look", "{}"))
    assert messages_of(message) == [
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    ]


def test_emptied_messages_stay() -> None:
    assert messages_of(ChatMessage("user"), text_message("assistant", ""), text_message("user", "q")) == [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "q"},
    ]


def test_order_is_the_trees() -> None:
    roles: list[Role] = ["user", "system", "assistant", "system", "user"]
    assert [m["role"] for m in messages_of(*(text_message(role, "x") for role in roles))] == roles


def test_long_call_ids_are_shortened_alike_everywhere() -> None:
    long, other, fits = "x" * 41, "x" * 42, "y" * 40
    found = messages_of(
        ChatMessage("assistant", tool_calls=tuple(Call(i, "look", "{}") for i in (long, other, fits))),
        *(text_message("tool", i, tool_call_id=i) for i in (long, other, fits)),
    )
    ids = [call["id"] for call in found[0]["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in found[1:]]
    assert len(set(ids)) == 3
    assert max(map(len, ids)) == 40
    assert ids[2] == fits
    # Stable whatever stands around it, in every release: a prompt's beginning must keep its bytes.
    assert ids[0] == "call_3164596df4fdd018b2c567ec8c03e79b"
    again = messages_of(
        ChatMessage("assistant", tool_calls=(Call(long, "look", "{}"),)),
        ChatMessage("tool", tool_call_id=long),
    )
    assert again[0]["tool_calls"][0]["id"] == ids[0]


# ------------------------------------------------------------------------------------------ parts and marks

FILE = {"type": "file", "file": {"file_id": "f"}}


def test_own_parts_are_written_back_and_others_left_out() -> None:
    message = ChatMessage(
        "user",
        (
            TextPart("a"),
            Part(provider="anthropic", data={"type": "thinking"}),
            TextPart("b"),
            Part(provider="openai", data=FILE),
            TextPart("c"),
        ),
    )
    text_a, text_c = {"type": "text", "text": "ab"}, {"type": "text", "text": "c"}
    assert messages_of(message) == [{"role": "user", "content": [text_a, FILE, text_c]}]


def test_an_own_text_part_stays_a_part() -> None:
    message = ChatMessage("user", (Part(provider="openai", data={"type": "text", "text": "x"}),))
    assert messages_of(message) == [{"role": "user", "content": [{"type": "text", "text": "x"}]}]


def test_a_message_of_foreign_parts_alone_is_empty() -> None:
    message = ChatMessage("assistant", (Part(provider="anthropic", data={"type": "thinking"}),))
    assert messages_of(message) == [{"role": "assistant", "content": ""}]


def test_marks_are_off_by_default_and_leave_no_trace() -> None:
    marked = ChatMessage("user", (TextPart("a"), CacheMark(), TextPart("b"), CacheMark()))
    assert messages_of(marked) == [{"role": "user", "content": "ab"}]


def test_marks_stand_on_the_part_before_them() -> None:
    found = messages_of(
        ChatMessage("system", (TextPart("S"), CacheMark())),
        ChatMessage("user", (TextPart("a"), CacheMark(), CacheMark(), TextPart("b"), picture(), CacheMark())),
        text_message("assistant", "c"),
        cache_marks=True,
    )
    assert found[0]["content"] == [{"type": "text", "text": "S", "prompt_cache_breakpoint": MARK}]
    first, second, image = found[1]["content"]
    assert first == {"type": "text", "text": "a", "prompt_cache_breakpoint": MARK}
    assert second == {"type": "text", "text": "b"}
    assert image["prompt_cache_breakpoint"] == MARK
    assert found[2] == {"role": "assistant", "content": "c"}


def test_a_mark_without_a_part_before_it_falls_on_the_nearest_earlier_one() -> None:
    found = messages_of(
        ChatMessage("system", (CacheMark(), TextPart("S"))),
        ChatMessage("assistant", tool_calls=(LOOK,)),
        ChatMessage("tool", (CacheMark(), TextPart("R")), tool_call_id="c1"),
        cache_marks=True,
    )
    assert found[0]["content"] == [{"type": "text", "text": "S", "prompt_cache_breakpoint": MARK}]
    assert found[1]["content"] is None
    assert found[2]["content"] == "R"


def test_marks_stand_on_files_too_and_keep_the_authors_own() -> None:
    own = {**FILE, "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
    message = ChatMessage(
        "user",
        (
            Part(provider="openai", data=FILE),
            CacheMark(),
            Part(provider="openai", data=own),
            CacheMark(),
        ),
    )
    (found,) = to_openai(chat(message), cache_marks=True)["messages"]  # older clients' types know no ttl
    assert found["content"] == [{**FILE, "prompt_cache_breakpoint": MARK}, own]
    assert "prompt_cache_breakpoint" not in FILE


# ------------------------------------------------------------------------------------------ settings


def test_tools() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ("at",)}
    request = to_openai(
        chat(
            text_message("user", "q"),
            tools=[
                Tool("look", "Looks.", schema, strict=True),
                Tool("wait", "", {}),
                Tool("go", "", {}, strict=False),
            ],
        )
    )
    check_request(request)
    assert request["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Looks.",
                "parameters": {
                    "type": "object",
                    "properties": {"at": {"type": "string"}},
                    "required": ["at"],
                },
                "strict": True,
            },
        },
        {"type": "function", "function": {"name": "wait"}},
        {"type": "function", "function": {"name": "go", "strict": False}},
    ]
    assert request["tool_choice"] == "auto"


def settings_of(config: PromptConfig, **more: Any) -> dict[str, Any]:
    options = {key: more.pop(key) for key in ("max_tokens_key",) if key in more}
    request = to_openai(chat(text_message("user", "q"), config=config, **more), **options)
    check_request(request)
    del request["messages"]
    return request


@pytest.mark.parametrize(
    ("stop", "sent"),
    [(None, {}), ((), {}), ("x", {"stop": "x"}), (("a", "b"), {"stop": ["a", "b"]})],
)
def test_stop(stop: Any, sent: dict[str, Any]) -> None:
    assert settings_of(PromptConfig(stop=stop)) == sent


@pytest.mark.parametrize(
    ("asked", "figures", "sent"),
    [
        (None, {"tokens_reserved": 5}, {}),
        (7, {}, {"max_completion_tokens": 7}),
        (7, {"max_tokens_key": "max_tokens"}, {"max_tokens": 7}),
        ("tokens_reserved", {"tokens_reserved": 600}, {"max_completion_tokens": 600}),
        ("tokens_reserved", {"tokens_reserved": 0}, {}),
        ("tokens_remaining", {"token_count": 9, "token_limit": 10}, {"max_completion_tokens": 1}),
        (
            "tokens_remaining",
            {"token_count": 4, "token_limit": 10, "tokens_reserved": 3, "max_tokens_key": "max_tokens"},
            {"max_tokens": 6},
        ),
    ],
)
def test_tokens_of_the_answer(asked: Any, figures: dict[str, Any], sent: dict[str, Any]) -> None:
    assert settings_of(PromptConfig(max_response_tokens=asked), **figures) == sent


def test_extra_has_the_last_word() -> None:
    config = PromptConfig(
        stop="x",
        max_response_tokens=5,
        extra={"stop": "y", "seed": 1, "max_completion_tokens": 6, "tool_choice": "none"},
    )
    request = to_openai(chat(text_message("user", "q"), tools=[Tool("look", "", {})], config=config))
    assert list(request) == ["messages", "tools", "tool_choice", "stop", "max_completion_tokens", "seed"]
    assert (request["stop"], request["max_completion_tokens"], request["tool_choice"]) == ("y", 6, "none")


def test_extra_may_bring_tools_where_the_prompt_has_none() -> None:
    custom = {"type": "custom", "custom": {"name": "shell"}}
    assert settings_of(PromptConfig(extra={"tools": [custom]})) == {"tools": [custom]}


# ------------------------------------------------------------------------------------------ refusals

ASKS = ChatMessage("assistant", tool_calls=(LOOK,))
TOOL: dict[str, Any] = {"tools": [Tool("look", "", {})]}
REMAINING: dict[str, Any] = {
    "config": PromptConfig(max_response_tokens="tokens_remaining"),
    "token_limit": 10,
}


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (
            chat(ASKS, ChatMessage("tool", (picture(),), tool_call_id="c1")),
            "messages[1] (tool message, tool_call_id='c1') holds an image; OpenAI takes images in user messages alone: move it to one",
        ),
        (
            chat(ChatMessage("system", (picture(),), name="boss")),
            "messages[0] (system message, name='boss') holds an image; OpenAI takes images in user messages alone: move it to one",
        ),
        (
            chat(ChatMessage("assistant", (picture(),))),
            "messages[0] (assistant message) holds an image; OpenAI takes images in user messages alone: move it to one",
        ),
        (
            chat(ChatMessage("user", (Image(data=b"abc"),))),
            "messages[0] (user message) holds an image of 3 bytes without a media type",
        ),
        (
            chat(text_message("user", "q", name="Ann B.")),
            "messages[0] (user message, name='Ann B.'): OpenAI takes names without white space, angle brackets, bars and slashes, got 'Ann B.'",
        ),
        (
            chat(
                ChatMessage("assistant", tool_calls=(Call("c", "web.search", "{}"),)),
                ChatMessage("tool", tool_call_id="c"),
            ),
            "messages[0] (assistant message): OpenAI takes names of 1 to 64 letters, digits, '_' and '-' for functions, got 'web.search'",
        ),
        (
            chat(text_message("user", "q"), tools=[Tool("a b", "", {})]),
            "tool_definition 'a b': OpenAI takes names of 1 to 64 letters, digits, '_' and '-' for functions, got 'a b'",
        ),
        (
            chat(ChatMessage("assistant", tool_calls=(Call(None, "look", "{}"),))),
            "messages[0] (assistant message): the call of 'look' has no id",
        ),
        (
            chat(ChatMessage("tool")),
            "messages[0] (tool message): a tool message needs the id of the call that it answers",
        ),
        (chat(), "no message of the prompt is in, and OpenAI needs at least one"),
        (
            chat(text_message("user", "q"), config=PromptConfig(stop=tuple("abcde"))),
            "OpenAI takes at most 4 stop texts, got 5",
        ),
        (
            chat(text_message("user", "q"), config=PromptConfig(stop=("a", ""))),
            "OpenAI refuses an empty stop text; leave stop out of config() for none",
        ),
        (
            chat(text_message("user", "q"), config=PromptConfig(stop="")),
            "OpenAI refuses an empty stop text; leave stop out of config() for none",
        ),
        (
            chat(text_message("user", "q", name="x" * 65)),
            f"messages[0] (user message, name='{'x' * 65}'): OpenAI takes names of at most 64 characters, got one of 65",
        ),
        (
            chat(ASKS),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has no result, and OpenAI refuses that",
        ),
        (
            chat(text_message("tool", "blue", tool_call_id="c1"), ASKS),
            "messages[0] (tool message, tool_call_id='c1') answers no call before it that has no result yet, and OpenAI refuses that",
        ),
        (
            chat(ASKS, *[text_message("tool", "blue", tool_call_id="c1")] * 2),
            "messages[2] (tool message, tool_call_id='c1') answers no call before it that has no result yet, and OpenAI refuses that",
        ),
        (
            chat(ASKS, ASKS, text_message("tool", "blue", tool_call_id="c1")),
            "messages[1] (assistant message): the call of 'look' (id 'c1') has the id of a call before it that has no result yet; OpenAI tells calls by their ids",
        ),
        (
            chat(text_message("user", "q"), token_count=10, **REMAINING),
            "max_response_tokens='tokens_remaining' leaves 0 tokens for the answer: the prompt takes 10 of its limit of 10; reserve room with empty(tokens=...)",
        ),
        (
            plain("0123456789+", token_count=11, **REMAINING),
            "max_response_tokens='tokens_remaining' leaves -1 tokens for the answer: the prompt takes 11 of its limit of 10; reserve room with empty(tokens=...)",
        ),
        (
            chat(text_message("user", "q"), config=PromptConfig(max_response_tokens="all")),
            "max_response_tokens needs a number, 'tokens_reserved' or 'tokens_remaining', got 'all'",
        ),
        (
            chat(text_message("user", "q"), config=PromptConfig(extra={"messages": []})),
            "extra holds 'messages', which the prompt itself gives; leave it out of config(extra=...)",
        ),
        (
            chat(text_message("user", "q"), config=PromptConfig(extra={"tools": []}), **TOOL),
            "extra holds 'tools', which the prompt itself gives; leave it out of config(extra=...)",
        ),
    ],
)
def test_what_the_api_cannot_hold_is_named(outcome: Outcome, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        to_openai(outcome)
    assert str(caught.value) == says


def test_unknown_key_for_the_tokens() -> None:
    key: Any = "max_output_tokens"
    with pytest.raises(
        ArgumentValueError, match="needs 'max_completion_tokens' or 'max_tokens' for max_tokens_key"
    ):
        to_openai(plain("x"), max_tokens_key=key)


# ------------------------------------------------------------------------------------------ always


@given(chats())
def test_every_request_is_well_formed(outcome: Outcome) -> None:
    for cache_marks in (False, True):
        check_request(to_openai(outcome, cache_marks=cache_marks))
    check_request(to_openai(outcome, max_tokens_key="max_tokens"))


@given(chats())
def test_bytes_are_the_same_each_time_and_nothing_is_shared(outcome: Outcome) -> None:
    before = json.dumps(to_json(outcome))
    request = to_openai(outcome, cache_marks=True)
    sent = json.dumps(request)
    spoil(request)
    assert json.dumps(to_json(outcome)) == before
    assert json.dumps(to_openai(outcome, cache_marks=True)) == sent


def spoil(value: Any) -> None:
    """Changes every dict and list of a request, at every depth."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        for item in items.values():
            spoil(item)
        items["spoilt"] = True
    elif isinstance(value, list):
        entries = cast("list[object]", value)
        for item in entries:
            spoil(item)
        entries.append("spoilt")


@given(chats())
def test_content_is_sent_unchanged(outcome: Outcome) -> None:
    sent = to_openai(outcome)["messages"]
    assert outcome.messages is not None
    assert [m["role"] for m in sent] == [m.role for m in outcome.messages]
    for message, written in zip(outcome.messages, sent, strict=True):
        content = written["content"]
        texts = content if isinstance(content, str) else "".join(p.get("text", "") for p in content or ())
        assert texts == message.text or (content is None and not message.text.strip())
