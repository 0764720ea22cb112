"""Requests that are no good: each is refused in one form, and nothing is done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from tests.web.asking import Page
from tests.web.test_guard import HOST, KEY, raw

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]

BODIES: list[tuple[bytes, str]] = [
    (b"", "not JSON: there is nothing; JSON needs a value, {} say (line 1, column 1)"),
    (b"{", "not JSON: the text ends within an object; close it with } (line 1, column 2)"),
    (b"\xff", "not UTF-8: byte 0xFF at 0"),
    (b"[]", "send a JSON object"),
    (b"null", "send a JSON object"),
    (b'{"prompt": NaN}', "not JSON: NaN is no JSON number (line 1, column 12)"),
    (b'{"prompt": 1e999}', "not JSON: 1e999 is too large a number (line 1, column 12)"),
    (b'{"a": 1, "a": 2}', "not JSON: the name 'a' stands twice in one object (line 1, column 10)"),
    (b"[" * 100_000, "not JSON: nested too deeply"),
    (b'{"prompt": 5}', "prompt has to be text"),
    (b'{"prompt": null}', "prompt is missing: it is text"),
    (b"{}", "prompt is missing: it is text"),
    (b'{"prompt": "x", "props": []}', "props has to be an object"),
    (b'{"prompt": "x", "limit": -1}', "limit has to be a whole number from 0 to 999,999,999,999"),
    (b'{"prompt": "x", "limit": 1.5}', "limit has to be a whole number, 0 or more"),
    (b'{"prompt": "x", "limit": true}', "limit has to be a whole number, 0 or more"),
    (b'{"prompt": "x", "limit": 1e400}', "not JSON: 1e400 is too large a number (line 1, column 26)"),
    (b'{"prompt": "x", "nonsense": 1}', "no field is called 'nonsense' here"),
]


@pytest.mark.parametrize(("body", "message"), BODIES, ids=[message[:40] for _, message in BODIES])
async def test_bodies(page: Pages, body: bytes, message: str) -> None:
    answer = await page().send(
        "POST", "/api/open", content=body, headers={"Content-Type": "application/json"}
    )
    told = answer.json()["error"]
    assert (answer.status_code, told["kind"], told["message"]) == (400, "malformed", message)


@pytest.mark.parametrize(
    "media", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
async def test_forms_of_other_pages(page: Pages, media: str) -> None:
    answer = await page().send("POST", "/api/open", content=b"{}", headers={"Content-Type": media})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (415, "type")


async def test_bodies_that_are_too_large(page: Pages) -> None:
    one = page()
    json = {"Content-Type": "application/json"}
    said = await one.send(
        "POST", "/api/open", content=b"{}", headers={**json, "Content-Length": "99999999999"}
    )
    assert (said.status_code, said.json()["error"]["message"]) == (
        413,
        "a request has at most 41,943,040 bytes",
    )

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 1_000_000

    sent = await one.send("POST", "/api/open", content=endless(), headers=json)
    assert sent.status_code == 413


async def test_bodies_that_do_not_come(page: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.web.requests.BODY_TIME", 0.05)

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    answer = await page().send(
        "POST", "/api/open", content=slow(), headers={"Content-Type": "application/json"}
    )
    told = answer.json()["error"]
    assert (answer.status_code, told["message"]) == (400, "the request's body took longer than 0.05 seconds")


async def test_bodies_that_break_off(page: Pages) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/open",
        "raw_path": b"/api/open",
        "query_string": b"",
        "server": ("127.0.0.1", 4180),
        "scheme": "http",
        "headers": [HOST, KEY, (b"content-type", b"application/json")],
    }
    await page().app(scope, receive, send)
    assert sent[0]["status"] == 400


async def test_json_that_can_be_read_but_not_written(page: Pages) -> None:
    """Between the two depths there is a gap, wherever Python has it."""
    one = page(prompts={"hi": "Hello"})
    found: set[tuple[int, str]] = set()
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        for deep in range(800, 1_010, 3):
            body = f'{{"prompt": "hi", "props": {{"x": {opening * deep}1{closing * deep}}}}}'
            answer = await one.send(
                "POST", "/api/open", content=body, headers={"Content-Type": "application/json"}
            )
            found.add((answer.status_code, answer.json()["error"]["message"]))
    assert found <= {
        (400, "not JSON: nested too deeply"),
        (422, "hi is a node, which takes no props; got x"),
    }


async def test_pauses_beyond_all_numbers(page: Pages) -> None:
    one = page(prompts={"hi": "Hello"})
    view = (await one.post("/api/open", {"prompt": "hi"}))["view"]
    for pause in (10**400, -(10**400), 1e308, -1):
        fed = {"limit": 9, "answer": "a", "pause": pause}
        assert (await one.post(f"/api/views/{view}/feed", fed))["output"]["text"] == "a"


QUERIES = [
    ("/api/prompts?x=1", "no field is called 'x' here"),
    ("/api/props?prompt=a", "name is missing: it is text"),
    ("/api/props?prompt=a&prompt=b&name=c", "a field of the query is given twice"),
    ("/api/session?_=1", "no field is called '_' here"),
    ("/api/questions?x", "no field is called 'x' here"),
]


@pytest.mark.parametrize(("path", "message"), QUERIES)
async def test_queries(page: Pages, path: str, message: str) -> None:
    assert await page().error(path) == (400, "malformed", message)


async def test_queries_of_views(page: Pages) -> None:
    one = page(prompts={"hi": "Hello"})
    view = (await one.post("/api/open", {"prompt": "hi"}))["view"]
    for query in (
        "",
        "limit=1&level=1",
        "limit=-1",
        "limit=x",
        "limit=1.5",
        "limit=1e3",
        "limit=" + "9" * 5000,
        "limit=٣",
    ):
        assert (await one.error(f"/api/views/{view}/at?{query}"))[:2] == (400, "malformed"), query
    assert (await one.error(f"/api/views/{view}/element?limit=5"))[:2] == (400, "malformed")
    assert (await one.error(f"/api/views/{view}/request?limit=5"))[:2] == (400, "malformed")
    for name in ("v", "v" * 33, view.upper(), f"{view}x", "v" + "0" * 32, "..%2f..%2fetc"):
        status, kind, _ = await one.error(f"/api/views/{name}/at?limit=5")
        assert (status, kind) in ((410, "gone"), (404, "unknown")), name


async def test_views_that_are_too_many_are_forgotten(page: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.web.api.MOST_SPECS", 2)
    one = page(prompts={"a": "a", "b": "b", "c": "c"})
    views = [(await one.post("/api/open", {"prompt": name}))["view"] for name in "abc"]
    assert (await one.error(f"/api/views/{views[0]}/at?limit=5"))[:2] == (410, "gone")
    assert (await one.get(f"/api/views/{views[1]}/at", limit=5))["used"] == 1
    monkeypatch.setattr("priompt_py.web.api.MOST_SPEC_BYTES", 150)
    await one.post("/api/open", {"prompt": "a"})
    assert (await one.error(f"/api/views/{views[1]}/at?limit=5"))[:2] == (410, "gone")
    assert (await one.get(f"/api/views/{views[0]}/at", limit=5))["used"] == 1


async def test_other_ways_to_ask_wrongly(page: Pages) -> None:
    one = page(prompts={"hi": "Hello"})
    assert (await one.error("/api/nowhere"))[:2] == (404, "unknown")
    assert (await one.error("/api/prompts/"))[:2] == (404, "unknown")
    wrong = await one.send("DELETE", "/api/prompts")
    assert (wrong.status_code, wrong.json()["error"]["message"]) == (405, "this method isn't allowed here")
    assert await one.error("/api/open", {"prompt": "nobody"}) == (
        404,
        "unknown",
        "there is no prompt 'nobody' here",
    )
    assert await one.error("/api/open", {"prompt": "hi", "example": "x"}) == (
        404,
        "unknown",
        "hi has no examples, got 'x'",
    )
    assert await one.error("/api/cancel", {}) == (400, "malformed", "give one of view and prompt")
    assert (await one.error("/api/compare", {"a": {"view": "v"}}))[:2] == (400, "malformed")
    status, _ = await raw(one.app, [HOST, KEY], path="/api/prompts", method="HEAD")
    assert status == 200


async def test_faults_of_ours_are_told_in_the_same_form(page: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    one = page()

    async def broken(*_: object, **__: object) -> Any:
        raise LookupError("inside")

    monkeypatch.setattr(one.app.pool, "do", broken)
    with pytest.raises(LookupError):  # the server's log has it
        await one.send("GET", "/api/prompts")
    one.client = httpx.AsyncClient(
        transport=httpx.ASGITransport(one.app, raise_app_exceptions=False), base_url="http://127.0.0.1:4180"
    )
    status, kind, message = await one.error("/api/prompts")
    assert (status, kind) == (500, "ours")
    assert "inside" not in message
