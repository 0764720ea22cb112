"""What is wrong with a call of a component: which prop, what was given, and what would do, the same on every Python."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from priompt_py.model.values import short_repr

__all__ = ["misfit"]

_Parameter = inspect.Parameter


def misfit(
    name: str, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> str:
    """The problem of a call that does not fit; the first parameter of the signature takes the children.

    The slip that explains most comes first: an unknown name, before what is missing because of it.
    """
    children, *props = signature.parameters.values()
    if children.kind is _Parameter.VAR_POSITIONAL:  # takes props by place as well as children
        props = list(signature.parameters.values())
    named = [
        one.name for one in props if one.kind in (_Parameter.POSITIONAL_OR_KEYWORD, _Parameter.KEYWORD_ONLY)
    ]
    placed = [
        one for one in props if one.kind in (_Parameter.POSITIONAL_ONLY, _Parameter.POSITIONAL_OR_KEYWORD)
    ]
    filled = {one.name for one in placed[: len(args)]}
    if children.name in kwargs and children.kind is _Parameter.POSITIONAL_OR_KEYWORD:
        shown = short_repr(kwargs[children.name])
        return f"{name}() takes its children in brackets, got {children.name}={shown}; write {name}(...)[{shown}]"
    takes_any = any(one.kind is _Parameter.VAR_KEYWORD for one in props)
    for key, value in kwargs.items():
        if key in named and key in filled:
            return f"{name}() is given the prop {key} twice: by its place, and as {key}={short_repr(value)}"
        if key not in named and not takes_any:
            return f"{name}() takes no prop {key!r}, got {key}={short_repr(value)}; {_names(key, named)}"
    if len(args) > len(placed) and not any(one.kind is _Parameter.VAR_POSITIONAL for one in props):
        return _too_many(
            name, args, placed, [one for one in named if one not in filled and one not in kwargs]
        )
    missing = [
        one
        for one in props
        if one.default is _Parameter.empty
        and one.kind not in (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD)
        and one.name not in filled
        and (one.name not in kwargs or one.kind is _Parameter.POSITIONAL_ONLY)
    ]
    written = ["..." if one.kind is _Parameter.POSITIONAL_ONLY else f"{one.name}=..." for one in missing]
    needed = f"prop{'s' if len(missing) > 1 else ''} {' and '.join(one.name for one in missing)}"
    return f"{name}() needs the {needed}; write {name}({', '.join(written)})[...]"


def _too_many(
    name: str, args: Sequence[object], placed: Sequence[inspect.Parameter], free: Sequence[str]
) -> str:
    """The problem of props by place, of which there are too many; ``free`` are the names that are not given yet."""
    value = short_repr(args[len(placed)])
    by_place = f"at most {len(placed)} prop{'s' if len(placed) > 1 else ''} by place"
    takes = f"takes {by_place if placed else 'its props by name' if free else 'no props'}, got {value}"
    ways = [f"{name}({free[0]}={value})"] if free else []
    return f"{name}() {takes}; write {' or, as its content, '.join([*ways, f'{name}(...)[{value}]'])}"


def _names(wrong: str, names: Sequence[str]) -> str:
    """The likely slip, or what there is."""
    near = get_close_matches(wrong, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"it takes {', '.join(names)}" if names else "it takes no props"
