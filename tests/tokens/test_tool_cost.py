from __future__ import annotations

import copy
import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.errors import ArgumentValueError
from priompt_py.tokens.chat_format import OPENAI_CHAT
from priompt_py.tokens.tokenizer import get_tokenizer
from priompt_py.tokens.tool_cost import MAX_SCHEMAS, tool_cost, tools_closing_cost

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
        "unit": {
            "type": "string",
            "description": "The unit of temperature to return",
            "enum": ["celsius", "fahrenheit"],
        },
    },
    "required": ["location"],
}
QUESTION = (
    "You are a helpful assistant that can answer to questions about the weather.",
    "What's the weather like in San Francisco?",
)


@pytest.mark.parametrize(("model", "family", "tokens"), [("gpt-4", "gpt-4", 105), ("gpt-4o", "gpt-4o", 101)])
def test_the_cookbooks_example(model: str, family: str, tokens: int) -> None:
    count = get_tokenizer(model).count
    tool = tool_cost(
        count,
        name="get_current_weather",
        description="Get the current weather in a given location",
        parameters=WEATHER,
        family=family,
    )
    messages = sum(
        OPENAI_CHAT.message_cost(count) + count(text) for text in QUESTION
    ) + OPENAI_CHAT.chat_cost(2)
    assert tool + tools_closing_cost(family) + messages == tokens


def test_closing_costs() -> None:
    assert [tools_closing_cost(family) for family in ("gpt-4o", "gpt-4", "claude", "claude-4")] == [
        12,
        12,
        675,
        497,
    ]
    assert tools_closing_cost() == 12


def cost(parameters: Any, *, name: str = "f", description: str | None = None) -> int:
    """With a character a token and without what every definition costs (7, and its line)."""
    return tool_cost(len, name=name, description=description, parameters=parameters) - 7 - len("f:")


def test_a_definitions_line() -> None:
    assert cost(None) == cost({}) == 0
    assert cost({}, description="look it up.") == len("look it up")
    assert cost({}, description="wait...") == len("wait..")
    assert tool_cost(len, name="f", description=None, parameters=None, family="gpt-4") == 10 + len("f:")


@pytest.mark.parametrize(
    ("properties", "tokens"),
    [
        ({}, 0),
        ({"a": {"type": "string", "description": "d."}}, 3 + 3 + len("a:string:d")),
        ({"a": {"type": "string"}, "b": {}}, 3 + 3 + len("a:string:") + 3 + len("b::")),
        ({"a": {"type": "string", "enum": ["x", "yy"]}}, 3 + 3 - 3 + 3 + 1 + 3 + 2 + len("a:string:")),
        ({"a": {"enum": []}}, 3 + 3 - 3 + len("a::")),
        (
            {"a": {"enum": [1, None, True, 2.5, ["é"]]}},
            3 + 3 - 3 + 5 * 3 + len('1nulltrue2.5["é"]') + len("a::"),
        ),
        ({"a": {"const": "x"}}, 3 + 3 - 3 + 3 + 1 + len("a::")),
        ({"a": {"type": ["string", "null"]}}, 3 + 3 + len("a:string|null:")),
        ({"a": True, "b": None, "c": 3}, 3 + 3 * (3 + len("a::"))),
        ({"a": {"type": 3, "description": 4, "enum": "xy"}}, 3 + 3 + len("a:3:")),
        # Nested: an object's properties are opened again; schemas without a name have an empty one.
        ({"a": {"properties": {"b": {"type": "string"}}}}, 3 + 3 + len("a::") + 3 + 3 + len("b:string:")),
        (
            {"a": {"type": "array", "items": {"type": "string"}}},
            3 + 3 + len("a:array:") + 3 + len(":string:"),
        ),
        ({"a": {"items": {"enum": ["x"]}}}, 3 + 3 + len("a::") + 3 - 3 + 3 + 1 + len("::")),
        ({"a": {"additionalProperties": {"type": "x"}}}, 3 + 3 + len("a::") + 3 + len(":x:")),
        ({"a": {"additionalProperties": False, "items": {}}}, 3 + 3 + len("a::")),
        (
            {"a": {"anyOf": [{"type": "x"}, {"type": "null"}]}},
            3 + 3 + len("a::") + 2 * 3 + len(":x:") + len(":null:"),
        ),
        ({"a": {"oneOf": ({"type": "x"},), "allOf": "no"}}, 3 + 3 + len("a::") + 3 + len(":x:")),
        ({"a": {"prefixItems": [{"type": "x"}]}}, 3 + 3 + len("a::") + 3 + len(":x:")),
    ],
)
def test_properties(properties: Any, tokens: int) -> None:
    assert cost({"type": "object", "properties": properties}) == tokens


def test_a_reference_costs_its_definition_once() -> None:
    point = {"type": "object", "properties": {"x": {"type": "number"}}}
    one = 3 + 3 + len("a::") + (3 + len(":object:") + 3 + 3 + len("x:number:"))
    schema: dict[str, Any] = {"$defs": {"P/t": point}, "properties": {"a": {"$ref": "#/$defs/P~1t"}}}
    assert cost(schema) == one
    schema["properties"]["b"] = {"$ref": "#/$defs/P~1t"}
    assert cost(schema) == one + 3 + len("b::")


def test_references_may_go_in_circles_or_nowhere() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/Node"}}}
    circle = {"$ref": "#/$defs/Node", "$defs": {"Node": node}}
    assert cost(circle) == 3 + len("::") + 3 + 3 + len("next::")
    for reference in ("#/$defs/None", "#", "https://example.com/schema", "other.json#/x", 3):
        assert cost({"properties": {"a": {"$ref": reference}}}) == 3 + 3 + len("a::")


def test_the_callers_data_are_left_alone() -> None:
    before = copy.deepcopy(WEATHER)
    tool_cost(len, name="f", description="d.", parameters=WEATHER)
    assert before == WEATHER


def test_any_depth() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(19_000):
        deep = {"type": "array", "items": deep}
    assert cost(deep) == 18_999 * (3 + len(":array:")) + 3 + len(":string:")


def test_schemas_without_end_are_an_error() -> None:
    endless: dict[str, Any] = {"type": "object"}
    endless["properties"] = {"a": endless, "b": endless}
    with pytest.raises(
        ArgumentValueError, match=f"tool 'f' hold themselves or more than {MAX_SCHEMAS:,} schemas"
    ):
        cost(endless)


def test_values_without_json_are_an_error_and_others_are_written() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(
        ArgumentValueError, match="the parameters of tool 'f' hold a value that has no JSON: list"
    ):
        cost({"properties": {"a": {"enum": [endless]}}})
    day = dt.date(2026, 1, 2)
    assert cost({"properties": {"a": {"enum": [day]}}}) == 3 + 3 - 3 + 3 + len('"2026-01-02"') + len("a::")


def test_an_unknown_family_is_named() -> None:
    with pytest.raises(
        ArgumentValueError, match="no family of tool costs is named 'x'; there are gpt-4o, gpt-4, claude"
    ):
        tools_closing_cost("x")
    with pytest.raises(ArgumentValueError, match="no family of tool costs is named 'x'"):
        tool_cost(len, name="f", description=None, parameters=None, family="x")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "enum", "anyOf", "$ref", "description", "$defs", "const"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(parameters=st.dictionaries(st.sampled_from(["type", "properties", "items", "$defs"]), json_values))
def test_any_json_has_a_cost(parameters: dict[str, Any]) -> None:
    before = copy.deepcopy(parameters)
    assert cost(parameters) >= 0
    assert parameters == before
