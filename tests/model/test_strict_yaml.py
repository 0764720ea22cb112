"""Texts that are no YAML: what is said of them, in our own words, and where."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.model.strict_yaml import MOST_VALUES, YamlFault, parse_yaml

OWN_LINE = "no ':' can stand here: put the text in quotes, or the value on a line of its own"
LOOK = "can't stand here: look at the line's indentation, and at quotes and brackets"
DATA = "only plain data can be read"
NINE_TIMES = "".join(
    f"{name}: &{name} [{', '.join([f'*{of}'] * 9)}]\n" for of, name in zip("abcdefg", "bcdefgh", strict=True)
)

FAULTS: list[tuple[str, int, int, str]] = [
    # --- brackets and quotes
    ("a: [1, 2", 1, 9, "a comma or ] is needed, and the text ends"),
    ("{a: 1", 1, 6, "a comma or } is needed, and the text ends"),
    ("a: [\n1,\n2\nb: 3", 4, 2, "a comma or ] is needed before ':'"),
    ("a: 'x", 1, 6, "a quoted text is not closed"),
    ("'a\n---\nb'", 2, 1, "a quoted text is not closed before this line"),
    ("a: }", 1, 4, "a value is needed, got '}'"),
    ("a: [1, 2]]", 1, 10, f"']' {LOOK}"),
    ("[]]", 1, 3, "the document has ended before ']': look at the indentation"),
    ('a: "b" c', 1, 8, f"a text or a number {LOOK}"),
    # --- indentation, keys and items
    ("a: b: c", 1, 5, OWN_LINE),
    ("a: b\n  c: d", 2, 4, OWN_LINE),
    ("- a\nb: 1", 2, 1, f"a key {LOOK}"),
    ("- - a\n - b", 2, 2, f"an item of a list {LOOK}"),
    (" a: 1\nb: 2", 2, 1, "the document has ended before a key: look at the indentation"),
    ("a:\tb\n\tc: 1", 1, 3, "a tab can't indent: use blanks"),
    ("a: - b", 1, 4, "no list can begin here: put it on a line of its own"),
    ("a: ? b", 1, 4, "no key can begin with '?' here"),
    (
        "a:\n- b\nc",
        3,
        2,
        "the line before has a key without ':' and a value, or the text above is indented too little",
    ),
    ("@a: 1", 1, 1, "no value begins with '@': put it in quotes"),
    ("a: |x\n b", 1, 5, "a text in lines of its own begins on the line below | or >, got 'x'"),
    ("a: |9 x\n", 1, 7, "the line should end here, got 'x'"),
    # --- keys
    ("a: 1\na: 2", 2, 1, "the key 'a' stands twice in one object"),
    ('a: 1\n"a": 2', 2, 1, "the key 'a' stands twice in one object"),
    ("? [1, 2]\n: 3", 1, 3, "a key is a text or a number, no list and no object"),
    ("<<: 3", 1, 5, "<< takes in objects, or a list of objects"),
    ("<<: [3]", 1, 6, "<< takes in objects, or a list of objects"),
    # --- texts and values
    (r'a: "\q"', 1, 6, r"there is no escape \q in a text"),
    (r'a: "\xZZ"', 1, 7, "the escape needs 2 hexadecimal digits, got 'Z'"),
    (r'a: "\U99999999"', 1, 7, "the escape names no character"),
    ('name: "\a"', 1, 8, "the character '\\x07' is not allowed"),
    ("a: !!int many", 1, 4, "a whole number is needed, got 'many'"),
    ("a: !!float many", 1, 4, "a number is needed, got 'many'"),
    ("a: !!bool x", 1, 4, "true or false is needed, got 'x'"),
    ("a: !!timestamp x", 1, 4, "a date or time is needed, got 'x'"),
    ("b: 1\na: 2024-13-01", 2, 4, "a date or time is needed, got '2024-13-01'"),
    ("a: " + "9" * 4_301, 1, 4, "a whole number has more than 4,300 digits"),
    ('a: !!binary "é"', 1, 4, "this is no base64"),
    ("!!map [a]", 1, 1, "the tag is one of objects, and this is none"),
    ("a: !!seq x", 1, 4, "the tag is one of lists, and this is none"),
    ("a: !!str [x]", 1, 4, "the tag is one of single values, and this is none"),
    # --- tags, anchors, documents
    ("a: !!python/name:os.system", 1, 4, f"there are no values of !!python/name:os.system: {DATA}"),
    ("a: !custom 1", 1, 4, f"there are no values of !custom: {DATA}"),
    ("a: !e!x 1", 1, 4, "the tag's beginning '!e!' is not declared"),
    ("a: *x", 1, 4, "no anchor &x stands before the alias *x"),
    ("a: &", 1, 5, "a name is needed, got the end of the text"),
    ("a: &x 1\nb: &x 2", 2, 4, "this anchor has a name that another one has already"),
    ("a: &x [1, *x]", 1, 4, "a value can't be a part of itself"),
    ("a: &x {b: {c: *x}}", 1, 4, "a value can't be a part of itself"),
    (
        "a: &a [x, x, x, x, x, x, x, x, x]\n" + NINE_TIMES,
        7,
        4,
        f"this stands for more than {MOST_VALUES:,} values",
    ),
    ("a: 1\n---\nb: 2", 2, 1, "a second document begins here; only one is read"),
    ("%YAML 3.0\n---\na: 1", 1, 1, "only version 1 of YAML is read"),
    ("%TAG ! x\n%TAG ! y\n---\na: 1", 2, 1, "YAML allows nothing like this here"),
]

VALUES: list[tuple[str, object]] = [
    ("", None),
    ("# nothing", None),
    ("a: 1\nb: [x, 2.5, true, null]", {"a": 1, "b": ["x", 2.5, True, None]}),
    ("a: &m {q: 1}\nb: *m", {"a": {"q": 1}, "b": {"q": 1}}),
    ("a: {<<: &m {q: 1}, q: 2}\nb: {<<: [*m]}", {"a": {"q": 2}, "b": {"q": 1}}),
    ("a: {x: 1}\nb: {x: 2}", {"a": {"x": 1}, "b": {"x": 2}}),
    ("1: a\n'1': b", {1: "a", "1": "b"}),
    ("a: 2024-02-29", {"a": dt.date(2024, 2, 29)}),
    ("a: !!set {x, y}", {"a": {"x", "y"}}),
    ("a: |\n  [[[ {{{\n  b", {"a": "[[[ {{{\nb"}),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS)
def test_fault(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(YamlFault) as caught:
        parse_yaml(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, message)
    assert str(caught.value) == f"{message} (line {line}, column {column})"


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_value(text: str, value: object) -> None:
    assert parse_yaml(text) == value


def test_deep() -> None:
    with pytest.raises(RecursionError):
        parse_yaml("[" * 20_000)


DATA_OF_YAML = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(DATA_OF_YAML)
def test_what_was_written_is_read(value: object) -> None:
    dump: Any = getattr(yaml, "safe_dump")  # noqa: B009 - its type is not known
    text: str = dump(value)
    assert parse_yaml(text) == yaml.safe_load(text)


@given(st.text(alphabet="ab:-?[]{}&*!|>'\"%@#,<\\ \t\n0", max_size=24))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but our own error comes, and a text that is read gives what the safe loader gives."""
    try:
        value = parse_yaml(text)
    except YamlFault:
        return
    assert value == yaml.safe_load(text)
