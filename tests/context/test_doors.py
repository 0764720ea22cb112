"""Flows behind a sync and an async door, and what is told of them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import priompt_py.context
from priompt_py.context import Event
from priompt_py.context.doors import AsyncDoor, SyncDoor, WrongDoor, in_thread, run_sync
from priompt_py.context.telling import Teller, said

SYNC = SyncDoor("work", "awork")


class Owner:
    def plain(self, value: Any) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    async def slow(self, value: Any) -> Any:
        await asyncio.sleep(0)
        return self.plain(value)

    def hands_on(self, value: Any) -> Awaitable[Any]:
        return self.slow(value)

    def both(self, value: Any) -> Any:
        raise AssertionError

    async def aboth(self, value: Any) -> Any:
        return value

    def where(self) -> str:
        return threading.current_thread().name


OWNER = Owner()


def test_no_module_hides_a_name() -> None:
    modules = {path.stem for path in Path(priompt_py.context.__file__).parent.iterdir()}
    assert not modules & set(priompt_py.context.__all__)
    assert all(getattr(priompt_py.context, name) is not None for name in priompt_py.context.__all__)


def test_sync() -> None:
    assert run_sync(SYNC.call("it", OWNER, "plain", 5)) == 5
    with pytest.raises(KeyError):
        run_sync(SYNC.call("it", OWNER, "plain", KeyError()))
    assert run_sync(SYNC.call("it", OWNER, "plain", 5, time_limit=60)) == 5
    with pytest.raises(KeyError):
        run_sync(SYNC.call("it", OWNER, "plain", KeyError(), time_limit=60))
    assert run_sync(SYNC.call("it", OWNER, "where")) == threading.current_thread().name


@pytest.mark.parametrize("method", ["slow", "hands_on"])
def test_async_things_are_refused(method: str) -> None:
    with pytest.raises(WrongDoor, match=r"^work\(\) is sync and it is async; use awork\(\)$"):
        run_sync(SYNC.call("it", OWNER, method, 5))


def test_a_flow_that_waits() -> None:
    async def waits() -> None:
        await asyncio.sleep(1)

    async def flow() -> None:
        await waits()

    with pytest.raises(RuntimeError):
        run_sync(flow())


def test_sync_gathers_in_order_and_closes_the_rest() -> None:
    log: list[int] = []

    async def step(number: int) -> int:
        log.append(number)
        if number == 2:
            raise ValueError
        return number

    assert run_sync(SYNC.gather([step(0), step(1)])) == [0, 1]
    with pytest.raises(ValueError, match=r"^$"):
        run_sync(SYNC.gather([step(1), step(2), step(3)]))
    assert log == [0, 1, 1, 2]


@pytest.mark.anyio
async def test_async() -> None:
    door = AsyncDoor()
    assert [await door.call("it", OWNER, name, 5) for name in ("plain", "slow", "hands_on", "both")] == [
        5
    ] * 4
    for name in ("plain", "slow", "hands_on"):
        with pytest.raises(KeyError):
            await door.call("it", OWNER, name, KeyError())
        with pytest.raises(TimeoutError, match=r"^its own$"):
            await door.call("it", OWNER, name, TimeoutError("its own"), time_limit=60)
    assert await door.call("it", OWNER, "where") == "priompt_py call"
    with pytest.raises(RuntimeError, match=r"a thread ended with StopIteration\(5\)"):
        await door.call("it", OWNER, "plain", StopIteration(5))
    with pytest.raises(RuntimeError, match=r"a thread ended with SystemExit\(3\)"):
        await door.call("it", OWNER, "plain", SystemExit(3))
    assert await door.gather([]) == []


@pytest.mark.anyio
async def test_threads_know_the_context() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)

    class Reads:
        def read(self) -> int:
            return variable.get()

    assert await AsyncDoor().call("it", Reads(), "read") == 7


class Calls:
    async def __call__(self, value: int) -> int:
        return value


@pytest.mark.anyio
async def test_what_is_called_itself() -> None:
    async def function(value: int) -> int:
        assert threading.current_thread().name != "priompt_py call"
        return value

    owners: list[object] = [function, Calls(), abs]
    for owner in owners:
        assert await AsyncDoor().call("it", owner, "__call__", 5) == 5


@pytest.mark.anyio
async def test_async_gathers_at_the_same_time() -> None:
    log: list[int] = []

    async def step(number: int, wait: float) -> int:
        try:
            await asyncio.sleep(wait)
        except asyncio.CancelledError:
            log.append(-number)
            raise
        log.append(number)
        if number == 2:
            raise ValueError
        return number

    assert await AsyncDoor().gather([step(3, 0.02), step(1, 0)]) == [3, 1]
    with pytest.raises(ValueError, match=r"^$"):
        await AsyncDoor().gather([step(5, 60), step(2, 0), step(4, 60)])
    assert (log[:3], sorted(log[3:])) == ([1, 3, 2], [-5, -4])


def test_a_thread_that_nobody_waits_for() -> None:
    done = threading.Event()
    go_on = threading.Event()

    def slow() -> None:
        go_on.wait(60)
        done.set()

    async def flow() -> None:
        await asyncio.wait_for(in_thread(slow, ()), 0.01)

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(flow())
    assert time.monotonic() - began < 30  # the end of the loop did not wait for the thread
    go_on.set()
    assert done.wait(60)


# ------------------------------------------------------------------------------------------ telling


def test_said() -> None:
    assert said(ValueError("a\n b")) == "ValueError: a b"
    assert said(KeyError()) == "KeyError"


def told(teller: Teller) -> list[tuple[str, str]]:
    return [(event.subject, event.state) for event in teller.events]


def test_what_began_ends() -> None:
    teller = Teller(SYNC)
    for subject, state in (("", "loading"), ("a", "loading"), ("b", "waiting"), ("a", "done")):
        run_sync(teller.tell("parsing", state, subject))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a table
    run_sync(teller.close("canceled", "why"))
    assert told(teller)[-2:] == [("b", "canceled"), ("", "canceled")]
    run_sync(teller.tell("parsing", "loading", "late"))
    assert told(teller)[-1] == ("", "canceled")


def test_a_failing_sink_hears_of_everything() -> None:
    heard: list[str] = []

    def sink(event: Event) -> None:
        heard.append(event.subject)
        raise OSError(event.subject)

    teller = Teller(SYNC, sink)
    for subject in "abc":
        run_sync(teller.tell("parsing", "done", subject))
    assert (heard, teller.notes) == (["a", "b", "c"], ["the event sink failed: OSError: a"])


def test_an_async_sink_behind_the_sync_door() -> None:
    async def sink(_: Event) -> None:
        raise AssertionError

    with pytest.raises(WrongDoor, match="the event sink is async"):
        run_sync(Teller(SYNC, sink).tell("parsing", "done", "a"))


@pytest.mark.anyio
async def test_one_event_at_a_time_in_order() -> None:
    heard: list[str] = []
    at_once = 0

    async def sink(event: Event) -> None:
        nonlocal at_once
        at_once += 1
        assert at_once == 1
        await asyncio.sleep(0.001)
        heard.append(event.subject)
        at_once -= 1

    teller = Teller(AsyncDoor(), sink)
    await asyncio.gather(*(teller.tell("parsing", "done", str(number)) for number in range(20)))
    assert heard == [str(number) for number in range(20)]


@pytest.mark.anyio
async def test_a_sink_that_hangs_is_left() -> None:
    heard: list[str] = []

    async def sink(event: Event) -> None:
        heard.append(event.subject)
        await asyncio.sleep(60)

    teller = Teller(AsyncDoor(), sink, time_limit=0.02)
    for subject in "abc":
        await teller.tell("parsing", "done", subject)
    assert heard == ["a"]
    assert told(teller) == [("a", "done"), ("b", "done"), ("c", "done")]
    assert teller.notes == [
        "the event sink was told of nothing after parsing: TimeoutError: the event sink took longer than 0.02 s"
    ]


@pytest.mark.anyio
async def test_what_is_told_from_a_thread() -> None:
    heard: list[tuple[str, float | None]] = []

    def sink(event: Event) -> None:
        heard.append((event.text, event.progress))

    teller = Teller(AsyncDoor(), sink)
    relay = teller.relay("parsing", "a")
    await teller.tell("parsing", "loading", "a", text="began")

    def work() -> None:
        for percent in range(50):
            relay(f"at {percent}", percent)

    await in_thread(work, ())
    await relay.settled()
    assert heard == [("began", None), *((f"at {percent}", percent) for percent in range(50))]
    await teller.tell("parsing", "done", "a")
    relay("too late", 99)
    await relay.settled()
    assert heard[-1] == ("", None)


@pytest.mark.anyio
async def test_a_cancelled_flow_loses_no_event() -> None:
    heard: list[str] = []
    telling = asyncio.Event()

    async def sink(event: Event) -> None:
        telling.set()
        await asyncio.sleep(0.02)
        heard.append(f"{event.subject} {event.state}")

    teller = Teller(AsyncDoor(), sink)

    async def flow() -> None:
        try:
            await teller.tell("parsing", "loading", "a")
            await asyncio.sleep(60)
        except BaseException:
            await teller.close("canceled")
            raise

    task = asyncio.ensure_future(flow())
    await telling.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard == ["a loading", "a canceled"]
    await teller.close("canceled")
    assert len(heard) == 2


@pytest.mark.anyio
async def test_closing_waits_for_what_others_told() -> None:
    heard: list[str] = []

    async def sink(event: Event) -> None:
        await asyncio.sleep(0.01)
        heard.append(event.state)

    teller = Teller(AsyncDoor(), sink)
    others = asyncio.gather(teller.tell("parsing", "loading", "a"), teller.tell("parsing", "done", "a"))
    await asyncio.sleep(0)
    await teller.close("canceled")
    assert heard == ["loading", "done"]
    await others


@pytest.mark.anyio
async def test_what_an_abandoned_thread_hands_on_is_closed() -> None:
    made: list[Any] = []
    go_on = threading.Event()

    class Late:
        def read(self) -> Any:
            go_on.wait(60)
            made.append(OWNER.slow(5))
            return made[0]

    with pytest.raises(TimeoutError, match=r"^it took longer than 0\.02 s$"):
        await AsyncDoor().call("it", Late(), "read", time_limit=0.02)
    go_on.set()
    for _ in range(500):
        if made and made[0].cr_frame is None:
            break
        await asyncio.sleep(0.01)
    assert made[0].cr_frame is None  # closed, and so there is no warning


def test_a_thread_that_speaks_to_a_loop_that_is_gone() -> None:
    relays: list[Callable[[str], None]] = []

    async def flow() -> Teller:
        teller = Teller(AsyncDoor())
        relays.append(teller.relay("parsing", "a"))
        return teller

    teller = asyncio.run(flow())
    relays[0]("too late")
    assert teller.events == []
