"""The JSON form: there and back, at any depth."""

from __future__ import annotations

import base64
import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.author.json_form import from_json, to_json
from priompt_py.author.messages import assistant_message, image, part, user_message
from priompt_py.author.tags import at_most, br, config, empty, fallback, first, scope
from priompt_py.author.tools import tool_definition
from priompt_py.model.elements import Container, Element, Node, children_of
from tests.author.trees import PNG, elements, nodes
from tests.model.deep import DEEP, in_thread

VECTORS = [
    json.loads(line)
    for line in Path(__file__)
    .parents[1]
    .joinpath("conformance", "vectors.jsonl")
    .read_text("utf-8")
    .splitlines()
]

# ------------------------------------------------------------------------------------------ there and back


@given(nodes)
def test_there_and_back(node: Node) -> None:
    form = to_json(node)
    again = from_json(form)
    assert again == node
    assert type(again) is type(node) or isinstance(node, Element)
    assert to_json(again) == form
    # Through text too: only JSON values are in it.
    text = json.dumps(form, allow_nan=False)
    assert json.loads(text) == form


@given(st.lists(nodes, min_size=2, max_size=3))
def test_lists_there_and_back(several: list[Node]) -> None:
    assert from_json(to_json(several)) == several


def scramble(form: Any) -> None:
    """Empty every list and object in a JSON form."""
    stack = [form]
    while stack:
        here: Any = stack.pop()
        if isinstance(here, (dict, list)):
            stack.extend(values_of(here))
            here.clear()


def values_of(here: Any) -> list[Any]:
    return [*here.values()] if isinstance(here, dict) else [*here]


@given(elements)
def test_a_form_shares_nothing_with_the_element(element: Element) -> None:
    form = to_json(element)
    before = copy.deepcopy(form)

    again = from_json(form)
    scramble(form)
    assert to_json(element) == before
    assert again == element


def test_the_form_of_each_element() -> None:
    tree: list[Node] = [
        "text",
        3,
        2.5,
        None,
        True,
        scope(p=5, name="docs", key="k")["a", ["b", [br]]],
        first[scope(prel=-1)["long"], "short"],
        fallback["long", "short"],
        at_most(token_limit="50% - 3")["x"],
        empty(tokens=600),
        config(stop=["a"], max_response_tokens="tokens_reserved", extra={"seed": 1}),
        user_message(name="Ann")["Look", image(data=PNG, detail="low")],
        assistant_message(tool_calls=[{"id": "1", "name": "look", "arguments": {"at": "sky"}}]),
        assistant_message(function_call={"name": "look", "arguments": "{}"})["x"],
        part(provider="anthropic", data={"type": "thinking"}),
        tool_definition(name="now"),
    ]
    assert to_json(tree) == [
        "text",
        3,
        2.5,
        None,
        True,
        {"type": "scope", "p": 5, "name": "docs", "key": "k", "children": ["a", "b", {"type": "br"}]},
        {"type": "first", "children": [{"type": "scope", "prel": -1, "children": ["long"]}, "short"]},
        {"type": "fallback", "children": ["long", "short"]},
        {"type": "max", "token_limit": "50% - 3", "children": ["x"]},
        {"type": "empty", "tokens": 600},
        {"type": "config", "stop": ["a"], "max_response_tokens": "tokens_reserved", "extra": {"seed": 1}},
        {
            "type": "user",
            "name": "Ann",
            "children": [
                "Look",
                {
                    "type": "image",
                    "data": base64.b64encode(PNG).decode(),
                    "detail": "low",
                    "dimensions": [30, 40],
                },
            ],
        },
        {"type": "assistant", "tool_calls": [{"id": "1", "name": "look", "arguments": '{"at": "sky"}'}]},
        {"type": "assistant", "function_call": {"name": "look", "arguments": "{}"}, "children": ["x"]},
        {"type": "part", "provider": "anthropic", "data": {"type": "thinking"}},
        {"type": "tool_definition", "name": "now", "parameters": {"type": "object", "properties": {}}},
    ]
    assert from_json(to_json(tree)) == [
        "text",
        3,
        2.5,
        None,
        True,
        scope(p=5, name="docs", key="k")["a", "b", br],
        *tree[6:],
    ]


def test_numbers_keep_their_kind() -> None:
    assert (
        str(from_json([1, 1.0, 10**30, 1e21, -0.0, True]))
        == "[1, 1.0, 1000000000000000000000000000000, 1e+21, -0.0, True]"
    )
    made = from_json({"type": "scope", "p": 0.5, "children": [1.0]})
    assert isinstance(made, Container)
    assert (made.p, repr(made.children[0])) == (0.5, "1.0")


def test_one_node_and_no_node() -> None:
    assert from_json("x") == "x"
    assert from_json(["x"]) == "x"
    assert from_json([["x"], []]) == "x"
    assert from_json([]) == []
    assert from_json(None) is None
    assert from_json({"type": "br"}) == br
    assert to_json([]) == []
    assert to_json("x") == ["x"]
    assert to_json(iter(["x", ["y"]])) == ["x", "y"]


def test_arrays_in_arrays_are_spread() -> None:
    nothing: list[Any] = []
    assert from_json(["a", ["b", ("c", nothing)]]) == ["a", "b", "c"]
    assert from_json({"type": "scope", "children": [["a"], "b"]}) == scope["a", "b"]


def test_null_is_not_given() -> None:
    bare = {"type": "scope", "p": None, "prel": None, "name": None, "key": None}
    assert from_json(bare) == scope
    assert from_json({"type": "assistant", "tool_calls": None, "function_call": None}) == assistant_message
    assert from_json({"type": "scope", "p": None, "prel": 3}) == scope(prel=3)


def test_surrogates_of_other_languages() -> None:
    assert from_json("x\ud83d\udc4d") == "x👍"
    assert (
        from_json({"type": "scope", "name": "\ud83d\udc4d", "children": ["\ud83d"]})
        == scope(name="👍")["\ufffd"]
    )
    assert from_json({"type": "config", "extra": {"\ud83d\udc4d": "\ud83d"}}) == config(
        extra={"👍": "\ufffd"}
    )


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors(vector: dict[str, Any]) -> None:
    node = from_json(vector["tree"])
    assert from_json(to_json(node)) == node


# ------------------------------------------------------------------------------------------ depth and size


@pytest.mark.slow
def test_depth() -> None:
    def check() -> None:
        data: Any = "x"
        for level in range(DEEP):
            data = {"type": "scope", "p": level, "children": [data]}
        node = from_json(data)
        form = to_json(node)
        again = from_json(form)
        assert again == node
        deep = 0
        while isinstance(node, Element) and children_of(node):
            (node,) = children_of(node)
            deep += 1
        assert deep == DEEP

        arrays: Any = ["x"]
        for _ in range(DEEP):
            arrays = [arrays]
        assert from_json(arrays) == "x"

    in_thread(check)


@pytest.mark.slow
def test_size() -> None:
    data = [{"type": "scope", "p": i, "children": ["text", i]} for i in range(100_000)]
    began = time.thread_time()
    node = from_json(data)
    assert to_json(node) == data
    assert time.thread_time() - began < 30


def test_shared_elements_are_written_out_in_each_place() -> None:
    shared = scope["x"]
    form = to_json([shared, scope[shared, shared]])
    assert form == [
        {"type": "scope", "children": ["x"]},
        {"type": "scope", "children": [{"type": "scope", "children": ["x"]}] * 2},
    ]
    assert form[1]["children"][0] is not form[1]["children"][1]
    assert form[0]["children"] is not form[1]["children"][0]["children"]
