"""Places in a tree, as links from the inside out: a path is written only where somebody reads it."""

from __future__ import annotations

from collections.abc import Callable

import attrs

__all__ = ["ROOT", "Place"]


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
