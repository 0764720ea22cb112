"""What a check of a budget looks at: one prompt, rendered under some limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import attrs

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, PromptTooLong
from priompt_py.face.rendered import Rendered
from priompt_py.preview.settle import Called, Settled

__all__ = ["Moment", "Property", "Renderer", "Trial", "Try"]


Renderer: TypeAlias = Callable[..., Rendered]
"""A function that renders as :func:`priompt_py.render` does, with the same arguments."""


@attrs.define(eq=False)
class Try:
    """One render: what it gave, or that the prompt is too long; ``calls`` are the callbacks that were called."""

    token_limit: int
    rendered: Rendered | None
    error: PromptTooLong | None
    calls: tuple[Called, ...]

    @property
    def labels(self) -> dict[str, bool]:
        """Every label of the prompt, and whether an element of that label is in."""
        found: dict[str, bool] = {}
        for decision in self.rendered.decisions if self.rendered is not None else ():
            if decision.label is not None:
                found[decision.label] = found.get(decision.label, False) or decision.included
        return found


@attrs.define(eq=False)
class Trial:
    """A settled prompt, and how it is rendered. ``how`` are the arguments of ``render`` besides the limit."""

    tree: Settled
    renderer: Renderer
    how: Mapping[str, Any]
    must_keep: tuple[str, ...] = ()
    allow_too_long: bool = True

    def at(self, token_limit: int, **more: Any) -> Try:
        """Render under a limit. Errors other than PromptTooLong reach the caller."""
        self.tree.calls.clear()
        try:
            rendered = self.renderer(list(self.tree.children), token_limit=token_limit, **self.how, **more)
        except PromptTooLong as error:
            return Try(token_limit, None, error, tuple(self.tree.calls))
        if not isinstance(cast("object", rendered), Rendered):
            raise ArgumentTypeError(
                f"check_budget() needs a renderer that gives a Rendered, got {got(rendered)}"
            )
        return Try(token_limit, rendered, None, tuple(self.tree.calls))


@attrs.frozen
class Moment:
    """A trial at one limit: ``here`` is what it gave (with callbacks and source map), ``before`` what it gave at the
    next lower limit that was tried."""

    trial: Trial
    before: Try | None
    here: Try


@attrs.frozen
class Property:
    """Something that is to hold. ``broken`` says how it does not at a limit, or gives None.

    ``by_limit``: whether it is about the limits that were asked for, so that no other one shows it.
    """

    name: str
    promise: str
    broken: Callable[[Moment], str | None]
    by_limit: bool = False
