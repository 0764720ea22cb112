"""Calling a prompt with props: what is no function is the node itself."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from priompt_py.author.checks import got
from priompt_py.author.children import is_mapping
from priompt_py.author.component import Component
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Element

__all__ = ["build", "name_of_prompt", "own_limit"]


def name_of_prompt(prompt: object) -> str:
    """What people call a prompt."""
    return str(getattr(prompt, "__name__", type(prompt).__name__))


def own_limit(prompt: object) -> int | None:
    """The prompt's own ``token_limit``: a template's, or an attribute of a function. That of an element is another."""
    if isinstance(prompt, Element) or not callable(prompt):
        return None
    limit = getattr(prompt, "token_limit", None)
    return limit if type(limit) is int else None


def build(prompt: Any, props: Mapping[str, Any] | None, on_return: Callable[..., None]) -> tuple[Any, bool]:
    """The node that a prompt makes of its props, and whether it took ``on_return``.

    A prompt is a function, a component or a template, which get the props by name; anything else is a node, which
    takes none. ``on_return`` is given to those whose signature (of a template: whose props) has it.

    Raises ArgumentTypeError naming a prop that is missing or unknown, and whatever the prompt raises.
    """
    if props is not None and not is_mapping(props):
        raise ArgumentTypeError(f"run() needs a mapping of names to values for props, got props={got(props)}")
    given: dict[str, Any] = dict(props or {})
    if isinstance(prompt, Element) or not callable(prompt):
        if given:
            raise ArgumentTypeError(
                f"run(): the prompt is a node, which takes no props, got {', '.join(given)}"
            )
        return prompt, False
    if "on_return" in given:
        raise ArgumentValueError("run() gives on_return itself; leave it out of props")
    front_matter = getattr(prompt, "front_matter", None)
    if front_matter is not None:  # a template, which checks its props itself
        declared: Any = getattr(front_matter, "props", None) or ()
        takes_return = any(prop.name == "on_return" for prop in declared)
    else:
        takes_return = _check(prompt, given)
    if takes_return:
        given["on_return"] = on_return
    return prompt(**given), takes_return


def _check(function: Callable[..., Any], given: Mapping[str, Any]) -> bool:
    """Say which props are missing or unknown; whether the function takes ``on_return``."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # a builtin that doesn't tell
        return False
    if isinstance(function, Component):
        parameters = parameters[1:]  # its children
    name = name_of_prompt(function)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    names = [p.name for p in named]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for prop in given:
            if prop not in names:
                near = difflib.get_close_matches(prop, names, n=1)
                own = [one for one in names if one != "on_return"]
                hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(own) or 'none'}"
                raise ArgumentTypeError(f"{name}() takes no prop {prop!r}; {hint}")
    missing = [p.name for p in named if p.default is p.empty and p.name not in ("on_return", *given)]
    if missing:
        raise ArgumentTypeError(f"{name}() needs {', '.join(missing)}: give props={{{missing[0]!r}: ...}}")
    return "on_return" in names
