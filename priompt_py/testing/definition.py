"""What rendering gives, compared with what the oracle says that it has to give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priompt_py.errors import PromptError, PromptTooLong
from priompt_py.face.render import render
from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import Capture, First, Image, Node, Part, Scope, ToolDefinition
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart
from priompt_py.model.values import short_repr
from priompt_py.preview.trial import Moment, Property
from priompt_py.testing.oracle import OracleResult, oracle_render

__all__ = [
    "DEFINITION",
    "MOST_NODES",
    "assert_defined",
    "definition_facts",
    "engine_facts",
    "error_facts",
    "message_facts",
    "oracle_facts",
    "rendered_facts",
]

MOST_NODES = 150
"""Elements and texts of a tree that is compared with the oracle: it tries every level, and takes quadratic time."""

Facts = dict[str, Any]


def assert_defined(node: Node, **how: Any) -> None:
    """Render ``node`` and compare with the definition, errors too."""
    engine, definition = engine_facts(node, how), definition_facts(node, how)
    assert engine == definition, difference(engine, definition)


def engine_facts(node: Node, how: Mapping[str, Any]) -> Facts:
    """What the engine makes of a prompt: all there is to see, or an error's figures."""
    try:
        return rendered_facts(render(node, **how))
    except PromptError as error:
        return error_facts(error)


def definition_facts(node: Node, how: Mapping[str, Any]) -> Facts:
    """What the definition makes of it."""
    try:
        return oracle_facts(oracle_render(node, **how))
    except PromptError as error:
        return error_facts(error)


def error_facts(error: PromptError) -> Facts:
    """An error's kind, and the figures of a prompt that is too long."""
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
    """All there is to see of a render, in a form that the oracle can give too."""
    return {
        "cutoff": rendered.cutoff,
        "text": rendered.text,
        "messages": None if rendered.messages is None else [message_facts(m) for m in rendered.messages],
        "tools": list(rendered.tools),
        "count": rendered.token_count,
        "reserved": rendered.tokens_reserved,
        "remaining": rendered.tokens_remaining,
        "config": rendered.config,
        "captures": list(rendered.captures),
        "definitions": list(rendered.tool_definitions),
        "fates": [(d.priority, d.included) for d in rendered.decisions if d.kind in ("scope", "first")],
    }


def oracle_facts(expected: OracleResult) -> Facts:
    """The same of what the oracle gives."""
    limit = expected.token_limit
    inside = [fate.element for fate in expected.fates if fate.included]
    return {
        "cutoff": expected.cutoff,
        "text": None if expected.text is None else expected.text.text,
        "messages": None if expected.messages is None else [message_facts(m) for m in expected.messages],
        "tools": list(expected.tools),
        "count": expected.token_count,
        "reserved": expected.tokens_reserved,
        "remaining": limit - expected.token_count,
        "config": expected.config,
        "captures": [element for element in inside if isinstance(element, Capture)],
        "definitions": _once([element for element in inside if isinstance(element, ToolDefinition)]),
        "fates": [(f.priority, f.included) for f in expected.fates if isinstance(f.element, (Scope, First))],
    }


def _once(definitions: list[ToolDefinition]) -> list[ToolDefinition]:
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


def difference(engine: Facts, definition: Facts) -> str:
    """The first fact in which two differ, in a sentence."""
    for name in dict.fromkeys([*definition, *engine]):
        got, due = engine.get(name), definition.get(name)
        if got != due:
            return f"its {name} is {short_repr(got)}, by the definition it is {short_repr(due)}"
    return "nothing differs"


# ------------------------------------------------------------------------------------------ as properties


def _smallest(now: Moment) -> str | None:
    facts = _facts(now)
    if facts is None:
        return None
    engine, definition = facts
    if ("error" in engine) != ("error" in definition):
        if "error" in engine:
            return f"it is refused, though it fits at the cutoff {definition['cutoff']}"
        return "no level fits, though one is given"
    got, due = engine.get("cutoff"), definition.get("cutoff")
    if got == due:  # 0 and 0.0 are one level: which of the two a tree's cutoff is written as says nothing
        return None
    return f"the cutoff is {got}, the smallest level that fits is {due}"


def _as_defined(now: Moment) -> str | None:
    facts = _facts(now)
    if facts is None or facts[0] == facts[1]:
        return None
    return difference(*facts)


def _facts(now: Moment) -> tuple[Facts, Facts] | None:
    """What was rendered and what the oracle says; None for a tree that is too large for it."""
    if now.trial.tree.nodes > MOST_NODES:
        return None
    how = {name: value for name, value in now.trial.how.items() if name != "cache"}
    if how.get("tokenizer") is None and how.get("model") is None:
        how.pop("tokenizer", None)
    children = list(now.trial.tree.children)
    definition = definition_facts(children, {**how, "token_limit": now.here.token_limit})
    if now.here.rendered is not None:
        return rendered_facts(now.here.rendered), definition
    assert now.here.error is not None
    return error_facts(now.here.error), definition


DEFINITION = (
    Property("smallest", "the cutoff is the smallest level that fits", _smallest),
    Property("definition", "the prompt at the cutoff is what the definition says", _as_defined),
)
"""Properties that the oracle judges, for trees of up to ``MOST_NODES`` nodes."""
