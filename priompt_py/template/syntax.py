"""Templates as data: frozen, each node with its place.

``start`` and ``end`` are 0-based offsets in the template's source (half-open); they take no part in comparisons.
``Text`` is as it was written, entities and indentation included: :mod:`priompt_py.template.layout` applies the rules
of whitespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs

from priompt_py.template.expression_syntax import Expr

__all__ = [
    "Attribute",
    "Comment",
    "Element",
    "Expression",
    "Insertion",
    "Quoted",
    "Spread",
    "TemplateNode",
    "Text",
    "walk",
]


def _place() -> Any:
    return attrs.field(default=0, eq=False, repr=False, kw_only=True)


@attrs.frozen
class Expression:
    """An expression in braces. ``start`` is the offset of ``text``, behind the brace."""

    root: Expr
    text: str = attrs.field(eq=False, repr=False, default="", kw_only=True)
    start: int = _place()


@attrs.frozen
class Text:
    """Literal text. That of ``<raw>`` holds no entities."""

    value: str
    raw: bool = False
    start: int = _place()


@attrs.frozen
class Comment:
    """A comment as it was written, with its marks."""

    value: str
    start: int = _place()


@attrs.frozen
class Insertion:
    """``{expression}`` in text."""

    expression: Expression
    start: int = _place()
    end: int = _place()


@attrs.frozen
class Quoted:
    """The value of ``key="text {expression}"``; ``start`` is that of the opening quote."""

    parts: tuple[str | Expression, ...]
    start: int = _place()

    @property
    def constant(self) -> str | None:
        """The text (entities not decoded) of a value without insertions."""
        if not self.parts:
            return ""
        first = self.parts[0]
        return first if len(self.parts) == 1 and isinstance(first, str) else None


@attrs.frozen
class Attribute:
    """``name=value``; no value: the attribute stands alone, which means true."""

    name: str
    value: Quoted | Expression | None
    start: int = _place()


@attrs.frozen
class Spread:
    """``{...expression}`` in a tag."""

    expression: Expression
    start: int = _place()


@attrs.frozen
class Element:
    """A tag with what stands in it: an element, a component call, ``if``, ``else``, ``for``, ``let``, ``raw``, …

    ``else`` and ``elif`` are void elements among the children of their ``if`` or ``for``. ``start`` to ``open_end``
    is the opening tag, ``close_start`` to ``end`` the closing one (empty for ``<tag/>``, see ``closes_itself``).
    ``is_broken``: its tag has an error, which is reported, and may lack attributes here.
    """

    name: str
    attributes: tuple[Attribute | Spread, ...] = ()
    children: tuple[TemplateNode, ...] = ()
    start: int = _place()
    open_end: int = _place()
    close_start: int = _place()
    end: int = _place()
    closes_itself: bool = attrs.field(default=False, eq=False, repr=False, kw_only=True)
    is_broken: bool = attrs.field(default=False, eq=False, repr=False, kw_only=True)

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of this name, spreads aside."""
        for one in self.attributes:
            if isinstance(one, Attribute) and one.name == name:
                return one
        return None


TemplateNode: TypeAlias = Text | Comment | Insertion | Element


def walk(nodes: tuple[TemplateNode, ...]) -> Iterator[TemplateNode]:
    """All nodes, in document order."""
    stack: list[TemplateNode] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Element):
            stack.extend(reversed(node.children))
