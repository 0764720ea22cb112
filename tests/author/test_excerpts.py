"""``excerpt``: where texts are cut, how important the pieces are, and what is refused."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.author.excerpts import excerpt, split_text
from priompt_py.author.json_form import from_json, to_json
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, JsonFormError, PromptError
from priompt_py.model.elements import Excerpt

COMMAS = re.compile(",")


def by_index(index: int, piece: str) -> int:
    return index * 10 + len(piece)


def no_number(index: int, piece: str) -> str:
    return "x"


# ------------------------------------------------------------------------------------------ pieces


@pytest.mark.parametrize(
    ("by", "text", "pieces"),
    [
        ("line", "a\nb\n\nc", ["a\n", "b\n", "\n", "c"]),
        ("line", "a\n", ["a\n"]),
        ("line", "", []),
        ("line", "\n", ["\n"]),
        ("line", "a\r\nb\rc\x0bd\u2028e\n", ["a\r\n", "b\rc\x0bd\u2028e\n"]),  # line feeds alone end lines
        ("sentence", "One. Two!  Three?", ["One. ", "Two!  ", "Three?"]),
        ("sentence", "He said \u201cno.\u201d Then he left.", ["He said \u201cno.\u201d ", "Then he left."]),
        ("sentence", "Pi is 3.14 or so.\nYes.", ["Pi is 3.14 or so.\n", "Yes."]),
        ("sentence", "一。二！三", ["一。", "二！", "三"]),
        ("sentence", "A title\n\nText. More", ["A title\n\n", "Text. ", "More"]),
        ("word", "one  two\nthree", ["one  ", "two\n", "three"]),
        ("word", "  one ", ["  one "]),
        (COMMAS, "a,b,,c", ["a,", "b,", ",", "c"]),
        (re.compile("(?=b)"), "abb", ["a", "b", "b"]),
        (re.compile("x*"), "ab", ["a", "b"]),
    ],
)
def test_pieces(by: Any, text: str, pieces: list[str]) -> None:
    assert list(excerpt(text, by=by, keep="head").pieces) == pieces


@given(
    st.text(st.sampled_from("ab .!?\n\r\t\u2028。”"), max_size=30),
    st.sampled_from(["line", "sentence", "word", COMMAS]),
)
def test_pieces_make_up_the_text(text: str, by: Any) -> None:
    pieces = split_text(text, by)
    assert "".join(pieces) == text
    assert all(pieces)


# ------------------------------------------------------------------------------------------ priorities


@pytest.mark.parametrize(
    ("arguments", "priorities"),
    [
        ({"keep": "head"}, [10, 9, 8, 7, 6]),
        ({"keep": "tail"}, [6, 7, 8, 9, 10]),
        ({"keep": "ends"}, [10, 9, 8, 9, 10]),
        ({"around": 1}, [10, 9, 8, 7, 6]),
        ({"around": 3}, [8, 9, 10, 9, 8]),
        ({"around": 5}, [6, 7, 8, 9, 10]),
        ({"priority": [5, 4.5, -3, 0, 10**18]}, [5, 4.5, -3, 0, 10**18]),
        ({"priority": by_index}, [2, 12, 22, 32, 41]),
    ],
)
def test_priorities(arguments: dict[str, Any], priorities: Sequence[float]) -> None:
    made = excerpt("a\nb\nc\nd\ne", **arguments)
    assert list(made.priorities(10)) == priorities
    assert list(excerpt("", keep="ends").priorities(10)) == []
    if "priority" not in arguments:
        assert list(made.priorities(0.5)) == [number - 9.5 for number in priorities]


def test_two_pieces_at_both_ends() -> None:
    for count, priorities in ((1, [0]), (2, [0, 0]), (3, [0, -1, 0]), (4, [0, -1, -1, 0])):
        assert list(excerpt("a\n" * count, keep="ends").priorities(0)) == priorities


# ------------------------------------------------------------------------------------------ refused

ONE = "exactly one of priority, around and keep"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"text": 5}, "excerpt() needs text for text, got text=5 (int)"),
    ({}, f"excerpt() needs {ONE}, got none"),
    ({"around": 1, "keep": "head"}, f"excerpt() needs {ONE}, got around and keep"),
    ({"keep": "middle"}, "excerpt() needs keep to be one of head, tail, ends, got keep='middle' (str)"),
    ({"around": 0}, "excerpt() needs around >= 1, got around=0"),
    ({"around": 4}, "excerpt() has 3 pieces, which count from 1, got around=4"),
    ({"around": True}, "excerpt() needs a whole number for around, got around=True (bool)"),
    (
        {"by": "letter", "keep": "head"},
        "excerpt() needs by to be one of line, sentence, word, got by='letter' (str)",
    ),
    ({"by": 5, "keep": "head"}, "excerpt() needs text for by, got by=5 (int)"),
    (
        {"by": re.compile(b","), "keep": "head"},
        "excerpt() needs a pattern for text, got by=re.compile(b',') (re.Pattern)",
    ),
    ({"priority": [1, 2]}, "excerpt() needs a priority for each of its 3 pieces, got 2 of them"),
    (
        {"priority": "123"},
        "excerpt() needs a function or a list of numbers for priority, got priority='123' (str)",
    ),
    ({"priority": 5}, "excerpt() needs a function or a list of numbers for priority, got priority=5 (int)"),
    ({"priority": [1, True, 3]}, "excerpt() needs a number for priority[1], got priority[1]=True (bool)"),
    (
        {"priority": no_number},
        "excerpt() needs a number for priority[0], got priority[0]='x' (str)",
    ),
    ({"keep": "head", "p": 1, "prel": 1}, "excerpt() takes p or prel, not both, got p=1 and prel=1"),
    ({"keep": "head", "omitted": 5}, "excerpt() needs text for omitted, got omitted=5 (int)"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message[:50] for _, message in WRONG])
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    wrong: dict[str, Any] = {"text": "a\nb\nc", **arguments}
    with pytest.raises(PromptError) as caught:
        excerpt(**wrong)
    assert str(caught.value) == message
    assert isinstance(caught.value, (ArgumentTypeError, ArgumentValueError))


# ------------------------------------------------------------------------------------------ a value


def test_it_is_a_value() -> None:
    made = excerpt("a,b", by=COMMAS, around=2, omitted="...", prel=3, key="k")
    assert type(made) is Excerpt
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own
    assert repr(made) == "excerpt(prel=3, key='k', text='a,b', by=re.compile(','), around=2, omitted='...')"
    assert excerpt("a", keep="head") != excerpt("a", keep="tail")
    assert excerpt("a\nb", keep="head") != excerpt("a\nb", keep="head", by="word")
    taken: Any = made
    with pytest.raises(ArgumentTypeError, match="excerpt takes no children"):
        taken["x"]


def test_json() -> None:
    made = excerpt("a\nb", priority=lambda index, piece: -index, omitted="...")
    assert to_json(made) == [{"type": "excerpt", "text": "a\nb", "priority": [0, -1], "omitted": "..."}]
    assert from_json(to_json(made)) == made
    with pytest.raises(JsonFormError, match=r"^\$\[0\]\.by: a re\.Pattern has no JSON form"):
        to_json(excerpt("a,b", by=COMMAS, keep="head"))
    for form, message in (
        ({"type": "excerpt", "text": "a", "around": 2}, "$.around: excerpt() has 1 pieces"),
        (
            {"type": "excerpt", "text": "a", "priority": [1, 2]},
            "$.priority: excerpt() needs a priority for each",
        ),
        ({"type": "excerpt", "text": "a", "priority": ["x"]}, "$.priority[0]: excerpt() needs a number"),
        ({"type": "excerpt", "text": "a"}, "$: excerpt() needs exactly one of"),
    ):
        with pytest.raises(JsonFormError) as caught:
            from_json(form)
        assert str(caught.value).startswith(message)
