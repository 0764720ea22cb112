"""Limits of isolates and maxes: what is one, and how many tokens it is."""

from __future__ import annotations

import pytest

from priompt_py.author.tags import at_most, isolate
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.limits import relative_limit, resolve_limit
from tests.ids import stable_id


@pytest.mark.parametrize(
    ("spec", "outer", "tokens"),
    [
        (0, 100, 0),
        (7, 3, 7),
        ("50%", 100, 50),
        ("50%", 99, 49),  # floored
        ("0%", 100, 0),
        ("100%", 100, 100),
        ("250%", 100, 250),
        ("33%", 10, 3),
        ("50% + 3", 100, 53),
        ("50%+3", 100, 53),
        ("50% - 3", 100, 47),
        (" 50 % - 3 ", 100, 47),
        ("\t50%\n-\n3", 100, 47),
        ("50% - 51", 100, 0),  # never below 0
        ("1% - 1", 100, 0),
        ("50%", 0, 0),
        ("50%", 10**30, 5 * 10**29),
        ("33% + 1", 10**30 + 1, 33 * 10**28 + 1),  # exact, where floats would not be
    ],
)
def test_tokens_of_a_limit(spec: int | str, outer: int, tokens: int) -> None:
    assert resolve_limit(spec, outer) == tokens
    assert isolate(token_limit=spec).token_limit == spec
    assert at_most(token_limit=spec).token_limit == spec


WRONG_TEXTS = [
    "",
    "%",
    "50",
    "50 tokens",
    "50%%",
    "-50%",
    "+50%",
    "5.5%",
    "50% 3",
    "50% + -3",
    "50% * 2",
    "50% + 3%",
    "3 + 50%",
    "1e2%",
    "٥٠%",  # other digits
    "50\u00a0%",  # a blank that is none
    "50٪",
    "1_0%",
    "half",
    "9" * 5_000 + "%",
]


@pytest.mark.parametrize("text", WRONG_TEXTS, ids=lambda text: text[:12])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(
        ArgumentValueError, match=r"isolate\(\) needs a whole number, 'N%', 'N% \+ M' or 'N% - M'"
    ):
        isolate(token_limit=text)
    if len(text) < 100:
        assert relative_limit(text) is None


@pytest.mark.parametrize("value", [None, True, 1.0, float("nan"), [], b"5"], ids=stable_id)
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"at_most\(\) needs a whole number, 'N%', .* got token_limit="
    ):
        at_most(token_limit=value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_below_zero_is_refused() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        at_most(token_limit=-1)
    assert str(caught.value) == "at_most() needs token_limit >= 0, got token_limit=-1"
