"""Async nodes: concurrent, once per render, placed by position; the first failure ends the rest."""

from __future__ import annotations

import asyncio
import gc
import time
import warnings
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from priompt_py import (
    Node,
    PromptError,
    acompile_prompt,
    arender,
    component,
    empty,
    first,
    render,
    scope,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()
pytestmark = pytest.mark.anyio


async def text_of(node: Node, limit: int = 99) -> str | None:
    return (await arender(node, token_limit=limit, tokenizer=CHARS)).text


def after(
    delay: float, result: Node, log: list[str] | None = None
) -> Callable[[], Coroutine[Any, Any, Node]]:
    async def node() -> Node:
        if log is not None:
            log.append(f"start {result}")
        await asyncio.sleep(delay)
        if log is not None:
            log.append(f"end {result}")
        return result

    return node


async def test_results_stand_where_their_nodes_stand() -> None:
    log: list[str] = []
    tree: Node = ["<", after(0.02, "a", log), scope[after(0.01, "b", log)], after(0, "c", log), ">"]
    assert await text_of(tree) == "<abc>"
    assert log[:3] == ["start a", "start b", "start c"]
    assert log[3:] == ["end c", "end b", "end a"]


async def test_they_run_at_the_same_time() -> None:
    tree: Node = [after(0.2, "x") for _ in range(10)]
    began = time.monotonic()
    assert await text_of(tree) == "x" * 10
    assert time.monotonic() - began < 1.5


async def test_each_runs_once_per_render() -> None:
    calls: list[int] = []

    @component
    async def noted(children: list[Node]) -> Node:
        calls.append(len(calls))
        await asyncio.sleep(0)
        return [children, first[scope(p=1)["a long one"], "b"]]

    tree: Node = [noted()["x"], scope(p=2)["y"]]
    assert await text_of(tree, 3) == "xby"
    assert len(calls) == 1
    assert await text_of(tree, 12) == "xa long oney"
    assert len(calls) == 2


async def test_what_an_async_node_returns_may_hold_others() -> None:
    async def outer() -> Node:
        await asyncio.sleep(0)
        return ["(", after(0, "in"), scope(p=1)[after(0, "!")], ")"]

    assert await text_of(outer) == "(in!)"
    assert await text_of(outer, 4) == "(in)"


async def test_the_first_failure_is_raised_itself_and_ends_the_rest() -> None:
    fate: list[str] = []

    async def sleeper() -> Node:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            fate.append("cancelled")
            raise
        return "late"

    async def failing() -> Node:
        await asyncio.sleep(0)
        raise ValueError("boom")

    began = time.monotonic()
    with pytest.raises(ValueError, match="boom") as caught:
        await arender(user_message[sleeper, scope[failing], after(0, "ok")], token_limit=99)
    assert time.monotonic() - began < 1
    assert type(caught.value) is ValueError
    assert caught.value.args == ("boom",)
    assert fate == ["cancelled"]
    assert any("root > 0:user > 1:scope > 0:failing" in note for note in caught.value.__notes__)


async def test_the_sync_door_refuses_and_leaves_no_warning() -> None:
    async def node() -> Node:
        return "a"

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        trees: list[Node] = [[node()], [scope[node()], node], scope(p=1)[node()]]
        for tree in trees:
            with pytest.raises(PromptError, match="arender"):
                render(tree, token_limit=9, tokenizer=CHARS)
            del tree
        del trees
        gc.collect()
    assert [str(each.message) for each in warned] == []


async def test_a_failure_leaves_no_warning() -> None:
    async def failing() -> Node:
        raise KeyError("gone")

    async def other() -> Node:
        return "a"

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(KeyError):
            await arender([failing(), other(), scope[other()]], token_limit=9, tokenizer=CHARS)
        gc.collect()
        await asyncio.sleep(0)
    assert [str(each.message) for each in warned] == []


async def test_a_coroutine_can_be_used_once() -> None:
    async def once() -> Node:
        return "a"

    tree: Node = [once()]
    assert await text_of(tree) == "a"
    with pytest.raises(PromptError, match="once"):
        await text_of(tree)


async def test_an_async_function_can_be_used_again() -> None:
    async def again() -> Node:
        return "a"

    assert [await text_of([again, again]) for _ in range(2)] == ["aa", "aa"]


async def test_a_program_holds_what_its_async_nodes_gave() -> None:
    calls: list[str] = []

    async def noted() -> Node:
        calls.append("called")
        return ["a", scope(p=1)["b"]]

    program = await acompile_prompt([noted])
    assert [program.render(token_limit=limit, tokenizer=CHARS).text for limit in (1, 2)] == ["a", "ab"]
    assert calls == ["called"]


async def test_a_reserve_may_be_async() -> None:
    async def size(count: Callable[[str], int]) -> int:
        await asyncio.sleep(0)
        return count("abc")

    tree: Node = ["a", empty(tokens=size), scope(p=1)["b"]]
    found = await arender(tree, token_limit=4, tokenizer=CHARS)
    assert (found.text, found.tokens_reserved) == ("a", 3)
    with pytest.raises(PromptError, match="arender"):
        render(tree, token_limit=4, tokenizer=CHARS)


async def test_callbacks_may_be_async() -> None:
    log: list[str] = []

    def note(word: str) -> Callable[[], Awaitable[None]]:
        async def called() -> None:
            await asyncio.sleep(0)
            log.append(word)

        return called

    tree: Node = ["a", scope(p=2, on_include=note("in"))["b"], scope(p=1, on_eject=note("out"))["ccc"]]
    await arender(tree, token_limit=2, tokenizer=CHARS)
    assert log == ["in", "out"]


async def test_cancelling_a_render_cancels_its_nodes() -> None:
    fate: list[str] = []

    async def sleeper() -> Node:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            fate.append("cancelled")
            raise
        return "late"

    task = asyncio.create_task(arender([sleeper(), scope[sleeper()]], token_limit=9, tokenizer=CHARS))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fate == ["cancelled", "cancelled"]
