"""Source maps beside those of a recorded walk, which visits everything and is the oracle; and what they cost."""

from __future__ import annotations

import asyncio
import gc
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    Program,
    PromptError,
    Rendered,
    acompile_prompt,
    assistant_message,
    at_most,
    br,
    compile_prompt,
    component,
    excerpt,
    fallback,
    first,
    isolate,
    render,
    scope,
    tool_message,
    user_message,
)
from priompt_py.engine.explain import Explanation
from priompt_py.face.settings import settle
from priompt_py.model.elements import Node
from priompt_py.model.source_map import Span
from priompt_py.testing.strategies import chats, elements, prompts
from priompt_py.testing.tokenizers import CharTokenizer
from tests.engine.recorded_spans import recorded_spans

CHARS = CharTokenizer()
LIMITS = st.integers(0, 120) | st.integers(0, 2_000)


def compared(tree: Node, limit: int, **how: Any) -> Rendered | None:
    """A render whose source map is as a recorded walk has it; None where nothing fits."""
    program = compile_prompt(tree)
    arguments: dict[str, Any] = {"token_limit": limit, "tokenizer": CHARS, **how}
    try:
        rendered = program.render(source_map=True, **arguments)
    except PromptError:
        return None
    assert rendered.source_map is not None
    assert rendered.source_map.root == recorded_spans(
        explanation_of(program, **arguments), rendered.to_text()
    )
    return rendered


def explanation_of(program: Program, **arguments: Any) -> Explanation:
    usual: dict[str, Any] = {"model": None, "chat_format": None, "pair_tools": True, "cache": None}
    usual |= {"last_message_incomplete": False, "tokenizer": CHARS}
    settings = settle(**{**usual, **arguments})
    pricing = program.priced(settings)
    return program.explain(program.solve(settings, pricing), pricing)


@given(prompts() | chats(), LIMITS, st.booleans(), st.booleans())
def test_spans_are_those_of_a_recorded_walk(tree: Node, limit: int, open_end: bool, paired: bool) -> None:
    compared(tree, limit, last_message_incomplete=open_end, pair_tools=paired)


@given(prompts() | chats(), LIMITS, LIMITS)
def test_with_what_an_earlier_render_remembers(tree: Node, limit: int, later: int) -> None:
    rendered = compared(tree, limit)
    if rendered is not None:
        compared(tree, later, previous=rendered.memory)


@given(st.lists(elements(), max_size=3), st.lists(st.integers(0, 5), max_size=4), LIMITS)
def test_limits_that_stand_in_several_places(inside: list[Node], priorities: list[int], limit: int) -> None:
    ceiling, alone = at_most(token_limit="40%")[inside], isolate(token_limit="40%")[inside]
    nested = at_most(token_limit="60%")[ceiling, scope(p=2)[ceiling]]
    places = [[scope(p=p)[ceiling, alone], first[scope(p=p + 1)[alone], nested]] for p in priorities]
    compared(places, limit)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(("", "x"))), max_size=4),
    st.integers(0, 200),
    st.booleans(),
)
def test_units_that_stand_in_several_alternatives(
    turns: list[tuple[int, int, str]], limit: int, alone: bool
) -> None:
    """One call before a whole result and before a stub; and the same unit within isolates."""

    def unit(number: int, whole: int, stub: int, said: str) -> Node:
        call = assistant_message(
            tool_calls=[{"id": f"c{number}", "name": "f", "arguments": "{}"}],
        )[said]
        result = tool_message(tool_call_id=f"c{number}")
        return first[
            scope(p=whole)[call, scope(p=stub)[result["a long result"]]], scope(p=stub)[call, result["-"]]
        ]

    units = [unit(number, *turn) for number, turn in enumerate(turns)]
    compared([isolate(token_limit="50%")[one] for one in units] if alone else units, limit)


def test_a_unit_that_is_out_gives_no_spans() -> None:
    shared = assistant_message(tool_calls=[{"id": "c", "name": "f", "arguments": "{}"}])
    result = tool_message(tool_call_id="c")
    tree = [
        user_message["q"],
        first[scope(p=2)[shared, scope(p=1)[result["long " * 20]]], scope[shared, result["-"]]],
    ]
    assert spans_of(compared(tree, 40)) == [
        ("frame", 0, 26),
        ("text", 26, 27),
        ("frame", 27, 37),
        ("frame", 37, 68),
    ]
    assert spans_of(compared(tree, 200))[-2] == ("frame", 204, 214)


def spans_of(rendered: Rendered | None) -> list[tuple[str, int, int]]:
    assert rendered is not None
    assert rendered.source_map is not None
    return [(span.kind, span.start, span.end) for span in rendered.source_map.leaves()]


# ------------------------------------------------------------------------------------------ by themselves


def test_what_is_made_on_demand_can_be_pickled_without_its_elements() -> None:
    tree = [scope(on_include=lambda: None)[user_message["a", "b"]], scope[user_message["c"]]]
    rendered = render(tree, token_limit=99, tokenizer=CHARS, source_map=True, callbacks=False)
    root = rendered.source_map
    assert root is not None
    again: Any = pickle.loads(pickle.dumps(root.root))  # noqa: S301 - our own
    assert again == root.root
    assert [span.path for span in walk(again)][:4] == [
        "root",
        "root > 0:scope",
        "root > 0:scope > 0:user",
        "root > 0:scope > 0:user",
    ]


def walk(span: Span) -> list[Span]:
    return [span, *(one for child in span.children for one in walk(child))]


def test_a_span_shows_where_it_is() -> None:
    rendered = render(scope(name="s")["x"], token_limit=9, tokenizer=CHARS, source_map=True)
    assert rendered.source_map is not None
    span = rendered.source_map.root.children[0]
    assert repr(span) == "Span(start=0, end=1, kind='scope', label='s')"
    assert span.children is span.children


# ------------------------------------------------------------------------------------------ what it costs

LINES = [f"line {number} of many, {number * 7919 % 1000} words\n" for number in range(1_200)]


@component
def as_it_is(children: list[Node]) -> Node:
    return children


def unit(number: int, line: str) -> Node:
    call = assistant_message(tool_calls=[{"id": f"c{number}", "name": "f", "arguments": "{}"}])
    return scope(p=number)[call, tool_message(tool_call_id=f"c{number}")[line]]


def by_tens(make: Callable[[int, list[Node]], Node]) -> list[Node]:
    tens = [LINES[at : at + 10] for at in range(0, len(LINES), 10)]
    return [make(at, [scope(prel=-i)[line] for i, line in enumerate(ten)]) for at, ten in enumerate(tens)]


SHAPES: dict[str, Callable[[], list[Node]]] = {
    "lines": lambda: [scope(p=at)[line] for at, line in enumerate(LINES)],
    "scopes in scopes": lambda: [scope(p=at)[scope[line], br] for at, line in enumerate(LINES)],
    "fallbacks": lambda: [fallback(p=at)[line, "..."] for at, line in enumerate(LINES)],
    "components": lambda: [scope(p=at)[as_it_is()[line]] for at, line in enumerate(LINES)],
    "excerpts": lambda: [excerpt("".join(LINES), keep="tail", omitted="...\n")],
    "chat": lambda: [scope(p=at)[user_message[line]] for at, line in enumerate(LINES)],
    "chat of lines": lambda: by_tens(lambda at, lines: user_message(p=at)[lines]),
    "tool units": lambda: [unit(at, line) for at, line in enumerate(LINES)],
    "isolates": lambda: by_tens(lambda at, lines: isolate(token_limit=80, p=at)[lines]),
    "maxes": lambda: by_tens(lambda at, lines: at_most(token_limit=80, p=at)[lines]),
    "all in an isolate": lambda: [isolate(token_limit="90%")[SHAPES["lines"]()]],
    "all in a max": lambda: [at_most(token_limit="90%")[SHAPES["chat"]()]],
    "one max beside": lambda: [at_most(token_limit=9)["a"], *SHAPES["lines"]()],
}


@pytest.mark.parametrize("limit", [4_096, 1_000_000])
@pytest.mark.parametrize("name", SHAPES)
def test_a_map_costs_at_most_half_its_render(name: str, limit: int) -> None:
    tree = SHAPES[name]()

    def seconds(*, source_map: bool) -> float:
        start = time.process_time()
        _ = render(tree, token_limit=limit, source_map=source_map).source_map
        return time.process_time() - start

    gc.collect()
    ratios = [seconds(source_map=True) / seconds(source_map=False) for _ in range(5)]
    most = 1.5 if sys.gettrace() is None else 2  # measuring coverage, too, costs something for each line
    assert min(ratios) <= most  # a busy machine makes some of them larger


# ------------------------------------------------------------------------------------------ children that functions give


@component
def as_given(children: Node = None) -> Node:
    return children


@component
def made(children: Node = None) -> Node:
    return user_message["made ", scope(p=3)["two"]]


@given(prompts() | chats(), st.lists(elements(), max_size=2), LIMITS)
def test_what_a_component_gives_is_not_what_it_got(tree: Node, got: list[Node], limit: int) -> None:
    @component
    def other(children: Node = None) -> Node:
        return tree

    compared([scope(p=3)[other()[got]], scope(p=1)[other()]], limit)


@pytest.mark.parametrize(
    "tree",
    [
        as_given()[user_message],
        as_given()[user_message["x"]],
        as_given()[as_given()[user_message["x", scope(p=1)["y"]]]],
        made(),
        made()["text"],
        made()[user_message["a message of other texts"]],
        [made()[user_message["x"]], scope(p=2)[made()]],
        user_message[as_given()["x", scope(p=1)["y"]], as_given()],
    ],
    ids=repr,
)
def test_components_give_what_is_in_them(tree: Node) -> None:
    for limit in (0, 10, 100):
        compared(tree, limit)
    assert compared(tree, 100) is not None


def test_coroutines_give_what_is_in_them() -> None:
    async def text() -> Node:
        return "abc"

    async def message() -> Node:
        return user_message["abc", scope(p=3)["def"]]

    async def nothing() -> Node:
        return None

    async def whole(tree: Node) -> None:
        program = await acompile_prompt(tree)
        for limit in (9, 100):
            rendered = program.render(token_limit=limit, tokenizer=CHARS, source_map=True)
            assert rendered.source_map is not None
            explanation = explanation_of(program, token_limit=limit)
            assert rendered.source_map.root == recorded_spans(explanation, rendered.to_text())

    trees: list[Node] = [
        ["x", text, nothing],
        [message],
        [user_message[text]],
        scope(p=1)[message, user_message],
    ]
    for tree in trees:
        asyncio.run(whole(tree))
