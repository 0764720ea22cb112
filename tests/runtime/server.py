"""A local server that speaks the protocols of OpenAI and Anthropic over HTTP, as far as their clients need it.

It runs in a thread of its own and answers with what it was told to say, one answer a request. It refuses what the
providers refuse, and sees when a client closes its connection early.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from tests.runtime.protocol import PATHS, Protocol, Say, events_of, fault_of, whole_of

__all__ = ["Say", "Server"]

_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
}


class Server:
    """``with Server([Say("Hello")]) as server``: then a client's ``base_url`` is ``server.url`` + its own path.

    ``requests`` are the bodies that came, ``faults`` what was refused of them.
    """

    def __init__(self, answers: Iterable[Say] = ()) -> None:
        self.answers: deque[Say] = deque(answers)
        self.requests: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.closed_early = threading.Event()  # a client went away before the end of its answer
        self.events_sent = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- one connection, one request ----------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            await self._answer(first.split()[1], body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed_early.set()
        except asyncio.CancelledError:
            pass  # the server stops
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(
        self, path: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        protocol = PATHS.get(path)
        if protocol is None:
            await self._whole(writer, 404, {"error": {"message": f"nothing at {path}"}})
            return
        request: dict[str, Any] = json.loads(body)
        self.requests.append(request)
        fault = fault_of(protocol, request)
        if fault is not None:
            self.faults.append(fault)
            say = Say(fault, status=400)
        elif self.answers:
            say = self.answers.popleft()
        else:
            say = Say("nothing left to say", status=400)
        if request.get("stream") and say.status == 200:
            await self._stream(protocol, say, request, reader, writer)
        else:
            if say.hang_after is not None:
                await self._until_closed(reader)
            await self._whole(writer, say.status, whole_of(protocol, say, request["model"]))

    async def _whole(self, writer: asyncio.StreamWriter, status: int, data: dict[str, Any]) -> None:
        body = json.dumps(data).encode()
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\nRetry-After-Ms: 1\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()

    async def _stream(
        self,
        protocol: Protocol,
        say: Say,
        request: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            b"Connection: close\r\n\r\n"
        )
        for number, event in enumerate(events_of(protocol, say, request)):
            if number == say.hang_after:
                await self._until_closed(reader)
            if number == say.cut_after:
                return  # without the last chunk: the connection breaks off
            name = "" if protocol == "chat" else f"event: {event['type']}\n"
            await self._chunk(writer, f"{name}data: {json.dumps(event)}\n\n")
            self.events_sent += 1
            await asyncio.sleep(say.pause)
        if protocol == "chat":
            await self._chunk(writer, "data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _chunk(self, writer: asyncio.StreamWriter, text: str) -> None:
        data = text.encode()
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await writer.drain()

    async def _until_closed(self, reader: asyncio.StreamReader) -> None:
        """Say nothing more until the client goes away."""
        while await reader.read(1024):
            pass
        raise ConnectionResetError("the client closed the connection")
