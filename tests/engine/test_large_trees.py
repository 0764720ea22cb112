"""Trees of some hundred elements against the definition, under many limits: ways that small trees never take."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py import (
    Node,
    PromptTooLong,
    assistant_message,
    at_most,
    br,
    compile_prompt,
    empty,
    fallback,
    first,
    isolate,
    scope,
    system_message,
    token_break,
    tool_message,
    user_message,
)
from priompt_py.author.excerpts import excerpt
from priompt_py.testing.oracle import levels_of, oracle_render, tree_of, whole_count
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer, ToyBPE, WordTokenizer
from tests.engine.compare import oracle_facts, rendered_facts

TOKENIZERS: dict[str, Callable[[], Any]] = {
    "o200k": lambda: "o200k_base",
    "cl100k": lambda: "cl100k_base",
    "words": WordTokenizer,
    "characters": CharTokenizer,
    "toy bpe": lambda: ToyBPE(("ab", "abc", "cd", "  ", "\n\n", " b", "bcd", "\na")),
    "greedy": lambda: GreedyTokenizer(("ab", "bcd", "d c", "\n\n", "a b", "\na")),
}

WORDS = [
    "a",
    "ab",
    "abc",
    "bcd",
    "cd",
    "the",
    "12345",
    "don't",
    "naïve",
    "合同",
    "лимит",
    "😀",
    "foo_bar()",
    "{}",
    "</b>",
    "http://x.y/z",
    "I'll",
]
BETWEEN = (" ", " ", " ", "", "\n", "\n\n  ", ", ", "\t")


KINDS = (
    "list",
    "list",
    "list",
    "scope",
    "scope",
    "scope",
    "first",
    "fallback",
    "max",
    "isolate",
    "excerpt",
    "empty",
)


class Grower:
    """Random trees of about ``size`` leaves, with ``levels`` different priorities."""

    def __init__(self, seed: int, *, levels: int) -> None:
        self.draw = random.Random(seed)
        self.levels = levels
        self.calls = 0

    def text(self) -> str:
        draw = self.draw
        words = draw.choice((1, 2, 3, 5, 8, 13, 40))
        return "".join(draw.choice(WORDS) + draw.choice(BETWEEN) for _ in range(words))

    def p(self) -> int | float:
        p = self.draw.randrange(self.levels)
        return p + 0.5 if self.draw.random() < 0.1 else p

    def content(self, size: int) -> Node:
        """Nodes that may stand in a message."""
        draw = self.draw
        if size <= 1:
            leaf = draw.choice((self.text, self.text, self.text, lambda: br, lambda: token_break))
            node: Node = leaf()
            return scope(p=self.p())[node] if draw.random() < 0.7 else node
        parts = [self.content(part) for part in self.parts(size)]
        kind = draw.choice(
            ("list", "list", "scope", "scope", "first", "fallback", "max", "isolate", "excerpt", "empty")
        )
        match kind:
            case "scope":
                return scope(p=self.p())[parts]
            case "first":
                return first[[scope(p=self.p())[part] for part in parts]]
            case "fallback":
                return fallback(p=self.p())[[scope[part] for part in parts]]
            case "max":
                return at_most(token_limit=10**6)[parts] if draw.random() < 0.3 else self.under_ceiling(parts)
            case "isolate":
                return isolate(token_limit=draw.choice((20, 200, 2_000)))[
                    [scope(p=self.p())[part] for part in parts]
                ]
            case "excerpt":
                text = "".join(self.text() + "\n" for _ in range(size))
                return excerpt(text, keep=draw.choice(("head", "tail", "ends")), omitted="…", p=self.p())
            case "empty":
                return [parts, empty(tokens=draw.randrange(9), p=self.p())]
            case _:
                return parts

    def under_ceiling(self, parts: list[Node]) -> Node:
        return at_most(token_limit=self.draw.choice((5, 50, 500)))[
            [scope(p=self.p())[part] for part in parts]
        ]

    def parts(self, size: int) -> list[int]:
        count = min(size, self.draw.choice((2, 3, 4, 8)))
        return [size // count] * count

    def message(self, size: int) -> Node:
        draw = self.draw
        if draw.random() < 0.2:
            return self.unit(size)
        tag = draw.choice((user_message, system_message, assistant_message))
        message = tag[self.content(size)]
        return scope(p=self.p())[message] if draw.random() < 0.6 else message

    def unit(self, size: int) -> Node:
        self.calls += 1
        name = f"call_{self.calls}"
        said = assistant_message(tool_calls=[{"id": name, "name": "look", "arguments": '{"a": 1}'}])
        result = tool_message(tool_call_id=name)
        both: list[Node] = [
            scope(p=self.p())[said[self.text()]],
            first[scope(p=self.p())[result[self.content(size)]], scope(p=self.p())[result["-"]]],
        ]
        return scope(p=self.p())[both] if self.draw.random() < 0.5 else both

    def chat(self, size: int) -> Node:
        return [self.message(part) for part in [size // 20] * 20]


def assert_all_limits(tree: Node, how: dict[str, Any], seed: int) -> None:
    """Levels and counts come from the definition once; then each limit has one right cutoff."""
    far = 10**9
    picture = tree_of(tree, token_limit=far, **how)
    levels = levels_of(picture.root)
    counts = [whole_count(picture, level) for level in levels]
    program = compile_prompt(tree)
    edges = {max(0, count + step) for count in counts for step in (-1, 0, 1)}
    draw = random.Random(seed)
    for limit in [0, min(counts), far, *draw.sample(sorted(edges), min(60, len(edges)))]:
        fitting = [pair for pair in zip(levels, counts, strict=True) if pair[1] <= limit]
        if not fitting:
            with pytest.raises(PromptTooLong) as caught:
                program.render(token_limit=limit, **how)
            assert caught.value.token_count + caught.value.tokens_reserved == min(counts)
            continue
        found = program.render(token_limit=limit, **how)
        assert (found.cutoff, found.token_count + found.tokens_reserved) == fitting[0]
    for limit in draw.sample(sorted(edges), min(4, len(edges))):
        if min(counts) <= limit:
            expected = oracle_facts(oracle_render(tree, token_limit=limit, **how))
            assert rendered_facts(program.render(token_limit=limit, **how)) == expected


@pytest.mark.parametrize("tokenizer", list(TOKENIZERS))
@pytest.mark.parametrize("seed", range(1))
def test_plain_prompts(tokenizer: str, seed: int) -> None:
    tree = Grower(seed, levels=50).content(150)
    assert_all_limits(tree, {"tokenizer": TOKENIZERS[tokenizer]()}, seed)


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", list(TOKENIZERS))
@pytest.mark.parametrize("seed", range(1))
def test_chats(tokenizer: str, seed: int) -> None:
    tree = Grower(seed, levels=40).chat(160)
    assert_all_limits(tree, {"tokenizer": TOKENIZERS[tokenizer]()}, seed)


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", list(TOKENIZERS))
@pytest.mark.parametrize("seed", range(1))
def test_many_scopes_in_a_row(tokenizer: str, seed: int) -> None:
    grower = Grower(seed, levels=60)
    tree: Node = [grower.text(), *(scope(p=grower.p())[grower.text()] for _ in range(150))]
    assert_all_limits(tree, {"tokenizer": TOKENIZERS[tokenizer]()}, seed)
