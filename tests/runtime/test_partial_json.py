"""JSON objects as far as they have come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.runtime.json_end import JsonEnd
from priompt_py.runtime.partial_json import PartialJson

TABLE: list[tuple[str, Any]] = [
    ("", None),
    ("  ", None),
    ("{", {}),
    ('{"a', {}),
    ('{"a"', {}),
    ('{"a":', {}),
    ('{"a": "', {"a": ""}),
    ('{"a": "x\\', {"a": "x"}),
    ('{"a": "x\\n', {"a": "x\n"}),
    ('{"a": "x\\u00e', {"a": "x"}),
    ('{"a": "x\\u00e9', {"a": "xé"}),
    ('{"a": "\\ud83d', {"a": ""}),
    ('{"a": "\\ud83d\\', {"a": ""}),
    ('{"a": "\\ud83d\\u', {"a": ""}),
    ('{"a": "\\ud83d\\ude0', {"a": ""}),
    ('{"a": "\\ud83d\\ude00', {"a": "😀"}),
    ('{"a": "\\ud83dx', {"a": "\ud83dx"}),
    ('{"a": "\\ud83d\\n', {"a": "\ud83d\n"}),
    ('{"a": "\\ud83d\\u0041"', {"a": "\ud83dA"}),
    ('{"a": 1', {}),
    ('{"a": 12,', {"a": 12}),
    ('{"a": -1.5e3}', {"a": -1500.0}),
    ('{"a": tru', {}),
    ('{"a": true ', {"a": True}),
    ('{"a": [1, null, "x', {"a": [1, None, "x"]}),
    ('{"a": [[], {}, ', {"a": [[], {}]}),
    ('{"a": {"b": "c"}, "d": "', {"a": {"b": "c"}, "d": ""}),
    ('{"a": 1} ', {"a": 1}),
]
BROKEN: list[tuple[str, Any]] = [
    ("[1]", None),
    ('"x"', None),
    ("5 ", None),
    ("{]", {}),
    ('{"a": 1]', {"a": 1}),
    ('{"a": [1}', {"a": [1]}),
    ('{"a" 1', {}),
    ('{"a": "x"1', {"a": "x"}),
    ('{"a": "x" "y"', {"a": "x"}),
    ('{"a": 1, }', {"a": 1}),
    ('{"a": [1, ]', {"a": [1]}),
    ('{"a": \\', {}),
    ('{"a": "\\x', {"a": ""}),
    ('{"a": "\\u12x4', {"a": ""}),
    ('{"a": NaN}', {}),
    ('{"a": 01}', {}),
    ("{1: 2", {}),
    ('{"a": 1} x', {"a": 1}),
    ('{"a": 1}{', {"a": 1}),
    ("{{", {}),
]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("text", "value"), TABLE)
def test_what_has_come_counts(text: str, value: Any, whole: bool) -> None:
    parser = PartialJson()
    for piece in [text] if whole else text:
        parser.feed(piece)
    assert (parser.value, parser.is_broken) == (value, False)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("text", "value"), BROKEN)
def test_what_is_no_json_stops_the_reading(text: str, value: Any, whole: bool) -> None:
    parser = PartialJson()
    for piece in [text, '"more"'] if whole else [*text, '"more"']:
        parser.feed(piece)
    assert (parser.value, parser.is_broken) == (value, True)


def test_deep_nesting_stops_the_reading() -> None:
    parser = PartialJson()
    parser.feed('{"a": ' * 200)
    assert not parser.is_broken
    parser.feed('{"a": ')
    assert parser.is_broken


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=3), json_values, max_size=4), st.booleans(), st.lists(st.integers(1, 9))
)
def test_any_object_in_any_pieces(value: dict[str, Any], ascii_only: bool, sizes: list[int]) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    parser, end = PartialJson(), JsonEnd()
    at = 0
    before: Any = {}
    for size in [*sizes, len(text)]:
        piece = text[at : at + size]
        at += len(piece)
        parser.feed(piece)
        ended = end.feed(piece)
        assert (ended is not None) == (at == len(text) and bool(piece))
        now = parser.value
        assert is_beginning(before, now if now is not None else {})
        before = now if now is not None else {}
        assert is_beginning(before, value)
    assert (parser.value, parser.is_broken, end.ended) == (value, False, True)


def is_beginning(part: Any, whole: Any) -> bool:
    """Whether a value can become another one by more text at its end."""
    kind: object = type(part)  # pyright: ignore[reportUnknownVariableType]
    if kind is not type(whole):
        return False
    if kind is dict:
        return [*part] == [*whole][: len(part)] and all(is_beginning(part[key], whole[key]) for key in part)
    if kind is list:
        return len(part) <= len(whole) and all(map(is_beginning, part, whole))
    return bool(whole.startswith(part) if kind is str else part == whole)


def test_snapshots_are_copies() -> None:
    parser = PartialJson()
    parser.feed('{"a": [1, ')
    first = parser.value
    assert first is not None
    first["a"].append("mine")
    parser.feed('2, "x"]}')
    assert (first, parser.value) == ({"a": [1, "mine"]}, {"a": [1, 2, "x"]})


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (["{}"], [2]),
        ([" {", "} x"], [None, 1]),
        (['{"a": "}', '"}', "{}"], [None, 2, None]),
        (['{"a": "\\', '"}"}'], [None, 4]),
        (["[1]"], [None]),
        (['"x"', "{}"], [None, None]),
        (["  ", "{}"], [None, 2]),
    ],
)
def test_where_an_object_ends(pieces: list[str], found: list[int | None]) -> None:
    end = JsonEnd()
    assert [end.feed(piece) for piece in pieces] == found
