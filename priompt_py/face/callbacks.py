"""``on_include`` and ``on_eject``: once per render, after the decision is final, in document order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import Child
from priompt_py.model.outcome import Decision

__all__ = ["afire", "fire"]

Decided = Sequence[tuple[Decision, Child]]


def fire(decided: Decided) -> None:
    """Call all callbacks. What they raise is raised unchanged after the last one; several as a group.

    Raises ArgumentTypeError before any call where a callback is async.
    """
    calls = list(_calls(decided))
    for callback, decision in calls:
        if inspect.iscoroutinefunction(callback):
            raise ArgumentTypeError(
                f"{decision.path}: its callback is async: render it with 'await arender(...)'"
            )
    errors: list[Exception] = []
    for callback, decision in calls:
        try:
            given = _call(callback, decision)
            if inspect.isawaitable(given):
                if inspect.iscoroutine(given):
                    given.close()
                raise ArgumentTypeError(
                    f"{decision.path}: its callback is async: render it with 'await arender(...)'"
                )
        except Exception as error:  # noqa: BLE001 - raised after the remaining callbacks have run
            errors.append(error)
    _raise(errors)


async def afire(decided: Decided) -> None:
    """``fire``, awaiting async callbacks one after the other."""
    errors: list[Exception] = []
    for callback, decision in _calls(decided):
        try:
            given = _call(callback, decision)
            if inspect.isawaitable(given):
                await given
        except Exception as error:  # noqa: BLE001 - raised after the remaining callbacks have run
            errors.append(error)
    _raise(errors)


def _calls(decided: Decided) -> Iterator[tuple[Callable[..., Any], Decision]]:
    for decision, element in decided:
        callback = getattr(element, "on_include" if decision.included else "on_eject", None)
        if callback is not None:
            yield callback, decision


def _call(callback: Callable[..., Any], decision: Decision) -> Any:
    """Call with the decision if the callback can take one positional argument, else without."""
    try:
        inspect.signature(callback).bind(decision)
    except TypeError:
        return callback()
    except ValueError:  # some builtins tell no signature; those that collect take one argument
        pass
    return callback(decision)


def _raise(errors: list[Exception]) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("several callbacks failed", errors)
