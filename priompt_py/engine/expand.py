"""Components and async nodes: each runs once per render, and what it gave is kept for that render."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import attrs

from priompt_py.author.children import close_unawaited, spread
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import (
    AsyncNode,
    Child,
    ComponentCall,
)

__all__ = ["Expansions", "add_path", "close_coroutines", "start"]

MAX_COMPONENT_DEPTH = 20_000
"""Components inside components; a component that gives itself would never end."""


@attrs.define(eq=False)
class Expansions:
    """What the components and async nodes of one tree gave, by the identity of the node."""

    results: dict[int, tuple[Child, ...]] = attrs.field(factory=dict[int, tuple[Child, ...]])

    def children(self, node: ComponentCall | AsyncNode, path: Callable[[], str]) -> tuple[Child, ...]:
        """The children that ``node`` gives; runs a component that did not run yet.

        Raises ArgumentTypeError for an async node that was not awaited before.
        """
        known = self.results.get(id(node))
        if known is not None:
            return known
        if isinstance(node, AsyncNode):
            raise ArgumentTypeError(f"{path()} is async: render it with 'await arender(...)'")
        try:
            given = start(node)
            if inspect.isawaitable(given):
                if inspect.iscoroutine(given):
                    given.close()
                raise ArgumentTypeError(f"{path()} is async: render it with 'await arender(...)'")
            children = spread(given, node.name)
        except Exception as error:
            add_path(error, path())
            raise
        self.results[id(node)] = children
        return children


def start(node: ComponentCall | AsyncNode) -> Any:
    """Call a component, or an async function; gives its node, or something to await."""
    if isinstance(node, AsyncNode):
        source: Any = node.source
        if inspect.iscoroutine(source):
            if inspect.getcoroutinestate(source) != inspect.CORO_CREATED:
                raise ArgumentValueError(
                    f"the coroutine {node.name!r} was awaited already; "
                    "give the async function itself, or call it again"
                )
            return source
        return source()
    return node.function(list(node.children), *node.args, **node.kwargs)


def add_path(error: BaseException, path: str) -> None:
    """Note the element's path on an exception that passes through a component, once."""
    if not any(note.startswith("in ") for note in getattr(error, "__notes__", ())):
        error.add_note(f"in {path}")


def close_coroutines(children: tuple[Child, ...], expansions: Expansions) -> None:
    """Close the coroutines of a tree that will not be awaited, so that nobody is warned of them."""
    close_unawaited([children, *expansions.results.values()])
