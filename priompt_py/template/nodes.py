"""Evaluated nodes on their way into a prompt: the end of closed content, and the blanks of one-element lines.

Literal text that may have to lose its last line break, and elements that hold such text, are marked until the content
around them is complete: a :class:`Tail` is literal text, a :class:`Pending` an element that is not made yet. All else
is an inserted value, a finished element or text that stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from priompt_py.model.elements import (
    CacheBreak,
    Capture,
    Config,
    Container,
    Element,
    Empty,
    Fallback,
    First,
    Isolate,
    Max,
    Message,
    Scope,
    TokenBreak,
    ToolDefinition,
)

__all__ = ["Pending", "Tail", "around_each", "is_nothing", "settle", "size_of_tree", "trim_end"]

Sizes: TypeAlias = dict[int, tuple[Any, int, int]]
"""Elements by their identity (which they are kept for), with their sizes."""

_SILENT = (Empty, Config, Capture, CacheBreak, TokenBreak, ToolDefinition)


class Tail(str):
    """Literal text at what may be the end of closed content."""

    __slots__ = ()


@attrs.define(slots=True, eq=False)
class Pending:
    """An element that is made when the content around it is complete; ``make`` takes the children."""

    make: Callable[[list[Any]], Any]
    children: list[Any]
    has_alternatives: bool = False


def is_nothing(node: Any) -> bool:
    """Whether a node renders nothing of itself, whatever the cutoff is."""
    stack = [node]
    while stack:
        here = stack.pop()
        if here is None or here is True or here is False or isinstance(here, _SILENT):
            continue
        if isinstance(here, str):
            if here:
                return False
        elif isinstance(here, (Pending, Scope, First, Fallback, Isolate, Max)):
            stack.extend(here.children)
        else:
            return False
    return True


def size_of_tree(node: Any, known: Sizes) -> tuple[int, int]:
    """How many nodes a tree has, and how many characters, if what is shared in it is counted as often as it stands.

    ``known`` takes the sizes of the elements in it, so that each is looked at once.
    """
    if not isinstance(node, Container):
        return 1, len(node) if isinstance(node, str) else 0
    stack: list[tuple[Container, bool]] = [(node, False)]
    while stack:
        here, is_counted = stack.pop()
        if id(here) in known:
            continue
        if not is_counted:
            stack.append((here, True))
            stack.extend((child, False) for child in here.children if isinstance(child, Container))
            continue
        count, characters = 1, 0
        for child in here.children:
            if isinstance(child, Container):
                _, more, longer = known[id(child)]
                count += more
                characters += longer
            else:
                count += 1
                characters += len(child) if isinstance(child, str) else 0
        known[id(here)] = (here, count, characters)
    _, count, characters = known[id(node)]
    return count, characters


def trim_end(nodes: list[Any]) -> bool:
    """Remove the literal line break that ends the nodes, if one does; False if they render nothing at all."""
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if type(node) is Tail:
            nodes[at] = Tail(node[:-1]) if node.endswith("\n") else node
            if node:
                return True
        elif type(node) is Pending:
            if _trim_pending(node):
                return True
        elif not is_nothing(node):
            return True
    return False


def _trim_pending(node: Pending) -> bool:
    if not node.has_alternatives:
        return trim_end(node.children)
    found = False
    for at, alternative in enumerate(node.children):
        one = [alternative]
        found = trim_end(one) or found
        node.children[at] = one[0]
    return found


def settle(nodes: list[Any]) -> list[Any]:
    """The nodes with all marks resolved: exact texts, finished elements."""
    done: list[Any] = []
    for node in nodes:
        if type(node) is Tail:
            if node:
                done.append(str(node))
        elif type(node) is Pending:
            done.append(node.make(settle(node.children)))
        else:
            done.append(node)
    return done


def around_each(nodes: list[Any], before: str, after: str) -> list[Any]:
    """Each alternative with the blanks and the break of its line, inside it. Messages have none."""
    return [node if is_nothing(node) else _around(node, before, after) for node in nodes]


def _around(node: Any, before: str, after: str) -> Any:
    tail = Tail(after)
    if type(node) is Pending:
        if node.has_alternatives:
            node.children = around_each(node.children, before, after)
        else:
            node.children = [*([before] if before else []), *node.children, tail]
        return node
    if isinstance(node, Message):
        return node
    if isinstance(node, (First, Fallback)):
        return Pending(_remake(node), around_each(list(node.children), before, after), has_alternatives=True)
    if isinstance(node, (Scope, Isolate, Max)):
        return Pending(_remake(node), [*([before] if before else []), *node.children, tail])
    if isinstance(node, Element) and not (node.p is None and node.prel is None):
        p, prel = node.p, node.prel
        bare = attrs.evolve(node, p=None, prel=None)
        return Pending(
            lambda children: Scope(children=tuple(children), p=p, prel=prel),
            [before, bare, tail] if before else [bare, tail],
        )
    return Pending(
        lambda children: Scope(children=tuple(children)), [before, node, tail] if before else [node, tail]
    )


def _remake(node: Any) -> Callable[[list[Any]], Any]:
    return lambda children: attrs.evolve(node, children=tuple(children))
