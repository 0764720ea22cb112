"""What type checkers say of right programs. Checked by mypy and pyright, and run."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, assert_type

import pydantic

from priompt_py.author.component import Component, component
from priompt_py.author.json_form import from_json, from_json_text, to_json
from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    br,
    cache_break,
    capture,
    config,
    empty,
    fallback,
    first,
    hr,
    isolate,
    scope,
    token_break,
)
from priompt_py.author.tools import tool_definition
from priompt_py.model.elements import (
    CacheBreak,
    Call,
    Capture,
    ComponentCall,
    Config,
    Element,
    Empty,
    Fallback,
    First,
    Image,
    Isolate,
    LineBreak,
    Max,
    Message,
    Node,
    Part,
    Rule,
    Scope,
    TokenBreak,
    ToolDefinition,
    turn,
    walk,
)

# ------------------------------------------------------------------------------------------ tags

assert_type(scope["x"], Scope)
assert_type(scope(p=1)["x", 1, 2.5, None, True, br], Scope)
assert_type(scope(prel=-0.5, name="n", key="k", on_include=print, on_eject=lambda: None)[[]], Scope)
assert_type(first["x"], First)
assert_type(first(name="n")["x"], First)
assert_type(fallback["a", "b"], Fallback)
assert_type(fallback(p=1)["a", "b"], Fallback)
assert_type(isolate(token_limit=5)["x"], Isolate)
assert_type(at_most(token_limit="50%")["x"], Max)
assert_type(empty(tokens=5), Empty)
assert_type(br(p=1), LineBreak)
assert_type(hr(p=1), Rule)
assert_type(token_break(p=1), TokenBreak)
assert_type(cache_break(p=1), CacheBreak)
assert_type(capture(on_output=print), Capture)
assert_type(config(stop=["a"], max_response_tokens="tokens_reserved", extra={"seed": 1}), Config)
for message in (system_message, developer_message, user_message, assistant_message):
    assert_type(message["x"], Message)
assert_type(user_message(name="Ann")["x"], Message)
assert_type(assistant_message(tool_calls=[{"id": "a", "name": "b", "arguments": {}}])["x"], Message)
assert_type(assistant_message(tool_calls=[Call("a", "b", "{}")])["x"], Message)
assert_type(tool_message(tool_call_id="a", is_error=True)["x"], Message)
assert_type(image(url="u", dimensions=(1, 2), detail="low"), Image)
assert_type(part(provider="x", data={"a": 1}), Part)
assert_type(turn(3), int)

# ------------------------------------------------------------------------------------------ nodes

# A tag is a node, and so is an element in the making.
anything: list[Node] = [
    scope,
    first(name="n"),
    user_message,
    isolate(token_limit=5),
    br,
    "text",
    1,
    1.0,
    None,
    False,
    ["a", ("b", [scope["x"]])],
]
texts: Sequence[str] = ["a", "b"]
elements: list[Scope] = [scope["x"]]
assert_type(scope[texts, elements, anything], Scope)
assert_type(scope[(line for line in texts)], Scope)
assert_type(scope[map(str, [1, 2])], Scope)
assert_type(scope[len(texts) > 0 and scope["x"]], Scope)
assert_type(scope["x" if texts else None], Scope)


def lines() -> Iterator[Node]:
    yield "a"
    yield [br, 3]


async def fetched() -> Node:
    return scope["x"]


async def fetched_text() -> str:
    return "x"


assert_type(scope[lines(), fetched, fetched_text], Scope)
assert_type([*walk(scope["x"])], list[str | int | float | None | Element])

# ------------------------------------------------------------------------------------------ components


@component
def quoted(children: Node, *, source: str, width: int = 80) -> Node:
    return [source, children, width]


@component
def counted(children: Sequence[Node], start: int = 0) -> Iterator[Node]:
    for number, child in enumerate(children, start):
        yield [number, child]


@component
async def looked_up(children: Node, url: str) -> Scope:
    return scope[url, children]


assert_type(quoted(source="wiki")["x"], ComponentCall)
assert_type(quoted(source="wiki", width=3)["x", br], ComponentCall)
assert_type(counted["x"], ComponentCall)
assert_type(counted(3)["x"], ComponentCall)
assert_type(looked_up("u")["x"], ComponentCall)
assert_type(scope[quoted(source="wiki")["x"]], Scope)


def takes_any(tag: Component[...]) -> Node:
    return tag["x"]


takes_any(counted)

# ------------------------------------------------------------------------------------------ tools and JSON


class Query(pydantic.BaseModel):
    text: str


@dataclasses.dataclass
class Place:
    lat: float


def search(query: str) -> str:
    return query


async def search_slowly(query: str) -> str:
    return query


assert_type(tool_definition(search), ToolDefinition)
assert_type(tool_definition(search_slowly, strict=True), ToolDefinition)
assert_type(tool_definition(Query, on_call=print), ToolDefinition)
assert_type(tool_definition(Place), ToolDefinition)
assert_type(tool_definition(name="a", parameters={"type": "object"}), ToolDefinition)
assert_type(to_json(scope["x"]), list[Any])
node: Node = from_json([])
node = from_json_text(b"[]")

# ------------------------------------------------------------------------------------------ callbacks


def reserve(count: Callable[[str], int]) -> int:
    return count("words")


async def reserve_slowly(count: Callable[[str], int]) -> int:
    return count("words")


async def on_stream(deltas: AsyncIterator[Any]) -> None:
    async for _ in deltas:
        pass


assert_type(empty(tokens=reserve), Empty)
assert_type(empty(tokens=reserve_slowly), Empty)
assert_type(capture(on_stream=on_stream), Capture)
