"""What a prompt costs at each of its levels, and at which limits something is in: plain data."""

from __future__ import annotations

from bisect import bisect_left

import attrs

from priompt_py.model.elements import Number
from priompt_py.model.outcome import Decision

__all__ = ["Curve", "CurvePoint", "LimitRange", "Why"]


@attrs.frozen
class CurvePoint:
    """One level and what the prompt costs when it is the cutoff.

    ``tokens`` is the exact count with ``reserved``, the tokens that ``empty`` elements keep free.
    """

    level: Number
    tokens: int
    reserved: int = 0


@attrs.frozen
class Curve:
    """The cost of a prompt at every level. ``points`` go from the highest level (``BASE_PRIORITY``) down.

    ``cutoff`` is the level that is chosen under ``token_limit``; None where no level fits.
    """

    points: tuple[CurvePoint, ...]
    token_limit: int
    cutoff: Number | None

    def at(self, cutoff: Number) -> CurvePoint:
        """The point of the lowest level that is at least ``cutoff``; that of the highest above all of them."""
        after = bisect_left(self.points, True, key=lambda point: point.level < cutoff)
        return self.points[max(after - 1, 0)]

    def steps(self) -> tuple[CurvePoint, ...]:
        """The points that are chosen under some limit, falling: the prompt is a step's from its ``tokens`` on, up to
        the next step's (exclusive). A level that costs as much as a lower one, or more, is never chosen."""
        found: list[CurvePoint] = []
        for point in reversed(self.points):
            if not found or point.tokens < found[-1].tokens:
                found.append(point)
        return tuple(reversed(found))

    def to_csv(self) -> str:
        """The points as CSV (RFC 4180), with a line of names: ``level,tokens,reserved``."""
        lines = ["level,tokens,reserved"]
        lines += [f"{point.level},{point.tokens},{point.reserved}" for point in self.points]
        return "".join(f"{line}\r\n" for line in lines)


@attrs.frozen
class LimitRange:
    """The limits from ``start`` (inclusive) to ``end`` (exclusive; None: without an end), in tokens."""

    start: int
    end: int | None


@attrs.frozen
class Why:
    """Why an element is in or out, and at which limits it is in, ascending and apart from each other.

    Where limits in the prompt are relative, costs depend on the limit itself: then ``is_searched``, and ``ranges``
    holds one range, whose start was found by trying: the element is in there, and out at one token less. Its end is not
    looked for.
    """

    decision: Decision
    ranges: tuple[LimitRange, ...]
    is_searched: bool = False

    @property
    def smallest_limit(self) -> int | None:
        """The least limit at which the element is in; None if there is none."""
        return self.ranges[0].start if self.ranges else None
