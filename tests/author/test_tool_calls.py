"""Calls of tools that were made from types: arguments become what was declared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic
import pytest

from priompt_py.author.tools import TypedCall, tool_definition
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import ToolDefinition
from tests.author.tool_examples import (
    NO_PARAMETERS,
    Filters,
    Folder,
    Place,
    Point,
    Query,
    Range,
    Size,
    Unit,
    UserId,
    search,
)
from tests.ids import stable_id

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
    with pytest.raises(ArgumentValueError) as caught:
        call(tool_definition(Query, on_call=handle), {"text": 5})
    assert str(caught.value) == "arguments.text: Input should be a valid string"
    assert isinstance(caught.value.__cause__, pydantic.ValidationError)


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
    ids=stable_id,
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
    ids=stable_id,
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
