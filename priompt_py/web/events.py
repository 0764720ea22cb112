"""News for open pages, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

from priompt_py.web.answers import Refusal

__all__ = ["Events", "event"]

MOST_STREAMS = 100
"""Pages that listen at a time."""

MOST_WAITING = 100
"""Events that wait for one page; one that is further behind is let go, and connects again."""

BEAT = 10.0
"""Seconds between signs of life."""


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """One event in its form on the wire."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


class _Listener:
    """One open page. ``put`` may be called from any thread."""

    def __init__(self) -> None:
        self.waiting: deque[bytes] = deque()
        self.is_over = False
        self.news = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def put(self, text: bytes | None) -> None:
        """Hand over an event; None ends the stream."""
        if text is None or len(self.waiting) >= MOST_WAITING:
            self.is_over = True
        else:
            self.waiting.append(text)
        try:
            self._loop.call_soon_threadsafe(self.news.set)
        except RuntimeError:  # its loop is closed
            self.is_over = True


class Events:
    """Tells all pages. Safe to use from several threads.

    ``seconds`` is how long one stream lasts: a server that stops waits for those of an app that is mounted in it.
    """

    def __init__(self, *, seconds: float = float("inf"), beat: float = BEAT) -> None:
        self._listeners: set[_Listener] = set()
        self._lock = threading.Lock()
        self._seconds = seconds
        self._beat = beat
        self._is_stopped = False

    @property
    def listeners(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    def tell(self, name: str, data: Mapping[str, Any]) -> None:
        """Send an event to all pages that listen."""
        text = event(name, data)
        with self._lock:
            listeners = [*self._listeners]
        for listener in listeners:
            listener.put(text)

    def stop(self) -> None:
        """Say that the server stops, and end all streams."""
        self.tell("closing", {})
        with self._lock:
            self._is_stopped = True
            listeners = [*self._listeners]
        for listener in listeners:
            listener.put(None)

    def check_room(self) -> None:
        """Raises Refusal where no further page can listen."""
        if self._is_stopped:
            raise Refusal(503, "stopping", "the server stops")
        if len(self._listeners) >= MOST_STREAMS:
            raise Refusal(503, "busy", f"{MOST_STREAMS} pages listen already")

    async def stream(self, *first: bytes) -> AsyncIterator[bytes]:
        """What one page is sent, ``first`` at once."""
        listener = _Listener()
        with self._lock:
            if len(self._listeners) >= MOST_STREAMS:  # several came at once
                return
            self._listeners.add(listener)
            listener.is_over = self._is_stopped
        until = time.monotonic() + self._seconds
        try:
            for text in first:
                yield text
            while time.monotonic() < until:
                while listener.waiting:
                    yield listener.waiting.popleft()
                if listener.is_over:
                    return
                listener.news.clear()
                if not listener.waiting and not listener.is_over:
                    try:
                        async with asyncio.timeout(min(self._beat, max(0.0, until - time.monotonic()))):
                            await listener.news.wait()
                    except TimeoutError:
                        yield b": still here\n\n"
        finally:
            with self._lock:
                self._listeners.discard(listener)
