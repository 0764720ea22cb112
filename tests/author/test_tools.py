"""Tool definitions from schemas, functions and classes."""

from __future__ import annotations

import copy
import functools
import json
import pickle
from typing import Any

import pytest

from priompt_py.author.tools import TypedCall, tool_definition
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.model.elements import ToolDefinition
from tests.author.tool_examples import (
    NO_PARAMETERS,
    Filters,
    Place,
    Point,
    Query,
    Tree,
    search,
)

# ------------------------------------------------------------------------------------------ schemas


def test_a_schema_is_copied_as_it_is() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"at": {"type": "string", "enum": ["sky", "sea"], "x-mine": (1, 2)}},
        "required": ["at"],
        "$defs": {},
    }
    before = copy.deepcopy(schema)
    made = tool_definition(
        name="look", description="Look.", parameters=schema, strict=True, on_call=print, p=3, key="k"
    )
    assert (made.name, made.description, made.strict, made.on_call, made.p, made.key) == (
        "look",
        "Look.",
        True,
        print,
        3,
        "k",
    )
    assert json.dumps(made.parameters) == json.dumps(before)
    schema["properties"]["at"]["enum"].append("changed")
    schema["required"].clear()
    assert json.dumps(made.parameters) == json.dumps(before)


def test_defaults() -> None:
    made = tool_definition(name="now")
    assert made == ToolDefinition(name="now", description="", parameters=NO_PARAMETERS)
    assert tool_definition(name="now", parameters=NO_PARAMETERS) == made
    assert tool_definition(name="now", parameters={}).parameters == {}
    assert tool_definition(NO_PARAMETERS, name="now", strict=False).strict is False


@pytest.mark.parametrize("name", ["a", "look_up-2", "A" * 64, "_", "-", "0"])
def test_names_that_providers_take(name: str) -> None:
    assert tool_definition(name=name).name == name


@pytest.mark.parametrize("name", ["", " ", "a b", "A" * 65, "a.b", "größe", "a\n", "٣", "a/b", "\ud83d"])
def test_names_that_they_do_not_take(name: str) -> None:
    with pytest.raises(
        ArgumentValueError, match=r"needs a name of 1 to 64 letters, digits, _ and -, got name="
    ):
        tool_definition(name=name)


NAN = float("nan")
deep: Any = {}
for _ in range(300):
    deep = {"properties": {"a": deep}}


class Opaque: ...


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "tool_definition() needs a name"),
    ({"name": 5}, "tool_definition() needs text for name, got name=5 (int)"),
    (
        {"name": "a", "description": 5},
        "tool_definition() needs text for description, got description=5 (int)",
    ),
    (
        {"name": "a", "strict": "yes"},
        "tool_definition() needs True or False for strict, got strict='yes' (str)",
    ),
    ({"name": "a", "on_call": "f"}, "tool_definition() needs a function for on_call, got on_call='f' (str)"),
    ({"name": "a", "p": "x"}, "tool_definition() needs a number for p, got p='x' (str)"),
    ({"name": "a", "p": 1, "prel": 1}, "tool_definition() takes p or prel, not both, got p=1 and prel=1"),
    (
        {"name": "a", "parameters": 5},
        "tool_definition() needs a JSON Schema, a class with fields or a function for parameters, got parameters=5 (int)",
    ),
    (
        {"name": "a", "parameters": Opaque},
        (
            "tool_definition() needs a JSON Schema, a class with fields or a function for parameters, "
            f"got parameters=<class '{__name__}.Opaque'> (type)"
        ),
    ),
    (
        {"name": "a", "parameters": {"type": "array"}},
        "tool_definition() needs the schema of an object for parameters, got parameters.type='array' (str)",
    ),
    (
        {"name": "a", "parameters": {"properties": {"x": {"maximum": NAN}}}},
        "tool_definition() needs JSON for parameters, but parameters.properties.x.maximum: nan is no JSON number",
    ),
    (
        {"name": "a", "parameters": {"properties": {5: {}}}},
        "tool_definition() needs JSON for parameters, but parameters.properties: a key must be text, got 5 (an int)",
    ),
    (
        {"name": "a", "parameters": {"properties": {"x": {"type": str}}}},
        (
            "tool_definition() needs JSON for parameters, but parameters.properties.x.type: "
            "a type has no JSON form (got <class 'str'>)"
        ),
    ),
    (
        {"name": "a", "parameters": deep},
        (
            "tool_definition() needs JSON for parameters, but "
            "parameters.properties.a.properties.a.properties.a: nested more than 200 levels deep"
        ),
    ),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message[:70] for _, message in WRONG])
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PromptError) as caught:
        tool_definition(**arguments)
    assert str(caught.value) == message
    assert isinstance(caught.value, (ArgumentTypeError, ArgumentValueError))


# ------------------------------------------------------------------------------------------ functions


def test_a_function() -> None:
    made = tool_definition(search)
    assert (made.name, made.description) == ("search", "Look something up.\n\nTwice, if need be.")
    assert made.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer", "description": "How many at most.", "default": 5},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "near": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "lat": {"type": "number", "description": "Degrees north."},
                            "lon": {"type": "number", "description": "Degrees east.", "default": 0.0},
                            "tags": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["lat"],
                        "additionalProperties": False,
                    },
                    {"type": "null"},
                ],
                "default": None,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert made.on_call == TypedCall(search)
    assert tool_definition(parameters=search) == made
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own


def test_what_is_given_wins() -> None:
    made = tool_definition(search, name="find", description="Find.", on_call=print)
    assert (made.name, made.description, made.on_call) == ("find", "Find.", print)
    assert tool_definition(search, description="").description == ""


def test_names_that_functions_have() -> None:
    with pytest.raises(ArgumentValueError, match="got name='<lambda>'"):
        tool_definition(lambda: None)
    assert tool_definition(lambda: None, name="nothing").parameters["properties"] == {}
    with pytest.raises(ArgumentValueError, match=r"tool_definition\(\) needs a name$"):
        tool_definition(functools.partial(search, limit=3))
    partial = tool_definition(functools.partial(search, limit=3), name="search")
    assert partial.parameters["properties"]["limit"]["default"] == 3
    assert partial.parameters["properties"]["query"]["description"] == "What to look for."
    assert partial.description.startswith("Look something up.")

    class Finder:
        """Finds."""

        def find(self, query: str) -> str:
            """Find it."""
            return query

        def __call__(self, query: str) -> str:
            return query

    assert list(tool_definition(Finder().find).parameters["properties"]) == ["query"]
    assert tool_definition(Finder().find).description == "Find it."
    assert list(tool_definition(Finder(), name="finder").parameters["properties"]) == ["query"]

    unreadable: Any = dict.fromkeys
    with pytest.raises(ArgumentTypeError):
        tool_definition(unreadable)


# ------------------------------------------------------------------------------------------ classes


def test_a_pydantic_model() -> None:
    made = tool_definition(Query)
    assert (made.name, made.description, made.on_call) == ("Query", "What to look for.", None)
    assert made.parameters == Query.model_json_schema()
    assert tool_definition(Tree).parameters["type"] == "object"


def test_other_classes() -> None:
    assert tool_definition(Place).description.startswith("A place.")
    assert tool_definition(Point).name == "Point"
    assert tool_definition(Point).description == ""  # none was written: attrs and dataclasses make some
    assert tool_definition(Filters, name="filters").parameters["required"] == ["before"]


def test_strict_schemas() -> None:
    made = tool_definition(search, strict=True)
    assert made.strict is True
    near = made.parameters["properties"]["near"]["anyOf"][0]
    assert made.parameters["required"] == ["query", "limit", "unit", "near"]
    assert near["required"] == ["lat", "lon", "tags"]
    assert "default" not in json.dumps(made.parameters)
    model = tool_definition(Query, strict=True).parameters
    assert (model["required"], model["additionalProperties"]) == (["text", "range"], False)
    assert model["$defs"]["Range"]["required"] == ["low", "high"]
    assert tool_definition({"type": "object"}, name="a", strict=True).parameters == {"type": "object"}

    def mapped(values: dict[str, Place], pair: tuple[Place, int]) -> None: ...

    strict = tool_definition(mapped, strict=True).parameters["properties"]
    assert strict["values"]["additionalProperties"]["required"] == ["lat", "lon", "tags"]
    assert strict["pair"]["prefixItems"][0]["required"] == ["lat", "lon", "tags"]
