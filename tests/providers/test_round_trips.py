"""Random histories of agents: to a provider's request and back to the same request."""

from __future__ import annotations

import json
from typing import Any, Literal

import attrs
import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import convert_to_messages
from pydantic import TypeAdapter

from priompt_py import from_openai, from_openai_responses, render
from priompt_py.model.elements import Part
from priompt_py.model.outcome import Outcome
from priompt_py.providers.anthropic import to_anthropic
from priompt_py.providers.anthropic_history import from_anthropic
from priompt_py.providers.gemini import to_gemini
from priompt_py.providers.langchain import to_langchain
from priompt_py.providers.openai import to_openai
from priompt_py.providers.openai_responses import to_openai_responses
from priompt_py.providers.plain import to_json
from tests.providers.chats import chats, histories
from tests.providers.sdk_types import (
    check_anthropic,
    check_messages_of_anthropic,
    check_request,
    check_responses,
)

MANY = 10**9  # tokens

CHAT_FILE = Part(provider="openai", data={"type": "file", "file": {"file_id": "f"}})
INPUT_FILE = Part(provider="openai", data={"type": "input_file", "file_id": "f"})
REASONING = Part(provider="openai", data={"type": "reasoning", "id": "rs_1", "summary": []})
DOCUMENT = Part(
    provider="anthropic",
    data={"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
)
THINKING = Part(provider="anthropic", data={"type": "thinking", "thinking": "T", "signature": "s"})


def flat(content: Any) -> list[Any]:
    """Content as texts, marks, and other parts: neighbouring texts are read as one."""
    found: list[Any] = []
    for part in [{"text": content}] if isinstance(content, str) else content or ():
        other = {key: value for key, value in part.items() if key not in ("type", "text", *MARKS)}
        if "text" in part and not other:
            if found and isinstance(found[-1], str):
                found[-1] += part["text"]
            elif part["text"]:
                found.append(part["text"])
        else:
            found.append({**other, "type": part["type"]})
        found += [{"mark": mark} for mark in MARKS if mark in part]
    return found


MARKS = ("cache_control", "prompt_cache_breakpoint")


@given(chats())
def test_chat_completions(outcome: Outcome) -> None:
    request = to_openai(outcome)
    elements = from_openai(request["messages"])
    again = render(elements, token_limit=MANY, pair_tools=False).to_openai()["messages"]
    for message, back in zip(request["messages"], again, strict=True):
        assert flat(back.pop("content")) == flat(message.pop("content"))
        assert back == message


@given(histories(user_part=CHAT_FILE, thought=REASONING).filter(lambda h: not images_in_results(h)))
def test_chat_completions_of_agents(outcome: Outcome) -> None:
    request = to_openai(outcome, cache_marks=True)
    check_request(request)
    again = render(from_openai(request["messages"]), token_limit=MANY).to_openai(cache_marks=True)["messages"]
    for message, back in zip(request["messages"], again, strict=True):
        assert flat(back.pop("content")) == flat(message.pop("content"))
        assert back == message


def images_in_results(outcome: Outcome) -> bool:
    return any(m.role == "tool" and not m.pieces and m.parts for m in outcome.messages or ()) or any(
        m.role == "tool" and any(hasattr(part, "url") for part in m.parts) for m in outcome.messages or ()
    )


@pytest.mark.parametrize("marks", [False, True])
def test_responses(marks: bool) -> None:
    @given(histories(user_part=INPUT_FILE, thought=REASONING))
    def check(outcome: Outcome) -> None:
        request = to_openai_responses(outcome, cache_marks=marks)
        check_responses(request)
        elements = from_openai_responses(request["input"], instructions=request.get("instructions"))
        again = render(elements, token_limit=MANY).to_openai_responses(cache_marks=marks)
        assert json.dumps(said(again["input"])) == json.dumps(said(request["input"]))
        assert again.get("instructions") == request.get("instructions")

    check()


@pytest.mark.parametrize("cache", ["auto", "marks", "off"])
@pytest.mark.parametrize("late", ["user", "hoist"])
def test_anthropic(late: Literal["user", "hoist"], cache: Literal["auto", "marks", "off"]) -> None:
    @settings(max_examples=40)  # of each of six ways
    @given(histories(user_part=DOCUMENT, thought=THINKING), st.booleans())
    def check(outcome: Outcome, flatten: bool) -> None:
        if flatten:
            outcome = without_tools(outcome)
        request = to_anthropic(outcome, late_system=late, cache=cache, flatten_tools=flatten)
        check_anthropic(request)
        check_messages_of_anthropic(request["messages"])
        assert json.dumps(request) == json.dumps(
            to_anthropic(outcome, late_system=late, cache=cache, flatten_tools=flatten)
        )
        elements = from_anthropic(request["messages"], system=request.get("system"))
        back = render(elements, token_limit=MANY)
        again = to_anthropic(like(back._outcome, outcome), flatten_tools=flatten, cache="marks")
        assert flat(again.get("system")) == flat(request.get("system"))
        assert len(again["messages"]) == len(request["messages"])
        for message, read in zip(request["messages"], again["messages"], strict=True):
            assert read["role"] == message["role"]
            assert flat(read["content"]) == flat(message["content"])

    check()


def said(items: list[Any]) -> list[Any]:
    """Items without blank ones of the assistant, which merge with the calls that follow them."""
    return [item for item in items if item.get("role") != "assistant" or item["content"].strip()]


def without_tools(outcome: Outcome) -> Outcome:
    return attrs.evolve(outcome, tools=())


def like(outcome: Outcome, other: Outcome) -> Outcome:
    """An outcome with the tools and settings of another."""
    return attrs.evolve(outcome, tools=other.tools, config=other.config)


@given(histories(user_part=DOCUMENT, thought=THINKING))
def test_gemini_and_langchain_read_them(outcome: Outcome) -> None:
    request = to_gemini(outcome, late_system="user")
    CONTENTS.validate_python(request["contents"])
    types.GenerateContentConfig.model_validate(request["config"])
    assert len(convert_to_messages(to_langchain(outcome))) == len(outcome.messages or ())


CONTENTS = TypeAdapter(list[types.Content])


@given(histories(user_part=DOCUMENT, thought=THINKING))
def test_histories_are_not_changed(outcome: Outcome) -> None:
    before = json.dumps(to_json(outcome))
    to_anthropic(outcome, late_system="user", cache="auto")
    to_openai_responses(outcome, cache_marks=True)
    to_gemini(outcome, late_system="hoist")
    to_langchain(outcome)
    assert json.dumps(to_json(outcome)) == before
