"""Whether what is given fits the parameters of a function of Python's, in words that are the same on every Python."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

from priompt_py.model.values import short_repr
from priompt_py.template.source import near, one_line

__all__ = ["misfit", "needs_props", "takes_no_prop", "without_first", "written", "wrong_props"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def written(name: str, signature: inspect.Signature) -> str:
    """How a call is written: ``truncate(text, length, marker='…')``."""
    pieces: list[str] = []
    for one in signature.parameters.values():
        if one.kind in _REST:
            pieces.append("…")
        elif one.default is inspect.Parameter.empty:
            pieces.append(one.name)
        else:
            pieces.append(f"{one.name}={short_repr(one.default)}")
    return f"{name}({', '.join(pieces)})"


def misfit(name: str, signature: inspect.Signature, given: int, keywords: Iterable[str]) -> str | None:
    """What is wrong with a call that gives so many arguments without a name, and those of these names."""
    problem = _misfit(signature, given, list(keywords))
    return None if problem is None else f"{name}() {problem}; it is {written(name, signature)}"


def _misfit(signature: inspect.Signature, given: int, keywords: list[str]) -> str | None:
    parameters = list(signature.parameters.values())
    in_order = [one.name for one in parameters if one.kind in _POSITIONAL]
    if given > len(in_order) and not _takes_any_number(signature):
        count = f"{len(in_order)} argument{'s' if len(in_order) != 1 else ''}" if in_order else "no arguments"
        return f"takes {count} without a name, got {given}"
    filled = in_order[:given]
    for keyword in keywords:
        if keyword in filled and signature.parameters[keyword].kind in _NAMED:
            return f"is given {keyword} twice"
    unknown = _unknown(signature, keywords)
    if unknown is not None:
        return f"takes no argument {unknown}{near(unknown, _names(signature))}"
    missing = _missing(parameters, (*filled, *keywords))
    return f"needs {' and '.join(missing)}" if missing else None


def wrong_props(
    owner: str, signature: inspect.Signature, given: Sequence[str]
) -> tuple[str, str | None] | None:
    """What is wrong with the props of a component whose parameters these are, and the prop that it is about."""
    unknown = _unknown(signature, given)
    if unknown is not None:
        return takes_no_prop(owner, unknown, _names(signature)), unknown
    missing = _missing(list(signature.parameters.values()), given)
    return (needs_props(owner, missing), None) if missing else None


def takes_no_prop(owner: str, name: str, names: Sequence[str]) -> str:
    """The message about a prop that isn't there."""
    takes = f"; it takes {', '.join(names)}" if names else "; it takes none"
    return f"{owner} takes no prop {one_line(name)}{near(name, names) or takes}"


def needs_props(owner: str, missing: Sequence[str]) -> str:
    """The message about props that are not given."""
    return f"{owner} needs the prop{'s' if len(missing) > 1 else ''} {', '.join(missing)}"


def without_first(signature: inspect.Signature) -> inspect.Signature:
    """The parameters behind the first one, which takes the children."""
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        del parameters[0]
    return inspect.Signature(parameters)


def _takes_any_names(signature: inspect.Signature) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())


def _takes_any_number(signature: inspect.Signature) -> bool:
    return any(one.kind is one.VAR_POSITIONAL for one in signature.parameters.values())


def _names(signature: inspect.Signature) -> list[str]:
    return [one.name for one in signature.parameters.values() if one.kind in _NAMED]


def _unknown(signature: inspect.Signature, given: Iterable[str]) -> str | None:
    if _takes_any_names(signature):
        return None
    names = _names(signature)
    return next((name for name in given if name not in names), None)


def _missing(parameters: list[inspect.Parameter], given: Iterable[str]) -> list[str]:
    there = set(given)
    return [
        one.name
        for one in parameters
        if one.kind not in _REST and one.default is inspect.Parameter.empty and one.name not in there
    ]
