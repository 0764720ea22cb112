"""Records in the order of time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import ArgumentTypeError, ArgumentValueError
from priompt_py.context import by_time


@pytest.mark.parametrize(
    ("times", "order"),
    [
        ([], []),
        ([3, 1, 2], [1, 2, 0]),
        ([1, 1, 1], [0, 1, 2]),
        ([None, 2, 1], [0, 2, 1]),
        ([5, None, 1], [2, 0, 1]),  # with the 5 before it
        ([5, 1, None, 7], [1, 0, 2, 3]),  # with the greatest before it, not the last
        ([1.5, 1, None], [1, 0, 2]),
    ],
)
def test_order(times: list[Any], order: list[int]) -> None:
    assert by_time(range(len(times)), lambda i: times[i]) == order


def test_any_times_that_can_be_compared() -> None:
    late, early = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert by_time([late, early], lambda time: time) == [early, late]


@given(st.lists(st.none() | st.integers(0, 5)))
def test_sorting_twice(times: list[int | None]) -> None:
    once = by_time(list(enumerate(times)), lambda pair: pair[1])
    known = [time for _, time in once if time is not None]
    assert known == sorted(known)
    assert sorted(i for i, _ in once) == list(range(len(times)))
    assert by_time(once, lambda pair: pair[1]) == once


def test_wrong_times() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        by_time([1, "2"], lambda time: time)
    assert (
        str(caught.value)
        == "by_time(): record 1 has the time '2' (str), which can't be compared with 1 (int)"
    )
    with pytest.raises(ArgumentValueError) as nan:
        by_time([float("nan")], lambda time: time)
    assert str(nan.value) == "by_time(): record 0 has the time nan (float), which has no place in an order"
