"""The four in a row: sheet, search, proof of what to say where nothing fits, assembly."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import attrs

from priompt_py.engine.assemble import Assembled, assemble
from priompt_py.engine.closed import Closed, OverLimit, TooBig
from priompt_py.engine.cutoff import smallest_fit
from priompt_py.engine.presence import NO_TIMELINE
from priompt_py.engine.pricing import Piece, Pricing
from priompt_py.engine.recall import Recall
from priompt_py.engine.regions import innermost_region, next_change
from priompt_py.engine.sheet import Sheet, make_sheet
from priompt_py.engine.walker import Walker, included
from priompt_py.errors import PromptTooLong
from priompt_py.model.elements import BASE_PRIORITY, Message, Number
from priompt_py.model.limits import resolve_limit
from priompt_py.model.memory import Memory
from priompt_py.model.ops import NEVER, Compiled, IsolateOp, Leaf, MessageStart, Ops, ReserveOp

__all__ = ["Solution", "Solved", "solve"]

_ENOUGH = (
    6  # characters for each token of the limit: what a part of a timeline should reach to, some to spare
)

Largest = Callable[[], Sequence[tuple[str, int]]]


@attrs.define(eq=False)
class Solved:
    """One prompt, or the inside of one isolate, at the cutoff that was found for it."""

    sheet: Sheet
    cutoff: Number
    on: bytearray
    total: int


@attrs.define(eq=False)
class Solution:
    """A solved tree: the prompt first, then its isolates in document order (None: counts as out)."""

    parts: list[Solved | None]
    assembled: Assembled
    cutoff: Number
    total: int
    memory: Memory


def solve(
    compiled: Compiled,
    token_limit: int,
    pricing: Pricing,
    *,
    pair_tools: bool = True,
    largest: Largest = tuple,
    recall: Recall | None = None,
) -> Solution:
    """Find the smallest cutoff of a compiled prompt under a limit, and assemble what is in at it.

    With ``recall`` it is the cutoff that its rules give, and is noted in it. ``largest`` names the largest required parts for the message of PromptTooLong, which is raised
    where no level fits, or where something required is over a limit of its own.
    """
    nested = list(compiled.ops.nested())
    limits, ceilings = _limits(nested, token_limit)
    isolates = {
        id(leaf.ops): leaf
        for ops in nested
        for index in ops.isolates
        if isinstance(leaf := ops.leaves[index], IsolateOp)
    }
    closed: dict[int, Closed] = {}
    solved: dict[int, Solved | None] = {}
    try:
        for ops in reversed(nested[1:]):
            solved[id(ops)] = _solve_isolate(
                ops, isolates, pricing, limits, ceilings, closed, pair_tools=pair_tools
            )
        root = compiled.ops
        cost = (
            pricing.chat_format.chat_cost(1, incomplete=pricing.last_message_incomplete)
            if compiled.is_chat
            else 0
        )
        sheet = make_sheet(
            root,
            pricing,
            _by_leaf(root, closed),
            ceilings[id(root)],
            chat_cost=cost,
            pair_tools=pair_tools,
            recall=recall,
        )
    except OverLimit as error:
        raise _own_limit(error.what, compiled) from None
    part = _search(sheet, pricing, token_limit, recall)
    if part is None:
        least, reserved = _least(sheet, root, pricing, closed)
        raise PromptTooLong(
            token_count=least - reserved,
            tokens_reserved=reserved,
            token_limit=token_limit,
            required_limit=None if compiled.has_relative_limits else least,
            largest=largest(),
        )
    solved[id(root)] = part
    assembled = assemble(_included(root, part.on, closed), pricing, is_chat=compiled.is_chat)
    memory = Memory() if recall is None else recall.memory()
    return Solution([solved[id(ops)] for ops in nested], assembled, part.cutoff, part.total, memory)


def _limits(nested: Sequence[Ops], token_limit: int) -> tuple[dict[int, int], dict[int, list[int]]]:
    """The limit of each ops, and the ceilings of its maxes, outermost first: shares are of these."""
    limits = {id(nested[0]): token_limit}
    ceilings: dict[int, list[int]] = {}
    for ops in nested:
        own: list[int] = []
        for region in ops.regions:
            around = limits[id(ops)] if region.parent is None else own[region.parent]
            own.append(resolve_limit(region.limit, around))
        ceilings[id(ops)] = own
        for index in ops.isolates:
            leaf = ops.leaves[index]
            assert isinstance(leaf, IsolateOp)
            number = innermost_region(ops, index)
            around = limits[id(ops)] if number is None else own[number]
            limits[id(leaf.ops)] = resolve_limit(leaf.limit, around)
    return limits, ceilings


def _by_leaf(ops: Ops, closed: dict[int, Closed]) -> dict[int, Closed]:
    """The solved isolates of one ops by leaf."""
    found: dict[int, Closed] = {}
    for index in ops.isolates:
        leaf = ops.leaves[index]
        assert isinstance(leaf, IsolateOp)
        found[index] = closed[id(leaf.ops)]
    return found


def _solve_isolate(
    ops: Ops,
    isolates: dict[int, IsolateOp],
    pricing: Pricing,
    limits: dict[int, int],
    ceilings: dict[int, list[int]],
    closed: dict[int, Closed],
    *,
    pair_tools: bool,
) -> Solved | None:
    """Solve the inside of an isolate; its isolates are solved already. None if it counts as out."""
    limit = limits[id(ops)]
    inner = _by_leaf(ops, closed)
    cost = pricing.chat_format.chat_cost(1) if _has_message(ops, inner) else 0
    isolate = isolates[id(ops)]
    fixed = not isinstance(isolate.limit, str)
    try:
        sheet = make_sheet(
            ops,
            pricing,
            inner,
            ceilings[id(ops)],
            chat_cost=cost,
            pair_tools=pair_tools,
        )
    except OverLimit as error:
        if fixed or error.what.fixed:
            raise
        closed[id(ops)] = Closed([], error.what)  # something required in it is over: it fits at no level
        return None
    part = _search(sheet, pricing, limit)
    if part is not None:
        closed[id(ops)] = Closed(list(_included(ops, part.on, closed)))
        return part
    least, reserved = _least(sheet, ops, pricing, closed)
    too_big = TooBig(isolate.path, least - reserved, reserved, limit, fixed)
    if fixed:
        raise OverLimit(too_big)
    closed[id(ops)] = Closed([], too_big)
    return None


def _has_message(ops: Ops, inner: dict[int, Closed]) -> bool:
    return ops.has_messages or any(
        isinstance(leaf, (Message, MessageStart)) for one in inner.values() for leaf in one.leaves
    )


def _search(sheet: Sheet, pricing: Pricing, limit: int, recall: Recall | None = None) -> Solved | None:
    """The smallest declared level that fits, or what ``recall`` says instead; None if no level fits."""
    foreign = frozenset[Number]() if recall is None else recall.foreign(sheet.levels)
    pieces = dict(sheet.special)
    found = _smallest(sheet, pricing, limit, pieces, foreign)
    if found is None or recall is None:
        return None if found is None else found[0]
    exact, is_lowest = found
    if is_lowest:  # everything fits: nothing is remembered
        return exact
    previous, solved = recall.previous, exact
    if previous is not None:
        if previous.cutoff is not None:
            stays = _at(sheet, pricing, limit, pieces, previous.cutoff)
            if stays is not None and recall.stays(stays.total, limit):
                recall.cutoff = stays.cutoff
                return stays
        smaller = _smallest(sheet, pricing, recall.kept(limit), pieces, foreign)
        solved = exact if smaller is None else smaller[0]
    recall.cutoff = solved.cutoff
    return solved


def _smallest(
    sheet: Sheet, pricing: Pricing, limit: int, pieces: dict[int, Piece], foreign: frozenset[Number]
) -> tuple[Solved, bool] | None:
    """The smallest declared level that fits, and whether it is the lowest of all; None if none fits.

    ``pieces`` were measured under this limit or a greater one, and take what is measured now.
    ``foreign`` are numbers at which something changes, since a max takes them, but which no scope declares.
    """
    timeline = sheet.timeline
    if timeline is None:
        timeline = sheet.presence.timeline(_ENOUGH * limit)
    walker = Walker(sheet.presence, timeline, sheet.special, pricing, limit, pieces)
    level = smallest_fit(walker)
    sheet.timeline = walker.timeline
    if level is None:
        return None
    floor = next_change(walker)
    cutoff = level
    for declared in sheet.levels:
        if NEVER < declared < cutoff and (floor is None or declared > floor):
            cutoff = declared
    if cutoff not in foreign:
        return Solved(sheet, cutoff, walker.on, walker.total), floor is None
    levels = sorted({min(one, BASE_PRIORITY) for one in (*sheet.levels, BASE_PRIORITY) if one != NEVER})
    for declared in levels[bisect_left(levels, cutoff) :]:
        solved = _at(sheet, pricing, limit, pieces, declared)
        if solved is not None:
            return solved, declared == levels[0]
    return None


def _at(
    sheet: Sheet, pricing: Pricing, limit: int, pieces: dict[int, Piece], cutoff: Number
) -> Solved | None:
    """The prompt at a cutoff, level or not; None if it is over the limit."""
    walker = Walker(sheet.presence, NO_TIMELINE, sheet.special, pricing, limit, pieces)
    walker.place_at(cutoff)
    walker.recount(walker.most)  # far below what fits there may be very much
    return Solved(sheet, cutoff, walker.on, walker.total) if walker.fits else None


def _included(ops: Ops, on: bytearray, closed: dict[int, Closed]) -> Iterator[Leaf]:
    """The leaves that are in, the isolates replaced by theirs."""
    leaves = included(ops.leaves, on[: len(ops.leaves)])  # further flags are of costs that belong to no leaf
    return _opened(leaves, closed) if ops.isolates else leaves


def _opened(leaves: Iterator[Leaf], closed: dict[int, Closed]) -> Iterator[Leaf]:
    for leaf in leaves:
        if isinstance(leaf, IsolateOp):
            yield from closed[id(leaf.ops)].leaves
        else:
            yield leaf


def _least(sheet: Sheet, ops: Ops, pricing: Pricing, closed: dict[int, Closed]) -> tuple[int, int]:
    """The tokens of the level that needs least, reserves included, and what of them is reserved."""
    timeline = sheet.presence.timeline()
    walker = Walker(sheet.presence, timeline, sheet.special, pricing, sys.maxsize)
    walker.place(BASE_PRIORITY)
    best, on = walker.recount(), walker.on
    under = 0  # no level needs fewer tokens than this
    probe = best - 1
    while under < best:
        walker = Walker(sheet.presence, timeline, sheet.special, pricing, probe)
        if smallest_fit(walker) is None:
            under = probe + 1
        else:
            best, on = walker.total, walker.on
        probe = (under + best - 1) // 2
    reserved = sum(pricing.cost(leaf) for leaf in _included(ops, on, closed) if isinstance(leaf, ReserveOp))
    return best, reserved


def _own_limit(what: TooBig, compiled: Compiled) -> PromptTooLong:
    return PromptTooLong(
        token_count=what.tokens,
        tokens_reserved=what.reserved,
        token_limit=what.limit,
        required_limit=None if compiled.has_relative_limits else what.tokens + what.reserved,
        element=what.path,
    )
