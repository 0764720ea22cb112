"""Each pass by itself, in small exact numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from priompt_py.context import (
    Attachment,
    CompactionPoint,
    Drop,
    ImagePart,
    InfoPart,
    Message,
    Part,
    PassResult,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    apply_compaction,
    clean_tools,
    dedupe,
    drop_errors,
    drop_ineligible,
    expire,
    flatten_tools,
    limit_messages,
    repair_tool_pairs,
    restore,
)
from priompt_py.context.passes.limit import first_kept
from priompt_py.context.passes.tools import rounds_boundary
from tests.context.cases import chat, ids, short


def constantly(value: Any) -> Callable[[Message], Any]:
    return lambda message: value


def call(function: Any, /, *arguments: Any, **options: Any) -> Any:
    """A call that the type checkers would refuse."""
    return function(*arguments, **options)


def user(id_: str, text: Any = "x", **more: Any) -> Message:
    return Message(id_, "user", text, **more)


def said(id_: str, text: str = "y", **more: Any) -> Message:
    return Message(id_, "assistant", text, **more)


def asks(id_: str, *calls: str, text: str = "", **more: Any) -> Message:
    parts: list[Part] = [*([TextPart(text)] if text else []), *(ToolCallPart(call, "look") for call in calls)]
    return Message(id_, "assistant", parts, **more)


def gives(id_: str, call: str, text: str = "found", **more: Any) -> Message:
    return Message(id_, "tool", ToolResultPart(call, text), **more)


def drops(result: PassResult) -> list[tuple[str, int | None, str, str]]:
    return [(drop.message_id, drop.part, drop.reason, drop.detail) for drop in result.report.dropped]


# ------------------------------------------------------------------------------------------ what models don't see


def test_ineligible() -> None:
    messages = [
        user("a"),
        asks("b", "c1", generating=True),
        gives("t", "c1"),
        user("c", hidden=True),
        user("d"),
    ]
    result = drop_ineligible()(messages)
    assert ids(result.messages) == ["a", "d"]
    assert drops(result) == [
        ("b", None, "ineligible", "still being generated"),
        ("t", None, "ineligible", "with b"),
        ("c", None, "ineligible", "hidden"),
    ]
    assert result.report.dropped[0] == Drop(
        "b", None, "drop_ineligible", "ineligible", "still being generated"
    )


def test_errors() -> None:
    messages = [user("a"), asks("b", "c1"), gives("t", "c1", error="timeout"), said("c", error=""), user("d")]
    result = drop_errors()(messages)
    assert ids(result.messages) == ["a", "c", "d"]
    assert drops(result) == [("b", None, "error", "with t"), ("t", None, "error", "timeout")]


def test_nothing_in_nothing_out() -> None:
    passes = [
        drop_ineligible(), drop_errors(), apply_compaction(), limit_messages(n=0), clean_tools(), flatten_tools(),
        repair_tool_pairs(), expire(), dedupe(), restore(original=[]),
    ]  # fmt: skip
    for one in passes:
        assert one([]).messages == []
        assert one([]).report.kept == 0


# ------------------------------------------------------------------------------------------ compaction


def test_the_newest_point_counts_and_among_equals_the_first() -> None:
    messages = [short(name) for name in ("u1", "a1", "s1*", "u2", "a2", "s2*", "u3")]
    points = [CompactionPoint("s1", "a1", 5), CompactionPoint("s2", "a2", 5.0)]
    assert ids(apply_compaction(points=points)(messages).messages) == ["s1", "u2", "a2", "u3"]
    newer = [*points, CompactionPoint("s2", "a2", 6)]
    result = apply_compaction(points=newer)(messages)
    assert ids(result.messages) == ["s2", "u3"]
    assert drops(result)[-2:] == [("u2", None, "compacted", "in s2"), ("a2", None, "compacted", "in s2")]


def test_what_stays_before_the_boundary() -> None:
    messages = [
        Message("s", "system", "be brief"),
        user("u1", pinned=True),
        Message("d", "developer", "mind the gap"),
        said("a1"),
        said("sum", is_summary=True),
        Message("s2", "system", "late"),
        user("u2"),
    ]
    result = apply_compaction(points=[CompactionPoint("sum", "a1", 1)])(messages)
    assert ids(result.messages) == ["s", "u1", "d", "sum", "s2", "u2"]


def test_a_summary_without_its_flag_gets_it() -> None:
    result = apply_compaction(points=[CompactionPoint("a1", "u1", 1)])([user("u1"), said("a1"), user("u2")])
    assert [(one.id, one.is_summary) for one in result.messages] == [("a1", True), ("u2", False)]


def test_a_round_that_the_boundary_parts_stays_whole() -> None:
    messages = [user("u1"), asks("a1", "c1"), gives("t1", "c1"), said("sum", is_summary=True), user("u2")]
    for boundary in ("a1", "t1"):
        kept = ids(apply_compaction(points=[CompactionPoint("sum", boundary, 1)])(messages).messages)
        assert kept == (["sum", "a1", "t1", "u2"] if boundary == "a1" else ["sum", "u2"])


def test_orphan_summaries_go_unless_pinned() -> None:
    messages = [said("s1", is_summary=True), user("u1"), said("s2", is_summary=True, pinned=True)]
    result = apply_compaction(points=[CompactionPoint("s1", "gone", 1)])(messages)
    assert ids(result.messages) == ["u1", "s2"]
    assert drops(result) == [("s1", None, "compacted", "a summary without a point that applies")]


# ------------------------------------------------------------------------------------------ the limit


def test_head_is_not_counted_wherever_it_stands() -> None:
    messages = [
        Message("s", "system", "x"), user("u1"), said("sum", is_summary=True), said("a1", pinned=True), user("u2"),
        Message("d", "developer", "x"), said("a2"), user("u3"),
    ]  # fmt: skip
    assert ids(limit_messages(n=1)(messages).messages) == ["s", "sum", "a1", "d", "a2", "u3"]
    assert ids(limit_messages()(messages).messages) == ids(messages)
    assert ids(limit_messages(n=10**9)(messages).messages) == ids(messages)


@pytest.mark.parametrize(
    ("n", "kept"),
    [
        (0, ["u3"]),
        (1, ["a2", "u3"]),
        (2, ["a2", "u3"]),  # the cut parts the round
        (3, ["a2", "u3"]),
        (4, ["a1", "t1", "t2", "a2", "u3"]),
    ],
)
def test_rounds_go_whole(n: int, kept: list[str]) -> None:
    messages = [
        user("u1"),
        asks("a1", "c1", "c2"),
        gives("t1", "c1"),
        gives("t2", "c2"),
        said("a2"),
        user("u3"),
    ]
    result = limit_messages(n=n)(messages)
    assert ids(result.messages) == kept
    assert {drop.reason for drop in result.report.dropped} == {"over-limit"}


def test_the_round_that_is_last_stays_whole() -> None:
    messages = [user("u1"), asks("a1", "c1", "c2"), gives("t1", "c1"), gives("t2", "c2")]
    assert ids(limit_messages(n=0)(messages).messages) == ["a1", "t1", "t2"]


@pytest.mark.parametrize(
    ("messages", "limit", "sticky", "dropped"),
    [
        (10, 20, False, 0), (10, 9, False, 0), (10, 8, False, 1), (10, 0, False, 9), (0, 0, False, 0),
        (10, 9, True, 0), (11, 9, True, 3), (13, 9, True, 3), (14, 9, True, 6), (4, 0, True, 3), (5, 3, True, 1),
        (6, 4, True, 2),
    ],
)  # fmt: skip
def test_how_many_go(messages: int, limit: int, dropped: int, *, sticky: bool) -> None:
    assert first_kept(messages, limit, sticky=sticky) == dropped


def test_sticky_keeps_the_beginning() -> None:
    history = [user(f"u{i}") for i in range(40)]
    starts = [limit_messages(n=7, sticky=True)(history[:size]).messages[0].id for size in range(10, 40)]
    moves = sum(left != right for left, right in pairwise(starts))
    assert moves == 15
    assert len({limit_messages(n=7)(history[:size]).messages[0].id for size in range(10, 40)}) == 30


# ------------------------------------------------------------------------------------------ old tool calls


@pytest.mark.parametrize(
    ("names", "keep", "boundary"),
    [
        ("u a u a u", 0, 5),
        ("u a u a u", 1, 2),
        ("u a u a u", 2, 0),
        ("u a u a u", -1, 0),
        ("u a a u u a", 1, 4),
        ("u u a", 1, 1),
        ("a u a", 1, 1),
        ("a u a", 2, 0),
        ("u s t a", 1, 0),
        ("", 1, 0),
    ],
)
def test_rounds(names: str, keep: int, boundary: int) -> None:
    made: dict[str, Callable[[int], Message]] = {
        "u": lambda i: user(f"m{i}"),
        "a": lambda i: said(f"m{i}"),
        "s": lambda i: Message(f"m{i}", "system", "x"),
        "t": lambda i: gives(f"m{i}", "c"),
    }
    messages = [made[name](i) for i, name in enumerate(names.split())]
    assert rounds_boundary(messages, keep) == boundary


OLD = [
    user("u1"),
    Message(
        "a1",
        "assistant",
        [
            ReasoningPart("hm"),
            TextPart("look"),
            ToolCallPart("c1", "look", "x" * 2_001),
            ToolCallPart("c2", "look"),
        ],
    ),
    gives("t1", "c1", "long result"),
    Message("t2", "tool", ToolResultPart("c2", "no such file", is_error=True)),
    said("a1b", "done"),
    user("u2"),
]


def test_what_goes_with_old_calls() -> None:
    result = clean_tools(keep_rounds=0)(OLD)
    assert [(one.id, one.parts) for one in result.messages if one.role == "assistant"] == [
        ("a1", (TextPart("look"),)),
        ("a1b", (TextPart("done"),)),
    ]
    assert drops(result) == [
        ("a1", 0, "tool-cleanup", "reasoning"),
        ("a1", 2, "tool-cleanup", "call c1 of look"),
        ("a1", 3, "tool-cleanup", "call c2 of look"),
        ("t1", None, "tool-cleanup", "with its call"),
        ("t2", None, "tool-cleanup", "with its call"),
    ]


def test_stubs() -> None:
    result = clean_tools(keep_rounds=0, mode="stub", note="({id} is gone)")(OLD)
    call, other = result.messages[1].calls
    assert call.args == '{"preview": "' + "x" * 500 + '", "characters": 2001}'
    assert other == ToolCallPart("c2", "look")
    assert [one.results[0].content for one in result.messages[2:4]] == ["(c1 is gone)", "no such file"]
    assert drops(result) == [
        ("a1", 2, "tool-cleanup", "arguments of c1 cut from 2001 characters"),
        ("t1", 0, "tool-cleanup", "result of c1, 11 characters, put by a note"),
    ]


@pytest.mark.parametrize("kept", ["a1", "t1"])
def test_preserved_and_pinned_rounds_stay_whole(kept: str) -> None:
    assert clean_tools(keep_rounds=0, preserve_ids=[kept])(OLD).messages == OLD


def test_a_turn_that_only_called_says_so_once() -> None:
    messages = [
        user("u1"),
        asks("a1", "c1"),
        gives("t1", "c1"),
        asks("a2", "c2"),
        gives("t2", "c2"),
        user("u2"),
    ]
    result = clean_tools(keep_rounds=0, placeholder="(looked)")(messages)
    assert [(one.id, one.text) for one in result.messages] == [("u1", "x"), ("a1", "(looked)"), ("u2", "x")]
    assert drops(result)[-2:] == [
        ("a2", None, "emptied", "its turn says more"),
        ("t2", None, "tool-cleanup", "with its call"),
    ]


def test_attachments_and_notes_of_emptied_messages() -> None:
    file = Attachment("f", "a.txt", text="x")
    messages = [
        user("u1"),
        Message("a1", "assistant", [ToolCallPart("c1", "look"), InfoPart("note")]),
        gives("t1", "c1"),
        user("u2"),
        asks("a2", "c2", attachments=[file]),
        gives("t2", "c2"),
        user("u3"),
    ]
    result = clean_tools(keep_rounds=0)(messages)
    assert [one.parts for one in result.messages if one.role == "assistant"] == [
        (InfoPart("note"), TextPart("[tool calls left out]")),
        (),
    ]


def test_flattened_tools() -> None:
    result = flatten_tools()([*OLD, gives("t9", "stray", "{args}")])
    assert [one.role for one in result.messages] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
        "user",
        "user",
    ]
    assert result.messages[2].text == "[look gave: long result]"
    assert result.messages[1].text.startswith("look\n[called look with xxx")
    assert result.messages[6].text == "[stray gave: {args}]"
    assert drops(result) == [("a1", 0, "tool-cleanup", "reasoning")]
    mine = flatten_tools(call="{name}({args}) {unknown}", result="{id}: {content}")(
        [asks("a", "c"), gives("t", "c")]
    )
    assert [one.text for one in mine.messages] == ["look({}) {unknown}", "c: found"]


# ------------------------------------------------------------------------------------------ pairs


def test_a_chat_that_is_right_stays_as_it_is() -> None:
    # A message with calls alone is not empty, and neither is a result without text.
    messages = [user("u1", "hi"), asks("a1", "c1"), gives("t1", "c1", ""), user("u2", "and?")]
    result = repair_tool_pairs()(messages)
    assert result.messages == messages
    assert result.report.dropped == ()


def test_a_call_whose_result_is_gone() -> None:
    messages = [user("u1"), asks("a1", "c1", text="let me look"), user("u2"), said("a2"), user("u3")]
    result = repair_tool_pairs()(messages)
    assert ids(result.messages) == ["u1", "a1", "u2", "a2", "u3"]
    assert result.messages[1].parts == (TextPart("let me look"),)
    assert drops(result) == [("a1", 1, "unanswered-call", "look (c1), without a result")]


def test_a_call_that_is_pending_at_the_end() -> None:
    result = repair_tool_pairs()(
        [user("u1"), Message("a1", "assistant", [ReasoningPart("hm"), ToolCallPart("c1", "look")])]
    )
    assert [one.text for one in result.messages] == ["x", "[tool calls left out]"]
    assert drops(result) == [
        ("a1", 0, "unanswered-call", "reasoning of calls without results"),
        ("a1", 1, "unanswered-call", "look (c1), pending at the end"),
    ]


def test_reasoning_stays_while_a_call_does() -> None:
    head = Message(
        "a1", "assistant", [ReasoningPart("hm"), ToolCallPart("c1", "look"), ToolCallPart("c2", "look")]
    )
    result = repair_tool_pairs()([head, gives("t1", "c2")])
    assert result.messages[0].parts == (ReasoningPart("hm"), ToolCallPart("c2", "look"))


@pytest.mark.parametrize(
    ("messages", "kept", "dropped"),
    [
        ([gives("t", "c1"), user("u")], ["u"], [("t", None, "orphan-result", "of call c1")]),
        ([asks("a", "c1"), user("u"), gives("t", "c1")], ["a", "u"],
         [("a", 0, "unanswered-call", "look (c1), without a result"), ("t", None, "orphan-result", "of call c1")]),
        ([asks("a", "c1"), gives("t", "c1"), gives("t2", "c1"), user("u")], ["a", "t", "u"],
         [("t2", None, "duplicate-result", "of call c1")]),
        ([asks("a", "c1"), gives("x", "c9"), gives("t", "c1")], ["a", "t"], [("x", None, "orphan-result", "of call c9")]),
        ([asks("a", "c1"), gives("t", "c1"), asks("b", "c1"), gives("t2", "c1")], ["a", "t", "b", "t2"], []),
        ([asks("a", "c1"), said("b"), gives("t", "c1")], ["b"],
         [("a", 0, "unanswered-call", "look (c1), without a result"), ("a", None, "emptied", "its turn says more"),
          ("t", None, "orphan-result", "of call c1")]),
        ([asks("a", "c1"), Message("t", "tool", [ToolResultPart("c1", "x"), ToolResultPart("c9", "y")])], ["a", "t"],
         [("t", 1, "orphan-result", "of call c9")]),
        ([Message("t", "tool", [ToolResultPart("c1", "x"), ToolResultPart("c9", "y")])], [],
         [("t", None, "orphan-result", "of call c1, c9")]),
        ([Message("a", "assistant", [ToolCallPart("c1", "f"), ToolResultPart("c1", "x")])], ["a"], []),
        ([Message("a", "assistant", [ToolResultPart("c1", "x"), ToolCallPart("c1", "f")])], ["a"],
         [("a", 0, "orphan-result", "of call c1"), ("a", 1, "unanswered-call", "f (c1), pending at the end")]),
        ([Message("a", "assistant", [ToolCallPart("c1", "f"), ToolResultPart("c1", "x")]), gives("t", "c1")], ["a"],
         [("t", None, "duplicate-result", "of call c1")]),
    ],
)  # fmt: skip
def test_pairs(
    messages: list[Message], kept: list[str], dropped: list[tuple[str, int | None, str, str]]
) -> None:
    result = repair_tool_pairs()(messages)
    assert ids(result.messages) == kept
    assert drops(result) == dropped


# ------------------------------------------------------------------------------------------ the stages of pruning


def test_ages_by_another_measure() -> None:
    messages = [user("a", "alpha"), user("b", "beta"), user("z", "gamma")]
    hours = {"a": 30.5, "b": 2.0, "z": 0}
    result = expire(max_age=24, age=lambda message: hours[message.id])(messages)
    assert ids(result.messages) == ["b", "z"]
    assert drops(result) == [("a", None, "expired", "age 30.5, over 24")]


def test_positions_stand_in_for_steps() -> None:
    messages = [user("a", "alpha", step=900), user("b", "beta"), user("z", "gamma")]
    result = expire(max_age=1)(messages)
    assert ids(result.messages) == ["b", "z"]
    assert result.report.notes == ("positions stand in for steps, since not every message has one",)
    assert expire(max_age=1)([user("a"), user("z")]).report.notes == ()


def test_another_question_than_the_last() -> None:
    rows = ["a|user|0|Delivery terms", "b|user|0|Payment terms", "z|user|20|Hello"]
    assert ids(expire(query="delivery?")(chat(rows)).messages) == ["a", "z"]
    assert ids(expire(query="")(chat(rows)).messages) == ["z"]
    assert ids(expire()([said("a", step=0), said("b", step=20)]).messages) == ["b"]


def test_what_a_call_asks_for_counts() -> None:
    call = Message("a", "assistant", [ToolCallPart("c1", "look", '{"city": "Berlin"}')], step=0)
    file = user("f", "see", step=0, attachments=[Attachment("f", "berlin.pdf", text="x")])
    last = user("z", "Weather in Berlin?", step=20)
    assert ids(expire()([call, gives("t", "c1", "10 degrees", step=1), file, last]).messages) == [
        "a",
        "t",
        "f",
        "z",
    ]


def test_duplicates_name_where_it_stands() -> None:
    rows = [
        "a|user|1|one two three four five", "b|user|2|five six seven eight nine ten",
        "c|user|3|one two three four five", "z|user|4|go",
    ]  # fmt: skip
    assert drops(dedupe()(chat(rows))) == [("c", None, "duplicate", "in a")]
    mosaic = "one two three four five six"
    joined = dedupe(ngram=2)(chat([*rows[:2], f"c|user|3|{mosaic}", rows[3]]))
    assert drops(joined) == [("c", None, "duplicate", "in a, b")]
    assert joined.report.notes == (
        "ngram=2: so short n-grams are alike in different sentences too; 5 to 7 is usual",
    )
    many = [f"m{i}|user|1|w{i} w{i + 1}" for i in range(6)]
    row = "x|user|1|w0 w1 w2 w3 w4 w5"
    assert drops(dedupe(ngram=2)(chat([*many, row, "z|user|2|go"])))[0][3] == "in m0, m1, m2 and 2 more"


@pytest.mark.parametrize(
    ("first", "second", "dropped"),
    [
        (user("a", "Отвечай кратко"), user("b", "Отвечай кратко"), True),
        (user("a", "Отвечай кратко"), said("b", "Отвечай кратко"), True),
        (user("a", "Отвечай кратко"), user("b", "отвечай кратко"), False),
        (user("a", "да"), user("b", "да"), False),
        (user("a", "Ok, 5"), user("b", "Ok, 5"), False),
        (user("a", "👍"), user("b", "👍"), False),
        (user("a", "好的"), user("b", "好的"), False),
        (user("a", "  "), user("b", "  "), False),
        (user("a", "合同的期限是多久"), user("b", "合同的期限是多久"), True),
        (user("a", "合同的期限是多久呢"), user("b", "合同的期限是多久"), True),
        (user("a", "see this"), user("b", [TextPart("see this"), ImagePart(url="u")]), False),
        (user("a", "see this"), user("b", "see this", attachments=[Attachment("f", "a")]), False),
        (user("a", "see this"), user("b", "see this", pinned=True), False),
        (user("a", "see this", pinned=True), user("b", "see this"), True),
        (user("a", "see  this\nnow"), user("b", "see this now"), True),
    ],
)  # fmt: skip
def test_what_is_a_copy(first: Message, second: Message, *, dropped: bool) -> None:
    result = dedupe()([first, second, user("z", "go on")])
    assert ids(result.messages) == (["a", "z"] if dropped else ["a", "b", "z"])


def test_restore_by_itself() -> None:
    d = said("d", "Fee: ten euro per month")
    rest = [user("u1", "what fee"), said("a1", "the fee is due"), user("u2", "ok")]
    result = restore(original=[d, *rest])(rest)
    assert ids(result.messages) == ["d", "u1", "a1", "u2"]
    assert [(one.message_id, one.term, one.references) for one in result.report.restored] == [
        ("d", "fee", ("u1", "a1"))
    ]
    assert restore(original=[d, *rest], min_refs=3)(rest).messages == rest
    assert restore(original=[d, *rest], expired=[])(rest).messages == rest
    assert restore(original=[d, *rest], expired=["d"])(rest).messages == result.messages


def test_the_latest_definition_counts() -> None:
    old, new = said("d1", "Fee: ten euro per month"), said("d2", "Fee: five euro per month")
    rest = [user("u1", "what fee"), said("a1", "the fee is due"), user("u2", "ok")]
    assert ids(restore(original=[old, new, *rest])(rest).messages) == ["d2", "u1", "a1", "u2"]
    assert ids(restore(original=[old, new, *rest])([new, *rest]).messages) == ["d2", "u1", "a1", "u2"]


def test_what_comes_back_speaks_too() -> None:
    messages = [
        said("d0", "Rate: a share of churn"),
        said("d1", "Fee: the rate of money"),
        said("d2", "Churn: some people that leave"),
        user("u1", "what fee and rate"),
        said("a1", "the fee is due"),
        user("u2", "ok"),
    ]
    result = restore(original=messages)(messages[3:])
    assert [(one.message_id, one.references) for one in result.report.restored] == [
        ("d0", ("d1", "u1")),
        ("d1", ("u1", "a1")),
    ]


def test_speakers_are_no_terms() -> None:
    lines = [said(f"m{i}", "Ann: some words of mine") for i in range(3)]
    rest = [user("u1", "ask Ann"), said("a1", "Ann says so"), user("u2", "ok")]
    assert ids(restore(original=[*lines[:2], *rest])(rest).messages) == ["m1", "u1", "a1", "u2"]
    assert ids(restore(original=[*lines, *rest])(rest).messages) == ["u1", "a1", "u2"]


def test_a_round_comes_back_whole() -> None:
    messages = [
        asks("a0", "c1"),
        gives("t0", "c1", '"Licence" means the terms'),
        user("u1", "which licence"),
        said("a1", "this licence"),
        user("u2", "ok"),
    ]
    result = restore(original=messages)(messages[2:])
    assert ids(result.messages) == ["a0", "t0", "u1", "a1", "u2"]
    assert [one.message_id for one in result.report.restored] == ["a0", "t0"]


# ------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("build", "error", "said"),
    [
        (lambda: call(limit_messages, n=True), TypeError, "limit_messages() needs a whole number for n, got n=True (bool)"),
        (lambda: call(limit_messages, n=2.0), TypeError, "limit_messages() needs a whole number for n, got n=2.0 (float)"),
        (lambda: call(limit_messages, n=1, sticky=1), TypeError, "limit_messages() needs True or False for sticky, got sticky=1 (int)"),
        (lambda: call(clean_tools, keep_rounds=True), TypeError, "clean_tools() needs a whole number for keep_rounds, got keep_rounds=True (bool)"),
        (lambda: call(clean_tools, mode="drop"), ValueError, "clean_tools() needs mode to be one of remove, stub, got mode='drop' (str)"),
        (lambda: call(clean_tools, preserve_ids="a1"), TypeError, "clean_tools() needs a list of texts for preserve_ids, got preserve_ids='a1' (str)"),
        (lambda: call(expire, whitelist="акт"), TypeError, "expire() needs a list of texts for whitelist, got whitelist='акт' (str)"),
        (lambda: call(expire, whitelist=[5]), TypeError, "expire() needs a list of texts for whitelist, got whitelist[0]=5 (int)"),
        (lambda: call(expire, query=5), TypeError, "expire() needs text for query, got query=5 (int)"),
        (lambda: call(expire, age=5), TypeError, "expire() needs a function of a message for age, got age=5 (int)"),
        (lambda: call(expire, age=constantly("1"))([user("a")]), TypeError, "expire(): age() has to give a number, it gave '1' (str) for 'a'"),
        (lambda: call(expire, age=constantly(float("nan")))([user("a")]), ValueError, "expire(): age() gave NaN for 'a'"),
        (lambda: call(dedupe, ngram=0), ValueError, "dedupe() needs ngram >= 1, got ngram=0"),
        (lambda: call(restore, original=[], min_refs=0), ValueError, "restore() needs min_refs >= 1, got min_refs=0"),
        (lambda: call(restore, original=[])([user("a")]), ValueError, "restore(): 'a' is no message of original"),
        (lambda: call(apply_compaction, points=5), TypeError, "apply_compaction() needs a list of points, got 5 (int)"),
        (lambda: call(apply_compaction, points=["x"]), TypeError, "apply_compaction(): points[0] is no CompactionPoint, got 'x' (str)"),
        (lambda: call(apply_compaction, points=CompactionPoint("s", "b", 1)), TypeError, "apply_compaction() needs a list of points, got "),
        (lambda: call(dedupe, count=5)([]), TypeError, "a pass needs a function of a text for count, got count=5 (int)"),
        (lambda: call(dedupe(), "x"), TypeError, "dedupe() needs a list of messages, got 'x' (str)"),
        (lambda: call(dedupe(), [{"role": "user"}]), TypeError, "dedupe(): messages[0] is no Message, got {'role': 'user'} (dict)"),
        (lambda: call(dedupe(), None), TypeError, "dedupe() needs a list of messages, got None (NoneType)"),
    ],
)  # fmt: skip
def test_bad_input(build: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        build()
    assert str(caught.value).startswith(said)
