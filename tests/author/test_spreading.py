"""Spreading: generators, lists in lists, depth, size and surrogates."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.author.children import clean_number, clean_text
from priompt_py.author.messages import user_message
from priompt_py.author.tags import br, fallback, first, hr, isolate, scope
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Node
from tests.model.deep import in_thread


def lines(*items: Any) -> Iterator[Any]:
    yield from items


# ------------------------------------------------------------------------------------------ generators


def test_generators_are_used_up_when_an_element_takes_them() -> None:
    generator = lines("a", "b")
    element = scope[generator]
    assert element.children == ("a", "b")
    assert element.children == ("a", "b")  # nothing is left to happen
    with pytest.raises(ArgumentValueError, match="the generator 'lines' is used up already"):
        scope[generator]
    with pytest.raises(ArgumentValueError, match="user > 1: the generator 'lines' is used up already"):
        user_message["x", generator]


def test_lists_are_copied() -> None:
    items: list[Node] = ["a", ["b"]]
    element = scope[items]
    items.append("c")
    items[0] = "d"
    assert element.children == ("a", "b")


def test_errors_in_generators_pass_with_a_note() -> None:
    def broken() -> Iterator[Node]:
        yield "a"
        yield br
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more") as caught:
        scope(name="docs")["x", [broken()]]
    assert caught.value.__notes__ == ["while broken gave child 3 of scope[name=docs]"]

    def outer() -> Iterator[Node]:
        yield from ()
        yield [broken()]

    with pytest.raises(LookupError) as caught:
        scope[outer()]
    assert caught.value.__notes__ == ["while broken gave child 2 of scope"]


def test_a_refused_child_of_a_generator_has_the_note_too() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        scope[lines("a", b"b")]
    assert str(caught.value).startswith("scope > 1: a bytes can't")
    assert caught.value.__notes__ == ["while lines gave child 1 of scope"]


# ------------------------------------------------------------------------------------------ depth and size


def test_lists_that_hold_themselves() -> None:
    looped: list[Any] = ["a"]
    looped.append([[looped]])
    with pytest.raises(ArgumentValueError) as caught:
        scope[looped]
    assert str(caught.value) == "scope > 1: a list that holds itself"

    def itself() -> Iterator[Any]:
        yield "a"
        yield generator

    generator = itself()
    with pytest.raises(ArgumentValueError, match="scope > 1: a generator that holds itself"):
        scope[generator]


def test_one_list_in_many_places_is_no_loop() -> None:
    shared = ["a"]
    assert scope[shared, [shared, shared]].children == ("a", "a", "a")


def test_deep_lists() -> None:
    def check() -> None:
        deep: Any = "x"
        for level in range(100_000):
            deep = [deep] if level % 2 else (deep, level)
        children = scope[deep].children
        assert children[0] == "x"
        assert len(children) == 50_001

        looped: list[Any] = []
        deep = looped
        for _ in range(50_000):
            deep = [deep]
        looped.append(deep)
        with pytest.raises(ArgumentValueError, match="a list that holds itself"):
            scope[looped]
        looped.clear()

    in_thread(check)


def test_deep_generators() -> None:
    node: Any = "x"
    for _ in range(20_000):
        node = lines(node)
    assert scope[node].children == ("x",)


def test_a_million_children_take_linear_time() -> None:
    began = time.thread_time()
    element = scope[["a"] * 500_000, [(i, None) for i in range(250_000)]]
    assert len(element.children) == 1_000_000
    assert time.thread_time() - began < 20


def test_the_limit_of_digits_that_the_interpreter_is_set_to() -> None:
    old = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert scope[10**639].children == (10**639,)
        with pytest.raises(ArgumentValueError, match="an int of 2127 bits has too many digits"):
            scope[10**640]
    finally:
        sys.set_int_max_str_digits(old)


# ------------------------------------------------------------------------------------------ surrogates


def test_surrogate_pairs_are_joined_and_lone_halves_replaced() -> None:
    pair, lone = "x\ud83d\udc4dy", "x\ud83dy"
    for tag in (scope, first, fallback, user_message, isolate(token_limit=9)):
        assert tag[pair].children == ("x👍y",)
        assert tag[lone, "\udc4d"].children == ("x\ufffdy", "\ufffd")
        assert tag["\ud83d", "\udc4d"].children == ("\ufffd", "\ufffd")  # in two children they are no pair
    assert scope(name=pair, key=lone).name == "x👍y"
    assert scope(name=pair, key=lone).key == "x\ufffdy"
    assert user_message(name=pair).name == "x👍y"


@given(
    st.lists(
        st.one_of(
            st.characters(exclude_categories=["Cs"]),
            st.sampled_from(["\ud83d", "\udc4d", "\udfff", "\ufeff"]),
        )
    )
)
def test_text_can_always_be_encoded(characters: list[str]) -> None:
    text = "".join(characters)
    expected: list[str] = []
    at = 0
    while at < len(text):  # by the definition of UTF-16
        code = ord(text[at])
        following = ord(text[at + 1]) if at + 1 < len(text) else 0
        if 0xD800 <= code < 0xDC00 <= following < 0xE000:
            expected.append(chr(0x10000 + ((code - 0xD800) << 10) + following - 0xDC00))
            at += 2
            continue
        expected.append("\ufffd" if 0xD800 <= code < 0xE000 else text[at])
        at += 1
    cleaned = clean_text(text)
    assert cleaned == "".join(expected)
    cleaned.encode()
    assert clean_text(cleaned) == cleaned
    assert scope[text].children == (cleaned,)


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_stay_exact(number: int | float) -> None:
    cleaned = clean_number(number, "here")
    assert repr(cleaned) == repr(number)
    assert type(cleaned) is type(number)


def test_rules_and_breaks_are_children_as_they_are() -> None:
    assert scope[br, hr, br].children == (br, hr, br)
