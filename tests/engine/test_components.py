"""Components: run once per render, with their children; one node wherever they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

import pytest

from priompt_py import (
    Node,
    PromptError,
    compile_prompt,
    component,
    empty,
    fallback,
    first,
    isolate,
    render,
    scope,
    user_message,
)
from priompt_py.model.elements import Child
from priompt_py.testing.oracle import oracle_render
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()


def text_of(node: Node, limit: int = 99) -> str | None:
    found = render(node, token_limit=limit, tokenizer=CHARS)
    expected = oracle_render(node, token_limit=limit, tokenizer=CHARS)
    assert (expected.text and expected.text.text) == (found.text or None)
    return found.text


@component
def quoted(children: Node, *, source: str = "?") -> Node:
    return [source, ": ", children]


@component
def numbered(children: list[Child]) -> Iterator[Node]:
    for i, child in enumerate(children):
        yield scope(prel=-i)[str(i), child]


def test_children_and_props() -> None:
    assert text_of(quoted(source="wiki")["a", scope(p=1)["b"]]) == "wiki: ab"
    assert text_of(quoted(source="wiki")["a", scope(p=1)["b"]], 7) == "wiki: a"
    assert text_of([quoted["x"], quoted()["y"], quoted(source="z")]) == "?: x?: yz: "


def test_a_component_may_be_a_generator_of_what_falls_in_turn() -> None:
    tree = numbered["a", "b", "c"]
    assert [text_of(tree, limit) for limit in (6, 5, 3, 2)] == ["0a1b2c", "0a1b", "0a", "0a"]


def test_priorities_count_through_components() -> None:
    tree = scope(p=5)[quoted(source="s")[scope(prel=-1)["a"], scope(p=9)["b"]]]
    assert [render(tree, token_limit=limit, tokenizer=CHARS).cutoff for limit in (5, 4, 3)] == [4, 5, 9]


def test_what_one_call_returns_is_one_alternative() -> None:
    assert text_of(first[quoted["a"], "b"]) == "?: a"
    assert text_of(first[scope(p=1)[quoted["a"]], "b"], 1) == "b"
    assert [text_of(fallback[quoted["long"], quoted["s"], "-"], limit) for limit in (7, 6, 3)] == [
        "?: long",
        "?: s",
        "-",
    ]


def test_a_component_runs_once_per_render() -> None:
    calls: list[str] = []

    @component
    def noted(children: Node, *, name: str) -> Node:
        calls.append(name)
        return [children, first[scope(p=1)["long"], scope(p=2)["s"]]]

    tree: Node = [
        noted(name="a")["x"],
        isolate(token_limit=9)[noted(name="b")["y"]],
        scope(p=-9)[noted(name="c")],
    ]
    render(tree, token_limit=6, tokenizer=CHARS)
    assert calls == ["a", "b", "c"]
    program = compile_prompt(tree)
    assert calls == ["a", "b", "c"] * 2
    for limit in range(6, 20):
        program.render(token_limit=limit, tokenizer=CHARS)
    assert calls == ["a", "b", "c"] * 2


def test_children_are_a_list_of_the_components_own() -> None:
    @component
    def greedy(children: list[Node]) -> Node:
        return [children.pop() for _ in range(len(children))]

    tree = greedy["a", "b"]
    assert [text_of(tree) for _ in range(2)] == ["ba", "ba"]


def test_an_error_is_itself_and_names_the_path_once() -> None:
    error = ZeroDivisionError("mine")

    @component
    def failing(children: Node) -> Node:
        raise error

    tree = user_message["a", scope(name="s")[quoted[failing["b"]]]]
    with pytest.raises(ZeroDivisionError) as caught:
        render(tree, token_limit=9, tokenizer=CHARS)
    assert caught.value is error
    (note,) = error.__notes__
    assert "root > 0:user > 1:scope[name=s] > 0:quoted > 2:failing" in note


def test_what_a_component_may_not_return_is_refused_by_path() -> None:
    @component
    def wrong(children: Node) -> Node:
        return cast("Node", ["a", {"b": 1}])

    with pytest.raises(TypeError, match=r"wrong > 1: a dict can't stand in a prompt") as caught:
        render(["x", scope[wrong["y"]]], token_limit=9, tokenizer=CHARS)
    assert isinstance(caught.value, PromptError)
    assert any("root > 1:scope > 0:wrong" in note for note in caught.value.__notes__)


def test_components_within_components() -> None:
    @component
    def deep(children: Node, *, depth: int) -> Node:
        return [str(depth), deep(depth=depth - 1)[children]] if depth else children

    assert text_of(deep(depth=5)["x"]) == "54321x"


# ------------------------------------------------------------------------------------------ reserves by functions


def test_a_reserve_is_asked_for_once_per_occurrence_per_render() -> None:
    calls: list[int] = []

    def size(count: Callable[[str], int]) -> int:
        calls.append(1)
        return count("abc")

    shared = empty(tokens=size)
    tree: Node = ["a", shared, scope(p=1)[shared], isolate(token_limit=9)[empty(tokens=size, p=1)]]
    found = render(tree, token_limit=7, tokenizer=CHARS)
    assert (found.text, found.tokens_reserved, len(calls)) == ("a", 6, 3)
    render(tree, token_limit=10, tokenizer=CHARS)
    assert len(calls) == 6
    assert oracle_render(tree, token_limit=7, tokenizer=CHARS).tokens_reserved == 6


@pytest.mark.parametrize("wrong", [-1, 1.5, "3", None, True], ids=repr)
def test_a_reserve_that_is_no_number_of_tokens_is_refused_by_path(wrong: object) -> None:
    def size(count: object) -> int:
        return cast("int", wrong)

    with pytest.raises(PromptError, match=r"root > 1:empty"):
        render(["a", empty(tokens=size)], token_limit=9, tokenizer=CHARS)


def test_an_error_of_a_reserve_is_itself() -> None:
    def size(count: object) -> int:
        raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        render(["a", empty(tokens=size)], token_limit=9, tokenizer=CHARS)
    assert any("root > 1:empty" in note for note in caught.value.__notes__)
