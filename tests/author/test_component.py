"""Components: tags made of functions."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from priompt_py.author.component import Component, component
from priompt_py.author.tags import br, fallback, scope
from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import ComponentCall, Node, element_type


@component
def quoted(children: Node, *, source: str) -> Node:
    """What was read elsewhere."""
    return ["From ", source, ":", br, children]


@component
def lined(children: Any, width: int = 3) -> Iterator[Node]:
    for child in children:
        yield str(child)[:width]


@component
async def fetched(children: Node, url: str = "u") -> Node:
    return [url, children]


def test_a_call_is_one_node() -> None:
    call = quoted(source="wiki")["a", ["b", None]]
    assert isinstance(call, ComponentCall)
    assert type(call) is ComponentCall
    assert call.children == ("a", "b", None)
    assert (call.args, call.kwargs) == ((), {"source": "wiki"})
    assert (call.name, element_type(call)) == ("quoted", "quoted")
    assert scope[call].children == (call,)
    assert len(fallback[quoted(source="a")["x"], "y"].children) == 2


def test_the_function_runs_later() -> None:
    ran: list[str] = []

    @component
    def noisy(children: Node) -> Node:
        ran.append("ran")
        return children

    call = noisy["x"]
    assert scope[call, call].children == (call, call)
    assert ran == []
    assert call.function(list(call.children)) == ["x"]
    assert ran == ["ran"]


def test_props_by_place_and_none() -> None:
    assert lined(5)["text"].args == (5,)
    assert lined["text"] == lined()["text"]
    assert lined(width=5)["text"].kwargs == {"width": 5}
    assert fetched["x"].children == ("x",)


def test_a_call_without_children_is_a_node_too() -> None:
    call = quoted(source="wiki")
    assert isinstance(call, ComponentCall)
    assert scope[call].children == (call,)
    assert call.children == ()
    assert call[()] == call
    assert call["a"].children == ("a",)
    assert call.children == ()


def test_children_can_be_given_once() -> None:
    filled: Any = quoted(source="wiki")["a"]
    with pytest.raises(ArgumentTypeError, match="quoted has its children already"):
        filled["b"]


def test_refused_children_name_the_component() -> None:
    with pytest.raises(ArgumentTypeError, match="quoted > 1: a dict can't stand in a prompt"):
        quoted(source="wiki")["a", {}]  # type: ignore[index]  # pyright: ignore[reportArgumentType]


@component
def placed(children: Node, width: int, /, unit: str, *, fill: str = " ") -> Node:
    return [children, fill * width, unit]


@component
def open_props(children: Node, /, **props: str) -> Node:
    return [children, *props.values()]


@component
def bare(children: Node) -> Node:
    return children


@component
def starred(*nodes: Node, source: str) -> Node:
    return [*nodes, source]


WRONG: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (quoted, (), {}, "quoted() needs the prop source; write quoted(source=...)[...]"),
    (quoted, (), {"sorce": "wiki"}, "quoted() takes no prop 'sorce', got sorce='wiki'; did you mean source?"),
    (quoted, (), {"source": "a", "p": 3}, "quoted() takes no prop 'p', got p=3; it takes source"),
    (
        quoted,
        ("wiki",),
        {},
        "quoted() takes its props by name, got 'wiki'; write quoted(source='wiki') or, as its content, quoted(...)['wiki']",
    ),
    (
        quoted,
        (),
        {"source": "a", "children": "b"},
        "quoted() takes its children in brackets, got children='b'; write quoted(...)['b']",
    ),
    (lined, (1, 2), {}, "lined() takes at most 1 prop by place, got 2; write lined(...)[2]"),
    (lined, (1,), {"width": 2}, "lined() is given the prop width twice: by its place, and as width=2"),
    (placed, (), {}, "placed() needs the props width and unit; write placed(..., unit=...)[...]"),
    (placed, (1,), {}, "placed() needs the prop unit; write placed(unit=...)[...]"),
    (placed, (1,), {"units": "m"}, "placed() takes no prop 'units', got units='m'; did you mean unit?"),
    (
        placed,
        (1, "m", "-"),
        {},
        "placed() takes at most 2 props by place, got '-'; write placed(fill='-') or, as its content, placed(...)['-']",
    ),
    (open_props, ("a",), {}, "open_props() takes no props, got 'a'; write open_props(...)['a']"),
    (bare, (), {"p": 1}, "bare() takes no prop 'p', got p=1; it takes no props"),
    (starred, ("a",), {}, "starred() needs the prop source; write starred(source=...)[...]"),
]


@pytest.mark.parametrize(("tag", "args", "kwargs", "message"), WRONG, ids=range(len(WRONG)))
def test_props_are_checked_where_they_are_given(tag: Any, args: Any, kwargs: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        tag(*args, **kwargs)
    assert str(caught.value) == message


def test_brackets_without_the_props_that_are_needed() -> None:
    with pytest.raises(ArgumentTypeError, match=r"quoted\(\) needs the prop source"):
        quoted["x"]


def test_a_component_looks_like_its_function() -> None:
    assert quoted.__doc__ == "What was read elsewhere."
    assert vars(quoted)["__name__"] == "quoted"
    assert list(inspect.signature(quoted).parameters) == ["children", "source"]
    assert repr(quoted) == "component(quoted)"
    assert isinstance(quoted, Component)


def test_pickles_by_name() -> None:
    assert pickle.loads(pickle.dumps(quoted)) is quoted  # noqa: S301 - our own
    call = scope[quoted(source="wiki")["a"], lined(2)["b"]]
    assert pickle.loads(pickle.dumps(call)) == call  # noqa: S301 - our own


def test_what_is_no_component() -> None:
    def lonely() -> Node:
        return "x"

    def keywords(*, children: Node) -> Node:
        return children

    async def stream(children: Node) -> AsyncIterator[Node]:
        yield children

    wrong: list[tuple[Any, str]] = [
        (5, "component() needs a function, got an int"),
        (None, "component() needs a function, got a NoneType"),
        (quoted, "component() needs a function, got a priompt_py.author.component.Component"),
        (scope, "component() needs a function whose first parameter takes the children; ScopeTag() has none"),
        (lonely, "component() needs a function whose first parameter takes the children; lonely() has none"),
        (
            keywords,
            "component() needs a function whose first parameter takes the children; keywords() has none",
        ),
        (
            stream,
            "component() takes no async generators; make stream() an async function that returns a list",
        ),
    ]
    for value, message in wrong:
        with pytest.raises(ArgumentTypeError) as caught:
            component(value)
        assert str(caught.value) == message


def test_other_callables() -> None:
    class Wrapper:
        def __call__(self, children: Node, *, mark: str = "*") -> Node:
            return [mark, children]

    wrapped = component(Wrapper())
    assert wrapped(mark="-")["x"].function(["x"], mark="-") == ["-", ["x"]]
    assert wrapped["x"].name == "Wrapper"

    def varied(children: Node, *rest: int) -> Node:
        return [children, *rest]

    assert component(varied)(1, 2)["x"].args == (1, 2)
    unknown: Any = dict.fromkeys  # a builtin whose parameters may not be known
    assert component(unknown)["x"].children == ("x",)
