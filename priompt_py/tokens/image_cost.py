"""What a picture costs in tokens, by the providers' published rules.

Sources, as of October 2026: OpenAI, "Images and vision" (model sizing behavior; calculating costs); Anthropic, "Vision"
(evaluate image size); Google, "Token counting" and "Image understanding" of the Gemini API. Cost depends on pixels and
detail alone, never on the length of the data.

``"auto"`` counts as ``"high"``, but for families whose provider says that it is more. A picture of unknown size counts
as the most that its family can cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, get_args

import attrs

from priompt_py.errors import ArgumentValueError

__all__ = ["FAMILIES", "Detail", "Patches", "Tiles", "image_cost"]

Detail = Literal["low", "high", "auto"]


@attrs.frozen
class Tiles:
    """Squares of 512 pixels: ``base`` tokens and ``tile`` for each square, ``base`` alone at low detail.

    The picture is first scaled down to fit a square of 2048 pixels, then until its shorter side is 768.
    """

    base: int
    tile: int

    def cost(self, size: tuple[int, int] | None, detail: Detail) -> int:
        if detail == "low":
            return self.base
        return self.base + self.tile * (self._most() if size is None else self._tiles(*size))

    @staticmethod
    def _tiles(width: int, height: int) -> int:
        # Rounded to whole pixels after each step: 2049 x 513 is billed as 2048 x 513 (8 tiles), 2050 x 513 as
        # 2048 x 512 (4 tiles).
        longer = max(width, height)
        if longer > 2048:
            width, height = _scaled(width, 2048, longer), _scaled(height, 2048, longer)
        shorter = min(width, height)
        if shorter > 768:
            width, height = _scaled(width, 768, shorter), _scaled(height, 768, shorter)
        return math.ceil(width / 512) * math.ceil(height / 512)

    @staticmethod
    def _most() -> int:
        return 4 * 2  # 2048 x 768


@attrs.frozen
class Patches:
    """Squares of ``side`` pixels, each ``percent`` hundredths of a token, rounded up once.

    ``high`` is the most squares and the longest edge in pixels at high detail: a larger picture is scaled down until
    both hold. ``auto`` is the same for automatic detail; ``low`` is the number of squares at low detail (512 x 512
    pixels), ``None`` if the provider knows no detail.
    """

    side: int
    percent: int
    high: tuple[int, int]
    auto: tuple[int, int]
    low: int | None

    def cost(self, size: tuple[int, int] | None, detail: Detail) -> int:
        if detail == "low" and self.low is not None:
            squares = self.low
        else:
            budget, edge = self.auto if detail == "auto" else self.high
            squares = budget if size is None else self._squares(*size, budget, edge)
        return -(-squares * self.percent // 100)

    def _squares(self, width: int, height: int, budget: int, edge: int) -> int:
        side = self.side
        squares = math.ceil(width / side) * math.ceil(height / side)
        longer = max(width, height)
        if squares <= budget and longer <= edge:
            return squares
        # Both limits as fractions of the original size, numerator and denominator; the smaller one holds.
        scales = [(edge, longer)] if longer > edge else []
        if squares > budget:
            # The published formula: shrink to the budget's area, then until one side is whole squares. What is left
            # of it after cancelling is one of these two fractions.
            shrink = math.sqrt(side * side * budget / (width * height))
            across = max(1, math.floor(width * shrink / side))
            down = max(1, math.floor(height * shrink / side))
            scales.append(
                min((across * side, width), (down * side, height), key=lambda scale: scale[0] / scale[1])
            )
        above, below = min(scales, key=lambda scale: scale[0] / scale[1])
        width, height = max(1, width * above // below), max(1, height * above // below)
        return min(budget, math.ceil(width / side) * math.ceil(height / side))


@attrs.frozen
class GeminiTiles:
    """Squares of 768 pixels of ``tile`` tokens each; one for a picture of 384 x 384 pixels or less.

    At most 3072 pixels an edge: larger pictures are scaled down.
    """

    tile: int

    def cost(self, size: tuple[int, int] | None, detail: Detail) -> int:
        del detail  # the provider knows none
        if size is None:
            return self.tile * 16
        width, height = size
        if max(size) <= 384:
            return self.tile
        if max(size) > 3072:
            width, height = _scaled(width, 3072, max(size)), _scaled(height, 3072, max(size))
        return self.tile * math.ceil(width / 768) * math.ceil(height / 768)


def _openai_patches(
    percent: int, high: tuple[int, int] = (1_536, 2_048), auto: tuple[int, int] | None = None
) -> Patches:
    return Patches(32, percent, high, auto or high, 256)


#: Longer than any picture that a provider takes.
_ANY_EDGE = 65_535

#: Family -> rule. Multipliers that OpenAI's table does not list (gpt-5.2 and the large models after it) are 1.2, the
#: most that its users have measured.
FAMILIES: Mapping[str, Tiles | Patches | GeminiTiles] = {
    "gpt-4o": Tiles(85, 170),  # gpt-4.1, gpt-4.5 and gpt-4-turbo too
    "gpt-4o-mini": Tiles(2_833, 5_667),
    "gpt-5": Tiles(70, 140),  # gpt-5-chat-latest too
    "o1": Tiles(75, 150),  # o1-pro and o3 too
    "computer-use-preview": Tiles(65, 129),
    "gpt-4.1-mini": _openai_patches(162),
    "gpt-4.1-nano": _openai_patches(246),
    "o4-mini": _openai_patches(172),
    "gpt-5-mini": _openai_patches(162),  # gpt-5.4-mini too
    "gpt-5-nano": _openai_patches(246),  # gpt-5.4-nano too
    "gpt-5.2": _openai_patches(120),
    "gpt-5.4": _openai_patches(120, (2_500, 2_048)),
    "gpt-5.5": _openai_patches(120, (2_500, 2_048), (10_000, 6_000)),  # auto is "original" from here on
    # Never scaled at automatic detail; pictures of more than 30,000 squares are refused.
    "gpt-5.6": _openai_patches(120, (2_500, 2_048), (30_000, _ANY_EDGE)),
    "claude": Patches(28, 100, (4_784, 2_576), (4_784, 2_576), None),  # Opus 4.7 and later
    "claude-4": Patches(28, 100, (1_568, 1_568), (1_568, 1_568), None),  # the others
    "gemini": GeminiTiles(258),
}


def image_cost(width: int | None, height: int | None, detail: Detail, family: str = "gpt-4o") -> int:
    """What a picture of ``width`` x ``height`` pixels costs, in tokens.

    Unknown sizes (``None``) count as the most that the family can cost at that detail. Raises
    :class:`ArgumentValueError` for sizes below 1 and for details and families that are not known.
    """
    if detail not in get_args(Detail):
        allowed = ", ".join(map(repr, get_args(Detail)))
        raise ArgumentValueError(f"an image's detail is one of {allowed}, got {detail!r}")
    rule = FAMILIES.get(family)
    if rule is None:
        raise ArgumentValueError(
            f"no family of image costs is named {family!r}; there are {', '.join(FAMILIES)}"
        )
    if width is None or height is None:
        return rule.cost(None, detail)
    if width < 1 or height < 1:
        raise ArgumentValueError(f"an image is at least 1 x 1 pixels, got {width!r} x {height!r}")
    return rule.cost((width, height), detail)


def _scaled(length: int, above: int, below: int) -> int:
    """``length * above / below`` to the nearest whole pixel, at least 1."""
    return max(1, (2 * length * above + below) // (2 * below))
