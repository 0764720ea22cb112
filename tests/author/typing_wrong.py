"""Wrong programs that type checkers refuse, without running them.

Each wrong line says which error mypy and pyright must find in it; that one of them finds none is an error
too (`warn_unused_ignores`, `reportUnnecessaryTypeIgnoreComment`). Never run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from priompt_py.author.component import component
from priompt_py.author.messages import image, system_message, tool_message, user_message
from priompt_py.author.tags import at_most, br, config, empty, fallback, first, hr, isolate, scope
from priompt_py.author.tools import tool_definition
from priompt_py.model.elements import Node


@component
def quoted(children: Node, *, source: str) -> Node:
    return [source, children]


async def stream() -> AsyncIterator[Node]:
    yield "x"


async def needs_argument(url: str) -> Node:
    return url


# A priority is a number.
scope(p="high")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
fallback(prel="1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
br(p=[1])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Arguments are given by name, and have to exist.
scope(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
scope(priority=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
first(p=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
empty()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
isolate()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
tool_message()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

# Their types are known.
empty(tokens="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
at_most(token_limit=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
config(max_response_tokens="all")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
config(stop=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
image(url="u", detail="full")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
user_message(name=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
scope(on_include="f")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tool_definition(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Void elements take no children, others take them once, and props come first.
br["x"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
hr(p=1)["x"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
empty(tokens=5)["x"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
scope["x"]["y"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
system_message["x"]["y"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
scope["x"](p=1)  # type: ignore[operator]  # pyright: ignore[reportCallIssue]
scope(p=1)(name="n")  # type: ignore[operator]  # pyright: ignore[reportCallIssue]
isolate["x"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]

# What is no node.
scope[{"a": 1}]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
scope[{"a"}]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
scope[object()]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
scope["a", [b"x", object()]]  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
scope[stream()]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
scope[needs_argument]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
scope[len]  # type: ignore[index]  # pyright: ignore[reportArgumentType]

# Components have the props of their functions.
quoted()["x"]  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
quoted(source=5)["x"]  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
quoted(sorce="wiki")["x"]  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
quoted(source="wiki")["x"]["y"]  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
component(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
