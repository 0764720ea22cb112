"""The promise, on random trees: what the engine gives is what the definition gives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    BASE_PRIORITY,
    PromptError,
    Rendered,
    StructureError,
    TokenCache,
    arender,
    compile_prompt,
    render,
)
from priompt_py.author.messages import assistant_message, tool_message, user_message
from priompt_py.author.tags import at_most, first, isolate, scope
from priompt_py.model.elements import Node
from priompt_py.testing.leaves import made
from priompt_py.testing.oracle import levels_of, prompt_at, tree_of
from priompt_py.testing.oracle_tree import Spot, spots
from priompt_py.testing.strategies import KINDS, chats, prompts, texts, token_limits
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer, ToyBPE, WordTokenizer
from priompt_py.tokens.chat_format import HARMONY_CHAT, OPENAI_CHAT, ChatFormat
from priompt_py.tokens.tokenizer import get_tokenizer
from tests.engine.compare import assert_defined, rendered_facts, snapshot

TOKENIZERS: dict[str, Callable[[], Any]] = {
    "o200k": lambda: "o200k_base",
    "cl100k": lambda: "cl100k_base",
    "words": WordTokenizer,
    "characters": CharTokenizer,
    "toy bpe": lambda: ToyBPE(("ab", "abc", "cd", "  ", "\n\n", " b", "bcd", "\na")),
    "greedy": lambda: GreedyTokenizer(("ab", "bcd", "d c", "\n\n", "a b", "\na")),
}

every_tokenizer = pytest.mark.parametrize("tokenizer", list(TOKENIZERS))


def settings_of_a_chat() -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of ``render`` that change what a chat costs."""
    odd = ChatFormat("odd", message_tokens=1, answer_tokens=5, incomplete_tokens=2, call_tokens=0)
    return st.fixed_dictionaries(
        {},
        optional={
            "chat_format": st.sampled_from((OPENAI_CHAT, HARMONY_CHAT, odd)),
            "last_message_incomplete": st.just(True),
            "pair_tools": st.just(False),
            "model": st.sampled_from(("gpt-4", "gpt-4o-mini")),
        },
    )


# ------------------------------------------------------------------------------------------ the definition


@every_tokenizer
@given(prompt=prompts(), data=st.data())
def test_a_plain_prompt_is_what_the_definition_says(
    tokenizer: str, prompt: list[Node], data: st.DataObject
) -> None:
    how = {"tokenizer": TOKENIZERS[tokenizer]()}
    limit = data.draw(token_limits(prompt, **how), "limit")
    assert_defined(prompt, token_limit=limit, **how)


@every_tokenizer
@given(chat=chats(), data=st.data())
def test_a_chat_is_what_the_definition_says(tokenizer: str, chat: list[Node], data: st.DataObject) -> None:
    how = {"tokenizer": TOKENIZERS[tokenizer](), **data.draw(settings_of_a_chat(), "how")}
    limit = data.draw(token_limits(chat, **how), "limit")
    assert_defined(chat, token_limit=limit, **how)


def swaps() -> st.SearchStrategy[Node]:
    """Alternatives and scopes side by side, whose sizes have nothing to do with their priorities."""
    sizes = st.integers(0, 12).map(lambda size: "ab c"[: 1 + size % 4] * (size // 2))
    levels = st.integers(0, 15) | st.sampled_from((0.5, 7.5))
    plain = made(lambda p, text: scope(p=p)[text], levels, sizes)
    either = st.lists(plain, min_size=1, max_size=3).map(lambda scopes: first[scopes])
    ceiling = made(
        lambda most, nodes: at_most(token_limit=most)[nodes],
        st.integers(0, 9),
        st.lists(plain | either, max_size=4),
    )
    return plain | either | ceiling


@every_tokenizer
@given(prompt=st.lists(swaps(), min_size=2, max_size=8), data=st.data())
def test_counts_that_rise_and_fall_with_the_level(
    tokenizer: str, prompt: list[Node], data: st.DataObject
) -> None:
    how = {"tokenizer": TOKENIZERS[tokenizer]()}
    limit = data.draw(token_limits(prompt, **how), "limit")
    assert_defined(prompt, token_limit=limit, **how)


def loose_units() -> st.SearchStrategy[Node]:
    """Calls and results of few ids, put together without any care."""
    ids = st.sampled_from(("x", "y", ""))
    calls = st.lists(ids.map(lambda each: {"id": each, "name": "f", "arguments": "{}"}), max_size=2)
    said = made(lambda each, text: assistant_message(tool_calls=each)[text], calls, texts(max_words=1))
    result = made(lambda each, text: tool_message(tool_call_id=each)[text], ids, texts(max_words=1))
    node: st.SearchStrategy[Node] = st.deferred(
        lambda: st.one_of(
            said,
            result,
            st.lists(node, max_size=3).map(lambda nodes: scope(p=1)[nodes]),
            st.lists(node.map(lambda each: scope[each]), max_size=3).map(lambda nodes: first[nodes]),
            st.lists(node, max_size=3).map(lambda nodes: isolate(token_limit=99)[nodes]),
        )
    )
    return node


@given(st.lists(loose_units(), max_size=5), st.integers(0, 12))
def test_units_are_refused_or_closed_as_the_definition_says(chat: list[Node], limit: int) -> None:
    assert_defined(chat, token_limit=limit, tokenizer=CharTokenizer())


@given(chats(), texts(max_words=2), st.integers(0, 3))
def test_text_beside_messages_is_judged_whatever_the_limit(chat: list[Node], text: str, limit: int) -> None:
    tree: list[Node] = [*chat, user_message["u"], scope(p=-5)[text]]
    assert_defined(tree, token_limit=limit, tokenizer=CharTokenizer())


# ------------------------------------------------------------------------------------------ what follows from it


def outcome(call: Callable[[], Rendered]) -> object:
    """Everything there is to see of a render, or its error in full."""
    try:
        return rendered_facts(call())
    except PromptError as error:
        return type(error), str(error)


@given(prompts() | chats(), st.integers(0, 60))
def test_twice_is_the_same_and_the_tree_is_unchanged(tree: list[Node], limit: int) -> None:
    before = snapshot(tree)
    one = outcome(lambda: render(tree, token_limit=limit, tokenizer="o200k_base"))
    other = outcome(lambda: render(tree, token_limit=limit, tokenizer="o200k_base"))
    assert one == other
    assert snapshot(tree) == before


@given(prompts() | chats(), st.lists(st.integers(0, 90), min_size=2, max_size=5))
def test_a_program_gives_what_render_gives(tree: list[Node], limits: list[int]) -> None:
    words = WordTokenizer()
    try:
        program = compile_prompt(tree)
    except StructureError:
        return
    for limit in limits:
        again = outcome(partial(program.render, token_limit=limit, tokenizer=words))
        assert again == outcome(partial(render, tree, token_limit=limit, tokenizer=words))


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base"])
@given(chat=chats(tools=False) | prompts(), incomplete=st.booleans())
def test_the_count_is_the_number_of_ids(tokenizer: str, chat: list[Node], incomplete: bool) -> None:
    try:
        rendered = render(chat, token_limit=500, tokenizer=tokenizer, last_message_incomplete=incomplete)
    except PromptError:
        return
    try:
        ids = rendered.to_tokens()
    except PromptError:  # images, parts and tools have no ids
        return
    assert len(ids) == rendered.token_count
    if rendered.text is not None:
        assert get_tokenizer(tokenizer).decode(ids) == rendered.text


@given(prompts() | chats(), st.integers(0, 60))
def test_the_async_door_gives_the_same(tree: list[Node], limit: int) -> None:
    async def door() -> Rendered:
        return await arender(tree, token_limit=limit, tokenizer=CharTokenizer())

    one = outcome(lambda: render(tree, token_limit=limit, tokenizer=CharTokenizer()))
    assert outcome(lambda: asyncio.run(door())) == one


@given(
    st.lists(prompts() | chats(), min_size=2, max_size=3),
    st.lists(st.integers(0, 60), min_size=1, max_size=3),
)
def test_a_cache_changes_nothing(trees: list[list[Node]], limits: list[int]) -> None:
    cache = TokenCache()
    for tree, limit in [(tree, limit) for limit in limits for tree in trees] * 2:
        how: dict[str, Any] = {"token_limit": limit, "tokenizer": "o200k_base"}
        assert outcome(partial(render, tree, cache=cache, **how)) == outcome(partial(render, tree, **how))


@given(prompts(kinds=KINDS - {"max", "isolate"}), st.integers(0, 60))
def test_decisions_say_for_which_cutoffs_an_element_is_in(prompt: list[Node], limit: int) -> None:
    try:
        rendered = render(prompt, token_limit=limit, tokenizer=CharTokenizer())
    except PromptError:
        return
    tree = tree_of(prompt, token_limit=limit, tokenizer=CharTokenizer())
    decided = {decision.path: decision for decision in rendered.decisions}
    assert len(decided) == len(rendered.decisions)
    assert all(decision.included == (decision.reason == "included") for decision in rendered.decisions)
    for spot in spots(tree.root):
        if spot.kind == "scope":
            decision = decided[spot.path]
            line = [each.priority for each in line_of(spot) if each.ranked]
            assert (decision.priority, decision.effective_priority) == (
                spot.priority,
                min([BASE_PRIORITY, *line]),
            )
            for level in levels_of(tree.root):
                assert (decision.low < level <= decision.high) == (spot in prompt_at(tree, level))
            if decision.reason == "below_cutoff":
                assert decision.priority < rendered.cutoff


def line_of(spot: Spot) -> list[Spot]:
    """From a spot up to the root."""
    return [spot, *(line_of(spot.parent) if spot.parent else [])]
