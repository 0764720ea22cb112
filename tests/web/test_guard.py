"""Who is answered: hosts, origins, the token, and what every answer carries."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import httpx
import pytest

from priompt_py.web import preview_app
from priompt_py.web.guard import CSP, check_host, is_host
from tests.web.asking import TOKEN, Page

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]

HOSTS = [
    ("127.0.0.1:4180", 200),
    ("localhost:4180", 200),
    ("LOCALHOST:4180", 200),
    ("[::1]:4180", 200),
    ("evil.example:4180", 403),
    ("evil.example", 403),
    ("127.0.0.1.evil.example:4180", 403),
    ("127.0.0.1.evil.example", 403),
    ("localhost.evil.example:4180", 403),
    ("evil.example#localhost:4180", 403),
    ("user@localhost:4180", 403),
    ("localhost:4180@evil.example", 403),
    ("localhost:4180 evil.example", 403),
    ("localhost:4181", 403),  # another port
    ("localhost", 403),
    ("localhost.:4180", 403),  # a trailing dot
    ("127.1:4180", 403),
    ("2130706433:4180", 403),
    ("0.0.0.0:4180", 403),
    ("[::ffff:127.0.0.1]:4180", 403),
    ("10.0.0.1:4180", 403),
    ("", 403),
]
PATHS = ["/", "/static/app.js", "/api/prompts", "/nowhere"]


@pytest.mark.parametrize(("host", "status"), HOSTS, ids=[host for host, _ in HOSTS])
async def test_only_exact_hosts(page: Pages, host: str, status: int) -> None:
    one = page()
    for path in PATHS:
        answer = await one.send("GET", path, headers={"Host": host})
        if status == 200:
            assert answer.status_code in (200, 404), path
        else:
            assert answer.status_code == 403, path
            assert answer.json()["error"]["kind"] == "host"


async def raw(app: Any, headers: list[tuple[bytes, bytes]], **scope: Any) -> tuple[int, bytes]:
    """The status of a request with exactly these headers."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    whole = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/api/prompts",
        "raw_path": b"/api/prompts",
        "root_path": "",
        "query_string": b"",
        "scheme": "http",
        "server": ("127.0.0.1", 4180),
        "headers": headers,
        **scope,
    }
    await app(whole, receive, send)
    return sent[0]["status"], sent[1].get("body", b"")


HOST = (b"host", b"127.0.0.1:4180")
KEY = (b"x-priompt-token", TOKEN.encode())


async def test_one_host_in_a_request(page: Pages) -> None:
    app = page().app
    assert (await raw(app, [HOST, KEY]))[0] == 200
    assert (await raw(app, [KEY]))[0] == 400
    status, body = await raw(app, [HOST, HOST, KEY])
    assert (status, b"names one host, this one 2" in body) == (400, True)


async def test_a_request_line_with_another_host(page: Pages) -> None:
    target = {"path": "http://evil.example/api/prompts", "raw_path": b"http://evil.example/api/prompts"}
    assert (await raw(page().app, [HOST, KEY], **target))[0] == 400


async def test_websockets_are_refused(page: Pages) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await page().app({"type": "websocket", "path": "/api/events", "headers": [HOST]}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_address_a_connection_came_to_is_a_host() -> None:
    assert check_host(["192.0.2.7:4180"], ("192.0.2.7", 4180), ()) == "192.0.2.7:4180"
    assert check_host(["[2001:db8::7]:4180"], ("2001:db8::7", 4180), ()) == "[2001:db8::7]:4180"
    assert check_host(["preview.example"], ("192.0.2.7", 4180), {"preview.example"}) == "preview.example"
    assert check_host(["preview.example:4180"], ("192.0.2.7", 4180), {"preview.example"}) != ""
    assert check_host(["localhost"], ("127.0.0.1", 80), ()) == "localhost"
    for host in ("192.0.2.8:4180", "0.0.0.0:4180", "other.example"):
        with pytest.raises(Exception, match="this server isn't"):
            check_host([host], ("0.0.0.0", 4180), {"preview.example"})  # noqa: S104 - nobody listens
    with pytest.raises(Exception, match="this server isn't"):
        check_host(["localhost"], None, ())


# ------------------------------------------------------------------------------------------ origins

ORIGINS: list[tuple[dict[str, str], int]] = [
    ({}, 200),
    ({"Origin": "http://127.0.0.1:4180"}, 200),
    ({"Origin": "https://127.0.0.1:4180"}, 200),  # behind a server that speaks TLS
    ({"Sec-Fetch-Site": "same-origin"}, 200),
    ({"Sec-Fetch-Site": "none"}, 200),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "http://127.0.0.1:4181"}, 403),
    ({"Origin": "http://localhost:4180"}, 403),  # another name is another origin
    ({"Origin": "http://127.0.0.1:4180.evil.example"}, 403),
    ({"Origin": "http://127.0.0.1"}, 403),
    ({"Origin": ""}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), ORIGINS, ids=str)
async def test_other_origins_are_refused(page: Pages, headers: dict[str, str], status: int) -> None:
    one = page()
    for method in ("GET", "POST", "OPTIONS", "DELETE"):
        answer = await one.send(method, "/api/prompts", headers=headers)
        assert (answer.status_code == 403) == (status == 403), method
        assert "access-control-allow-origin" not in answer.headers


async def test_a_link_may_lead_to_the_page_and_a_frame_may_not(page: Pages) -> None:
    one = page()
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await one.send("GET", "/", headers=visit)).status_code == 200
    frame = {**visit, "Sec-Fetch-Dest": "iframe"}
    assert (await one.send("GET", "/", headers=frame)).status_code == 403
    script = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert (await one.send("GET", "/static/app.js", headers=script)).status_code == 403


# ------------------------------------------------------------------------------------------ the token


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), f" {TOKEN[1:]}"])
async def test_everything_needs_the_token(page: Pages, token: str) -> None:
    one = page()
    for path in ("api/prompts", "api/session", "api/events", "api/nowhere", "API/prompts", "api"):
        answer = await one.send("GET", f"/{path}", headers={"X-Priompt-Token": token})
        assert answer.status_code == 401, path
        assert answer.json()["error"]["kind"] == "token"


async def test_no_token_and_two_tokens(page: Pages) -> None:
    app = page().app
    assert (await raw(app, [HOST]))[0] == 401
    assert (await raw(app, [HOST, KEY, KEY]))[0] == 401
    assert (await raw(app, [HOST, (b"cookie", KEY[1])]))[0] == 401
    assert (await raw(app, [HOST], query_string=b"token=" + KEY[1]))[0] == 401


async def test_tokens_are_made_by_chance() -> None:
    tokens = {preview_app({}).token for _ in range(3)}
    assert len(tokens) == 3
    assert all(len(token) == 32 for token in tokens)
    app = preview_app({}, token=TOKEN)
    assert app.address("http://localhost:8000/preview/") == f"http://localhost:8000/preview/#token={TOKEN}"


# ------------------------------------------------------------------------------------------ headers


async def test_every_answer_is_locked_down(page: Pages) -> None:
    one = page()
    for path in ("/", "/static/app.js", "/api/prompts", "/api/nowhere", "/nowhere"):
        headers = (await one.send("GET", path)).headers
        assert headers["content-security-policy"] == CSP
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "set-cookie" not in headers
    refused = await one.send("GET", "/", headers={"Host": "evil.example"})
    assert refused.headers["content-security-policy"] == CSP
    assert (await one.send("GET", "/api/prompts")).headers["cache-control"] == "no-store"


# ------------------------------------------------------------------------------------------ mounted


async def test_mounted_under_a_prefix(page: Pages) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    app = preview_app({"hi": "Hello"}, token=TOKEN)
    outer = Starlette(routes=[Mount("/tools/preview", app)])
    base = "http://127.0.0.1:4180"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url=base) as client:
        whole = await client.get("/tools/preview/")
        assert whole.status_code == 200
        assert (await client.get("/tools/preview/static/app.js")).headers["content-type"] == (
            "text/javascript; charset=utf-8"
        )
        assert (await client.get("/tools/preview/api/prompts")).status_code == 401
        key = {"X-Priompt-Token": TOKEN}
        prompts = (await client.get("/tools/preview/api/prompts", headers=key)).json()["prompts"]
        assert [one["id"] for one in prompts] == ["hi"]
        bare = await client.get("/tools/preview", follow_redirects=True)
        assert (bare.status_code, str(bare.url)) == (200, f"{base}/tools/preview/")
        evil = await client.get("/tools/preview/", headers={"Host": "evil.example"})
        assert evil.status_code == 403


async def test_a_bare_asgi_mount_is_sent_to_its_slash(page: Pages) -> None:
    scope = {"path": "/preview", "raw_path": b"/preview", "root_path": "/preview"}
    assert (await raw(page().app, [HOST], **scope))[0] == 308


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("localhost", True),
        ("Preview.Example:8443", True),
        ("a", True),
        ("10.0.0.7:80", True),
        ("[fe80::1]:80", True),
        ("xn--bcher-kva.example", True),
        ("my_host", True),
        ("", False),
        (":80", False),
        ("a:", False),
        ("a:123456", False),
        ("a.", False),
        ("*.a", False),
        ("http://a", False),
        ("a/", False),
        ("a b", False),
        ("a,b", False),
        ("bücher.example", False),
        ("a\n", False),
        ("::1", False),
    ],
)
def test_what_can_be_a_host(text: str, is_one: bool) -> None:
    assert is_host(text) is is_one
