"""Arguments against JSON Schemas: the sentences, and the verdicts of the reference implementation."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.runtime.json_check import misfit

SENTENCES: list[tuple[Any, Any, str | None]] = [
    (1, {"type": "string"}, "arguments: needs text, got 1"),
    (True, {"type": "integer"}, "arguments: needs a whole number, got True"),
    (1.5, {"type": "integer"}, "arguments: needs a whole number, got 1.5"),
    (3.0, {"type": "integer"}, None),
    ("x", {"type": ["integer", "null"]}, "arguments: needs a whole number or null, got 'x'"),
    (1, {"type": "hologram"}, None),
    ("x", {"type": "boolean"}, "arguments: needs a boolean, got 'x'"),
    ("c", {"enum": ["a", "b"]}, "arguments: needs one of 'a', 'b', got 'c'"),
    (1, {"enum": [True]}, "arguments: needs one of True, got 1"),
    (1.0, {"enum": [1]}, None),
    ([1, {"a": [True]}], {"const": [1, {"a": [True]}]}, None),
    (
        [1, {"a": [1]}],
        {"const": [1, {"a": [True]}]},
        "arguments: needs [1, {'a': [True]}], got [1, {'a': [1]}]",
    ),
    (0, {"minimum": 1}, "arguments: needs at least 1, got 0"),
    (2, {"maximum": 1}, "arguments: needs at most 1, got 2"),
    (1, {"exclusiveMinimum": 1}, "arguments: needs more than 1, got 1"),
    (1, {"exclusiveMaximum": 1}, "arguments: needs less than 1, got 1"),
    (5, {"multipleOf": 2}, "arguments: needs a multiple of 2, got 5"),
    ("ab", {"minLength": 3}, "arguments: needs at least 3 characters, got 2"),
    ("ab", {"maxLength": 1}, "arguments: needs at most 1 characters, got 2"),
    ("ab", {"pattern": "^b"}, "arguments: needs text that matches '^b', got 'ab'"),
    ("ab", {"pattern": "b"}, None),
    ("ab", {"pattern": "(?<x>b)"}, None),
    ([1], {"minItems": 2}, "arguments: needs at least 2 items, got 1"),
    ([1, "x"], {"items": {"type": "integer"}}, "arguments[1]: needs a whole number, got 'x'"),
    (["x", 1], {"prefixItems": [{"type": "integer"}]}, "arguments[0]: needs a whole number, got 'x'"),
    (
        [1, "x"],
        {"prefixItems": [{"type": "integer"}], "items": False},
        "arguments[1]: nothing may stand here, got 'x'",
    ),
    ([1, 2, 1.0], {"uniqueItems": True}, "arguments: needs items that differ, got [1, 2, 1.0]"),
    ({}, {"required": ["a"]}, "arguments: 'a' is missing"),
    ({"a": 1}, {"maxProperties": 0}, "arguments: needs at most 0 keys, got 1"),
    (
        {"a": {"b": 1}},
        {"properties": {"a": {"properties": {"b": {"type": "string"}}}}},
        "arguments.a.b: needs text, got 1",
    ),
    (
        {"x": 1},
        {"properties": {"a": {}}, "additionalProperties": False},
        "arguments: there is no 'x'; it takes a",
    ),
    ({"x": 1}, {"additionalProperties": False}, "arguments: there is no 'x'; it takes nothing"),
    ({"x": 1}, {"additionalProperties": {"type": "string"}}, "arguments.x: needs text, got 1"),
    ({"x": 1}, {"patternProperties": {"^x": {"type": "string"}}}, "arguments.x: needs text, got 1"),
    ({"x": 1}, {"patternProperties": {"^x": {}}, "additionalProperties": False}, None),
    (5, {"allOf": [{"type": "integer"}, {"minimum": 6}]}, "arguments: needs at least 6, got 5"),
    (
        None,
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        (
            "arguments: fits 0 of its 2 forms, got None (arguments: needs a whole number, got None; "
            "arguments: needs text, got None)"
        ),
    ),
    (5, {"oneOf": [{"type": "integer"}, {"minimum": 1}]}, "arguments: fits 2 of its 2 forms, got 5"),
    (5, {"oneOf": [{"type": "integer"}, {"minimum": 6}]}, None),
    (5, {"not": {"type": "integer"}}, "arguments: is what it must not be, got 5"),
    (5, {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "string"}}}, "arguments: needs text, got 5"),
    (5, {"$ref": "#/$defs/gone"}, None),
    (5, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, None),
    (5, True, None),
    (5, False, "arguments: nothing may stand here, got 5"),
    (5, {"format": "email", "title": "x", "description": "y"}, None),
    (0.3, {"multipleOf": 0.1}, None),
    (0.35, {"multipleOf": 0.1}, "arguments: needs a multiple of 0.1, got 0.35"),
    (float("inf"), {"multipleOf": 2}, None),
    (float("inf"), {"type": "integer"}, "arguments: needs a whole number, got inf"),
    ({"(": 1}, {"patternProperties": {"(": False}}, None),
]


@pytest.mark.parametrize(("value", "schema", "sentence"), SENTENCES)
def test_sentences(value: Any, schema: Any, sentence: str | None) -> None:
    assert misfit(value, schema) == sentence


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({}, {"required": True}),
        ({"a": 1}, {"properties": {"a": {"required": True}}, "patternProperties": 5}),
        ({"a": 1}, {"properties": ["a"]}),
        (5, {"enum": 5}),
        (5, {"minimum": "6", "multipleOf": 0, "maximum": True}),
        ("x", {"minLength": "2", "pattern": 5}),
        ([1], {"items": [{"type": "string"}], "prefixItems": {}, "minItems": None, "uniqueItems": "yes"}),
        (5, {"type": None, "allOf": {}, "anyOf": [], "oneOf": "x"}),
        (5, {"$ref": 5}),
        (5, "x"),
    ],
)
def test_keywords_that_make_no_sense_refuse_nothing(value: Any, schema: Any) -> None:
    assert misfit(value, schema) is None


def test_a_class_that_holds_itself() -> None:
    tree = {
        "type": "object",
        "properties": {"inside": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    }
    assert misfit({"inside": [{"inside": []}, {}]}, tree) is None
    assert (
        misfit({"inside": [{"inside": [5]}]}, tree) == "arguments.inside[0].inside[0]: needs an object, got 5"
    )


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab", 1.0, 1.5])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES)
            | st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
            "enum": st.lists(values, min_size=1, max_size=2),
            "const": values,
            "minimum": st.integers(-2, 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "multipleOf": st.integers(1, 3),
            "maxLength": st.integers(0, 2),
            "pattern": st.sampled_from(["a", "^b", "^$"]),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "uniqueItems": st.booleans(),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=1),
            "additionalProperties": inner,
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    )


@given(values, st.recursive(st.booleans(), schemas, max_leaves=4))
def test_the_verdict_is_that_of_the_reference(value: Any, schema: Any) -> None:
    reference: Any = jsonschema.Draft202012Validator(schema)
    assert (misfit(value, schema) is None) == reference.is_valid(value), json.dumps([value, schema])
