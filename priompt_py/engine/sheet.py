"""From compiled ops to a presence under one limit: maxes, isolates, tool units and what costs by itself.

Compiled intervals hold for the level that their max is taken at; here they become cutoffs of the
prompt: innermost first, each max's levels that fit its ceiling are found, and the intervals inside
are carried through them. Then tool units are closed, and costs that belong to no leaf are added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress

import attrs

from priompt_py.engine.cutoff import smallest_fit
from priompt_py.engine.intervals import CutoffSet, intersect, through_levels, union
from priompt_py.engine.presence import CostOp, Presence, Timeline
from priompt_py.engine.pricing import Piece, Pricing
from priompt_py.engine.recall import Recall
from priompt_py.engine.structure import partners, same_tool
from priompt_py.engine.walker import Walker, measure_text
from priompt_py.errors import TokenizerError
from priompt_py.model.elements import BASE_PRIORITY, Message, Number
from priompt_py.model.ops import (
    NEVER,
    CallsOp,
    ImageOp,
    Leaf,
    MaxRegion,
    MessageStart,
    Ops,
    PartOp,
    ReserveOp,
    ToolOp,
)

__all__ = [
    "Closed",
    "OverLimit",
    "Sheet",
    "TooBig",
    "innermost_region",
    "make_sheet",
    "next_change",
]


_MESSAGES = frozenset({Message, MessageStart})


@attrs.define(eq=False)
class TooBig:
    """What to say of something over its own limit: ``tokens`` needed, ``reserved`` besides."""

    path: str
    tokens: int
    reserved: int
    limit: int
    fixed: bool  # whether that limit is a number of its own, not a share of another


class OverLimit(Exception):
    """Raised within the engine where something required is over its own limit."""

    def __init__(self, what: TooBig) -> None:
        super().__init__(what.path)
        self.what = what


@attrs.define(eq=False)
class Closed:
    """A solved isolate: its leaves that are in, in order, nested isolates' included.

    ``too_big`` says why it counts as out: nothing in it fits its relative limit.
    """

    leaves: list[Leaf]
    too_big: TooBig | None = None


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
    sets = _Sets(ops.highs, ops.lows)
    special: dict[int, Piece] = {}
    for index, inner in closed.items():
        special[index] = _closed_piece(inner, pricing)
        if inner.too_big is not None:
            sets.put(index, ())
    region_fits = _carry_regions(ops, sets, special, pricing, region_limits, closed, recall)
    for index, inner in closed.items():
        if inner.too_big is not None and _is_required(
            ops,
            ops.lows.get(index, NEVER),
            ops.highs[index],
            innermost_region(ops, index),
            region_fits,
        ):
            raise OverLimit(inner.too_big)
    if pair_tools and ops.units:
        _close_units(ops, sets, closed)
    extra = [
        *_chat_costs(ops, sets, closed, chat_cost),
        *_tool_costs(ops.tools, ops.leaves, sets, closed, pricing),
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


class _Sets:
    """The intervals of leaves while they change, kept as :class:`Presence` keeps them."""

    def __init__(self, highs: Sequence[Number], lows: dict[int, Number]) -> None:
        self.highs: list[Number] = list(highs)
        self.lows: dict[int, Number] = dict(lows)
        self.more: dict[int, list[tuple[Number, Number]]] = {}
        self.changed = False

    def slice(self, start: int, stop: int) -> _Sets:
        """The sets of some leaves, numbered from 0."""
        part = _Sets(self.highs[start:stop], {})
        for index in range(start, stop):
            if index in self.lows:
                part.lows[index - start] = self.lows[index]
            if index in self.more:
                part.more[index - start] = self.more[index]
        return part

    def get(self, index: int) -> list[tuple[Number, Number]]:
        low, high = self.lows.get(index, NEVER), self.highs[index]
        return [*self.more.get(index, ()), (low, high)] if low < high else []

    def put(self, index: int, intervals: CutoffSet) -> None:
        self.changed = True
        self.more.pop(index, None)
        self.lows.pop(index, None)
        if not intervals:
            self.highs[index] = NEVER
            return
        low, high = intervals[-1]
        self.highs[index] = high
        if low != NEVER:
            self.lows[index] = low
        if len(intervals) > 1:
            self.more[index] = list(intervals[:-1])

    def limit_to(self, indexes: Iterable[int], allowed: CutoffSet) -> None:
        """Take leaves out at all cutoffs but the allowed ones."""
        for index in indexes:
            own = self.get(index)
            kept = intersect(own, allowed)
            if kept != own:
                self.put(index, kept)

    def presence(
        self,
        leaves: Sequence[Leaf],
        extra: Sequence[tuple[CutoffSet, int]],
        special: dict[int, Piece],
    ) -> Presence:
        """The presence of the leaves and of further costs behind them, whose pieces go into ``special``."""
        changed = self.changed
        for intervals, tokens in extra:
            self.highs.append(NEVER)
            self.put(len(self.highs) - 1, intervals)
            special[len(self.highs) - 1] = Piece("", tokens, open=True)
        self.changed = changed
        everything = [*leaves, *(CostOp(tokens) for _, tokens in extra)]
        only_text = all(isinstance(leaf, str) for leaf in everything)
        return Presence(everything, self.highs, self.lows, only_text=only_text, more=self.more)


def _closed_piece(inner: Closed, pricing: Pricing) -> Piece:
    """A solved isolate as one piece: the text before its first separator, the text after its last one,
    and what lies between, counted. Tools and the chat's own cost are counted outside."""
    core = 0
    head: str | None = None
    texts: list[str] = []
    for leaf in inner.leaves:
        if isinstance(leaf, str):
            texts.append(leaf)
            continue
        core += pricing.cost(leaf)
        if leaf.separates:
            text = "".join(texts)
            texts = []
            if head is None:
                head = text
            else:
                core += pricing.count(text)
    text = "".join(texts)
    if head is None:
        first, inner_core, last = _at_cuts(text, pricing)
        if first == text:
            return Piece(text, core, open=True)
        return Piece(first, core + inner_core, last)
    first, head_core, rest = _at_cuts(head, pricing)
    before, tail_core, last = _at_cuts(text, pricing)
    if rest:
        head_core += pricing.count(rest)
    if before != text:  # what stands before the tail's first cut is after a separator
        tail_core += pricing.count(before)
    else:
        last = text
    return Piece(first, core + head_core + tail_core, last)


def _at_cuts(text: str, pricing: Pricing) -> tuple[str, int, str]:
    """A text up to its first safe cut, the tokens between that and its last one, and the text after that;
    all of it and nothing more where it has no cut."""
    piece = measure_text(text, pricing, len(text))
    if piece.open:
        return text, 0, ""
    end = len(text) - len(piece.tail)
    return piece.head, pricing.count(text[len(piece.head) : end]), piece.tail


def _carry_regions(
    ops: Ops,
    sets: _Sets,
    special: dict[int, Piece],
    pricing: Pricing,
    limits: Sequence[int],
    closed: dict[int, Closed],
    recall: Recall | None,
) -> list[list[Number] | None]:
    """Take each max, innermost first, at the level that fits its ceiling."""
    fits: list[list[Number] | None] = [None] * len(ops.regions)
    late: list[tuple[MaxRegion, TooBig]] = []
    inside: dict[int, list[Number]] = {}
    for number in range(len(ops.regions) - 1, -1, -1):
        region = ops.regions[number]
        levels = _levels_inside(ops, number, inside)
        found = _fitting_levels(ops, number, sets, special, pricing, closed, levels, limits[number], recall)
        if isinstance(found, TooBig):
            if found.fixed:
                raise OverLimit(found)
            late.append((region, found))
            for index in range(region.start, region.end):
                sets.put(index, ())
            continue
        fits[number] = found
        outer: CutoffSet = [(region.low, region.high)] if region.low < region.high else []
        for index in range(region.start, region.end):
            sets.put(index, intersect(through_levels(sets.get(index), found), outer))
    for region, too_big in late:
        if _is_required(ops, region.low, region.high, region.parent, fits):
            raise OverLimit(too_big)
    return fits


def innermost_region(ops: Ops, index: int) -> int | None:
    """The number of the innermost max around a leaf."""
    around = None
    for number, region in enumerate(ops.regions):
        if region.start <= index < region.end:
            around = number
    return around


def _is_required(
    ops: Ops,
    low: Number,
    high: Number,
    region: int | None,
    fits: Sequence[Sequence[Number] | None],
) -> bool:
    """Whether what has this interval within this max is in when the cutoff is the base."""
    while low < BASE_PRIORITY <= high:
        if region is None:
            return True
        if fits[region] is None:
            return False
        around = ops.regions[region]
        low, high, region = around.low, around.high, around.parent
    return False


def _levels_inside(ops: Ops, number: int, inner: dict[int, list[Number]]) -> list[Number]:
    """The declared priorities of the scopes inside a max, and the base: ascending, none above the base.

    ``inner`` holds what was found for the maxes directly inside, and takes this one's.
    """
    region = ops.regions[number]
    levels: set[Number] = {
        BASE_PRIORITY,
        *ops.highs[region.start : region.end],
        *region.levels,
    }
    levels.update(inner.pop(number, ()))
    found = sorted({min(level, BASE_PRIORITY) for level in levels if level != NEVER})
    if region.parent is not None:
        inner.setdefault(region.parent, []).extend(found)
    return found


def _fitting_levels(
    ops: Ops,
    number: int,
    sets: _Sets,
    special: dict[int, Piece],
    pricing: Pricing,
    closed: dict[int, Closed],
    levels: Sequence[Number],
    limit: int,
    recall: Recall | None,
) -> list[Number] | TooBig:
    """The ascending levels at which the content of a max costs at most its ceiling, counted alone; with memory,
    those of them that it may be taken at."""
    region = ops.regions[number]
    start, stop = region.start, region.end
    leaves = ops.leaves[start:stop]
    part = sets.slice(start, stop)
    pieces = {index - start: special[index] for index in range(start, stop) if index in special}
    moved = {index - start: closed[index] for index in range(start, stop) if index in closed}
    tools = [index - start for index in ops.tools if start <= index < stop]
    extra = _tool_costs(tools, leaves, part, moved, pricing)
    presence = part.presence(leaves, extra, pieces)
    walker = Walker(presence, presence.timeline(), pieces, pricing, limit)
    walker.place(BASE_PRIORITY)
    base = walker.recount()
    if base > limit:
        reserved = sum(
            pricing.cost(leaf)
            for leaf, on in zip(leaves, walker.on, strict=False)
            if on and isinstance(leaf, ReserveOp)
        )
        return TooBig(
            region.path,
            base - reserved,
            reserved,
            limit,
            fixed=not isinstance(region.limit, str),
        )
    lowest = smallest_fit(walker)
    if lowest is None:  # the base fits, counted as a whole
        raise TokenizerError(
            f"the counts of {pricing.tokenizer.name!r} don't add up at the places that its safe_cuts name; "
            "declare fewer of them, or none"
        )
    # Levels below show what the lowest fitting one shows until something changes; then none fits.
    fitting: list[tuple[Number, int]] = []
    floor = next_change(walker)
    for level in levels:
        if floor is not None and level <= floor:
            continue
        if level > lowest:
            walker.go(level)
        if walker.fits:
            fitting.append((level, walker.total))
    if recall is None or floor is None:  # a max that everything is in of remembers nothing
        return [level for level, _ in fitting]
    at_remembered: int | None = None
    remembered = recall.remembered(region.path)
    if remembered is not None:
        walker.place(remembered)
        walker.recount()
        at_remembered = walker.total if walker.fits else None
    return recall.max_levels(region.path, fitting, at_remembered, limit)


def next_change(walker: Walker) -> Number | None:
    """The highest level below the walker's at which something changes; None at the bottom."""
    line = walker.timeline
    below = [
        levels[at]
        for levels, at in (
            (line.in_levels, walker.in_at),
            (line.out_levels, walker.out_at),
        )
        if at < len(levels)
    ]
    return max(below) if below else None


def _close_units(ops: Ops, sets: _Sets, closed: dict[int, Closed]) -> None:
    """Tool calls and results are in together or not at all."""
    allowed: dict[int, list[CutoffSet]] = defaultdict(list)
    for record, answers in partners(ops):
        together: CutoffSet = sets.get(record.start) if record.present else ()
        for results in answers.values():
            together = intersect(together, union(sets.get(r.start) for r in results if r.present))
        for results in answers.values():
            for result in results:
                allowed[id(result)].append(together)
        if record.present:
            span = range(record.start, record.end + 1)
            shows = union(sets.get(i) for i in span if _is_visible(ops.leaves[i], closed.get(i)))
            for index in span:
                leaf = ops.leaves[index]
                if isinstance(leaf, CallsOp) and not leaf.legacy:
                    sets.limit_to((index,), together)
            sets.limit_to(span, union((together, shows)))
    for record in ops.units:
        if record.message.role == "tool" and record.present:
            sets.limit_to(range(record.start, record.end + 1), union(allowed.get(id(record), ())))


def _is_visible(leaf: Leaf, inner: Closed | None) -> bool:
    """Whether a message with this leaf in is not blank."""
    if isinstance(leaf, str):
        return bool(leaf.strip())
    if inner is not None:
        return any(_is_visible(one, None) for one in inner.leaves)
    return isinstance(leaf, (ImageOp, PartOp)) or (isinstance(leaf, CallsOp) and leaf.legacy)


def _chat_costs(ops: Ops, sets: _Sets, closed: dict[int, Closed], cost: int) -> list[tuple[CutoffSet, int]]:
    """What a chat costs besides its messages, once, wherever a message is in."""
    if not cost:
        return []
    starts = [sets.get(i) for i, leaf in enumerate(ops.leaves) if isinstance(leaf, (Message, MessageStart))]
    starts += [
        sets.get(index)
        for index, inner in closed.items()
        if any(isinstance(leaf, (Message, MessageStart)) for leaf in inner.leaves)
    ]
    intervals = union(starts)
    return [(intervals, cost)] if intervals else []


def _tool_costs(
    tools: Sequence[int],
    leaves: Sequence[Leaf],
    sets: _Sets,
    closed: dict[int, Closed],
    pricing: Pricing,
) -> list[tuple[CutoffSet, int]]:
    """What tools cost: each name once, and the closing once, wherever a tool is in."""
    groups: list[tuple[ToolOp, list[CutoffSet]]] = []
    by_name: dict[str, list[int]] = defaultdict(list)

    def add(op: ToolOp, intervals: CutoffSet) -> None:
        for number in by_name[op.element.name]:
            if same_tool(groups[number][0].element, op.element):
                groups[number][1].append(intervals)
                return
        by_name[op.element.name].append(len(groups))
        groups.append((op, [intervals]))

    for index in tools:
        leaf = leaves[index]
        if isinstance(leaf, ToolOp):
            add(leaf, sets.get(index))
    for index, inner in closed.items():
        for leaf in inner.leaves:
            if isinstance(leaf, ToolOp):
                add(leaf, sets.get(index))
    costs: list[tuple[CutoffSet, int]] = []
    for op, intervals in groups:
        if together := union(intervals):
            costs.append((together, pricing.tool(op)))
    if costs and (closing := pricing.tools_closing()):
        costs.append((union(intervals for intervals, _ in costs), closing))
    return costs
