"""Comparing long texts is bound like making them; what an expression makes of enums and other host values."""

from __future__ import annotations

import enum
from collections import deque
from typing import Any

import pytest

from priompt_py.errors import TemplateError
from priompt_py.template.environment import Environment
from tests.template.test_bombs import said

_TWO = '<let name="s" value={"a"*14000000}/><let name="t" value={"a"*14000000}/>'


@pytest.mark.parametrize(
    "test",
    [
        "s == t",
        "s != t",
        "s < t",
        "s >= t",
        "s in [t]",
        "[s] == [t]",
        "{1: s} == {1: t}",
        "{s: 1} == {t: 1}",
        "{s: 1}[t]",
        "t in {s: 1}",
        "{s: 1, t: 2}",
        "max(s, t) == 1",
    ],
)
def test_comparing_long_texts_in_a_loop(test: str) -> None:
    template = f'{_TWO}<for each="i" in={{range(9000)}}><if test={{{test}}}/></for>'
    assert said(template).endswith(": the template takes more than 1,000,000 steps")


@pytest.mark.parametrize("function", ["sorted", "min", "max"])
def test_ordering_many_long_texts(function: str) -> None:
    message = said(f"{_TWO}{{{function}([s, t]*40000) | len}}")
    assert message == "t:1:74: the template takes more than 1,000,000 steps"


def test_ordering_documents_is_cheap() -> None:
    documents = [str(number) + "x" * 100_000 for number in range(99, -1, -1)]
    template = Environment().from_string("{sorted(xs) | first | len} {max(xs) | len} {xs[0] in xs}")
    assert template(xs=documents) == [100_001, " ", 100_001, " ", True]


class Whole(int, enum.Enum):
    A = 3


class Broken(float, enum.Enum):
    A = 2.5


class Named(str, enum.Enum):  # noqa: UP042 - as older programs have it: its str() is "Named.A"
    A = "x"


@pytest.mark.parametrize(
    ("value", "text"), [(Whole.A, "3"), (Broken.A, "2.5"), (Named.A, "x"), (True, "True")]
)
def test_the_text_of_an_enum_is_its_values(value: object, text: str) -> None:
    assert Environment().from_string("{str(v)}")(v=value) == [text]


def test_an_enum_in_a_text() -> None:
    template = """<user name="a{v}-{[v, v] | join(',')}">x</user>"""
    (made,) = Environment().from_string(template)(v=Whole.A)
    assert made.name == "a3-3,3"


def test_a_slice_of_a_sequence_without_slices() -> None:
    assert Environment().from_string("{d[1:]}{d[::-1]}")(d=deque(["a", "b", "c"])) == list("bccba")


def test_too_many_characters_to_strip() -> None:
    template: Any = Environment().from_string("{s | strip(t)}", "t")
    assert template(s="abcba", t="ab" * 50) == ["c"]
    with pytest.raises(TemplateError) as caught:
        template(s="abcba", t="ab" * 50 + "a")
    assert str(caught.value).startswith("t:1:6: strip takes at most 100 characters, got 101\n")
