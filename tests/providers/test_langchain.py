"""Messages for LangChain, read by its own conversion."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_messages

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart
from priompt_py.providers.langchain import to_langchain
from tests.providers.chats import chat, picture, plain, png, text_message

LOOK = Call("c1", "look", '{"at": "sky"}')


def read(outcome: Outcome) -> list[Any]:
    return convert_to_messages(to_langchain(outcome))


def test_a_chat() -> None:
    assert read(
        chat(
            text_message("system", "S"),
            text_message("developer", "D"),
            text_message("user", "q", name="bob", to="ann"),
            text_message("assistant", "Looking.", tool_calls=(LOOK,)),
            text_message("user", "Hurry."),
            text_message("tool", "blue", tool_call_id="c1", name="look", is_error=True),
            ChatMessage("assistant"),
        )
    ) == [
        SystemMessage("S"),
        SystemMessage("D", additional_kwargs={"__openai_role__": "developer"}),
        HumanMessage("q", name="bob"),
        AIMessage(
            "Looking.", tool_calls=[{"type": "tool_call", "id": "c1", "name": "look", "args": {"at": "sky"}}]
        ),
        ToolMessage("blue", tool_call_id="c1", name="look", status="error"),
        HumanMessage("Hurry."),
        AIMessage(""),
    ]


def test_a_plain_prompt_is_one_user_message() -> None:
    assert read(plain("Hi")) == [HumanMessage("Hi")]


def test_a_prompt_of_nothing_is_no_message() -> None:
    assert to_langchain(chat()) == []


def test_images_and_parts_are_content_blocks() -> None:
    own = {"type": "file", "file_id": "f"}
    parts = (
        TextPart("see"),
        CacheMark(),
        picture(),
        Image(url="https://example.org/a.png"),
        Part(provider="langchain", data=own),
        Part(provider="openai", data={"type": "file"}),
    )
    (message,) = read(chat(ChatMessage("user", parts)))
    assert message.content == [
        {"type": "text", "text": "see"},
        {"type": "image", "base64": base64.b64encode(png()).decode(), "mime_type": "image/png"},
        {"type": "image", "url": "https://example.org/a.png"},
        own,
    ]
    assert message.content_blocks[:3] == message.content[:3]  # LangChain knows them for its own


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (
            chat(ChatMessage("system", (picture(),))),
            "messages[0] (system message) holds an image; LangChain takes images in user and tool messages alone: move it to one",
        ),
        (
            chat(ChatMessage("assistant", function_call=LOOK)),
            "messages[0] (assistant message) holds a legacy function_call, which LangChain can't hold; give it an id, in tool_calls",
        ),
        (
            chat(
                ChatMessage("assistant", tool_calls=(Call("c1", "look", "no JSON"),)),
                text_message("tool", "R", tool_call_id="c1"),
            ),
            "messages[0] (assistant message): the call of 'look' (id 'c1') has arguments that are no JSON object, and LangChain takes nothing else: 'no JSON'",
        ),
    ],
)
def test_what_it_cannot_hold_is_named(outcome: Outcome, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        to_langchain(outcome)
    assert str(caught.value) == says
