"""Faults that were found by trying to break the engine, each with its right value."""

from __future__ import annotations

import gc
import time
import warnings
from typing import Any

import pytest

from priompt_py import (
    Node,
    PromptError,
    PromptTooLong,
    TokenizerError,
    arender,
    at_most,
    compile_prompt,
    config,
    empty,
    excerpt,
    first,
    image,
    isolate,
    part,
    render,
    scope,
    system_message,
    tool_definition,
    turn,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer
from priompt_py.tokens.tokenizer import from_count


def test_an_empty_text_in_a_message_moves_no_span() -> None:
    rendered = render(
        [user_message[""], scope(p=3)[user_message["bbbb " * 10]]], token_limit=10, source_map=True
    )
    assert rendered.source_map is not None
    spans = [(span.start, span.end, span.kind) for span in rendered.source_map.root.children]
    assert spans == [(0, 36, "message"), (36, 67, "frame")]


def seconds(count: int, piece: str) -> float:
    tree = [scope(p=index)[piece.format(index)] for index in range(count)]
    return least(tree, render(tree, token_limit=10**9).token_count // 2)


def least(tree: Node, token_limit: int) -> float:
    """Seconds of this thread's processor time, the least of three: other work on the machine shows little."""
    best = 9.0
    for _ in range(3):
        start = time.thread_time()
        render(tree, token_limit=token_limit)
        best = min(best, time.thread_time() - start)
    return best


@pytest.mark.parametrize("piece", ["你好世界，第{}行中文字符。\n", "x{}=f(a,b);\n", "line {}\n"])
def test_lines_that_are_cut_only_at_their_borders_take_time_by_their_number(piece: str) -> None:
    assert seconds(4_000, piece) < 12 * seconds(1_000, piece) + 0.05


def test_isolates_of_text_take_time_by_their_number() -> None:
    def taken(count: int) -> float:
        inner = isolate(token_limit=8)[scope(p=1)["some words "], scope(p=2)["a b "]]
        tree = [scope(p=index)[inner] for index in range(count)]
        return least(tree, 3 * count)

    assert taken(2_000) < 12 * taken(500) + 0.1


def test_what_is_done_to_a_result_reaches_neither_tree_nor_program() -> None:
    tree: list[Node] = [
        config(extra={"n": {"a": [1]}}),
        tool_definition(name="f", parameters={"type": "object", "properties": {}}),
        user_message["x", part(provider="openai", data={"l": [1]}, tokens=3)],
    ]
    program = compile_prompt(tree)
    before = program.render(token_limit=500)
    request = before.to_openai()
    given: Any = before
    given.config.extra["n"]["a"].append(5)
    given.tools[0].parameters["properties"]["zz"] = 1
    given.messages[0].parts[1].data["l"].append(1)
    for after in (program.render(token_limit=500), render(tree, token_limit=500)):
        assert after.to_openai() == request
        assert after.token_count == before.token_count


@pytest.mark.parametrize(
    "tree",
    [
        "x",
        isolate(token_limit=10**400)["x"],
        isolate(token_limit=f"{10**400}%")["x"],
        excerpt("x", keep="tail"),
    ],
    ids=["text", "isolate", "share", "excerpt"],
)
def test_limits_may_be_greater_than_any_float(tree: Node) -> None:
    assert render(tree, token_limit=10**400).text == "x"


def test_reserves_may_be_greater_than_any_float() -> None:
    with pytest.raises(PromptTooLong) as caught:
        render([empty(tokens=10**400)], token_limit=9)
    assert caught.value.required_limit == 10**400


def test_the_largest_parts_are_those_that_cost_most() -> None:
    tree = [
        system_message["Be brief, please."],
        user_message["x", image(url="https://example.org/y", detail="high")],
        tool_definition(name="look", description="Look something up in a very long list of things."),
    ]
    with pytest.raises(PromptTooLong) as caught:
        render(tree, token_limit=50)
    # The tile rule's most for an unknown size: 85 + 8 * 170, and the text.
    assert caught.value.largest[0] == ("root > 1:user", 1446)
    assert caught.value.largest[1][0] == "root > 2:tool_definition"


def with_bytes(node: Node) -> Any:
    """A list that no prompt can hold."""
    return [node, b"x"]


def test_a_refused_call_leaves_no_coroutine_behind() -> None:
    async def component(text: str) -> Node:
        return text

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: render(with_bytes(component("a")), token_limit=9),
            lambda: scope[with_bytes(component("a"))],
            lambda: render([component("a")], token_limit=-1),
        ):
            with pytest.raises(PromptError):
                call()
            gc.collect()


@pytest.mark.anyio
async def test_a_refused_call_of_arender_leaves_none_either() -> None:
    async def component(text: str) -> Node:
        return text

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PromptError):
            await arender(with_bytes(component("a")), token_limit=9)
        gc.collect()


def test_decisions_are_equal_by_what_they_say() -> None:
    tree: list[Node] = [scope(p=1)["x"], "y"]
    assert render(tree, token_limit=9).decisions == render(tree, token_limit=9).decisions


def test_decisions_on_an_excerpt_tell_its_pieces() -> None:
    rendered = render(excerpt("a\nb\nc", keep="head", p=5), token_limit=4, tokenizer=CharTokenizer())
    assert [(d.kind, d.path, d.included, d.reason) for d in rendered.decisions] == [
        ("excerpt", "root > 0:excerpt", True, "included"),
        ("piece", "root > 0:excerpt > 0:text", True, "included"),
        ("piece", "root > 0:excerpt > 1:text", True, "included"),
        ("piece", "root > 0:excerpt > 2:text", False, "below_cutoff"),
    ]


def test_a_picture_of_unknown_size_makes_the_count_an_upper_bound() -> None:
    unknown = user_message[image(url="https://example.org/y")]
    assert render(unknown, token_limit=5_000).count_kind == "upper_bound"
    known = user_message[image(url="https://example.org/y", dimensions=(10, 10))]
    assert render(known, token_limit=5_000).count_kind == "exact"


@pytest.mark.parametrize("count", [-1, 1.5, None, "3", True], ids=repr)
def test_tokenizers_that_count_with_something_else_are_named(count: Any) -> None:
    class Liar:
        name = "liar"

        def count(self, text: str) -> Any:
            return count

        def encode(self, text: str) -> list[int]:
            raise AssertionError(text)

        def decode(self, ids: Any) -> str:
            raise AssertionError

    with pytest.raises(PromptError, match="the tokenizer 'liar' has to count with an int of 0 or more, got "):
        render(first["x", "y"], token_limit=5, tokenizer=Liar())


@pytest.mark.parametrize("index", ["1", None, 1.0, True, [1]], ids=repr)
def test_turns_are_numbered_with_whole_numbers(index: Any) -> None:
    with pytest.raises(TypeError, match=r"turn\(\) needs a message's number"):
        turn(index)


def test_a_tokenizer_that_lies_about_its_safe_cuts_is_named() -> None:
    half = from_count(lambda text: (len(text) + 1) // 2, name="half", splittable=True)
    with pytest.raises(TokenizerError) as caught:
        render(
            at_most(token_limit="67%")[excerpt("\naaa", keep="head", omitted="...")],
            token_limit=3,
            tokenizer=half,
        )
    assert str(caught.value) == (
        "the counts of 'half' don't add up at the places that its safe_cuts name; declare fewer of them, or none"
    )
