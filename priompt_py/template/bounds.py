"""How much a template may do, so that one from a stranger can't hurt the process."""

from __future__ import annotations

from typing import Any

import attrs

__all__ = ["Bounds", "Budget", "Fault", "UndefinedFault"]


class Fault(Exception):
    """What is wrong with an expression that is being evaluated; ``at`` is the offset in its text, once it is known."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class UndefinedFault(Fault):
    """A name, attribute or key that isn't there."""


def _whole(_instance: Any, attribute: attrs.Attribute[int], value: object) -> None:
    from priompt_py.errors import ArgumentTypeError, ArgumentValueError
    from priompt_py.model.values import short_repr

    if type(value) is not int:
        raise ArgumentTypeError(
            f"Bounds() needs a whole number for {attribute.name}, got {short_repr(value)}"
        )
    if value < 1:
        raise ArgumentValueError(f"Bounds() needs {attribute.name} >= 1, got {value}")


@attrs.frozen(kw_only=True)
class Bounds:
    """The most that one evaluation of a template may do; more is an error at the place where it happens.

    * ``steps``: nodes and parts of expressions evaluated, items and hundreds of characters made, thousands compared.
    * ``loop``: turns of one loop, and items of one list that is made.
    * ``text``: characters of text in the result and made on the way, literal text and inserted values included.
    * ``bits``: of a whole number.
    * ``depth``: elements in each other, over all the templates that call each other.
    * ``tags``: the `<` and `{` in the text of one template, which begin tags and insertions.
    * ``source``: characters in the text of one template.
    * ``code``: characters of the different expressions of one template, names and whole numbers aside.
    """

    steps: int = attrs.field(default=1_000_000, validator=_whole)
    loop: int = attrs.field(default=100_000, validator=_whole)
    text: int = attrs.field(default=32_000_000, validator=_whole)
    bits: int = attrs.field(default=2_000, validator=_whole)
    depth: int = attrs.field(default=100, validator=_whole)
    tags: int = attrs.field(default=35_000, validator=_whole)
    source: int = attrs.field(default=500_000, validator=_whole)
    code: int = attrs.field(default=100_000, validator=_whole)


class Budget:
    """What is left of the bounds in one evaluation."""

    __slots__ = ("bounds", "steps", "text")

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.steps = bounds.steps
        self.text = bounds.text

    def step(self, count: int = 1) -> None:
        """Take ``count`` steps."""
        self.steps -= count
        if self.steps < 0:
            raise Fault(f"the template takes more than {self.bounds.steps:,} steps")

    def characters(self, count: int) -> None:
        """Make or insert ``count`` characters."""
        self.text -= count
        self.steps -= count // 100
        if self.text < 0:
            raise Fault(f"the template makes more than {self.bounds.text:,} characters")
        if self.steps < 0:
            raise Fault(f"the template takes more than {self.bounds.steps:,} steps")

    def compared(self, count: int) -> None:
        """Read ``count`` characters, as comparing texts does."""
        self.step(count // 1_000)

    def items(self, count: int) -> None:
        """Make a list of ``count`` items."""
        if count > self.bounds.loop:
            raise Fault(f"a list of {count:,} items: there may be {self.bounds.loop:,}")
        self.step(count)

    def whole(self, value: int) -> int:
        """A whole number, if it isn't too large."""
        if value.bit_length() > self.bounds.bits:
            raise Fault(f"the number is too large: it has more than {self.bounds.bits:,} bits")
        return value
