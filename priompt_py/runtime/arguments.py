"""What a call's handler gets: its arguments, parsed and checked against the tool's definition."""

from __future__ import annotations

from typing import Any

from priompt_py.author.tools import TypedCall
from priompt_py.errors import ModelOutputError
from priompt_py.model.elements import ToolDefinition
from priompt_py.model.model_output import ToolCall
from priompt_py.model.values import short_repr
from priompt_py.runtime.json_check import misfit

__all__ = ["arguments_of"]

_TOO_DEEP = "they are nested too deep"


def arguments_of(definition: ToolDefinition, call: ToolCall) -> Any:
    """The arguments of a call: an instance of the class, the keywords of the function, else a mapping.

    Raises ModelOutputError, naming the call: for arguments that are no JSON object, that stop in the middle, that
    don't fit the definition's schema, or that its class refuses.
    """
    label = repr(call.name) if call.id is None else f"{call.name!r} (id {call.id!r})"
    if call.incomplete:
        raise ModelOutputError(
            f"the answer ended before the call {label} did; its arguments so far: {short_repr(call.arguments)}"
        )
    given = call.parsed
    if isinstance(definition.on_call, TypedCall):
        try:
            return definition.on_call.parse(given)
        except RecursionError:
            problem: str | None = _TOO_DEEP
        except (TypeError, ValueError) as error:  # ours, and those of a class that is made of the arguments
            raise ModelOutputError(f"the arguments of the call {label} don't fit: {error}") from error
    else:
        try:
            problem = misfit(given, definition.parameters)
        except RecursionError:
            problem = _TOO_DEEP
    if problem is not None:
        raise ModelOutputError(f"the arguments of the call {label} don't fit: {problem}")
    return given
