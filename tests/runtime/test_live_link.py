"""Questions of this program are taken to a preview that runs beside it: how it is found, and what is sent."""

from __future__ import annotations

import asyncio
import http.server
import json
import logging
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from priompt_py import (
    ArgumentTypeError,
    Hub,
    ModelOutput,
    Node,
    RunError,
    config,
    live,
    tool_definition,
    user_message,
)
from priompt_py.runtime import live as live_module
from priompt_py.runtime.announcements import (
    Announcement,
    announce,
    announced,
    find_server,
    folder_of_announcements,
)
from priompt_py.runtime.live_link import LiveLink, answer_from

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("PRIOMPT_LIVE", raising=False)
    return tmp_path / "priompt"


def one(url: str = "http://127.0.0.1:4180", **fields: Any) -> Announcement:
    given: dict[str, Any] = {"token": "t", "pid": os.getpid(), "folder": "/nowhere", "started": 1.0, **fields}
    return Announcement(url, **given)


# ------------------------------------------------------------------------------------------ announcements


def test_what_is_announced_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (find_server(), announced()) == (None, [])
    path = announce(one())
    assert path.parent == folder == folder_of_announcements()
    assert announced() == [one()]
    announce(one("http://127.0.0.1:5000", started=2.0))
    assert find_server() == one("http://127.0.0.1:5000", started=2.0)
    near = one("http://127.0.0.1:6000", folder=str(folder.parent), started=0.5)
    announce(near)
    monkeypatch.chdir(folder.parent)
    assert find_server() == near
    announce(near)  # once more: the file is written anew
    assert len(announced()) == 3
    assert "token" not in repr(near)


def test_files_of_processes_that_are_gone(folder: Path) -> None:
    gone = announce(one("http://127.0.0.1:5000", pid=2**22 + 1))
    assert announced() == []
    announce(one())
    assert not gone.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"url": "http://evil.example:1", "token": "t", "pid": 1, "folder": "/", "started": 1}',
    ],
    ids=["empty", "cut", "list", "null", "fields", "elsewhere"],
)
def test_files_that_are_no_announcements(folder: Path, text: str) -> None:
    announce(one())
    other = folder / "serve-1-1.json"
    other.write_text(text, "utf-8")
    other.chmod(0o600)
    assert announced() == [one()]


def test_files_that_others_can_change_count_for_nothing(folder: Path) -> None:
    path = announce(one())
    path.chmod(0o640)
    assert announced() == []
    path.chmod(0o600)
    path.rename(folder.parent / "elsewhere.json")
    path.symlink_to(folder.parent / "elsewhere.json")
    assert announced() == []
    folder.chmod(0o755)
    assert announced() == []
    with pytest.raises(PermissionError):
        announce(one())


def test_the_address_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(one())
    monkeypatch.setenv("PRIOMPT_LIVE", "")
    assert find_server() is None
    monkeypatch.setenv("PRIOMPT_LIVE", "http://localhost:1234/preview/#token=abc")
    found = find_server()
    assert found is not None
    assert (found.place, found.token) == (("localhost", 1234, "/preview"), "abc")
    monkeypatch.setenv("PRIOMPT_LIVE", "http://localhost:1234/")
    with pytest.raises(RunError) as caught:
        find_server()
    assert str(caught.value) == (
        "PRIOMPT_LIVE needs the address that priompt serve printed, with #token=…, got 'http://localhost:1234/'"
    )
    monkeypatch.setenv("PRIOMPT_LIVE", "http://example.org:1234/#token=abc")
    with pytest.raises(RunError, match="only shown by servers on this machine"):
        find_server()
    for url in ("http://127.0.0.1:x/", "http://127.0.0.1:99999/", "http://[::1/"):
        monkeypatch.setenv("PRIOMPT_LIVE", f"{url}#token=abc")
        with pytest.raises(RunError) as caught:
            find_server()
        assert str(caught.value) == f"questions are shown at an address with a port, got {url!r}"


def test_servers_that_were_silent_come_last(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far, near = one("http://127.0.0.1:5000"), one("http://127.0.0.1:6000", folder=str(folder.parent))
    announce(far)
    announce(near)
    monkeypatch.chdir(folder.parent)
    assert find_server(after=[far.url]) == near
    assert find_server(after=[near.url]) == far
    assert find_server(after=[near.url, far.url]) in (near, far)


def test_where_there_is_no_runtime_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert folder_of_announcements() == tmp_path / f"priompt-{os.getuid()}"


# ------------------------------------------------------------------------------------------ the link


@attrs.define
class Server:
    """Answers as a preview does: with what stands in `answers`, one after the other, then with the last."""

    url: str
    answers: list[Any]
    asked: list[tuple[str, str, Any]] = attrs.field(factory=list[tuple[str, str, Any]])
    refuses: bool = False


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server("", [])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            told.asked.append((self.command, self.path, body))
            answer: Any = {}
            if self.command == "GET":
                answer = told.answers.pop(0) if len(told.answers) > 1 else told.answers[0]
            status = 401 if told.refuses else answer if isinstance(answer, int) else 200
            assert self.headers["X-Priompt-Token"] == "t"
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_DELETE = do_GET  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        told.url = f"http://127.0.0.1:{running.server_address[1]}"
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield told
        running.shutdown()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub in the place of this process's, quick to look for servers."""
    made = Hub()
    monkeypatch.setattr(live_module, "HUB", made)
    monkeypatch.setattr(live_module, "_link", None)
    monkeypatch.setattr("priompt_py.runtime.live_link._LOOK", 0.02)
    monkeypatch.setattr("priompt_py.runtime.live_link._PATIENCE", 0.05)
    return made


WELL: Any = {
    "state": "answered",
    "answer": {"text": "well", "reasoning": None, "tool_calls": [], "finish_reason": "stop"},
}


def ask(question: str) -> Node:
    return [
        user_message[question],
        tool_definition(name="f", description="d", parameters={"type": "object"}),
        config(stop="x"),
    ]


async def test_a_question_and_its_answer(hub: Hub, server: Server) -> None:
    announce(one(server.url))
    server.answers = [{"state": "waiting"}, WELL]
    assert await live(ask, {"question": "Why?"}, token_limit=99) == ModelOutput(
        text="well", finish_reason="stop"
    )
    method, path, told = server.asked[0]
    assert (method, path) == ("POST", "/api/live")
    assert (told["name"], told["props"]) == ("ask", {"question": "Why?"})
    assert told["report"]["messages"][0]["role"] == "user"
    assert json.loads(told["requests"]["openai"]["text"])["messages"] == [{"role": "user", "content": "Why?"}]
    assert (
        json.loads(told["requests"]["anthropic"]["text"])["max_tokens"] == 99 - told["report"]["tokens_used"]
    )
    assert "take no stop texts" in told["requests"]["openai-responses"]["error"]
    assert told["requests"]["text"]["text"].startswith("<|im_start|>user")
    async with asyncio.timeout(5):
        while server.asked[-1][0] != "DELETE":  # noqa: ASYNC110 - the link's thread does it
            await asyncio.sleep(0.01)
    assert server.asked[1][1] == f"/api/live/{told['id']}?wait=2"


async def test_a_question_that_is_refused(hub: Hub, server: Server) -> None:
    announce(one(server.url))
    server.answers = [{"state": "refused", "reason": "not now"}]
    with pytest.raises(RunError, match="the question 'ask' was refused: not now"):
        await live(ask, {"question": "Why?"}, token_limit=99)


async def test_a_server_that_goes_and_comes_back(hub: Hub, server: Server) -> None:
    announce(one(server.url))
    server.answers = [404, {"nothing": 1}, {"state": "answered", "answer": {}}, WELL]
    assert (await live(ask, {"question": "Why?"}, token_limit=99)).text == "well"
    assert [method for method, _, _ in server.asked].count("POST") == 4


async def test_a_server_that_is_silent_holds_up_nobody(
    hub: Hub, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Its process may have been killed, and its number be another one's by now."""
    caplog.set_level(logging.WARNING, "priompt_py.runtime.live")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        silent = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        announce(one(silent, started=2.0))
        announce(one(server.url))
        server.answers = [WELL]
        assert (await live(ask, {"question": "Why?"}, token_limit=99)).text == "well"
    assert (await told(caplog)).startswith(
        f"live() waits for an answer, and nobody shows its question: {silent} can't be asked: "
    )


async def test_the_token_of_an_earlier_start(
    hub: Hub, server: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "priompt_py.runtime.live")
    monkeypatch.setenv("PRIOMPT_LIVE", f"{server.url}/#token=t")
    server.refuses = True
    asking = asyncio.create_task(live(ask, {"question": "Why?"}, token_limit=99))
    assert await told(caplog) == (
        f"live() waits for an answer, and nobody shows its question: {server.url}/ has another token: each start of "
        "`priompt serve` has a new one"
    )
    asking.cancel()


async def told(caplog: pytest.LogCaptureFixture) -> str:
    """The one thing that is logged, once it is there; it is not told again."""
    async with asyncio.timeout(10):
        while not caplog.records:  # noqa: ASYNC110 - a thread does it
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    (record,) = caplog.records
    return record.getMessage()


async def test_nobody_shows_it(
    hub: Hub, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "priompt_py.runtime.live")
    asking = asyncio.create_task(live(ask, {"question": "x"}, token_limit=99))
    assert await told(caplog) == (
        "live() waits for an answer, and nobody shows its question: start `priompt serve`, or serve preview_app() from "
        "this program"
    )
    (question,) = hub.questions()
    hub.answer(question.id, "x")
    assert (await asking).text == "x"
    caplog.clear()
    monkeypatch.setattr(live_module, "_link", None)
    monkeypatch.setenv("PRIOMPT_LIVE", "nonsense")
    asking = asyncio.create_task(live(ask, {"question": "x"}, token_limit=99))
    assert await told(caplog) == (
        "live() waits for an answer, and nobody shows its question: PRIOMPT_LIVE needs the address that priompt serve "
        "printed, with #token=…, got 'nonsense'"
    )
    asking.cancel()


async def test_a_hub_that_is_watched_takes_nothing_elsewhere(hub: Hub, server: Server) -> None:
    announce(one(server.url))
    server.answers = [WELL]
    end = hub.watch(lambda: None)
    asking = asyncio.create_task(live(ask, {"question": "Why?"}, token_limit=99))
    await asyncio.sleep(0.2)
    assert server.asked == []
    link = LiveLink(hub)
    link.ensure()
    await asyncio.sleep(0.2)
    assert server.asked == []
    end()  # whoever showed it is gone
    assert (await asking).text == "well"


async def test_the_link_rests_without_questions(hub: Hub) -> None:
    link = LiveLink(hub)
    link.ensure()
    link.ensure()
    async with asyncio.timeout(5):
        while link._thread is not None:  # noqa: ASYNC110 - a thread ends
            await asyncio.sleep(0.01)


def test_answers_from_servers() -> None:
    calls = [{"id": "1", "name": "f", "arguments": "{}"}]
    found = answer_from({"text": "x", "tool_calls": calls, "finish_reason": "tool_calls"})
    assert found.tool_calls[0].parsed == {}
    with pytest.raises(KeyError):
        answer_from({})
    wrong: Any = 5
    with pytest.raises(ArgumentTypeError):
        Hub().answer("q1", wrong)


async def test_props_without_json(hub: Hub, server: Server) -> None:
    announce(one(server.url))
    server.answers = [WELL]

    def odd(value: object) -> Node:
        return "x"

    await live(odd, {"value": float("nan")}, token_limit=9)
    assert server.asked[0][2]["props"] is None
