"""Async nodes: all of one render run concurrently, started in document order."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from priompt_py.author.children import spread
from priompt_py.engine.expand import MAX_COMPONENT_DEPTH, Expansions, add_path, start
from priompt_py.errors import StructureError
from priompt_py.model.elements import AsyncNode, Child, ComponentCall, Container
from priompt_py.model.place import segment

if TYPE_CHECKING:
    import asyncio

__all__ = ["expand_async"]

_Link = tuple[Any, int, Child, int]  # parent's link, index, child, components around it


async def expand_async(children: tuple[Child, ...], expansions: Expansions) -> None:
    """Run all components and async nodes of a tree; what they give is kept in ``expansions``.

    The first failure cancels the rest and is raised itself, with the component's path as a note.
    """
    import asyncio  # here, since it takes 20 ms to import and most prompts are not async

    run = _Run(expansions)
    try:
        run.walk(children, None)
        while run.pending:
            done, _ = await asyncio.wait(run.pending, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in run.pending if task in done]:  # in the order of their starts
                run.finish(task)
    finally:
        for task in run.pending:
            task.cancel()
        if run.pending:
            await asyncio.gather(*run.pending, return_exceptions=True)


class _Run:
    """The async nodes of one render. ``pending`` maps tasks to the nodes that wait for them."""

    def __init__(self, expansions: Expansions) -> None:
        self.expansions = expansions
        self.pending: dict[asyncio.Task[Any], list[_Link]] = {}
        self.tasks: dict[int, asyncio.Task[Any]] = {}  # by the identity of the coroutine or function
        self.results: dict[int, Any] = {}

    def walk(self, children: tuple[Child, ...], parent: _Link | None) -> None:
        """Run what stands in a tree, in document order, down to what has to be awaited."""
        depth = parent[3] if parent else 0
        stack: list[_Link] = [
            (parent, index, children[index], depth) for index in range(len(children) - 1, -1, -1)
        ]
        while stack:
            link = stack.pop()
            node, depth = link[2], link[3]
            if isinstance(node, (ComponentCall, AsyncNode)):
                inside, depth = self.run(node, link), depth + 1
            elif isinstance(node, Container):
                inside = node.children
            else:
                continue
            stack.extend((link, index, inside[index], depth) for index in range(len(inside) - 1, -1, -1))

    def run(self, node: ComponentCall | AsyncNode, link: _Link) -> tuple[Child, ...]:
        """What a node gives, ``()`` where it has to be awaited or was met before."""
        if id(node) in self.expansions.results:
            return ()
        if link[3] >= MAX_COMPONENT_DEPTH:
            raise StructureError(
                f"components stand more than {MAX_COMPONENT_DEPTH} deep in each other; does {node.name!r} give itself?"
            )
        source = id(node.source) if isinstance(node, AsyncNode) else id(node)
        if source in self.tasks:
            task = self.tasks[source]
            if task in self.pending:
                self.pending[task].append(link)
                return ()
            return self.keep(node, self.results[source], link)
        try:
            given = start(node)
        except Exception as error:
            add_path(error, path_of(link))
            raise
        if not inspect.isawaitable(given):
            return self.keep(node, given, link)
        import asyncio

        task = asyncio.ensure_future(_awaited(given))
        self.tasks[source] = task
        self.pending[task] = [link]
        return ()

    def keep(self, node: ComponentCall | AsyncNode, given: Any, link: _Link) -> tuple[Child, ...]:
        """Spread what a node gave, and keep it."""
        try:
            inside = spread(given, node.name)
        except Exception as error:
            add_path(error, path_of(link))
            raise
        self.expansions.results[id(node)] = inside
        return inside

    def finish(self, task: asyncio.Task[Any]) -> None:
        """Take the result of a task; raises what it raised."""
        links = self.pending.pop(task)
        try:
            given = task.result()
        except BaseException as error:
            add_path(error, path_of(links[0]))
            raise
        for source, known in self.tasks.items():
            if known is task:
                self.results[source] = given
        for link in links:
            node = link[2]
            assert isinstance(node, (ComponentCall, AsyncNode))
            if id(node) not in self.expansions.results:
                inside = self.keep(node, given, link)
                self.walk(inside, (link[0], link[1], link[2], link[3] + 1))


async def _awaited(given: Any) -> Any:
    return await given


def path_of(link: _Link | None) -> str:
    """The path from the root of a node that was met."""
    steps: list[str] = []
    while link is not None:
        steps.append(segment(link[1], link[2]))
        link = link[0]
    return " > ".join(["root", *reversed(steps)])
