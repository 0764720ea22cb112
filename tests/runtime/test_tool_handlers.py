"""Handlers of tools: arguments parsed and checked, results, partial arguments, what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import attrs
import pydantic
import pytest

from priompt_py import (
    CallDelta,
    Delta,
    ModelOutput,
    ModelOutputError,
    Node,
    ToolCall,
    capture,
    run,
    tool_definition,
    tools,
    user_message,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["place"],
    "additionalProperties": False,
}


def calls(*given: tuple[str, str], incomplete: bool = False) -> ModelOutput:
    """An answer of calls: name and arguments; ids are c0, c1, …"""
    return ModelOutput(
        tool_calls=tuple(
            ToolCall(f"c{number}", name, arguments, incomplete)
            for number, (name, arguments) in enumerate(given)
        )
    )


async def ran(node: Node, answer: Any) -> ModelOutput:
    found: ModelOutput = await run([node, user_message["x"]], model=lambda _: answer, token_limit=1_000)
    return found


# ------------------------------------------------------------------------------------------ what they get


async def test_a_schema_gives_checked_mappings() -> None:
    got: list[Any] = []

    def on_call(arguments: dict[str, Any], call: ToolCall) -> None:
        got.append((arguments, call.id))

    tool = tool_definition(SCHEMA, name="look", on_call=on_call)
    await ran(tool, calls(("look", '{"place": "Oslo", "days": 2}'), ("look", '{"place": "Rome"}')))
    assert got == [({"place": "Oslo", "days": 2}, "c0"), ({"place": "Rome"}, "c1")]


class Query(pydantic.BaseModel):
    """What to look for."""

    place: str
    days: int = pydantic.Field(1, ge=1)


@attrs.frozen
class Point:
    x: int
    y: int = 0


async def test_a_class_gives_instances() -> None:
    got: list[Any] = []
    group = tools(on_call=lambda value, call: got.append((value, call.name)))[Query, Point]
    await ran(group, calls(("Query", '{"place": "Oslo"}'), ("Point", '{"x": 1}')))
    assert got == [(Query(place="Oslo", days=1), "Query"), (Point(1, 0), "Point")]


async def look(place: str, days: int = 1) -> str:
    """Look at the sky."""
    await asyncio.sleep(0)
    return place * days


def say(text: str) -> str:
    """Say something."""
    return text.upper()


async def test_functions_are_called_and_their_results_told() -> None:
    got: list[Any] = []
    group = tools(on_result=lambda result, call: got.append((call.id, result)))[look, say]
    await ran(group, calls(("look", '{"place": "Oslo", "days": 2}'), ("say", '{"text": "hi"}')))
    assert sorted(got) == [("c0", "OsloOslo"), ("c1", "HI")]


async def test_a_handler_may_take_the_arguments_alone() -> None:
    got: list[Any] = []
    await ran(tool_definition(SCHEMA, name="look", on_call=got.append), calls(("look", '{"place": "x"}')))
    assert got == [{"place": "x"}]


async def test_blank_arguments_are_none() -> None:
    got: list[Any] = []
    await ran(tool_definition(name="now", on_call=got.append), calls(("now", ""), ("now", " ")))
    assert got == [{}, {}]


async def test_a_tool_without_a_handler_is_left_to_the_caller() -> None:
    found = await ran(
        [tool_definition(name="a"), tool_definition(name="b", on_call=print)], calls(("a", "{]"))
    )
    assert found.tool_calls[0].arguments == "{]"


async def test_on_call_over_a_function_gets_the_checked_mapping() -> None:
    got: list[Any] = []
    tool = tool_definition(look, on_call=lambda arguments, call: got.append(arguments))
    await ran(tool, calls(("look", '{"place": "Oslo"}')))
    assert got == [{"place": "Oslo"}]
    with pytest.raises(ModelOutputError, match=r"arguments\.place: needs text, got 5"):
        await ran(tool, calls(("look", '{"place": 5}')))


async def test_equal_definitions_are_one() -> None:
    got: list[Any] = []
    tool = tool_definition(name="now", on_call=got.append)
    await ran([tool, tool], calls(("now", "{}")))
    assert got == [{}]


# ------------------------------------------------------------------------------------------ what goes wrong


FAULTS: list[tuple[str, str, bool, str]] = [
    ("look", "{]", False, "the arguments of the call 'look' (id 'c0') are no JSON (at character 1): '{]'"),
    ("look", "[1]", False, "the arguments of the call 'look' (id 'c0') are no JSON object: '[1]'"),
    (
        "look",
        '{"place": "a',
        True,
        "the answer ended before the call 'look' (id 'c0') did; its arguments so far: '{\"place\": \"a'",
    ),
    (
        "look",
        "{}",
        False,
        "the arguments of the call 'look' (id 'c0') don't fit: arguments: 'place' is missing",
    ),
    (
        "look",
        '{"place": "a", "days": 0}',
        False,
        "the arguments of the call 'look' (id 'c0') don't fit: arguments.days: needs at least 1, got 0",
    ),
    (
        "Query",
        '{"place": "a", "days": 0}',
        False,
        (
            "the arguments of the call 'Query' (id 'c0') don't fit: arguments.days: "
            "Input should be greater than or equal to 1"
        ),
    ),
    (
        "say",
        '{"text": 5}',
        False,
        "the arguments of the call 'say' (id 'c0') don't fit: arguments.text: needs text, got 5 (int)",
    ),
    ("fly", "{}", False, "the model calls 'fly', which is no tool of the prompt; it has look, Query, say"),
]


def three(**shared: Any) -> Node:
    return tools(on_call=print, **shared)[tool_definition(SCHEMA, name="look"), Query, say]


@pytest.mark.parametrize(("name", "arguments", "incomplete", "message"), FAULTS)
async def test_arguments_that_cant_be_used(name: str, arguments: str, incomplete: bool, message: str) -> None:
    answer = calls((name, arguments), incomplete=incomplete)
    with pytest.raises(ModelOutputError) as caught:
        await ran(three(), answer)
    assert str(caught.value).startswith(message)

    told: list[Any] = []

    def tell(error: ModelOutputError, call: ToolCall) -> None:
        told.append((str(error), call))

    await ran(three(on_parse_error=tell), answer)
    ((said, call),) = told
    assert said.startswith(message)
    assert call == answer.tool_calls[0]


async def test_an_unknown_tool_is_an_error_where_nobody_answers_for_all() -> None:
    ours = [
        tool_definition(name="a", on_call=print, on_parse_error=lambda error, call: None),
        tool_definition(name="b", on_call=print, on_parse_error=lambda error, call: None),
    ]
    with pytest.raises(ModelOutputError, match=r"'fly', which is no tool of the prompt; it has a, b$"):
        await ran(ours, calls(("fly", "{}")))


async def test_no_call_without_an_id_is_lost() -> None:
    tool = tool_definition(SCHEMA, name="look", on_call=print)
    with pytest.raises(
        ModelOutputError, match="the arguments of the call 'look' don't fit: arguments: 'place'"
    ):
        await ran(tool, ModelOutput(tool_calls=(ToolCall(None, "look", "{}"),)))


async def test_a_failing_handler_is_named() -> None:
    def fail(arguments: Any, call: Any) -> None:
        raise LookupError("no such place")

    with pytest.raises(LookupError) as caught:
        await ran(tool_definition(name="look", on_call=fail), calls(("look", "{}")))
    assert caught.value.__notes__ == ["in on_call of tool 'look' (id 'c0')"]


async def test_a_failing_function_is_named() -> None:
    def look() -> None:
        raise LookupError("no such place")

    with pytest.raises(LookupError) as caught:
        await ran(tools[look], calls(("look", "{}")))
    assert caught.value.__notes__ == ["in on_call of tool 'look' (id 'c0')"]


async def test_calls_run_at_the_same_time() -> None:
    ready = asyncio.Barrier(2)

    async def wait(arguments: Any) -> None:
        await ready.wait()

    await asyncio.wait_for(ran(tool_definition(name="a", on_call=wait), calls(("a", ""), ("a", ""))), 5)


async def test_an_incomplete_call_of_a_stream_is_never_made() -> None:
    got: list[Any] = []

    async def model(_: Any) -> AsyncIterator[Delta]:
        yield Delta(call=CallDelta(0, "c", "look", '{"place": "a"'))

    told: list[str] = []
    tool = tool_definition(
        SCHEMA,
        name="look",
        on_call=got.append,
        on_parse_error=lambda error, call: told.append(call.arguments),
    )
    await run([tool, user_message["x"]], model=model, token_limit=1_000)
    assert (got, told) == ([], ['{"place": "a"'])


# ------------------------------------------------------------------------------------------ partial arguments


async def streamed(node: Node, *pieces: str, name: str | None = "look") -> None:
    async def model(_: Any) -> AsyncIterator[Delta]:
        yield Delta(call=CallDelta(0, "c", name))
        for piece in pieces:
            yield Delta(call=CallDelta(0, "c", name, piece))
        yield Delta(finish_reason="tool_calls")

    await run([node, user_message["x"]], model=model, token_limit=1_000)


async def test_arguments_as_far_as_they_have_come() -> None:
    got: list[Any] = []

    async def follow(partials: AsyncIterator[dict[str, Any]], call: ToolCall) -> None:
        assert (call.id, call.name, call.incomplete) == ("c", "look", True)
        got.extend([partial async for partial in partials])

    tool = tool_definition(SCHEMA, name="look", on_format=follow)
    await streamed(tool, '{"pl', 'ace": "O', "sl", 'o", "days": 1', "2}")
    assert got == [{}, {"place": "O"}, {"place": "Osl"}, {"place": "Oslo"}, {"place": "Oslo", "days": 12}]


async def test_who_reads_slowly_gets_the_newest() -> None:
    got: list[Any] = []

    async def follow(partials: AsyncIterator[dict[str, Any]]) -> None:
        await asyncio.sleep(0.01)
        got.extend([partial async for partial in partials])

    await streamed(tool_definition(SCHEMA, name="look", on_format=follow), *'{"place": "Oslo"}')
    assert got == [{"place": "Oslo"}]


async def test_who_never_reads_holds_nothing_up() -> None:
    closed: list[Any] = []

    async def close(partials: Any) -> None:
        await partials.aclose()
        closed.extend([partial async for partial in partials])

    await streamed(
        tool_definition(SCHEMA, name="look", on_format=lambda _: None), *(['{"place": "'] + ["x"] * 500)
    )
    await streamed(tool_definition(SCHEMA, name="look", on_format=close), *'{"place": "Oslo"}')
    assert closed == []


async def test_each_call_has_its_own() -> None:
    got: dict[Any, Any] = {}

    async def follow(partials: AsyncIterator[Any], call: ToolCall) -> None:
        got[call.id] = [partial async for partial in partials][-1]

    node = tools(on_format=follow)[{"name": "a"}, {"name": "b"}]
    await ran(node, calls(("a", '{"x": 1}'), ("b", '{"y": 2}'), ("a", '{"z": 3}')))
    assert got == {"c0": {"x": 1}, "c1": {"y": 2}, "c2": {"z": 3}}


async def test_other_tools_and_broken_arguments_have_none() -> None:
    got: list[Any] = []

    async def follow(partials: AsyncIterator[Any]) -> None:
        got.extend([partial async for partial in partials])

    node = [tool_definition(name="look", on_format=follow), tool_definition(name="say")]
    await streamed(node, '{"a": 1}', name="say")
    await streamed(node, "[1, 2", name="look")
    assert got == []
    with pytest.raises(ModelOutputError, match="no tool of the prompt"):
        await streamed(node, '{"a": 1}', name="fly")
    await ran([node, capture(on_output=print)], ModelOutput(text="no call"))


# ------------------------------------------------------------------------------------------ groups of tools


def test_what_tools_takes() -> None:
    made = tools(p=5, key="k", strict=True, on_call=print)[
        look, None, {"name": "now", "strict": False}, tool_definition(name="b", on_call=repr), False, Point
    ]
    assert (made.kind, made.p, made.key) == ("scope", 5, "k")
    found: list[Any] = [*made.children]
    assert [(one.name, one.strict) for one in found] == [
        ("look", True),
        ("now", False),
        ("b", None),
        ("Point", True),
    ]
    assert [found[1].on_call, found[2].on_call] == [print, repr]
    assert found[0].on_call.function is look
    assert found[3].on_call.function is print
    assert tools[look].children == (tool_definition(look),)
    assert tools[[]].children == tools[()].children == ()
    assert tools[(one for one in (look, say))].children == (tool_definition(look), tool_definition(say))


WRONG: list[tuple[Any, type[Exception], str]] = [
    (
        5,
        ArgumentTypeError,
        "tools[...] needs a typed function, a class with fields, a tool_definition or a mapping that defines a tool, got 5 (int)",
    ),
    (
        ["x"],
        ArgumentTypeError,
        "tools[0] needs a typed function, a class with fields, a tool_definition or a mapping that defines a tool, got 'x' (str)",
    ),
    ([look, look], ArgumentValueError, "tools[...] has two tools named 'look'"),
    (
        {"nam": "x"},
        ArgumentTypeError,
        "tools[0] has the unknown key 'nam'; it takes name, description, parameters, strict, on_call, on_result, on_format, on_parse_error",
    ),
    (
        {"type": "function", "function": {}},
        ArgumentTypeError,
        (
            "tools[0] has the unknown key 'type'; it takes name, description, parameters, strict, on_call, on_result, "
            "on_format, on_parse_error; of a tool as OpenAI writes it give what stands under 'function'"
        ),
    ),
    (
        {"name": "a b"},
        ArgumentValueError,
        "tool_definition() needs a name of 1 to 64 letters, digits, _ and -, got name='a b' (str)",
    ),
    ({"description": "x"}, ArgumentValueError, "tool_definition() needs a name"),
]


@pytest.mark.parametrize(("given", "kind", "message"), WRONG)
def test_what_tools_refuses(given: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        _ = tools[given]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_call": 5}, "tools() needs a function for on_call, got on_call=5 (int)"),
        ({"strict": 1}, "tools() needs True or False for strict, got strict=1 (int)"),
        ({"p": "high"}, "tools() needs a number for p, got p='high' (str)"),
        ({"on_cal": print}, "tools() takes no 'on_cal'; did you mean on_call?"),
    ],
)
def test_what_the_call_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        tools(**options)
    assert str(caught.value) == message
