from __future__ import annotations

from typing import Any

import pytest

from priompt_py.errors import TokenizerError
from priompt_py.tokens.tokenizer import ANYWHERE, CallableTokenizer, from_count, kind_of
from tests.tokens.texts import pickled


def count_bytes(text: str) -> int:
    return len(text.encode())


def test_len_can_be_cut_anywhere_and_others_only_if_they_say_so() -> None:
    assert from_count(len).safe_cuts is ANYWHERE
    assert from_count(len, splittable=False).safe_cuts is None
    assert from_count(count_bytes).safe_cuts is None
    assert from_count(count_bytes, splittable=True).safe_cuts is ANYWHERE


def test_names_and_kinds() -> None:
    assert from_count(count_bytes).name == "count_bytes"
    assert from_count(count_bytes, name="bytes").name == "bytes"
    assert from_count(CallableTokenizer(len, "len").count, kind="upper_bound").name == "len"
    assert kind_of(from_count(len)) == "exact"
    assert kind_of(from_count(len, kind="upper_bound")) == "upper_bound"

    class Counter:
        def __call__(self, text: str) -> int:
            return 1

    assert from_count(Counter()).name == "Counter"


def test_it_only_counts() -> None:
    tokenizer = from_count(len)
    with pytest.raises(
        TokenizerError, match="len only counts: it was made from a function and has no token ids"
    ):
        tokenizer.encode("a")
    with pytest.raises(TokenizerError, match="len only counts"):
        tokenizer.decode([1])


def test_counts_are_ints_of_0_or_more() -> None:
    class Three:
        def __index__(self) -> int:
            return 3

    three: Any = Three()
    assert from_count(lambda text: three).count("a") == 3
    assert type(from_count(lambda text: three).count("a")) is int


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (-1, "-1 (int)"),
        (1.0, "1.0 (float)"),
        (True, "True (bool)"),
        (None, "None (NoneType)"),
        ([1], "[1] (list)"),
    ],
)
def test_anything_else_is_refused_when_it_is_seen(wrong: Any, shown: str) -> None:
    tokenizer = from_count(lambda text: wrong, name="mine")
    with pytest.raises(TokenizerError) as caught:
        tokenizer.count("a")
    assert str(caught.value) == f"mine should count tokens with an int of 0 or more, it gave {shown}"


@pytest.mark.parametrize("wrong", [3, str, None])
def test_what_is_no_function_is_refused(wrong: Any) -> None:
    with pytest.raises(
        TokenizerError, match=r"from_count\(\) needs a function that counts a text's tokens, got "
    ):
        from_count(wrong)


def test_pickles() -> None:
    assert pickled(from_count(len)) == from_count(len)
    assert pickled(from_count(count_bytes)).count("é") == 2
