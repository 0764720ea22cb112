from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.errors import ArgumentValueError
from priompt_py.tokens.image_cost import FAMILIES, Detail, image_cost


# Published examples first, then what users have measured, then edges.
@pytest.mark.parametrize(
    ("width", "height", "detail", "family", "tokens"),
    [
        (1024, 1024, "high", "gpt-4o", 765),
        (2048, 4096, "high", "gpt-4o", 1105),
        (4096, 8192, "low", "gpt-4o", 85),
        (1024, 1024, "high", "gpt-4o-mini", 2833 + 4 * 5667),
        (1024, 1024, "low", "gpt-4o-mini", 2833),
        (1024, 1024, "high", "o1", 75 + 4 * 150),
        (1024, 1024, "high", "gpt-5", 70 + 4 * 140),
        (1024, 1024, "high", "computer-use-preview", 65 + 4 * 129),
        (1024, 1024, "high", "gpt-4.1-mini", 1659),  # 1024 patches
        (1800, 2400, "high", "gpt-4.1-mini", 2353),  # 1452 patches
        (1800, 2400, "high", "gpt-4.1-nano", 3572),
        (1800, 2400, "high", "o4-mini", 2498),
        (1000, 1000, "high", "claude-4", 36 * 36),
        (2049, 513, "high", "gpt-4o", 1445),
        (2050, 513, "high", "gpt-4o", 765),
        (1800, 2400, "high", "gpt-4o", 765),
        (512, 513, "high", "gpt-4o", 85 + 2 * 170),
        (2048, 768, "high", "gpt-5.2", 1844),
        (256, 256, "high", "gpt-5.2", 77),
        (800, 600, "low", "gpt-4o", 85),
        (800, 600, "auto", "gpt-4o", 765),
        (1, 1, "high", "gpt-4o", 255),
        (1, 100_000, "high", "gpt-4o", 85 + 4 * 170),
        (512, 512, "high", "gpt-4o", 255),
        (1, 1, "high", "gpt-4.1-mini", 2),
        (4000, 4000, "low", "gpt-4.1-mini", 415),
        (10, 1_000_000, "high", "gpt-5.2", 77),  # 1 x 2048 pixels
        (5000, 4000, "high", "gpt-5.4", 2904),  # 2048 pixels wide would be more than 2,500 patches
        (5000, 4000, "auto", "gpt-5.4", 2904),
        (5000, 4000, "auto", "gpt-5.5", 11_855),
        (3200, 3200, "auto", "gpt-5.5", 12_000),
        (3200, 3200, "auto", "gpt-5.6", 12_000),
        (2000, 1500, "high", "claude", 72 * 54),
        (2000, 1500, "low", "claude", 72 * 54),
        (384, 384, "high", "gemini", 258),
        (385, 100, "high", "gemini", 258),
        (960, 540, "high", "gemini", 516),
        (9000, 3000, "high", "gemini", 4 * 2 * 258),
    ],
)
def test_costs(width: int, height: int, detail: Detail, family: str, tokens: int) -> None:
    assert image_cost(width, height, detail, family) == tokens
    assert image_cost(height, width, detail, family) == tokens


@pytest.mark.parametrize(
    ("family", "low", "high", "auto"),
    [
        ("gpt-4o", 85, 1445, 1445),
        ("gpt-4o-mini", 2833, 2833 + 8 * 5667, 2833 + 8 * 5667),
        ("gpt-5", 70, 1190, 1190),
        ("gpt-4.1-mini", 415, 2489, 2489),
        ("gpt-5-nano", 630, 3779, 3779),
        ("o4-mini", 441, 2642, 2642),
        ("gpt-5.5", 308, 3000, 12_000),
        ("gpt-5.6", 308, 3000, 36_000),
        ("claude", 4784, 4784, 4784),
        ("claude-4", 1568, 1568, 1568),
        ("gemini", 4128, 4128, 4128),
    ],
)
def test_an_unknown_size_counts_as_the_most(family: str, low: int, high: int, auto: int) -> None:
    details: tuple[Detail, ...] = ("low", "high", "auto")
    assert [image_cost(None, None, detail, family) for detail in details] == [low, high, auto]
    assert image_cost(100, None, "high", family) == image_cost(None, 100, "high", family) == high


@pytest.mark.parametrize("family", FAMILIES)
@given(
    width=st.integers(1, 30_000),
    height=st.integers(1, 30_000),
    detail=st.sampled_from(["low", "high", "auto"]),
)
def test_no_picture_costs_more_than_an_unknown_one(
    family: str, width: int, height: int, detail: Detail
) -> None:
    assert 0 < image_cost(width, height, detail, family) <= image_cost(None, None, detail, family)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1, "original", "gpt-4o"), "an image's detail is one of 'low', 'high', 'auto', got 'original'"),
        (
            (1, 1, "high", "gpt-9"),
            "no family of image costs is named 'gpt-9'; there are gpt-4o, gpt-4o-mini, ",
        ),
        ((0, 5, "high", "gpt-4o"), "an image is at least 1 x 1 pixels, got 0 x 5"),
        ((5, -1, "low", "gpt-4o"), "an image is at least 1 x 1 pixels, got 5 x -1"),
    ],
)
def test_refusals(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        image_cost(*arguments)
    assert str(caught.value).startswith(message)
