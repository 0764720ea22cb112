"""One flow, two doors: what reads, searches, thinks or listens is called from sync code, or awaited.

A flow is an ``async def`` that gets a :class:`Door` and calls everything from outside through it. Behind
:class:`SyncDoor` nothing is ever awaited, so :func:`run_sync` runs the flow to its end in one step; behind
:class:`AsyncDoor` sync functions run in threads and what is independent runs at the same time.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from priompt_py.author.children import close_unawaited
from priompt_py.errors import ArgumentTypeError

__all__ = ["AsyncDoor", "Door", "SyncDoor", "WrongDoor", "in_thread", "run_sync"]

T = TypeVar("T")


class WrongDoor(ArgumentTypeError):
    """Something async was given to a sync function."""


class Door(Protocol):
    """How a flow calls what it was given."""

    async def call(
        self, what: str, owner: object, method: str, /, *args: Any, time_limit: float | None = None
    ) -> Any:
        """What ``owner.method(*args)`` gives; ``owner(*args)`` where ``method`` is ``"__call__"``.

        Raises what it raises, and TimeoutError, naming ``what``, after ``time_limit`` seconds.
        """
        ...

    async def gather(self, flows: Sequence[Coroutine[Any, Any, T]], /) -> list[T]:
        """The results in order. The first failure stops the others and is raised."""
        ...


class SyncDoor:
    """Calls at once, one after the other. ``tag`` names the function with the sync door, ``other`` its async twin."""

    def __init__(self, tag: str, other: str) -> None:
        self.tag = tag
        self.other = other

    async def call(
        self, what: str, owner: object, method: str, /, *args: Any, time_limit: float | None = None
    ) -> Any:
        function = getattr(owner, method)
        if inspect.iscoroutinefunction(function):
            raise self._refusal(what)
        given = (
            function(*args)
            if time_limit is None
            else _in_thread_until(function, args, what, time_limit=time_limit)
        )
        if inspect.isawaitable(given) or hasattr(given, "__anext__"):
            close_unawaited(given)
            raise self._refusal(what)
        return given

    async def gather(self, flows: Sequence[Coroutine[Any, Any, T]], /) -> list[T]:
        try:
            return [await flow for flow in flows]
        finally:
            for flow in flows:
                flow.close()  # those that were not reached; nothing happens to the others

    def _refusal(self, what: str) -> WrongDoor:
        return WrongDoor(f"{self.tag}() is sync and {what} is async; use {self.other}()")


class AsyncDoor:
    """Awaits what is async, and runs the rest in threads, so that the event loop goes on.

    An owner that has both ``parse`` and ``aparse`` is asked the second way. Cancelling the flow leaves a thread
    behind that nobody waits for.
    """

    async def call(
        self, what: str, owner: object, method: str, /, *args: Any, time_limit: float | None = None
    ) -> Any:
        import asyncio  # here, since it takes 20 ms to import

        function: Any = getattr(owner, f"a{method}", None) or getattr(owner, method)
        if method == "__call__":
            function = owner
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(type(owner), method, None)  # an object whose __call__ is async
        )
        if time_limit is None:
            return await _given(function(*args) if is_async else in_thread(function, args))
        late = asyncio.timeout(time_limit)
        try:
            async with late:
                return await _given(function(*args) if is_async else in_thread(function, args))
        except TimeoutError:
            if late.expired():
                raise _too_late(what, time_limit) from None
            raise

    async def gather(self, flows: Sequence[Coroutine[Any, Any, T]], /) -> list[T]:
        import asyncio

        tasks = [asyncio.ensure_future(flow) for flow in flows]
        try:
            if tasks:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                for task in [task for task in tasks if task in done]:
                    task.result()
            return [task.result() for task in tasks]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def run_sync(flow: Coroutine[Any, Any, T]) -> T:
    """The result of a flow behind a :class:`SyncDoor`."""
    try:
        flow.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    flow.close()
    raise RuntimeError("a flow behind a sync door waited for something")


async def _given(given: Any) -> Any:
    while inspect.isawaitable(given):  # a sync function may hand on what an async one gave
        given = await given
    return given


def _too_late(what: str, time_limit: float) -> TimeoutError:
    return TimeoutError(f"{what} took longer than {time_limit:g} s")


class _Call:
    """A call in a thread of its own, which no exit of the program waits for."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._context = contextvars.copy_context()
        self._function = function
        self._args = args
        self._done: Callable[[], None] = lambda: None

    def start(self, done: Callable[[], None]) -> None:
        """Start it; ``done`` is called in the thread at its end."""
        self._done = done
        threading.Thread(target=self._run, name="priompt_py call", daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._context.run(self._function, *self._args)
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits
            self.error = error
        self._done()

    def take(self) -> Any:
        """What the call gave; raises what it raised."""
        if self.error is not None:
            raise self.error
        return self.result


def _in_thread_until(
    function: Callable[..., Any], args: tuple[Any, ...], what: str, *, time_limit: float
) -> Any:
    call = _Call(function, args)
    done = threading.Event()
    call.start(done.set)
    if not done.wait(time_limit):
        raise _too_late(what, time_limit)
    return call.take()


def in_thread(function: Callable[..., Any], args: tuple[Any, ...]) -> Awaitable[Any]:
    """``function(*args)`` in a thread of its own; no exit of the program waits for it."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    call = _Call(function, args)

    def settle() -> None:
        if future.done():  # cancelled, or the time was up
            close_unawaited(call.result)
            return
        if isinstance(call.error, Exception) and not isinstance(call.error, StopIteration):
            future.set_exception(call.error)
        elif call.error is not None:
            future.set_exception(RuntimeError(f"a thread ended with {call.error!r}"))
        else:
            future.set_result(call.result)

    def done() -> None:
        try:
            loop.call_soon_threadsafe(settle)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    call.start(done)
    return future
