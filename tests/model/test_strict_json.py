"""Texts that are no JSON: what is said of them, on every Python, and where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.model.strict_json import JsonFault, line_and_column, parse_json, refused_place

FAULTS: list[tuple[str, int, int, str]] = [
    ("", 1, 1, "there is nothing; JSON needs a value, {} say"),
    (" \n ", 2, 2, "there is nothing; JSON needs a value, {} say"),
    ("{", 1, 2, "the text ends within an object; close it with }"),
    ("[", 1, 2, "the text ends where a value is needed"),
    ("[1", 1, 3, "the text ends within a list; close it with ]"),
    ("[1, 2", 1, 6, "the text ends within a list; close it with ]"),
    ('{"a"', 1, 5, "a colon is needed between name and value, got the end"),
    ('{"a":', 1, 6, "the text ends where a value is needed"),
    ('{"a": 1', 1, 8, "the text ends within an object; close it with }"),
    ('{"a": 1,', 1, 9, "the text ends within an object; close it with }"),
    ("[1,", 1, 4, "the text ends where a value is needed"),
    ("[1,]", 1, 3, "a comma stands before the end; leave it out"),
    ('{"a": 1 ,\n}', 1, 9, "a comma stands before the end; leave it out"),
    ("[,]", 1, 2, "a value is needed, got ','"),
    ("[1 2]", 1, 4, "a comma or ] is needed before '2'"),
    ('["a"] []', 1, 7, "the value has ended, and '[' follows; several values stand in a list, [1, 2]"),
    ("{'type': 'br'}", 1, 2, "names stand in double quotes, got \"'type'\""),
    ("{name: 1}", 1, 2, "names stand in double quotes, got 'name'"),
    ("{_a: 1}", 1, 2, "names stand in double quotes, got '_a'"),
    ("{,}", 1, 2, "a name in double quotes is needed, got ','"),
    ("{// c\n}", 1, 2, "JSON has no comments; leave them out"),
    ('["a\nb"]', 1, 4, "a line feed stands within a text; write it as \\n"),
    ('["a\rb"]', 1, 4, "a carriage return stands within a text; write it as \\r"),
    ('["a\tb"]', 1, 4, "a tab stands within a text; write it as \\t"),
    ('["a\x01b"]', 1, 4, "the character U+0001 stands within a text; write it as \\u0001"),
    ('["a', 1, 2, "the text that begins here has no closing quote"),
    ('["\\x"]', 1, 3, "\\x is no escape; write a backslash as \\\\"),
    ('["\\u12"]', 1, 3, "four hexadecimal digits are needed after \\u"),
    ("[True]", 1, 2, "JSON writes true for True"),
    ("[False]", 1, 2, "JSON writes false for False"),
    ("[None, 1]", 1, 2, "JSON writes null for None"),
    ("[undefined]", 1, 2, "JSON writes null for undefined"),
    ("[x]", 1, 2, "a value is needed, got 'x'; texts stand in double quotes"),
    (
        "[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]",
        1,
        2,
        "a value is needed, got 'xxxxxxxxxxxxxxxxx...'; texts stand in double quotes",
    ),
    ("['a']", 1, 2, "texts stand in double quotes, not single ones"),
    ("// c\n1", 1, 1, "JSON has no comments; leave them out"),
    ("[1, /* c */ 2]", 1, 5, "JSON has no comments; leave them out"),
    ("[1 # c\n]", 1, 4, "JSON has no comments; leave them out"),
    ("[1}", 1, 3, "] is needed to close what is open, got '}'"),
    ('{"a": [1, 2}', 1, 12, "] is needed to close what is open, got '}'"),
    ('{"a": 1)', 1, 8, "} is needed to close what is open, got ')'"),
    ('{"a" 1}', 1, 6, "a colon is needed between name and value, got '1'"),
    ('["a "b" c"]', 1, 6, "a comma or ] is needed before 'b'"),
    ("[.5]", 1, 2, "a value is needed, got '.5'"),
    ("[01]", 1, 3, "a comma or ] is needed before '1'"),
    ("NaN", 1, 1, "NaN is no JSON number"),
    ("[1, -Infinity]", 1, 5, "-Infinity is no JSON number"),
    ("[1e999]", 1, 2, "1e999 is too large a number"),
    ('{"a": 1,\n"a": 2}', 2, 1, "the name 'a' stands twice in one object"),
    ("[true,\n " + "9" * 4_301 + "]", 2, 2, "a whole number has more than 4,300 digits"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS, ids=range(len(FAULTS)))
def test_what_is_said(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(JsonFault) as caught:
        parse_json(text)
    fault = caught.value
    assert (fault.line, fault.column, fault.message) == (line, column, message)
    assert str(fault) == f"{message} (line {line}, column {column})"


def test_what_is_nested_too_deeply() -> None:
    with pytest.raises(RecursionError):
        parse_json("[" * 100_000)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES, st.sampled_from((None, 1)))
def test_what_is_json_is_read_as_the_standard_library_reads_it(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert parse_json(text) == json.loads(text)


@given(VALUES.map(json.dumps) | st.text('[]{},:"\\u1.eE-+ntTN/#\n\t a', max_size=12), st.data())
def test_every_text_is_read_or_told_of(text: str, data: st.DataObject) -> None:
    """Broken at random places: a fault names a place within the text or at its end, in no parser's words."""
    at = data.draw(st.integers(0, len(text)))
    broken = (
        text[:at]
        + data.draw(st.sampled_from(("", ",", '"', "}", "]", "x", "'", "\\", "\n")))
        + text[at + 1 :]
    )
    fault = fault_of(broken)
    if fault is not None:
        lines = broken.split("\n")
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
        assert not fault.message.startswith(("Expecting", "Invalid", "Extra", "Unterminated", "Illegal"))


def fault_of(text: str) -> JsonFault | None:
    try:
        parse_json(text)
    except JsonFault as fault:
        return fault
    return None


def test_places_of_what_is_refused() -> None:
    text = '[{"a": 1e5, "b": "NaN {[", "c": ["c", {"a": -2}]},\n {"\\u0061": 1, "a": NaN, "b": -1e999}]'
    assert text[refused_place(text, names=True) :].startswith('"a": NaN')
    assert text[refused_place(text, names=False) :].startswith("NaN,")
    assert refused_place(text.replace("NaN,", "null,"), names=False) == text.index("-1e999") + 1
    digits = "9" * 4_300
    assert refused_place(f"[true, {digits}]", names=False) == 0
    assert refused_place(f"[true, -{digits}9]", names=False) == 7
    assert refused_place("[Infinity]", names=True) == 0


def test_lines_and_columns() -> None:
    assert [line_and_column("a\nbc", offset) for offset in range(5)] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (2, 3),
    ]
