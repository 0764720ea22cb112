"""Runs of any kind: random models and handlers, cancelled anywhere. They end, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    CallDelta,
    Delta,
    ModelOutput,
    ModelStream,
    Node,
    Rendered,
    RunError,
    capture,
    run,
    tools,
)
from priompt_py.runtime.live import Hub

ENDS = ["return", "close", "raise", "sleep", "read", "stand", "cancelled inside"]


class Planned(Exception):
    """Raised by a model or a handler of the test."""


@attrs.frozen
class Reader:
    """A stream handler: how many pieces it reads, how often it lets others go first, and how it ends."""

    reads: int
    waits: int
    ends: str


@attrs.frozen
class Plan:
    pieces: int
    is_async: bool
    model_waits: int
    model_fails: bool
    readers: list[Reader]
    raw: list[Reader]
    outputs: list[str]
    calls: int
    cancel_after: int | None


readers = st.builds(Reader, st.integers(0, 80), st.integers(0, 2), st.sampled_from(ENDS))
plans = st.builds(
    Plan,
    pieces=st.integers(0, 150),
    is_async=st.booleans(),
    model_waits=st.integers(0, 2),
    model_fails=st.booleans(),
    readers=st.lists(readers, max_size=3),
    raw=st.lists(readers, max_size=2),
    outputs=st.lists(st.sampled_from(["return", "raise", "sleep", "cancelled inside"]), max_size=2),
    calls=st.integers(0, 2),
    cancel_after=st.none() | st.integers(0, 300),
)


class World:
    """One run and all that is counted in it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.opened = 0
        self.closed = 0
        self.running = 0

    def model(self, _: Rendered) -> Any:
        return self.stream_async() if self.plan.is_async else self.stream()

    def deltas(self) -> Iterator[Delta]:
        for _ in range(self.plan.pieces):
            yield Delta(text="x")
        for position in range(self.plan.calls):
            yield Delta(call=CallDelta(position, f"c{position}", "look", "{}"))

    def stream(self) -> Iterator[Delta]:
        self.opened += 1
        try:
            yield from self.deltas()
            if self.plan.model_fails:
                raise Planned
        finally:
            self.closed += 1

    async def stream_async(self) -> AsyncIterator[Delta]:
        self.opened += 1
        try:
            for delta in self.deltas():
                for _ in range(self.plan.model_waits):
                    await asyncio.sleep(0)
                yield delta
            if self.plan.model_fails:
                raise Planned
        finally:
            self.closed += 1
            await asyncio.sleep(0)  # closing may take a while, and may be cancelled itself

    def reader(self, plan: Reader) -> Callable[[AsyncIterator[Any]], Any]:
        async def read(stream: Any) -> None:
            self.running += 1
            try:
                for _ in range(plan.reads):
                    if await anext(stream, None) is None:
                        break
                    for _ in range(plan.waits):
                        await asyncio.sleep(0)
                await self.end(plan.ends, stream)
            finally:
                self.running -= 1

        return read

    async def end(self, how: str, stream: Any = None) -> None:
        if how == "close":
            await stream.aclose()
            await asyncio.sleep(0.001)
        elif how == "raise":
            raise Planned
        elif how == "sleep":
            await asyncio.sleep(0.001)
        elif how == "read":
            async for _ in stream:
                pass
        elif how == "stand":
            await asyncio.sleep(0.05)
        elif how == "cancelled inside":
            task = asyncio.create_task(asyncio.sleep(1))
            task.cancel()
            await task

    def output(self, how: str) -> Callable[[ModelOutput], Any]:
        async def take(_: ModelOutput) -> None:
            self.running += 1
            try:
                await self.end(how)
            finally:
                self.running -= 1

        return take

    def prompt(self) -> Node:
        def look() -> str:
            return "seen"

        plan = self.plan
        return [
            "x",
            [capture(on_stream=self.reader(one)) for one in plan.readers],
            [capture(on_stream_response=self.reader(one)) for one in plan.raw],
            [capture(on_output=self.output(how)) for how in plan.outputs],
            tools[look],
        ]


async def live_through(world: World) -> None:
    before = asyncio.all_tasks()
    task = asyncio.create_task(run(world.prompt(), model=world.model, token_limit=100, handler_timeout=0.02))
    cancelled = False
    for step in range(10_000):
        if task.done():
            break
        if step == world.plan.cancel_after:
            cancelled = task.cancel()
        await asyncio.sleep(0 if step < 9_000 else 0.001)
    try:
        found = await asyncio.wait_for(task, 5)
    except asyncio.CancelledError:
        assert cancelled
    except ExceptionGroup as group:
        assert group.split((Planned, RunError))[1] is None  # noqa: PT017 - one of several ways to end
    except (Planned, RunError):
        pass
    else:
        assert not isinstance(found, ModelStream)
        assert "x" * world.plan.pieces == found.text or not world.plan.outputs
    assert world.running == 0
    assert world.opened == world.closed
    assert asyncio.all_tasks() == before


@pytest.fixture(scope="module", autouse=True)
def small_heap() -> Iterator[None]:
    """Collecting after every example looks at what came since, not at what other tests left."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@given(plans)
def test_runs_end_and_leave_nothing_behind(plan: Plan) -> None:
    world = World(plan)
    asyncio.run(live_through(world))
    gc.collect()


@given(
    st.lists(st.tuples(st.sampled_from(["answer", "refuse", "cancel"]), st.booleans()), max_size=8), st.data()
)
def test_questions_are_settled_once(plan: list[tuple[str, bool]], data: st.DataObject) -> None:
    fates = [fate for fate, _ in plan]
    order = data.draw(st.permutations([*enumerate(plan)]))  # drawn here: a draw may end the test

    async def go() -> None:
        hub = Hub()

        async def ask(number: int) -> str:
            from priompt_py import live

            output = await live(f"{number}", token_limit=10, hub=hub)
            return str(output.text)

        asking = [asyncio.create_task(ask(number)) for number in range(len(fates))]
        while len(hub.questions()) < len(fates):  # noqa: ASYNC110 - there is nothing else to wait for
            await asyncio.sleep(0)
        waiting = {question.rendered.text: question.id for question in hub.questions()}
        for number, (fate, pauses) in order:
            if fate == "cancel":
                asking[number].cancel()
            elif fate == "refuse":
                hub.refuse(waiting[str(number)])
            else:
                hub.answer(waiting[str(number)], f"to {number}")
            if pauses:
                await asyncio.sleep(0)
        found = await asyncio.gather(*asking, return_exceptions=True)
        for number, fate in enumerate(fates):
            kind = {"answer": str, "refuse": RunError, "cancel": asyncio.CancelledError}[fate]
            assert isinstance(found[number], kind)
        assert hub.questions() == []

    asyncio.run(go())
