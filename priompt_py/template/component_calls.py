"""Calls of components: of those that are templates, and of Python's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import attrs

from priompt_py.author.component import Component
from priompt_py.errors import PromptError, TemplateError
from priompt_py.model.elements import ComponentCall
from priompt_py.template.compile import Content
from priompt_py.template.declared_props import Prop
from priompt_py.template.evaluate import Run
from priompt_py.template.fitting import without_first, wrong_props
from priompt_py.template.props import props_checker
from priompt_py.template.source import Source
from priompt_py.template.syntax import Element

__all__ = ["CallComponent", "python_call", "template_call"]

CallComponent = Callable[[Run, dict[str, Any], list[Any], Element], list[Any]]


def template_call(
    source: Source, name: str, owner: str, props: tuple[Prop, ...] | None, body: Callable[[], Content]
) -> CallComponent:
    """The function that calls a component whose ``body`` is a template's; ``owner`` is what messages call it."""
    check = props_checker(owner, props)

    def call(run: Run, given: dict[str, Any], children: list[Any], node: Element) -> list[Any]:
        def wrong(message: str, prop: str | None) -> TemplateError:
            attribute = None if prop is None else node.attribute(prop)
            at = node.start if attribute is None else attribute.start
            return source.error(at, message, stack=run.stack)

        names = check(given, wrong)
        most = run.budget.bounds.depth
        if run.depth > most:
            raise source.error(
                node.start,
                f"components stand more than {most} deep in each other; does <{name}> call itself?",
                stack=run.stack,
            )
        run.stack.append((source.name, source.line_of(node.start), name))
        outer, run.children = run.children, children
        found = body().nodes(run, names)
        run.children = outer
        run.stack.pop()
        return found

    return call


def python_call(source: Source, name: str, target: Callable[..., Any]) -> CallComponent:
    """The function that calls a component of Python's."""
    signature = _signature(target)
    if signature is not None and isinstance(target, Component):
        signature = without_first(signature)

    def call(run: Run, given: dict[str, Any], children: list[Any], node: Element) -> list[Any]:
        at = source.location(node.start)
        if children and not isinstance(target, Component):
            raise source.error(node.start, f"<{name}> takes no children", stack=run.stack)
        wrong = None if signature is None else wrong_props(f"<{name}>", signature, list(given))
        if wrong is not None:
            message, prop = wrong
            attribute = None if prop is None else node.attribute(prop)
            start = node.start if attribute is None else attribute.start
            raise source.error(start, message, stack=run.stack)
        if isinstance(target, Component):
            tag: Any = target
            filled: ComponentCall = tag(**given)[children]
            return [attrs.evolve(filled, function=_noted(filled.function, name, str(at)))]
        return [
            ComponentCall(
                function=_noted(_without_children(target), name, str(at)),
                kwargs=given,
                takes_children=False,
            )
        ]

    return call


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # a builtin that doesn't tell
        return None


def _without_children(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(_children: Any, /, **props: Any) -> Any:
        return function(**props)

    async def call_async(_children: Any, /, **props: Any) -> Any:
        return await function(**props)

    return call_async if inspect.iscoroutinefunction(function) else call


def _noted(function: Callable[..., Any], name: str, place: str) -> Callable[..., Any]:
    """The function under the name of its tag; what it raises is noted with the tag's place."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _note(error, name, place)
            raise

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        try:
            return await function(*args, **kwargs)
        except Exception as error:
            _note(error, name, place)
            raise

    chosen = call_async if inspect.iscoroutinefunction(function) else call
    chosen.__name__ = name
    return chosen


def _note(error: Exception, name: str, place: str) -> None:
    if not isinstance(error, PromptError) or not any("<" in note for note in getattr(error, "__notes__", ())):
        error.add_note(f"in <{name}> at {place}")
