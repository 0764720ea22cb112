"""The JSON Schemas of types."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional, Union

import jsonschema
import pydantic
import pytest

from priompt_py.author.tools import tool_definition
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from tests.author.tool_examples import (
    Filters,
    Folder,
    Ids,
    Options,
    Place,
    Point,
    Query,
    Range,
    Size,
    Tree,
    Unit,
    UserId,
)
from tests.ids import stable_id


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    jsonschema.Draft202012Validator.check_schema(schema)
    validator: Any = jsonschema.Draft202012Validator(schema)
    return bool(validator.is_valid(value))


def schema_of(annotation: Any, **default: Any) -> dict[str, Any]:
    """The schema of one parameter of this type."""

    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": annotation}
    if default:
        function.__defaults__ = (default["default"],)
    schema = tool_definition(function).parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    made: dict[str, Any] = schema["properties"]["value"]
    return made


TYPES: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (object, {}),
    ("str", {"type": "string"}),
    (list, {"type": "array"}),
    (list[Any], {"type": "array"}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Sequence[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
    (collections.abc.Iterable[int], {"type": "array", "items": {"type": "integer"}}),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
    (frozenset, {"type": "array", "uniqueItems": True}),
    (tuple, {"type": "array"}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (
        tuple[int, str],
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
        },
    ),
    (tuple[()], {"type": "array", "maxItems": 0}),
    (dict, {"type": "object"}),
    (dict[str, Any], {"type": "object", "additionalProperties": {}}),
    (
        Mapping[str, list[int]],
        {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
    ),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal["a", 1] | None, {"anyOf": [{"enum": ["a", 1]}, {"type": "null"}]}),
    (Literal[True], {"type": "boolean", "enum": [True]}),
    (Unit, {"type": "string", "enum": ["c", "f"]}),
    (Size, {"type": "integer", "enum": [1, 2]}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 - users write it
    (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007 - as above
    (int | str | None, {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
    (list[int] | tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
    (
        Annotated[int, pydantic.Field(description="How many.")],
        {"type": "integer", "description": "How many."},
    ),
    (Annotated[int, object(), 5], {"type": "integer"}),
    (list[Annotated[int, "One."]], {"type": "array", "items": {"type": "integer", "description": "One."}}),
    (Annotated[Annotated[int, "Inner."], object()], {"type": "integer", "description": "Inner."}),
    (UserId, {"type": "integer"}),
    (
        Point,
        {
            "type": "object",
            "properties": {
                "x": {"type": "integer"},
                "y": {"type": "integer", "default": 7},
                "items": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["x"],
            "additionalProperties": False,
        },
    ),
    (
        Filters,
        {
            "type": "object",
            "properties": {"before": {"type": "integer"}, "after": {"type": "integer"}},
            "required": ["before"],
            "additionalProperties": False,
        },
    ),
    (
        Options,
        {
            "type": "object",
            "properties": {"deep": {"type": "boolean"}, "note": {"type": "string"}},
            "required": ["deep"],
            "additionalProperties": False,
        },
    ),
]


@pytest.mark.parametrize(("annotation", "schema"), TYPES, ids=stable_id)
def test_types(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema


def test_type_aliases() -> None:
    """The `type` statement of Python 3.12, as typing_extensions has it for older ones."""
    assert schema_of(Ids) == {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("default", "written"),
    [(3, 3), (None, None), (Unit.FAHRENHEIT, "f"), ((1, 2), [1, 2]), ({"a": []}, {"a": []}), ("", "")],
)
def test_defaults_are_written_as_json(default: Any, written: Any) -> None:
    assert schema_of(Any, default=default) == {"default": written}


def test_defaults_that_json_can_not_say_are_left_out() -> None:
    for default in (object(), float("nan"), b"x", Place(1.0)):
        assert schema_of(Any, default=default) == {}


def test_classes_that_hold_themselves() -> None:
    made = tool_definition(Folder)
    folder = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "inside": {"type": "array", "items": {"$ref": "#/$defs/Folder"}},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert made.parameters == {**folder, "$defs": {"Folder": folder}}
    nested = json.loads('{"name": "a", "inside": [{"name": "b", "inside": []}]}')
    assert fits(nested, made.parameters)

    def tidy(folder: Folder, other: Folder | None = None) -> None: ...

    parameters = tool_definition(tidy).parameters
    assert parameters["properties"]["folder"] == {"$ref": "#/$defs/Folder"}
    assert list(parameters["$defs"]) == ["Folder"]
    assert fits({"folder": nested}, parameters)


def test_pydantic_models_inside() -> None:
    def find(query: Query, ranges: list[Range], tree: Tree) -> None: ...

    parameters = tool_definition(find).parameters
    jsonschema.Draft202012Validator.check_schema(parameters)
    assert set(parameters["$defs"]) == {"Range", "Tree"}
    leaf: dict[str, Any] = {}
    good = {"query": {"text": "a", "range": {"low": 1}}, "ranges": [{"low": 2}], "tree": {"children": [leaf]}}
    assert fits(good, parameters)
    assert not fits({**good, "query": {"text": "a", "range": {"low": "x"}}}, parameters)
    assert not fits({**good, "ranges": [{}]}, parameters)


def test_pydantic_models_that_hold_themselves() -> None:
    leaf: dict[str, Any] = {}
    assert tool_definition(Tree).parameters["type"] == "object"
    assert fits({"children": [leaf, {"children": [leaf]}]}, tool_definition(Tree).parameters)
    assert not fits({"children": [5]}, tool_definition(Tree).parameters)


def test_two_types_of_one_name() -> None:
    other = pydantic.create_model("Range", width=(float, ...))
    holder = pydantic.create_model("Holder", range=(other, ...))

    def find(a: Any, b: Any) -> None: ...

    find.__annotations__ = {"a": Query, "b": holder}
    with pytest.raises(ArgumentValueError, match="two different types are called 'Range'"):
        tool_definition(find)


class Stranger: ...


def untyped(query, limit: int) -> None: ...  # type: ignore[no-untyped-def]  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]


def variadic(*words: str) -> None: ...


def keywords(**words: str) -> None: ...


def positional(word: str, /) -> None: ...


def unknown(word: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821 # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]


@dataclasses.dataclass
class Odd:
    key: bytes


class Strange(enum.Enum):
    THING = b"x"


TYPE_HINT = "; take a JSON type and convert it, or give parameters as a JSON Schema"
WRONG_FUNCTIONS: list[tuple[Any, str]] = [
    (untyped, "parameter 'query' of untyped() has no annotation"),
    (variadic, "parameter 'words' of variadic() stands for any number; a tool's have names"),
    (keywords, "parameter 'words' of keywords() stands for any number; a tool's have names"),
    (positional, "parameter 'word' of positional() is positional only; a tool's are given by name"),
    (unknown, "the annotations of unknown() can't be read: NameError: name 'Nowhere' is not defined"),
    (Odd, "field 'key' of Odd has the type bytes, which has no JSON Schema" + TYPE_HINT),
]
WRONG_TYPES: list[tuple[Any, str]] = [
    (bytes, " has the type bytes, which has no JSON Schema" + TYPE_HINT),
    (Stranger, " has the type Stranger, which has no JSON Schema" + TYPE_HINT),
    (list[complex], " has the type complex, which has no JSON Schema" + TYPE_HINT),
    (
        Callable[[], int],
        " has the type collections.abc.Callable[[], int], which has no JSON Schema" + TYPE_HINT,
    ),
    (Literal[b"x"], " has the choice b'x', which has no JSON form"),
    (Strange, " has the choice b'x', which has no JSON form"),
]


@pytest.mark.parametrize(
    ("function", "message"), WRONG_FUNCTIONS, ids=[message for _, message in WRONG_FUNCTIONS]
)
def test_functions_that_make_no_tool(function: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        tool_definition(function)
    assert str(caught.value) == f"tool_definition(): {message}"


@pytest.mark.parametrize(("annotation", "message"), WRONG_TYPES, ids=[message for _, message in WRONG_TYPES])
def test_types_that_have_no_schema(annotation: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        schema_of(annotation)
    assert str(caught.value) == f"tool_definition(): parameter 'value' of function(){message}"


def test_keys_of_mappings_are_text() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"the keys of parameter 'value' of function\(\) must be str in JSON, got int"
    ):
        schema_of(dict[int, str])
