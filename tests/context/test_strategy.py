"""The formulas: whole files or a search, and when to compact. All figures are tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import available_tokens, choose_strategy, compaction_threshold, needs_compaction
from priompt_py.context.exact import exact_share
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from tests.context.cases import case, groups


@pytest.mark.parametrize("name", [one["id"] for one in groups()["strategy"]])
def test_cases_of_the_strategy(name: str) -> None:
    given = case(name)
    length, used, files, prompt = given["in"]
    found = choose_strategy(length=length, used=used, files=files, prompt=prompt).to_json()
    wanted = {"name" if key == "strategy" else key: value for key, value in given["out"].items()}
    assert {key: found[key] for key in wanted} == wanted


def test_files_are_taken_no_further_than_the_answer_needs() -> None:
    asked: list[int] = []

    def files() -> Iterator[int]:
        for tokens in (300, 300, 300):
            asked.append(tokens)
            yield tokens

    found = choose_strategy(length=1000, used=500, files=files(), prompt=0)
    assert (found.name, found.counted, found.parsed, len(asked)) == ("retrieval", 600, 2, 2)


@pytest.mark.parametrize(
    ("length", "files", "name", "reason"),
    [
        (None, [1], "retrieval", "unknown-window"),
        (None, [], "none", "no-files"),
        (100, [], "none", "no-files"),
        (100, [0], "inject-full-content", "fits"),
        (100, [70], "inject-full-content", "fits"),
        (100, [71], "retrieval", "too-large"),
    ],
)
def test_reasons(length: int | None, files: list[int], name: str, reason: str) -> None:
    found = choose_strategy(length=length, used=0, files=files, prompt=0)
    assert (found.name, found.reason) == (name, reason)


@pytest.mark.parametrize(
    ("length", "used", "share", "available"),
    [
        (1000, 900, "0.7", 7),  # 6 in doubles
        (4096, 2048, "0.7", 716),
        (1000, 1000, "0.7", 0),
        (1000, 10**9, "0.7", 0),
        (100, 0, 0.58, 58),
        (100, 0, Decimal("0.58"), 58),
        (100, 0, Fraction(1, 3), 33),
        (100, 0, "1/3", 33),
        (100, 0, 1, 100),
        (10**30, 0, "0.7", 7 * 10**29),
    ],
)
def test_available(length: int, used: int, share: Any, available: int) -> None:
    assert available_tokens(length, used, share) == available


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 1000))
def test_available_is_the_floor_of_the_exact_value(length: int, used: int, thousandths: int) -> None:
    found = available_tokens(length, used, f"{thousandths}/1000")
    remaining = max(0, length - used)
    assert found == math.floor(Fraction(thousandths, 1000) * remaining * remaining / length)
    assert 0 <= found <= remaining


# ------------------------------------------------------------------------------------------ shares


@pytest.mark.parametrize(
    "value", ["0", "1.1", "-0.1", "nan", "1e999999999", "1/0", "", "0,7", " 0.7", 0, 2, -1]
)
def test_shares_out_of_range(value: object) -> None:
    with pytest.raises(
        ArgumentValueError, match=r"f\(\) needs a share over 0 and up to 1 for share, got share="
    ):
        exact_share("f", "share", value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("1e-99999"), Decimal("Infinity"), 0.0]
)
def test_shares_that_are_no_numbers(value: object) -> None:
    with pytest.raises(ArgumentValueError):
        exact_share("f", "share", value)


@pytest.mark.parametrize("value", [True, None, b"0.7", [0.7]])
def test_shares_of_other_types(value: object) -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"f\(\) needs a number or its text, like '0\.7', for share, got"
    ):
        exact_share("f", "share", value)


def test_a_share_of_nothing_where_it_may_be() -> None:
    assert exact_share("f", "share", "0", zero=True) == 0


PLAIN: dict[str, Any] = {"length": 100, "used": 0, "files": [1], "prompt": 0}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"length": 0}, "choose_strategy() needs length >= 1, got length=0"),
        ({"length": -5}, "choose_strategy() needs length >= 1, got length=-5"),
        ({"used": -1}, "choose_strategy() needs used >= 0, got used=-1"),
        ({"prompt": -1}, "choose_strategy() needs prompt >= 0, got prompt=-1"),
        ({"files": [1, -1]}, "choose_strategy() needs files[1] >= 0, got files[1]=-1"),
        ({"share": 0}, "choose_strategy() needs a share over 0 and up to 1 for share, got share=0 (int)"),
    ],
)
def test_wrong_values(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        choose_strategy(**PLAIN | arguments)
    assert str(caught.value) == error


@pytest.mark.parametrize("arguments", [{"length": True}, {"used": 1.0}, {"files": [True]}, {"prompt": "1"}])
def test_wrong_types(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="needs a whole number for"):
        choose_strategy(**PLAIN | arguments)


# ------------------------------------------------------------------------------------------ overflow


def test_cases_of_overflow() -> None:
    for name in ("CB01", "CB02"):
        one = case(name)
        tokens, window = one["in"]
        assert [needs_compaction(tokens, window), compaction_threshold(window)] == one["out"]
    several = case("CB03")
    assert [compaction_threshold(window) for _, window in several["in"]] == several["out"]
    assert all(needs_compaction(tokens, window) for tokens, window in several["in"])
    assert not any(needs_compaction(tokens - 1, window) for tokens, window in several["in"])


def test_no_overflow() -> None:
    # CB05 says "threshold None" for no tokens too, but a threshold is the window's alone.
    assert case("CB05")["out"] == "false, threshold None, three times"
    assert [window for _, window in case("CB05")["in"]] == [None, 128_000, 1]
    assert [needs_compaction(tokens, window) for tokens, window in case("CB05")["in"]] == [False] * 3
    assert [compaction_threshold(window) for window in (None, 1)] == [None, None]
    assert not needs_compaction(-5, 128_000)


def test_shares_of_the_threshold_are_exact() -> None:
    assert compaction_threshold(100, share=0.58, reserve=0) == 58
    assert compaction_threshold(100, share="0.9", reserve=50, floor="0") == 45
    assert compaction_threshold(100, reserve=100, floor=0) is None
    assert compaction_threshold(100, reserve=1_000, floor=1) == 60


@pytest.mark.parametrize("share", ["0.39", 0.91, 1])
def test_unusual_shares(share: Any) -> None:
    with pytest.warns(UserWarning, match=f"share is usually from 0.4 to 0.9, got {share}"):
        compaction_threshold(1_000, share=share)


@pytest.mark.parametrize("window", [0, -1])
def test_windows_that_are_none(window: int) -> None:
    with pytest.raises(ArgumentValueError, match=f"needs window >= 1, got window={window}"):
        needs_compaction(5, window)


def test_wrong_arguments_of_overflow() -> None:
    anything: Any = True
    half: Any = 1.0
    with pytest.raises(ArgumentTypeError, match=r"needs a whole number for tokens, got tokens=True"):
        needs_compaction(anything, 100)
    with pytest.raises(ArgumentTypeError, match=r"needs a whole number for window, got window=1\.0"):
        compaction_threshold(half)
    with pytest.raises(ArgumentValueError, match=r"needs reserve >= 0, got reserve=-1"):
        compaction_threshold(100, reserve=-1)
