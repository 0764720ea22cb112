"""The tags: right arguments, wrong ones with what their author reads, and that no tag ever changes."""

from __future__ import annotations

import enum
import pickle
import sys
import timeit
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from priompt_py.author.messages import assistant_message, developer_message, system_message, user_message
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
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.model.elements import Element, Fallback, First, Isolate, Max, Scope
from tests.ids import stable_id


def callback() -> None: ...


def count_words(count: Callable[[str], int]) -> int:
    return count("words")


class Level(enum.IntEnum):
    HIGH = 2


NAN, INF = float("nan"), float("inf")

# ------------------------------------------------------------------------------------------ right arguments


def test_scope_holds_what_it_was_given() -> None:
    element = scope(p=5, name="docs", key="k", on_include=callback, on_eject=print)["a", br]
    assert type(element) is Scope
    assert (element.p, element.prel, element.name, element.key) == (5, None, "docs", "k")
    assert (element.on_include, element.on_eject) == (callback, print)
    assert element.children == ("a", br)


@pytest.mark.parametrize(
    "number", [0, -1, 5, 10**18, 10**400, 0.5, -0.0, 1e308, 5e-324], ids=lambda n: repr(n)[:12]
)
def test_priorities_stay_exact(number: float) -> None:
    for element in (
        scope(p=number)["x"],
        br(p=number),
        empty(tokens=1, p=number),
        user_message(p=number)["x"],
    ):
        assert repr(element.p) == repr(number)
        assert element.prel is None
    assert repr(fallback(prel=number)["x"].prel) == repr(number)


def test_none_is_not_given() -> None:
    assert scope(p=None, prel=None, name=None, key=None, on_include=None, on_eject=None) == scope
    assert scope(p=None, prel=3).prel == 3
    assert config(stop=None, max_response_tokens=None, extra=None) == config()


def test_other_elements_hold_what_they_were_given() -> None:
    chosen = first(name="f", key="k", on_include=callback, on_eject=print)["a", None, "b"]
    assert type(chosen) is First
    assert (chosen.name, chosen.key, chosen.on_include, chosen.on_eject) == ("f", "k", callback, print)
    assert chosen.children == ("a", None, "b")
    ranked = fallback(p=2, name="n", key="k")["a", scope(name="b")["b"]]
    assert type(ranked) is Fallback
    assert (ranked.p, ranked.name, ranked.key, len(ranked.children)) == (2, "n", "k", 2)
    inner = isolate(token_limit="10%", prel=-1, key="k")["a"]
    assert type(inner) is Isolate
    assert (inner.token_limit, inner.prel, inner.key, inner.children) == ("10%", -1, "k", ("a",))
    ceiling = at_most(token_limit=0, p=1, key="k")["a"]
    assert type(ceiling) is Max
    assert (ceiling.token_limit, ceiling.p, ceiling.key, ceiling.children) == (0, 1, "k", ("a",))
    assert (empty(tokens=0).tokens, empty(tokens=count_words).tokens) == (0, count_words)
    for mark in (br, hr, token_break, cache_break):
        assert (mark(p=1, key="k").p, mark(prel=1).prel, mark(p=1, key="k").key) == (1, 1, "k")
        assert mark() == mark
    handlers = capture(on_output=repr, on_stream=print, on_stream_response=id, p=1)
    assert (handlers.on_output, handlers.on_stream, handlers.on_stream_response) == (repr, print, id)


def test_config() -> None:
    assert config(stop="\n").stop == "\n"
    assert config(stop=["a", "b"]).stop == ("a", "b")
    assert config(stop=()).stop == ()
    assert config(max_response_tokens=1).max_response_tokens == 1
    for word in ("tokens_reserved", "tokens_remaining"):
        assert config(max_response_tokens=word).max_response_tokens == word


def test_extra_is_a_copy_of_what_the_caller_has() -> None:
    class Format: ...

    opaque = Format()
    extra: dict[str, Any] = {"seed": 1, "stop": ["a", {"b": []}], "format": opaque, "timeout": (1, 2.5)}
    element = config(extra=extra)
    assert element.extra == extra
    assert element.extra is not None
    assert element.extra["format"] is opaque
    extra["stop"][1]["b"].append("changed")
    extra["stop"].append("changed")
    extra["seed"] = 2
    assert element.extra["stop"] == ["a", {"b": []}]
    assert element.extra["seed"] == 1


# ------------------------------------------------------------------------------------------ wrong arguments

# The tag, its arguments, and the message.
WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (scope, {"p": "high"}, "scope() needs a number for p, got p='high' (str)"),
    (scope, {"p": "1"}, "scope() needs a number for p, got p='1' (str)"),
    (scope, {"p": True}, "scope() needs a number for p, got p=True (bool)"),
    (scope, {"prel": False}, "scope() needs a number for prel, got prel=False (bool)"),
    (scope, {"p": NAN}, "scope() needs a finite number for p, got p=nan (float)"),
    (scope, {"p": INF}, "scope() needs a finite number for p, got p=inf (float)"),
    (scope, {"prel": -INF}, "scope() needs a finite number for prel, got prel=-inf (float)"),
    (scope, {"p": Decimal(1)}, "scope() needs a number for p, got p=Decimal('1') (decimal.Decimal)"),
    (scope, {"p": 1j}, "scope() needs a number for p, got p=1j (complex)"),
    (scope, {"p": Level.HIGH}, f"scope() needs a number for p, got p=<Level.HIGH: 2> ({__name__}.Level)"),
    (scope, {"p": [1]}, "scope() needs a number for p, got p=[1] (list)"),
    (scope, {"p": 1, "prel": 2}, "scope() takes p or prel, not both, got p=1 and prel=2"),
    (scope, {"p": 0, "prel": 0}, "scope() takes p or prel, not both, got p=0 and prel=0"),
    (scope, {"p": "x", "prel": 2}, "scope() needs a number for p, got p='x' (str)"),
    (scope, {"name": 3}, "scope() needs text for name, got name=3 (int)"),
    (scope, {"key": b"k"}, "scope() needs text for key, got key=b'k' (bytes)"),
    (scope, {"on_include": "f"}, "scope() needs a function for on_include, got on_include='f' (str)"),
    (scope, {"on_eject": 0}, "scope() needs a function for on_eject, got on_eject=0 (int)"),
    (first, {"name": 3}, "first() needs text for name, got name=3 (int)"),
    (first, {"on_eject": 1}, "first() needs a function for on_eject, got on_eject=1 (int)"),
    (fallback, {"prel": "x"}, "fallback() needs a number for prel, got prel='x' (str)"),
    (fallback, {"p": 1, "prel": 1}, "fallback() takes p or prel, not both, got p=1 and prel=1"),
    (isolate, {"token_limit": -1}, "isolate() needs token_limit >= 0, got token_limit=-1"),
    (
        isolate,
        {"token_limit": 1.0},
        "isolate() needs a whole number, 'N%', 'N% + M' or 'N% - M' for token_limit, got token_limit=1.0 (float)",
    ),
    (
        at_most,
        {"token_limit": "half"},
        "at_most() needs a whole number, 'N%', 'N% + M' or 'N% - M' for token_limit, got token_limit='half' (str)",
    ),
    (at_most, {"token_limit": 1, "p": "x"}, "at_most() needs a number for p, got p='x' (str)"),
    (empty, {"tokens": -1}, "empty() needs tokens >= 0, got tokens=-1"),
    (empty, {"tokens": True}, "empty() needs a whole number for tokens, got tokens=True (bool)"),
    (empty, {"tokens": 1.5}, "empty() needs a whole number for tokens, got tokens=1.5 (float)"),
    (empty, {"tokens": None}, "empty() needs a whole number for tokens, got tokens=None (NoneType)"),
    (empty, {"tokens": "5"}, "empty() needs a whole number for tokens, got tokens='5' (str)"),
    (
        empty,
        {"tokens": Level.HIGH},
        f"empty() needs a whole number for tokens, got tokens=<Level.HIGH: 2> ({__name__}.Level)",
    ),
    (br, {"p": "x"}, "br() needs a number for p, got p='x' (str)"),
    (hr, {"key": 1}, "hr() needs text for key, got key=1 (int)"),
    (token_break, {"p": 1, "prel": 1}, "token_break() takes p or prel, not both, got p=1 and prel=1"),
    (cache_break, {"prel": NAN}, "cache_break() needs a finite number for prel, got prel=nan (float)"),
    (capture, {}, "capture() needs on_output, on_stream or on_stream_response"),
    (capture, {"on_output": 1}, "capture() needs a function for on_output, got on_output=1 (int)"),
    (config, {"stop": 5}, "config() needs text or a list of texts for stop, got stop=5 (int)"),
    (config, {"stop": {"a"}}, "config() needs text or a list of texts for stop, got stop={'a'} (set)"),
    (config, {"stop": ["a", 5]}, "config() needs text for stop[1], got stop[1]=5 (int)"),
    (config, {"stop": list("abcde")}, "config() takes at most 4 stop texts, got 5"),
    (
        config,
        {"max_response_tokens": 0},
        "config() needs max_response_tokens >= 1, got max_response_tokens=0",
    ),
    (
        config,
        {"max_response_tokens": 1.5},
        (
            "config() needs a whole number, 'tokens_reserved' or 'tokens_remaining' for max_response_tokens, "
            "got max_response_tokens=1.5 (float)"
        ),
    ),
    (
        config,
        {"max_response_tokens": "all"},
        (
            "config() needs max_response_tokens to be one of tokens_reserved, tokens_remaining, "
            "got max_response_tokens='all' (str)"
        ),
    ),
    (config, {"extra": []}, "config() needs a mapping for extra, got extra=[] (list)"),
    (config, {"extra": {1: 2}}, "config() needs text for a key of extra, got a key of extra=1 (int)"),
]


@pytest.mark.parametrize(
    ("tag", "arguments", "message"), WRONG, ids=[message[:48] for _, _, message in WRONG]
)
def test_wrong_arguments(tag: Callable[..., Any], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PromptError) as caught:
        tag(**arguments)
    assert str(caught.value) == message
    is_type = "needs a finite" not in message and "(" in message.partition("got")[2]
    if isinstance(caught.value, ArgumentTypeError):
        assert is_type
    else:
        assert isinstance(caught.value, ArgumentValueError)


def test_wrong_types_and_values_are_pythons_too() -> None:
    with pytest.raises(TypeError):
        scope(p="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="finite"):
        scope(p=NAN)


def test_long_values_are_cut_in_messages() -> None:
    for value in ("x" * 10_000_000, [0] * 1_000_000, {i: i for i in range(100_000)}, b"x" * 1_000_000):
        with pytest.raises(ArgumentTypeError) as caught:
            scope(p=value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        assert len(str(caught.value)) < 200
    with pytest.raises(ArgumentValueError, match="p=<int of 33220 bits> and prel=1"):
        scope(p=10**10_000, prel=1)


def test_arguments_are_given_by_name() -> None:
    for tag in (scope, first, fallback, isolate, at_most, empty, br, hr, capture, config, user_message):
        anything: Any = tag
        with pytest.raises(TypeError, match=r"\(\) takes named arguments only, got 5; "):
            anything(5)
        with pytest.raises(
            TypeError, match=r"takes no 'pp'|scope\(\) got an unexpected keyword argument 'pp'"
        ):
            anything(pp=5)


def test_needed_arguments() -> None:
    needed: list[Any] = [isolate, at_most, empty]
    for tag in needed:
        with pytest.raises(TypeError, match=r"\(\) needs (token_limit|tokens)$"):
            tag()


# ------------------------------------------------------------------------------------------ fallback


@pytest.mark.parametrize(
    ("alternatives", "message"),
    [
        (["a", scope(p=5)["b"]], "fallback > 1: an alternative of a fallback ranks by its place, got p=5; "),
        (
            [None, scope(prel=0)["b"]],
            "fallback > 1: an alternative of a fallback ranks by its place, got prel=0; ",
        ),
        ([fallback(p=1)["b"]], "fallback > 0: an alternative of a fallback ranks by its place, got p=1; "),
        ([[br(prel=-1)]], "fallback > 0: an alternative of a fallback ranks by its place, got prel=-1; "),
    ],
)
def test_alternatives_of_a_fallback_have_no_priority(alternatives: Any, message: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        fallback[alternatives]
    assert str(caught.value) == message + "drop it, or use first with scopes"
    with pytest.raises(ArgumentValueError, match=r"^fallback\[name=n\] > "):
        fallback(name="n")[alternatives]


def test_what_alternatives_hold_may_have_priorities() -> None:
    assert len(fallback[scope[scope(p=5)["a"]], first[scope(p=1)["b"]], "c"].children) == 3


# ------------------------------------------------------------------------------------------ tags never change


@pytest.mark.parametrize(
    "tag",
    [
        scope,
        first,
        fallback,
        system_message,
        developer_message,
        user_message,
        assistant_message,
        scope(p=5, name="n"),
        isolate(token_limit=3),
        at_most(token_limit=3),
        user_message(name="Ann"),
    ],
    ids=stable_id,
)
def test_a_tag_is_a_node_and_can_be_used_again(tag: Any) -> None:
    before, shown = pickle.dumps(tag), repr(tag)
    one, two = tag["a"], tag["b", br]
    assert (one.children, two.children, tag.children) == (("a",), ("b", br), ())
    assert tag[()] == tag
    assert tag[[]] == tag
    assert scope[tag].children == (tag,)
    assert scope(key="k")["c"].key == "k"
    for name in ("p", "prel", "key"):
        assert getattr(one, name) == getattr(tag, name)
    assert (pickle.dumps(tag), repr(tag)) == (before, shown)
    assert pickle.loads(before) == tag  # noqa: S301 - our own


def test_props_are_given_once() -> None:
    """Calling again would silently forget the props of the first call."""
    for tag in (
        scope(p=5),
        first(name="n"),
        fallback(p=5),
        user_message(name="n"),
        assistant_message(name="n"),
        br(p=5),
    ):
        again: Any = tag
        with pytest.raises(TypeError, match="not callable"):
            again(key="k")


def test_elements_with_children_are_no_tags() -> None:
    filled: Any = scope(p=1)["a"]
    with pytest.raises(ArgumentTypeError, match="scope has its children already"):
        filled["b"]
    with pytest.raises(TypeError, match="not callable"):
        filled(p=2)


# ------------------------------------------------------------------------------------------ speed


def test_building_a_scope_is_quick() -> None:
    """Half a microsecond where this was written; the bound leaves room for slow and busy machines."""
    line = "some text of a line"
    elements: list[Element] = []

    def build() -> None:
        elements.clear()
        for i in range(10_000):
            elements.append(scope(prel=i)[line])  # noqa: PERF401 - as a loop, what a prompt does

    measured = 8 if sys.gettrace() else 1  # where coverage is measured, each line costs as much as ten
    assert min(timeit.repeat(build, number=1, repeat=7)) / 10_000 < 5e-6 * measured
