"""What two renders of one prompt, the engine's and the oracle's, are compared by."""

from __future__ import annotations

from typing import Any, cast

from priompt_py import Rendered, render
from priompt_py.errors import PromptError, PromptTooLong
from priompt_py.model.elements import (
    Capture,
    Container,
    Element,
    First,
    Image,
    Node,
    Part,
    Scope,
    ToolDefinition,
)
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart
from priompt_py.testing.oracle import OracleResult, oracle_render

Facts = dict[str, Any]


def assert_defined(node: Node, **how: Any) -> None:
    """Render ``node`` and compare with the definition, errors too."""
    assert engine_facts(node, how) == definition_facts(node, how)


def engine_facts(node: Node, how: dict[str, Any]) -> Facts:
    """What the engine makes of a prompt: all there is to see, or an error's figures."""
    try:
        return rendered_facts(render(node, **how))
    except PromptError as error:
        return error_facts(error)


def definition_facts(node: Node, how: dict[str, Any]) -> Facts:
    """What the definition makes of it."""
    try:
        return oracle_facts(oracle_render(node, **how))
    except PromptError as error:
        return error_facts(error)


def error_facts(error: PromptError) -> Facts:
    if not isinstance(error, PromptTooLong):
        return {"error": type(error).__name__}
    if error.element is not None:  # several can be too small: which one is named is not compared
        return {"error": "an element's own limit"}
    return {
        "error": "too long",
        "whole count": error.token_count + error.tokens_reserved,
        "limit": error.token_limit,
        "required": error.required_limit,
    }


def rendered_facts(rendered: Rendered) -> Facts:
    return {
        "text": rendered.text,
        "messages": None if rendered.messages is None else [message_facts(m) for m in rendered.messages],
        "tools": list(rendered.tools),
        "count": rendered.token_count,
        "reserved": rendered.tokens_reserved,
        "remaining": rendered.tokens_remaining,
        "cutoff": rendered.cutoff,
        "config": rendered.config,
        "captures": list(rendered.captures),
        "definitions": list(rendered.tool_definitions),
        "fates": [(d.priority, d.included) for d in rendered.decisions if d.kind in ("scope", "first")],
    }


def oracle_facts(expected: OracleResult) -> Facts:
    limit = expected.token_limit
    inside = [fate.element for fate in expected.fates if fate.included]
    return {
        "text": None if expected.text is None else expected.text.text,
        "messages": None if expected.messages is None else [message_facts(m) for m in expected.messages],
        "tools": list(expected.tools),
        "count": expected.token_count,
        "reserved": expected.tokens_reserved,
        "remaining": limit - expected.token_count,
        "cutoff": expected.cutoff,
        "config": expected.config,
        "captures": [element for element in inside if isinstance(element, Capture)],
        "definitions": once([element for element in inside if isinstance(element, ToolDefinition)]),
        "fates": [(f.priority, f.included) for f in expected.fates if isinstance(f.element, (Scope, First))],
    }


def once(definitions: list[ToolDefinition]) -> list[ToolDefinition]:
    """Of equal definitions the first: it is the one that is sent."""
    sent = [(tool.name, tool.description, tool.parameters, tool.strict) for tool in definitions]
    return [tool for i, tool in enumerate(definitions) if sent[i] not in sent[:i]]


def message_facts(message: ChatMessage) -> Facts:
    """A message without what is free: how text is cut into parts where nothing stands between."""
    content: list[str | Image | Part | CacheMark] = []
    for part in message.parts:
        if not isinstance(part, TextPart):
            content.append(part)
        elif part.text:
            last = content.pop() if content and isinstance(content[-1], str) else ""
            assert isinstance(last, str)
            content.append(last + part.text)
    return {
        "role": message.role,
        "content": content,
        "pieces": message.pieces,
        "names": (message.name, message.to, message.tool_call_id, message.is_error),
        "calls": (message.tool_calls, message.function_call),
    }


# ------------------------------------------------------------------------------------------ trees


def snapshot(node: Node) -> object:
    """A tree in full, with the identity of each element: equal before and after means nothing was changed."""
    if isinstance(node, list):
        return [snapshot(item) for item in cast("list[Node]", node)]
    if isinstance(node, Element):
        values = {slot: repr(getattr(node, slot)) for slot in slots(type(node)) if slot != "children"}
        children = [snapshot(child) for child in node.children] if isinstance(node, Container) else None
        return (id(node), type(node), values, children)
    return (type(node), repr(node))


def slots(cls: type[Element]) -> list[str]:
    """Every attribute that an element of this class can have."""
    found: list[str] = []
    for base in cls.__mro__:
        names = base.__dict__.get("__slots__", ())
        found.extend(name for name in names if name not in found)
    return found
