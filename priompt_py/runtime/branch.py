"""One stream for several readers: a branch is what one of them reads."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, TypeVar

from priompt_py.errors import RunError
from priompt_py.runtime.partial_json import PartialJson

__all__ = ["QUEUE_SIZE", "Branch", "Partials"]

QUEUE_SIZE = 64
"""Pieces that wait for one reader; who is further behind holds the stream up."""

T = TypeVar("T")


class Branch(AsyncIterator[T], Generic[T]):
    """An async iterator over the whole stream, for one handler.

    Closed with ``aclose()``, it holds nothing up any more and has no more pieces.
    """

    def __init__(self, name: str, *, patience: float, on_detach: Callable[[], None]) -> None:
        self.name = name
        self.is_detached = False
        self._patience = patience  # seconds that a full queue may stand still
        self._on_detach = on_detach
        self._waiting: deque[T] = deque()
        self._is_ended = False
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    # -- the reader's side ------------------------------------------------------------------------

    def __aiter__(self) -> Branch[T]:
        return self

    async def __anext__(self) -> T:
        while not self._waiting:
            if self._is_ended or self.is_detached:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        self._room.set()
        return self._waiting.popleft()

    async def aclose(self) -> None:
        """Read no more."""
        self.detach()

    # -- the stream's side ------------------------------------------------------------------------

    async def put(self, piece: T) -> None:
        """Hand over a piece; waits where the queue is full. Raises RunError where it stands still."""
        while len(self._waiting) >= QUEUE_SIZE and not self.is_detached:
            self._room.clear()
            try:
                async with asyncio.timeout(self._patience):
                    await self._room.wait()
            except TimeoutError:
                raise RunError(
                    f"{self.name} stands still: it has read nothing for {self._patience:g} seconds with {QUEUE_SIZE} "
                    "pieces waiting; it has to read on, to return, or to close its iterator"
                ) from None
        if not self.is_detached:
            self._waiting.append(piece)
            self._news.set()

    def finish(self) -> None:
        """Say that no piece will follow."""
        self._is_ended = True
        self._news.set()

    def detach(self) -> None:
        """Take no more pieces, and forget those that wait."""
        if self.is_detached:
            return
        self.is_detached = True
        self._waiting.clear()
        self._room.set()
        self._news.set()
        self._on_detach()


class Partials(AsyncIterator[dict[str, Any]]):
    """The arguments of one call as far as they have come, each time something was added.

    Only the newest counts: who reads slowly skips what lies between, and holds nothing up.
    """

    def __init__(self) -> None:
        self._parser = PartialJson()
        self._shown: dict[str, Any] | None = None
        self._is_new = False
        self._is_ended = False
        self._news = asyncio.Event()

    def __aiter__(self) -> Partials:
        return self

    async def __anext__(self) -> dict[str, Any]:
        while True:
            if self._is_new:
                self._is_new = False
                value = self._parser.value
                if value is not None and value != self._shown:
                    self._shown = value
                    return value
            elif self._is_ended:
                raise StopAsyncIteration
            else:
                self._news.clear()
                await self._news.wait()

    async def aclose(self) -> None:
        """Read no more."""
        self.finish()
        self._is_new = False

    def add(self, text: str) -> None:
        """Take more of the arguments."""
        if text and not self._is_ended:
            self._parser.feed(text)
            self._is_new = True
            self._news.set()

    def finish(self) -> None:
        """Say that nothing will follow."""
        self._is_ended = True
        self._news.set()
