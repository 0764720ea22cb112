"""Priorities that can't act, and alternatives that are never chosen, as far as they are written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from priompt_py.template.attributes import NUMBER
from priompt_py.template.expression_syntax import Constant
from priompt_py.template.syntax import (
    Comment,
    Element,
    Expression,
    Insertion,
    Quoted,
    Spread,
    TemplateNode,
    Text,
    walk,
)

__all__ = ["check_alternatives", "check_priorities"]

Problem: TypeAlias = tuple[int, str, bool]
"""Where (an offset), what, and whether it is an error."""

Number: TypeAlias = int | float


def number_of(node: Element, name: str) -> Number | None:
    """The number that an attribute is written as; None if it isn't there or is found when the template runs."""
    attribute = node.attribute(name)
    value = None if attribute is None else attribute.value
    if isinstance(value, Expression) and isinstance(value.root, Constant):
        number = value.root.value
        return number if type(number) in (int, float) else None
    text = value.constant if isinstance(value, Quoted) else None
    if text is not None and NUMBER.fullmatch(text):
        return float(text) if "." in text or "e" in text.lower() else int(text)
    return None


def _has_priority(node: Element) -> bool:
    """Whether an element has a priority of its own, or may get one from a spread."""
    return any(isinstance(one, Spread) or one.name in ("p", "prel") for one in node.attributes)


def check_priorities(nodes: tuple[TemplateNode, ...]) -> Iterator[Problem]:
    """Elements whose priority lies above that of an element around them: they go when that one goes."""
    stack: list[tuple[TemplateNode, Number | None]] = [(node, None) for node in reversed(nodes)]
    while stack:
        node, around = stack.pop()
        if not isinstance(node, Element):
            continue
        inner = around
        own = number_of(node, "p")
        relative = number_of(node, "prel")
        if own is None and relative is not None and around is not None:
            own = around + relative
        if own is not None and around is not None and own > around:
            attribute = node.attribute("p") or node.attribute("prel")
            at = node.start if attribute is None else attribute.start
            yield at, f"priority {own} can never act above {around}, which the element around it has", False
        if own is not None:
            inner = own if around is None else min(own, around)
        elif _has_priority(node):
            inner = None
        if node.name in ("isolate", "component"):
            inner = None
        stack.extend((child, inner) for child in reversed(node.children))


def check_alternatives(nodes: tuple[TemplateNode, ...]) -> Iterator[Problem]:
    """What is odd about the alternatives of each ``first`` and ``fallback``."""
    for node in walk(nodes):
        if isinstance(node, Element) and node.name in ("first", "fallback"):
            yield from _mixed_lines(node)
            if node.name == "first":
                yield from _never_chosen(node)
            else:
                yield from _own_priorities(node)


def _own_priorities(node: Element) -> Iterator[Problem]:
    for child in node.children:
        if isinstance(child, Element):
            for name in ("p", "prel"):
                attribute = child.attribute(name)
                if attribute is not None and not child.name[:1].isupper():
                    yield (
                        attribute.start,
                        f"an alternative of <fallback> ranks by its place: drop {name}",
                        True,
                    )


def _never_chosen(node: Element) -> Iterator[Problem]:
    """An alternative is chosen only where those before it are not eligible: it needs a higher priority than they."""
    highest: Number | None = None
    for child in node.children:
        if isinstance(child, Comment) or (isinstance(child, Text) and not child.value.strip()):
            continue
        if isinstance(child, Element) and (
            child.name in ("if", "for", "let", "elif", "else", "children") or child.name[:1].isupper()
        ):
            return  # what it gives is found when the template runs
        if isinstance(child, Insertion):
            return
        own = number_of(child, "p") if isinstance(child, Element) else None
        if isinstance(child, Element) and _has_priority(child) and own is None:
            return
        if highest is not None and (own is not None and own <= highest):
            yield (
                child.start,
                f"this alternative is never chosen: one before it, of priority {highest}, is in whenever it could be",
                False,
            )
        if own is None:
            rest = node.children[node.children.index(child) + 1 :]
            later = next((one for one in rest if isinstance(one, Element | Insertion)), None)
            if later is not None:
                yield (
                    later.start,
                    "this alternative is never chosen: one before it has no priority, so it is always in",
                    False,
                )
            return
        highest = own if highest is None else max(highest, own)


def _mixed_lines(node: Element) -> Iterator[Problem]:
    """Text beside an insertion or component call on one line: each is an alternative of its own."""
    before: TemplateNode | None = None
    for child in node.children:
        if isinstance(child, Text) and _is_content(before):
            line = child.value.partition("\n")[0]
            if line.strip():
                yield child.start + len(line) - len(line.lstrip()), _MIXED.format(node.name), False
        elif _is_content(child) and isinstance(before, Text):
            line = before.value.rpartition("\n")[2]
            if line.strip():
                yield child.start, _MIXED.format(node.name), False
        before = child


def _is_content(node: TemplateNode | None) -> bool:
    """Whether a node is an insertion or a component call."""
    return isinstance(node, Insertion) or (isinstance(node, Element) and node.name[:1].isupper())


_MIXED = "in <{}> this is an alternative of its own; put what belongs together into a <scope>"
