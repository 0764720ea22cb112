"""The acceptance cases of the passes and of pruning, with the values that context.yaml gives."""

from __future__ import annotations

from typing import Any

import pytest

from priompt_py.context import (
    CompactionPoint,
    Message,
    ToolCallPart,
    ToolResultPart,
    apply_compaction,
    clean_tools,
    definitions,
    limit_messages,
    prune,
    repair_tool_pairs,
)
from tests.context.cases import case, chat, described, groups, ids, short

# ------------------------------------------------------------------------------------------ compaction, limit


@pytest.mark.parametrize("name", ["CB06", "CB08", "CB09"])
def test_compaction(name: str) -> None:
    given = case(name)
    points = [
        CompactionPoint(summary_id=summary, boundary_id=boundary, created_at=when)
        for summary, boundary, when in given["points"]
    ]
    result = apply_compaction(points=points)([short(one) for one in given["in"]])
    assert ids(result.messages) == given["out"]


def test_limit() -> None:
    given = case("CB14")
    messages = [short(one) for one in given["in"]]
    assert [ids(limit_messages(n=n)(messages).messages) for n in given["n"]] == given["out"]


def test_limit_below_zero() -> None:
    given = case("CB16")
    assert (given["n"], given["out"]) == ([-1], "ValueError")
    with pytest.raises(ValueError, match="needs n >= 0, got n=-1"):
        limit_messages(n=-1)


# ------------------------------------------------------------------------------------------ tools, pairs


def has_tools(message: Message) -> bool:
    return any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts)


def test_rounds_that_stay_whole() -> None:
    given = case("CB17")
    messages = described(given["in"])
    result = clean_tools(keep_rounds=given["keep"])(messages)
    assert given["out"] == "a1 cleaned; a2, a3 whole"
    assert ids(result.messages) == ids(messages)
    assert [one.id for one in result.messages if has_tools(one)] == ["a2", "a3"]
    assert result.messages[1].text == "a text"


def test_how_many_rounds() -> None:
    given = case("CB18")
    messages = described(given["in"])
    assert given["out"] == "both cleaned; none; none"
    left = [
        [one.id for one in clean_tools(keep_rounds=keep)(messages).messages if has_tools(one)]
        for keep in given["keep"]
    ]
    assert left == [[], ["a1", "a2"], ["a1", "a2"]]


def test_call_alone_goes_with_its_result() -> None:
    given = case("CB20")
    result = clean_tools(keep_rounds=given["keep"])(described(given["in"]))
    assert ids(result.messages) == given["out"]


def test_turn_that_would_be_empty() -> None:
    given = case("CB21")
    result = clean_tools(keep_rounds=given["keep"])(described(given["in"]))
    assert given["out"] == "a1 stays with one placeholder text part"
    assert ids(result.messages) == ["u1", "a1", "u2", "a2", "u3", "a3"]
    assert [type(part).__name__ for part in result.messages[1].parts] == ["TextPart"]
    assert result.messages[1].text == "[tool calls left out]"


def test_orphan() -> None:
    given = case("CB22")
    result = repair_tool_pairs()(described(given["in"]))
    assert ids(result.messages) == given["out"]
    assert [drop.reason for drop in result.report.dropped] == [given["reason"]]


# ------------------------------------------------------------------------------------------ pruning

OPTIONS = ("whitelist", "ngram", "max_age")
PRUNE = [one["id"] for one in groups()["prune"] if isinstance(one["in"], list)]


@pytest.mark.parametrize("name", PRUNE)
def test_prune(name: str) -> None:
    given = case(name)
    options: dict[str, Any] = {key: given[key] for key in OPTIONS if key in given}
    result = prune(**options)(chat(given["in"]))
    assert ids(result.messages) == given["out"]
    if "restored" in given:
        assert [one.message_id for one in result.report.restored] == given["restored"]
    if "passes_1" in given:
        assert ids(prune(passes=1)(chat(given["in"])).messages) == given["passes_1"]


def test_one_reference_is_too_few() -> None:
    given = case("PR14")
    assert given["in"] == "PR13 with g = Ответ пришёл вчера (one reference)"
    rows = list(case("PR13")["in"])
    rows[3] = "g|assistant|15|Ответ пришёл вчера"
    assert ids(prune()(chat(rows)).messages) == given["out"]


def test_bad_input_of_prune() -> None:
    given = case("PR24")
    assert given["in"] == "ngram 0; max_age -1; whitelist ['']; two blocks with one id"
    assert given["out"] == "ValueError, four times"
    with pytest.raises(ValueError, match="needs ngram >= 1, got ngram=0"):
        prune(ngram=0)
    with pytest.raises(ValueError, match="needs max_age >= 0, got max_age=-1"):
        prune(max_age=-1)
    with pytest.raises(ValueError, match=r"got whitelist\[0\]='' \(str\), which is blank"):
        prune(whitelist=[""])
    with pytest.raises(ValueError, match=r"messages\[0\] and messages\[1\] both have the id 'a'"):
        prune()([Message("a", "user", "x"), Message("a", "user", "y")])


def test_every_case_of_pruning_is_tried() -> None:
    assert {one["id"] for one in groups()["prune"]} == {*PRUNE, "PR14", "PR24"}


def test_terms() -> None:
    given = case("PR25")
    assert [next(iter(definitions(text)), None) for text in given["in"]] == given["out"]
    assert [len(definitions(text)) for text in given["in"]] == [1, 1, 0, 0, 0, 1]
