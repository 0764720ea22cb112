"""News for open pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest

from priompt_py import Hub, live
from priompt_py.web.answers import Refusal
from priompt_py.web.events import Events, event
from tests.web.asking import Page
from tests.web.test_guard import HOST, KEY

pytestmark = pytest.mark.anyio


async def read(events: Events, *first: bytes, into: list[bytes]) -> None:
    into.extend([text async for text in events.stream(*first)])


async def listening(events: Events, count: int) -> None:
    async with asyncio.timeout(5):
        while events.listeners != count:  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0.01)


def test_an_event_on_the_wire() -> None:
    assert event("changed", {"files": ["a\nb\r\nevent: x"]}) == (
        b'event: changed\ndata: {"files": ["a\\nb\\r\\nevent: x"]}\n\n'
    )


async def test_all_pages_are_told_and_streams_end_with_the_server() -> None:
    events = Events(beat=0.05)
    heard: list[list[bytes]] = [[], []]
    reading = [asyncio.create_task(read(events, b"first", into=one)) for one in heard]
    await listening(events, 2)
    events.tell("prompts", {})
    await asyncio.to_thread(events.tell, "changed", {"files": []})
    await asyncio.sleep(0.12)
    events.stop()
    await asyncio.gather(*reading)
    for one in heard:
        told = [text for text in one if not text.startswith(b":")]
        assert told == [b"first", event("prompts", {}), event("changed", {"files": []}), event("closing", {})]
        assert b": still here\n\n" in one
    assert events.listeners == 0
    with pytest.raises(Refusal, match="the server stops"):
        events.check_room()
    late: list[bytes] = []
    await read(events, b"x", into=late)
    assert late == [b"x"]


async def test_streams_of_mounted_apps_are_short() -> None:
    events = Events(seconds=0.05)
    heard: list[bytes] = []
    await asyncio.wait_for(read(events, b"first", into=heard), 5)
    assert heard[0] == b"first"


async def test_a_page_that_does_not_read_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.web.events.MOST_WAITING", 3)
    monkeypatch.setattr("priompt_py.web.events.MOST_STREAMS", 1)
    events = Events()
    stream = events.stream(b"first")
    assert await anext(stream) == b"first"
    with pytest.raises(Refusal, match="1 pages listen already"):
        events.check_room()
    for _ in range(10):
        events.tell("prompts", {})
    assert [text async for text in stream] == [event("prompts", {})] * 3
    assert events.listeners == 0


async def test_pages_that_come_at_once_are_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.web.events.MOST_STREAMS", 2)
    events = Events()
    for _ in range(3):
        events.check_room()
    heard: list[list[bytes]] = [[], [], []]
    reading = [asyncio.create_task(read(events, b"first", into=one)) for one in heard]
    await listening(events, 2)
    await reading[2]
    assert heard[2] == []
    events.stop()
    await asyncio.gather(*reading)
    assert [len(one) for one in heard] == [2, 2, 0]


async def test_a_page_hears_of_questions(page: Callable[..., Page]) -> None:
    hub = Hub()
    app = page(hub).app
    heard: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    started: dict[str, Any] = {}

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.sleep(30)
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        body: bytes = message.get("body", b"")
        for text in body.decode().split("\n\n"):
            name, _, data = text.partition("\n")
            if name.startswith("event: "):
                heard.put_nowait((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/events",
        "raw_path": b"/api/events",
        "query_string": b"",
        "server": ("127.0.0.1", 4180),
        "scheme": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "headers": [HOST, KEY],
    }
    streaming = asyncio.create_task(app(scope, receive, send))
    name, hello = await heard.get()
    assert name == "hello"
    assert set(hello) == {"version", "started"}
    assert await heard.get() == ("questions", {"questions": []})
    asking = asyncio.create_task(live("Hello", token_limit=9, hub=hub))
    name, told = await heard.get()
    assert (name, [one["name"] for one in told["questions"]]) == ("questions", ["str"])
    hub.answer("q1", "x")
    await asking
    assert await heard.get() == ("questions", {"questions": []})
    await app.stop()
    assert await heard.get() == ("closing", {})
    await streaming
    headers = dict(started["headers"])
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert not hub.is_watched


async def test_events_of_a_stopped_app(page: Callable[..., Page]) -> None:
    one = page()
    await one.app.stop()
    assert await one.error("/api/events") == (503, "stopping", "the server stops")
    assert (await one.error("/api/events?x=1"))[:2] == (400, "malformed")
    assert await one.error("/api/prompts") == (503, "stopping", "the server stops")
