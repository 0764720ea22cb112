"""Events of a flow: kept for the report, and told to a sink that may fail without harm."""

from __future__ import annotations

from typing import Any

from priompt_py.context.doors import AsyncDoor, Door, WrongDoor
from priompt_py.context.reports import Event, EventKind, EventState

__all__ = ["Teller", "said"]

_ENDS = ("done", "error", "canceled")


def said(error: BaseException) -> str:
    """An exception as people read it: its type and its words, in one line."""
    words = " ".join(str(error).split())
    name = type(error).__name__
    return f"{name}: {words}" if words else name


class Teller:
    """Keeps the events of one flow, in order, and tells ``sink`` of each.

    A sink that raises is told of the next event all the same; one that takes longer than ``timeout`` seconds (behind
    an :class:`~priompt_py.context.doors.AsyncDoor`) is told of none any more. Both are said in ``notes``, and neither stops the flow.
    """

    def __init__(self, door: Door, sink: Any = None, *, timeout: float = 5.0) -> None:
        self.events: list[Event] = []
        self.notes: list[str] = []
        self._door = door
        self._sink = sink
        self._timeout = timeout if isinstance(door, AsyncDoor) else None  # a sync one has its caller's own thread
        self._open: dict[tuple[EventKind, str], None] = {}
        self._queue: list[Event] = []
        self._telling = False
        self._failures = 0

    async def tell(
        self,
        kind: EventKind,
        state: EventState,
        subject: str = "",
        *,
        progress: float | None = None,
        text: str = "",
    ) -> None:
        """Tell of one event. Where several things run at once the sink still gets one event at a time, in order."""
        event = Event(kind, state, subject, progress, text)
        self.events.append(event)
        if state in _ENDS:
            self._open.pop((kind, subject), None)
        else:
            self._open[kind, subject] = None
        if self._sink is None:
            return
        self._queue.append(event)
        if self._telling:
            return  # whoever tells now will tell of this one too
        self._telling = True
        try:
            while self._queue:
                await self._tell(self._queue.pop(0))
        finally:
            self._telling = False

    async def close(self, state: EventState, text: str = "") -> None:
        """End what began and has not ended, the innermost first."""
        for kind, subject in reversed(list(self._open)):
            await self.tell(kind, state, subject, text=text)

    async def _tell(self, event: Event) -> None:
        try:
            await self._door.call("the event sink", self._sink, "__call__", event, timeout=self._timeout)
        except TimeoutError as error:
            self._sink = None
            self._queue.clear()
            self.notes.append(f"the event sink was told of nothing after {event.kind}: {said(error)}")
        except WrongDoor:
            raise
        except Exception as error:  # noqa: BLE001 - a listener must not stop what it listens to
            self._failures += 1
            if self._failures == 1:
                self.notes.append(f"the event sink failed: {said(error)}")
