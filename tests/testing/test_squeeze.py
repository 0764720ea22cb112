"""``squeeze``, ``dropped_order``, histories, and what the checks stand on: pictures, settled trees."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given

from priompt_py import Node, PromptError, first, from_openai, isolate, render, scope, user_message
from priompt_py.preview.picture import changed, picture
from priompt_py.testing import CharTokenizer, dropped_order, message_histories, prompts, squeeze

CHARS = CharTokenizer()


def steps(tree: Node) -> list[tuple[int, str | None]]:
    return [(rendered.token_limit, rendered.text) for rendered in squeeze(tree, tokenizer=CHARS)]


def test_squeeze_reads_as_the_order_in_which_things_go() -> None:
    tree: Node = [
        "a",
        scope(p=2, name="two")["bb", scope(p=1, name="one")["c"]],
        scope(p=2, name="too")["dd"],
    ]
    assert steps(tree) == [(6, "abbcdd"), (5, "abbdd"), (1, "a")]
    assert dropped_order(tree, tokenizer=CHARS) == ["one", "two", "too"]


def test_squeeze_of_alternatives() -> None:
    tree: Node = [
        first[scope(p=1, name="full")["full text"], scope(p=2, name="stub")["stub"]],
        scope(p=3)["!"],
    ]
    assert steps(tree) == [(10, "full text!"), (5, "stub!"), (1, "!"), (0, "")]
    assert dropped_order(tree, tokenizer=CHARS) == ["full", "stub"]


def test_squeeze_where_limits_are_shares() -> None:
    tree: Node = [isolate(token_limit="50%")[scope(p=1)["aa"]], scope(p=1)["b"]]
    assert steps(tree) == [(6, "aab"), (3, "b"), (0, "")]


def test_a_label_of_several_goes_with_the_last() -> None:
    tree: Node = [scope(p=1, name="x")["a"], scope(p=3, name="x")["b"], scope(p=2, name="y")["c"]]
    assert dropped_order(tree, tokenizer=CHARS) == ["y", "x"]


async def later() -> Node:
    return scope(p=1, name="later")["soon"]


def test_async_nodes_are_run() -> None:
    assert dropped_order([later, "x"], tokenizer=CHARS) == ["later"]


@given(prompts())
def test_every_step_is_what_its_limit_gives(tree: list[Node]) -> None:
    try:
        found = list(squeeze(tree, tokenizer=CHARS))
    except PromptError:
        return
    limits = [rendered.token_limit for rendered in found]
    assert limits == sorted(limits, reverse=True)
    for rendered in found:
        assert render(tree, token_limit=rendered.token_limit, tokenizer=CHARS).text == rendered.text


# ------------------------------------------------------------------------------------------ histories


@given(message_histories())
def test_histories_are_well_formed(messages: list[dict[str, Any]]) -> None:
    json.dumps(messages)
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = {call["id"] for call in message.get("tool_calls", ())}
    assert not waiting
    rendered = render(from_openai(messages), token_limit=10**6, tokenizer=CHARS)
    assert len(rendered.messages or ()) == len(messages)


@given(message_histories(max_turns=2, tools=False, system=False))
def test_histories_without_tools(messages: list[dict[str, Any]]) -> None:
    assert [m["role"] for m in messages] == ["user", "assistant"] * (len(messages) // 2)
    assert len(messages) <= 4


# ------------------------------------------------------------------------------------------ pictures


@attrs.define
class Box:
    inside: list[int]
    never_set: int = attrs.field(init=False)


class Free:
    def __init__(self) -> None:
        self.value = 1


def change(value: Any) -> None:
    """Change something deep inside."""
    if type(value) is dict:
        value["b"] = 1
    elif value == {1}:
        value.add(5)
    elif isinstance(value, bytearray):
        value[0] = 9
    elif isinstance(value, Box):
        value.inside[0] = 7
    elif isinstance(value, Free):
        value.value = 2
    else:
        value[0].append(3)


CHANGED: dict[str, tuple[Any, str]] = {
    "list": ([[1]], "the length of it[0]"),
    "tuple": (([1],), "the length of it[0]"),
    "dict": ({"a": 1}, "the length of it"),
    "set": ({1}, "the length of it"),
    "bytes": (bytearray(b"a"), "the bytes of it"),
    "attrs": (Box([1]), "it.inside[0]"),
    "object": (Free(), "it.value"),
}


@pytest.mark.parametrize(("value", "place"), list(CHANGED.values()), ids=list(CHANGED))
def test_changes_are_seen(value: Any, place: str) -> None:
    before = picture(value, "it")
    assert changed(before, picture(value, "it")) is None
    change(value)
    assert changed(before, picture(value, "it")) == place


def test_pictures_of_circles_and_of_what_is_lost() -> None:
    circle: list[Any] = [1]
    circle.append(circle)
    before = picture(circle, "it")
    assert changed(before, picture(circle, "it")) is None
    circle.pop()
    assert changed(before, picture(circle, "it")) == "the length of it"
    assert changed([("a", 1), ("b", 2)], [("a", 1)]) == "b"


def test_children_of_elements_are_in_the_picture() -> None:
    element = user_message[scope(p=1)["a"]]
    tree = [element]
    before = picture(tree, "the tree")
    inner: Any = element.children[0]
    inner.p = 2
    assert changed(before, picture(tree, "the tree")) == "the tree[0].children[0].p"
