"""The oracle's own picture of a tree: one spot for each occurrence of a node.

An element that is used twice has two spots, so what is found out about one place (its declared priority, its
limit in tokens, what an isolate shows) never touches the other, nor the element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import attrs

from priompt_py.author.children import spread
from priompt_py.errors import ArgumentValueError
from priompt_py.model import elements as el

__all__ = ["Spot", "build", "message_of", "spots"]


@attrs.define(eq=False)
class Spot:
    """One occurrence. ``priority`` is the declared one; ``ranked`` says that it gives a level, ``own`` that
    it has a priority of its own (``p`` or ``prel``).

    ``kind`` is the element's, or ``text``, ``calls`` (the tool calls of an assistant message), ``content`` (an
    isolate's, with priorities of its own), ``alternatives`` and ``alternative`` (a fallback's first and its
    scopes). The last fields are found out by the oracle.
    """

    kind: str
    path: str
    parent: Spot | None = None
    priority: el.Number = el.BASE_PRIORITY
    ranked: bool = False
    own: bool = False
    element: el.Element | None = None
    text: str = ""
    children: list[Spot] = attrs.field(factory=list["Spot"])
    silent: bool = False  # blank text beside messages
    reserve: int = 0  # what an empty reserves
    ceiling: int = 0  # an isolate's or max's limit, in tokens
    over: bool = False  # over a relative limit: out at every cutoff
    shown: frozenset[Spot] = frozenset()  # what an isolate shows
    contents: dict[el.Number, tuple[set[Spot], int]] = attrs.field(
        factory=dict["el.Number", "tuple[set[Spot], int]"]
    )
    """A max's content and its cost by level."""


def spots(root: Spot) -> Iterator[Spot]:
    """``root`` and all below it, in document order."""
    yield root
    for child in root.children:
        yield from spots(child)


def build(node: el.Node, count: Callable[[str], int]) -> Spot:
    """The spots of a tree: components are called, functions of empties are asked with ``count``."""
    root = Spot("root", "root")
    for index, child in enumerate(spread(node, "root")):
        _add(child, root, index, count)
    return root


def _add(child: el.Child, parent: Spot, index: int, count: Callable[[str], int]) -> None:
    """Append the spot of ``child``; None and booleans show nothing, and are no alternative of a first."""
    if child is None or isinstance(child, bool):
        return
    path = f"{parent.path} > {index}"
    if not isinstance(child, el.Element):
        parent.children.append(Spot("text", f"{path}:text", parent, parent.priority, text=str(child)))
        return
    spot = Spot(
        child.kind, f"{path}:{el.element_type(child)}", parent, _declared(child, parent), element=child
    )
    spot.own = child.p is not None or child.prel is not None
    spot.ranked = spot.own or isinstance(child, (el.Scope, el.Fallback))
    parent.children.append(spot)
    children = el.children_of(child)
    if isinstance(child, el.ComponentCall):
        own = (list(children),) if child.takes_children else ()
        children = spread(child.function(*own, *child.args, **child.kwargs), spot.path)
    elif isinstance(child, el.Rule):
        spot.text = el.RULE_TEXT
    elif isinstance(child, el.LineBreak):
        spot.text = "\n"
    elif isinstance(child, el.Empty):
        spot.reserve = _reserve(child.tokens, count)
    elif isinstance(child, el.Isolate):
        spot = _inner(spot, "content", el.BASE_PRIORITY)
    elif isinstance(child, el.Message) and child.tool_calls:
        _inner(spot, "calls", spot.priority)
    elif isinstance(child, el.Excerpt):
        for i, (piece, p) in enumerate(zip(child.pieces, child.priorities(spot.priority), strict=True)):
            place = Spot("piece", f"{spot.path} > {i}:text", spot, p, text=piece)
            place.ranked = place.own = True
            spot.children.append(place)
    elif isinstance(child, el.Fallback):
        _add_ranked(spot, children, count)
        return
    for i, grandchild in enumerate(children):
        _add(grandchild, spot, i, count)


def _reserve(tokens: int | Callable[..., object], count: Callable[[str], int]) -> int:
    found = tokens if isinstance(tokens, int) else tokens(count)
    assert isinstance(found, int), "the oracle asks no async functions"
    return found


def _add_ranked(fallback: Spot, children: tuple[el.Child, ...], count: Callable[[str], int]) -> None:
    """A fallback is a scope around a first; its alternative i of n stands in a scope of prel i - (n - 1)."""
    choice = _inner(fallback, "alternatives", fallback.priority)
    alternatives = [
        (i, kid) for i, kid in enumerate(children) if kid is not None and not isinstance(kid, bool)
    ]
    for rank, (index, child) in enumerate(alternatives):
        place = _inner(choice, "alternative", fallback.priority + (rank - (len(alternatives) - 1)))
        place.ranked = place.own = True
        _add(child, place, index, count)


def _inner(parent: Spot, kind: str, priority: el.Number) -> Spot:
    spot = Spot(kind, parent.path, parent, priority, element=parent.element)
    parent.children.append(spot)
    return spot


def _declared(element: el.Element, parent: Spot) -> el.Number:
    if element.p is not None:
        return element.p
    if element.prel is None:
        return parent.priority
    try:
        total = parent.priority + element.prel
    except OverflowError:  # an int too great for a float
        total = math.inf
    if isinstance(total, float) and not math.isfinite(total):
        raise ArgumentValueError(
            f"{parent.path}: {parent.priority!r} + prel={element.prel!r} is no finite number"
        )
    return total


def message_of(spot: Spot) -> el.Message:
    """The message that a spot stands for (its own, or of its calls)."""
    assert isinstance(spot.element, el.Message)
    return spot.element
