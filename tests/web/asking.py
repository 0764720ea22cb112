"""Asks a preview as a page does: in this process, or over the wire."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from priompt_py.web import PreviewApp

TOKEN = "a-token-of-the-tests-0123456789"
BASE = "http://127.0.0.1:4180"


class Page:
    """A page of an app in this process, which has the token."""

    def __init__(self, app: PreviewApp, *, base: str = BASE) -> None:
        self.app = app
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base)

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"X-Priompt-Token": self.app.token, **options.pop("headers", {})}
        return await self.client.request(method, path, headers=headers, **options)

    async def get(self, path: str, status: int = 200, **fields: Any) -> Any:
        answer = await self.send("GET", path, params=fields)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def post(self, path: str, fields: Mapping[str, Any], status: int = 200) -> Any:
        answer = await self.send("POST", path, json=fields)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def error(self, path: str, fields: Mapping[str, Any] | None = None) -> tuple[int, str, str]:
        """Status, kind and message of a request that is refused."""
        if fields is None:
            answer = await self.send("GET", path)
        else:
            answer = await self.send("POST", path, json=fields)
        told = answer.json()["error"]
        assert set(told) >= {"kind", "message", "place", "notes", "traceback"}
        return answer.status_code, told["kind"], told["message"]


def rows_in(position: Mapping[str, Any], count: int) -> list[bool]:
    """Which rows are in, from a position's bits."""
    data = base64.b64decode(position["bits"])
    assert len(data) == (count + 7) // 8
    return [bool(data[n >> 3] >> (n & 7) & 1) for n in range(count)]


def text_of(opened: Mapping[str, Any], position: Mapping[str, Any] | None = None) -> str:
    """The texts of the rows that are in, as the page shows them."""
    elements = opened["elements"]
    flags = rows_in(position or opened["position"], elements["count"])
    details = elements["details"]
    return "".join(
        text
        for n, (text, is_in) in enumerate(zip(elements["text"], flags, strict=True))
        if is_in and text is not None and not details.get(str(n), {}).get("dropped")
    )


class Running:
    """``priompt serve`` in a process of its own, in a folder."""

    def __init__(self, folder: Path, *arguments: str, runtime: Path | None = None) -> None:
        self.runtime = runtime or folder / ".runtime"
        if not self.runtime.exists():
            self.runtime.mkdir(mode=0o700)
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.runtime), "PYTHONUTF8": "1"}
        self.environment.pop("PRIOMPT_LIVE", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "priompt_py", "serve", "--port", "0", *arguments],
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.base, _, self.token = self.address.partition("/#token=")
        if not self.token:
            raise AssertionError(self.process.communicate(timeout=10)[1])
        self.port = int(self.base.rpartition(":")[2])
        self.client = httpx.Client(base_url=self.base, headers={"X-Priompt-Token": self.token}, timeout=60)

    def get(self, path: str, **fields: Any) -> Any:
        answer = self.client.get(path, params=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, fields: Mapping[str, Any], status: int = 200) -> Any:
        answer = self.client.post(path, json=fields)
        assert answer.status_code == status, answer.text
        return answer.json()

    def stop(self) -> tuple[int, str]:
        """End it as Ctrl+C does; its exit code, and what it said."""
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=30)[1]
        return self.process.returncode, said


class Listener(threading.Thread):
    """Reads an event stream."""

    def __init__(self, server: Running) -> None:
        super().__init__(daemon=True)
        self.events: list[tuple[str, str]] = []
        self.news = threading.Condition()
        self.is_over = False
        self._server = server
        self.start()
        self.wait_for("questions")

    def run(self) -> None:
        headers = {"X-Priompt-Token": self._server.token}
        try:
            with httpx.stream(
                "GET", f"{self._server.base}/api/events", headers=headers, timeout=60
            ) as stream:
                name = ""
                for line in stream.iter_lines():
                    if line.startswith("event: "):
                        name = line.removeprefix("event: ")
                    elif line.startswith("data: "):
                        with self.news:
                            self.events.append((name, line.removeprefix("data: ")))
                            self.news.notify_all()
        except httpx.HTTPError:
            pass
        with self.news:
            self.is_over = True
            self.news.notify_all()

    def wait_for(self, pattern: str, seconds: float = 20) -> tuple[str, str]:
        """The first event whose name and data match; it is forgotten, with those before it."""

        def found() -> bool:
            return any(re.search(pattern, f"{name} {data}") for name, data in self.events)

        with self.news:
            assert self.news.wait_for(found, seconds), self.events
            while True:
                event = self.events.pop(0)
                if re.search(pattern, " ".join(event)):
                    return event
