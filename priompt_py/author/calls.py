"""Errors of calls: a wrong argument's name gets the nearest right one, text in parentheses a hint."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import Message, tag_name
from priompt_py.model.values import short_repr

__all__ = ["explained", "refuse_text"]

P = ParamSpec("P")
R = TypeVar("R")


def refuse_text(tag: str, values: tuple[object, ...]) -> ArgumentTypeError:
    """The error for content that was given in parentheses."""
    shown = ", ".join(map(short_repr, values))
    return ArgumentTypeError(
        f"{tag}() takes named arguments only, got {shown}; content goes in brackets: {tag}[{shown}]"
    )


def explained(tag: str, *, takes_children: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give calls that don't fit the signature an error of ours, by the tag's name."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except ArgumentTypeError:
                raise
            except TypeError:
                name = tag_name(args[0]) if args and isinstance(args[0], Message) else tag
                problem = _misfit(function, name, args, kwargs, takes_children=takes_children)
                if problem is None:  # it came from inside the call
                    raise
                raise problem from None

        return call

    return decorate


def _misfit(
    function: Callable[..., Any],
    tag: str,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    *,
    takes_children: bool,
) -> ArgumentTypeError | None:
    """Why a call does not fit a signature; None if it does."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        names = [name for name in signature.parameters if name != "self"]
        for name in kwargs:
            if name not in names:
                near = difflib.get_close_matches(name, [*names, "p"], n=1)
                hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(names)}"
                return ArgumentTypeError(f"{tag}() takes no {name!r}; {hint}")
        values = args[1:] if "self" in signature.parameters else args
        positional = [
            p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY and p.name != "self"
        ]
        if len(values) > len(positional):
            if takes_children and not isinstance(values[-1], (int, float)):
                return refuse_text(tag, values)
            first = names[len(positional)]
            return ArgumentTypeError(
                f"{tag}() takes {'named arguments only' if not positional else 'the rest by name'}, "
                f"got {short_repr(values[-1])}; write {tag}({first}={short_repr(values[-1])})"
            )
        missing = [
            p.name
            for p in signature.parameters.values()
            if p.default is p.empty and p.name not in ("self", *kwargs)
        ][len(values) :]
        return ArgumentTypeError(f"{tag}() needs {', '.join(missing)}" if missing else f"{tag}(): {error}")
    return None
