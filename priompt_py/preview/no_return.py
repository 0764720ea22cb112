"""``on_return`` where no model is asked: a stand-in for prompts that want one, which nobody listens to."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from priompt_py.author.component import Component

__all__ = ["ON_RETURN", "is_return", "takes_return", "with_return"]

ON_RETURN = "on_return"
"""The parameter by which ``run`` lets a prompt give a value back. It is no prop: dumps leave it out."""


def is_return(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is the one that ``run`` fills."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameter.name == ON_RETURN and parameter.kind in named


def with_return(prompt: Any, props: Mapping[str, Any]) -> dict[str, Any]:
    """The props, with an ``on_return`` where a function, component or template takes one and none was given."""
    if ON_RETURN not in props and takes_return(prompt):
        return {**props, ON_RETURN: _unheard}
    return dict(props)


def takes_return(prompt: Any) -> bool:
    """Whether a function, a component or a template takes ``on_return``."""
    front_matter = getattr(prompt, "front_matter", None)
    if front_matter is not None:
        return any(prop.name == ON_RETURN for prop in getattr(front_matter, "props", None) or ())
    try:
        parameters = [*inspect.signature(prompt).parameters.values()]
    except (TypeError, ValueError):  # a builtin that doesn't tell
        return False
    if isinstance(prompt, Component):
        parameters = parameters[1:]  # its children
    return any(is_return(parameter) for parameter in parameters)


def _unheard(value: Any, *, p: float = 0) -> None:
    """Takes what a prompt gives back, and keeps nothing: a prompt may be made several times of the same props."""
