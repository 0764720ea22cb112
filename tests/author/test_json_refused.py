"""The JSON form: what is refused, where, and with which words."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from priompt_py.author.component import component
from priompt_py.author.json_form import from_json, to_json
from priompt_py.author.messages import part
from priompt_py.author.tags import capture, config, empty, first, scope
from priompt_py.author.tools import tool_definition
from priompt_py.errors import ArgumentTypeError, JsonFormError
from priompt_py.model.elements import Element, Node
from tests.author.trees import broken_forms, elements
from tests.model.deep import DEEP

# ------------------------------------------------------------------------------------------ refused

NAN = float("nan")
looped: list[Any] = ["a"]
looped.append({"type": "scope", "children": [looped]})
looped_extra: dict[str, Any] = {}
looped_extra["x"] = looped_extra
ELEMENTS = (
    "scope, first, fallback, empty, isolate, max, excerpt, br, token_break, hr, capture, config, system, developer, user, "
    "assistant, tool, image, part, tool_definition, cache_break"
)

REFUSED: list[tuple[Any, str]] = [
    (
        ["a", {"type": "user", "children": [{"type": "scope", "p": "high"}]}],
        "$[1].children[0].p: scope() needs a number for p, got p='high' (str)",
    ),
    ({"type": "scope", "p": True}, "$.p: scope() needs a number for p, got p=True (bool)"),
    ({"type": "scope", "p": NAN}, "$.p: nan is no JSON number"),
    ({"type": "scope", "p": 1, "prel": 2}, "$: scope() takes p or prel, not both, got p=1 and prel=2"),
    ([NAN], "$[0]: nan is no JSON number"),
    ([[["a", [float("inf")]]]], "$[0][0][1][0]: inf is no JSON number"),
    ([b"x"], "$[0]: a bytes has no JSON form (got b'x')"),
    ([{1, 2}], "$[0]: a set has no JSON form (got {1, 2})"),
    ([scope["x"]], "$[0]: a priompt_py.model.elements.Scope has no JSON form (got scope(...))"),
    (object(), "$: an object has no JSON form"),
    ([10**5000], "$[0]: an int of 16610 bits has too many digits"),
    ({}, '$: an element needs its "type"'),
    ({"children": []}, '$: an element needs its "type"'),
    ({"type": 5}, "$.type: needs the name of an element, got 5"),
    ({"type": "scpe"}, "$.type: no element is called 'scpe'; did you mean 'scope'?"),
    ({"type": "User"}, "$.type: no element is called 'User'; did you mean 'user'?"),
    ({"type": "user_message"}, "$.type: no element is called 'user_message'; did you mean 'user'?"),
    ({"type": "at_most"}, "$.type: no element is called 'at_most'; did you mean 'max'?"),
    ({"type": "xyz"}, f"$.type: no element is called 'xyz'; there are {ELEMENTS}"),
    ({"type": "capture"}, "$.type: capture holds functions only, which have no JSON form"),
    ({"type": "scope", "prio": 1}, "$.prio: scope takes no 'prio'; did you mean 'p'?"),
    (
        {"type": "max", "tokenLimit": 1},
        "$.tokenLimit: max takes no 'tokenLimit'; did you mean 'token_limit'?",
    ),
    ({"type": "isolate", "priority": 1}, "$.priority: isolate takes no 'priority'; did you mean 'p'?"),
    ({"type": "user", "content": "x"}, "$.content: user takes no 'content'; did you mean 'children'?"),
    ({"type": "br", "text": "x"}, "$.text: br takes no 'text'; it takes p, prel, key"),
    ({"type": "br", "x y": 1}, "$[\"x y\"]: br takes no 'x y'; it takes p, prel, key"),
    (
        {"type": "first", "p": 1},
        "$.p: first takes no 'p'; it takes name, key, on_include, on_eject, children",
    ),
    ({"type": "scope", 5: 1}, "$: a key must be text, got 5"),
    ({"type": "scope", "on_include": "f"}, "$.on_include: this is a function, which has no JSON form"),
    (
        {"type": "tool_definition", "name": "a", "on_call": 1},
        "$.on_call: this is a function, which has no JSON form",
    ),
    ({"type": "br", "children": []}, "$.children: br takes no children"),
    ({"type": "scope", "children": "text"}, "$.children: needs an array of nodes, got 'text'"),
    (
        {"type": "scope", "children": {"type": "br"}},
        "$.children: needs an array of nodes, got {'type': 'br'}",
    ),
    ({"type": "isolate"}, "$: isolate needs token_limit"),
    (
        [{"type": "isolate", "token_limit": None}],
        "$[0].token_limit: isolate() needs a whole number, 'N%', 'N% + M' or 'N% - M' for token_limit, got token_limit=None (NoneType)",
    ),
    (
        {"type": "empty", "tokens": 1.0},
        "$.tokens: empty() needs a whole number for tokens, got tokens=1.0 (float)",
    ),
    ({"type": "tool"}, "$: tool needs tool_call_id"),
    (
        {"type": "fallback", "children": ["a", {"type": "scope", "p": 1}]},
        "$: fallback > 1: an alternative of a fallback ranks by its place, got p=1; drop it, or use first with scopes",
    ),
    ({"type": "config", "extra": {"a": [1, {"b c": NAN}]}}, '$.extra.a[1]["b c"]: nan is no JSON number'),
    ({"type": "config", "extra": {"a": {5: 1}}}, "$.extra.a: a key must be text, got 5 (an int)"),
    ({"type": "config", "extra": looped_extra}, "$.extra.x.x.x.x.x.x: nested more than 200 levels deep"),
    ({"type": "config", "extra": {"a": object}}, "$.extra.a: a type has no JSON form (got <class 'object'>)"),
    ({"type": "config", "stop": ["a", 5]}, "$.stop[1]: config() needs text for stop[1], got stop[1]=5 (int)"),
    (
        {
            "type": "assistant",
            "tool_calls": [
                {"id": "a", "name": "b", "arguments": "{}"},
                {"id": "a", "name": "", "arguments": "{}"},
            ],
        },
        "$.tool_calls[1].name: assistant_message(): tool_calls[1] has an empty name",
    ),
    (
        {"type": "assistant", "tool_calls": [{"id": "a", "arguments": "{}"}]},
        "$.tool_calls[0]: assistant_message(): tool_calls[0] needs name",
    ),
    ({"type": "image", "data": "é"}, "$.data: this is no base64: "),
    ({"type": "image", "data": "a"}, "$.data: this is no base64: "),
    ({"type": "image", "data": "YWJj"}, "$.data: image(): "),
    ({"type": "image", "data": 5}, "$.data: needs base64 text, got 5"),
    ({"type": "image", "url": "data:image/png;base64,YWJj"}, "$.url: image(): "),
    ({"type": "image"}, "$: image() needs data or url, got neither"),
    (
        {"type": "image", "url": "u", "dimensions": [1, 0]},
        "$.dimensions[1]: image() needs dimensions[1] >= 1, got dimensions[1]=0",
    ),
    (
        {"type": "tool_definition", "name": "a b"},
        "$.name: tool_definition() needs a name of 1 to 64 letters, digits, _ and -, got name='a b' (str)",
    ),
    (
        {"type": "tool_definition", "name": "a", "parameters": {"type": "array"}},
        "$.parameters.type: tool_definition() needs the schema of an object for parameters, got parameters.type='array' (str)",
    ),
    (looped, "$[1].children[0]: this array holds itself"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_refused(data: Any, message: str) -> None:
    with pytest.raises(JsonFormError) as caught:
        from_json(data)
    shown = str(caught.value)
    assert shown == message or (message.endswith((": ", "JSON form")) and shown.startswith(message))
    assert vars(caught.value)["path"] == message.partition(": ")[0]


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data(), elements)
def test_broken_data_is_refused_with_its_path(data: st.DataObject, element: Element) -> None:
    broken = data.draw(broken_forms(to_json(element)))
    before = copy.deepcopy(broken)
    with pytest.raises(JsonFormError, match=r"^\$\[0\]"):
        from_json(broken)
    assert broken == before


def test_long_paths_are_cut_in_messages() -> None:
    data: Any = {"type": "scope", "p": "x"}
    for _ in range(DEEP):
        data = {"type": "scope", "children": [data]}
    with pytest.raises(JsonFormError) as caught:
        from_json([data])
    assert str(caught.value) == (
        "$[0].children[0].children[0].children[0].children...(199985 more)..."
        ".children[0].children[0].children[0].children[0].p: scope() needs a number for p, got p='x' (str)"
    )
    assert len(str(caught.value)) < 300
    assert len(vars(caught.value)["path"]) > DEEP


# ------------------------------------------------------------------------------------------ functions


def on_include() -> None: ...


def reserve(count: Callable[[str], int]) -> int:
    return count("a")


@component
def quoted(children: Node) -> Node:
    return children


async def fetched() -> Node:
    return "x"


HINT = "has no JSON form; drop_functions=True leaves it out"
FUNCTIONS: list[tuple[Node, str, list[Any]]] = [
    (
        scope(p=1, on_include=on_include)["a"],
        f"$[0].on_include: this is a function, which {HINT}",
        [{"type": "scope", "p": 1, "children": ["a"]}],
    ),
    (
        first(on_eject=on_include)["a"],
        f"$[0].on_eject: this is a function, which {HINT}",
        [{"type": "first", "children": ["a"]}],
    ),
    (
        ["a", scope[empty(tokens=reserve)]],
        f"$[1].children[0].tokens: this is a function, which {HINT}",
        ["a", {"type": "scope"}],
    ),
    ([capture(on_output=print), "a"], f"$[0]: capture holds functions only, which {HINT}", ["a"]),
    (
        scope["a", quoted["b"], "c"],
        f"$[0].children[1]: the component 'quoted' is a function, which {HINT}",
        [{"type": "scope", "children": ["a", "c"]}],
    ),
    (
        scope[fetched],
        f"$[0].children[0]: the async node 'fetched' is a function, which {HINT}",
        [{"type": "scope"}],
    ),
    (
        tool_definition(name="a", on_call=print),
        f"$[0].on_call: this is a function, which {HINT}",
        [{"type": "tool_definition", "name": "a", "parameters": {"type": "object", "properties": {}}}],
    ),
]


@pytest.mark.parametrize(
    ("node", "message", "dropped"), FUNCTIONS, ids=[message[:50] for _, message, _ in FUNCTIONS]
)
def test_functions_have_no_json_form(node: Node, message: str, dropped: list[Any]) -> None:
    with pytest.raises(JsonFormError) as caught:
        to_json(node)
    assert str(caught.value) == message
    assert to_json(node, drop_functions=True) == dropped
    from_json(dropped)


def test_other_values_that_have_none() -> None:
    with pytest.raises(JsonFormError, match=r"^\$\[0\]\.data\.a\.b\[1\]: a bytes has no JSON form"):
        to_json(part(provider="gemini", data={"a": {"b": [1, b"x"]}}, tokens=3))
    with pytest.raises(
        JsonFormError, match=r"^\$\[1\]\.children\[0\]\.extra\.timeout: an object has no JSON form"
    ):
        to_json(["x", scope[config(extra={"timeout": object()})]], drop_functions=True)
    with pytest.raises(ArgumentTypeError, match="root > 1: a dict can't stand in a prompt"):
        to_json(["a", {}])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


def test_generators_are_used_up() -> None:
    def lines() -> Iterator[Node]:
        yield scope["a"]
        yield "b"

    assert to_json(lines()) == [{"type": "scope", "children": ["a"]}, "b"]
