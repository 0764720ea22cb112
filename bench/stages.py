"""The engine's steps one by one, for the suites: the only place in ``bench`` that looks behind the public face."""

from __future__ import annotations

from itertools import compress
from typing import NamedTuple

from bench.exactness import count_at
from bench.shapes import ENCODING, Data, build
from priompt_py.author.children import spread
from priompt_py.engine.assemble import Assembled, assemble
from priompt_py.engine.compile import compile_tree
from priompt_py.engine.expand import Expansions
from priompt_py.engine.presence import CostOp
from priompt_py.engine.pricing import Pricing
from priompt_py.engine.solve import Solution, solve
from priompt_py.face.settings import settle
from priompt_py.model.ops import Compiled, IsolateOp, Leaf

__all__ = ["Stage", "assembled", "bisect", "included", "solved", "stage"]


class Stage(NamedTuple):
    """A compiled prompt and what its render is made with."""

    compiled: Compiled
    pricing: Pricing
    limit: int


def stage(data: Data) -> Stage:
    """A tree, compiled; its costs, with nothing counted yet."""
    settings = settle(
        token_limit=data.limit,
        tokenizer=ENCODING,
        model=None,
        chat_format=None,
        last_message_incomplete=False,
        pair_tools=True,
        cache=None,
    )
    pricing = Pricing(
        tokenizer=settings.tokenizer,
        chat_format=settings.chat_format,
        tool_family=settings.tool_family,
        image_family=settings.image_family,
    )
    return Stage(compile_tree(spread(build(data), "root"), Expansions()), pricing, data.limit)


def solved(given: Stage) -> Solution:
    """The search, with the assembly at its end."""
    return solve(given.compiled, given.limit, given.pricing)


def included(given: Stage, solution: Solution) -> list[Leaf]:
    """The leaves that are in, of a prompt without isolates."""
    part = solution.parts[0]
    assert part is not None
    leaves = compress(given.compiled.ops.leaves, part.on)
    return [leaf for leaf in leaves if not isinstance(leaf, CostOp | IsolateOp)]


def assembled(given: Stage, leaves: list[Leaf]) -> Assembled:
    """The assembly alone."""
    return assemble(leaves, given.pricing, is_chat=given.compiled.is_chat)


def bisect(data: Data, levels: list[int]) -> int:
    """The old way: halve the levels, put each candidate's text together and count the whole; levels ascend."""
    low, high = -1, len(levels) - 1
    while low < high - 1:
        middle = (low + high) // 2
        if count_at(data, levels[middle]) > data.limit:
            low = middle
        else:
            high = middle
    return levels[high]
