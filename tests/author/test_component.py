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


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "quoted(): missing a required keyword-only argument: 'source'"),
        ((), {"sorce": "wiki"}, "quoted(): missing a required keyword-only argument: 'source'"),
        ((), {"source": "a", "p": 3}, "quoted(): got an unexpected keyword argument 'p'"),
        (("wiki",), {}, "quoted(): too many positional arguments"),
        ((), {"source": "a", "children": "b"}, "quoted(): multiple values for argument 'children'"),
    ],
)
def test_props_are_checked_where_they_are_given(args: Any, kwargs: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        quoted(*args, **kwargs)
    text = str(caught.value).replace(
        "required argument", "required keyword-only argument"
    )  # Python 3.11 is brief
    assert text == message


def test_brackets_without_the_props_that_are_needed() -> None:
    with pytest.raises(ArgumentTypeError, match=r"quoted\(\): missing a required"):
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
