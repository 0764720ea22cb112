"""Prompts' code that hangs, ends its process, prints or raises: the server goes on."""

from __future__ import annotations

import asyncio
import io
import json
import os
import queue
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from priompt_py import Node
from priompt_py.web import child
from priompt_py.web.answers import Refusal
from priompt_py.web.frames import read_frame, write_frame
from priompt_py.web.processes import ProcessWorker
from priompt_py.web.threads import ThreadWorker
from priompt_py.web.workers import Pool
from tests.web.asking import Page

pytestmark = pytest.mark.anyio

FACTORY = "priompt_py.cli.served:sources_served"

APP = """
import os, signal, subprocess, sys, time

def fine(n=1):
    print("out")
    print("err", file=sys.stderr)
    os.write(1, b"straight to the descriptor")
    return "x " * n

def hang():
    while True:
        time.sleep(1)

def spin():
    while True:
        pass

def exit():
    os._exit(7)

def leave():
    sys.exit("bye")

def die():
    os.kill(os.getpid(), signal.SIGSEGV)

def reads():
    return repr(sys.stdin.read())

def loud():
    print("x" * 100_000)
    raise KeyError("after much noise")

def start():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open("child.pid", "w") as file:
        file.write(str(child.pid))
    time.sleep(60)

def start_and_exit():
    child = subprocess.Popen(["sleep", "60"])
    with open("child.pid", "w") as file:
        file.write(str(child.pid))
    os._exit(7)

def fork():
    return "child" if os.fork() == 0 else "parent"

def fork_and_exit():
    child = os.fork()
    if child:
        with open("child.pid", "w") as file:
            file.write(str(child))
        os._exit(3)
    time.sleep(60)

def move():
    os.chdir("/")
    sys.stdout = sys.stderr = None
    return "moved"
"""


@pytest.fixture
async def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pool]:
    """Two processes at most, with the prompts above, and a time-out of 8 seconds."""
    (tmp_path / "app.py").write_text(APP, "utf-8")
    monkeypatch.chdir(tmp_path)
    names = ["fine", "hang", "spin", "exit", "leave", "die", "reads", "loud", "start"]
    names += ["start_and_exit", "fork", "fork_and_exit", "move"]
    argument = {"sources": [f"app.py:{name}" for name in names], "modules": []}
    made = Pool(partial(ProcessWorker.start, FACTORY, argument), timeout=8.0, most=2)
    yield made
    await made.stop()


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    while not await done():  # noqa: ASYNC110 - nothing tells it
        await asyncio.sleep(0.02)


async def opened(pool: Pool, name: str, **props: Any) -> Any:
    spec: dict[str, Any] = {"prompt": f"app.py:{name}", "props": props}
    view = f"{name}{props}"
    job = {"op": "open", "view": view, "specs": {view: spec}, "limit": 5}
    try:
        status, body = await pool.do(job, {view: spec}, prompt=spec["prompt"])
    except Refusal as refusal:
        status, body = refusal.answer()
    told = json.loads(body)
    return told if status == 200 else (status, told["error"])


async def test_code_that_prints_ends_or_raises(pool: Pool) -> None:
    told = await opened(pool, "fine", n=3)
    assert (told["elements"]["text"], told["printed"]) == (["x x x "], "out\nerr\n")
    status, error = await opened(pool, "exit")
    assert (status, error["kind"], error["place"]) == (422, "prompt", "app.py:exit")
    assert error["message"] == "the prompt's code ended its process (exit code 7)"
    assert (await opened(pool, "fine"))["elements"]["text"] == ["x "]
    status, error = await opened(pool, "die")
    assert error["message"] == "the prompt's code ended its process (signal 11)"
    status, error = await opened(pool, "leave")
    assert error["message"] == "the prompt's code called sys.exit('bye')"
    assert error["place"].endswith("app.py:22")
    assert (await opened(pool, "reads"))["elements"]["text"] == ["''"]  # standard input is empty
    status, error = await opened(pool, "loud")
    assert (status, error["message"]) == (422, "KeyError: 'after much noise'")
    assert len(error["printed"]) == 10_000
    assert "app.py" in error["traceback"]
    assert "priompt_py" not in error["traceback"]


async def test_code_that_hangs_is_ended_and_holds_up_nobody(tmp_path: Path, pool: Pool) -> None:
    pool._timeout = 1.5
    await opened(pool, "fine")  # everything is loaded
    begun = time.monotonic()
    hanging = asyncio.create_task(opened(pool, "spin"))
    await asyncio.sleep(0.1)
    pool._timeout = 20
    assert (await opened(pool, "fine", n=2))["elements"]["text"] == ["x x "]
    status, error = await hanging
    assert (status, error["kind"]) == (504, "time")
    assert error["message"] == "the prompt's code took longer than 1.5 seconds, and was ended"
    assert time.monotonic() - begun < 15


def has_ended(number: int) -> bool:
    """Whether a process is gone, or only waits for somebody to take note of that."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{number}/stat")
    return status.exists() and ") Z " in status.read_text()


def children_of(number: int) -> list[int]:
    listed = Path(f"/proc/{number}/task/{number}/children").read_text()
    return [int(child) for child in listed.split()]


def cwd_of(number: int) -> Path:
    return Path(f"/proc/{number}/cwd").readlink()


async def test_what_code_has_started_ends_with_it(tmp_path: Path, pool: Pool) -> None:
    pool._timeout = 4.0
    status, _ = await opened(pool, "start")
    assert status == 504
    number = int((tmp_path / "child.pid").read_text())

    async def gone() -> bool:
        return has_ended(number)

    async with asyncio.timeout(10):
        await until(gone)


@pytest.mark.parametrize(("name", "code"), [("start_and_exit", 7), ("fork_and_exit", 3)])
async def test_what_code_has_started_ends_also_where_it_ends_itself(
    tmp_path: Path, pool: Pool, name: str, code: int
) -> None:
    status, error = await opened(pool, name)
    assert (status, error["message"]) == (422, f"the prompt's code ended its process (exit code {code})")
    number = int((tmp_path / "child.pid").read_text())

    async def gone() -> bool:
        return has_ended(number)

    async with asyncio.timeout(10):
        await until(gone)
    assert (await opened(pool, "fine"))["elements"]["text"] == ["x "]


async def test_code_that_forks_answers_once(pool: Pool) -> None:
    assert (await opened(pool, "fork"))["elements"]["text"] == ["parent"]
    for n in range(1, 4):
        assert (await opened(pool, "fine", n=n))["elements"]["text"] == ["x " * n]
    assert len(pool._workers) == 1
    forked = children_of(number_of(pool))
    assert len(forked) == 1

    async def gone() -> bool:
        return has_ended(forked[0])

    async with asyncio.timeout(10):
        await until(gone)


def number_of(pool: Pool) -> int:
    (worker,) = pool._workers
    assert isinstance(worker, ProcessWorker)
    return worker._process.pid


async def test_each_job_finds_the_folder_and_the_streams_as_they_were(tmp_path: Path, pool: Pool) -> None:
    assert (await opened(pool, "move"))["elements"]["text"] == ["moved"]
    told = await opened(pool, "fine")
    assert told["printed"] == "out\nerr\n"
    assert len(pool._workers) == 1
    assert cwd_of(number_of(pool)) == tmp_path


async def test_somebody_stops_it(pool: Pool) -> None:
    hanging = asyncio.create_task(opened(pool, "hang"))
    await until(lambda: pool.cancel("app.py:hang"))
    status, error = await hanging
    assert (status, error["kind"], error["message"]) == (504, "time", "the prompt's code was stopped")
    assert await pool.cancel("app.py:hang") is False


async def test_all_are_busy(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.web.workers.WAIT", 0.5)
    pool._timeout = 60
    hanging = [asyncio.create_task(opened(pool, name)) for name in ("hang", "spin")]
    monkeypatch.setattr("priompt_py.web.workers.SOON", 0.0)

    async def both() -> bool:
        return len([one for one in pool._workers if one.lock.locked()]) == 2

    await until(both)
    status, error = await opened(pool, "fine")
    assert (status, error["kind"]) == (503, "busy")
    assert error["message"] == "2 prompts' code is running already: wait, or stop one of them"
    await pool.stop()
    for one in (*hanging, opened(pool, "fine")):
        status, error = await one
        assert (status, error["message"]) == (503, "the server stops")


async def test_a_view_whose_process_is_gone_is_made_anew(pool: Pool) -> None:
    await opened(pool, "fine", n=3)
    view = "fine{'n': 3}"
    spec = {"prompt": "app.py:fine", "props": {"n": 3}}
    before = pool._workers[0]
    await pool.renew()
    assert pool._workers == []
    status, body = await pool.do({"op": "at", "view": view, "limit": 9}, {view: spec}, prompt="app.py:fine")
    assert (status, json.loads(body)["used"]) == (200, 4)
    assert pool._workers[0] is not before


async def test_an_answer_that_nobody_waits_for_is_nobodys(pool: Pool) -> None:
    await opened(pool, "fine")
    waiting = asyncio.create_task(opened(pool, "hang"))
    await asyncio.sleep(0.3)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await opened(pool, "fine", n=2))["elements"]["text"] == ["x x "]


async def test_files_that_were_read_are_known(tmp_path: Path, pool: Pool) -> None:
    await pool.warm()
    await pool.warm()
    assert str(tmp_path / "app.py") in pool.seen.files
    assert str(tmp_path) in pool.seen.folders
    assert len(pool._workers) == 1


async def test_a_process_that_cannot_be_started() -> None:
    async def start() -> Any:
        raise OSError(24, "Too many open files")

    with pytest.raises(Refusal, match="no process can be started: Too many open files"):
        await Pool(start, timeout=1).do({"op": "prompts"}, {}, prompt=None)


async def test_a_process_that_is_started_while_the_server_stops() -> None:
    begun, release = asyncio.Event(), asyncio.Event()
    started: list[ProcessWorker] = []

    async def start() -> ProcessWorker:
        begun.set()
        await release.wait()
        started.append(await ProcessWorker.start(FACTORY, {"sources": [], "modules": []}))
        return started[0]

    pool = Pool(start, timeout=60)
    waiting = asyncio.create_task(pool.do({"op": "prompts"}, {}, prompt=None))
    await begun.wait()
    stopping = asyncio.create_task(pool.stop())
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(Refusal, match="the server stops"):
        await waiting
    await stopping
    assert not started[0].is_alive
    assert pool._workers == []


async def test_a_factory_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pool = Pool(partial(ProcessWorker.start, "priompt_py.nowhere:x", {}), timeout=20)
    status, body = await pool.do({"op": "prompts"}, {}, prompt=None)
    assert (status, json.loads(body)["error"]["message"]) == (
        422,
        "ModuleNotFoundError: No module named 'priompt_py.nowhere'",
    )
    await pool.stop()


# ------------------------------------------------------------------------------------------ the other side


class Jobs:
    """Jobs for `child.work`, and its answers."""

    def __init__(self, folder: Path) -> None:
        self.into = io.BytesIO()
        self.errors = io.StringIO()
        self.printed = child.Printed(self.errors)
        self.argument = {"sources": ["app.py:fine", "app.py:loud"], "modules": []}

    def run(self, *jobs: Mapping[str, Any]) -> list[tuple[dict[str, Any], Any]]:
        waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        for job in (*jobs, {"op": "stop"}):
            waiting.put(dict(job))
        child.work(FACTORY, self.argument, waiting.get, self.into, self.printed)
        self.into.seek(0)
        found: list[tuple[dict[str, Any], Any]] = []
        while (frame := read_frame(self.into)) is not None:
            found.append((json.loads(frame[0]), json.loads(frame[1] or b"null")))
        return found


async def test_jobs_and_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").write_text(APP, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = {"prompt": "app.py:fine", "props": {"n": 2}}
    found = Jobs(tmp_path).run(
        {"op": "warm"},
        {"op": "at", "view": "v", "limit": 5},
        {"op": "at", "view": "v", "limit": 5, "specs": {"v": spec}},
        {"op": "at", "view": "v", "limit": 5},
        {"op": "nothing"},
        {"op": "compare", "a": {"view": "w", "limit": 5}, "b": {"view": "v", "limit": 5}},
    )
    assert [head.get("missing", False) for head, _ in found] == [False, True, False, False, False, True]
    assert [head["status"] for head, _ in found] == [200, 200, 200, 200, 422, 200]
    assert str(tmp_path / "app.py") in found[0][0]["files"]
    assert found[3][0]["files"] == {}
    assert found[2][1]["used"] == 3


def test_what_is_printed_is_passed_on_and_its_end_is_kept() -> None:
    class Closed(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError

        def flush(self) -> None:
            raise OSError

    onward = io.StringIO()
    printed = child.Printed(onward)
    assert printed.writable()
    print("a", file=printed, flush=True)
    assert (printed.take(), printed.take(), onward.getvalue()) == ("a\n", "", "a\n")
    for _ in range(100):
        printed.write("y" * 1_000)
    assert printed.take() == "y" * 10_000
    gone = child.Printed(Closed())
    print("a", file=gone, flush=True)
    assert gone.take() == "a\n"
    with Path(__file__).open(encoding="utf-8") as file:
        assert child.Printed(file).fileno() == file.fileno()
        assert child.Printed(file).buffer is file.buffer
    assert printed.encoding == "utf-8"


def test_frames_that_are_cut() -> None:
    stream = io.BytesIO()
    write_frame(stream, b"head", b"body")
    whole = stream.getvalue()
    assert read_frame(io.BytesIO(whole)) == (b"head", b"body")
    for cut in range(len(whole)):
        assert read_frame(io.BytesIO(whole[:cut])) is None


# ------------------------------------------------------------------------------------------ threads


async def test_code_that_hangs_in_a_thread(page: Callable[..., Page]) -> None:
    release = threading.Event()

    def hang() -> Node:
        release.wait(30)
        return "done"

    one = page(prompts={"hang": hang, "fine": "x"}, timeout=0.3)
    try:
        assert await one.error("/api/open", {"prompt": "hang"}) == (
            504,
            "time",
            "the prompt's code took longer than 0.3 seconds, and was ended",
        )
        assert (await one.post("/api/open", {"prompt": "fine"}))["elements"]["text"] == ["x"]
        waiting = asyncio.create_task(one.error("/api/open", {"prompt": "hang"}))

        async def cancelled() -> bool:
            return bool((await one.post("/api/cancel", {"prompt": "hang"}))["cancelled"])

        await until(cancelled)
        assert (await waiting)[2] == "the prompt's code was stopped"
    finally:
        release.set()
    await one.app.stop()


async def test_too_many_threads_hang(page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(ThreadWorker, "hanging", set[threading.Thread]())
    monkeypatch.setattr("priompt_py.web.threads.MOST_HANGING", 2)

    def hang() -> Node:
        release.wait(30)
        return "done"

    one = page(prompts={"hang": hang}, timeout=0.05)
    try:
        statuses = [(await one.error("/api/open", {"prompt": "hang"}))[0] for _ in range(3)]
    finally:
        release.set()
    assert statuses == [504, 504, 503]


async def test_prompts_print_where_the_program_does(
    page: Callable[..., Page], capsys: pytest.CaptureFixture[str]
) -> None:
    def loud() -> Node:
        print("heard")
        return "x"

    opened = await page(prompts={"loud": loud}).post("/api/open", {"prompt": "loud"})
    assert (opened["printed"], capsys.readouterr().out) == ("", "heard\n")
    assert os.environ["XDG_RUNTIME_DIR"]
