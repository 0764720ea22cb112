"""`priompt serve` as people run it: in a process, over the wire."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from priompt_py.errors import SourceError
from priompt_py.web.serving import address_of, listening
from tests.web.asking import Listener, Running, text_of
from tests.web.test_workers import children_of, has_ended

Serve = Callable[..., Running]

APP = """
import time
from priompt_py import prompt, scope

@prompt(id="chat")
def chat(q: str = "hi", n: int = 1):
    return [q, scope(p=1)[" x" * n]]

@prompt(id="hang")
def hang():
    time.sleep(600)
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    file = tmp_path / "app.py"
    file.write_text(APP, "utf-8")
    return file


def test_a_prompt_in_the_page(app: Path, serve: Serve) -> None:
    server = serve("--module", "app.py")
    prompts = server.get("/api/prompts")["prompts"]
    assert [one["id"] for one in prompts] == ["chat", "hang"]
    opened = server.post("/api/open", {"prompt": "chat", "props": {"q": "Zoë 你好", "n": 2}})
    assert text_of(opened) == "Zoë 你好 x x"
    assert server.get("/api/session")["mode"] == "serve"
    assert server.client.get("/").status_code == 200
    code, said = server.stop()
    assert code == 0
    assert said.startswith("priompt: serving ")
    assert "Traceback" not in said, said


@pytest.mark.slow
def test_a_file_changes(app: Path, serve: Serve) -> None:
    server = serve("app.py:chat")
    opened = server.post("/api/open", {"prompt": "app.py:chat"})
    assert text_of(opened) == "hi x"
    listener = Listener(server)
    app.write_text(APP.replace('q: str = "hi"', 'q: str = "changed"'), "utf-8")
    assert listener.wait_for("^changed")[1] == '{"files": ["app.py"]}'
    assert text_of(server.post("/api/open", {"prompt": "app.py:chat"})) == "changed x"
    # The view of before is made anew, from the file as it is now.
    assert server.get(f"/api/views/{opened['view']}/at", limit=99)["used"] > 0
    app.write_text("def chat(:", "utf-8")
    listener.wait_for("^changed")
    (told,) = server.get("/api/prompts")["prompts"]
    assert told["problem"]["message"].startswith("SyntaxError")
    app.write_text(APP, "utf-8")
    listener.wait_for("^changed")
    assert text_of(server.post("/api/open", {"prompt": "app.py:chat"})) == "hi x"


@pytest.mark.slow
def test_templates_and_dumps_appear(tmp_path: Path, serve: Serve) -> None:
    (tmp_path / "a.priompt").write_text("<user>a</user>", "utf-8")
    server = serve()
    assert [one["id"] for one in server.get("/api/prompts")["prompts"]] == ["a.priompt"]
    listener = Listener(server)
    time.sleep(0.6)  # the folder has been looked at
    (tmp_path / "b.priompt").write_text("<user>b</user>", "utf-8")
    listener.wait_for("^prompts")
    assert [one["id"] for one in server.get("/api/prompts")["prompts"]] == ["a.priompt", "b.priompt"]


@pytest.mark.slow
def test_the_server_answers_while_code_hangs(app: Path, serve: Serve) -> None:
    server = serve("--module", "app.py", "--timeout", "3")
    server.get("/api/prompts")
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(server.client.post, "/api/open", json={"prompt": "hang"})
        time.sleep(0.3)
        begun = time.monotonic()
        for path in ("/", "/static/app.js", "/api/session", "/api/questions"):
            assert server.client.get(path).status_code == 200
        assert time.monotonic() - begun < 2
        assert text_of(server.post("/api/open", {"prompt": "chat"})) == "hi x"
        answer = hanging.result(30)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (504, "time")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_it_stops_cleanly(app: Path, serve: Serve, name: str) -> None:
    """With pages that listen, code that hangs, a question that waits, and clients that say nothing."""
    server = serve("--module", "app.py")
    server.get("/api/prompts")
    listener = Listener(server)
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
    half = socket.create_connection(("127.0.0.1", server.port))
    half.sendall(b"POST /api/open HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
    begun_body = socket.create_connection(("127.0.0.1", server.port))
    begun_body.sendall(
        f"POST /api/open HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Priompt-Token: {server.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
    )
    program = started(
        "import priompt_py, asyncio; asyncio.run(priompt_py.live('Hello', token_limit=9))", app.parent, server
    )
    listener.wait_for(r'^questions .*"str"')
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(server.client.post, "/api/open", json={"prompt": "hang"})
        time.sleep(0.5)
        children = children_of(server.process.pid)
        assert children
        begun = time.monotonic()
        server.process.send_signal(getattr(signal, name))
        code = server.process.wait(20)
        took = time.monotonic() - begun
        with contextlib.suppress(Exception):  # its connection may have been cut
            assert hanging.result(10).status_code == 503
    assert code == 0
    assert took < 8
    listener.wait_for("closing")
    for child in children:
        assert has_ended(child)
    assert not list((server.runtime / "priompt").glob("*.json"))
    assert program.poll() is None  # its question goes on waiting
    program.kill()
    program.communicate()
    assert server.process.stderr is not None
    said = server.process.stderr.read()
    assert said.count("\n") == 1, said
    assert said.startswith("priompt: serving ")
    for one in (*silent, half, begun_body):
        one.close()


@pytest.mark.slow
def test_processes_end_when_the_server_is_killed(app: Path, serve: Serve) -> None:
    server = serve("--module", "app.py")
    server.get("/api/prompts")
    with contextlib.suppress(Exception), concurrent.futures.ThreadPoolExecutor(1) as threads:
        threads.submit(server.client.post, "/api/open", json={"prompt": "hang"})
        time.sleep(0.5)
        children = children_of(server.process.pid)
        server.process.kill()
        server.process.wait()
        until = time.monotonic() + 10
        while not all(map(has_ended, children)) and time.monotonic() < until:
            time.sleep(0.05)
        assert children
        assert all(map(has_ended, children))
        return
    raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("redirected", ["| true", ">&-"])
def test_nobody_reads_the_address(app: Path, redirected: str) -> None:
    """It ends at once, and doesn't serve what nobody can open."""
    command = f"{sys.executable} -m priompt_py serve --port 0 --module app.py {redirected}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=app.parent, capture_output=True, text=True, timeout=30, check=False
    )
    assert "Traceback" not in done.stderr
    assert "serving" not in done.stderr


@pytest.mark.slow
def test_it_stops_while_modules_are_loaded(app: Path, serve: Serve) -> None:
    app.write_text(f"import time\ntime.sleep(600)\n{APP}", "utf-8")
    server = serve("--module", "app.py")
    begun = time.monotonic()
    code, said = server.stop()
    assert code == 0
    assert time.monotonic() - begun < 8
    assert said.count("\n") == 1


@pytest.mark.slow
def test_nohup_keeps_it(app: Path, serve: Serve) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        server = serve("app.py:chat")
    finally:
        signal.signal(signal.SIGHUP, before)
    server.process.send_signal(signal.SIGHUP)
    assert server.get("/api/session")["mode"] == "serve"
    time.sleep(0.3)
    assert server.get("/api/session")["mode"] == "serve"


# ------------------------------------------------------------------------------------------ over the wire


def wire(server: Running, data: bytes) -> bytes:
    """What the server answers to these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        found = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65_536):
                found += chunk
    return found


def test_bytes_that_are_no_request(app: Path, serve: Serve) -> None:
    server = serve("--module", "app.py")
    here = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    key = f"X-Priompt-Token: {server.token}\r\n".encode()
    good = b"GET /api/session HTTP/1.1\r\n" + here + key + b"Connection: close\r\n\r\n"
    assert wire(server, good).startswith(b"HTTP/1.1 200 ")
    for request in (
        b"\x00\xff" * 500,
        b"GET\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + here + here + b"Connection: close\r\n\r\n",
        b"GET http://evil.example/api/session HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        b"GET /%00%ff%2e%2e/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + here + b"X: " + b"x" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n" + here + b"\r\n",
        b"POST /api/open HTTP/1.1\r\n" + here + key + b"Content-Length: -5\r\n\r\n",
        b"POST /api/open HTTP/1.1\r\n"
        + here
        + key
        + b"Content-Length: 99\r\nContent-Type: application/json\r\n\r\n{",
        b"POST /api/open HTTP/1.1\r\n" + here + key + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ):
        answer = wire(server, request)
        assert not answer.startswith(b"HTTP/1.1 2"), request[:60]
        assert not answer.startswith(b"HTTP/1.0 2"), request[:60]
        assert wire(server, good).startswith(b"HTTP/1.1 200 ")
    code, said = server.stop()
    assert code == 0
    assert "Traceback" not in said, said


@pytest.mark.slow
def test_slow_clients_hold_up_nobody(app: Path, serve: Serve) -> None:
    server = serve("--module", "app.py")
    server.get("/api/prompts")
    slow: list[socket.socket] = []
    for number in range(60):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(b"GET / HTTP/1.1\r\nHo"[: 1 + number % 16])
        slow.append(connection)
    reader = socket.create_connection(("127.0.0.1", server.port))  # asks for much, and reads nothing
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    reader.sendall(
        f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Priompt-Token: {server.token}\r\n\r\n".encode()
    )
    begun = time.monotonic()
    for _ in range(20):
        assert server.client.get("/api/session").status_code == 200
    assert time.monotonic() - begun < 5
    for connection in (*slow, reader):
        connection.close()
    assert server.stop()[0] == 0


# ------------------------------------------------------------------------------------------ live


def started(code: str, folder: Path, server: Running) -> subprocess.Popen[str]:
    """A program of the user's, beside the server."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=server.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


PROGRAM = """
import asyncio
from priompt_py import capture, live, scope, user_message

def ask(question, on_return):
    return [user_message[question, scope(p=1)[" 😀"]], capture(on_output=lambda output: on_return(output.text + "!"))]

print(asyncio.run(live(ask, {"question": "Who?"}, token_limit=40)))
"""


def test_a_program_beside_the_server_gets_its_answer(tmp_path: Path, serve: Serve) -> None:
    server = serve()
    listener = Listener(server)
    program = started(PROGRAM, tmp_path, server)
    told = json.loads(listener.wait_for(r'^questions .*"ask"')[1])
    (question,) = told["questions"]
    assert question["program"].startswith("-c, process ")
    shown = server.get(f"/api/questions/{question['id']}")
    assert text_of(shown) == "Who? 😀"
    assert shown["props"] == {"question": "Who?"}
    server.post(f"/api/questions/{question['id']}/answer", {"answer": "me"})
    out, err = program.communicate(timeout=30)
    assert (out, err, program.returncode) == ("me!\n", "", 0)
    assert json.loads(listener.wait_for(r"^questions .*: \[\]")[1]) == {"questions": []}


@pytest.mark.slow
def test_a_program_that_is_ended_takes_its_question_back(tmp_path: Path, serve: Serve) -> None:
    server = serve()
    listener = Listener(server)
    program = started(
        PROGRAM.replace("asyncio.run(live(", "asyncio.run(asyncio.wait_for(live(").replace(
            "=40)", "=40), 3)"
        ),
        tmp_path,
        server,
    )
    listener.wait_for(r'^questions .*"ask"')
    listener.wait_for(r"^questions .*: \[\]")
    assert "TimeoutError" in program.communicate(timeout=30)[1]


@pytest.mark.slow
def test_a_program_waits_for_a_server(tmp_path: Path, serve: Serve) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "PYTHONUTF8": "1"}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    assert program.stderr.readline() == (
        "live() waits for an answer, and nobody shows its question: start `priompt serve`, or serve preview_app() from "
        "this program\n"
    )
    server = serve(runtime=runtime)
    until = time.monotonic() + 20
    questions: list[Any] = []
    while not questions and time.monotonic() < until:
        questions = server.get("/api/questions")["questions"]
        time.sleep(0.05)
    server.post(f"/api/questions/{questions[0]['id']}/answer", {"answer": "late"})
    assert program.communicate(timeout=30)[0] == "late!\n"


def test_the_file_that_tells_of_a_server_is_its_users_alone(tmp_path: Path, serve: Serve) -> None:
    server = serve()
    (file,) = (server.runtime / "priompt").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    told = json.loads(file.read_text("utf-8"))
    assert (told["url"], told["token"], told["folder"]) == (server.base, server.token, str(tmp_path))
    server.stop()
    assert not file.exists()


def test_without_a_folder_for_that_file_it_serves_too(tmp_path: Path, serve: Serve) -> None:
    no_folder = tmp_path / "file"
    no_folder.write_text("", "utf-8")
    server = serve(runtime=no_folder)
    assert server.get("/api/questions") == {"questions": []}
    named = {**server.environment, "PRIOMPT_LIVE": server.address}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=named, stdout=subprocess.PIPE, text=True
    )
    listener = Listener(server)
    (question,) = json.loads(listener.wait_for(r'^questions .*"ask"')[1])["questions"]
    server.post(f"/api/questions/{question['id']}/answer", {"answer": "named"})
    assert program.communicate(timeout=30)[0] == "named!\n"


# ------------------------------------------------------------------------------------------ where it listens


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_in_use(taken: int) -> None:
    with pytest.raises(SourceError) as caught:
        listening("127.0.0.1", taken)
    assert str(caught.value) == (
        f"port {taken} of 127.0.0.1 is in use: give --port N, or --port 0 for a free one"
    )


def test_hosts_that_are_none() -> None:
    for host in ("no such host", "256.1.1.1", "x" * 300):
        with pytest.raises(SourceError, match=r"^no host "):
            listening(host, 0)
    with pytest.raises(SourceError, match=r"^can't listen on 192\.0\.2\.1: "):
        listening("192.0.2.1", 0)  # an address of documentation, which no machine has


def test_addresses() -> None:
    for host, shown in (("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0.0.0.0", "127.0.0.1")):  # noqa: S104
        with listening(host, 0) as sock:
            assert address_of(sock) == f"http://{shown}:{sock.getsockname()[1]}"
            assert sock.proto == socket.IPPROTO_TCP


def test_a_wider_host_warns(app: Path, serve: Serve) -> None:
    server = serve("--host", "0.0.0.0", "--allow-host", "preview.example")  # noqa: S104 - it is what is tested
    assert server.client.get("/api/session", headers={"Host": "preview.example"}).status_code == 200
    assert server.client.get("/api/session", headers={"Host": "0.0.0.0"}).status_code == 403  # noqa: S104
    code, said = server.stop()
    assert code == 0
    assert said.startswith(
        "priompt: listening on 0.0.0.0: whoever has the address below, token included, can read and run these prompts\n"
    )
