"""Plots of curves in characters: scales, names of numbers, rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import BASE_PRIORITY, Curve, CurvePoint
from priompt_py.preview.curve_files import svg_of
from priompt_py.preview.plot import plot_lines, scale_of, short_number, told_of


@pytest.mark.parametrize(
    ("most", "end", "step"),
    [(1, 1, 1), (4, 4, 1), (7, 8, 2), (10, 10, 2), (11, 15, 5), (60, 60, 20), (1_000, 1_000, 200), (123_456, 150_000, 50_000)],
)  # fmt: skip
def test_scales(most: int, end: int, step: int) -> None:
    scale = scale_of(most)
    assert (scale.most, scale.step) == (end, step)
    assert list(scale.marks) == list(range(0, end + 1, step))


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (1_250, "1.25k"), (150_000, "150k"), (2_500_000, "2.5M"),
     (3_000_000_000, "3G"), (1_234_000_000_000, "1,234G")],
)  # fmt: skip
def test_short_numbers(number: int, shown: str) -> None:
    assert short_number(number) == shown


def curve_of(*totals: int, limit: int, cutoff: int | None = None) -> Curve:
    """A curve with the levels base, n-1, …, 1."""
    levels = [BASE_PRIORITY, *range(len(totals) - 1, 0, -1)]
    points = tuple(CurvePoint(level, total) for level, total in zip(levels, totals, strict=True))
    return Curve(points, limit, None if cutoff is None else levels[cutoff])


def test_a_small_plot() -> None:
    assert plot_lines(curve_of(2, 4, 8, limit=6, cutoff=1), 30, plain=True) == [
        " 8 +                  ********",
        "   |                  *",
        "   |                  *",
        "   |                  *",
        " 6 +-- limit 6 -------*-------",
        "   |                  *",
        "   |                  *",
        " 4 +         **********",
        "   |         *",
        "   |         *",
        "   |         *",
        " 2 +**********",
        "   |",
        "   |",
        " 0 +",
        "   +--------------------------",
        "    base    ^ 2              1",
    ]


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=300),
    st.integers(0, 20_000),
    st.integers(20, 90),
    st.booleans(),
)
def test_plots_keep_to_their_width(totals: list[int], limit: int, width: int, plain: bool) -> None:
    lines = plot_lines(curve_of(*totals, limit=limit, cutoff=len(totals) - 1), width, plain=plain)
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 17
    assert not plain or all(line.isascii() for line in lines)
    rows = [line.partition("┤" if "┤" in line else "│")[2] for line in lines[:15]]
    assert plain or any(row.strip("╌ 0123456789,limt") for row in rows)


def test_a_curve_in_a_sentence() -> None:
    assert told_of(curve_of(5, limit=9, cutoff=0)) == (
        "1 level, 5 to 5 tokens with what is reserved; under the limit of 9 the cutoff is base, at 5"
    )
    assert told_of(curve_of(5, 1_200, limit=3)) == (
        "2 levels, 5 to 1,200 tokens with what is reserved; none fits the limit of 3"
    )
    assert (
        told_of(curve_of(5, 7, limit=3), has_limit=False) == "2 levels, 5 to 7 tokens with what is reserved"
    )


def test_pictures_escape_their_title_and_leave_far_limits_out() -> None:
    picture = svg_of(curve_of(5, 7, limit=1_000), "<b>\x1b")
    assert "<title>&lt;b&gt;\\u001b</title>" in picture
    assert "limit" not in picture
    assert "cutoff <" not in picture
    assert svg_of(curve_of(*range(100), limit=50, cutoff=50), "x").count('text-anchor="middle"') == 9
