"""A compiled prompt that is looked at under many limits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import attrs

from priompt_py.engine.curve import curve_levels, curve_points
from priompt_py.engine.explain import Explanation
from priompt_py.engine.reach import cutoffs_of_entries, limit_ranges
from priompt_py.errors import PromptTooLong
from priompt_py.face.drawing import REASONS
from priompt_py.model.curve import Curve, CurvePoint
from priompt_py.model.elements import Message, Number
from priompt_py.model.ops import Compiled, Entry, ReserveOp, size_of
from priompt_py.preview.compiling import compiled, priced
from priompt_py.web.answers import Refusal, number
from priompt_py.web.catalogue import Served
from priompt_py.web.rows import bits_of, rows_of_entries, text_of_row

if TYPE_CHECKING:
    from priompt_py.engine.intervals import CutoffSet
    from priompt_py.engine.pricing import Pricing
    from priompt_py.engine.solve import Solution
    from priompt_py.face.program import Program
    from priompt_py.face.rendered import Rendered
    from priompt_py.face.settings import Settings

__all__ = ["MOST_ROWS", "Spot", "View"]

MOST_ROWS = 200_000
"""Elements and texts that a page can show."""

MOST_COUNTED = 12_000_000
"""Characters of a prompt whose curve is made: all of it is tokenised for that, about 2 s of work."""

BOUNDLESS = 1 << 40
"""A limit, in tokens, under which everything is in that can be."""

_KEPT: Final = 16  # limits whose solutions are kept


@attrs.frozen(eq=False, slots=False)  # reasons are kept when somebody has asked
class Spot:
    """A prompt under one limit. ``required`` is the smallest limit that works where this one doesn't."""

    limit: int
    solution: Solution
    explanation: Explanation
    fits: bool
    required: int | None

    @cached_property
    def reasons(self) -> Sequence[str]:
        """For each row why it is in or out."""
        return self.explanation.reasons()


@attrs.frozen(eq=False)
class _Course:
    """What is known for all limits at once: the cost of each level, and at which cutoffs each row is in."""

    curve: Curve
    steps: tuple[CurvePoint, ...]
    lows: list[Number]
    highs: list[Number]
    several: dict[int, CutoffSet]  # rows that are in at several ranges of cutoffs
    sets: list[CutoffSet]

    def flags(self, cutoff: Number) -> list[bool]:
        """For each row whether it is in."""
        flags = [low < cutoff <= high for low, high in zip(self.lows, self.highs, strict=True)]
        for row, ranges in self.several.items():
            flags[row] = any(low < cutoff <= high for low, high in ranges)
        return flags


class View:
    """One prompt with its props, compiled. Used by one thread at a time.

    Where limits within the prompt are relative (``is_relative``), or it is very long, each limit is solved by itself;
    else the curve tells what is in under any limit.
    """

    def __init__(
        self,
        served: Served,
        props: Mapping[str, Any],
        *,
        tokenizer: str | None = None,
        model: str | None = None,
    ) -> None:
        from priompt_py.face.settings import settle

        self.served = served
        self.props = props
        self.program: Program = compiled(lambda: served.build(props))
        self.entries: Sequence[Entry] = self.program.recorded().entries
        if len(self.entries) > MOST_ROWS:
            raise Refusal(
                422,
                "prompt",
                f"it has {len(self.entries):,} elements and texts; a page shows at most {MOST_ROWS:,}",
                place=served.title,
            )
        self.settings: Settings = settle(
            token_limit=BOUNDLESS,
            tokenizer=tokenizer or (served.tokenizer if model is None else None),
            model=model,
            chat_format=None,
            last_message_incomplete=False,
            pair_tools=True,
            cache=None,
        )
        self.pricing: Pricing = priced(self.program, self.settings)
        self.is_relative = self.program.compiled.has_relative_limits
        self._spots: OrderedDict[int, Spot] = OrderedDict()

    @property
    def recorded(self) -> Compiled:
        """The tree with its entries, which are the rows."""
        return self.program.recorded()

    @cached_property
    def course(self) -> _Course | None:
        """What holds under all limits; None where nothing does, or it would take too long to find out."""
        if self.is_relative or self._size > MOST_COUNTED:
            return None
        spot = self.spot(BOUNDLESS)
        points = tuple(curve_points(self.program.compiled, spot.solution, self.pricing))
        curve = Curve(points, BOUNDLESS, spot.solution.cutoff)
        sets = cutoffs_of_entries(spot.explanation)
        lows: list[Number] = []
        highs: list[Number] = []
        several: dict[int, CutoffSet] = {}
        for row, ranges in enumerate(sets):
            low, high = ranges[0] if ranges else (0, -1)
            lows.append(low)
            highs.append(high)
            if len(ranges) > 1:
                several[row] = ranges
        return _Course(curve, curve.steps(), lows, highs, several, list(sets))

    @cached_property
    def _size(self) -> int:
        return sum(size_of(leaf) for ops in self.recorded.ops.nested() for leaf in ops.leaves)

    @cached_property
    def _rows_of_paths(self) -> dict[tuple[str, bool], int]:
        places = self.spot_of_all.explanation.places
        entries = zip(places, self.entries, strict=True)
        return {(str(place), entry.kind == "omitted"): row for row, (place, entry) in enumerate(entries)}

    def row_at(self, path: str, kind: str = "") -> int:
        """The row of a path, -1 of the root. The mark of an excerpt's gap has the path of the piece behind it."""
        return self._rows_of_paths.get((path, kind == "omitted"), -1)

    @cached_property
    def _decided(self) -> tuple[int, int]:
        """The rows that decisions are made on, as bits, and how many they are."""
        is_decided = self.spot_of_all.explanation.is_decided
        _, bits = bits_of(is_decided(entry) for entry in self.entries)
        return bits, bits.bit_count()

    @property
    def spot_of_all(self) -> Spot:
        """The prompt under a limit as large as can be."""
        return self.spot(BOUNDLESS)

    # -- under one limit ----------------------------------------------------------------------

    def spot(self, limit: int) -> Spot:
        """The prompt under a limit; where it doesn't fit, under the smallest that works. Raises PromptTooLong where no
        limit works, or none is known."""
        if limit in self._spots:
            self._spots.move_to_end(limit)
            return self._spots[limit]
        fits = True
        required: int | None = None
        try:
            solution = self._solve(limit)
        except PromptTooLong as error:
            if self.is_relative and limit < BOUNDLESS:
                required = self.least_by_trying
            elif error.required_limit is None or error.element is not None:
                raise
            else:
                required = error.required_limit
            fits = False
            solution = self._solve(required)
        explanation = Explanation(self.recorded, solution, self.pricing)
        spot = Spot(limit, solution, explanation, fits, required)
        self._spots[limit] = spot
        while len(self._spots) > _KEPT:
            self._spots.popitem(last=False)
        return spot

    @cached_property
    def least_by_trying(self) -> int:
        """The smallest limit that works, where limits within the prompt move with it: found by doubling and halving.
        Raises PromptTooLong where none works."""
        low, high = -1, 1
        while not self._fits(high):
            low, high = high, 2 * high
            if high > BOUNDLESS:
                self._solve(BOUNDLESS)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fits(middle) else (middle, high)
        return high

    def _fits(self, limit: int) -> bool:
        try:
            self._solve(limit)
        except PromptTooLong:
            return False
        return True

    def _solve(self, limit: int) -> Solution:
        return self.program.solve(attrs.evolve(self.settings, token_limit=limit), self.pricing)

    def rendered(self, limit: int, *, source_map: bool = False) -> Rendered:
        """The render under a limit. Raises PromptTooLong."""
        spot = self.spot(limit)
        if not spot.fits:
            self._solve(limit)  # says what is too long
        settings = attrs.evolve(self.settings, token_limit=limit)
        return self.program.rendered(settings, self.pricing, spot.solution, source_map=source_map)

    def limit_of(self, level: int) -> int:
        """What a level costs, counted from 0 at the highest. Raises Refusal."""
        course = self.course
        if course is None:
            raise Refusal(404, "unknown", "levels of this prompt have no costs that hold without a limit")
        if not 0 <= level < len(course.curve.points):
            raise Refusal(
                404, "unknown", f"it has the levels 0 to {len(course.curve.points) - 1}, got {level}"
            )
        return course.curve.points[level].tokens

    # -- what the page gets -------------------------------------------------------------------

    def opened(self, limit: int | None) -> dict[str, Any]:
        """Everything that stays as it is while limits change, and the prompt under the first limit."""
        own = self.served.token_limit
        is_chat = self.recorded.is_chat
        chat_format = self.settings.chat_format

        def frame(message: Message) -> int:
            return chat_format.message_cost(self.pricing.count, name=message.name, to=message.to)

        total, least = self._ends()
        first = limit if limit is not None else own if own is not None else total
        return {
            "prompt": self.served.id,
            "props": self.props,
            "is_chat": is_chat,
            "token_limit": own,
            "limit": first,
            "tokenizer": self.settings.tokenizer.name,
            "total": total,
            "least": least,
            "relative": self.is_relative,
            "has_curve": self.course is not None,
            "elements": rows_of_entries(self.entries, is_chat=is_chat, frame=frame, reserved=self._reserved),
            "position": self.move(first),
            "count_kind": self._rendered_or_least(first).count_kind,
            "warnings": [],
        }

    def _ends(self) -> tuple[int, int | None]:
        """What all that can be in costs, and the smallest limit that works."""
        course = self.course
        if course is not None:
            return max(point.tokens for point in course.curve.points), course.steps[0].tokens
        least = self.least_by_trying if self.is_relative else self.spot(0).required or 0
        return self.spot_of_all.solution.total, least

    def _rendered_or_least(self, limit: int) -> Rendered:
        spot = self.spot(limit)
        return self.program.rendered(self.settings, self.pricing, spot.solution, source_map=False)

    def _reserved(self, entry: Entry) -> int:
        """What an ``empty`` reserves."""
        op = entry.ops.leaves[entry.start] if entry.start < entry.end else None
        if not isinstance(op, ReserveOp):
            return 0
        solved = self._solved_ops.get(id(op), op)
        return self.pricing.cost(solved)

    @cached_property
    def _solved_ops(self) -> dict[int, ReserveOp]:
        """What functions reserve is known by the ops that are solved; the recorded walk has its own."""
        pairs = zip(self.recorded.reserve_functions, self.program.compiled.reserve_functions, strict=True)
        return {id(recorded): solved for recorded, solved in pairs}

    def move(self, limit: int) -> dict[str, Any]:
        """The prompt under a limit, as what a slider changes."""
        course = self.course
        if course is None:
            spot = self.spot(limit)
            solution = spot.solution
            levels = curve_levels(solution)
            return self._position(
                limit,
                cutoff=solution.cutoff,
                level=max(0, sum(level >= solution.cutoff for level in levels) - 1),
                levels=len(levels),
                total=solution.total,
                reserved=solution.assembled.tokens_reserved,
                flags=[reason == "included" for reason in spot.reasons],
                fits=spot.fits,
                required=spot.required,
            )
        # Steps rise: the last that fits is chosen. Under the first, what is always in is shown.
        at = bisect_right(course.steps, limit, key=_tokens) - 1
        point = course.steps[max(at, 0)]
        points = course.curve.points
        return self._position(
            limit,
            cutoff=point.level,
            level=bisect_left(points, True, key=lambda one: one.level <= point.level),
            levels=len(points),
            total=point.tokens,
            reserved=point.reserved,
            flags=course.flags(point.level),
            fits=at >= 0,
            required=None if at >= 0 else point.tokens,
        )

    def _position(
        self,
        limit: int,
        *,
        cutoff: Number,
        level: int,
        levels: int,
        total: int,
        reserved: int,
        flags: list[bool],
        fits: bool,
        required: int | None,
    ) -> dict[str, Any]:
        bits, value = bits_of(flags)
        decided, count = self._decided
        included = (value & decided).bit_count()
        return {
            "limit": limit,
            "level": level,
            "levels": levels,
            "cutoff": number(cutoff),
            "fits": fits,
            "required": required,
            "used": total - reserved,
            "reserved": reserved,
            "free": limit - total,
            "bits": bits,
            "elements_in": included,
            "elements_out": count - included,
        }

    def curve(self, limit: int) -> dict[str, Any]:
        """What each level costs."""
        course = self.course
        if course is not None:
            curve, steps = course.curve, course.steps
        elif self._size > MOST_COUNTED:
            raise Refusal(
                422, "prompt", f"it has about {self._size:,} characters: counting all of it would take long"
            )
        else:
            spot = self.spot(limit)
            points = tuple(curve_points(self.program.compiled, spot.solution, self.pricing))
            curve = Curve(points, limit, spot.solution.cutoff)
            steps = curve.steps()
        chosen = {point.level for point in steps}
        return {
            "points": [[number(point.level), point.tokens, point.reserved] for point in curve.points],
            "steps": [n for n, point in enumerate(curve.points) if point.level in chosen],
            "limit": limit,
            "cutoff": self.move(limit)["cutoff"],
        }

    def report(self, limit: int) -> dict[str, Any]:
        """What takes longer than a move: the largest parts, the cost of each message, odd reasons."""
        spot = self.spot(limit)
        report = self._rendered_or_least(limit).report
        odd: dict[str, list[int]] = {"not_chosen": [], "over_max": [], "pair_out": []}
        for row, reason in enumerate(spot.reasons):
            if reason in odd:
                odd[reason].append(row)
        return {
            "largest": [
                {
                    "row": self.row_at(part.path),
                    "path": part.path,
                    "label": part.label,
                    "priority": number(part.priority),
                    "tokens": part.tokens,
                }
                for part in report.largest
            ],
            "messages": [
                {"row": self.row_at(message.path), "included": message.included, "tokens": message.tokens}
                for message in report.messages
            ],
            "other_tokens": report.other_tokens,
            "shared_tokens": report.shared_tokens,
            "reasons": odd,
        }

    def entry(self, row: int) -> Entry:
        """The entry of a row. Raises Refusal."""
        if not 0 <= row < len(self.entries):
            raise Refusal(404, "unknown", f"it has the rows 0 to {len(self.entries) - 1}, got {row}")
        return self.entries[row]

    def element(self, row: int, limit: int) -> dict[str, Any]:
        """What became of a row, why, and at which limits it is in."""
        entry = self.entry(row)
        spot = self.spot(limit)
        reason = spot.reasons[row]
        ranges: list[list[int | None]] | None = None
        if self.course is not None:
            found = limit_ranges(self.course.steps, self.course.sets[row])
            ranges = [[one.start, one.end] for one in found]
        return {
            "row": row,
            "path": str(spot.explanation.places[row]),
            "label": entry.label,
            "kind": entry.kind,
            "included": reason == "included",
            "reason": reason,
            "why": _why(reason),
            "priority": number(entry.priority),
            "effective": number(entry.high),
            "tokens": spot.explanation.tokens(entry, included=reason == "included"),
            "ranges": ranges,
        }

    def text(self, row: int) -> dict[str, Any]:
        """The whole text of a row."""
        return {"text": text_of_row(self.entry(row)) or ""}


def _tokens(point: CurvePoint) -> int:
    return point.tokens


def _why(reason: Any) -> str:
    return REASONS[reason]
