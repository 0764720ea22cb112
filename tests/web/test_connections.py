"""Connections on which a request doesn't come are closed, others stay."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from priompt_py.web.connections import HEAD_TIME, Connection

pytestmark = pytest.mark.anyio

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

Message = MutableMapping[str, Any]


async def slow(
    _: Message, __: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    """Answers after 0.4 seconds."""
    await asyncio.sleep(0.4)
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """Of a server that waits 0.2 seconds for a head, and 5 between two requests."""
    monkeypatch.setattr("priompt_py.web.connections.HEAD_TIME", 0.2)
    config = uvicorn.Config(slow, log_level="critical", ws="none")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    yield server.sockets[0].getsockname()[1]
    server.close()


@contextlib.asynccontextmanager
async def connected(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def answer(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\nok")


def test_the_time_of_a_head_is_that_of_a_body() -> None:
    assert HEAD_TIME == 30.0


@pytest.mark.parametrize("sent", [b"", b"GET / HT", GET[:-2]])
async def test_heads_that_do_not_come(port: int, sent: bytes) -> None:
    async with connected(port) as (reader, writer):
        writer.write(sent)
        assert await asyncio.wait_for(reader.read(), 3) == b""


async def test_heads_that_come_byte_by_byte(port: int) -> None:
    begun = asyncio.get_running_loop().time()
    async with connected(port) as (reader, writer):
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"G")
                await writer.drain()
                await asyncio.sleep(0.02)
    assert asyncio.get_running_loop().time() - begun < 1.5


async def test_answers_and_pauses_may_take_longer(port: int) -> None:
    async with connected(port) as (reader, writer):
        for _ in range(2):
            writer.write(GET)
            assert (await answer(reader)).startswith(b"HTTP/1.1 200 OK\r\n")
            await asyncio.sleep(0.3)
        writer.write(GET[:10])
        assert await asyncio.wait_for(reader.read(), 3) == b""
