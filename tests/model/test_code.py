"""Trees as the Python that makes them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given

import priompt_py
from priompt_py import (
    Node,
    assistant_message,
    at_most,
    br,
    capture,
    component,
    config,
    empty,
    excerpt,
    scope,
    tool_definition,
    user_message,
)
from priompt_py.model.code import code_of, value_code
from priompt_py.model.values import equal
from priompt_py.testing import chats, prompts
from priompt_py.testing.leaves import _note, _reserve
from priompt_py.testing.strategies import as_it_is

NAMES: dict[str, Any] = {**vars(priompt_py), "_note": _note, "_reserve": _reserve, "as_it_is": as_it_is}


@given(prompts() | chats())
def test_the_code_makes_the_tree(tree: list[Node]) -> None:
    made = eval(code_of(tree, most=10**9), NAMES)  # noqa: S307 - our own code
    assert equal(scope[made], scope[tree])


async def later() -> str:
    return "a"


class Bad:
    def __repr__(self) -> str:
        raise ValueError("no")


@component
def quoted(children: list[Node], *args: Any, source: str = "") -> Node:
    return children


CODES: dict[str, tuple[Any, str]] = {
    "text": ("a\n", "'a\\n'"),
    "void": (br, "br"),
    "functions": ([config(), capture(on_output=_note)], "[config(), capture(on_output=_note)]"),
    "scope": (scope(p=1.5, key="a")["b", None, True], "scope(p=1.5, key='a')['b', None, True]"),
    "limits": (at_most(token_limit="50%")[empty(tokens=0)], "at_most(token_limit='50%')[empty(tokens=0)]"),
    "named function": (empty(tokens=_reserve), "empty(tokens=_reserve)"),
    "excerpt": (excerpt("a b", by=re.compile("x"), keep="head"), "excerpt(text='a b', by=re.compile('x'), keep='head')"),
    "tool": (tool_definition(name="now"), "tool_definition(name='now')"),
    "calls": (
        assistant_message(tool_calls=[{"id": "1", "name": "f", "arguments": "{}"}]),
        "assistant_message(tool_calls=({'id': '1', 'name': 'f', 'arguments': '{}'},))",
    ),
    "component": (quoted(1, source="x")["y"], "quoted(1, source='x')['y']"),
    "async": (scope[later], "scope[later]"),
    "props": ({"a": [scope["x"], (1,)], "b": Bad()}, "{'a': [scope['x'], (1,)], 'b': <Bad whose repr raises ValueError>}"),
    "class": ([Bad], "[Bad]"),
    "repeated": ("ab " * 50, "'ab ' * 50"),
    "nearly repeated": ("ab " * 30 + "x", repr("ab " * 30 + "x")),
    "empty list": ([], "[]"),
    "two": ((1, 2), "(1, 2)"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "code"), list(CODES.values()), ids=list(CODES))
def test_code(value: Any, code: str) -> None:
    is_prop = code[0] in "{(" or code == "[Bad]"
    assert (value_code(value) if is_prop else code_of(value)) == code


def test_long_code_is_broken_into_lines() -> None:
    tree = [user_message["hello world" * 4, scope(p=5)["abcdefgh" * 5, br]], "end"]
    assert code_of(tree, indent="  ") == (
        "[\n"
        "      user_message[\n"
        "          'hello worldhello worldhello worldhello world',\n"
        "          scope(p=5)['abcdefghabcdefghabcdefghabcdefghabcdefgh', br],\n"
        "      ],\n"
        "      'end',\n"
        "  ]"
    )


def test_code_is_cut_and_goes_to_any_depth() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = scope[deep]
    assert code_of(deep, most=100).endswith("…")
    assert len(code_of(["word " * 20] * 1_000, most=500)) == 500
