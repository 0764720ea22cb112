"""A prompt made into a tree that stands still: what its components gave, with recorders for callbacks.

Checks render a prompt many times. Its code runs once for that, async or not; what it gave is put in its place.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

import attrs

from priompt_py.author.children import spread
from priompt_py.author.component import Component
from priompt_py.engine.expand import Expansions, close_coroutines
from priompt_py.errors import ArgumentTypeError
from priompt_py.face.expand_async import expand_async
from priompt_py.face.program import Program
from priompt_py.model.elements import (
    AsyncNode,
    Child,
    ComponentCall,
    Container,
    Element,
    Empty,
    First,
    Isolate,
    Max,
    Scope,
    children_of,
)
from priompt_py.model.outcome import Decision
from priompt_py.preview.compiling import asks_for_arender, has_async_nodes
from priompt_py.preview.no_return import with_return

__all__ = [
    "Called",
    "Made",
    "Settled",
    "amade",
    "call_prompt",
    "children_name",
    "finish",
    "given_by",
    "made",
    "settled",
    "with_given",
]

T = TypeVar("T")

Called = tuple[str, str | None]
"""``include`` or ``eject``, and the path in the decision that the callback was given."""


@attrs.define(eq=False)
class Settled:
    """A prompt's tree without code that has still to run.

    ``nodes`` is the number of elements and texts, each occurrence; ``is_relative`` says that a limit in it is a share
    of the limit around it. The callbacks of every scope and first write into ``calls``.
    """

    children: tuple[Child, ...]
    nodes: int
    is_relative: bool
    calls: list[Called] = attrs.field(factory=list[Called])


def call_prompt(prompt: Any, props: Mapping[str, Any]) -> Any:
    """What a prompt makes of its props: a node, or something to await. A node is a prompt without props.

    A component gets its children from the prop that is called as its first parameter is. ``on_return`` may be left out.
    """
    if isinstance(prompt, Element) or not callable(prompt):
        if props:
            raise ArgumentTypeError(f"a node takes no props, got {', '.join(props)}")
        return prompt
    if isinstance(prompt, Component):
        given = with_return(prompt, props)
        children = given.pop(children_name(prompt) or "", None)
        call: Any = prompt(**given)
        return call if children is None else call[children]
    return prompt(**with_return(prompt, props))


def children_name(component: Component[...]) -> str | None:
    """What a component's first parameter is called; None where it can't be told."""
    try:
        return next(iter(inspect.signature(component).parameters), None)
    except ValueError:
        return None


# ------------------------------------------------------------------------------------------ running its code

Made = tuple[tuple[Child, ...], Expansions]
"""A prompt's children, and what its components gave."""


def made(prompt: Any, props: Mapping[str, Any]) -> Made:
    """Run a prompt's code. What is async runs in an event loop of its own, in a thread if one runs here already."""
    given = call_prompt(prompt, props)
    if not inspect.isawaitable(given):
        children = spread(given, "root")
        if not has_async_nodes(children):
            try:
                return _expanded(children)
            except ArgumentTypeError as error:
                if not asks_for_arender(error):
                    raise
            given = call_prompt(prompt, props)  # a component gave something async: all is made anew
            children = spread(given, "root")
        given = children
    return finish(_amade(given))


async def amade(prompt: Any, props: Mapping[str, Any]) -> Made:
    """``made``, in the event loop that runs here."""
    return await _amade(call_prompt(prompt, props))


async def _amade(given: Any) -> Made:
    if inspect.isawaitable(given):
        given = await given
    children = spread(given, "root")
    expansions = Expansions()
    try:
        await expand_async(children, expansions)
        Program(children, expansions)  # runs what is left
    except BaseException:
        close_coroutines(children, expansions)
        raise
    return children, expansions


def _expanded(children: tuple[Child, ...]) -> Made:
    expansions = Expansions()
    try:
        Program(children, expansions)
    except BaseException:
        close_coroutines(children, expansions)
        raise
    return children, expansions


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; in a thread where this one's event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    found: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(coroutine))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            raised.append(error)

    thread = threading.Thread(target=run, name="priompt-prompt")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]


# ------------------------------------------------------------------------------------------ the tree


def settled(made: Made, count: Callable[[str], int]) -> Settled:
    """The tree of a prompt whose code has run. ``count`` is what async functions of ``empty`` are given."""
    children, expansions = made
    calls: list[Called] = []
    done: dict[int, Element] = {}
    sizes: dict[int, int] = {}
    is_relative = False
    stack: list[tuple[Child, bool]] = [(child, False) for child in reversed(children)]
    while stack:
        here, ready = stack.pop()
        if not isinstance(here, Element) or id(here) in done:
            continue
        inside = _inside(here, expansions)
        if not ready:
            stack.append((here, True))
            stack.extend((child, False) for child in reversed(inside))
            continue
        is_relative = is_relative or (isinstance(here, (Isolate, Max)) and isinstance(here.token_limit, str))
        kids = tuple(done[id(child)] if isinstance(child, Element) else child for child in inside)
        done[id(here)] = _remade(here, kids, calls, count)
        sizes[id(here)] = 1 + sum(sizes[id(child)] if isinstance(child, Element) else 1 for child in inside)
    return Settled(
        tuple(done[id(child)] if isinstance(child, Element) else child for child in children),
        sum(sizes[id(child)] if isinstance(child, Element) else 1 for child in children),
        is_relative,
        calls,
    )


def _inside(element: Element, expansions: Expansions) -> tuple[Child, ...]:
    if isinstance(element, (ComponentCall, AsyncNode)):
        return expansions.results[id(element)]
    return children_of(element)


def _remade(
    element: Element, kids: tuple[Child, ...], calls: list[Called], count: Callable[[str], int]
) -> Element:
    """The element with these children, and with recorders in the place of callbacks."""
    if isinstance(element, (ComponentCall, AsyncNode)):
        return ComponentCall(
            function=_Gives(element.name, kids), p=element.p, prel=element.prel, key=element.key
        )
    if isinstance(element, (Scope, First)):
        return attrs.evolve(
            element,
            children=kids,
            on_include=_recorder("include", calls),
            on_eject=_recorder("eject", calls),
        )
    if isinstance(element, Container):
        return attrs.evolve(element, children=kids)
    if isinstance(element, Empty) and inspect.iscoroutinefunction(element.tokens):
        return attrs.evolve(element, tokens=finish(_awaited(element.tokens(count))))
    return element


async def _awaited(given: Awaitable[T]) -> T:
    return await given


@attrs.frozen(eq=False)
class _Gives:
    """In the place of a component's function: gives what that one gave."""

    __name__: str
    kids: tuple[Child, ...]

    def __call__(self, children: object) -> tuple[Child, ...]:
        return self.kids


def given_by(element: ComponentCall) -> tuple[Child, ...] | None:
    """What stands in the place of a component of a settled tree; None for one of another tree."""
    return element.function.kids if isinstance(element.function, _Gives) else None


def with_given(element: ComponentCall, kids: tuple[Child, ...]) -> ComponentCall:
    """The same component, giving something else."""
    return ComponentCall(function=_Gives(element.name, kids), key=element.key)


def _recorder(event: str, calls: list[Called]) -> Callable[..., None]:
    def record(decision: Decision | None = None) -> None:
        calls.append((event, None if decision is None else decision.path))

    return record
