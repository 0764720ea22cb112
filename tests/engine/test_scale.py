"""Wide, deep and large prompts: time that grows linearly, and nothing tokenised that can't matter.

Times are generous: they fail for what is quadratic, not for a slow machine.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import pytest

from priompt_py import (
    BASE_PRIORITY,
    Node,
    Rendered,
    at_most,
    compile_prompt,
    first,
    isolate,
    render,
    scope,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer, CountingTokenizer, WordTokenizer
from priompt_py.tokens.tokenizer import get_tokenizer

CHARS = CharTokenizer()
MANY = 100_000
SECONDS = 5.0


def timed(tree: Node, limit: int, seconds: float = SECONDS, **how: object) -> Rendered:
    began = time.perf_counter()
    found = render(tree, token_limit=limit, tokenizer=CHARS, **how)  # type: ignore[arg-type]
    assert time.perf_counter() - began < seconds
    return found


# ------------------------------------------------------------------------------------------ degenerate shapes


def test_many_scopes_of_one_priority() -> None:
    tree = [scope(p=1)["x"] for _ in range(MANY)]
    found = timed(["A", *tree], 10)
    assert (found.text, found.cutoff) == ("A", BASE_PRIORITY)
    assert timed(["A", *tree], MANY + 1).token_count == MANY + 1


def test_many_scopes_of_many_priorities() -> None:
    draw = random.Random(1)
    priorities = [draw.uniform(-1e6, 1e6) for _ in range(MANY)]
    found = timed([scope(p=p)[chr(0x4E00 + i % 5000)] for i, p in enumerate(priorities)], MANY // 2)
    cutoff = sorted(priorities)[-(MANY // 2)]
    assert found.cutoff == cutoff
    kept = [chr(0x4E00 + i % 5000) for i, p in enumerate(priorities) if p >= cutoff]
    assert found.text == "".join(kept)


def test_one_scope_of_many_texts() -> None:
    tree = [scope(p=1)[["x"] * MANY], "A"]
    assert timed(tree, MANY // 2).text == "A"
    assert timed(tree, MANY + 1).token_count == MANY + 1


def test_many_alternatives_of_which_the_last_fits() -> None:
    tree = first[[scope(p=i)["xx"] for i in range(MANY)], scope(p=MANY)["y"]]
    found = timed(tree, 1)
    assert (found.text, found.cutoff) == ("y", MANY)


def test_many_leaves_that_are_no_text() -> None:
    tree = [scope(p=-1)["z"], *(i if i % 3 == 0 else (None, False)[i % 2] for i in range(MANY))]
    expected = "".join(str(i) for i in range(MANY) if i % 3 == 0)
    assert timed(tree, len(expected)).text == expected


def test_many_levels_whose_counts_rise_and_fall() -> None:
    def swap(i: int) -> Node:
        return first[scope(p=2 * i)["a"], scope(p=2 * i + 1)["long" * (i % 7)]]

    tree = [swap(i) for i in range(2_000)]
    limit = 4_000
    found = timed(tree, limit)
    costs = {}
    for level in [*range(4_000), BASE_PRIORITY]:
        whole = sum(1 for i in range(2_000) if 2 * i >= level)
        costs[level] = whole + (4 * (level // 2 % 7) if level % 2 and level < 4_000 else 0)
    assert (found.cutoff, found.token_count) == next((c, n) for c, n in costs.items() if n <= limit)


# ------------------------------------------------------------------------------------------ growth


def lines(count: int, log: list[int] | None = None) -> Node:
    def note(i: int) -> Callable[[], None]:
        assert log is not None
        return lambda: log.append(i)

    if log is None:
        return [scope(p=i)[f"line {i}\n"] for i in range(count)]
    return [scope(p=i, on_include=note(i), on_eject=note(-i))[f"line {i}\n"] for i in range(count)]


def seconds_for(count: int, *, hooks: bool, source_map: bool) -> float:
    best = float("inf")
    for _ in range(3):
        log: list[int] = []
        tree = lines(count, log if hooks else None)
        began = time.perf_counter()
        found = render(tree, token_limit=10**7, tokenizer="o200k_base", source_map=source_map)
        if source_map:
            assert found.source_map is not None
            leaves = list(found.source_map.leaves())
            assert len(leaves) == count
            assert "".join(found.source_map.text[leaf.start : leaf.end] for leaf in leaves) == found.text
        best = min(best, time.perf_counter() - began)
        assert log == (list(range(count)) if hooks else [])
    return best


@pytest.mark.slow
@pytest.mark.parametrize("hooks", [False, True], ids=["no callbacks", "callbacks"])
@pytest.mark.parametrize("source_map", [False, True], ids=["no source map", "source map"])
def test_time_grows_with_the_number_of_lines(hooks: bool, source_map: bool) -> None:
    small = seconds_for(10_000, hooks=hooks, source_map=source_map)
    large = seconds_for(100_000, hooks=hooks, source_map=source_map)
    assert large < 15 * small + 0.2


def test_one_large_text() -> None:
    text = "word " * 200_000
    began = time.perf_counter()
    found = render([text, scope(p=1)["no more"]], token_limit=10**6, tokenizer="o200k_base")
    assert time.perf_counter() - began < SECONDS
    assert found.token_count == get_tokenizer("o200k_base").count(text + "no more")


@pytest.mark.slow
def test_a_million_scopes() -> None:
    tree = [scope(p=i % 1_000)["x"] for i in range(1_000_000)]
    found = timed(tree, 10_000, seconds=30.0)
    assert (found.token_count, found.cutoff) == (10_000, 990)


@pytest.mark.slow
def test_a_million_scopes_of_different_priorities() -> None:
    draw = random.Random(2)
    tree = [scope(p=i)["x"] for i in draw.sample(range(1_000_000), 1_000_000)]
    found = timed(tree, 10_000, seconds=30.0)
    assert (found.token_count, found.cutoff) == (10_000, 990_000)


# ------------------------------------------------------------------------------------------ depth

DEEP = 10_000


def nested(leaf: Node, around: Callable[[Node, int], Node]) -> Node:
    node = leaf
    for depth in range(DEEP):
        node = around(node, depth)
    return node


SHAPES: dict[str, Callable[[Node, int], Node]] = {
    "scopes": lambda node, _: scope[node],
    "scopes of priorities": lambda node, depth: scope(p=DEEP - depth)[node],
    "scopes of relative priorities": lambda node, _: scope(prel=-1)[node],
    "firsts": lambda node, _: first[node],
    "scopes and text": lambda node, depth: scope(p=depth)["(", node, ")"],
    "lists": lambda node, _: [node],
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_depth_is_no_matter(shape: str) -> None:
    tree = nested("x", SHAPES[shape])
    assert sys.getrecursionlimit() < DEEP
    found = render(tree, token_limit=3 * DEEP, tokenizer=CHARS, source_map=True)
    assert (found.text or "").strip("()") == "x"
    assert found.source_map is not None
    assert sum(1 for _ in found.source_map.walk()) > 1
    assert len(repr(tree)) < 10**6
    program = compile_prompt(tree)
    assert program.render(token_limit=3 * DEEP, tokenizer=CHARS).text == found.text


def test_deep_isolates_and_maxes() -> None:
    for tag in (isolate, at_most):
        node: Node = "x"
        for _ in range(1_000):
            node = tag(token_limit=5)[node]
        assert timed(node, 9).text == "x"


def test_deep_in_a_message() -> None:
    tree = user_message[nested("x", SHAPES["scopes of relative priorities"])]
    found = timed(tree, 9)
    assert (found.messages or ())[0].text == "x"
    assert found.cutoff == BASE_PRIORITY - DEEP


# ------------------------------------------------------------------------------------------ what is not tokenised


def test_a_tree_far_over_the_limit_is_hardly_tokenised() -> None:
    block = "The quick brown fox jumps over the lazy dog, again. " * 200  # 10 kB
    tree = ["Question?", *(scope(p=i)[block] for i in range(10_000))]  # 100 MB
    counting = CountingTokenizer(get_tokenizer("o200k_base"))
    began = time.perf_counter()
    found = render(tree, token_limit=8_000, tokenizer=counting)
    assert time.perf_counter() - began < SECONDS
    assert 8_000 - 2_400 < found.token_count <= 8_000
    assert found.cutoff == 10_000 - (found.token_count // (get_tokenizer("o200k_base").count(block)))
    assert counting.characters < 1_000_000


def test_words_too_are_hardly_tokenised() -> None:
    tree = ["A ", *(scope(p=i)["word " * 2_000] for i in range(1_000))]  # 10 MB
    counting = CountingTokenizer(WordTokenizer())
    found = render(tree, token_limit=8_000, tokenizer=counting)
    assert (found.token_count, found.cutoff) == (6_001, 997)
    assert counting.characters < 1_000_000


def test_one_text_far_over_the_limit_is_hardly_tokenised() -> None:
    counting = CountingTokenizer(get_tokenizer("o200k_base"))
    found = render(["A", scope(p=1)["word " * 2_000_000]], token_limit=8_000, tokenizer=counting)
    assert found.text == "A"
    assert counting.characters < 1_000_000


def test_what_is_left_out_of_an_alternative_is_not_tokenised_again_and_again() -> None:
    block = "one two three four five six seven eight nine ten\n" * 20
    tree = [first[scope(p=2 * i)[block], scope(p=2 * i + 1)["short\n"]] for i in range(2_000)]
    counting = CountingTokenizer(get_tokenizer("o200k_base"))
    found = render(tree, token_limit=8_000, tokenizer=counting)
    assert found.token_count <= 8_000
    assert counting.characters < 3 * 2_000 * len(block)
