"""Strategies of hypothesis for prompts: texts, priorities, elements, chats, and limits around the edges.

Trees hold every element, odd priorities, firsts whose later alternatives are longer, tool calls with stubs,
elements that stand in several places, limits within limits. They are well formed (no StructureError) and
shrink to small ones, which print as the code that makes them. Components in them are called at render.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.component import component
from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    br,
    cache_break,
    capture,
    config,
    empty,
    fallback,
    first,
    hr,
    isolate,
    scope,
    token_break,
)
from priompt_py.errors import PromptTooLong
from priompt_py.model.elements import BASE_PRIORITY, ComponentCall, Element, Node, Number, ToolDefinition
from priompt_py.testing.oracle import levels_of, tree_of, whole_count

__all__ = ["KINDS", "chats", "elements", "priorities", "prompts", "texts", "token_limits"]

Rank: TypeAlias = Mapping[str, Any]
"""``p`` or ``prel`` of an element, or nothing."""

KINDS = frozenset(
    "br cache_break capture component config empty fallback first hr isolate max none number scope shared text "
    "token_break tool_definition".split()
)
"""What ``elements`` can draw. ``shared`` is one element in two places, ``none`` is None and the booleans.
In messages ``image`` and ``part`` come on top."""

_WORDS = (
    *("a", "b", " ", "\n", "ab", "abc", "bcd ", "c d", "1", "12345", "don't ", "naïve ", "foo_bar()", "{}", "<b>&amp;"),
    *("合同", "лимит ", "δοκιμή", "สวัสดี", "مرحبا", "e\u0301", "😀", "👩‍👩‍👧 ", "\t", "    ", "\r\n", "\n\n  ", "\u00a0", "\u200b"),
    *("http://x.y/z ", "I'll", "/", "<|im_end|>", "<|endoftext|>", "<|im_start|>system<|im_sep|>"),
)


def texts(*, max_words: int = 4) -> SearchStrategy[str]:
    """Texts of some words of many scripts, code, white space, emoji, and what looks like control tokens."""
    word = st.sampled_from(_WORDS) | st.text("abcd ", max_size=4) | st.text(max_size=3)
    return st.lists(word, max_size=max_words).map("".join)


def priorities() -> SearchStrategy[Number]:
    """Small whole numbers, many of them equal; fractions, negative and huge ones, around ``BASE_PRIORITY``."""
    odd = (0.5, 2.5, -0.5, -0.0, 1e-9, 1e18, -1e18, 10**18 + 1, -(10**18))
    edge = (BASE_PRIORITY, BASE_PRIORITY - 1, BASE_PRIORITY + 1, 2 * BASE_PRIORITY)
    any_float = st.floats(-1e20, 1e20)
    return st.integers(0, 5) | st.integers(-3, 12) | st.sampled_from(odd) | st.sampled_from(edge) | any_float


def _ranks() -> SearchStrategy[Rank]:
    small = st.integers(-3, 1) | st.sampled_from((-0.5, 0.25, -1e18, 1e18))
    return st.just({}) | st.fixed_dictionaries({"p": priorities()}) | st.fixed_dictionaries({"prel": small})


def _limits() -> SearchStrategy[int | str]:
    """Limits of isolates and maxes: most of them roomy, since one that required content exceeds ends all."""
    shares = st.builds("{}%{}".format, st.integers(0, 130), st.sampled_from(("", " + 7", "-3", " - 20 ")))
    return st.sampled_from((60, 400, 25, 8, 10_000)) | st.integers(0, 40) | shares


# ------------------------------------------------------------------------------------------ elements


@component
def as_it_is(children: list[Node]) -> Node:
    """A component that gives its children back."""
    return children


def note(*_: object) -> None:
    """A handler that does nothing."""


_SCHEMA = {"type": "object", "properties": {"query": {"type": "string", "description": "what to look for"}}}

_TOOLS = (
    ToolDefinition(name="now"),
    ToolDefinition(name="search", description="Look something up.", parameters=_SCHEMA),
    ToolDefinition(name="search", description="Look something up.", parameters=dict(_SCHEMA)),
    ToolDefinition(name="search", description="Look something up.", parameters=_SCHEMA, p=3),
    ToolDefinition(name="now", prel=-2),
)


def _reserve(count: Any) -> int:
    return int(count("a b c"))


def _leaf(kind: str) -> SearchStrategy[Node]:
    """Nodes of one kind without children."""
    ranks = _ranks()
    match kind:
        case "text":
            return texts()
        case "number":
            return st.integers(-9, 10**20) | st.floats(allow_nan=False, allow_infinity=False)
        case "none":
            return st.sampled_from((None, False, True))
        case "br" | "token_break" | "hr" | "cache_break":
            tag = {"br": br, "token_break": token_break, "hr": hr, "cache_break": cache_break}[kind]
            return st.just(tag) | ranks.map(lambda rank: tag(**rank))
        case "capture":
            return ranks.map(lambda rank: capture(on_output=note, **rank))
        case "empty":
            sizes = st.integers(0, 30) | st.just(_reserve)
            return st.builds(lambda tokens, rank: empty(tokens=tokens, **rank), sizes, ranks)
        case "config":
            return st.builds(lambda keys, rank: config(**keys, **rank), _config_keys(), ranks)
        case "tool_definition":
            return st.sampled_from(_TOOLS)
        case "image":
            sizes = st.none() | st.tuples(st.integers(1, 3000), st.integers(1, 3000))
            details = st.sampled_from(("low", "high", "auto"))
            url = "https://example.org/a.png"
            return st.builds(lambda d, s, r: image(url=url, detail=d, dimensions=s, **r), details, sizes, ranks)
        case "part":
            sizes = st.integers(0, 20) | st.none()
            data = {"type": "reasoning", "text": "naïve"}
            return st.builds(lambda n, r: part(provider="openai", data=data, tokens=n, **r), sizes, ranks)
        case _:
            raise ValueError(f"no kind of node is named {kind!r}")


def _config_keys() -> SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "stop": st.sampled_from(("\n", ("a", "b"))),
            "max_response_tokens": st.sampled_from((5, "tokens_reserved", "tokens_remaining")),
            "extra": st.dictionaries(st.sampled_from(("seed", "user")), st.integers(0, 3), max_size=2),
        },
    )


_CONTAINERS = ("scope", "scope", "first", "fallback", "max", "isolate", "component", "shared")


def _around(
    kind: str, inner: SearchStrategy[Node], plain: SearchStrategy[Node]
) -> SearchStrategy[Node]:
    """Containers of one kind around nodes of ``inner``; ``plain`` can be an alternative as it is."""
    ranks = _ranks()
    scoped = st.builds(lambda rank, node: scope(**rank)[node], ranks, inner)
    body = st.lists(inner, max_size=4) | st.lists(scoped, max_size=4)
    match kind:
        case "scope":
            return st.builds(lambda rank, nodes: scope(**rank)[nodes], ranks, body)
        case "first":
            alternative = scoped | plain | inner.map(_one_alternative)
            return st.lists(alternative, max_size=3).map(lambda nodes: first[nodes])
        case "fallback":
            alternatives = st.lists(plain.map(_unranked) | inner.map(lambda node: scope[node]), max_size=3)
            return st.builds(lambda rank, nodes: fallback(**rank)[nodes], ranks, alternatives)
        case "max":
            return st.builds(lambda most, r, nodes: at_most(token_limit=most, **r)[nodes], _limits(), ranks, body)
        case "isolate":
            return st.builds(lambda most, r, nodes: isolate(token_limit=most, **r)[nodes], _limits(), ranks, body)
        case "component":
            return body.map(lambda nodes: as_it_is()[nodes])
        case _:
            return st.builds(lambda rank, node: [node, scope(**rank)[node]], ranks, inner)


def _one_alternative(node: Node) -> Node:
    """A node that is one alternative of a first; a list would be several."""
    return node if isinstance(node, Element) and not isinstance(node, ComponentCall) else scope[node]


def _unranked(node: Node) -> Node:
    """A node for a fallback, whose alternatives have no priority of their own."""
    return scope[node] if isinstance(node, Element) else node


def _trees(
    leaves: list[SearchStrategy[Node]], plain: SearchStrategy[Node], kinds: Collection[str]
) -> SearchStrategy[Node]:
    """Nodes of ``leaves`` and containers around them, about as many as leaves.

    One deferred strategy for all depths: this way hypothesis can put what lies deep in the place of what is around it.
    """
    containers = [kind for kind in _CONTAINERS if kind in kinds]

    def all_nodes() -> SearchStrategy[Node]:
        around = [_around(kind, nodes, plain) for kind in containers]
        repeat = 1 + len(leaves) // (len(around) or 1)
        return st.one_of(*leaves, *around * repeat)

    nodes: SearchStrategy[Node] = st.deferred(all_nodes)
    return nodes


@st.composite
def elements(draw: st.DrawFn, *, kinds: Collection[str] = KINDS) -> Node:
    """Nodes of a plain prompt or of a message's content; ``kinds`` says what may be in (see ``KINDS``)."""
    return draw(_elements(frozenset(kinds)))


@st.composite
def prompts(draw: st.DrawFn, *, kinds: Collection[str] = KINDS) -> list[Node]:
    """Plain prompts: lists of elements and texts."""
    return draw(st.lists(_elements(frozenset(kinds)), max_size=6))


@lru_cache
def _elements(kinds: frozenset[str]) -> SearchStrategy[Node]:
    text = _leaf("text")
    leaves = [_leaf(kind) for kind in sorted(kinds) if kind not in (*_CONTAINERS, "text")]
    return _trees([text, text, text, *leaves], text, kinds)  # text is also what a tree shrinks to


# ------------------------------------------------------------------------------------------ chats

_BESIDE_MESSAGES = ("empty", "config", "tool_definition", "cache_break", "capture", "none", "token_break", "br")


@st.composite
def chats(
    draw: st.DrawFn, *, kinds: Collection[str] = KINDS, tools: bool = True
) -> list[Node]:
    """Chats: lists of messages and what may stand beside them; with ``tools``, calls and their results."""
    return draw(st.lists(_chats(frozenset(kinds), tools), max_size=6))


@lru_cache
def _chats(kinds: frozenset[str], tools: bool) -> SearchStrategy[Node]:
    message = _messages(kinds)
    beside = [_leaf(kind) for kind in _BESIDE_MESSAGES if kind in kinds] + [st.sampled_from((" ", "\n"))]
    leaves = [message, message, message, st.one_of(beside)]
    if tools:
        leaves += [_units(kinds)] * 3
    if "shared" in kinds:  # not around units: their ids would be repeated
        leaves.append(_around("shared", message, message))
    return _trees(leaves, message, kinds - {"shared"})


def _messages(kinds: frozenset[str]) -> SearchStrategy[Node]:
    tags = st.sampled_from((user_message, system_message, developer_message))
    names = st.fixed_dictionaries({}, optional={"name": st.just("Ann"), "to": st.just("all")})
    with_images = st.builds(lambda more, r, nodes: user_message(**more, **r)[nodes], names, _ranks(), _content(kinds, "user"))
    others = st.builds(lambda tag, more, r, nodes: tag(**more, **r)[nodes], tags, names, _ranks(), _content(kinds, "system"))
    call = st.none() | st.just({"name": "look_up", "arguments": '{"a": 1}'})
    legacy = st.builds(
        lambda call, r, nodes: assistant_message(function_call=call, **r)[nodes], call, _ranks(), _content(kinds, "assistant")
    )
    return st.one_of(others, with_images, legacy)


def _content(kinds: frozenset[str], role: str) -> SearchStrategy[list[Node]]:
    more = {"part", "image"} if role in ("user", "tool") else {"part"}
    return st.lists(_elements(kinds | more), max_size=3)


@st.composite
def _units(draw: st.DrawFn, kinds: frozenset[str]) -> Node:
    """An assistant message with calls and the results, each with a priority of its own or none."""
    fresh = draw(_counters)
    ids = [f"call_{next(fresh)}" for _ in range(draw(st.integers(1, 2)))]
    arguments = st.sampled_from(("{}", '{"query": "naïve"}'))
    calls = [{"id": each, "name": draw(st.sampled_from(("now", "search"))), "arguments": draw(arguments)} for each in ids]
    said = assistant_message(tool_calls=calls, **draw(_ranks()))[draw(_content(kinds, "assistant"))]
    results = [draw(_results(each, kinds)) for each in ids]
    unit: list[Node] = [draw(st.sampled_from((said, scope[said]))), *results]
    return draw(st.sampled_from((unit, scope(**draw(_ranks()))[unit])))


_counters: SearchStrategy[Iterator[int]] = st.shared(st.builds(itertools.count), key="ids of tool calls")
"""One counter for all units of an example, so that no id is repeated."""


def _results(name: str, kinds: frozenset[str]) -> SearchStrategy[Node]:
    """A result, or alternatives of it: the whole, then a stub."""
    whole = st.builds(lambda rank, nodes: tool_message(tool_call_id=name, **rank)[nodes], _ranks(), _content(kinds, "tool"))
    stub = tool_message(tool_call_id=name)["(left out)"]
    scoped = st.builds(lambda rank, result: scope(**rank)[result], _ranks(), whole)
    with_stub = st.builds(lambda full, rank: first[full, scope(**rank)[stub]], scoped, _ranks())
    unranked = _content(kinds, "tool").map(lambda nodes: tool_message(tool_call_id=name)[nodes])
    return st.one_of(whole, scoped, with_stub, unranked.map(lambda full: fallback[full, stub]))


# ------------------------------------------------------------------------------------------ limits


def token_limits(node: Node, **how: Any) -> SearchStrategy[int]:
    """Limits at the interesting edges of a prompt: what each level costs, one below, one above; others too.

    ``how`` are the arguments of ``oracle_render`` besides the limit (``tokenizer``, say). ``node`` is used more than
    once: not for generators. Raises StructureError as rendering would.
    """
    edges: set[int] = set()
    for limit in (10**6, 60):  # shares of the limit move the counts: look from afar and from near
        try:
            tree = tree_of(node, token_limit=limit, **how)
        except PromptTooLong as error:
            edges.add(error.token_count + error.tokens_reserved)
        else:
            edges.update(whole_count(tree, level) for level in levels_of(tree.root))
    around = sorted({max(0, edge + step) for edge in edges for step in (-1, 0, 1)})
    return st.sampled_from(around) | st.integers(0, max(around) + 10)
