"""A worker that is a thread of the program that serves itself: prompts keep the program's own data.

A thread can't be ended from outside. One whose code hangs is left alone, and goes on until its code does.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Mapping
from typing import Any

from priompt_py.web.answers import Answer, Refusal
from priompt_py.web.bench import Bench, Missing
from priompt_py.web.catalogue import Catalogue
from priompt_py.web.workers import Gone, Worker

__all__ = ["MOST_HANGING", "ThreadWorker"]

MOST_HANGING = 8
"""Threads whose code nobody waits for any more; no further one is started beside them."""

Waiting = tuple[Mapping[str, Any], asyncio.AbstractEventLoop, "asyncio.Future[tuple[dict[str, Any], bytes]]"]


class ThreadWorker(Worker):
    """One thread with a bench of its own."""

    hanging: set[threading.Thread] = set()  # noqa: RUF012 - of all of them

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._jobs: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._bench = Bench(catalogue)
        self._is_over = False
        self._waiting: asyncio.Future[tuple[dict[str, Any], bytes]] | None = None
        self._thread = threading.Thread(target=self._work, name="priompt_py preview", daemon=True)
        self._thread.start()

    @classmethod
    async def start(cls, catalogue: Catalogue) -> ThreadWorker:
        """Start a thread. Raises Refusal where too many hang."""
        cls.hanging = {thread for thread in cls.hanging if thread.is_alive()}
        if len(cls.hanging) >= MOST_HANGING:
            raise Refusal(
                503,
                "busy",
                f"the code of {len(cls.hanging)} prompts hangs in threads of this program, which can't be ended; "
                "`priompt serve` runs prompts in processes",
            )
        return cls(catalogue)

    @property
    def is_alive(self) -> bool:
        return not self._is_over

    async def do(self, job: Mapping[str, Any]) -> tuple[Mapping[str, Any], bytes]:
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        self._jobs.put((job, loop, self._waiting))
        try:
            return await self._waiting
        finally:
            self._waiting = None

    async def kill(self) -> None:
        """Wait for it no more: it ends with its job."""
        self._is_over = True
        self._jobs.put(None)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(Gone())
        if self.lock.locked() and self._thread.is_alive():
            ThreadWorker.hanging.add(self._thread)

    def _work(self) -> None:
        while (asked := self._jobs.get()) is not None:
            job, loop, future = asked
            head: dict[str, Any] = {"status": 200, "files": {}, "folders": []}
            body = b""
            try:
                answer: Answer = self._bench.do(job)
                head["status"], body = answer
            except Missing:
                head["missing"] = True
            try:
                loop.call_soon_threadsafe(_settle, future, (head, body))
            except RuntimeError:  # the loop is closed: nobody waits
                return


def _settle(
    future: asyncio.Future[tuple[dict[str, Any], bytes]], found: tuple[dict[str, Any], bytes]
) -> None:
    if not future.done():
        future.set_result(found)
