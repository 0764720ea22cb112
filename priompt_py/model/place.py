"""Places in a tree, as links from the inside out: a path is written only where somebody reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, Union

import attrs

from priompt_py.model.elements import Child, Element, Fallback, First, Scope, element_type

__all__ = ["ROOT", "Place", "Spot", "path_of", "segment"]


@attrs.define(eq=False, repr=False)  # frozen would double what it costs to make one
class Place:
    """A step of a path, ``2:user`` say, and the place that it starts from (None: it is the root)."""

    step: str
    outer: Place | None = None

    def __str__(self) -> str:
        steps: list[str] = []
        here: Place | None = self
        while here is not None:
            steps.append(here.step)
            here = here.outer
        return " > ".join(reversed(steps))

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Callable[[str], Place], tuple[str]]:
        return (Place, (str(self),))  # the text alone: a link per level would not pickle


ROOT = Place("root")

Spot: TypeAlias = Union[Place, "tuple[int, Child, Spot]"]
"""A place, or a child by its index after spreading and where its parent stands: a tuple, since making one costs a tenth
of a step's text."""


def path_of(spot: Spot) -> str:
    """The path from the root, ``root > 2:user > 0:scope[name=docs]``."""
    steps: list[str] = []
    while isinstance(spot, tuple):
        index, child, spot = spot
        steps.append(segment(index, child))
    return " > ".join([str(spot), *reversed(steps)])


def segment(index: int, child: Child) -> str:
    """A step of a path: the index after spreading, the element's name and its label."""
    if not isinstance(child, Element):
        return f"{index}:text"
    step = f"{index}:{element_type(child)}"
    if child.key is not None:
        return f"{step}[key={child.key}]"
    name = child.name if isinstance(child, (Scope, First, Fallback)) else None
    return step if name is None else f"{step}[name={name}]"
