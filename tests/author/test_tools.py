"""Tool definitions: from schemas, classes and functions, and calls of what they were made from."""

from __future__ import annotations

import asyncio
import collections.abc
import copy
import dataclasses
import enum
import functools
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, Required, TypedDict, Union

import attrs
import jsonschema
import pydantic
import pytest
from typing_extensions import TypeAliasType

from priompt_py.author.tools import TypedCall, tool_definition
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.model.elements import ToolDefinition

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


class Unit(enum.Enum):
    """Degrees of what."""

    CELSIUS = "c"
    FAHRENHEIT = "f"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Place:
    """A place.

    Attributes:
        lat: Degrees north.
    """

    lat: float
    lon: Annotated[float, "Degrees east."] = 0.0
    tags: list[str] = dataclasses.field(default_factory=list[str])
    made: int = dataclasses.field(init=False, default=3)


@attrs.define
class Point:
    x: int
    _y: int = 7
    items: list[int] = attrs.field(factory=list[int])


class Filters(TypedDict, total=False):
    before: Required[int]
    after: int


class Options(TypedDict):
    deep: bool
    note: NotRequired[str]


class Range(pydantic.BaseModel):
    """From and to."""

    low: int
    high: int = pydantic.Field(default=10, description="Inclusive.")


class Query(pydantic.BaseModel):
    """What to look for."""

    text: str
    range: Range | None = None


class Tree(pydantic.BaseModel):
    children: list[Tree] = []


@dataclasses.dataclass
class Folder:
    name: str
    inside: list[Folder] = dataclasses.field(default_factory=list["Folder"])


UserId = NewType("UserId", int)
Ids = TypeAliasType("Ids", list[int])


def search(query: str, limit: int = 5, *, unit: Unit = Unit.CELSIUS, near: Place | None = None) -> str:
    """Look something up.

    Twice, if need be.

    Args:
        query: What to look for.
        limit: How many at most.

    Returns:
        What was found.
    """
    return f"{query!r} {limit!r} {unit!r} {near!r}"


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


@pytest.mark.parametrize(("annotation", "schema"), TYPES, ids=lambda value: str(value)[:50])
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
    for default in (Opaque(), NAN, b"x", Place(1.0)):
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


def test_names_that_functions_have() -> None:
    with pytest.raises(ArgumentValueError, match="got name='<lambda>'"):
        tool_definition(lambda: None)
    assert tool_definition(lambda: None, name="nothing").parameters["properties"] == {}
    with pytest.raises(ArgumentValueError, match=r"tool_definition\(\) needs a name$"):
        tool_definition(functools.partial(search, limit=3))
    partial = tool_definition(functools.partial(search, limit=3), name="search")
    assert partial.parameters["properties"]["limit"]["default"] == 3

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
    leaf: Any = {}
    assert fits({"children": [leaf, {"children": [leaf]}]}, tool_definition(Tree).parameters)
    assert not fits({"children": [5]}, tool_definition(Tree).parameters)


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


# ------------------------------------------------------------------------------------------ calls


def call(definition: ToolDefinition, arguments: Mapping[str, Any]) -> Any:
    assert definition.on_call is not None
    return definition.on_call(arguments, "the call")


def test_a_function_is_called_by_name_with_its_types() -> None:
    made = tool_definition(search)
    assert call(made, {"query": "a"}) == "'a' 5 <Unit.CELSIUS: 'c'> None"
    found = call(
        made, {"query": "a", "limit": 2.0, "unit": "f", "near": {"lat": 1, "lon": 2.5, "tags": ["x"]}}
    )
    assert found == "'a' 2 <Unit.FAHRENHEIT: 'f'> " + repr(Place(1.0, 2.5, ["x"]))


def test_an_async_function() -> None:
    async def fetch(url: str) -> str:
        return f"got {url}"

    assert asyncio.run(call(tool_definition(fetch), {"url": "u"})) == "got u"


def test_a_class_gives_instances_to_on_call() -> None:
    def handle(arguments: object, call: object) -> tuple[object, object]:
        return arguments, call

    assert call(tool_definition(Query, on_call=handle), {"text": "a"}) == (Query(text="a"), "the call")
    assert call(tool_definition(Place, on_call=handle), {"lat": 1}) == (Place(1.0), "the call")
    assert call(tool_definition(Point, on_call=handle), {"x": 1, "y": 2}) == (Point(1, 2), "the call")
    assert call(tool_definition(Filters, on_call=handle), {"before": 1}) == ({"before": 1}, "the call")
    nested = {"name": "a", "inside": [{"name": "b"}]}
    assert call(tool_definition(Folder, on_call=handle), nested) == (Folder("a", [Folder("b")]), "the call")
    with pytest.raises(pydantic.ValidationError):
        call(tool_definition(Query, on_call=handle), {"text": 5})


def test_a_schema_gives_the_arguments_as_they_are() -> None:
    def handle(arguments: object, call: object) -> tuple[object, object]:
        return arguments, call

    made = tool_definition(NO_PARAMETERS, name="a", on_call=handle)
    assert made.on_call is handle


def parsed(annotation: Any, value: Any) -> Any:
    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": annotation}
    return TypedCall(function).parse({"value": value})["value"]


@pytest.mark.parametrize(
    ("annotation", "value", "result"),
    [
        (str, "a", "a"),
        (int, 3, 3),
        (int, 3.0, 3),
        (float, 3, 3.0),
        (bool, True, True),
        (None, None, None),
        (Any, [1], [1]),
        (list[int], [1, 2.0], [1, 2]),
        (list, [1, "a"], [1, "a"]),
        (set[int], [1, 1], {1}),
        (frozenset[int], [1], frozenset({1})),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple, [1, "a"], (1, "a")),
        (dict[str, Unit], {"a": "c"}, {"a": Unit.CELSIUS}),
        (dict, {"a": 1}, {"a": 1}),
        (Literal["a", 1], 1, 1),
        (Size, 2, Size.LARGE),
        (int | None, None, None),
        (int | str, "5", "5"),
        (Unit | Place, {"lat": 1}, Place(1.0)),
        (Annotated[UserId, "Whose."], 5, 5),
        (list[Range], [{"low": 1}], [Range(low=1)]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_arguments_become_their_types(annotation: Any, value: Any, result: Any) -> None:
    made = parsed(annotation, value)
    assert made == result
    assert type(made) is type(result)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (str, 5, "arguments.value: needs text, got 5 (int)"),
        (int, True, "arguments.value: needs a whole number, got True (bool)"),
        (int, 1.5, "arguments.value: needs a whole number, got 1.5 (float)"),
        (int, "5", "arguments.value: needs a whole number, got '5' (str)"),
        (float, "5", "arguments.value: needs a number, got '5' (str)"),
        (bool, 1, "arguments.value: needs true or false, got 1 (int)"),
        (None, 0, "arguments.value: needs null, got 0 (int)"),
        (list[int], "ab", "arguments.value: needs an array, got 'ab' (str)"),
        (list[int], [1, None], "arguments.value[1]: needs a whole number, got None (NoneType)"),
        (tuple[int, int], [1], "arguments.value: needs 2 items, got 1"),
        (dict[str, int], [1], "arguments.value: needs an object, got [1] (list)"),
        (dict[str, int], {"a": "b"}, "arguments.value.a: needs a whole number, got 'b' (str)"),
        (Unit, "k", "arguments.value: needs one of 'c', 'f', got 'k' (str)"),
        (Literal[1], True, "arguments.value: needs one of 1, got True (bool)"),
        (int | None, "a", "arguments.value: needs a whole number, got 'a' (str)"),
        (
            int | str,
            None,
            (
                "arguments.value: None (NoneType) fits none of its types: arguments.value: needs a whole number, "
                "got None (NoneType); arguments.value: needs text, got None (NoneType)"
            ),
        ),
        (Place, 5, "arguments.value: needs an object, got 5 (int)"),
        (Place, {}, "arguments.value: 'lat' is missing"),
        (Place, {"lat": 1, "made": 3}, "arguments.value: there is no 'made'; it takes lat, lon, tags"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_arguments_that_do_not_fit(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        parsed(annotation, value)
    assert str(caught.value) == message


def test_arguments_that_are_missing_or_unknown() -> None:
    with pytest.raises(ArgumentValueError, match="arguments: 'query' is missing"):
        call(tool_definition(search), {})
    with pytest.raises(
        ArgumentValueError, match="arguments: there is no 'q'; it takes query, limit, unit, near"
    ):
        call(tool_definition(search), {"q": 1})
    with pytest.raises(ArgumentValueError, match="arguments: there is no 'q'; it takes nothing"):
        call(tool_definition(lambda: None, name="a"), {"q": 1})
