"""Workers, in which prompts' code runs: kept warm, ended when code hangs or files change.

A view lives in the worker that made it; another one makes it anew from its spec when that one is gone.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs

from priompt_py.preview.watch import Snapshot
from priompt_py.web.answers import Answer, Refusal

__all__ = ["Gone", "Pool", "Worker"]

MOST_WORKERS = 3
"""At a time; a process with a vocabulary takes about 110 MB, its compiled prompts on top."""

WAIT = 10.0
"""Seconds that a job waits for a free worker."""

SOON = 1.0
"""Seconds that a process takes to be ready, about."""


class Gone(Exception):
    """A worker ended before it had answered; ``how`` is ``exit code 3`` or ``signal 11``, None where it was told to."""

    def __init__(self, how: str | None = None) -> None:
        super().__init__(how)
        self.how = how


class Worker(abc.ABC):
    """A place where jobs are carried out, one at a time. ``views`` are those that it holds."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.views: set[str] = set()
        self.prompt: str | None = None  # whose code runs now, or ran last
        self.is_stale = False
        self.was_cancelled = False
        self.used = 0.0  # when its last job began

    @property
    @abc.abstractmethod
    def is_alive(self) -> bool:
        """Whether it takes jobs."""

    @abc.abstractmethod
    async def do(self, job: Mapping[str, Any]) -> tuple[Mapping[str, Any], bytes]:
        """Carry out a job: what there is to say of it, and its answer. Raises Gone."""

    @abc.abstractmethod
    async def kill(self) -> None:
        """End it now, whatever its code is doing."""


@attrs.define(eq=False)
class Seen:
    """The files behind the prompts, as they were when they were read, and the folders of their lists."""

    files: Snapshot = attrs.field(factory=dict[str, "tuple[int, int, int] | None"])
    folders: set[str] = attrs.field(factory=set[str])


class Pool:
    """Gives each job to a worker: the one that holds its view, else a free one, else a new one."""

    def __init__(
        self, start: Callable[[], Awaitable[Worker]], *, timeout: float, most: int = MOST_WORKERS
    ) -> None:
        self._begin = start
        self._timeout = timeout
        self._most = most
        self._workers: list[Worker] = []
        self._free = asyncio.Condition()
        self._is_stopped = False
        self._starting = 0
        self.seen = Seen()

    # -- jobs ---------------------------------------------------------------------------------

    async def do(
        self, job: Mapping[str, Any], specs: Mapping[str, Any], *, prompt: str | None, longer: float = 0.0
    ) -> Answer:
        """The answer of a job. ``specs`` are those of its views, ``prompt`` is whose code it may run, ``longer`` are
        seconds that it may take beyond the time-out. Raises Refusal."""
        worker = await self._taken(list(specs))
        worker.prompt = prompt
        seconds = self._timeout + longer
        try:
            async with asyncio.timeout(seconds):
                head, body = await worker.do(job)
                if head.get("missing"):
                    head, body = await worker.do({**job, "specs": specs})
            worker.views |= set(specs)
            self._note(worker, head)
            return head["status"], body
        except TimeoutError:
            await worker.kill()
            raise Refusal(
                504,
                "time",
                f"the prompt's code took longer than {seconds:g} seconds, and was ended",
                place=prompt,
            ) from None
        except Gone as gone:
            if self._is_stopped:
                raise Refusal(503, "stopping", "the server stops") from None
            if worker.was_cancelled:
                raise Refusal(504, "time", "the prompt's code was stopped", place=prompt) from None
            how = "" if gone.how is None else f" ({gone.how})"
            raise Refusal(422, "prompt", f"the prompt's code ended its process{how}", place=prompt) from None
        except asyncio.CancelledError:  # an answer that nobody waits for may not be taken for the next one's
            await asyncio.shield(worker.kill())
            raise
        finally:
            await asyncio.shield(self._give_back(worker))

    def _note(self, worker: Worker, head: Mapping[str, Any]) -> None:
        if not worker.is_stale:
            self.seen.files |= {
                name: None if stamp is None else (stamp[0], stamp[1], stamp[2])
                for name, stamp in head["files"].items()
                if name not in self.seen.files
            }
        self.seen.folders |= set(head["folders"])

    async def _taken(self, views: Sequence[str]) -> Worker:
        """A worker that is free for one job. Raises Refusal."""
        try:
            async with asyncio.timeout(WAIT), self._free:
                while True:
                    if self._is_stopped:
                        raise Refusal(503, "stopping", "the server stops")
                    await self._drop()
                    worker = self._free_one(views)
                    patience = self._patience()
                    if worker is None and patience <= 0.0:
                        worker = await self._start()
                    if worker is not None:
                        await worker.lock.acquire()
                        worker.used = time.monotonic()
                        return worker
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._free.wait(), patience)
        except TimeoutError:
            raise Refusal(
                503, "busy", f"{self._most} prompts' code is running already: wait, or stop one of them"
            ) from None

    def _free_one(self, views: Sequence[str]) -> Worker | None:
        """The free worker that holds the views, else, where none does, any. One that is busy with the view is waited
        for by those who move its limit: it is quicker than to make the view anew; not so while there is room."""
        free = [worker for worker in self._workers if not worker.lock.locked() and not worker.is_stale]
        holding = [worker for worker in self._workers if views and set(views) <= worker.views]
        for worker in holding:
            if worker in free:
                return worker
        if holding and len(self._workers) >= self._most:
            return None
        return max(free, key=_last_used, default=None)

    def _patience(self) -> float:
        """Seconds for which a free worker is waited for before a new one is started: most jobs are done sooner than that
        is ready. As long as it takes, where there are enough."""
        if len(self._workers) + self._starting >= self._most:
            return WAIT
        busy = [worker.used for worker in self._workers if worker.lock.locked() and not worker.is_stale]
        return max(busy) + SOON - time.monotonic() if busy else 0.0

    async def _start(self) -> Worker:
        self._starting += 1
        try:
            worker = await self._begin()
        except OSError as error:
            raise Refusal(503, "busy", f"no process can be started: {error.strerror}") from None
        finally:
            self._starting -= 1
        if self._is_stopped:  # meanwhile
            await worker.kill()
            raise Refusal(503, "stopping", "the server stops")
        self._workers.append(worker)
        return worker

    async def _give_back(self, worker: Worker) -> None:
        worker.lock.release()
        async with self._free:
            await self._drop()
            self._free.notify_all()

    async def _drop(self) -> None:
        """Forget workers that have ended; end those that are stale and free."""
        for worker in list(self._workers):
            if worker.is_stale and not worker.lock.locked():
                await worker.kill()
            if not worker.is_alive and not worker.lock.locked():
                self._workers.remove(worker)

    # -- all of them --------------------------------------------------------------------------

    async def warm(self) -> None:
        """Have a worker ready that has loaded its prompts."""
        if not any(worker.is_alive and not worker.is_stale for worker in self._workers):
            with contextlib.suppress(Refusal):  # what is wrong is told to who asks
                await self.do({"op": "warm"}, {}, prompt=None)

    async def renew(self) -> None:
        """Let every further job run in a new worker: files have changed."""
        self.seen = Seen()
        for worker in self._workers:
            worker.is_stale = True
        async with self._free:
            await self._drop()
            self._free.notify_all()

    async def cancel(self, prompt: str) -> bool:
        """End the workers that run this prompt's code now; whether there was one."""
        running = [worker for worker in self._workers if worker.lock.locked() and worker.prompt == prompt]
        for worker in running:
            worker.was_cancelled = True
            await worker.kill()
        return bool(running)

    async def stop(self) -> None:
        """End all of them, and take no more jobs."""
        self._is_stopped = True
        for worker in list(self._workers):
            await worker.kill()
        async with self._free:
            self._free.notify_all()


def _last_used(worker: Worker) -> float:
    return worker.used
