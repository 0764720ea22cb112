"""Pruning as a whole, and the default pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from priompt_py.context import (
    CompactionPoint,
    Message,
    PassResult,
    ToolCallPart,
    ToolResultPart,
    default_pipeline,
    drop_errors,
    limit_messages,
    pipeline,
    prune,
)
from priompt_py.model.elements import turn
from tests.context.cases import case, chat, ids


def words(text: str) -> int:
    return len(text.split())


# ------------------------------------------------------------------------------------------ reports


def test_report_of_a_restored_definition() -> None:
    report = prune(count=words)(chat(case("PR13")["in"])).report
    assert [(one.message_id, one.term, one.references) for one in report.restored] == [
        ("d", "оферт", ("f", "g"))
    ]
    assert [(one.message_id, one.stage, one.reason, one.detail) for one in report.dropped] == [
        ("e", "expire", "expired", "age 15, over 10")
    ]
    assert (report.name, report.kept) == ("prune", 4)
    assert (report.tokens_before, report.tokens_after) == (39, 34)


def test_report_of_merged_neighbours() -> None:
    result = prune()(chat(case("PR18")["in"]))
    assert result.report.merged == (("q", "p"),)
    assert [(one.message_id, one.stage, one.reason, one.detail) for one in result.report.dropped] == [
        ("x", "dedupe", "duplicate", "in y"),
        ("q", "merge", "merged", "into p"),
    ]
    assert [(one.id, one.step) for one in result.messages] == [("y", 1), ("p", 4), ("z", 5)]


def test_a_protected_neighbour_stays() -> None:
    rows = [
        Message("p", "user", "So fine", step=1),
        Message("q", "user", "so fine!", step=2, pinned=True),
        Message("z", "assistant", "bye", step=3),
    ]
    assert ids(prune()([*rows, Message("u", "user", "go", step=4)]).messages) == ["q", "z", "u"]
    both = [
        rows[0],
        rows[1],
        Message("r", "user", "SO FINE", step=2, pinned=True),
        Message("u", "user", "go", step=4),
    ]
    assert ids(prune()(both).messages) == ["q", "r", "u"]


def test_who_is_not_merged() -> None:
    pairs = [
        (Message("p", "user", "so fine"), Message("q", "assistant", "So fine")),
        (Message("p", "user", "so fine", name="Ann"), Message("q", "user", "So fine", name="Bob")),
        (Message("p", "user", "yes"), Message("q", "user", "Yes")),
        (Message("p", "user", "use C++"), Message("q", "user", "use C#")),
        (Message("p", "assistant", [ToolCallPart("c", "f"), ToolResultPart("c", "x")]),
         Message("q", "assistant", [ToolCallPart("c", "f"), ToolResultPart("c", "x")])),
    ]  # fmt: skip
    for pair in pairs:
        assert ids(prune()([*pair, Message("z", "user", "go")]).messages) == ["p", "q", "z"]


# ------------------------------------------------------------------------------------------ other languages


def test_chinese() -> None:
    rows = [
        "d|user|0|“违约金”是指一方违约时支付的款项",
        "e|assistant|1|好的",
        "f|user|14|违约金怎么计算",
        "g|assistant|15|违约金按合同计算",
        "z|user|16|那么何时支付？",
    ]
    shared = prune()(chat(rows))
    assert ids(shared.messages) == ["d", "f", "g", "z"]
    assert shared.report.restored == ()  # two bigrams of the question, 时支 and 支付, stand in d
    restored = prune(query="何时?")(chat(rows))
    assert ids(restored.messages) == ["d", "f", "g", "z"]
    assert [(one.message_id, one.term, one.references) for one in restored.report.restored] == [
        ("d", "违约金", ("f", "g"))
    ]


def test_english() -> None:
    rows = [
        'd|user|0|"Fee" means the price of the service',
        "e|assistant|1|Noted",
        "f|user|14|When are fees due",
        "g|assistant|15|The fee is due today",
        "z|user|16|Who pays?",
    ]
    result = prune()(chat(rows))
    assert ids(result.messages) == ["d", "f", "g", "z"]
    assert [(one.message_id, one.references) for one in result.report.restored] == [("d", ("f", "g"))]


# ------------------------------------------------------------------------------------------ demoting


def test_priorities() -> None:
    result = prune(mode="demote")(chat(case("PR13")["in"]))
    assert ids(result.messages) == ["d", "e", "f", "g", "z"]
    assert result.priorities == {"d": turn(3) + 0.5, "e": turn(1) - 3_000_000}
    assert [one.message_id for one in result.report.demoted] == ["e"]
    copies = prune(mode="demote")(chat(case("PR18")["in"]))
    assert copies.priorities == {"x": turn(2) - 4_000_000, "q": turn(3) - 4_000_000}


def test_a_definition_that_the_question_speaks_of_stands_above_all_history() -> None:
    rows = [
        "d|user|0|Fee: ten euro per month",
        "f|user|14|fees",
        "y|user|15|hello there",
        "z|user|16|hm",
        "a|assistant|16|The fee is due",
    ]
    assert prune(mode="demote")(chat(rows)).priorities["d"] == -0.5


# ------------------------------------------------------------------------------------------ pipelines


def test_a_pipeline_is_its_passes() -> None:
    messages = [
        Message("a", "user", "x", error="failed"),
        *(Message(f"u{i}", "user", f"{i}") for i in range(3)),
    ]
    after, report = pipeline(drop_errors(), limit_messages(n=1))(messages)
    assert ids(after) == ["u1", "u2"]
    assert [(one.name, one.kept) for one in report.passes] == [("drop_errors", 3), ("limit_messages", 2)]
    assert pipeline()(messages)[0] == messages


def test_the_default_order() -> None:
    messages = [
        Message("s", "system", "be brief"),
        Message("u0", "user", "old", step=0),
        Message("sum", "assistant", "short", step=0, is_summary=True),
        Message("bad", "assistant", "oops", step=1, error="failed"),
        Message("gen", "assistant", "…", step=1, generating=True),
        *(Message(f"u{i}", "user", f"text {i}", step=i) for i in range(1, 5)),
    ]
    run = default_pipeline([CompactionPoint("sum", "u0", 1)], prune(), 2, 1, count=words)
    after, report = run(messages)
    assert ids(after) == ["s", "sum", "u2", "u3", "u4"]
    assert [one.name for one in report.passes] == [
        "drop_ineligible", "apply_compaction", "drop_errors", "prune", "limit_messages", "clean_tools",
        "repair_tool_pairs",
    ]  # fmt: skip
    assert [one.tokens_after for one in report.passes] == [45, 40, 35, None, 29, 29, 29]
    assert [one.name for one in default_pipeline()(messages)[1].passes][3] == "limit_messages"


def test_the_boundary_may_be_a_failed_message() -> None:
    messages = [
        Message("u1", "user", "x"),
        Message("a1", "assistant", "oops", error="failed"),
        Message("sum", "assistant", "short", is_summary=True),
        Message("u2", "user", "y"),
    ]
    after, _ = default_pipeline([CompactionPoint("sum", "a1", 1)])(messages)
    assert ids(after) == ["sum", "u2"]


def test_priorities_of_a_pipeline() -> None:
    messages = chat(case("PR13")["in"])
    _, report = default_pipeline((), prune(mode="demote"))(messages)
    assert report.priorities == prune(mode="demote")(messages).priorities


def test_what_is_no_pass() -> None:
    with pytest.raises(TypeError, match=r"pipeline\(\): passes\[1\] is no pass, got 5 \(int\)"):
        pipeline(drop_errors(), 5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # the test

    with pytest.raises(
        TypeError, match=r"pipeline\(\): passes\[0\] is prune itself; call it: prune\(\.\.\.\)"
    ):
        pipeline(prune)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # the test

    def wrong(messages: Sequence[Message]) -> Any:
        return list(messages)

    with pytest.raises(TypeError, match=r"pipeline\(\): passes\[0\] gave no PassResult, but \[\] \(list\)"):
        pipeline(wrong)([])


def test_what_a_pass_raises_goes_up() -> None:
    def broken(messages: Sequence[Message]) -> PassResult:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        pipeline(broken)([])
