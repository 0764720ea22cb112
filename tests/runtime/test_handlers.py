"""Handlers of one answer: all at the same time, each with the whole stream; failures, stillness, early ends."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from priompt_py import Delta, ModelOutput, Node, Rendered, RunError, Usage, capture, run
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()
pytestmark = pytest.mark.anyio

Stream = AsyncIterator[Any]


class Letters:
    """A model that streams letters, and tells what became of its stream."""

    def __init__(
        self, count: int = 5, *, hang_after: int | None = None, error: Exception | None = None
    ) -> None:
        self.count, self.hang_after, self.error = count, hang_after, error
        self.sent = 0
        self.closed = 0

    async def __call__(self, _: Rendered) -> AsyncIterator[str]:
        return self.stream()

    async def stream(self) -> AsyncIterator[str]:
        try:
            for number in range(self.count):
                if number == self.hang_after:
                    await asyncio.Event().wait()
                self.sent += 1
                yield "abcdefghijklmnopqrstuvwxyz"[number % 26]
            if self.error is not None:
                raise self.error
        finally:
            self.closed += 1


async def ran(*captures: Node, model: Callable[[Rendered], Any], **options: Any) -> Any:
    return await run(["x", *captures], model=model, token_limit=100, tokenizer=CHARS, **options)


def reader(into: list[Any], stop: int | None = None) -> Any:
    async def read(stream: Stream) -> None:
        async for piece in stream:
            into.append(str(piece))
            if len(into) == stop:
                return

    return read


# ------------------------------------------------------------------------------------------ what they get


async def test_each_handler_gets_the_whole_stream() -> None:
    got: list[list[str]] = [[], [], []]
    model = Letters()
    found = await ran(
        capture(on_stream=reader(got[0])),
        capture(on_stream=reader(got[1]), on_stream_response=reader(got[2])),
        model=model,
    )
    assert got == [[*"abcde"]] * 3
    assert (found.text, model.closed) == ("abcde", 1)


async def test_a_whole_answer_is_a_stream_of_its_parts() -> None:
    deltas: list[Delta] = []
    raw: list[Any] = []

    async def read(stream: Stream) -> None:
        deltas.extend([delta async for delta in stream])

    async def keep(stream: Stream) -> None:
        raw.extend([piece async for piece in stream])

    usage = Usage(1, 2)
    output = ModelOutput(text="Hi", reasoning="Hm", refusal="No", finish_reason="stop", usage=usage)
    await ran(capture(on_stream=read, on_stream_response=keep), model=lambda _: output)
    assert deltas == [
        Delta(text="Hi", reasoning="Hm", refusal="No"),
        Delta(finish_reason="stop", usage=usage),
    ]
    assert raw == [output]
    raw.clear()
    await ran(capture(on_stream_response=keep), model=lambda _: ModelOutput(text="Hi", raw={"a": 1}))
    await ran(capture(on_stream_response=keep), model=lambda _: "Hi")
    assert raw == [{"a": 1}, "Hi"]


async def test_handlers_run_at_the_same_time() -> None:
    """Two that wait for each other come to their ends."""
    first, second = asyncio.Event(), asyncio.Event()

    async def one(_: ModelOutput) -> None:
        first.set()
        await second.wait()

    async def other(_: ModelOutput) -> None:
        await first.wait()
        second.set()

    await asyncio.wait_for(ran(capture(on_output=one), capture(on_output=other), model=lambda _: "a"), 5)


async def test_handlers_start_in_document_order() -> None:
    order: list[str] = []
    prompt = [
        capture(on_output=lambda _: order.append("output 1"), on_stream=lambda _: order.append("stream 1")),
        capture(on_output=lambda _: order.append("output 2"), on_stream=lambda _: order.append("stream 2")),
    ]
    await ran(*prompt, model=Letters())
    assert order == ["stream 1", "stream 2", "output 1", "output 2"]


async def test_pieces_come_as_they_are_sent() -> None:
    """A handler acts on a piece before the next one is made."""
    log: list[str] = []

    def model(_: Rendered) -> Iterator[str]:
        for letter in "ab":
            log.append(f"sent {letter}")
            yield letter

    async def read(stream: Stream) -> None:
        async for piece in stream:
            log.append(f"read {piece}")  # noqa: PERF401 - each at its time is the test

    await ran(capture(on_stream=read), model=model)
    assert log == ["sent a", "read a", "sent b", "read b"]


async def test_two_readers_of_one_iterator_share_it() -> None:
    got: list[str] = []

    async def share(stream: Stream) -> None:
        await asyncio.gather(reader(got)(stream), reader(got)(stream))

    await ran(capture(on_stream=share), model=Letters(30))
    assert sorted(got) == sorted([*"abcdefghijklmnopqrstuvwxyz", *"abcd"])


async def test_a_handler_without_parameters() -> None:
    calls: list[str] = []

    def handle() -> None:
        calls.append("called")

    without_parameters: Any = handle
    await ran(capture(on_output=without_parameters), model=lambda _: "a")
    assert calls == ["called"]


async def test_handlers_that_dont_tell_their_parameters() -> None:
    got: list[Any] = []
    await ran(capture(on_output=got.append), model=lambda _: "a")
    assert got == [ModelOutput(text="a")]
    untold: Any = type("Untold", (), {"__call__": got.append, "__signature__": 5})()
    await ran(capture(on_output=untold), model=lambda _: "b")
    assert got[1:] == [ModelOutput(text="b")]


# ------------------------------------------------------------------------------------------ behind and detached


async def test_a_slow_handler_holds_the_stream_up_at_64() -> None:
    model = Letters(200)
    seen: list[int] = []

    async def slow(stream: Stream) -> None:
        await asyncio.sleep(0.05)
        seen.append(model.sent)
        async for _ in stream:
            pass

    await ran(capture(on_stream=slow), model=model)
    assert seen == [65]  # 64 wait in the queue, one in the hand of who puts it there
    assert model.sent == 200


async def test_a_handler_that_stands_still_is_named() -> None:
    model = Letters(100)
    cancelled: list[str] = []

    async def still(stream: Stream) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append("still")

    with pytest.raises(RunError) as caught:
        await ran(capture(on_stream=still, key="log"), model=model, handler_timeout=0.05)
    assert str(caught.value) == (
        "on_stream of capture 'log' stands still: it has read nothing for 0.05 seconds with 64 pieces waiting; it has "
        "to read on, to return, or to close its iterator"
    )
    assert (cancelled, model.closed) == (["still"], 1)


async def test_a_handler_that_never_reads_a_short_stream_may_take_its_time() -> None:
    async def wait(_: Stream) -> None:
        await asyncio.sleep(0.1)

    found = await ran(capture(on_stream=wait), model=Letters(60), handler_timeout=0.01)
    assert found.text == ("abcdefghijklmnopqrstuvwxyz" * 3)[:60]


async def test_a_slow_handler_that_reads_on_is_left_alone() -> None:
    async def slow(stream: Stream) -> None:
        async for _ in stream:
            await asyncio.sleep(0.004)

    await ran(capture(on_stream=slow), model=Letters(100), handler_timeout=0.2)


async def test_one_that_returns_is_detached() -> None:
    got: tuple[list[str], list[str]] = ([], [])
    model = Letters(300)
    found = await ran(
        capture(on_stream=reader(got[0], stop=2)),
        capture(on_stream=reader(got[1])),
        model=model,
        handler_timeout=0.5,
    )
    assert (len(got[0]), len(got[1]), len(found.text), model.closed) == (2, 300, 300, 1)


async def test_one_that_closes_its_iterator_is_detached() -> None:
    model = Letters(300)
    rest: list[str] = []

    async def close(stream: Any) -> None:
        assert str(await anext(stream)) == "a"
        await stream.aclose()
        await stream.aclose()
        await asyncio.sleep(0.05)
        rest.extend([str(piece) async for piece in stream])

    await ran(capture(on_stream=close), capture(on_stream=reader([])), model=model, handler_timeout=0.5)
    assert (rest, model.sent) == ([], 300)


async def test_closing_wakes_who_reads_it() -> None:
    async def close(stream: Any) -> None:
        reading = asyncio.create_task(anext(stream, "end"))
        await asyncio.sleep(0)
        await stream.aclose()
        assert await reading == "end"

    await asyncio.wait_for(ran(capture(on_stream=close), model=Letters(5, hang_after=0)), 5)


async def test_with_the_last_reader_the_stream_ends() -> None:
    model = Letters(hang_after=3)
    found = await asyncio.wait_for(
        ran(capture(on_stream=reader([], stop=1)), capture(on_stream=reader([], stop=2)), model=model), 5
    )
    assert (found.text, found.finish_reason, model.closed) == ("ab", None, 1)


async def test_nobody_reads_at_all() -> None:
    """A handler that returns at once, before anything is sent."""
    model = Letters(hang_after=0)
    found = await asyncio.wait_for(ran(capture(on_stream=lambda _: None), model=model), 5)
    assert (found, model.sent) == (ModelOutput(), 0)


async def test_who_wants_the_whole_answer_keeps_it_going() -> None:
    model = Letters(100)
    got: list[str] = []
    await ran(
        capture(on_stream=reader([], stop=1)),
        capture(on_output=lambda output: got.append(output.text[:3])),
        model=model,
    )
    assert (got, model.sent) == (["abc"], 100)


async def test_a_huge_stream_stays_small() -> None:
    """Nothing but the joined text and the queues is kept."""
    count = 0

    def model(_: Rendered) -> Iterator[str]:
        yield from itertools.repeat("x", 100_000)

    async def read(stream: Stream) -> None:
        nonlocal count
        async for _ in stream:
            count += 1

    found = await ran(capture(on_stream=read), model=model)
    assert (count, len(found.text)) == (100_000, 100_000)


# ------------------------------------------------------------------------------------------ failures


async def test_a_failure_cancels_the_others_and_is_raised_itself() -> None:
    model = Letters(hang_after=3)
    cancelled: list[str] = []
    error = ZeroDivisionError("boom")

    async def other(stream: Stream) -> None:
        try:
            await reader([])(stream)
        except asyncio.CancelledError:
            cancelled.append("other")
            raise

    async def fail(stream: Stream) -> None:
        await anext(stream)
        raise error

    with pytest.raises(ZeroDivisionError) as caught:
        await ran(capture(on_stream=other), capture(on_stream=fail), model=model)
    assert caught.value is error
    assert caught.value.__notes__ == ["in on_stream of capture 2"]
    assert caught.value.__context__ is None
    assert (cancelled, model.closed) == (["other"], 1)


@pytest.mark.parametrize("where", ["on_output", "on_stream", "on_stream_response"])
@pytest.mark.parametrize("later", [False, True])
async def test_failures_in_every_place(where: str, later: bool) -> None:
    model = Letters()

    def fail_now(_: Any) -> None:
        raise LookupError("gone")

    async def fail_later(_: Any) -> None:
        await asyncio.sleep(0.01)
        raise LookupError("gone")

    handler: Any = {where: fail_later if later else fail_now}
    with pytest.raises(LookupError, match="gone") as caught:
        await ran(capture(**handler), model=model)
    assert caught.value.__notes__ == [f"in {where} of capture 1"]
    # A stream handler that fails at once does so before the stream is begun, which a generator then never is.
    assert model.closed == (0 if where != "on_output" and not later else 1)


async def test_a_failing_stream_cancels_the_handlers() -> None:
    got: list[str] = []
    ended: list[str] = []
    error = ConnectionError("cut")

    async def read(stream: Stream) -> None:
        try:
            await reader(got)(stream)
        finally:
            ended.append("ended")

    with pytest.raises(ConnectionError) as caught:
        await ran(capture(on_stream=read), model=Letters(error=error))
    assert caught.value is error
    assert (got, ended) == ([*"abcde"], ["ended"])


async def test_several_failures_come_together() -> None:
    async def fail(_: ModelOutput) -> None:
        raise LookupError("first")

    async def fail_when_cancelled(_: ModelOutput) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("second")

    with pytest.raises(ExceptionGroup) as caught:
        await ran(capture(on_output=fail_when_cancelled), capture(on_output=fail), model=lambda _: "a")
    assert caught.value.message == "several handlers failed"
    assert [str(error) for error in caught.value.exceptions] == ["first", "second"]


async def test_a_group_that_a_handler_raises_stays_whole() -> None:
    group = ExceptionGroup("mine", [ValueError("a")])

    def fail(_: ModelOutput) -> None:
        raise group

    with pytest.raises(ExceptionGroup) as caught:
        await ran(capture(on_output=fail), model=lambda _: "a")
    assert caught.value is group


async def test_an_async_generator_is_no_handler() -> None:
    async def wrong(stream: Stream) -> AsyncIterator[Any]:
        async for piece in stream:
            yield piece

    with pytest.raises(RunError) as caught:
        await ran(capture(on_stream=wrong), model=Letters())
    assert str(caught.value) == (
        "on_stream of capture 1 is an async generator, which nobody reads: leave out its `yield`"
    )


async def test_a_cancelled_task_inside_a_handler_is_an_error() -> None:
    """Else the handler would end without a word."""

    async def wait_for_nothing(_: ModelOutput) -> None:
        task = asyncio.create_task(asyncio.sleep(10))
        task.cancel()
        await task

    with pytest.raises(RunError) as caught:
        await ran(capture(on_output=wait_for_nothing), model=lambda _: "a")
    assert str(caught.value) == "on_output of capture 1 waited for a task that was cancelled"


def test_an_interrupt_goes_through() -> None:
    """In a process of its own: asyncio tells the log about the interrupted task when that is collected."""
    program = (
        "from priompt_py import capture, run_sync\n"
        "def interrupt(output): raise KeyboardInterrupt\n"
        "run_sync(['x', capture(on_output=interrupt)], model=lambda _: 'a', token_limit=100)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert "KeyboardInterrupt" in done.stderr.splitlines()
    assert done.returncode != 0


# ------------------------------------------------------------------------------------------ cancellation


async def test_cancellation_at_every_step() -> None:
    """Wherever a run is cancelled: it ends, its stream is closed, its handlers are gone, no task is left."""
    steps = 0
    while True:
        model, running = Letters(8), [0]

        async def read(stream: Stream) -> None:
            running[0] += 1  # noqa: B023 - used in this round
            try:
                async for _ in stream:
                    await asyncio.sleep(0)
            finally:
                running[0] -= 1  # noqa: B023

        async def take(_: ModelOutput) -> None:
            await asyncio.sleep(0)

        before = asyncio.all_tasks()
        task = asyncio.create_task(
            ran(capture(on_stream=read, on_output=take), capture(on_stream=read), model=model)
        )
        for _ in range(steps):
            await asyncio.sleep(0)
        if task.done():
            assert task.result().text == "abcdefgh"
            break
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before
        assert running == [0]
        assert model.closed == (1 if model.sent else 0)
        steps += 1
    assert steps > 10


async def test_a_cancelled_run_waits_for_the_closing_of_the_stream() -> None:
    closed: list[str] = []

    class Slow:
        def __aiter__(self) -> Slow:
            return self

        async def __anext__(self) -> str:
            await asyncio.Event().wait()
            return "a"

        async def aclose(self) -> None:
            await asyncio.sleep(0.02)
            closed.append("closed")

    task = asyncio.create_task(ran(capture(on_output=print), model=lambda _: Slow()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == ["closed"]


async def test_a_stream_that_is_cancelled_from_inside_is_an_error() -> None:
    """Else the handlers would wait for its end for ever."""

    async def model(_: Rendered) -> AsyncIterator[str]:
        yield "a"
        task = asyncio.create_task(asyncio.sleep(10))
        task.cancel()
        await task

    with pytest.raises(RunError) as caught:
        await asyncio.wait_for(ran(capture(on_stream=reader([])), model=model), 5)
    assert str(caught.value) == "the model's stream waited for a task that was cancelled"


async def test_a_stream_that_holds_off_its_cancellation_is_left() -> None:
    sent: list[str] = []

    async def model(_: Rendered) -> AsyncIterator[str]:
        yield "a"
        for letter in "bcdefgh":
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                sent.append(letter)
            yield letter

    async def read(stream: Stream) -> None:
        await anext(stream)
        await asyncio.sleep(0.01)  # until the model waits for its next letter

    found = await asyncio.wait_for(ran(capture(on_stream=read), model=model), 5)
    assert (found.text, sent) == ("a", ["b"])


async def test_a_source_without_a_closing_method() -> None:
    class Bare:
        def __init__(self) -> None:
            self.rest = [*"ab"]

        def __iter__(self) -> Bare:
            return self

        def __next__(self) -> str:
            if not self.rest:
                raise StopIteration
            return str(self.rest.pop(0))

    assert (await ran(capture(on_output=lambda _: None), model=lambda _: Bare())).text == "ab"


async def test_a_closing_that_fails_is_told() -> None:
    class Fails:
        def __iter__(self) -> Iterator[str]:
            return iter("ab")

        def close(self) -> None:
            raise OSError("can't close")

    with pytest.raises(OSError, match="can't close"):
        await ran(capture(on_output=print), model=lambda _: Fails())
