"""What a render leaves to the next one, so that the prompt's beginning can stay the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import attrs

from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import BASE_PRIORITY, Number
from priompt_py.model.values import short_repr

__all__ = ["Memory"]

_KEYS = ("cutoff", "maxes")


class _Checked(tuple[tuple[str, Number], ...]):
    """Paths and numbers that were checked, in order."""

    __slots__ = ()


def _number(where: str, value: object) -> Number:
    if type(value) is not int and type(value) is not float:
        raise ArgumentTypeError(f"{where} needs a number, got {short_repr(value)} ({type(value).__name__})")
    if type(value) is float and not math.isfinite(value):
        raise ArgumentValueError(f"{where} needs a finite number, got {value!r}")
    if value > BASE_PRIORITY:
        raise ArgumentValueError(
            f"{where} needs to be {BASE_PRIORITY} at most, the base, got {short_repr(value)}"
        )
    return value


def _cutoff(value: object) -> Number | None:
    return None if value is None else _number("Memory: cutoff", value)


def _maxes(value: object) -> tuple[tuple[str, Number], ...]:
    if isinstance(value, _Checked):  # those of another memory, by attrs.evolve
        return value
    if not isinstance(value, Mapping):
        raise ArgumentTypeError(
            f"Memory: maxes needs a mapping from paths to numbers, got {short_repr(value)} ({type(value).__name__})"
        )
    found: list[tuple[str, Number]] = []
    for path, cutoff in cast("Mapping[object, object]", value).items():
        if not isinstance(path, str):
            raise ArgumentTypeError(f"Memory: the paths of maxes are text, got {short_repr(path)}")
        found.append((path, _number(f"Memory: maxes[{short_repr(path)}]", cutoff)))
    return _Checked(sorted(found))


@attrs.frozen(repr=False)
class Memory:
    """The cutoffs of a render: ``cutoff`` of the prompt (None: everything was in), ``maxes`` of each max that left
    something out, by its path.

    ``Memory()`` remembers nothing: what a conversation starts with. Immutable; ``to_json`` gives plain data that
    ``from_json`` takes. Raises ArgumentTypeError or ArgumentValueError for other values.
    """

    cutoff: Number | None = attrs.field(default=None, converter=_cutoff)
    _maxes: tuple[tuple[str, Number], ...] = attrs.field(default=_Checked(), converter=_maxes, alias="maxes")

    @property
    def maxes(self) -> dict[str, Number]:
        """Path -> cutoff, of the maxes."""
        return dict(self._maxes)

    def __repr__(self) -> str:
        return f"Memory(cutoff={self.cutoff!r}, maxes={self.maxes!r})"

    def __bool__(self) -> bool:
        """Whether it remembers anything."""
        return self.cutoff is not None or bool(self._maxes)

    def to_json(self) -> dict[str, Any]:
        """As plain data for ``json.dumps``."""
        return {"cutoff": self.cutoff, "maxes": self.maxes}

    @classmethod
    def from_json(cls, data: object) -> Memory:
        """From what ``to_json`` gave. Raises ArgumentTypeError or ArgumentValueError for anything else."""
        if not isinstance(data, Mapping):
            raise ArgumentTypeError(
                f"Memory.from_json() needs a mapping, got {short_repr(data)} ({type(data).__name__})"
            )
        given = cast("Mapping[object, Any]", data)
        if strange := [key for key in given if key not in _KEYS]:
            raise ArgumentValueError(
                f"Memory.from_json() knows the keys {', '.join(_KEYS)}, got {short_repr(strange[0])}"
            )
        return cls(cutoff=given.get("cutoff"), maxes=given.get("maxes", {}))
