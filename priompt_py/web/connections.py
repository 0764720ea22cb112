"""The connections of ``priompt serve``: a request has its time to arrive, from its first byte on."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from priompt_py.web.requests import BODY_TIME

__all__ = ["HEAD_TIME", "Connection"]

HEAD_TIME = BODY_TIME
"""Seconds in which the head of a request has to have come; uvicorn would wait for it without end, and somebody who opens
connections and says nothing would use up the files that the server may have open."""


class Connection(H11Protocol):
    """A connection of uvicorn's that is closed when it says nothing, or only half a head. Between two requests uvicorn's
    own, shorter time is kept. Their bodies are the app's to wait for."""

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle: Any = self.cycle  # None before the first request
        if cycle is not None and not cycle.response_complete:  # its head is there
            self._wait_no_more()
        elif self._head is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._head = self.loop.call_later(HEAD_TIME, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None
