from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.tokens.tokenizer import Tokenizer, from_count, get_tokenizer
from priompt_py.tokens.truncate import Keep, truncate_to
from tests.tokens.texts import hard_texts

THAI = "สวัสดี 👩‍👩‍👧 plain words follow here"
PROSE = ("some prose that goes on. " * 40 + "\n") * 1000
KEEPS: tuple[Keep, ...] = ("head", "tail", "ends")

TOKENIZERS: dict[str, Tokenizer] = {
    "o200k": get_tokenizer("o200k_base"),
    "r50k": get_tokenizer("r50k_base"),
    "bytes": from_count(lambda text: len(text.encode("utf-8", "replace")), name="bytes"),
    "len": get_tokenizer(len),
    "whole": from_count(get_tokenizer("cl100k_base").count, name="whole"),
}


@pytest.mark.parametrize(
    ("text", "limit", "marker", "keep", "result"),
    [
        ("abcdef", 6, "..", "head", "abcdef"),
        ("abcdef", 5, "..", "head", "abc.."),
        ("abcdef", 5, "..", "tail", "..def"),
        ("abcdef", 5, "..", "ends", "ab..f"),
        ("abcdef", 4, "..", "ends", "a..f"),
        ("abcdef", 2, "..", "head", ".."),
        ("abcdef", 1, "..", "head", ""),
        ("abcdef", 3, "", "head", "abc"),
        ("abcdef", 3, "", "tail", "def"),
        ("abcdef", 0, "", "head", ""),
        ("", 0, "..", "head", ""),
    ],
)
def test_small_exact_cuts(text: str, limit: int, marker: str, keep: Keep, result: str) -> None:
    assert truncate_to(text, limit, get_tokenizer(len), marker=marker, keep=keep) == result


def kept(text: str, result: str, marker: str, keep: Keep) -> bool:
    """Whether ``result`` is what it says: a part of the text, and the marker."""
    if keep == "head":
        return result.endswith(marker) and text.startswith(result.removesuffix(marker))
    if keep == "tail":
        return result.startswith(marker) and text.endswith(result.removeprefix(marker))
    return any(
        text.startswith(result[:place]) and text.endswith(result[place + len(marker) :])
        for place in range(len(result) + 1)
        if result[place : place + len(marker)] == marker
    )


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("keep", KEEPS)
def test_bc_037(name: str, limit: int, keep: Keep) -> None:
    tokenizer = TOKENIZERS[name]
    result = truncate_to(THAI, limit, tokenizer, marker=" [...]", keep=keep)
    assert tokenizer.count(result) <= limit
    assert "\ufffd" not in result
    assert result == "" or kept(THAI, result, " [...]", keep)
    if limit < tokenizer.count(" [...]"):
        assert result == ""


def test_bc_037_in_full() -> None:
    tokenizer = get_tokenizer("o200k_base")
    results = [truncate_to(THAI, limit, tokenizer, marker=" [...]") for limit in (1, 2, 3, 5, 8)]
    assert results == [" [...]", "ส [...]", "สวั [...]", "สวัสดี [...]", "สวัสดี 👩\u200d [...]"]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("keep", KEEPS)
@given(text=hard_texts, limit=st.integers(0, 40), marker=st.sampled_from(["", "…", " [...]", "\n(cut)\n"]))
@settings(max_examples=60, deadline=None)
def test_the_promise(name: str, keep: Keep, text: str, limit: int, marker: str) -> None:
    tokenizer = TOKENIZERS[name]
    result = truncate_to(text, limit, tokenizer, marker=marker, keep=keep)
    assert tokenizer.count(result) <= limit
    if tokenizer.count(text) <= limit:
        assert result == text
    elif tokenizer.count(marker) > limit:
        assert result == ""
    else:
        assert kept(text, result, marker, keep)
        assert truncate_to(result, limit, tokenizer, marker=marker, keep=keep) == result


@pytest.mark.parametrize("keep", KEEPS)
def test_halves_of_one_character_stay_together(keep: Keep) -> None:
    text = "ab\ud83d\udc4d\ud83d\udc4dcd"
    for limit in range(9):
        result = truncate_to(text, limit, get_tokenizer(len), keep=keep)
        assert result.count("\ud83d") == result.count("\udc4d") == result.count("\ud83d\udc4d")
        assert limit - 2 <= len(result) <= limit


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("limit", [1_000, 100_000])
def test_much_is_kept_of_long_texts(keep: Keep, limit: int) -> None:
    tokenizer = get_tokenizer("o200k_base")
    result = truncate_to(PROSE, limit, tokenizer, marker=" [...] ", keep=keep)
    assert limit - 2 <= tokenizer.count(result) <= limit


class Counting:
    """Counts its counts."""

    name = "counting"

    def __init__(self, *, cutting: bool) -> None:
        self._real = get_tokenizer("o200k_base")
        self.safe_cuts: Any = getattr(self._real, "safe_cuts", None) if cutting else None
        self.lengths: list[int] = []

    def count(self, text: str) -> int:
        self.lengths.append(len(text))
        return self._real.count(text)

    def encode(self, text: str) -> list[int]:
        return self._real.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._real.decode(ids)


def test_few_counts_and_little_text_is_tokenised() -> None:
    tokenizer = Counting(cutting=True)
    truncate_to(PROSE, 1_000, tokenizer)
    assert sum(tokenizer.lengths) < 20_000
    tokenizer = Counting(cutting=False)
    truncate_to(PROSE, 1_000, tokenizer)
    assert len(tokenizer.lengths) < 25


def test_a_megabyte_is_cut_at_once() -> None:
    tokenizer = get_tokenizer("o200k_base")
    tokenizer.count("warm")
    start = time.thread_time()
    for keep in KEEPS:
        truncate_to(PROSE, 1_000, tokenizer, marker="…", keep=keep)
    assert time.thread_time() - start < 0.3  # 1.5 ms when nothing else runs


@pytest.mark.parametrize(
    ("limit", "keep", "error", "message"),
    [
        (-1, "head", ArgumentValueError, "truncate_to() needs a limit of 0 or more tokens, got -1"),
        (True, "head", ArgumentTypeError, "truncate_to() needs an int for limit, got True (bool)"),
        (2.0, "head", ArgumentTypeError, "truncate_to() needs an int for limit, got 2.0 (float)"),
        (2, "middle", ArgumentValueError, "truncate_to() keeps one of 'head', 'tail', 'ends', got 'middle'"),
    ],
)
def test_refusals(limit: Any, keep: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        truncate_to("a", limit, get_tokenizer(len), keep=keep)
    assert str(caught.value) == message
