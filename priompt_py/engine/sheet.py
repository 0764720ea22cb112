"""From compiled ops to a presence under one limit: maxes, isolates, tool units and what costs by itself.

Compiled intervals hold for the level that their max is taken at; here they become cutoffs of the
prompt. Then tool units are closed, and costs that belong to no leaf are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import attrs

from priompt_py.engine.closed import Closed, OverLimit, closed_piece
from priompt_py.engine.costs import chat_costs, close_units, tool_costs
from priompt_py.engine.cutoff_sets import Sets
from priompt_py.engine.presence import CostOp, Presence, Timeline
from priompt_py.engine.pricing import Piece, Pricing
from priompt_py.engine.recall import Recall
from priompt_py.engine.regions import carry_regions, innermost_region, is_required
from priompt_py.model.elements import Message, Number
from priompt_py.model.ops import NEVER, MessageStart, Ops

__all__ = ["Sheet", "make_sheet"]

_MESSAGES = frozenset({Message, MessageStart})


@attrs.define(eq=False)
class Sheet:
    """A presence ready for the search, with the pieces of its leaves that are not text.

    ``region_fits[k]`` are the ascending levels that fit region k's ceiling, None where the max counts
    as out. ``levels`` are declared priorities that may not show in the presence, with repeats.
    """

    presence: Presence
    special: dict[int, Piece]
    levels: Sequence[Number]
    region_fits: Sequence[Sequence[Number] | None] = ()
    timeline: Timeline | None = None


def make_sheet(
    ops: Ops,
    pricing: Pricing,
    closed: dict[int, Closed],
    region_limits: Sequence[int],
    *,
    chat_cost: int,
    pair_tools: bool,
    recall: Recall | None = None,
) -> Sheet:
    """The sheet of a prompt, or of the inside of an isolate.

    ``closed`` are the solved isolates by leaf; ``region_limits`` the ceilings in tokens; ``chat_cost``
    what a chat costs besides its messages; ``recall`` what is remembered of a prompt's maxes. Raises OverLimit.
    """
    if (
        not ops.regions
        and not (ops.lows and ops.has_messages)
        and not (pair_tools and ops.units)
        and not ops.isolates
        and not ops.tools
    ):
        return _plain_sheet(ops, chat_cost)
    sets = Sets(ops.highs, ops.lows)
    special: dict[int, Piece] = {}
    for index, inner in closed.items():
        special[index] = closed_piece(inner, pricing)
        if inner.too_big is not None:
            sets.put(index, ())
    region_fits = carry_regions(ops, sets, special, pricing, region_limits, closed, recall)
    for index, inner in closed.items():
        if inner.too_big is not None and is_required(
            ops,
            ops.lows.get(index, NEVER),
            ops.highs[index],
            innermost_region(ops, index),
            region_fits,
        ):
            raise OverLimit(inner.too_big)
    if pair_tools and ops.units:
        close_units(ops, sets, closed)
    extra = [
        *chat_costs(ops, sets, closed, chat_cost),
        *tool_costs(ops.tools, ops.leaves, sets, closed, pricing),
    ]
    presence = sets.presence(ops.leaves, extra, special)
    levels: list[Number] = ops.levels
    if sets.changed or ops.regions:
        levels = [
            *ops.levels,
            *ops.highs,
            *(level for region in ops.regions for level in region.levels),
        ]
    return Sheet(presence, special, levels, region_fits)


def _plain_sheet(ops: Ops, chat_cost: int) -> Sheet:
    """The sheet of ops whose intervals hold as they were compiled: the usual case, kept with the ops."""
    known = ops.known.get(chat_cost)
    if isinstance(known, Sheet):
        return known
    if not ops.has_messages or not chat_cost:
        sheet = Sheet(
            Presence(ops.leaves, ops.highs, ops.lows, only_text=ops.only_text),
            {},
            ops.levels,
        )
    else:
        leaves = [*ops.leaves, CostOp(chat_cost)]
        high = max(compress(ops.highs, map(_MESSAGES.__contains__, map(type, ops.leaves))))
        presence = Presence(leaves, [*ops.highs, high], ops.lows, only_text=False)
        sheet = Sheet(presence, {len(leaves) - 1: Piece("", chat_cost, open=True)}, ops.levels)
    ops.known[chat_cost] = sheet
    return sheet
