"""Wide, deep and large prompts: time that grows linearly, and nothing tokenised that can't matter.

Times are generous: they fail for what is quadratic, not for a slow machine.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py import (
    BASE_PRIORITY,
    Memory,
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


def timed(tree: Node, limit: int, seconds: float = SECONDS, *, source_map: bool = False) -> Rendered:
    began = time.process_time()
    found = render(tree, token_limit=limit, tokenizer=CHARS, source_map=source_map)
    assert time.process_time() - began < seconds
    return found


# ------------------------------------------------------------------------------------------ degenerate shapes


def test_many_scopes_of_one_priority() -> None:
    scopes = [scope(p=1)["x"] for _ in range(MANY)]
    found = timed(["A", *scopes], 10)
    assert (found.text, found.cutoff) == ("A", BASE_PRIORITY)
    assert timed(["A", *scopes], MANY + 1).token_count == MANY + 1


def test_many_scopes_of_many_priorities() -> None:
    draw = random.Random(1)
    priorities = [draw.uniform(-1e6, 1e6) for _ in range(MANY)]
    found = timed([scope(p=p)[chr(0x4E00 + i % 5000)] for i, p in enumerate(priorities)], MANY // 2)
    cutoff = sorted(priorities)[-(MANY // 2)]
    assert found.cutoff == cutoff
    kept = [chr(0x4E00 + i % 5000) for i, p in enumerate(priorities) if p >= cutoff]
    assert found.text == "".join(kept)


def test_one_scope_of_many_texts() -> None:
    tree: Node = [scope(p=1)[["x"] * MANY], "A"]
    assert timed(tree, MANY // 2).text == "A"
    assert timed(tree, MANY + 1).token_count == MANY + 1


def test_many_alternatives_of_which_the_last_fits() -> None:
    tree: Node = first[[scope(p=i)["xx"] for i in range(MANY)], scope(p=MANY)["y"]]
    found = timed(tree, 1)
    assert (found.text, found.cutoff) == ("y", MANY)


def test_many_leaves_that_are_no_text() -> None:
    tree: Node = [scope(p=-1)["z"], *(i if i % 3 == 0 else (None, False)[i % 2] for i in range(MANY))]
    expected = "".join(str(i) for i in range(MANY) if i % 3 == 0)
    assert timed(tree, len(expected)).text == expected


def test_many_levels_whose_counts_rise_and_fall() -> None:
    def swap(i: int) -> Node:
        return first[scope(p=2 * i)["a"], scope(p=2 * i + 1)["long" * (i % 7)]]

    tree: Node = [swap(i) for i in range(2_000)]
    limit = 4_000
    found = timed(tree, limit)
    costs: dict[int, int] = {}
    for level in [*range(4_000), BASE_PRIORITY]:
        whole = sum(1 for i in range(2_000) if 2 * i >= level)
        costs[level] = whole + (4 * (level // 2 % 7) if level % 2 and level < 4_000 else 0)
    assert (found.cutoff, found.token_count) == next((c, n) for c, n in costs.items() if n <= limit)


# ------------------------------------------------------------------------------------------ growth


def lines(count: int, log: list[int] | None = None) -> Node:
    if log is None:
        return [scope(p=i)[f"line {i}\n"] for i in range(count)]

    def note(i: int) -> Callable[[], None]:
        return lambda: log.append(i)

    return [scope(p=i, on_include=note(i), on_eject=note(-i))[f"line {i}\n"] for i in range(count)]


def seconds_for(count: int, *, hooks: bool, source_map: bool) -> float:
    best = float("inf")
    gc.collect()
    gc.freeze()  # else the collector looks through what the tests before this one have left, again and again
    for _ in range(2):
        log: list[int] = []
        tree: Node = lines(count, log if hooks else None)
        began = time.process_time()
        found = render(tree, token_limit=10**7, tokenizer="o200k_base", source_map=source_map)
        if source_map:
            assert found.source_map is not None
            leaves = list(found.source_map.leaves())
            assert len(leaves) == count
            assert "".join(found.source_map.text[leaf.start : leaf.end] for leaf in leaves) == found.text
        best = min(best, time.process_time() - began)
        assert log == (list(range(count)) if hooks else [])
    gc.unfreeze()
    return best


@pytest.mark.slow
@pytest.mark.parametrize("hooks", [False, True], ids=["no callbacks", "callbacks"])
@pytest.mark.parametrize("source_map", [False, True], ids=["no source map", "source map"])
def test_time_grows_with_the_number_of_lines(hooks: bool, source_map: bool) -> None:
    small = seconds_for(4_000, hooks=hooks, source_map=source_map)
    large = seconds_for(40_000, hooks=hooks, source_map=source_map)
    assert large < 15 * small + 0.3


def test_one_large_text() -> None:
    text = "word " * 200_000
    began = time.process_time()
    found = render([text, scope(p=1)["no more"]], token_limit=10**6, tokenizer="o200k_base")
    assert time.process_time() - began < SECONDS
    assert found.token_count == get_tokenizer("o200k_base").count(text + "no more")


@pytest.mark.slow
def test_a_million_scopes() -> None:
    tree: Node = [scope(p=i % 1_000)["x"] for i in range(1_000_000)]
    found = timed(tree, 10_000, seconds=30.0)
    assert (found.token_count, found.cutoff) == (10_000, 990)


@pytest.mark.slow
def test_a_million_scopes_of_different_priorities() -> None:
    draw = random.Random(2)
    tree: Node = [scope(p=i)["x"] for i in draw.sample(range(1_000_000), 1_000_000)]
    found = timed(tree, 10_000, seconds=30.0)
    assert (found.token_count, found.cutoff) == (10_000, 990_000)


# ------------------------------------------------------------------------------------------ depth

DEEP = 10_000


def nested(leaf: Node, around: Callable[[Node, int], Node], depths: int = DEEP) -> Node:
    node = leaf
    for depth in range(depths):
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
    tree: Node = nested("x", SHAPES[shape])
    assert sys.getrecursionlimit() < DEEP
    found = timed(tree, 3 * DEEP)
    assert (found.text or "").strip("()") == "x"
    program = compile_prompt(tree)
    assert program.render(token_limit=3 * DEEP, tokenizer=CHARS).text == found.text


def test_what_is_shown_of_an_element_is_short_at_any_depth() -> None:
    assert len(repr(nested("x", SHAPES["scopes"]))) < 1_000


@pytest.mark.parametrize("shape", list(SHAPES))
def test_source_maps_and_decisions_of_deep_trees(shape: str) -> None:
    found = timed(nested("x", SHAPES[shape], 1_500), 9_000, source_map=True)
    assert found.source_map is not None
    assert (
        "".join(found.source_map.text[leaf.start : leaf.end] for leaf in found.source_map.leaves())
        == found.text
    )
    assert all(decision.included for decision in found.decisions)


@pytest.mark.parametrize("tag", [isolate, at_most])
@pytest.mark.parametrize("limit", [5, "100%"])
def test_deep_isolates_and_maxes(tag: Any, limit: int | str) -> None:
    tree: Node = nested("x", lambda node, _: tag(token_limit=limit)[node], 400)
    assert timed(tree, 9).text == "x"


def test_deep_in_a_message() -> None:
    tree: Node = user_message[nested("x", SHAPES["scopes of relative priorities"])]
    found = timed(tree, 9)
    assert [message.text for message in found.messages or ()] == ["x"]
    assert found.cutoff == BASE_PRIORITY - DEEP


# ------------------------------------------------------------------------------------------ what is not tokenised


def test_a_tree_far_over_the_limit_is_hardly_tokenised() -> None:
    block = "The quick brown fox jumps over the lazy dog, again. " * 200  # 10 kB
    tree: Node = ["Question?", *(scope(p=i)[block] for i in range(10_000))]  # 100 MB
    counting = CountingTokenizer(get_tokenizer("o200k_base"))
    began = time.process_time()
    found = render(tree, token_limit=8_000, tokenizer=counting)
    assert time.process_time() - began < SECONDS
    assert 8_000 - 2_400 < found.token_count <= 8_000
    assert found.cutoff == 10_000 - (found.token_count // (get_tokenizer("o200k_base").count(block)))
    assert counting.characters < 1_000_000


@pytest.mark.parametrize("in_chat", [False, True])
def test_a_remembered_cutoff_far_below_what_fits_is_hardly_tokenised(in_chat: bool) -> None:
    """Such as that of another conversation, or of a limit that was a hundred times as large."""
    block = "The quick brown fox jumps over the lazy dog, again. " * 200  # 10 kB
    tree: Node = [scope(p=i)[user_message[block] if in_chat else block] for i in range(1_000)]  # 10 MB
    counting = CountingTokenizer(get_tokenizer("o200k_base"))
    last = render(tree, token_limit=8_000, tokenizer=counting, previous=Memory())
    without, counting.characters = counting.characters, 0
    for cutoff in (BASE_PRIORITY, 998, 500, 0, -(10**9)):
        found = render(tree, token_limit=8_000, tokenizer=counting, previous=Memory(cutoff=cutoff))
        assert counting.characters < 2 * without
        assert (found.text, found.messages) == (last.text, last.messages)
        counting.characters = 0


def test_the_inside_of_a_max_is_not_tokenised_for_a_remembered_cutoff() -> None:
    tree: Node = at_most(token_limit=100)[[scope(p=i)["word " * 60] for i in range(1_000)]]
    counting = CountingTokenizer(WordTokenizer())
    found = render(tree, token_limit=8_000, tokenizer=counting, previous=Memory(maxes={"root > 0:max": 1}))
    assert (found.token_count, found.memory) == (60, Memory(maxes={"root > 0:max": 999}))
    assert counting.characters < 10_000


def test_words_too_are_hardly_tokenised() -> None:
    tree: Node = ["A ", *(scope(p=i)["word " * 2_000] for i in range(1_000))]  # 10 MB
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
    tree: Node = [first[scope(p=2 * i)[block], scope(p=2 * i + 1)["short\n"]] for i in range(2_000)]
    counting = CountingTokenizer(get_tokenizer("o200k_base"))
    found = render(tree, token_limit=8_000, tokenizer=counting)
    assert found.token_count <= 8_000
    assert counting.characters < 3 * 2_000 * len(block)
