"""Random trees, rendered at the edges of their limits, through every conversion."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import attrs
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from priompt_py import Node, Rendered, render, user_message
from priompt_py.errors import PromptTooLong, ProviderError
from priompt_py.model.elements import Part
from priompt_py.model.prompt import ChatMessage, PromptConfig
from priompt_py.testing.strategies import KINDS, chats, prompts, token_limits
from tests.providers.sdk_types import (
    check_anthropic,
    check_messages_of_anthropic,
    check_request,
    check_responses,
)

CONTENT = KINDS - {"tool_definition", "config", "capture", "empty"}
TOKENIZERS = ("o200k_base", "cl100k_base")


@st.composite
def renders(draw: st.DrawFn, /, tree: Node, **how: Any) -> Rendered:
    limit = draw(token_limits(tree, **how))
    try:
        return render(tree, token_limit=limit, **how)
    except PromptTooLong:
        reject()


def sendable(found: Rendered, *, as_asked: bool) -> Rendered:
    """The same, with parts that OpenAI knows in place of those that only look so, and nothing extra.

    Unless ``as_asked``, the settings are such as every provider takes.
    """
    outcome = found._outcome
    messages = None if outcome.messages is None else tuple(map(with_known_parts, outcome.messages))
    config = attrs.evolve(outcome.config, extra={}) if as_asked else PromptConfig(max_response_tokens=5)
    return attrs.evolve(found, outcome=attrs.evolve(outcome, messages=messages, config=config))


def with_known_parts(message: ChatMessage) -> ChatMessage:
    known = {"user": FILE, "assistant": REASONING}.get(message.role)
    parts = [part if not isinstance(part, Part) else known for part in message.parts]
    return attrs.evolve(message, parts=tuple(part for part in parts if part is not None))


FILE = Part(provider="openai", data={"type": "file", "file": {"file_id": "f"}})
REASONING = Part(provider="openai", data={"type": "reasoning", "id": "rs_1", "summary": []})


@given(st.data())
def test_every_request_is_well_formed_or_refused_by_name(data: st.DataObject) -> None:
    tokenizer = data.draw(st.sampled_from(TOKENIZERS))
    tree = data.draw(chats().map(lambda chat: [user_message["q"], *chat]) | chats() | prompts())
    found = sendable(data.draw(renders(tree, tokenizer=tokenizer)), as_asked=data.draw(st.booleans()))
    before = json.dumps(found.to_json())
    for convert in (for_chats, for_responses, for_anthropic, for_gemini, for_langchain):
        refusal = None
        try:
            request = convert(found)
            assert json.dumps(convert(found)) == json.dumps(request)
        except ProviderError as error:
            refusal = str(error)
        assert refusal is None or any(reason in refusal for reason in REASONS), refusal
    assert json.dumps(found.to_json()) == before


# What random trees hold that some provider has no place for.
REASONS = (
    "no message",
    "leaves ",  # tokens for the answer
    "a legacy function_call",
    "take no stop texts",
    "blank stop sequences",
    "needs max_tokens",
    "holds an image",
    "an error without content",
)


@given(st.data())
def test_marks_change_nothing_that_a_model_reads(data: st.DataObject) -> None:
    tree = data.draw(chats(kinds=CONTENT).map(lambda chat: [user_message["q"], *chat]))
    found = sendable(data.draw(renders(tree)), as_asked=False)
    conversions: tuple[Callable[[bool], dict[str, Any]], ...] = (
        lambda marks: found.to_openai(cache_marks=marks),
        lambda marks: found.to_openai_responses(cache_marks=marks, instructions=False),
        lambda marks: found.to_anthropic(
            cache="marks" if marks else "off", late_system="user", flatten_tools=True
        ),
    )
    for convert in conversions:
        try:
            without = convert(False)
        except ProviderError:
            continue
        assert as_read(convert(True)) == as_read(without)


def as_read(data: Any) -> Any:
    """A request without marks, with neighbouring texts as one, and without blank content beside calls."""
    if isinstance(data, dict):
        items = cast("dict[str, Any]", data).items()
        kept = {name: as_read(item) for name, item in items if name not in MARKS}
        for name in ("content", "output"):
            if isinstance(kept.get(name), str):
                kept[name] = as_read([{"type": "text", "text": kept[name]}])
        if kept.get("type") == "input_text":
            kept["type"] = "text"
        calls = "tool_calls" in kept or "function_call" in kept
        if calls and not any(part.get("text", "x").strip() for part in kept["content"] or ()):
            kept["content"] = None
        return kept
    if not isinstance(data, list):
        return data
    read: list[Any] = []
    for item in map(as_read, cast("Sequence[Any]", data)):
        if read and is_text(item) and is_text(read[-1]):
            read[-1] = {"type": "text", "text": read[-1]["text"] + item["text"]}
        else:
            read.append(item)
    return read


def is_text(data: Any) -> bool:
    return isinstance(data, dict) and set(cast("dict[str, Any]", data)) == {"type", "text"}


MARKS = ("cache_control", "prompt_cache_breakpoint")


def for_chats(found: Rendered) -> Any:
    request = found.to_openai(cache_marks=True)
    check_request(request)
    return request


def for_responses(found: Rendered) -> Any:
    request = found.to_openai_responses(cache_marks=True)
    check_responses(request)
    return request


def for_anthropic(found: Rendered) -> Any:
    requests: list[Any] = []
    for late in ("user", "hoist"):
        for cache in ("auto", "marks", "off"):
            flatten = not found.tools
            request = found.to_anthropic(late_system=late, cache=cache, flatten_tools=flatten)
            check_anthropic(request)
            check_messages_of_anthropic(request["messages"])
            marks = json.dumps(request).count('"cache_control"')
            assert marks <= 4 * (cache != "off")
            requests.append(request)
    return requests


def for_gemini(found: Rendered) -> Any:
    request = found.to_gemini(late_system="user")
    assert all(content["parts"] for content in request["contents"])
    return request


def for_langchain(found: Rendered) -> Any:
    return found.to_langchain()


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_chat_has_as_many_ids_as_it_was_counted(tokenizer: str) -> None:
    @given(st.data())
    def check(data: st.DataObject) -> None:
        incomplete = data.draw(st.booleans())
        tree = data.draw(chats(kinds=CONTENT, tools=False) | prompts(kinds=CONTENT))
        found = data.draw(renders(tree, tokenizer=tokenizer, last_message_incomplete=incomplete))
        refusal, ids = None, []
        try:
            ids = found.to_tokens()
        except ProviderError as error:  # images, parts and legacy calls
            refusal = str(error)
        assert len(ids) == found.token_count if refusal is None else "have no token ids" in refusal

    check()
