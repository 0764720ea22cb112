"""What a program can tell beyond one render: its curve, and at which limits a scope is in."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

import attrs

from priompt_py.engine.curve import curve_levels, curve_points
from priompt_py.engine.explain import Explanation
from priompt_py.engine.pricing import Pricing
from priompt_py.engine.reach import cutoffs_of_entries, limit_ranges
from priompt_py.engine.solve import Solution
from priompt_py.errors import ArgumentValueError, PromptTooLong
from priompt_py.face.settings import Settings
from priompt_py.model.curve import Curve, CurvePoint, LimitRange, Why

if TYPE_CHECKING:
    from priompt_py.face.program import Program

__all__ = ["Progress", "curve", "why"]

Progress = Callable[[int, int], object]
"""Called as work goes on, with what is done and what there is to do."""

_NAMED = 20  # labels in an error's text
_MOST = 1 << 40  # tokens: no search goes beyond
_EACH = 1_000  # limits that are tried one by one
_WORK = 300_000  # elements that are decided on for it: half a second


def curve(program: Program, settings: Settings, pricing: Pricing, progress: Progress | None = None) -> Curve:
    """The cost at each level. Raises PromptTooLong where an element is over a limit of its own, and where nothing
    fits and limits are relative: then there are no costs that hold without a limit."""
    solution, fits = _solved(program, settings, pricing)
    levels = len(curve_levels(solution))
    points: list[CurvePoint] = []
    for point in curve_points(program.compiled, solution, pricing):
        points.append(point)
        if progress is not None:
            progress(len(points), levels)
    return Curve(tuple(points), settings.token_limit, solution.cutoff if fits else None)


def why(program: Program, settings: Settings, pricing: Pricing, name: str) -> tuple[Why, ...]:
    """Why each element with this label or path is in or out, and at which limits it is in, in document order.

    Raises ArgumentValueError where there is no such element, and PromptTooLong as ``curve`` does.
    """
    solution, _ = _solved(program, settings, pricing)
    explanation = program.explain(solution, pricing)
    numbers, decisions = explanation.decided(name)
    if not numbers:
        labels = {entry.label for entry in explanation.recorded.entries if entry.label is not None}
        raise ArgumentValueError(
            f"no element has the label or path {name!r}; {_labels(name, sorted(labels))}"
        )
    if program.compiled.has_relative_limits:
        return tuple(
            Why(decision, _searched(program, settings, pricing, number), is_searched=True)
            for number, decision in zip(numbers, decisions, strict=True)
        )
    points = tuple(curve_points(program.compiled, solution, pricing))
    steps = Curve(points, settings.token_limit, solution.cutoff).steps()
    cutoffs = cutoffs_of_entries(explanation)
    return tuple(
        Why(decision, limit_ranges(steps, cutoffs[number]))
        for number, decision in zip(numbers, decisions, strict=True)
    )


def _labels(name: str, labels: list[str]) -> str:
    """The likely slip, and which labels there are."""
    if not labels:
        return "nothing in it has a label"
    shown = ", ".join(labels[:_NAMED]) + (", …" if len(labels) > _NAMED else "")
    near = get_close_matches(name, labels, n=1)
    return f"did you mean {near[0]}? (its labels are {shown})" if near else f"its labels are {shown}"


def _solved(program: Program, settings: Settings, pricing: Pricing) -> tuple[Solution, bool]:
    """The solution under the limit, or under the smallest that works; and whether the first holds."""
    try:
        return program.solve(settings, pricing), True
    except PromptTooLong as error:
        if error.required_limit is None or error.element is not None:
            raise
        again = attrs.evolve(settings, token_limit=error.required_limit)
    return program.solve(again, pricing), False


def _searched(program: Program, settings: Settings, pricing: Pricing, number: int) -> tuple[LimitRange, ...]:
    """The smallest limit at which an entry is in, by trying each one, as far as that is no long work; beyond, a limit at
    which it is in and below which it is out, by halving. Nothing where none was found.

    An entry may be in between two limits only: its own ceiling grows with the limit, and so does what competes with it.
    """

    def is_in(limit: int) -> bool:
        try:
            solution = program.solve(attrs.evolve(settings, token_limit=limit), pricing)
        except PromptTooLong:
            return False
        return Explanation(program.recorded(), solution, pricing).reasons()[number] == "included"

    each = min(_EACH, _WORK // max(1, len(program.recorded().entries)))
    for limit in range(each):
        if is_in(limit):
            return (LimitRange(limit, None),)
    low, high = each - 1, max(each, 1, settings.token_limit)
    while not is_in(high):
        low, high = high, high * 2
        if high > _MOST:
            return ()
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_in(middle) else (middle, high)
    return (LimitRange(high, None),)
