"""Components that take children: ``@component`` makes a tag of a function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Generic, ParamSpec

from priompt_py.author.children import a_type, spread
from priompt_py.author.component_misfit import misfit
from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import ComponentCall, Element, Node

__all__ = ["Component", "component"]

P = ParamSpec("P")


class OpenComponent(ComponentCall):
    """A component with its props, which waits for its children."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> ComponentCall:
        return ComponentCall(
            children=spread(children, self.name), function=self.function, args=self.args, kwargs=self.kwargs
        )


class Component(Generic[P]):
    """A function of children and props as a tag: ``quoted(source="wiki")["text"]``.

    The call is one node, wherever it stands and whatever the function returns; the function runs
    once per render, with its children as a list of nodes. Props are checked against the
    function's parameters when the tag is called.
    """

    def __init__(self, function: Callable[Concatenate[Any, P], Node | Awaitable[Node]]) -> None:
        self._signature = _signature(function)
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> OpenComponent:
        """The component with its props. Raises ArgumentTypeError where they don't fit the function."""
        if self._signature is not None:
            try:
                self._signature.bind(None, *args, **kwargs)
            except TypeError:
                problem = misfit(self._name, self._signature, args, kwargs)
                raise ArgumentTypeError(problem) from None
        return OpenComponent(function=self._function, args=args, kwargs=kwargs)

    def __getitem__(self, children: Node) -> ComponentCall:
        """The component without props, with its children."""
        call: Any = self
        filled: ComponentCall = call()[children]
        return filled

    def __repr__(self) -> str:
        return f"component({self._name})"

    def __reduce__(self) -> str:
        # As a function is pickled: by its name in its module.
        return str(vars(self).get("__qualname__", self._name))

    @property
    def _name(self) -> str:
        return str(getattr(self._function, "__name__", type(self._function).__name__))


def component(function: Callable[Concatenate[Any, P], Node | Awaitable[Node]]) -> Component[P]:
    """Make a tag of a function whose first parameter takes the children.

    The function may return a node, be a generator of nodes, or be async. Raises ArgumentTypeError
    for what is no such function.
    """
    return Component(function)


def _signature(function: object) -> inspect.Signature | None:
    """The function's signature (None for a builtin that has none), once it is known to be a component's."""
    if not callable(function) or isinstance(function, Component):
        raise ArgumentTypeError(f"component() needs a function, got {a_type(function)}")
    name = getattr(function, "__name__", type(function).__name__)
    if inspect.isasyncgenfunction(function):
        raise ArgumentTypeError(
            f"component() takes no async generators; make {name}() an async function that returns a list"
        )
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    takes = any(parameter.kind in kinds for parameter in signature.parameters.values())
    if isinstance(function, Element) or not takes:
        raise ArgumentTypeError(
            f"component() needs a function whose first parameter takes the children; {name}() has none"
        )
    return signature
