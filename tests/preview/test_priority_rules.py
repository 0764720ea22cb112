"""What `priompt check` finds in priorities, and in two renders of one prompt."""

from __future__ import annotations

import time

import pytest

from priompt_py import (
    BASE_PRIORITY,
    Node,
    at_most,
    compile_prompt,
    excerpt,
    fallback,
    first,
    isolate,
    render,
    scope,
    system_message,
    tool_definition,
    turn,
    user_message,
)
from priompt_py.preview.priority_rules import growth_findings, priority_findings

NEVER = "this alternative is never chosen: one before it is in whenever it could be; the one to prefer needs the lower priority"


@pytest.mark.parametrize(
    ("tree", "findings"),
    [
        (["a", scope(p=5)["b", scope(p=5)["c"], scope(prel=-1)["d"]]], []),
        ([scope(p=5)["b", scope(p=7)["c"]]], ["root > 0:scope > 1:scope: priority 7 can never act above 5, which the element around it has"]),
        ([scope(p=5)[user_message(prel=1)["c"]]], ["root > 0:scope > 0:user: priority 6 can never act above 5, which the element around it has"]),
        ([scope(prel=1)["a"]], ["root > 0:scope: priority 1000000001 lies above the base, and acts like it: this is always in; lower what may go instead"]),
        ([scope(p=BASE_PRIORITY)["a"]], []),
        ([scope(p=5)[isolate(token_limit=9)[scope(p=7)["c"]], at_most(token_limit=9)[scope(p=7)["c"]]]], []),
        ([first[scope(p=5)["b"], scope(p=3)["a"]]], [f"root > 0:first > 1:scope: {NEVER}"]),
        ([first["b", scope(p=3)["a"]]], [f"root > 0:first > 1:scope: {NEVER}"]),
        ([first[scope(p=3)["long"], scope(p=5)["short"], "note"]], []),
        ([fallback["a", "b", "c"], excerpt("a\nb\n", around=1)], []),
        ([first[first["x", first["y", "z"]]]], ["root > 0:first > 0:first > 1:first: " + NEVER]),
        ([scope(p=1)[[scope(p=2)["x"] for _ in range(9)]]], [
            *(f"root > 0:scope > {i}:scope: priority 2 can never act above 1, which the element around it has" for i in range(5)),
            "and 4 more like the last one",
        ]),
    ],
)  # fmt: skip
def test_priorities(tree: Node, findings: list[str]) -> None:
    assert list(priority_findings(compile_prompt(tree))) == findings


LONG = "The rules of this house stand here, one after the other. " * 15


def grown(a: Node, b: Node, limit: int = 10_000) -> list[str]:
    one, other = (render(tree, token_limit=limit, source_map=True) for tree in (a, b))
    return list(growth_findings(one, other, ("A", "B")))


def conversation(turns: int, *, from_start: bool, now: str = "") -> Node:
    return [
        system_message["Now: ", now, LONG],
        [
            scope(prel=turn(i) if from_start else i - turns, name=f"turn {i}")[user_message[f"said {i}"]]
            for i in range(turns)
        ],
    ]


def test_priorities_that_move() -> None:
    assert grown(conversation(3, from_start=True), conversation(4, from_start=True)) == []
    told = grown(conversation(2, from_start=False), conversation(3, from_start=False))
    assert told == [
        f"turn {i} has the priority {BASE_PRIORITY - 2 + i} in A and {BASE_PRIORITY - 3 + i} in B, with the same content: "
        "count priorities from the start (turn(i)), so that what was cut stays cut"
        for i in range(2)
    ]


def test_labels_that_say_something_else_or_are_not_alone_do_not_move() -> None:
    def tree(p: int, text: str) -> Node:
        return [scope(p=p, name="a")[text], scope(p=p, name="b")["x"], scope(p=p, name="b")["y"]]

    assert grown(tree(1, "one"), tree(2, "two")) == []
    assert len(grown(tree(1, "one"), tree(2, "one"))) == 1
    out = grown(
        ["required", scope(p=1, name="a")["one two"]], ["required", scope(p=2, name="a")["one two"]], 1
    )
    assert len(out) == 1  # of what is out the tokens are compared


def test_what_is_volatile_and_early() -> None:
    told = grown(conversation(2, from_start=True, now="12:01"), conversation(3, from_start=True, now="12:02"))
    behind = "the 211 tokens behind it are the same, but no prefix cache can keep them; move it behind them"
    assert told == [f"root > 0:system > 1:text differs between A and B after 8 tokens: {behind}"]
    labelled = grown(["now ", scope(name="clock")["1"], LONG], ["now ", scope(name="clock")["22"], LONG])
    assert labelled[0].startswith(
        "clock (root > 1:scope[name=clock] > 0:text) differs between A and B after "
    )
    assert grown(["now 1"], ["now 2"]) == []
    assert grown([LONG, "now 1"], [LONG, "now 2", LONG[:50]]) == []
    within = grown([f"1 {LONG}"], [f"2 {LONG}"])
    assert within[0].startswith(
        "root > 0:text differs between A and B after 0 tokens: the 196 tokens behind it"
    )
    assert grown(["a"], ["a", LONG]) == []
    tools = [tool_definition(name=name, description="", parameters={}) for name in "ab"]
    assert grown([tools[0], "x"], [tools[1], "x"]) == []


def test_tools_that_differ_are_early_whatever_stands_before_them() -> None:
    tools = [tool_definition(name=name, description="", parameters={}) for name in "ab"]
    told = grown([user_message[LONG], tools], [user_message[LONG], tools[::-1]])
    (one,) = told
    assert one == (
        "the tool a (root > 1:tool_definition) differs between A and B, and tools are sent first: the 200 tokens behind them are "
        "the same, but no prefix cache can keep them; send the same tools, in the same order"
    )
    assert len(grown([LONG], [tools[0], LONG])) == 1


def test_priorities_that_move_are_found_in_linear_time() -> None:
    began = time.process_time()
    told = grown(conversation(2_000, from_start=False), conversation(2_001, from_start=False), 1_000_000)
    assert told[-1] == "and 1,995 more like the last one"
    assert time.process_time() - began < 15  # half a minute when each was looked up by itself
