"""What two renders of one prompt, the engine's and the oracle's, are compared by; and trees, before and after."""

from __future__ import annotations

from typing import cast

from priompt_py.model.elements import Container, Element, Node
from priompt_py.testing.definition import (
    assert_defined,
    definition_facts,
    engine_facts,
    error_facts,
    message_facts,
    oracle_facts,
    rendered_facts,
)

__all__ = [
    "assert_defined",
    "definition_facts",
    "engine_facts",
    "error_facts",
    "message_facts",
    "oracle_facts",
    "rendered_facts",
    "slots",
    "snapshot",
]

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
