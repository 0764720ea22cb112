"""Live mode: questions of this program and of others are shown, and answered once."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from priompt_py import (
    Hub,
    ModelOutput,
    Node,
    RunError,
    capture,
    config,
    live,
    scope,
    system_message,
    user_message,
)
from priompt_py.runtime.live import Question
from priompt_py.runtime.live_link import answer_from, told_of
from tests.web.asking import Page, text_of

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]


def ask(question: str, on_return: Callable[..., None], extra: object = None) -> Node:
    return [
        system_message["Be kind"],
        user_message[question, scope(p=1, name="more")[" and " + "much more " * 50]],
        capture(on_output=lambda output: on_return(output.text.upper())),
    ]


async def until(count: int, one: Page) -> list[dict[str, Any]]:
    """The questions, once there are so many."""
    async with asyncio.timeout(10):
        while len(found := (await one.get("/api/questions"))["questions"]) != count:  # noqa: ASYNC110 - a page asks, too
            await asyncio.sleep(0.01)
    return list(found)


async def test_a_question_of_this_program(page: Pages) -> None:
    hub = Hub()
    one = page(hub)
    assert (await one.get("/api/questions")) == {"questions": []}
    asking = asyncio.create_task(live(ask, {"question": "Why? <b>", "extra": {1}}, token_limit=30, hub=hub))
    (summary,) = await until(1, one)
    assert {name: summary[name] for name in summary if name != "asked_at"} == {
        "id": "q1",
        "name": "ask",
        "program": None,
        "token_limit": 30,
        "tokens_used": 18,
        "tokens_reserved": 0,
    }
    told = await one.get("/api/questions/q1")
    assert told["question"] == summary
    assert told["props"] == {"question": "Why? <b>", "extra": "{1}"}
    assert text_of(told) == "Be kindWhy? <b>"
    assert told["position"]["elements_out"] == 1
    elements = told["elements"]
    assert [elements["kinds"][kind] for kind in elements["kind"]] == [
        "message",
        "text",
        "message",
        "text",
        "text",
        "capture",
    ]
    assert elements["details"]["4"]["reason"] == "below_cutoff"
    assert elements["label"][4] == "more"
    request = await one.get("/api/questions/q1/request", provider="openai")
    assert request["request"]["messages"][0] == {"role": "system", "content": "Be kind"}
    assert (await one.post("/api/questions/q1/answer", {"answer": "because"})) == {"answered": True}
    assert await asking == "BECAUSE"
    gone = (409, "answered", "this question waits no more: it is answered, or its program has gone on")
    assert await one.error("/api/questions/q1") == gone
    assert await one.error("/api/questions/q1/answer", {"answer": "again"}) == gone
    assert await one.error("/api/questions/q1/refuse", {}) == gone


async def test_questions_are_refused_and_taken_back(page: Pages) -> None:
    hub = Hub()
    one = page(hub)
    refused = asyncio.create_task(live("Hello", token_limit=30, hub=hub))
    (summary,) = await until(1, one)
    assert await one.post(f"/api/questions/{summary['id']}/refuse", {"reason": "too late"}) == {
        "refused": True
    }
    with pytest.raises(RunError, match="the question 'str' was refused: too late"):
        await refused
    cancelled = asyncio.create_task(live("Hello", token_limit=30, hub=hub))
    await until(1, one)
    cancelled.cancel()
    await until(0, one)


async def test_an_answer_with_calls(page: Pages) -> None:
    hub = Hub()
    one = page(hub)
    asking = asyncio.create_task(live("Hello", token_limit=30, hub=hub))
    await until(1, one)
    calls = [{"name": "look", "arguments": {"at": "sky"}}]
    await one.post(
        "/api/questions/q1/answer", {"answer": {"text": "so", "tool_calls": calls, "reasoning": "hm"}}
    )
    output: ModelOutput = await asking
    assert (output.text, output.reasoning, output.finish_reason) == ("so", "hm", "tool_calls")
    assert output.tool_calls[0].parsed == {"at": "sky"}
    malformed = await one.error("/api/questions/q1/answer", {"answer": {"nonsense": 1}})
    assert malformed[:2] == (400, "malformed")


async def test_only_one_of_many_answers_counts(page: Pages) -> None:
    hub = Hub()
    one = page(hub)
    asking = asyncio.create_task(live("Hello", token_limit=30, hub=hub))
    await until(1, one)
    sent = [one.send("POST", "/api/questions/q1/answer", json={"answer": str(n)}) for n in range(20)]
    statuses = sorted([answer.status_code for answer in await asyncio.gather(*sent)])
    assert statuses == [200] + [409] * 19
    assert (await asking).text in map(str, range(20))


# ------------------------------------------------------------------------------------------ other programs


async def question_of(node: Node, **props: Any) -> dict[str, Any]:
    """What another program would send of a question."""
    from concurrent.futures import Future

    from priompt_py import arender

    rendered = await arender(node, token_limit=40)
    return told_of(Question("q1", "far", props, rendered, datetime.now(UTC), Future()))


async def test_a_question_of_another_program(page: Pages) -> None:
    one = page()
    told = await question_of(["Hi ", scope(p=1)["there"], config(stop="\n")], a=1)
    key = uuid.uuid4().hex
    assert await one.post("/api/live", {"id": key, **told}) == {"waiting": True}
    (summary,) = await until(1, one)
    assert summary["name"] == "far"
    assert "process" in summary["program"]
    shown = await one.get(f"/api/questions/{summary['id']}")
    assert (text_of(shown), shown["props"], shown["is_chat"]) == ("Hi there", {"a": 1}, False)
    assert await one.get(f"/api/live/{key}", wait=0) == {"state": "waiting"}
    waiting = asyncio.create_task(one.get(f"/api/live/{key}", wait=20))
    await asyncio.sleep(0.05)
    request = f"/api/questions/{summary['id']}/request"
    assert (await one.get(request, provider="text"))["text"] == "Hi there"
    assert (await one.get(request, provider="openai"))["request"]["stop"] == "\n"
    assert (await one.error(f"{request}?provider=gemini"))[:2] == (404, "unknown")
    assert (await one.error(f"{request}?provider=openai-responses"))[:2] == (422, "prompt")
    await one.post(f"/api/questions/{summary['id']}/answer", {"answer": "well"})
    answer = await waiting
    assert answer["state"] == "answered"
    assert answer_from(answer["answer"]) == ModelOutput(text="well", finish_reason="stop")
    assert await one.get("/api/questions") == {"questions": []}
    assert (await one.error(f"/api/questions/{summary['id']}/answer", {"answer": "again"}))[0] == 409
    assert (await one.send("DELETE", f"/api/live/{key}")).json() == {"taken_back": True}
    assert (await one.error(f"/api/live/{key}"))[:2] == (404, "unknown")


async def test_a_request_that_is_nested_too_deeply_is_shown_as_text(page: Pages) -> None:
    one = page()
    told = await question_of("Hi")
    told["requests"] = {"openai": {"text": "[" * 100_000}}
    await one.post("/api/live", {"id": uuid.uuid4().hex, **told})
    (summary,) = await until(1, one)
    shown = await one.get(f"/api/questions/{summary['id']}/request", provider="openai")
    assert shown["request"] == shown["text"] == "[" * 100_000


async def test_another_program_is_refused_and_gives_up(page: Pages) -> None:
    one = page()
    told = await question_of("Hi")
    first, second = uuid.uuid4().hex, uuid.uuid4().hex
    for key in (first, second):
        await one.post("/api/live", {"id": key, **told})
    one_of_them, other = await until(2, one)
    await one.post(f"/api/questions/{one_of_them['id']}/refuse", {"reason": "no"})
    assert await one.get(f"/api/live/{first}") == {"state": "refused", "reason": "no"}
    assert (await one.send("DELETE", f"/api/live/{second}")).status_code == 200
    assert await one.get("/api/questions") == {"questions": []}
    assert (await one.error(f"/api/questions/{other['id']}"))[0] == 409


async def test_programs_that_are_gone_are_forgotten(page: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    one = page()
    await one.post("/api/live", {"id": uuid.uuid4().hex, **await question_of("Hi")})
    assert len(await until(1, one)) == 1
    monkeypatch.setattr("priompt_py.web.questions.FORGOTTEN", -1.0)
    assert await one.get("/api/questions") == {"questions": []}
    key = uuid.uuid4().hex
    await one.post(
        "/api/live", {"id": key, **await question_of("Hi")}
    )  # nobody asks the server: it looks itself
    async with asyncio.timeout(5):
        while key in one.app.desk._visiting:  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0.01)


async def test_too_many_questions(page: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.web.questions.MOST_QUESTIONS", 1)
    one = page()
    told = await question_of("Hi")
    await one.post("/api/live", {"id": uuid.uuid4().hex, **told})
    assert (await one.error("/api/live", {"id": uuid.uuid4().hex, **told}))[:2] == (503, "busy")


WRONG: list[tuple[str, Any]] = [
    ("id", "../../x"),
    ("id", "x" * 32),
    ("asked_at", "yesterday"),
    ("report", {}),
    ("report", []),
    ("requests", []),
    ("name", 5),
    ("props", 5),
    ("program", None),
]


@pytest.mark.parametrize(("field", "value"), WRONG, ids=[f"{field}-{value}"[:20] for field, value in WRONG])
async def test_questions_that_are_none(page: Pages, field: str, value: Any) -> None:
    one = page()
    told = {"id": uuid.uuid4().hex, **await question_of("Hi"), field: value}
    assert (await one.error("/api/live", told))[:2] == (400, "malformed")
    assert await one.get("/api/questions") == {"questions": []}


async def test_reports_that_are_none(page: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    one = page()
    told = await question_of([user_message["Hi"]])

    async def refused(change: Callable[[Any], object]) -> tuple[int, str, str]:
        again = json.loads(json.dumps(told))
        change(again["report"])
        return await one.error("/api/live", {"id": uuid.uuid4().hex, **again})

    changes: list[Callable[[Any], object]] = [
        lambda report: report.pop("cutoff"),
        lambda report: report["messages"].append(5),
        lambda report: report["messages"][0].pop("pieces"),
        lambda report: report["messages"][0]["pieces"].append({}),
        lambda report: report["messages"][0]["pieces"][0].update(text=5),
        lambda report: report["largest"].append({"path": 5}),
    ]
    for change in changes:
        assert (await refused(change))[:2] == (400, "malformed")
    monkeypatch.setattr("priompt_py.web.questions._MOST_ROWS", 1)
    assert (await refused(lambda report: None))[:2] == (413, "large")
