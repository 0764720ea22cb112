"""Elements and programs in many threads and many coroutines: each limit has one right answer."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from priompt_py import (
    Node,
    Rendered,
    acompile_prompt,
    arender,
    assistant_message,
    at_most,
    compile_prompt,
    component,
    first,
    isolate,
    render,
    scope,
    tool_message,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()
SCOPES = 200


def letters() -> Node:
    """``A`` and 200 scopes of one character each, of rising priority."""
    return ["A", *(scope(p=i)[chr(0x4E00 + i)] for i in range(1, SCOPES + 1))]


def right(limit: int) -> str:
    """Under the limit L: ``A`` and the L - 1 highest scopes, in document order."""
    return "A" + "".join(chr(0x4E00 + i) for i in range(SCOPES - limit + 2, SCOPES + 1))


def assert_right(found: Rendered, limit: int) -> None:
    assert (found.text, found.token_count, found.token_limit) == (right(limit), limit, limit)


def limits(seed: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randint(1, SCOPES + 1) for _ in range(SCOPES)]


def test_one_tree_in_eight_threads() -> None:
    tree: Node = letters()

    def work(seed: int) -> int:
        for limit in limits(seed):
            assert_right(render(tree, token_limit=limit, tokenizer=CHARS), limit)
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


def test_one_program_in_eight_threads() -> None:
    program = compile_prompt(letters())

    def work(seed: int) -> int:
        for limit in limits(seed):
            assert_right(program.render(token_limit=limit, tokenizer=CHARS), limit)
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


def test_one_chat_of_every_kind_in_threads() -> None:
    shared = scope(prel=-1)["shared "]
    call = {"id": "c1", "name": "look", "arguments": "{}"}
    tree: Node = [
        isolate(token_limit="40%")[user_message["start ", shared, scope(p=1)["x" * 20]]],
        at_most(token_limit="50%")[
            scope(p=5)[user_message["old " * 4]], scope(p=6)[user_message["newer ", shared]]
        ],
        assistant_message(tool_calls=[call]),
        first[
            scope(p=2)[tool_message(tool_call_id="c1")["long result"]], tool_message(tool_call_id="c1")["-"]
        ],
        user_message["why?"],
    ]

    def one(limit: int) -> Rendered:
        return render(tree, token_limit=limit, tokenizer=CHARS)

    drawn = list(range(40, 120))
    one_by_one = [one(limit) for limit in drawn]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, drawn * 4))
    assert together == one_by_one * 4
    assert len({len(found.to_text()) for found in one_by_one}) >= 4


def test_one_tree_of_async_components_in_fifty_renders() -> None:
    async def letter(i: int) -> Node:
        await asyncio.sleep(0)
        return scope(p=i)[chr(0x4E00 + i)]

    @component
    async def all_letters(children: list[Node]) -> Node:
        await asyncio.sleep(0)
        return [children, [await letter(i) for i in range(1, SCOPES + 1)]]

    tree: Node = all_letters()["A"]

    async def everything() -> list[Rendered]:
        return await asyncio.gather(
            *(arender(tree, token_limit=limit, tokenizer=CHARS) for limit in range(1, 51))
        )

    for limit, found in enumerate(asyncio.run(everything()), 1):
        assert_right(found, limit)


@pytest.mark.anyio
async def test_one_async_program_in_fifty_renders() -> None:
    async def some() -> Node:
        await asyncio.sleep(0)
        return letters()

    program = await acompile_prompt(some)
    found = await asyncio.gather(*(program.arender(token_limit=i, tokenizer=CHARS) for i in range(1, 51)))
    for limit, each in enumerate(found, 1):
        assert_right(each, limit)
