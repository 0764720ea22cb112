"""What went wrong for others who do this job, with its right value: levels, limits, structure, counts."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest

from priompt_py import (
    BASE_PRIORITY,
    Node,
    PromptError,
    PromptTooLong,
    StructureError,
    assistant_message,
    at_most,
    empty,
    fallback,
    first,
    isolate,
    render,
    scope,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.model.elements import ToolDefinition
from priompt_py.testing.tokenizers import CharTokenizer
from priompt_py.tokens.limits import limit_for
from tests.engine.cases import CASES, counter_of, cutoff_of, node_of, number_of, runs

CHARS = CharTokenizer()
RUNS = runs()


def text_under(tree: Node, limit: int) -> str | None:
    return render(tree, token_limit=limit, tokenizer=CHARS).text


@pytest.mark.parametrize("run", [run for _, run in RUNS], ids=[name for name, _ in RUNS])
def test_case_comes_out_right(run: dict[str, Any]) -> None:
    tree, want = node_of(run["tree"]), run["want"]
    how: dict[str, Any] = {"token_limit": run["limit"], "tokenizer": counter_of(run["counter"])}
    if "error" in want:
        with pytest.raises(PromptTooLong):
            render(tree, **how)
        return
    found = render(tree, **how)
    assert found.text == want["text"]
    assert found.token_count == want.get("tokens", found.token_count)
    assert found.cutoff == cutoff_of(want.get("cutoff", found.cutoff))


def test_there_are_cases() -> None:
    assert len(RUNS) == 15


# ------------------------------------------------------------------------------------------ priorities


def test_every_level_is_considered_where_counts_are_not_monotone() -> None:
    tree: Node = ["H:", first[scope(p=3)["ab"], scope(p=6)["0123456789"]], scope(p=8)["e"]]
    by_limit = {limit: render(tree, token_limit=limit, tokenizer=CHARS).cutoff for limit in range(2, 16)}
    assert by_limit == {2: BASE_PRIORITY, 3: 8, 4: 8, **dict.fromkeys(range(5, 16), 3)}


@pytest.mark.parametrize("p", [math.inf, -math.inf, math.nan], ids=["inf", "-inf", "nan"])
@pytest.mark.parametrize("name", ["p", "prel"])
def test_priorities_are_finite(p: float, name: str) -> None:
    with pytest.raises(
        ValueError, match=rf"scope\(\) needs a finite number for {name}, got {name}={p}"
    ) as caught:
        scope(**cast("dict[str, Any]", {name: p}))
    assert isinstance(caught.value, PromptError)


@pytest.mark.parametrize("p", ["1", "high", "", True, None.__class__, 1j], ids=repr)
def test_priorities_are_numbers(p: Any) -> None:
    with pytest.raises(TypeError, match=r"scope\(\) needs a number for p, got p="):
        scope(p=p)


def test_a_priority_of_none_is_not_given() -> None:
    assert text_under(["A", scope(p=None)["B"]], 2) == "AB"


@pytest.mark.parametrize("outer", [1.7e308, 10**400], ids=["a float", "an int too great for a float"])
def test_a_sum_that_overflows_is_refused_by_name(outer: Any) -> None:
    with pytest.raises(ValueError, match=r"prel=1\.7e\+308"):
        text_under(scope(p=outer)["A", scope(prel=1.7e308)["B"]], 9)


def test_whole_numbers_stay_exact_however_great() -> None:
    tree: Node = scope(p=-(10**400))["A", scope(prel=-1)["B"], scope(prel=-2)["CC"]]
    assert render(tree, token_limit=3, tokenizer=CHARS).cutoff == -(10**400) - 1


def test_zero_is_a_priority_and_none_is_not() -> None:
    assert text_under(["A", scope(p=0)["BB"], scope(p=-1)["CC"]], 3) == "ABB"
    assert text_under(["A", scope(p=0)["BB"]], 1) == "A"


def test_one_element_in_two_places_has_two_priorities() -> None:
    shared = scope(prel=-1)["s"]
    tree: Node = ["A", scope(p=10)["b", shared], scope(p=3)["c", shared]]
    for _ in range(2):
        found = render(tree, token_limit=4, tokenizer=CHARS)
        assert (found.text, found.token_count, found.cutoff) == ("Absc", 4, 3)
        assert text_under(tree, 5) == "Abscs"
    assert (shared.p, shared.prel) == (None, -1)


def test_an_element_rendered_alone_stays_as_it_was() -> None:
    shared = scope(prel=-1)["s"]
    alone = render(shared, token_limit=9, tokenizer=CHARS).cutoff
    assert alone == BASE_PRIORITY - 1
    assert render(scope(p=5)[shared], token_limit=9, tokenizer=CHARS).cutoff == 4
    assert render(shared, token_limit=9, tokenizer=CHARS).cutoff == alone


def test_fallbacks_rank_themselves_best_first() -> None:
    tree: Node = ["A", scope(p=5)[fallback["the whole of it", "the half", "note"]]]
    assert [text_under(tree, limit) for limit in (16, 15, 9, 8, 5, 4, 1)] == [
        "Athe whole of it",
        *("Athe half", "Athe half", "Anote", "Anote"),
        *("A", "A"),
    ]


# ------------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize(
    ("limit", "error"),
    [
        (-1, ValueError),
        (1.5, TypeError),
        (1.0, TypeError),
        ("float NaN", TypeError),
        ("float +inf", TypeError),
        (True, TypeError),
        (None, TypeError),
        ("10", TypeError),
        (b"10", TypeError),
    ],
    ids=repr,
)
def test_limits_are_whole_numbers(limit: Any, error: type[Exception]) -> None:
    given = number_of(limit)
    with pytest.raises(error, match="token_limit") as caught:
        render(["A"], token_limit=given, tokenizer=CHARS)
    assert isinstance(caught.value, PromptError)
    assert str(given) in str(caught.value)


def test_a_limit_of_nothing() -> None:
    with pytest.raises(PromptTooLong) as caught:
        render(["A"], token_limit=0, tokenizer=CHARS)
    assert (caught.value.token_count, caught.value.token_limit, caught.value.required_limit) == (1, 0, 1)
    assert text_under([], 0) == ""


def test_a_limit_beyond_all_measure() -> None:
    assert text_under(["A"], 10**30) == "A"


@pytest.mark.parametrize(
    "limit", ["50", "50 %%", "%", "-5%", "5.5%", "50% * 2", "50%5", "٥%", -1, 1.0, True, None], ids=repr
)
@pytest.mark.parametrize("tag", [isolate, at_most])
def test_limits_of_elements_are_whole_numbers_or_shares(tag: Any, limit: Any) -> None:
    with pytest.raises(PromptError, match="token_limit"):
        tag(token_limit=limit)


@pytest.mark.parametrize("share", ["50%", " 50 % ", "50%+0", "40% + 1", "60%\t-\t1"])
def test_shares_are_written_with_or_without_blanks(share: str) -> None:
    assert text_under(isolate(token_limit=share)[scope(p=1)["12345"], scope(p=0)["6"]], 10) == "12345"


def test_what_is_required_is_never_dropped_silently() -> None:
    tree: Node = [system_message["SYS"], user_message["a question of 20 ch."]]
    with pytest.raises(PromptTooLong) as caught:
        render(tree, token_limit=10, tokenizer=CHARS)
    error = caught.value
    assert (error.token_count, error.token_limit, error.required_limit) == (23, 10, 23)
    assert error.largest == (("root > 1:user", 20), ("root > 0:system", 3))
    assert str(error).startswith("the prompt needs 23 tokens, over its limit of 10")


def test_too_long_says_what_is_reserved() -> None:
    with pytest.raises(PromptTooLong) as caught:
        render(["abc", empty(tokens=4), scope(p=1)["x"]], token_limit=6, tokenizer=CHARS)
    assert (caught.value.token_count, caught.value.tokens_reserved, caught.value.required_limit) == (3, 4, 7)


def test_too_long_counts_the_level_that_needs_least() -> None:
    tree: Node = [first[scope(p=1)["ab"], "0123456789"]]
    with pytest.raises(PromptTooLong) as caught:
        render(tree, token_limit=1, tokenizer=CHARS)
    assert caught.value.required_limit == 2


def test_too_long_under_relative_limits_has_no_limit_that_works() -> None:
    tree: Node = ["abc", scope(p=1)[at_most(token_limit="50%")["x"]]]
    with pytest.raises(PromptTooLong) as caught:
        render(tree, token_limit=2, tokenizer=CHARS)
    assert caught.value.required_limit is None


@pytest.mark.parametrize("tag", [isolate, at_most])
def test_an_element_over_its_own_limit_is_named(tag: Any) -> None:
    tree: Node = ["a", scope(p=1)["b", tag(token_limit=2)["cccc"]]]
    with pytest.raises(PromptTooLong) as caught:
        render(tree, token_limit=99, tokenizer=CHARS)
    kind = "max" if tag is at_most else "isolate"
    assert caught.value.element == f"root > 1:scope > 1:{kind}"
    assert (caught.value.token_count, caught.value.token_limit) == (4, 2)


def test_the_limit_is_the_least_of_those_given_and_of_what_the_answer_leaves() -> None:
    tree: Node = [scope(p=i)["x"] for i in range(1, 81)]
    for given, kept in ((60, 60), (90, 70)):
        limit = limit_for(
            window=100, answer=30, limits=[("prompt config", given), ("command line", None)]
        ).limit
        found = render(tree, token_limit=limit, tokenizer=CHARS)
        assert (found.token_count, found.cutoff) == (kept, 81 - kept)
    assert limit_for(window=100, answer=30, limits=[("prompt config", 60)]).reason == "prompt config (60)"


# ------------------------------------------------------------------------------------------ counts and pruning


def test_the_joined_text_is_what_is_counted() -> None:
    case = CASES["BC-003"]["input"]
    counter = counter_of(case["counter"])
    assert [counter.count(text) for text in ("a", "bcd", "abcd")] == [1, 1, 3]
    for limit, text in ((1, "a"), (2, "a"), (3, "abcd")):
        found = render(node_of(case["tree"]), token_limit=limit, tokenizer=counter)
        assert (found.text, found.token_count) == (text, counter.count(text))


def test_nothing_in_many_wrappers_costs_nothing() -> None:
    tree: Node = [
        scope(p=1),
        first,
        fallback,
        scope[None, False, ""],
        isolate(token_limit=0),
        at_most(token_limit=0),
        [[]],
        (),
    ]
    found = render(tree, token_limit=0, tokenizer=CHARS)
    assert (found.text, found.token_count, found.cutoff) == ("", 0, 1)


# ------------------------------------------------------------------------------------------ structure


INNER = {
    "directly": (user_message["a", user_message["b"]], "root > 0:user > 1:user"),
    "in a scope": (user_message[scope(p=1)[system_message["b"]]], "root > 0:user > 0:scope > 0:system"),
    "in an isolate": (
        user_message[isolate(token_limit=9)[user_message["b"]]],
        "root > 0:user > 0:isolate > 0:user",
    ),
    "in an alternative": (
        user_message[first[scope(p=1)[user_message["b"]], scope(p=2)["c"]]],
        "root > 0:user > 0:first > 0:scope > 0:user",
    ),
}


@pytest.mark.parametrize("limit", [0, 1, 9, 10**6])
@pytest.mark.parametrize(("tree", "path"), INNER.values(), ids=list(INNER))
def test_a_message_in_a_message_is_refused_whatever_the_limit(tree: Node, path: str, limit: int) -> None:
    with pytest.raises(StructureError) as caught:
        render(tree, token_limit=limit, tokenizer=CHARS)
    assert path in str(caught.value)


@pytest.mark.parametrize("limit", [0, 99])
def test_two_tools_of_one_name_are_refused_unless_equal(limit: int) -> None:
    tool = ToolDefinition(name="search", p=-1)
    with pytest.raises(StructureError, match="'search'"):
        render([tool, ToolDefinition(name="search", description="other")], token_limit=limit, tokenizer=CHARS)
    found = render([tool, ToolDefinition(name="search", p=-1)], token_limit=99, tokenizer=CHARS)
    assert [each.name for each in found.tools] == ["search"]


def test_scopes_may_have_one_name() -> None:
    found = render([scope(name="a")["x"], scope(name="a")["y"]], token_limit=9, tokenizer=CHARS)
    assert len({decision.path for decision in found.decisions}) == 2


def call(*ids: str) -> list[dict[str, str]]:
    return [{"id": each, "name": "look", "arguments": "{}"} for each in ids]


def test_repeated_and_blank_ids_are_refused_by_name() -> None:
    asked = [
        user_message["U"],
        assistant_message(tool_calls=call("x", "x", "")),
        tool_message(tool_call_id="x")["Ra"],
    ]
    answers = [tool_message(tool_call_id=each)[text] for each, text in (("x", "Rb"), ("", "Rc"), ("x", "Rd"))]
    with pytest.raises(StructureError, match=r"root > 1:assistant"):
        render([*asked, *answers], token_limit=99, tokenizer=CHARS)
    repeated = [
        assistant_message(tool_calls=call("x")),
        *(tool_message(tool_call_id="x")["R"] for _ in range(2)),
    ]
    with pytest.raises(StructureError, match="'x'"):
        render(repeated, token_limit=99, tokenizer=CHARS)


def test_a_call_that_never_ran_is_named() -> None:
    tree: Node = [
        user_message["U1"],
        assistant_message(tool_calls=call("c1", "c2")),
        tool_message(tool_call_id="c1")["R1"],
        user_message["U2"],
    ]
    with pytest.raises(StructureError, match=r"root > 1:assistant.*'c2'"):
        render(tree, token_limit=99, tokenizer=CHARS)


def test_a_message_without_visible_text_stays_if_it_calls_or_answers() -> None:
    tree: Node = [
        user_message["hi"],
        assistant_message(tool_calls=call("c1"))[""],
        tool_message(tool_call_id="c1")[""],
        user_message["and?"],
    ]
    found = render(tree, token_limit=99, tokenizer=CHARS)
    assert [message.role for message in found.messages or ()] == ["user", "assistant", "tool", "user"]
    assert [message["role"] for message in found.to_openai()["messages"]] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
