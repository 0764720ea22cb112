"""Bounds that a type states: ``Annotated[int, Ge(1)]`` with annotated_types, fields of pydantic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.testing.leaves import texts

__all__ = ["constrained", "constraints"]

_NAMES = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern", "func")
"""Attributes of the notes of annotated_types and pydantic; ``func`` is that of a predicate."""

_SPAN = 1_000
"""How far numbers go from their only bound."""


def constraints(notes: Iterable[Any]) -> dict[str, Any]:
    """What the notes of a type say about its values, by the names of ``_NAMES``; other notes say nothing."""
    found: dict[str, Any] = {}
    for note in notes:
        if type(note).__module__.partition(".")[0] not in ("annotated_types", "pydantic"):
            continue
        inner = getattr(note, "metadata", None)
        if isinstance(inner, list):  # a field of pydantic
            found |= constraints(inner)  # pyright: ignore[reportUnknownArgumentType] - pydantic's own
        said = {name: getattr(note, name, None) for name in _NAMES}
        found |= {name: value for name, value in said.items() if value is not None}
    return found


def constrained(
    annotation: Any, said: Mapping[str, Any], plain: Callable[[], SearchStrategy[Any]]
) -> SearchStrategy[Any]:
    """Values of a type within its bounds; ``plain`` gives those of the type without them."""
    if "pattern" in said:
        pattern: str = said["pattern"]
        strategy: SearchStrategy[str] = st.from_regex(pattern)
        # Elsewhere than in Python, "$" doesn't stand before a line feed at the end.
        return strategy.filter(lambda text: not text.endswith("\n") and _holds(text, said))
    if annotation is str:
        return texts().map(lambda text: _fitted(text, said)).filter(lambda text: _holds(text, said))
    if annotation is int:
        return _integers(said).filter(lambda number: _holds(number, said))
    if annotation is float:
        return _floats(said).filter(lambda number: _holds(number, said))
    return plain().filter(lambda value: _holds(value, said))


def _fitted(text: str, said: Mapping[str, Any]) -> str:
    """A text, cut or drawn out to its bounds in characters."""
    text = text.ljust(said.get("min_length", 0), "a")
    return text[: said["max_length"]] if "max_length" in said else text


def _integers(said: Mapping[str, Any]) -> SearchStrategy[int]:
    step = said.get("multiple_of", 1)
    if type(step) is not int:
        step = 1  # the filter sees to it
    lows = [math.ceil(said["ge"])] if "ge" in said else []
    lows += [math.floor(said["gt"]) + 1] if "gt" in said else []
    highs = [math.floor(said["le"])] if "le" in said else []
    highs += [math.ceil(said["lt"]) - 1] if "lt" in said else []
    low = max(lows) if lows else min(highs, default=_SPAN * step) - _SPAN * step
    high = min(highs) if highs else low + _SPAN * step
    return st.integers(-(-low // step), high // step).map(lambda number: number * step)


def _floats(said: Mapping[str, Any]) -> SearchStrategy[float]:
    step = said.get("multiple_of")
    low, high = _ends(said)
    if step is not None:
        return st.integers(math.ceil(low / step), math.floor(high / step)).map(lambda number: number * step)
    return st.floats(low, high, allow_nan=False)


def _ends(said: Mapping[str, Any]) -> tuple[float, float]:
    lows = [float(said[name]) for name in ("ge", "gt") if name in said]
    highs = [float(said[name]) for name in ("le", "lt") if name in said]
    low = max(lows) if lows else min(highs, default=float(_SPAN)) - _SPAN
    return low, min(highs) if highs else low + _SPAN


def _holds(value: Any, said: Mapping[str, Any]) -> bool:
    """Whether a value is within the bounds."""
    return (
        value >= said.get("ge", value)
        and value <= said.get("le", value)
        and ("gt" not in said or value > said["gt"])
        and ("lt" not in said or value < said["lt"])
        and ("multiple_of" not in said or value % said["multiple_of"] == 0)
        and ("min_length" not in said or len(value) >= said["min_length"])
        and ("max_length" not in said or len(value) <= said["max_length"])
        and ("func" not in said or bool(said["func"](value)))
    )
