"""A prompt compiled from its builder, with or without an event loop, as its nodes need."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from priompt_py.author.children import spread
from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import AsyncNode, Child, ComponentCall, walk

if TYPE_CHECKING:
    from priompt_py.engine.pricing import Pricing
    from priompt_py.face.program import Program
    from priompt_py.face.settings import Settings

__all__ = ["asks_for_arender", "compiled", "has_async_nodes", "priced"]


def compiled(build: Callable[[], Any]) -> Program:
    """Compile what ``build`` gives: without an event loop where nothing is async, since a component may run one of its
    own. It is called twice where a component turns out to give something async."""
    from priompt_py.face.render import acompile_prompt, compile_prompt

    children = spread(build(), "root")
    if has_async_nodes(children):
        return asyncio.run(acompile_prompt(children))
    try:
        return compile_prompt(children)
    except ArgumentTypeError as error:
        if not asks_for_arender(error):
            raise
        return asyncio.run(acompile_prompt(build()))  # made anew: a component gave something async


def priced(program: Program, settings: Settings) -> Pricing:
    """The costs under these settings, also where a function of ``empty`` is async."""
    try:
        return program.priced(settings)
    except ArgumentTypeError as error:
        if not asks_for_arender(error):
            raise
        return asyncio.run(program.apriced(settings))


def has_async_nodes(children: tuple[Child, ...]) -> bool:
    """Whether the tree, as far as it stands before its components run, holds anything async."""
    return any(
        isinstance(node, AsyncNode)
        or (isinstance(node, ComponentCall) and inspect.iscoroutinefunction(node.function))
        for node in walk(children)
    )


def asks_for_arender(error: ArgumentTypeError) -> bool:
    """Whether an error says that something async was met."""
    return "await arender(" in str(error)
