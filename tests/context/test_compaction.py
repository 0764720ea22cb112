"""Compaction: what a summary stands for, when it is made, and what can go wrong meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import render
from priompt_py.context import (
    CompactionPoint,
    Compactor,
    Conversation,
    Event,
    ImagePart,
    Message,
    ToolCallPart,
    ToolResultPart,
    apply_compaction,
    assemble,
    copy_conversation,
    default_pipeline,
)
from priompt_py.context.boundary import find_boundary
from priompt_py.context.compaction import without_thoughts
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.cases import case, ids, short

WORDS = WordTokenizer()


class Summary:
    """A summariser that says the same each time, or raises."""

    def __init__(self, said: Any = "Short recap") -> None:
        self.said = said
        self.seen: list[list[str]] = []
        self.instructions = ""

    def summarize(self, messages: Sequence[Message], instructions: str) -> Any:
        self.seen.append([one.id for one in messages])
        self.instructions = instructions
        if isinstance(self.said, BaseException):
            raise self.said
        return self.said(len(self.seen)) if callable(self.said) else self.said


def conversation(names: str, points: Sequence[CompactionPoint] = ()) -> Conversation:
    return Conversation([short(name) for name in names.split()], points)


def compactor(said: Any = "Short recap", **options: Any) -> Compactor:
    settings: dict[str, Any] = {"tokenizer": WORDS, "clock": lambda: 1.0} | options
    return Compactor(Summary(said), **settings)


def sent(one: Conversation) -> list[str]:
    return ids(apply_compaction(points=one.points)(one.messages).messages)


# ------------------------------------------------------------------------------------------ the cases


def test_thoughts_are_no_summary() -> None:
    given = case("CB11")
    assert given["in"] == "summariser returns '<think>plan</think> Short recap'"
    assert given["out"] == (
        "summary text 'Short recap'; point boundary = last message before the pending user turn"
    )
    one = conversation("sys u1 a1 u2")
    result = compactor("<think>plan</think> Short recap").compact(one, force=True)
    assert (result.ok, result.compacted) == (True, True)
    assert result.messages[-1] == Message("summary-1", "assistant", "Short recap", is_summary=True)
    assert result.point == CompactionPoint("summary-1", "a1", 1.0)
    assert (one.points, sent(one)) == ((result.point,), ["sys", "summary-1", "u2"])
    assert tuple(result.messages) == one.messages


def test_two_at_once() -> None:
    given = case("CB13")
    assert given["out"] == "summariser called once; second: ok, compacted false"
    one = conversation("u1 a1 u2")
    began, go_on = threading.Event(), threading.Event()

    def slow(_: int) -> str:
        began.set()
        assert go_on.wait(60)
        return "recap"

    first_compactor = compactor(slow)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(first_compactor.compact(one, force=True)))
    thread.start()
    assert began.wait(60)
    second = compactor("another").compact(one, force=True)  # of another compactor, too
    go_on.set()
    thread.join()
    assert (second.ok, second.compacted, second.point, ids(second.messages)) == (
        True, False, None, ["u1", "a1", "u2"],
    )  # fmt: skip
    assert [result.compacted for result in found] == [True]
    assert first_compactor.summarizer.seen == [["u1", "a1"]]


@pytest.mark.anyio
async def test_two_tasks_at_once() -> None:
    one = conversation("u1 a1 u2")
    calls: list[int] = []

    class Slow:
        async def summarize(self, messages: Sequence[Message], instructions: str) -> str:
            calls.append(len(messages))
            await asyncio.sleep(0.01)
            return "recap"

    work = Compactor(Slow(), tokenizer=WORDS)
    results = await asyncio.gather(*(work.acompact(one, force=True) for _ in range(5)))
    assert [(result.ok, result.compacted) for result in results] == [(True, True)] + [(True, False)] * 4
    assert (calls, len(one.points)) == ([2], 1)


def test_points_that_are_lost_repeated_or_misaddressed() -> None:
    lines = (Path(__file__).parents[1] / "faults.jsonl").read_text("utf-8").splitlines()
    given = next(one for one in map(json.loads, lines) if one["id"] == "BC-079")
    assert given["input"]["history"] == "30 messages, compaction at message 20 with summary 'SUM'"
    rows = [Message("sys", "system", "Be brief")] + [
        Message(f"m{n}", "user" if n % 2 else "assistant", f"text {n}") for n in range(1, 31)
    ]
    one = Conversation(rows[:21])
    work = compactor("SUM")
    assert work.compact(one, force=True).point == CompactionPoint("summary-1", "m20", 1.0)
    one.append(*rows[21:])

    def shown(messages: Sequence[Message], points: Sequence[CompactionPoint]) -> str:
        passes = default_pipeline(points=points)
        node = assemble(messages, window=None, tokenizer=WORDS, passes=passes).node
        return str(render(node, token_limit=1_000, tokenizer=WORDS).to_messages())

    whole = shown(one.messages, one.points)
    assert sent(one) == ["sys", "summary-1", *(f"m{n}" for n in range(21, 31))]
    assert ("SUM" in whole, "text 20" in whole, "text 21" in whole) == (True, False, True)
    # Copied, and rendered twice: the same bytes, and no new summary.
    assert shown(*copy_conversation(one.messages, one.points, lambda old: f"copy of {old}")) == whole
    assert shown(one.messages, one.points) == whole
    assert work.summarizer.seen == [[f"m{n}" for n in range(1, 21)]]
    # Nothing new behind the boundary but what is open: not now, and not again.
    pending = Conversation([*rows[:21], one.messages[21], rows[21]], one.points)
    again = work.compact(pending, force=True)
    assert (again.ok, again.compacted, len(work.summarizer.seen)) == (True, False, 1)
    # The boundary goes: the summary goes with it, and what it stood for counts again.
    one.delete("m20")
    assert sent(one) == ["sys", *(f"m{n}" for n in range(1, 31) if n != 20)]
    assert "SUM" not in shown(one.messages, one.points)


# ------------------------------------------------------------------------------------------ where it ends


BOUNDARIES: dict[str, tuple[str, int, str | None]] = {
    "nothing": ("", 0, None),
    "instructions alone": ("sys", 0, None),
    "a pending turn alone": ("sys u1", 0, None),
    "two messages of it": ("u1 a1 u2 u3", 0, "a1"),
    "no pending turn": ("u1 a1", 0, "a1"),
    "the assistant began": ("a1 u1", 0, "a1"),
    "summaries are not spoken": ("u1 a1 s1* u2", 0, "a1"),
    "one round stays": ("u1 a1 u2 a2 u3", 1, "a1"),
    "two rounds stay": ("u1 a1 u2 a2 u3 a3 u4", 2, "a1"),
    "two assistants are one round": ("u1 a1 u2 a2 a3 u3", 1, "a1"),
    "of two users the nearer closes a round": ("u1 a1 u2 u3 a2 u4", 1, "u2"),
    "rounds but no more": ("u1 a1 u2 a2 u3", 2, None),
    "fewer rounds": ("u1 a1 u2", 5, None),
    "no user at all": ("a1 a2", 0, "a2"),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_boundaries(name: str) -> None:
    names, rounds, wanted = BOUNDARIES[name]
    messages = [short(one) for one in names.split()]
    found = find_boundary(messages, (), rounds)
    assert (None if found is None else messages[found].id) == wanted


def test_a_boundary_may_be_a_failed_answer() -> None:
    failed = attrs.evolve(short("a2"), error="quota")
    messages = [short("u1"), short("a1"), short("u2"), failed, short("u3")]
    assert find_boundary(messages, ()) == 3
    # A turn whose only answer failed is still pending.
    assert find_boundary(messages[:4], ()) == 1
    # And failed turns alone are nothing to summarise.
    assert find_boundary([failed, short("u3")], ()) is None


def test_an_agent_at_work_is_pending() -> None:
    call = Message("a2", "assistant", ToolCallPart("c1", "look"))
    result = Message("t1", "tool", ToolResultPart("c1", "found"))
    begun = [short("u1"), short("a1"), short("u2"), call]
    assert [find_boundary(begun, ()), find_boundary([*begun, result], ())] == [1, 1]
    assert find_boundary([*begun, result, short("a3")], ()) == 5
    inside = Message("a2", "assistant", [ToolCallPart("c1", "look"), ToolResultPart("c1", "found")])
    assert find_boundary([short("u1"), inside], ()) == 1


def test_what_is_left_out_anyway_is_no_boundary() -> None:
    writing = attrs.evolve(short("a2"), generating=True)
    marker = attrs.evolve(short("a3"), hidden=True)
    assert find_boundary([short("u1"), short("a1"), short("u2"), writing, marker], ()) == 1


def test_what_is_summarised_is_what_would_be_sent() -> None:
    failed = attrs.evolve(short("a2"), error="quota")
    hidden = attrs.evolve(short("u2"), hidden=True)
    one = Conversation(
        [short("sys"), short("u1"), short("a1"), hidden, failed, short("u3"), short("a3"), short("u4")]
    )

    def numbered(call: int) -> str:
        return f"recap {call}"

    work = compactor(numbered, instructions="Be short")
    assert work.compact(one, force=True).point == CompactionPoint("summary-1", "a3", 1.0)
    assert (work.summarizer.seen, work.summarizer.instructions) == ([["u1", "a1", "u3", "a3"]], "Be short")
    one.append(short("a4"), short("u5"))
    second = work.compact(one, force=True)
    assert work.summarizer.seen[1] == ["summary-1", "u4", "a4"]
    # The clock stands still; the new point is the newer one all the same.
    assert second.point == CompactionPoint("summary-2", "a4", 2.0)
    assert sent(one) == ["sys", "summary-2", "u5"]


# ------------------------------------------------------------------------------------------ when


def test_only_over_the_threshold() -> None:
    one = conversation("u1 a1 u2")  # 9 tokens
    work = compactor(window=20, reserve=0)  # the threshold is 12
    assert work.tokens(one) == 9
    assert work.compact(one).compacted is False
    one.append(Message("a2", "assistant", "three more words"))
    assert work.compact(one).compacted is False  # 12 is not over 12
    one.append(Message("u3", "user", "word"))
    assert (work.tokens(one), work.compact(one).compacted) == (13, True)
    assert work.tokens(one) == 3
    assert compactor().compact(conversation("u1 a1 u2")).compacted is False  # no window, no threshold


def test_attachments_and_frames() -> None:
    one = Conversation([Message("u1", "user", "hello")])
    assert Compactor(Summary()).tokens(one) == 1 + 4 + 3  # as OpenAI's chats cost


# ------------------------------------------------------------------------------------------ what goes wrong


def failing(said: Any, error: str, **options: Any) -> None:
    one = conversation("u1 a1 u2")
    before = (one.messages, one.points)
    told: list[Event] = []
    result = compactor(said, events=told.append, **options).compact(one, force=True)
    assert (result.ok, result.compacted, result.point, result.error) == (False, False, None, error)
    assert (one.messages, one.points, tuple(result.messages)) == (*before, before[0])
    assert [(event.kind, event.state) for event in told] == [
        ("summarising", "loading"),
        ("summarising", "error"),
    ]
    assert told[-1].text == error
    assert not one.compacting.locked()


def no_pieces(_: int) -> Iterator[int]:
    yield 5


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (RuntimeError("no model"), "the summariser failed: RuntimeError: no model"),
        ("", "the summariser gave no text"),
        (" <think>only\nthoughts</think>\n", "the summariser gave no text"),
        (
            None,
            "the summariser failed: ArgumentTypeError: a summariser gives text, got None (NoneType)",
        ),
        (
            no_pieces,
            "the summariser failed: ArgumentTypeError: a summariser gives pieces of text, got 5 (int)",
        ),
    ],
)
def test_a_summary_that_fails(said: Any, error: str) -> None:
    failing(said, error)


def test_a_summary_that_takes_too_long() -> None:
    never = threading.Event()

    def late(_: int) -> str:
        never.wait(60)
        return "too late"

    failing(
        late,
        "the summariser failed: TimeoutError: the summariser took longer than 0.05 s",
        time_limit=0.05,
    )
    never.set()


def test_failures_that_are_to_be_raised() -> None:
    one = conversation("u1 a1 u2")
    with pytest.raises(RuntimeError, match="no model"):
        compactor(RuntimeError("no model"), on_error="raise").compact(one, force=True)
    with pytest.raises(ValueError, match="the summariser gave no text"):
        compactor("", on_error="raise").compact(one, force=True)
    assert (ids(list(one.messages)), one.points, one.compacting.locked()) == (["u1", "a1", "u2"], (), False)


def test_an_interrupt_goes_up() -> None:
    one = conversation("u1 a1 u2")
    told: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        compactor(KeyboardInterrupt(), events=told.append).compact(one, force=True)
    assert [event.state for event in told] == ["loading", "canceled"]
    assert (len(one.messages), one.compacting.locked()) == (3, False)


def test_what_is_added_meanwhile_stays() -> None:
    one = conversation("u1 a1 u2")

    def adds(_: int) -> str:
        one.append(short("a2"), Message("summary-1", "user", "takes the name"))
        return "recap"

    result = compactor(adds).compact(one, force=True)
    assert ids(result.messages) == ["u1", "a1", "u2", "a2", "summary-1", "summary-2"]
    assert sent(one) == ["summary-2", "u2", "a2", "summary-1"]


def test_what_is_deleted_meanwhile() -> None:
    one = conversation("u1 a1 u2")

    def deletes(_: int) -> str:
        one.delete("a1")
        return "recap"

    result = compactor(deletes).compact(one, force=True)
    assert (result.ok, result.error) == (False, "the message 'a1' was deleted while it was summarised")
    assert (ids(list(one.messages)), one.points) == (["u1", "u2"], ())


def test_a_sink_that_fails_is_said() -> None:
    def fails(_: Event) -> None:
        raise OSError("pipe")

    result = compactor(events=fails).compact(conversation("u1 a1 u2"), force=True)
    assert (result.compacted, result.notes) == (True, ("the event sink failed: OSError: pipe",))


# ------------------------------------------------------------------------------------------ async and streams


def in_pieces(_: int) -> Iterator[str]:
    yield from ("<think>x</think>", "Short ", "recap")


STREAMED = ["summarising", "<think>x</think>", "Short ", "recap", "summarised"]


def test_a_stream() -> None:
    result = compactor(in_pieces).compact(conversation("u1 a1 u2"), force=True)
    assert result.messages[-1].text == "Short recap"
    assert [event.text for event in result.events] == STREAMED


class Streaming:
    async def summarize(self, messages: Sequence[Message], instructions: str) -> AsyncIterator[str]:
        for piece in in_pieces(0):
            await asyncio.sleep(0)
            yield piece


class Awaited:
    async def summarize(self, messages: Sequence[Message], instructions: str) -> str:
        return "Short recap"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("summarizer", "texts"),
    [
        (Streaming(), STREAMED),
        (Summary(in_pieces), STREAMED),
        (Summary(), ["summarising", "summarised"]),
        (Awaited(), ["summarising", "summarised"]),
    ],
)
async def test_async(summarizer: Any, texts: list[str]) -> None:
    told: list[Event] = []

    async def sink(event: Event) -> None:
        await asyncio.sleep(0)
        told.append(event)

    work = Compactor(summarizer, tokenizer=WORDS, events=sink)
    result = await work.acompact(conversation("u1 a1 u2"), force=True)
    assert (result.compacted, result.messages[-1].text) == (True, "Short recap")
    assert [event.text for event in told] == texts
    assert result.events == tuple(told)


@pytest.mark.parametrize("summarizer", [Awaited(), Streaming()])
def test_async_summarisers_need_the_async_door(summarizer: Any) -> None:
    one = conversation("u1 a1 u2")
    work = Compactor(summarizer, tokenizer=WORDS)
    with pytest.raises(
        ArgumentTypeError, match=r"^compact\(\) is sync and the summariser is async; use acompact\(\)$"
    ):
        work.compact(one, force=True)
    assert (len(one.messages), one.compacting.locked()) == (3, False)


@pytest.mark.anyio
async def test_cancelled() -> None:
    one = conversation("u1 a1 u2")
    told: list[Event] = []

    class Hanging:
        async def summarize(self, messages: Sequence[Message], instructions: str) -> str:
            await asyncio.sleep(60)
            return "too late"

    task = asyncio.ensure_future(
        Compactor(Hanging(), tokenizer=WORDS, events=told.append).acompact(one, force=True)
    )
    await asyncio.sleep(0.05)
    assert one.compacting.locked()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.state for event in told] == ["loading", "canceled"]
    assert (ids(list(one.messages)), one.points, one.compacting.locked()) == (["u1", "a1", "u2"], (), False)
    assert (await compactor().acompact(one, force=True)).compacted


@pytest.mark.anyio
async def test_a_stream_that_hangs() -> None:
    class Hanging:
        async def summarize(self, messages: Sequence[Message], instructions: str) -> AsyncIterator[str]:
            yield "Short"
            await asyncio.sleep(60)

    one = conversation("u1 a1 u2")
    result = await Compactor(Hanging(), tokenizer=WORDS, time_limit=0.05).acompact(one, force=True)
    assert result.error == "the summariser failed: TimeoutError: the summariser took longer than 0.05 s"
    assert (result.events[1].text, len(one.messages)) == ("Short", 3)


# ------------------------------------------------------------------------------------------ thoughts


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Short", "Short"),
        ("<think>a</think>Short<think>b</think> recap", "Short recap"),
        ("<THINK\n>a</Think >Short", "Short"),
        ("<thinking>a</thinking>Short", "Short"),
        ("<think>never ends", ""),
        ("opened by the template</think>Short", "Short"),
        ("<think>a<think>b</think>c</think>Short", "Short"),
        ("a <thinker> b", "a <thinker> b"),
    ],
)
def test_thoughts(answer: str, said: str) -> None:
    assert without_thoughts(answer) == said


@given(st.text(alphabet="a</>think \n", max_size=60))
def test_no_mark_of_a_thought_is_left(answer: str) -> None:
    said = without_thoughts(answer)
    assert "</think>" not in said
    assert said == said.strip()
    assert without_thoughts(said) == said


def test_long_answers_take_linear_time() -> None:
    assert without_thoughts("<think>" * 200_000) == ""
    assert without_thoughts("<think " * 100_000).startswith("<think <think")
    assert without_thoughts("</think" * 200_000) == "</think" * 200_000


# ------------------------------------------------------------------------------------------ conversations


def test_deleting() -> None:
    one = conversation("u1 a1 u2")
    compactor().compact(one, force=True)
    one.delete("summary-1")
    assert (one.points, sent(one)) == ((), ["u1", "a1", "u2"])
    with pytest.raises(ArgumentValueError, match=r"delete\(\): there is no message 'nope'"):
        one.delete("u1", "nope")
    assert sent(one) == ["u1", "a1", "u2"]
    assert repr(one) == "Conversation(3 messages, 0 points)"


def test_wrong_conversations() -> None:
    anything: Any = [short("u1"), 5]
    with pytest.raises(ArgumentTypeError, match=r"messages\[1\] is no Message, got 5 \(int\)"):
        Conversation(anything)
    with pytest.raises(ArgumentValueError, match="the id 'u1'"):
        conversation("u1 u1")
    one = conversation("u1")
    with pytest.raises(ArgumentValueError, match="the id 'u1'"):
        one.append(short("u1"))
    assert len(one.messages) == 1


def test_copies() -> None:
    one = conversation("u1 a1 u2")
    compactor().compact(one, force=True)
    dangling = CompactionPoint("gone", "u1", 9)
    messages, points = copy_conversation(one.messages, (*one.points, dangling), str.upper)
    assert (ids(messages), points) == (
        ["U1", "A1", "U2", "SUMMARY-1"],
        [CompactionPoint("SUMMARY-1", "A1", 1.0)],
    )
    with pytest.raises(ArgumentValueError, match="the id 'same'"):
        copy_conversation(one.messages, (), lambda _: "same")


def test_many_threads_add() -> None:
    one = Conversation()

    def add(number: int) -> None:
        for n in range(50):
            one.append(Message(f"{number}-{n}", "user", "x"))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({message.id for message in one.messages}) == 400


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"window": 0}, ArgumentValueError, "needs window >= 1, got window=0"),
        ({"keep_tail_rounds": -1}, ArgumentValueError, "Compactor() needs keep_tail_rounds >= 0"),
        ({"instructions": 5}, ArgumentTypeError, "Compactor() needs text for instructions"),
        ({"share": 2}, ArgumentValueError, "needs a share over 0 and up to 1 for share"),
        ({"on_error": "no"}, ArgumentValueError, "Compactor() needs on_error to be one of report, raise"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        compactor(**options)
    assert said in str(caught.value)


def test_wrong_arguments() -> None:
    anything: Any = 5
    with pytest.raises(
        ArgumentTypeError, match=r"Compactor\(\) needs an object with a method summarize, got 5"
    ):
        Compactor(anything)
    with pytest.raises(ArgumentTypeError, match=r"compact\(\) needs a Conversation, got 5 \(int\)"):
        compactor().compact(anything)
    with pytest.raises(ArgumentTypeError, match=r"compact\(\) needs True or False for force, got force=5"):
        compactor().compact(conversation("u1"), force=anything)


def test_pictures_count_as_they_will_when_rendered() -> None:
    shown = [
        Message("u1", "user", [ImagePart(url="https://example.com/a.png")]),
        Message("a1", "assistant", "seen"),
        Message("u2", "user", "and now?"),
    ]
    one = Conversation(shown)
    work = compactor(window=2_414, reserve=0, tokenizer="o200k_base")  # the threshold is 1,448
    assert (
        work.tokens(one) == render(assemble(shown, window=None).node, token_limit=9_000).token_count == 1_464
    )
    assert work.compact(one).compacted
    assert compactor(tokenizer="claude_4_estimate").tokens(Conversation(shown[:1])) > 1_568
