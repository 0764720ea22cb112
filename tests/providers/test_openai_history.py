from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.parts import image, part
from priompt_py.author.tags import cache_break
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.model.elements import Call, Image, Message, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart
from priompt_py.providers.openai import from_openai, to_openai
from tests.providers.chats import chats, png

# ------------------------------------------------------------------------------------------ what is read

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}


@pytest.mark.parametrize(
    ("message", "element"),
    [
        ({"role": "system", "content": "S"}, system_message["S"]),
        ({"role": "developer", "content": "D", "name": "boss"}, developer_message(name="boss")["D"]),
        ({"role": "user", "content": "U", "name": None}, user_message["U"]),
        ({"role": "user", "content": ""}, user_message[""]),
        ({"role": "user", "content": []}, user_message[[]]),
        ({"role": "assistant", "content": "A", "name": "bot"}, assistant_message(name="bot")["A"]),
        ({"role": "assistant", "content": None}, assistant_message[[]]),
        ({"role": "assistant"}, assistant_message[[]]),
        ({"role": "assistant", "refusal": "No."}, assistant_message["No."]),
        (
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Hm. "}, {"type": "refusal", "refusal": "No."}],
            },
            assistant_message["Hm. ", "No."],
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            assistant_message(tool_calls=[{"id": "c1", "name": "look", "arguments": '{"at": "sky"}'}])[[]],
        ),
        (
            {"role": "assistant", "content": None, "function_call": CALL["function"]},
            assistant_message(function_call={"name": "look", "arguments": '{"at": "sky"}'})[[]],
        ),
        ({"role": "tool", "tool_call_id": "c1", "content": "R"}, tool_message(tool_call_id="c1")["R"]),
        (
            {
                "role": "tool",
                "tool_call_id": "c1",
                "name": "look",
                "content": [{"type": "text", "text": "R"}],
            },
            tool_message(tool_call_id="c1", name="look")["R"],
        ),
        (
            {
                "role": "user",
                "content": (
                    {
                        "type": "text",
                        "text": "see",
                        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"},
                    },
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                ),
            },
            user_message[
                "see",
                cache_break,
                image(url="https://example.org/a.png", detail="low"),
                image(url="https://example.org/a.png"),
            ],
        ),
    ],
)
def test_messages_become_elements(message: dict[str, Any], element: Message) -> None:
    assert from_openai([message]) == [element]


@pytest.mark.parametrize("scheme", ["data", "DATA"])
def test_data_urls_become_bytes(scheme: str) -> None:
    url = f"{scheme}:image/png;base64,{base64.b64encode(png(7, 3)).decode()}"
    (found,) = from_openai([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])
    (picture,) = found.children
    assert isinstance(picture, Image)
    assert (picture.data, picture.dimensions, picture.media_type) == (png(7, 3), (7, 3), "image/png")


def test_pictures_of_tools_are_kept_for_providers_that_take_them() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    (found,) = from_openai([{"role": "tool", "tool_call_id": "c1", "content": [picture]}])
    assert found.children == (image(url="https://example.org/a.png"),)


def test_audio_and_files_are_opaque_parts() -> None:
    file = {
        "type": "file",
        "file": {"file_id": "f", "filename": None},
        "prompt_cache_breakpoint": {"mode": "explicit"},
    }
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    history = [{"role": "user", "content": [file, audio]}]
    (found,) = from_openai(history)
    assert found.children == (part(provider="openai", data=file), part(provider="openai", data=audio))
    (counted,) = from_openai(history, part_tokens=lambda item: len(item["type"]))
    assert [child.tokens for child in counted.children if isinstance(child, Part)] == [4, 11]


def test_an_answer_of_the_sdk_is_read() -> None:
    answer = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": "A", "annotations": [], "tool_calls": [CALL]}
    )
    (found,) = from_openai([answer.model_dump()])
    assert found.children == ("A",)
    assert found.tool_calls == (Call("c1", "look", '{"at": "sky"}'),)


def test_any_iterable_of_messages_will_do() -> None:
    found = from_openai({"role": "user", "content": text} for text in "ab")
    assert [message.children for message in found] == [("a",), ("b",)]


def test_the_history_is_not_changed_or_shared() -> None:
    file = {"type": "file", "file": {"file_id": "f"}}
    history = [{"role": "user", "content": [file]}]
    (found,) = from_openai(history)
    assert history == [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}]
    file["type"] = "spoilt"
    (child,) = found.children
    assert isinstance(child, Part)
    assert child.data["type"] == "file"


# ------------------------------------------------------------------------------------------ what is refused


def user(*parts: object) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def calls(*entries: object) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(entries)}


KEYS = "role, content, name"


@pytest.mark.parametrize(
    ("bad", "error", "says"),
    [
        ({"role": "wizard"}, ArgumentValueError, " needs one of the roles system, developer, user, assistant, tool, got 'wizard' (str)"),
        ({"role": ["user"]}, ArgumentValueError, " needs one of the roles system, developer, user, assistant, tool, got ['user'] (list)"),
        ({}, ArgumentValueError, " needs one of the roles system, developer, user, assistant, tool, got None (NoneType)"),
        ("hello", ArgumentTypeError, " needs a mapping, got 'hello' (str)"),
        (None, ArgumentTypeError, " needs a mapping, got None (NoneType)"),
        (
            {"role": "function", "name": "look", "content": "R"},
            ArgumentValueError,
            ": the role 'function' is the legacy form: give the call an id, write it in tool_calls of the assistant message before, and make this {'role': 'tool', 'tool_call_id': that id, 'content': ...}",
        ),
        (
            {"role": "assistant", "audio": {"id": "a"}},
            ArgumentValueError,
            ": an earlier spoken answer can't be held: put its transcript in content and leave audio out",
        ),
        ({"role": "user", "content": "U", "to": "bob"}, ArgumentValueError, f" has the unknown key 'to'; a user message takes {KEYS}"),
        (
            {"role": "system", "content": "U", "tool_calls": [CALL]},
            ArgumentValueError,
            f" has the unknown key 'tool_calls'; a system message takes {KEYS}",
        ),
        ({"role": "user"}, ArgumentValueError, " needs content"),
        ({"role": "tool", "tool_call_id": "c", "content": None}, ArgumentValueError, " needs content"),
        ({"role": "user", "content": 5}, ArgumentTypeError, ".content needs text or a list of parts, got 5 (int)"),
        ({"role": "user", "content": "U", "name": 5}, ArgumentTypeError, ": user_message() needs text for name, got name=5 (int)"),
        ({"role": "tool", "content": "R"}, ArgumentValueError, " needs tool_call_id, the id of the call that it answers"),
        (
            {"role": "tool", "tool_call_id": 5, "content": "R"},
            ArgumentTypeError,
            ": tool_message() needs text for tool_call_id, got tool_call_id=5 (int)",
        ),
        ({"role": "assistant", "refusal": 5}, ArgumentTypeError, ".refusal needs text, got 5 (int)"),
        (user("x"), ArgumentTypeError, ".content[0] needs a mapping, got 'x' (str)"),
        (user({"type": "video"}), ArgumentValueError, ".content[0]: a user message can't hold a part of type 'video' (str)"),
        (user({"text": "x"}), ArgumentValueError, ".content[0]: a user message can't hold a part of type None (NoneType)"),
        (user({"type": "refusal", "refusal": "x"}), ArgumentValueError, ".content[0]: a user message can't hold a part of type 'refusal' (str)"),
        (
            {"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
            ArgumentValueError,
            ".content[0]: a system message can't hold a part of type 'image_url' (str)",
        ),
        (user({"type": "text"}), ArgumentTypeError, ".content[0].text needs text, got None (NoneType)"),
        (
            user({"type": "text", "text": "a"}, {"type": "text", "text": "b", "bold": True}),
            ArgumentValueError,
            ".content[1] has the unknown key 'bold'; a text part takes type, text, prompt_cache_breakpoint",
        ),
        (user({"type": "image_url"}), ArgumentTypeError, ".content[0].image_url needs a mapping, got None (NoneType)"),
        (user({"type": "image_url", "image_url": {}}), ArgumentTypeError, ".content[0].image_url.url needs text, got None (NoneType)"),
        (
            user({"type": "image_url", "image_url": {"url": "u", "size": 5}}),
            ArgumentValueError,
            ".content[0].image_url has the unknown key 'size'; a picture takes url, detail",
        ),
        (
            user({"type": "image_url", "image_url": {"url": "u", "detail": "original"}}),
            ArgumentValueError,
            ".content[0].image_url: image() needs detail to be one of low, high, auto, got detail='original' (str)",
        ),
        (
            user({"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "implicit"}}),
            ArgumentValueError,
            ".content[0].prompt_cache_breakpoint needs the mode 'explicit', got 'implicit' (str)",
        ),
        (calls("x"), ArgumentTypeError, ".tool_calls[0] needs a mapping, got 'x' (str)"),
        ({"role": "assistant", "tool_calls": CALL}, ArgumentTypeError, ".tool_calls needs a list of calls, got "),
        (calls(CALL, {**CALL, "type": "custom"}), ArgumentValueError, ".tool_calls[1]: calls of custom tools can't be held: only those of functions"),
        (calls({**CALL, "type": "tool"}), ArgumentValueError, ".tool_calls[0] needs the type 'function', got 'tool' (str)"),
        (calls({**CALL, "extra": 0}), ArgumentValueError, ".tool_calls[0] has the unknown key 'extra'; a call takes id, type, function, index"),
        (calls({"function": CALL["function"]}), ArgumentValueError, ".tool_calls[0] needs id"),
        (calls({"id": "c1"}), ArgumentValueError, ".tool_calls[0] needs function"),
        (
            calls({"id": "c1", "function": {"name": "look", "arguments": "{}", "strict": True}}),
            ArgumentValueError,
            ".tool_calls[0].function has the unknown key 'strict'; a function takes name, arguments",
        ),
        (
            calls({"id": "c1", "function": {"name": "look"}}),
            ArgumentValueError,
            ": assistant_message(): tool_calls[0] needs arguments",
        ),
    ],
)  # fmt: skip
def test_unknown_content_is_refused_with_its_place(bad: Any, error: type[PromptError], says: str) -> None:
    with pytest.raises(error) as caught:
        from_openai([{"role": "user", "content": "fine"}, bad])
    assert str(caught.value).startswith(f"messages[1]{says}")


def test_calls_that_were_streamed_have_an_index() -> None:
    piece = ChoiceDeltaToolCall.model_validate({**CALL, "index": 3})
    (found,) = from_openai([{"role": "assistant", "content": None, "tool_calls": [piece]}])
    assert (
        found
        == assistant_message(tool_calls=[{"id": "c1", "name": "look", "arguments": '{"at": "sky"}'}])[[]]
    )


def test_objects_of_the_sdk_are_read() -> None:
    answer: Any = ChatCompletionMessage(role="assistant", content="A")
    assert from_openai([answer]) == [assistant_message["A"]]


def test_thoughts_that_compatible_servers_show_are_not_kept() -> None:
    answer: dict[str, Any] = {
        "role": "assistant",
        "content": "4",
        "reasoning_content": "2 + 2",
        "annotations": [],
    }
    assert from_openai([answer]) == [assistant_message["4"]]


@pytest.mark.parametrize("bad", ["text", b"bytes", {"role": "user", "content": "U"}, 5, None])
def test_not_a_list_of_messages(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^from_openai\(\) needs a list of messages, got "):
        from_openai(bad)


# ------------------------------------------------------------------------------------------ there and back


def joined(parts: Iterable[object]) -> list[object]:
    """Parts as OpenAI keeps them: neighbouring texts joined, no empty ones."""
    kept: list[object] = []
    for part_or_text in parts:
        item = part_or_text.text if isinstance(part_or_text, TextPart) else part_or_text
        if (
            isinstance(item, CacheMark)
            or item == ""
            or (isinstance(item, Part) and item.provider != "openai")
        ):
            continue
        if isinstance(item, str) and kept and isinstance(kept[-1], str):
            kept[-1] += item
        else:
            kept.append(item)
    return kept


def short(call_id: str | None) -> str | None:
    """An id where it is short enough to be sent as it is."""
    return call_id if call_id is None or len(call_id) <= 40 else None


def kept_by(message: ChatMessage) -> tuple[object, ...]:
    parts = joined(message.parts)
    if message.tool_calls or message.function_call:
        parts = [] if all(isinstance(p, str) and not p.strip() for p in parts) else parts
    return (
        message.role,
        None if message.role == "tool" else message.name,
        parts,
        [(short(call.id), call.name, call.arguments) for call in message.tool_calls],
        message.function_call,
        short(message.tool_call_id),
    )


def read_from(element: Message) -> tuple[object, ...]:
    def sent(call_id: str | None) -> str | None:
        return None if call_id is not None and call_id.startswith("call_") and len(call_id) == 37 else call_id

    return (
        element.role,
        element.name,
        joined(element.children),
        [(sent(call.id), call.name, call.arguments) for call in element.tool_calls],
        element.function_call,
        sent(element.tool_call_id),
    )


@given(chats())
def test_what_is_sent_reads_back(outcome: Outcome) -> None:
    assert outcome.messages is not None
    elements = from_openai(to_openai(outcome)["messages"])
    assert list(map(read_from, elements)) == list(map(kept_by, outcome.messages))


@given(chats())
def test_marks_read_back_where_they_were_written(outcome: Outcome) -> None:
    sent = to_openai(outcome, cache_marks=True)["messages"]
    written = [
        sum("prompt_cache_breakpoint" in p for p in m["content"] if p["type"] in ("text", "image_url"))
        for m in sent
        if isinstance(m["content"], list)
    ]
    read = [
        sum(child == cache_break for child in element.children)
        for element, m in zip(from_openai(sent), sent, strict=True)
        if isinstance(m["content"], list)
    ]
    assert read == written
