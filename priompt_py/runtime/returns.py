"""``on_return``: how a prompt gives back a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from priompt_py.author.checks import check_priority
from priompt_py.errors import RunError
from priompt_py.model.elements import Number
from priompt_py.runtime.branch import Branch

__all__ = ["Returns"]

_MISSING: Any = object()


class Returns:
    """The ``on_return`` that a prompt is given: ``on_return(value, p=0)``.

    Of several calls the one of the highest ``p`` counts, of equal ones the first.
    """

    def __init__(self) -> None:
        self._value: Any = _MISSING
        self._p: Number = 0

    def __call__(self, value: Any, *, p: Number = 0) -> None:
        """Give back ``value``. Raises ArgumentTypeError or ArgumentValueError for what is no finite number ``p``."""
        check_priority("on_return", "p", p)
        if isinstance(value, Branch):
            raise RunError(
                "on_return() got the stream of a handler, which ends with the handler; return what was read of it, or "
                "leave the capture out: then run() gives the stream"
            )
        if self._value is _MISSING or p > self._p:
            self._value, self._p = value, p

    def value(self, captures: Sequence[str]) -> Any:
        """What counts. Raises RunError, naming the captures there were, where nothing was given back."""
        if self._value is _MISSING:
            there = f"these handlers were in: {', '.join(captures)}" if captures else "no capture was in"
            raise RunError(f"the prompt gave nothing back: nobody called on_return; {there}")
        return self._value
