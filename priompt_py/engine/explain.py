"""What became of each element: made when somebody asks.

The tree is walked once more in the compiler's recording mode, which gives an entry for each element and text, and their
leaves are looked up in the solution.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress

import attrs

from priompt_py.engine.as_recorded import as_recorded
from priompt_py.engine.pricing import Pricing
from priompt_py.engine.solve import Solution, Solved
from priompt_py.engine.structure import path_of_entry, places
from priompt_py.model.elements import (
    BASE_PRIORITY,
    AsyncNode,
    Child,
    Container,
    Element,
    Excerpt,
    First,
    Message,
    Number,
)
from priompt_py.model.ops import (
    NEVER,
    CallsOp,
    Compiled,
    Entry,
    ImageOp,
    IsolateOp,
    Leaf,
    MessageEnd,
    MessageStart,
    Ops,
    PartOp,
    ReserveOp,
    ToolOp,
)
from priompt_py.model.outcome import Decision, Reason
from priompt_py.model.place import Place

__all__ = ["Explanation", "largest_required"]


@attrs.define(eq=False)
class Explanation:
    """A recorded walk beside the solution that it explains."""

    recorded: Compiled
    solution: Solution
    pricing: Pricing

    def __attrs_post_init__(self) -> None:
        nested = list(self.recorded.ops.nested())
        self._solved = {
            id(ops): part if part is None else as_recorded(part)
            for ops, part in zip(nested, self.solution.parts, strict=True)
        }
        self.places = places(self.recorded)

    places: list[Place] = attrs.field(init=False)
    _solved: dict[int, Solved | None] = attrs.field(init=False)

    def solved(self, ops: Ops) -> Solved | None:
        """What was found for the prompt, or for the inside of an isolate; None: that counts as out."""
        return self._solved[id(ops)]

    # -- decisions ----------------------------------------------------------------------------

    def reasons(self) -> list[Reason]:
        """For each entry, why it is in or out."""
        entries = self.recorded.entries
        reasons: list[Reason] = []
        for entry in entries:
            reasons.append(self._reason(entry, reasons))
        # A first is in if one of its alternatives is: settled from the inside outwards.
        chosen: set[int] = set()
        for number in range(len(entries) - 1, -1, -1):
            entry = entries[number]
            if isinstance(entry.element, First) and reasons[number] == "included" and number not in chosen:
                reasons[number] = "below_cutoff"
            if entry.is_alternative and reasons[number] == "included":
                chosen.add(entry.parent)
        return reasons

    def _reason(self, entry: Entry, before: Sequence[Reason]) -> Reason:
        if entry.parent >= 0 and before[entry.parent] != "included":
            return "parent_out"
        part = self._solved[id(entry.ops)]
        if part is None:
            return "parent_out"
        level, over = self._level(entry.ops, entry.region, part)
        if level is None:
            return "over_max"
        if entry.high < level:
            return "over_max" if over and entry.high >= part.cutoff else "below_cutoff"
        if entry.low >= level:
            return "not_chosen"
        if isinstance(entry.element, Message) and not part.on[entry.start]:
            return "pair_out"
        if entry.inner is not None and self._solved[id(entry.inner)] is None:
            return "over_max"
        if entry.kind == "max" and entry.opened is not None and part.sheet.region_fits[entry.opened] is None:
            return "over_max"
        return "included"

    def _level(self, ops: Ops, region: int | None, part: Solved) -> tuple[Number | None, bool]:
        """The level that a max takes its content at (the cutoff outside maxes), None where it is out; and
        whether a max raised it."""
        chain: list[int] = []
        while region is not None:
            chain.append(region)
            region = ops.regions[region].parent
        level: Number = part.cutoff
        for number in reversed(chain):
            fits = part.sheet.region_fits[number]
            if fits is None:
                return None, True
            level = fits[bisect_left(fits, level)]
        return level, bool(chain)

    def is_decided(self, entry: Entry) -> bool:
        """Whether there is a decision on an entry."""
        element = entry.element
        return self._is_piece(entry) or (isinstance(element, Element) and _is_decided(element))

    def decisions(self) -> list[tuple[Decision, Child]]:
        """The decisions in document order, each with what it is about: on all elements that hold others or have a
        priority or a label, on excerpts, and on the pieces of these."""
        made: list[tuple[Decision, Child]] = []
        for number, (entry, reason) in enumerate(zip(self.recorded.entries, self.reasons(), strict=True)):
            if self.is_decided(entry):
                made.append((self._decision(number, reason), entry.element))
        return made

    def decided(self, name: str) -> tuple[list[int], list[Decision]]:
        """The entries with this label or path, in document order: their numbers, and the decisions on them."""
        reasons = self.reasons()
        numbers = [
            number
            for number, (entry, place) in enumerate(zip(self.recorded.entries, self.places, strict=True))
            if entry.label == name or (name.endswith(place.step) and str(place) == name)
        ]
        return numbers, [self._decision(number, reasons[number]) for number in numbers]

    def _is_piece(self, entry: Entry) -> bool:
        """Whether an entry is a piece of an excerpt."""
        return (
            entry.kind == "text"
            and entry.parent >= 0
            and self.recorded.entries[entry.parent].kind == "excerpt"
        )

    def _decision(self, number: int, reason: Reason) -> Decision:
        entry = self.recorded.entries[number]
        return Decision(
            place=self.places[number],
            label=entry.label,
            kind="piece" if self._is_piece(entry) else entry.kind,
            included=reason == "included",
            priority=entry.priority,
            effective_priority=entry.high,
            low=entry.low,
            high=entry.high,
            reason=reason,
            count=partial(self.tokens, entry, included=reason == "included"),
        )

    def tokens(self, entry: Entry, *, included: bool) -> int:
        """The tokens of an entry's leaves counted alone, without what they reserve: of those that are in, or,
        where it is out, of those that are in at the highest level that it would be in at."""
        ops, part = entry.ops, self._solved[id(entry.ops)]
        span = range(entry.start, entry.end)
        if included and part is not None:
            indexes = [index for index in span if part.on[index]]
        else:
            indexes = [i for i in span if ops.lows.get(i, NEVER) < entry.high <= ops.highs[i]]
        total = 0
        texts: list[str] = []
        for leaf in self._flat(ops, indexes):
            if isinstance(leaf, str):
                texts.append(leaf)
                continue
            if isinstance(leaf, ToolOp):
                total += self.pricing.tool(leaf)
            elif not isinstance(leaf, ReserveOp):
                total += self.pricing.cost(leaf)
            if leaf.separates:
                total += self.pricing.count("".join(texts))
                texts = []
        return total + self.pricing.count("".join(texts))

    def _flat(self, ops: Ops, indexes: Sequence[int]) -> Iterator[Leaf]:
        """Leaves in order, isolates replaced by what is in of theirs."""
        stack: list[Iterator[Leaf]] = [iter([ops.leaves[index] for index in indexes])]
        while stack:
            leaf = next(stack[-1], None)
            if leaf is None:
                stack.pop()
            elif isinstance(leaf, IsolateOp):
                part = self._solved[id(leaf.ops)]
                if part is not None:
                    stack.append(compress(leaf.ops.leaves, part.on))
            else:
                yield leaf

    # -- where things are in the text ----------------------------------------------------------

    def starts(self) -> tuple[dict[int, list[int]], int]:
        """Where each leaf of each ops that is in begins in the flat text, and one place more; and where all end."""
        chat_format = self.pricing.chat_format
        last_end = self._messages_in() if self.pricing.last_message_incomplete else -1
        ends = 0
        starts: dict[int, list[int]] = {}
        at = 0
        stack: list[tuple[Ops, int, list[int]]] = [(self.recorded.ops, 0, [])]
        while stack:
            ops, index, places = stack.pop()
            part = self._solved[id(ops)]
            assert part is not None
            descended = False
            while index < len(ops.leaves):
                places.append(at)
                leaf = ops.leaves[index]
                index += 1
                if not part.on[index - 1]:
                    continue
                if isinstance(leaf, str):
                    at += len(leaf)
                elif isinstance(leaf, MessageStart):
                    message = leaf.message
                    header = chat_format.header(message.role, message.name, message.to)
                    at += len(chat_format.im_start) + len(header) + len(chat_format.im_sep)
                elif isinstance(leaf, MessageEnd):
                    ends += 1
                    at += 0 if ends == last_end else len(chat_format.im_end)
                elif isinstance(leaf, IsolateOp) and self._solved[id(leaf.ops)] is not None:
                    stack.append((ops, index, places))
                    stack.append((leaf.ops, 0, []))
                    descended = True
                    break
            if not descended:
                places.append(at)
                starts[id(ops)] = places
        return starts, at

    def _messages_in(self) -> int:
        """How many messages are in."""
        root = self._solved[id(self.recorded.ops)]
        assert root is not None
        indexes = list(compress(range(len(self.recorded.ops.leaves)), root.on))
        return sum(isinstance(leaf, MessageEnd) for leaf in self._flat(self.recorded.ops, indexes))


def _is_decided(element: Element) -> bool:
    if isinstance(element, (Container, AsyncNode, Excerpt)):
        return True
    return element.p is not None or element.prel is not None or element.key is not None


_NAMED = 3  # parts in an error's text
_COUNTED = 40  # candidates, longest first


def largest_required(recorded: Compiled, pricing: Pricing) -> list[tuple[str, int]]:
    """The largest parts that are in at the base: messages of a chat, else texts. Paths and tokens, largest first."""
    kinds = ("message", "tool_definition") if recorded.is_chat else ("text", "hr", "br", "tool_definition")
    candidates: list[tuple[int, int, str, int]] = []  # about how large, entry, text, fixed tokens
    for number, entry in enumerate(recorded.entries):
        if entry.kind not in kinds or not entry.low < BASE_PRIORITY <= entry.high:
            continue
        texts: list[str] = []
        fixed = 0
        for leaf in _at_base(entry):
            if isinstance(leaf, str):
                texts.append(leaf)
            elif isinstance(leaf, ToolOp):
                fixed += pricing.tool(leaf)
            elif isinstance(leaf, (CallsOp, ImageOp, PartOp)):
                fixed += pricing.cost(leaf)
        candidates.append((sum(map(len, texts)) + 4 * fixed, number, "".join(texts), fixed))
    candidates.sort(key=lambda candidate: -candidate[0])
    counted = [
        (path_of_entry(recorded, number), pricing.count(text) + fixed)
        for _, number, text, fixed in candidates[:_COUNTED]
    ]
    counted.sort(key=lambda part: -part[1])
    return [part for part in counted[:_NAMED] if part[1]]


def _at_base(entry: Entry) -> Iterator[Leaf]:
    """The leaves of an entry that are in at the base, isolates' included."""
    stack = [_places(entry.ops, entry.start, entry.end)]
    while stack:
        place = next(stack[-1], None)
        if place is None:
            stack.pop()
            continue
        ops, index = place
        if not ops.lows.get(index, NEVER) < BASE_PRIORITY <= ops.highs[index]:
            continue
        leaf = ops.leaves[index]
        if isinstance(leaf, IsolateOp):
            stack.append(_places(leaf.ops, 0, len(leaf.ops.leaves)))
        else:
            yield leaf


def _places(ops: Ops, start: int, end: int) -> Iterator[tuple[Ops, int]]:
    return ((ops, index) for index in range(start, end))
