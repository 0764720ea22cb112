"""Strategies of hypothesis for prompts: texts, priorities, elements, chats, and limits around the edges.

Trees hold every element, odd priorities, firsts whose later alternatives are longer, tool calls with stubs,
elements that stand in several places, limits within limits. They are well formed (no StructureError) and
shrink to small ones, which print as the code that makes them. Components in them are called at render.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.component import component
from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    fallback,
    first,
    isolate,
    scope,
)
from priompt_py.errors import PromptTooLong
from priompt_py.model.elements import ComponentCall, Element, Node
from priompt_py.testing.leaves import Rank, leaf, limits, made, priorities, ranks, texts
from priompt_py.testing.oracle import levels_of, tree_of, whole_count

__all__ = ["KINDS", "chats", "elements", "priorities", "prompts", "texts", "token_limits"]

_LEAVES = (
    "br",
    "cache_break",
    "capture",
    "config",
    "empty",
    "excerpt",
    "hr",
    "none",
    "number",
    "text",
    "token_break",
)
_CONTAINERS = ("scope", "first", "fallback", "max", "isolate", "component", "shared")

KINDS = frozenset({*_LEAVES, "tool_definition", *_CONTAINERS})
"""What ``elements`` can draw. ``shared`` is one element in two places, ``none`` is None and the booleans.
In messages ``image`` and ``part`` come on top."""


@component
def as_it_is(children: list[Node]) -> Node:
    """A component that gives its children back."""
    return children


def _around(kind: str, inner: SearchStrategy[Node], plain: SearchStrategy[Node]) -> SearchStrategy[Node]:
    """Containers of one kind around nodes of ``inner``; ``plain`` can be an alternative as it is."""
    some_ranks = ranks()
    scoped = made(lambda rank, node: scope(**rank)[node], some_ranks, inner)
    body = st.lists(inner, max_size=4) | st.lists(scoped, max_size=4)
    match kind:
        case "scope":
            return made(lambda rank, nodes: scope(**rank)[nodes], some_ranks, body)
        case "first":
            alternative = scoped | plain | inner.map(_one_alternative)
            return st.lists(alternative, max_size=3).map(lambda nodes: first[nodes])
        case "fallback":
            alternatives = st.lists(plain.map(_unranked) | inner.map(lambda node: scope[node]), max_size=3)
            return made(lambda rank, nodes: fallback(**rank)[nodes], some_ranks, alternatives)
        case "max":
            return made(lambda how, nodes: at_most(**how)[nodes], _limited(), body)
        case "isolate":
            return made(lambda how, nodes: isolate(**how)[nodes], _limited(), body)
        case "component":
            return body.map(lambda nodes: as_it_is()[nodes])
        case _:
            return made(lambda rank, node: [node, scope(**rank)[node]], some_ranks, inner)


def _limited() -> SearchStrategy[dict[str, Any]]:
    return _both(st.fixed_dictionaries({"token_limit": limits()}), ranks())


def _both(one: SearchStrategy[Rank], other: SearchStrategy[Rank]) -> SearchStrategy[dict[str, Any]]:
    """The arguments of two strategies."""
    return st.tuples(one, other).map(lambda drawn: {**drawn[0], **drawn[1]})


def _one_alternative(node: Node) -> Node:
    """A node that is one alternative of a first; a list would be several."""
    return node if isinstance(node, Element) and not isinstance(node, ComponentCall) else scope[node]


def _unranked(node: Node) -> Node:
    """A node for a fallback, whose alternatives have no priority of their own."""
    return scope[node] if isinstance(node, Element) else node


def _trees(
    leaves: list[SearchStrategy[Node]], plain: SearchStrategy[Node], kinds: Collection[str]
) -> SearchStrategy[Node]:
    """Nodes of ``leaves`` and containers around them.

    One deferred strategy for all depths: this way hypothesis can put what lies deep in the place of what is around it.
    """
    containers = [kind for kind in ("scope", *_CONTAINERS) if kind in kinds]

    def all_nodes() -> SearchStrategy[Node]:
        return st.one_of(*leaves, *(_around(kind, nodes, plain) for kind in containers))

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
    text = leaf("text")
    leaves = [leaf(kind) for kind in sorted(kinds) if kind not in (*_CONTAINERS, "text")]
    return _trees([text, text, *leaves], text, kinds)  # text is also what a tree shrinks to


# ------------------------------------------------------------------------------------------ chats

_BESIDE_MESSAGES = (
    "empty",
    "config",
    "tool_definition",
    "cache_break",
    "capture",
    "none",
    "token_break",
    "br",
)


@st.composite
def chats(draw: st.DrawFn, *, kinds: Collection[str] = KINDS, tools: bool = True) -> list[Node]:
    """Chats: lists of messages and what may stand beside them; with ``tools``, calls and their results."""
    return draw(st.lists(_chats(frozenset(kinds), tools=tools), max_size=6))


@lru_cache
def _chats(kinds: frozenset[str], *, tools: bool) -> SearchStrategy[Node]:
    message = _messages(kinds)
    beside = [leaf(kind) for kind in _BESIDE_MESSAGES if kind in kinds] + [st.sampled_from((" ", "\n"))]
    leaves = [message, message, message, st.one_of(beside)]
    if tools:
        leaves += [_units(kinds)] * 3
    if "shared" in kinds:  # not around units: their ids would be repeated
        leaves.append(_around("shared", message, message))
    return _trees(leaves, message, kinds - {"shared"})


def _messages(kinds: frozenset[str]) -> SearchStrategy[Node]:
    names = st.fixed_dictionaries({}, optional={"name": st.just("Ann"), "to": st.just("all")})
    how = _both(names, ranks())
    tags = st.sampled_from((user_message, system_message, developer_message))
    addressed = made(lambda tag, arguments: tag(**arguments), tags, how)
    others = made(lambda tag, nodes: tag[nodes], addressed, _content(kinds, "system"))
    with_images = made(
        lambda arguments, nodes: user_message(**arguments)[nodes], how, _content(kinds, "user")
    )
    calls = st.fixed_dictionaries({}, optional={"function_call": st.just({"name": "f", "arguments": "{}"})})
    legacy = made(
        lambda arguments, nodes: assistant_message(**arguments)[nodes],
        _both(calls, ranks()),
        _content(kinds, "assistant"),
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
    calls = [
        {"id": each, "name": draw(st.sampled_from(("now", "search"))), "arguments": draw(arguments)}
        for each in ids
    ]
    said = assistant_message(tool_calls=calls, **draw(ranks()))[draw(_content(kinds, "assistant"))]
    results = [draw(_results(each, kinds)) for each in ids]
    unit: Node = [scope[said] if draw(st.booleans()) else said, *results]
    return scope(**draw(ranks()))[unit] if draw(st.booleans()) else unit


_counters: SearchStrategy[Iterator[int]] = st.shared(st.builds(itertools.count), key="ids of tool calls")
"""One counter for all units of an example, so that no id is repeated."""


def _results(name: str, kinds: frozenset[str]) -> SearchStrategy[Node]:
    """A result, or alternatives of it: the whole, then a stub."""
    whole = made(
        lambda rank, nodes: tool_message(tool_call_id=name, **rank)[nodes], ranks(), _content(kinds, "tool")
    )
    stub = tool_message(tool_call_id=name)["(left out)"]
    scoped = made(lambda rank, result: scope(**rank)[result], ranks(), whole)
    with_stub = made(lambda full, rank: first[full, scope(**rank)[stub]], scoped, ranks())
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
