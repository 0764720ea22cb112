"""How the functions of the language are made: what they get, how they are called, the checks of their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.author.children import a_type, is_list
from priompt_py.template.bounds import Budget, Fault
from priompt_py.template.fitting import written
from priompt_py.template.kinds import is_dict, is_set
from priompt_py.template.source import one_line
from priompt_py.template.values import items_of

if TYPE_CHECKING:
    from priompt_py.tokens.tokenizer import Tokenizer

__all__ = [
    "BUILTINS",
    "Builtin",
    "Context",
    "builtin",
    "kind_of",
    "listed",
    "signature_of",
    "text_argument",
    "whole_argument",
]


@attrs.frozen(eq=False)
class Context:
    """What functions may need: the budget, and a tokenizer, which is made when it is asked for."""

    budget: Budget
    tokenizer: Callable[[], Tokenizer]


class Builtin:
    """A function of the language: it gets the context, then its arguments. Its docstring is its reference.

    That a call fits its arguments is seen before anything is evaluated.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name = name
        self.function = function
        self.meaning = inspect.cleandoc(function.__doc__ or "")
        parameters = list(inspect.signature(function).parameters.values())[1:]
        self.signature = inspect.Signature(parameters)

    def __call__(self, context: Context, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        context.budget.step(_COST_OF_CALL)
        try:
            return self.function(context, *arguments, **keywords)
        except (TypeError, ValueError, ArithmeticError, LookupError, MemoryError, RecursionError) as error:
            raise Fault(f"{self.name}(): {one_line(str(error), 80)}") from None

    @property
    def written(self) -> str:
        """How a call of it is written."""
        return written(self.name, self.signature)


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The arguments that a function takes in a template; None if it doesn't tell."""
    if isinstance(function, Builtin):
        return function.signature
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some of Python's own
        return None


_COST_OF_CALL = 3  # steps

BUILTINS: dict[str, Builtin] = {}


def builtin(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of the language: its name without the underscore at its start."""
    name = function.__name__.strip("_")
    BUILTINS[name] = Builtin(function, name)
    return function


def text_argument(name: str, value: object) -> str:
    """``value``, if it is a text."""
    if isinstance(value, str):
        return value
    raise Fault(f"{name} needs a text, got {kind_of(value)}")


def whole_argument(name: str, value: object, *, least: int | None = None) -> int:
    """``value``, if it is a whole number, not below ``least``."""
    if type(value) is not int:
        raise Fault(f"{name} needs a whole number, got {kind_of(value)}")
    if least is not None and value < least:
        raise Fault(f"{name} needs a number of at least {least}, got {value}")
    return value


def kind_of(value: object) -> str:
    """What a value is, for a message: ``a str``."""
    return "None" if value is None else a_type(value)


def listed(context: Context, value: object) -> list[Any]:
    """The items as a new list, within the bounds."""
    if is_set(value) or is_list(value) or is_dict(value) or isinstance(value, range):
        context.budget.items(len(value))
        return list(value)
    found: list[Any] = []
    most = context.budget.bounds.loop
    for item in items_of(value):
        if len(found) == most:
            raise Fault(f"a list of more than {most:,} items")
        found.append(item)
    context.budget.step(len(found))
    return found
