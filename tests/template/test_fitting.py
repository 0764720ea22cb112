"""Calls and components of Python's that get what they don't take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py.author.component import component
from priompt_py.template.fitting import misfit, without_first, wrong_props


def plain(a: int, b: int = 2, *, key: str = "k") -> None: ...
def needs_key(*, key: str, other: str) -> None: ...
def in_order(a: int, b: int, /) -> None: ...
def takes_all(*args: int, **kwargs: int) -> None: ...
def nothing() -> None: ...


@pytest.mark.parametrize(
    ("function", "given", "keywords", "message"),
    [
        (plain, 1, [], None),
        (plain, 2, ["key"], None),
        (plain, 0, ["b", "a"], None),
        (plain, 0, [], "f() needs a; it is f(a, b=2, key='k')"),
        (plain, 3, [], "f() takes 2 arguments without a name, got 3; it is f(a, b=2, key='k')"),
        (plain, 1, ["a"], "f() is given a twice; it is f(a, b=2, key='k')"),
        (plain, 1, ["kye"], "f() takes no argument kye; did you mean key?; it is f(a, b=2, key='k')"),
        (plain, 1, ["zzz"], "f() takes no argument zzz; it is f(a, b=2, key='k')"),
        (needs_key, 0, [], "f() needs key and other; it is f(key, other)"),
        (needs_key, 1, [], "f() takes no arguments without a name, got 1; it is f(key, other)"),
        (in_order, 1, ["b"], "f() takes no argument b; it is f(a, b)"),
        (in_order, 1, [], "f() needs b; it is f(a, b)"),
        (takes_all, 5, ["x"], None),
        (nothing, 0, ["x"], "f() takes no argument x; it is f()"),
    ],
)
def test_calls(function: Callable[..., Any], given: int, keywords: list[str], message: str | None) -> None:
    signature = inspect.signature(function)
    assert misfit("f", signature, given, keywords) == message
    try:  # as Python sees it
        signature.bind(*(None,) * given, **dict.fromkeys(keywords))
    except TypeError:
        assert message is not None
    else:
        assert message is None


@pytest.mark.parametrize(
    ("function", "given", "wrong"),
    [
        (plain, ["a"], None),
        (plain, [], ("<F> needs the prop a", None)),
        (needs_key, [], ("<F> needs the props key, other", None)),
        (needs_key, ["keys", "key"], ("<F> takes no prop keys; did you mean key?", "keys")),
        (needs_key, ["x"], ("<F> takes no prop x; it takes key, other", "x")),
        (nothing, ["x"], ("<F> takes no prop x; it takes none", "x")),
        (in_order, ["a"], ("<F> takes no prop a; it takes none", "a")),
        (takes_all, ["a", "b c"], None),
    ],
)
def test_props(function: Callable[..., Any], given: list[str], wrong: tuple[str, str | None] | None) -> None:
    assert wrong_props("<F>", inspect.signature(function), given) == wrong


def test_the_parameter_of_the_children_is_no_prop() -> None:
    @component
    def box(children: Any, *, title: str) -> Any:
        return [title, children]

    @component
    def loose(*children: Any, title: str) -> Any:
        return [title, *children]

    assert str(without_first(inspect.signature(box))) == "(*, title: 'str')"
    assert str(without_first(inspect.signature(loose))) == "(*children: 'Any', title: 'str')"
    assert wrong_props("<Box>", without_first(inspect.signature(box)), ["children"]) == (
        "<Box> takes no prop children; it takes title",
        "children",
    )
