"""A typed answer reaches the handlers, and the page is told what they gave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from priompt_py import Delta, ModelOutput, Node, capture, tool_definition, tools, user_message
from tests.web.asking import Page

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]


def classify(on_return: Callable[..., None], text: str = "x") -> Node:
    def read(output: ModelOutput) -> str:
        print("read")
        on_return({"label": output.text.strip()})
        return output.text.upper()

    return [user_message[text], capture(key="label", on_output=read)]


def streaming(on_return: Callable[..., None]) -> Node:
    async def read(stream: AsyncIterator[Delta]) -> int:
        texts = [delta.text async for delta in stream]
        on_return(texts, p=1)
        return len(texts)

    async def first(stream: AsyncIterator[Delta]) -> str:
        async for delta in stream:
            return delta.text
        return ""

    return [user_message["x"], capture(on_stream=read), capture(on_stream_response=first)]


async def feed(one: Page, prompt: str, answer: Any, **fields: Any) -> Any:
    view = (await one.post("/api/open", {"prompt": prompt}))["view"]
    return await one.post(f"/api/views/{view}/feed", {"limit": 99, "answer": answer, **fields})


async def test_an_answer_as_a_whole(page: Pages) -> None:
    told = await feed(page(prompts={"classify": classify}), "classify", " spam ")
    assert told["returned"] == {"json": {"label": "spam"}}
    assert told["output"] == {"text": " spam ", "reasoning": None, "tool_calls": [], "finish_reason": "stop"}
    assert told["calls"] == [
        {
            "handler": "on_output of capture 'label'",
            "state": "returned",
            "returned": {"json": " SPAM "},
            "error": None,
            "pieces": None,
        }
    ]
    assert told["error"] is None


async def test_an_answer_as_a_stream(page: Pages) -> None:
    one = page(prompts={"streaming": streaming})
    told = await feed(one, "streaming", "one two three", stream=True)
    assert told["returned"] == {"json": ["one ", "two ", "three", ""]}
    assert told["output"]["text"] == "one two three"
    calls = {call["handler"]: call for call in told["calls"]}
    assert calls["on_stream of capture 1"]["returned"] == {"json": 4}
    assert calls["on_stream of capture 1"]["pieces"] == 4
    assert calls["on_stream_response of capture 2"]["pieces"] == 1
    whole = await feed(one, "streaming", {"text": "one", "reasoning": "hm"})
    assert whole["returned"] == {"json": ["one", ""]}
    assert whole["output"]["reasoning"] == "hm"


async def test_handlers_that_raise(page: Pages) -> None:
    def broken() -> Node:
        def read(output: ModelOutput) -> None:
            raise ValueError(f"no {output.text}")

        return [user_message["x"], capture(on_output=read)]

    told = await feed(page(prompts={"broken": broken}), "broken", "luck")
    assert told["error"]["message"] == "ValueError: no luck"
    assert told["error"]["notes"] == ["in on_output of capture 1"]
    assert "test_feeding.py:" in told["error"]["place"]
    assert told["calls"][0]["state"] == "raised"
    assert told["output"] is None


async def test_a_handler_that_fails_ends_the_others(page: Pages) -> None:
    async def waits(stream: AsyncIterator[Delta]) -> None:
        await asyncio.sleep(30)

    def fails(output: ModelOutput) -> None:
        raise SystemExit(3)

    def both() -> Node:
        return [user_message["x"], capture(on_stream=waits), capture(on_output=fails)]

    told = await feed(page(prompts={"both": both}), "both", "x")
    assert told["error"]["message"] == "the prompt's code called sys.exit(3)"
    assert [call["state"] for call in told["calls"]] == ["cancelled", "raised"]


async def test_nobody_calls_on_return(page: Pages) -> None:
    def silent(on_return: Callable[..., None]) -> Node:
        return [user_message["x"], capture(on_output=lambda output: None)]

    told = await feed(page(prompts={"silent": silent}), "silent", "x")
    assert told["error"]["message"] == (
        "the prompt gave nothing back: nobody called on_return; these handlers were in: on_output of capture 1"
    )
    assert told["output"]["text"] == "x"


async def test_a_stream_can_be_no_return_value(page: Pages) -> None:
    def hands_on(on_return: Callable[..., None]) -> Node:
        return [user_message["x"], capture(on_stream=on_return)]

    told = await feed(page(prompts={"hands_on": hands_on}), "hands_on", "x")
    assert told["error"]["message"].startswith("on_return() got the stream of a handler")


async def test_tools_are_called(page: Pages) -> None:
    results: list[object] = []

    def look(place: str, times: int = 1) -> str:
        """Look somewhere."""
        return f"{place} " * times

    def agent() -> Node:
        return [
            user_message["x"],
            tools[look],
            tool_definition(
                name="raw",
                description="r",
                parameters={"type": "object"},
                on_call=lambda arguments: arguments["a"],
                on_result=results.append,
                on_parse_error=lambda error, call: str(error),
            ),
        ]

    one = page(prompts={"agent": agent})
    calls = [
        {"id": "1", "name": "look", "arguments": '{"place": "sky", "times": 2}'},
        {"name": "raw", "arguments": {"a": 7}},
        {"name": "raw", "arguments": "{"},
    ]
    for stream in (False, True):
        told = await feed(one, "agent", {"tool_calls": calls}, stream=stream)
        assert told["output"]["finish_reason"] == "tool_calls"
        heard = {call["handler"]: call["returned"] for call in told["calls"]}
        assert heard["on_call of tool 'look'"] == {"json": "sky sky "}
        assert heard["on_call of tool 'raw'"] == {"json": 7}
        assert heard["on_parse_error of tool 'raw'"]["json"].startswith(
            "the arguments of the call 'raw' are no JSON"
        )
        assert results.pop() == 7
    unknown = await feed(one, "agent", {"tool_calls": [{"name": "nobody"}]})
    assert unknown["calls"][0]["returned"]["json"].startswith("the model calls 'nobody'")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"texts": "x"}, "an answer has no field 'texts': it has finish_reason, reasoning, text, tool_calls"),
        ({"text": 5}, "text of an answer is text"),
        ({"tool_calls": {}}, "tool_calls of an answer are a list of objects"),
        ({"tool_calls": [5]}, "tool_calls of an answer are a list of objects"),
        (
            {"tool_calls": [{"name": 5}]},
            "a call has a name, arguments as text or an object, and may have an id",
        ),
        ({"tool_calls": [{"name": "x", "arguments": 5}]}, None),
        ({"tool_calls": [{"name": "x", "id": 5}]}, None),
        (5, "answer has to be text or an object"),
        (None, "answer is missing: it is text or an object"),
    ],
    ids=str,
)
async def test_answers_that_are_none(page: Pages, answer: Any, message: str | None) -> None:
    one = page(prompts={"classify": classify})
    view = (await one.post("/api/open", {"prompt": "classify"}))["view"]
    status, kind, told = await one.error(f"/api/views/{view}/feed", {"limit": 99, "answer": answer})
    assert (status, kind) == (400, "malformed")
    assert message is None or told == message


async def test_values_without_json(page: Pages) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError

    def odd(on_return: Callable[..., None]) -> Node:
        return [
            user_message["x"],
            capture(on_output=lambda output: on_return(Odd())),
            capture(on_output=lambda output: {1}),
        ]

    told = await feed(page(prompts={"odd": odd}), "odd", "x")
    assert told["returned"] == {"repr": "<Odd, whose repr fails: ValueError>"}
    assert told["calls"][1]["returned"] == {"repr": "{1}"}
    assert (await feed(page(prompts={"long": odd}), "long", "x"))["error"] is None
