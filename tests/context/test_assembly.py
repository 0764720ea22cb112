"""From a conversation to a tree: what is in under which limit, and what is told of it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from priompt_py import ArgumentTypeError, ArgumentValueError, PromptTooLong, render
from priompt_py.context import (
    Attachment,
    Event,
    Hit,
    ImagePart,
    InfoPart,
    Message,
    OpaquePart,
    PassResult,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    aassemble,
    assemble,
    default_pipeline,
    pipeline,
    prune,
)
from priompt_py.context.assembly import Assembly
from priompt_py.context.reports import PassReport
from priompt_py.context.tree import TreeOptions, conversation_nodes
from priompt_py.face.rendered import Rendered
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.cases import case

WORDS = WordTokenizer()


def said(n: int) -> str:
    return " ".join(f"w{i}" for i in range(n))


def texts(rendered: Rendered) -> list[str]:
    assert rendered.messages is not None
    return [message.text for message in rendered.messages]


def roles(rendered: Rendered) -> list[str]:
    assert rendered.messages is not None
    return [message.role for message in rendered.messages]


def rendered(assembly: Assembly, limit: int) -> Rendered:
    return render(assembly.node, token_limit=limit, tokenizer=WORDS)


def plain(messages: Sequence[Message], **options: Any) -> Assembly:
    return assemble(messages, window=options.pop("window", 10_000), tokenizer=WORDS, **options)


CHAT = [
    Message("s", "system", "be brief"),
    Message("u1", "user", "first question"),
    Message("a1", "assistant", "first answer"),
    Message("p", "user", "pinned words", pinned=True),
    Message("u2", "user", "last question"),
]


# ------------------------------------------------------------------------------------------ what is in


def test_history_goes_oldest_first() -> None:
    assembly = plain(CHAT)
    assert [texts(rendered(assembly, limit)) for limit in (10, 9, 8, 7, 6)] == [
        ["be brief", "first question", "first answer", "pinned words", "last question"],
        ["be brief", "first answer", "pinned words", "last question"],
        ["be brief", "first answer", "pinned words", "last question"],
        ["be brief", "pinned words", "last question"],
        ["be brief", "pinned words", "last question"],
    ]
    with pytest.raises(PromptTooLong):
        rendered(assembly, 5)


def test_a_summary_stays_longer_than_history() -> None:
    messages = [
        Message("sum", "assistant", "summary here", is_summary=True),
        Message("a1", "assistant", "an answer"),
        Message("u2", "user", "last question"),
    ]
    assembly = plain(messages, passes=pipeline())
    assert texts(rendered(assembly, 4)) == ["summary here", "last question"]
    assert texts(rendered(assembly, 3)) == ["last question"]


def test_room_for_the_answer() -> None:
    assembly = plain(CHAT, output_reserve=3)
    result = rendered(assembly, 10)
    assert (result.token_count, result.tokens_reserved) == (6, 3)


def test_priorities_count_from_the_start() -> None:
    late = plain(CHAT[1:], first_index=1)
    assert rendered(late, 6).cutoff == rendered(plain(CHAT), 8).cutoff


def test_demoted_messages_go_first() -> None:
    messages = [
        Message("a", "user", "alpha one", step=0),
        Message("b", "user", "question words", step=1),
        Message("c", "user", "gamma two", step=2),
        Message("z", "user", "question now", step=20),
    ]
    assembly = plain(messages, passes=default_pipeline((), prune(max_age=18, mode="demote")))
    assert assembly.report.priorities == {"a": -4_000_000}
    assembly = plain(messages, passes=default_pipeline((), prune(max_age=5, mode="demote")))
    assert list(assembly.report.priorities) == ["a", "c"]
    assert texts(rendered(assembly, 8)) == ["alpha one", "question words", "gamma two", "question now"]
    assert texts(rendered(assembly, 6)) == ["question words", "gamma two", "question now"]
    assert texts(rendered(assembly, 4)) == ["question words", "question now"]


# ------------------------------------------------------------------------------------------ tool rounds

ROUND = [
    Message("s", "system", said(20)),
    Message("a1", "assistant", [TextPart(said(9)), ToolCallPart("c1", "look", "{}")]),
    Message("t1", "tool", ToolResultPart("c1", said(30))),
    Message("u", "user", ""),
]


def test_a_round_is_one_scope() -> None:
    given = case("TR04")
    assert given["in"] == "tool round: call 10 + result 30 in one scope, base 20"
    head = Message("a1", "assistant", [TextPart(said(8)), ToolCallPart("c1", "look", "{}")])
    assembly = plain([ROUND[0], head, *ROUND[2:]], result_ladder=False)
    counts = [rendered(assembly, limit).token_count for limit in given["limit"]]
    assert [f"{count} words" for count in counts] == given["out"]


def test_results_in_three_sizes() -> None:
    lines = "\n".join(f"line {i} of it" for i in range(1_000))
    assembly = plain([ROUND[1], Message("t1", "tool", ToolResultPart("c1", lines)), ROUND[3]])
    full, capped, noted, gone = (rendered(assembly, limit) for limit in (4_100, 4_000, 30, 10))
    assert full.token_count == 4_011
    result = texts(capped)[1]
    assert result.startswith("line 0 of it\n")
    assert result.endswith("\nline 999 of it")
    assert result.count("[...]") == 1
    assert 1_900 < WORDS.count(result) <= 2_000
    assert texts(noted)[1] == "[result left out; call the tool again if it is needed]"
    assert roles(gone) == ["user"]


def test_the_newest_turn_has_ladders_too() -> None:
    messages = [
        Message("u", "user", "question"),
        Message("a1", "assistant", ToolCallPart("c1", "look")),
        Message("t1", "tool", ToolResultPart("c1", said(500))),
    ]
    assembly = plain(messages)
    assert rendered(assembly, 503).token_count == 503
    assert texts(rendered(assembly, 60)) == [
        "question",
        "",
        "[result left out; call the tool again if it is needed]",
    ]
    with pytest.raises(PromptTooLong):
        rendered(assembly, 10)


def test_a_long_line_is_cut_at_words() -> None:
    assembly = plain([ROUND[1], Message("t1", "tool", ToolResultPart("c1", said(5_000))), ROUND[3]])
    result = texts(rendered(assembly, 3_000))[1]
    assert result.startswith("w0 w1")
    assert result.endswith("w4999")


def test_results_inside_the_assistants_message_stand_behind_it() -> None:
    both = Message(
        "a", "assistant", [ToolCallPart("c1", "look"), ToolResultPart("c1", "found"), TextPart("so")]
    )
    result = rendered(plain([Message("u", "user", "x"), both]), 100)
    assert list(zip(roles(result), texts(result), strict=True)) == [
        ("user", "x"),
        ("assistant", "so"),
        ("tool", "found"),
    ]


def test_ids_that_come_again_are_made_different() -> None:
    messages = [
        Message("u", "user", "x"),
        Message("a1", "assistant", ToolCallPart("c", "look")),
        Message("t1", "tool", ToolResultPart("c", "one")),
        Message("a2", "assistant", [ToolCallPart("c", "look"), ToolCallPart("c_3", "look")]),
        Message("t2", "tool", [ToolResultPart("c_3", "three"), ToolResultPart("c", "two")]),
    ]
    result = rendered(plain(messages), 100)
    assert result.messages is not None
    calls = [[call.id for call in message.tool_calls] for message in result.messages]
    assert calls == [[], ["c"], [], ["c_3", "c_3_3"], [], []]
    assert [message.tool_call_id for message in result.messages] == [None, None, "c", None, "c_3_3", "c_3"]


def test_parts_that_are_no_text() -> None:
    message = Message(
        "a",
        "assistant",
        [
            ReasoningPart("hm", "anthropic", {"type": "thinking", "thinking": "hm", "signature": "s"}),
            ReasoningPart("without data"),
            InfoPart("note"),
            TextPart("so"),
        ],
    )
    asked = Message(
        "u",
        "user",
        [OpaquePart("openai", {"type": "file"}, tokens=3), ImagePart(data=b"no picture"), TextPart("x")],
    )
    result = rendered(plain([message, asked]), 100)
    assert result.messages is not None
    kinds = [[type(part).__name__ for part in one.parts] for one in result.messages]
    assert kinds == [["Part", "TextPart"], ["Part", "TextPart"]]
    assert texts(result)[1] == "[a picture that can't be read]x"


def test_names_go_to_the_provider() -> None:
    result = rendered(plain([Message("u", "user", "x", name="Ann")]), 100)
    assert result.messages is not None
    assert result.messages[0].name == "Ann"


# ------------------------------------------------------------------------------------------ files


class Docs:
    """A retriever that finds the beginning of each document."""

    default_threshold = 0.0

    def __init__(self, hits: int = 9) -> None:
        self.asked: list[tuple[str, list[str], int]] = []
        self.hits = hits

    def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
        self.asked.append((query, [one.id for one in documents], limit))
        return [Hit(f"hit of {one.id}", 0.5, one.id) for one in documents][: self.hits]


def with_files() -> list[Message]:
    return [
        Message("u1", "user", "old", attachments=[Attachment("old", "old.txt", text="OLD " * 40)]),
        Message("a1", "assistant", "fine"),
        Message("u2", "user", "new question", attachments=[Attachment("new", "new.txt", text="NEW " * 40)]),
    ]


def test_files_as_ladders() -> None:
    assembly = plain(with_files())
    all_of_it = "\n".join(texts(rendered(assembly, 500)))
    assert "OLD OLD" in all_of_it
    assert "NEW NEW" in all_of_it
    less = "\n".join(texts(rendered(assembly, 100)))
    assert "OLD OLD" not in less
    assert "NEW NEW" in less
    assert "old.txt" in less  # its placeholder
    none = "\n".join(texts(rendered(plain(with_files(), together=True), 100)))
    assert "NEW NEW" not in none
    assert "new.txt" in none


def test_hits_as_a_ladder() -> None:
    docs, cited = Docs(), list[list[Hit]]()
    assembly = plain(with_files(), retriever=docs, citations=cited.append)
    assert not [one for one in assembly.report.events if one.kind == "choosing"]  # the ladder chooses nothing
    assert docs.asked == [("new question", ["old", "new"], 3)]
    assert [hit.source_id for hit in assembly.hits] == ["old", "new"]
    assert cited == [list(assembly.hits)]
    assert assembly.report.strategy is None
    assert assembly.cited(rendered(assembly, 500)) == list(assembly.hits)
    assert 'Citation 1: "hit of old"' in texts(rendered(assembly, 500))[2]
    tight = next(found for limit in range(20, 200) if (found := _or_none(assembly, limit)) is not None)
    assert assembly.cited(tight) == []
    assert "left out for lack of space" in texts(tight)[-1]
    assert plain(CHAT).cited(rendered(plain(CHAT), 100)) == []


def _or_none(assembly: Assembly, limit: int) -> Rendered | None:
    try:
        return rendered(assembly, limit)
    except PromptTooLong:
        return None


def test_a_search_that_finds_nothing() -> None:
    assert "found nothing" in texts(rendered(plain(with_files(), retriever=Docs(0)), 500))[2]
    assert (
        "found nothing" not in texts(rendered(plain(with_files(), retriever=Docs(0), notice=False), 500))[2]
    )


def test_a_search_that_fails() -> None:
    class Broken:
        def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
            raise ConnectionError("no route")

    assembly = plain(with_files(), retriever=Broken())
    assert "could not be searched" in texts(rendered(assembly, 500))[2]
    assert assembly.report.notes == ("the retriever failed: ConnectionError: no route",)
    with pytest.raises(ConnectionError):
        plain(with_files(), retriever=Broken(), on_error="raise")


def test_the_newest_files_whole_or_searched() -> None:
    assembly = plain(with_files(), attachments="preprocess", window=1_000)
    assert assembly.report.strategy is not None
    assert assembly.report.strategy.name == "inject-full-content"
    assert assembly.messages[-1].attachments[0].inlined
    assert "** new.txt full content **" in texts(rendered(assembly, 500))[2]
    assert texts(rendered(assembly, 500))[0] == "old"
    small = plain(with_files(), attachments="preprocess", window=60, retriever=Docs())
    assert small.report.strategy is not None
    assert small.report.strategy.name == "retrieval"
    assert 'Citation 2: "hit of new"' in texts(rendered(small, 500))[2]
    assert small.hits == ()


def test_files_as_the_table_says() -> None:
    assembly = plain(with_files(), attachments="envelope")
    assert ["<ATTACHMENT_FILE>" in text for text in texts(rendered(assembly, 500))] == [True, False, True]
    assert texts(rendered(assembly, 90)) == ["fine", texts(rendered(assembly, 500))[2]]


def test_a_file_that_cannot_be_read() -> None:
    class Loader:
        def read(self, attachment: Attachment) -> bytes:
            raise OSError("gone")

    bad = Attachment("b", "b.txt", loader=Loader())
    picture = Attachment("p", "p.png", kind="image", loader=Loader())
    alone = Attachment("q", "q.png", kind="image")
    messages = [Message("u", "user", "x", attachments=[bad, picture, alone])]
    assembly = plain(messages)
    (report,) = [one for one in assembly.report.passes if one.name == "attachments"]
    assert [(drop.message_id, drop.reason, drop.detail) for drop in report.dropped] == [
        ("u", "unreadable", "b.txt: OSError: gone"),
        ("u", "unreadable", "p.png: OSError: gone"),
        ("u", "unreadable", "q.png: ValueError: it has no loader"),
    ]
    text = texts(rendered(assembly, 500))[0]
    assert "[the picture p.png can't be read: OSError: gone]" in text
    assert "b.txt" in text
    with pytest.raises(OSError, match="gone"):
        plain([Message("u", "user", "x", attachments=[picture])], on_error="raise")


def test_pictures_are_loaded() -> None:
    class Loader:
        def __init__(self, data: Any) -> None:
            self.data = data

        def read(self, attachment: Attachment) -> Any:
            return self.data

    gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
    good = Attachment("g", "g.gif", kind="image", loader=Loader(gif))
    wrong = Attachment("w", "w.gif", kind="image", loader=Loader("text"))
    broken = Attachment("b", "b.gif", kind="image", loader=Loader(b"text"))
    result = rendered(plain([Message("u", "user", "x", attachments=[good, wrong, broken])]), 1_000)
    assert result.messages is not None
    assert [type(part).__name__ for part in result.messages[0].parts] == ["TextPart", "Image", "TextPart"]
    assert texts(result)[0].count("can't be read") == 2


# ------------------------------------------------------------------------------------------ what is told


def test_events() -> None:
    told: list[Event] = []
    assembly = plain(CHAT, events=told.append)
    assert [(one.kind, one.state, one.subject) for one in told] == [
        ("pass", "loading", ""),
        *(
            ("pass", state, name)
            for name in (
                "drop_ineligible", "apply_compaction", "drop_errors", "limit_messages", "clean_tools",
                "repair_tool_pairs",
            )
            for state in ("loading", "done")
        ),
        ("pass", "done", ""),
    ]  # fmt: skip
    assert assembly.report.events == tuple(told)


def test_a_sink_that_raises() -> None:
    def broken(event: Event) -> None:
        raise LookupError("deaf")

    assembly = plain(with_files(), events=broken)
    assert assembly.report.notes == ("the event sink failed: LookupError: deaf",)
    assert attrs.evolve(assembly.report, notes=()) == plain(with_files()).report
    assert texts(rendered(assembly, 500)) == texts(rendered(plain(with_files()), 500))


@pytest.mark.anyio
async def test_async_is_the_same() -> None:
    told: list[Event] = []

    async def listen(event: Event) -> None:
        await asyncio.sleep(0)
        told.append(event)

    first = await aassemble(with_files(), window=10_000, tokenizer=WORDS, retriever=Docs(), events=listen)
    second = plain(with_files(), retriever=Docs())
    assert (first.messages, first.hits) == (second.messages, second.hits)
    assert texts(rendered(first, 500)) == texts(rendered(second, 500))
    assert [one.kind for one in told].count("retrieving") == 3


@pytest.mark.anyio
async def test_sinks_that_hang_or_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    from priompt_py.context import telling

    monkeypatch.setattr(telling.Teller.__init__, "__kwdefaults__", {"time_limit": 0.05})

    async def hangs(event: Event) -> None:
        await asyncio.sleep(60)

    release = threading.Event()

    def hangs_in_a_thread(event: Event) -> None:
        release.wait(60)

    async def cancelled(event: Event) -> None:
        raise asyncio.CancelledError

    expected = plain(with_files()).report.events
    try:
        for sink in (hangs, hangs_in_a_thread):
            began = time.monotonic()
            assembly = await aassemble(with_files(), window=10_000, tokenizer=WORDS, events=sink)
            assert time.monotonic() - began < 20
            assert assembly.report.events == expected
            assert len(assembly.report.notes) == 1
            assert "the event sink took longer than 0.05 s" in assembly.report.notes[0]
    finally:
        release.set()
    assembly = await aassemble(with_files(), window=10_000, tokenizer=WORDS, events=cancelled)
    assert assembly.report.events == expected
    assert assembly.report.notes == ("the event sink failed: CancelledError",)


@pytest.mark.anyio
async def test_cancelling_goes_up_and_is_told() -> None:
    told: list[Event] = []
    started = asyncio.Event()

    class Slow:
        async def read(self, attachment: Attachment) -> bytes:
            started.set()
            await asyncio.sleep(60)
            return b""

    messages = [Message("u", "user", "x", attachments=[Attachment("f", "f.txt", loader=Slow())])]
    task = asyncio.ensure_future(aassemble(messages, window=None, tokenizer=WORDS, events=told.append))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(one.kind, one.state, one.subject) for one in told][-2:] == [
        ("parsing", "loading", "f"),
        ("parsing", "canceled", "f"),
    ]


def test_what_is_async_needs_the_other_door() -> None:
    class Slow:
        async def read(self, attachment: Attachment) -> bytes:
            return b""

    file = Attachment("f", "f.txt", loader=Slow())
    with pytest.raises(
        TypeError, match=r"assemble\(\) is sync and the loader of f.txt is async; use aassemble\(\)"
    ):
        plain([Message("u", "user", "x", attachments=[file])])
    picture = Attachment("f", "f.png", kind="image", loader=Slow())
    with pytest.raises(
        TypeError, match=r"assemble\(\) is sync and the loader of f.png is async; use aassemble\(\)"
    ):
        plain([Message("u", "user", "x", attachments=[picture])])


def test_a_pass_that_fails_ends_its_events() -> None:
    told: list[Event] = []

    def broken(messages: Sequence[Message]) -> PassResult:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        plain(CHAT, passes=pipeline(broken), events=told.append)
    assert [(one.state, one.text) for one in told] == [
        ("loading", "5 messages"),
        ("error", "LookupError: mine"),
    ]


def test_a_message_that_a_pass_made_stands_where_the_one_before_does() -> None:
    def add(messages: Sequence[Message]) -> PassResult:
        made = [messages[0], Message("new", "assistant", "made up"), *messages[1:]]
        return PassResult(made, PassReport("add", len(made)))

    assembly = plain(CHAT[1:], passes=pipeline(add), first_index=7)
    nodes = conversation_nodes(assembly.messages, TreeOptions(index={one.id: 7 for one in assembly.messages}))
    assert len(nodes) == 5
    assert texts(rendered(assembly, 100))[1] == "made up"


def test_one_pass_alone() -> None:
    assembly = plain(CHAT, passes=prune(mode="demote", max_age=1))
    assert [one.name for one in assembly.report.passes] == ["prune"]
    assert list(assembly.report.priorities) == ["a1"]
    wrong: Any = list
    with pytest.raises(ArgumentTypeError) as caught:
        plain([], passes=wrong)
    assert str(caught.value) == (
        "assemble(): passes gave neither messages and a report nor a PassResult, but [] (list)"
    )


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"attachments": "all"}, ArgumentValueError, "assemble() needs attachments to be one of ladder, preprocess, envelope, got "),
        ({"window": 0}, ArgumentValueError, "assemble() needs window >= 1, got window=0"),
        ({"window": True}, ArgumentTypeError, "assemble() needs a whole number for window, got window=True (bool)"),
        ({"output_reserve": -1}, ArgumentValueError, "assemble() needs output_reserve >= 0, got output_reserve=-1"),
        ({"passes": 5}, ArgumentTypeError, "assemble() needs a pipeline for passes, got passes=5 (int)"),
        ({"tools": 1}, ArgumentTypeError, "assemble() needs True or False for tools, got tools=1 (int)"),
        ({"on_error": "skip"}, ArgumentValueError, "assemble() needs on_error to be one of report, raise, got "),
    ],
)  # fmt: skip
def test_bad_input(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        plain(CHAT, **options)
    assert str(caught.value).startswith(said)


def test_nothing_at_all() -> None:
    assert rendered(plain([]), 0).token_count == 0
