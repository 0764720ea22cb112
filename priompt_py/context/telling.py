"""Events of a flow: kept for the report, and told to a sink that may fail without harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from priompt_py.context.doors import AsyncDoor, Door, WrongDoor, run_sync
from priompt_py.context.reports import Event, EventKind, EventState

if TYPE_CHECKING:
    import concurrent.futures
    from asyncio import Future

__all__ = ["Relay", "Teller", "said"]

_ENDS = ("done", "error", "canceled")


def said(error: BaseException) -> str:
    """An exception as people read it: its type and its words, in one line."""
    words = " ".join(str(error).split())
    name = type(error).__name__
    return f"{name}: {words}" if words else name


class Teller:
    """Keeps the events of one flow, in order, and tells ``sink`` of each.

    A sink that raises is told of the next event all the same; one that takes longer than ``time_limit`` seconds (behind
    an :class:`~priompt_py.context.doors.AsyncDoor`) is told of none any more. Both are said in ``notes``, and neither stops the flow.
    """

    def __init__(self, door: Door, sink: Any = None, *, time_limit: float = 5.0) -> None:
        self.events: list[Event] = []
        self.notes: list[str] = []
        self._door = door
        self._sink = sink
        self.time_limit = (
            time_limit if isinstance(door, AsyncDoor) else None
        )  # a sync one has its caller's own thread
        self._open: dict[tuple[EventKind, str], None] = {}
        self._queue: list[Event] = []
        self._delivery: Future[None] | None = None
        self._failures = 0
        self._closed = False

    async def tell(
        self,
        kind: EventKind,
        state: EventState,
        subject: str = "",
        *,
        progress: float | None = None,
        text: str = "",
        relayed: bool = False,
    ) -> None:
        """Tell of one event; a relayed one of a subject that has ended is too late. Where several things run at once the sink still gets one event at a time, in order."""
        # A thread that nobody waits for may still speak.
        if self._closed or (relayed and (kind, subject) not in self._open):
            return
        event = Event(kind, state, subject, progress, text)
        self.events.append(event)
        if state in _ENDS:
            self._open.pop((kind, subject), None)
        else:
            self._open[kind, subject] = None
        if self._sink is None:
            return
        self._queue.append(event)
        if not isinstance(self._door, AsyncDoor):
            await self._deliver()
            return
        import asyncio

        # A task of its own: a flow that is cancelled must not take with it what is being told.
        if self._delivery is None or self._delivery.done():
            self._delivery = asyncio.ensure_future(self._deliver())
        await asyncio.shield(self._delivery)

    async def _deliver(self) -> None:
        while self._queue:
            await self._tell(self._queue.pop(0))

    async def close(self, state: EventState, text: str = "") -> None:
        """End what began and has not ended, the innermost first. Nothing is told afterwards."""
        for kind, subject in reversed(list(self._open)):
            await self.tell(kind, state, subject, text=text)
        self._closed = True
        if self._delivery is not None and not self._delivery.done():
            import asyncio

            await asyncio.shield(self._delivery)

    def relay(self, kind: EventKind, subject: str, state: EventState = "loading") -> Relay:
        """A way to tell of a subject from a function that is called back, in whichever thread."""
        return Relay(self, self._door, lambda text, progress: (kind, state, subject, progress, text))

    async def _tell(self, event: Event) -> None:
        try:
            await self._door.call("the event sink", self._sink, "__call__", event, time_limit=self.time_limit)
        except TimeoutError as error:
            self._sink = None
            self._queue.clear()
            self.notes.append(f"the event sink was told of nothing after {event.kind}: {said(error)}")
        except WrongDoor:
            raise
        except BaseException as error:  # a listener must not stop what it listens to
            if not (isinstance(error, Exception) or _is_its_own_cancellation(error)):
                raise
            self._failures += 1
            if self._failures == 1:
                self.notes.append(f"the event sink failed: {said(error)}")


def _is_its_own_cancellation(error: BaseException) -> bool:
    """Whether a sink was cancelled, and not the flow that tells it."""
    import asyncio

    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop: nobody can have cancelled the flow
        return True
    return task is not None and not task.cancelling()


class Relay:
    """Tells from a callback: at once behind a sync door, else through the event loop, without waiting for it."""

    def __init__(
        self, teller: Teller, door: Door, event: Callable[[str, float | None], tuple[Any, ...]]
    ) -> None:
        self._teller = teller
        self._event = event
        self._loop: Any = None
        self._told: list[concurrent.futures.Future[None]] = []
        if isinstance(door, AsyncDoor):
            import asyncio

            self._loop = asyncio.get_running_loop()

    def __call__(self, text: str, progress: float | None = None) -> None:
        kind, state, subject, percent, words = self._event(text, progress)
        telling = self._teller.tell(kind, state, subject, progress=percent, text=words, relayed=True)
        if self._loop is None:
            run_sync(telling)
            return
        import asyncio

        try:
            self._told.append(asyncio.run_coroutine_threadsafe(telling, self._loop))
        except RuntimeError:  # the loop is closed: nobody listens any more
            telling.close()

    async def settled(self) -> None:
        """Wait until the sink was told of everything."""
        if self._told:
            import asyncio

            await asyncio.gather(*map(asyncio.wrap_future, self._told))
