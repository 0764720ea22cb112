"""The server of ``priompt serve``: one loop with the app, the processes of prompts, and a look at their files."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Generator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import uvicorn

from priompt_py.errors import SourceError
from priompt_py.preview.watch import snapshot_of
from priompt_py.runtime.announcements import Announcement, announce
from priompt_py.runtime.live import HUB
from priompt_py.web.app import PreviewApp
from priompt_py.web.connections import Connection
from priompt_py.web.processes import ProcessWorker
from priompt_py.web.workers import Pool

__all__ = ["PORT", "Serving", "address_of", "listening", "serve"]

PORT = 4180
"""Where ``priompt serve`` listens unless it is told otherwise."""

LOOK = 0.25
"""Seconds between two looks at the files."""

_GRACE = 2  # seconds that open connections have when the server stops


@attrs.frozen(kw_only=True)
class Serving:
    """How to serve. ``factory`` (``module:function``) makes the catalogue of ``argument`` in each process; ``timeout``
    is in seconds."""

    factory: str
    argument: Any
    host: str
    port: int
    hosts: Collection[str]
    timeout: float


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. Raises SourceError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise SourceError(f"no host {host!r} to listen on: {why}") from None
    family, _, _, _, address = found[0]
    sock = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # else asyncio leaves Nagle's delay on
    try:
        if sys.platform == "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(128)
    except OSError as error:
        sock.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES) and port:
            why = "is in use" if error.errno == errno.EADDRINUSE else "may not be used"
            raise SourceError(
                f"port {port} of {host} {why}: give --port N, or --port 0 for a free one"
            ) from None
        raise SourceError(f"can't listen on {host}: {error.strerror}") from None
    return sock


def address_of(sock: socket.socket) -> str:
    """``http://host:port`` of a socket; where it listens on all addresses, loopback's."""
    host, port = sock.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - told apart, not bound
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Ends event streams and processes before it waits for connections."""

    def __init__(self, config: uvicorn.Config, app: PreviewApp) -> None:
        super().__init__(config)
        self._app = app

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """A signal ends the server, and no more: uvicorn would raise it again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        ending = [signal.SIGINT, signal.SIGTERM]
        if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            ending.append(signal.SIGHUP)  # its terminal was closed; `nohup` has it ignored
        before = {one: signal.signal(one, self.handle_exit) for one in ending}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._app.stop()
        log = logging.getLogger("uvicorn.error")
        level = log.level
        log.setLevel(logging.CRITICAL)  # a request that hasn't wholly come is broken off: no fault to be told
        try:
            await super().shutdown(sockets)
            if self.server_state.tasks:  # those that it has cancelled
                await asyncio.wait(self.server_state.tasks, timeout=1)
        finally:
            log.setLevel(level)


async def serve(serving: Serving, sock: socket.socket, *, ready: Callable[[str], object]) -> None:
    """Serve on a socket until a signal comes; ``ready`` is given the page's address, token included."""
    start = partial(ProcessWorker.start, serving.factory, serving.argument)
    pool = Pool(start, timeout=serving.timeout)
    app = PreviewApp(
        pool,
        HUB,
        mode="serve",
        token=secrets.token_urlsafe(24),
        hosts=serving.hosts,
        timeout=serving.timeout,
        stream_seconds=float("inf"),
    )
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,  # Python's own: uvicorn's needs a standard output
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # nobody may say that a request came from elsewhere
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    base = address_of(sock)
    with _announced(base, app.token):
        ready(app.address(base))
        watching = asyncio.create_task(_watch(app))
        warming = asyncio.create_task(pool.warm())
        try:
            await _Server(config, app).serve(sockets=[sock])
        finally:
            watching.cancel()
            await app.stop()
            await asyncio.gather(watching, warming, return_exceptions=True)


@contextlib.contextmanager
def _announced(base: str, token: str) -> Generator[None]:
    """Meanwhile let programs of this user find the server, if it can be reached from this machine."""
    path: Path | None = None
    announcement = Announcement(base, token, os.getpid(), str(Path.cwd()), time.time())
    # Without a place for the file, programs can be given the address.
    with contextlib.suppress(OSError):
        path = announce(announcement)
    try:
        yield
    finally:
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()


def _end(task: asyncio.Task[None]) -> None:
    """Take note of what a task that nobody waits for raised."""
    if not task.cancelled():
        task.exception()


async def _watch(app: PreviewApp) -> None:
    """Tell pages when files behind the prompts change, or dumps are written."""
    last: Any = None
    known: Any = None
    while True:
        await asyncio.sleep(LOOK)
        files, folders = dict(app.pool.seen.files), sorted(app.pool.seen.folders)
        now = await asyncio.to_thread(snapshot_of, files)
        lists = await asyncio.to_thread(snapshot_of, folders)
        changed = sorted(file for file in files if now[file] != files[file])
        if changed and now == last:  # no longer changing: an editor may still be writing
            last = None
            await app.pool.renew()
            warming = asyncio.create_task(app.pool.warm())
            warming.add_done_callback(_end)
            app.events.tell("changed", {"files": [Path(file).name for file in changed]})
            continue
        last = now if changed else None
        if known is not None and any(known.get(folder, lists[folder]) != lists[folder] for folder in folders):
            app.events.tell("prompts", {})
        known = lists
