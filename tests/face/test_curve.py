"""Curves and reasons: exact at every level, against the definition by brute force and against renders."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    BASE_PRIORITY,
    Program,
    PromptError,
    PromptTooLong,
    Rendered,
    at_most,
    compile_prompt,
    empty,
    fallback,
    first,
    isolate,
    scope,
    user_message,
)
from priompt_py.face.inspect import curve
from priompt_py.face.settings import settle
from priompt_py.model.curve import CurvePoint, LimitRange
from priompt_py.model.elements import Node
from priompt_py.testing.oracle import levels_of, tree_of, whole_count
from priompt_py.testing.strategies import chats, prompts
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer, WordTokenizer

CHARS = CharTokenizer()
LIMIT = 40

TOKENIZERS: list[Callable[[], Any]] = [
    CharTokenizer,
    WordTokenizer,
    lambda: GreedyTokenizer(("ab", "bcd", "d c", "\n\n", "a b", "\na")),
    lambda: "o200k_base",
]


def program_of(tree: Node) -> Program | None:
    """The tree compiled, if it is well formed and fits some limit."""
    program = compile_prompt(tree)
    try:
        program.curve(token_limit=LIMIT, tokenizer=CHARS)
    except PromptError:
        return None
    return program


@given(prompts() | chats(), st.sampled_from(TOKENIZERS), st.booleans(), st.integers(0, 60))
def test_each_point_is_what_the_definition_says(
    tree: Node, tokenizer: Callable[[], Any], open_end: bool, limit: int
) -> None:
    how: dict[str, Any] = {"tokenizer": tokenizer(), "last_message_incomplete": open_end}
    try:
        curve = compile_prompt(tree).curve(token_limit=limit, **how)
    except PromptTooLong:
        return
    if curve.cutoff is None:  # made at the smallest limit that works
        limit = curve.steps()[0].tokens
    defined = tree_of(tree, token_limit=limit, **how)
    levels = levels_of(defined.root)
    assert [point.level for point in curve.points] == levels[::-1]
    assert [point.tokens for point in curve.points] == [whole_count(defined, level) for level in levels[::-1]]
    fitting = [point for point in curve.points if point.tokens <= curve.token_limit]
    assert curve.cutoff == (fitting[-1].level if fitting else None)


@given(prompts() | chats())
def test_steps_are_what_limits_choose(tree: Node) -> None:
    program = program_of(tree)
    if program is None:
        return
    curve = program.curve(token_limit=LIMIT, tokenizer=CHARS)
    for step in curve.steps():
        try:
            rendered = program.render(token_limit=step.tokens, tokenizer=CHARS)
        except PromptTooLong:  # a share of a smaller limit is smaller
            assert program.compiled.has_relative_limits
            continue
        if not program.compiled.has_relative_limits:
            assert (rendered.cutoff, rendered.token_count + rendered.tokens_reserved) == (
                step.level,
                step.tokens,
            )
            assert rendered.tokens_reserved == step.reserved


def is_in(program: Program, limit: int, number: int) -> bool:
    """Whether the decision of this number is that its element is in."""
    try:
        return program.render(token_limit=limit, tokenizer=CHARS).decisions[number].included
    except PromptTooLong:
        return False


@given(prompts() | chats(), st.data())
def test_why_tells_the_limits_at_which_an_element_is_in(tree: Node, data: st.DataObject) -> None:
    program = program_of(tree)
    if program is None:
        return
    try:
        decisions = program.render(token_limit=LIMIT, tokenizer=CHARS).decisions
    except PromptTooLong:
        return
    if not decisions:
        return
    number = data.draw(st.integers(0, len(decisions) - 1))
    path = decisions[number].path
    found = program.why(path, token_limit=LIMIT, tokenizer=CHARS)
    (told,) = [one for one in found if one.decision == decisions[number]]
    for one in told.ranges:
        assert is_in(program, one.start, number)
        assert not is_in(program, one.start - 1, number) if one.start else True
        if one.end is not None:
            assert is_in(program, one.end - 1, number)
            assert not is_in(program, one.end, number)
    if not told.is_searched:
        limit = data.draw(st.integers(0, 150))
        expected = any(one.start <= limit and (one.end is None or limit < one.end) for one in told.ranges)
        assert is_in(program, limit, number) == expected


# ------------------------------------------------------------------------------------------ small exact numbers

TREE: Node = [
    "0123",
    scope(p=9, name="best")["abcdef"],
    scope(p=5, name="outer")["--", scope(p=7, name="inner")["xy"]],
    empty(tokens=3, p=5),
]


def points(*rows: tuple[float, int, int]) -> tuple[CurvePoint, ...]:
    return tuple(CurvePoint(*row) for row in rows)


def test_a_curve_in_small_numbers() -> None:
    curve = compile_prompt(TREE).curve(token_limit=12, tokenizer=CHARS)
    assert curve.points == points((BASE_PRIORITY, 4, 0), (9, 10, 0), (7, 10, 0), (5, 17, 3))
    assert (curve.token_limit, curve.cutoff) == (12, 7)
    assert curve.steps() == points((BASE_PRIORITY, 4, 0), (7, 10, 0), (5, 17, 3))
    assert [curve.at(cutoff).level for cutoff in (2e9, BASE_PRIORITY, 10, 9, 8, 6, 5)] == [
        BASE_PRIORITY, BASE_PRIORITY, BASE_PRIORITY, 9, 9, 7, 5
    ]  # fmt: skip
    assert curve.at(-1).level == 5
    assert curve.to_csv() == "level,tokens,reserved\r\n1000000000,4,0\r\n9,10,0\r\n7,10,0\r\n5,17,3\r\n"


def test_a_curve_that_is_not_monotone_has_steps_that_are() -> None:
    tree: Node = [first[scope(p=1)["short"], scope(p=5)["a longer one"]]]
    curve = compile_prompt(tree).curve(token_limit=8, tokenizer=CHARS)
    assert curve.points == points((BASE_PRIORITY, 0, 0), (5, 12, 0), (1, 5, 0))
    assert curve.steps() == points((BASE_PRIORITY, 0, 0), (1, 5, 0))


def test_reserves_in_isolates_are_counted_where_their_isolate_is_in() -> None:
    tree: Node = [
        "a",
        scope(p=3)[isolate(token_limit=9)[empty(tokens=2), isolate(token_limit=5)[empty(tokens=4)]]],
    ]
    curve = compile_prompt(tree).curve(token_limit=99, tokenizer=CHARS)
    assert curve.points == points((BASE_PRIORITY, 1, 0), (3, 7, 6))


def test_a_curve_where_nothing_fits() -> None:
    curve = compile_prompt(TREE).curve(token_limit=3, tokenizer=CHARS)
    assert curve.cutoff is None
    assert [point.tokens for point in curve.points] == [4, 10, 10, 17]


def test_no_curve_over_a_limit_of_its_own_or_where_shares_leave_it_open() -> None:
    with pytest.raises(PromptTooLong, match=r"root > 0:isolate"):
        compile_prompt([isolate(token_limit=2)["abc"]]).curve(token_limit=9, tokenizer=CHARS)
    with pytest.raises(PromptTooLong):
        compile_prompt(["abc", at_most(token_limit="50%")["x"]]).curve(token_limit=2, tokenizer=CHARS)


def told(tree: Node, name: str, limit: int) -> list[tuple[bool, str, list[tuple[int, int | None]]]]:
    found = compile_prompt(tree).why(name, token_limit=limit, tokenizer=CHARS)
    return [
        (why.decision.included, why.decision.reason, [(one.start, one.end) for one in why.ranges])
        for why in found
    ]


def test_why_in_small_numbers() -> None:
    assert told(TREE, "best", 4) == [(False, "below_cutoff", [(10, None)])]
    assert told(TREE, "inner", 12) == [(False, "parent_out", [(17, None)])]
    assert told(TREE, "root > 3:empty", 17) == [(True, "included", [(17, None)])]
    again = scope(name="twice", p=2)["xy"]
    assert told([again, scope(p=1)[again]], "twice", 3) == [
        (True, "included", [(2, None)]),
        (False, "parent_out", [(4, None)]),
    ]


def test_an_alternative_is_in_between_two_limits() -> None:
    tree: Node = [
        "ab",
        fallback[scope(name="long")["abcdefgh"], scope(name="mid")["abcd"], scope(name="note")["."]],
    ]
    assert told(tree, "note", 9) == [(False, "not_chosen", [(3, 6)])]
    assert told(tree, "mid", 9) == [(True, "included", [(6, 10)])]
    assert told(tree, "long", 9) == [(False, "below_cutoff", [(10, None)])]
    never: Node = [first[scope(p=5)["a"], scope(p=3, name="never")["b"]]]
    assert told(never, "never", 9) == [(False, "not_chosen", [])]


def test_why_under_limits_of_limits_and_in_isolates() -> None:
    tree: Node = ["ab", at_most(token_limit=3)[scope(p=5, name="in")["cd"], scope(p=4, name="over")["efgh"]]]
    assert told(tree, "in", 9) == [(True, "included", [(4, None)])]
    assert told(tree, "over", 9) == [(False, "over_max", [])]
    isolated: Node = [
        "ab",
        scope(p=4)[isolate(token_limit=3)["c", scope(p=3, name="kept")["d"], scope(name="cut", p=1)["efg"]]],
    ]
    assert told(isolated, "kept", 3) == [(False, "parent_out", [(4, None)])]
    assert told(isolated, "cut", 9) == [(False, "below_cutoff", [])]


def test_what_is_over_a_share_of_a_limit_is_out() -> None:
    tree: Node = [
        "ab",
        scope(p=5)[isolate(token_limit="10%", key="small")["cdef"]],
        scope(p=5)[at_most(token_limit="10%", key="smaller")[scope(p=3, name="in it")["cdef"], "x"]],
    ]
    curve = compile_prompt(tree).curve(token_limit=9, tokenizer=CHARS)
    assert [point.tokens for point in curve.points] == [2, 2, 2]
    program = compile_prompt(tree)
    found = {
        name: program.why(name, token_limit=9, tokenizer=CHARS)[0] for name in ("small", "smaller", "in it")
    }
    assert {name: why.decision.reason for name, why in found.items()} == {
        "small": "over_max",
        "smaller": "over_max",
        "in it": "parent_out",
    }
    assert {name: why.smallest_limit for name, why in found.items()} == {
        "small": 40,
        "smaller": 10,
        "in it": 50,
    }


def test_progress_is_told() -> None:
    program = compile_prompt(TREE)
    settings = settle(
        token_limit=9,
        tokenizer=CHARS,
        model=None,
        chat_format=None,
        last_message_incomplete=False,
        pair_tools=True,
        cache=None,
    )
    told: list[tuple[int, int]] = []
    curve(program, settings, program.priced(settings), lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_why_with_shares_is_searched() -> None:
    tree: Node = ["ab", at_most(token_limit="50%")[scope(p=5, name="half")["cdefgh"]]]
    (why,) = compile_prompt(tree).why("half", token_limit=4, tokenizer=CHARS)
    assert (why.is_searched, why.ranges, why.smallest_limit) == (True, (LimitRange(12, None),), 12)
    never: Node = ["ab", at_most(token_limit="0%")[scope(p=5, name="half")["cdefgh"]]]
    (why,) = compile_prompt(never).why("half", token_limit=4, tokenizer=CHARS)
    assert (why.ranges, why.smallest_limit) == ((), None)


def test_why_with_shares_finds_what_is_in_between_two_limits_only() -> None:
    """From 6 on the preferred alternative is in instead; the search used to begin at the limit in force, and go up."""
    tree: Node = [
        first[scope(p=3)["abcdef"], scope(p=5, name="short")["x"]],
        at_most(token_limit="30%")[scope(p=1)["yyy"]],
    ]
    for limit in (0, 1, 5, 9, 2_000):
        (why,) = compile_prompt(tree).why("short", token_limit=limit, tokenizer=CHARS)
        assert (why.is_searched, why.smallest_limit) == (True, 1)
    late: Node = ["a" * 1_500, at_most(token_limit="50%")[scope(p=1, name="late")["yyy"]]]
    (why,) = compile_prompt(late).why("late", token_limit=1_500, tokenizer=CHARS)
    assert why.smallest_limit == 1_503


def test_an_unknown_name() -> None:
    with pytest.raises(PromptError) as caught:
        compile_prompt(TREE).why("bset", token_limit=9, tokenizer=CHARS)
    assert (
        str(caught.value)
        == "no element has the label or path 'bset'; did you mean best? (its labels are best, inner, outer)"
    )
    with pytest.raises(
        PromptError, match=r"^no element has the label or path 'x'; nothing in it has a label$"
    ):
        compile_prompt(["a"]).why("x", token_limit=9, tokenizer=CHARS)


def test_ten_thousand_levels_in_a_second() -> None:
    program = compile_prompt(
        [user_message[[scope(p=i)[f"line {i} of many, {i * 7919 % 1000} words\n"] for i in range(10_000)]]]
    )
    program.render(token_limit=8_192)  # the vocabulary is read
    start = time.process_time()
    curve = program.curve(token_limit=8_192)
    assert time.process_time() - start < 1
    assert len(curve.points) == 10_001

    def rendered_at(point: CurvePoint) -> Rendered:
        return program.render(token_limit=point.tokens)

    for point in curve.points[:: 10_000 // 20]:
        rendered = rendered_at(point)
        assert (rendered.cutoff, rendered.token_count) == (point.level, point.tokens)
