"""Long texts cut at their middle, with sizes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import shorten
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.testing.tokenizers import CharTokenizer, WordTokenizer

CHARS = CharTokenizer()


def test_the_case() -> None:
    lines = (Path(__file__).parents[1] / "faults.jsonl").read_text("utf-8").splitlines()
    given = next(one for one in map(json.loads, lines) if one["id"] == "BC-081")
    assert given["input"] == {
        "text": "'HEAD' + 'x' * 10_000 + 'TAIL: 3 failed'",
        "cap": 100,
        "counter": "chars",
    }
    text = "HEAD" + "x" * 10_000 + "TAIL: 3 failed"
    found = shorten(text, 100, tokenizer=CHARS)
    assert len(found) <= 100
    assert found.startswith("HEAD")
    assert found.endswith("TAIL: 3 failed")
    assert "\n[59 of 10,018 characters are shown]\n" in found
    assert found == shorten(text, 100, tokenizer=CHARS)
    assert shorten("x" * 100, 100, tokenizer=CHARS) == "x" * 100
    assert shorten(text, 40, tokenizer=CHARS) == "\n[0 of 10,018 characters are shown]\n"
    assert shorten(text, 30, tokenizer=CHARS) == ""


@given(st.text(max_size=200), st.integers(0, 120), st.sampled_from(["o200k_base", "chars", "words"]))
def test_never_over_the_limit(text: str, limit: int, name: str) -> None:
    tokenizer: Any = {"chars": CHARS, "words": WordTokenizer()}.get(name, name)
    found = shorten(text, limit, tokenizer=tokenizer)
    from priompt_py import get_tokenizer

    count = get_tokenizer(tokenizer).count
    assert count(found) <= limit
    if count(text) <= limit:
        assert found == text


def test_the_sizes_are_true() -> None:
    text = "abcdefghij" * 500
    for limit in range(60, 400, 7):
        found = shorten(text, limit, tokenizer=CHARS, notice="<{shown}/{total}>")
        head, _, rest = found.partition("<")
        numbers, _, tail = rest.partition(">")
        assert numbers == f"{len(head) + len(tail)}/5000"
        assert text.startswith(head)
        assert text.endswith(tail)


def test_long_texts_take_little_time() -> None:
    text = "x" * 5_000_000
    began = time.process_time()
    assert len(shorten(text, 200, tokenizer=CHARS)) <= 200
    assert time.process_time() - began < 5


def test_wrong_arguments() -> None:
    anything: Any = b"x"
    with pytest.raises(ArgumentTypeError, match=r"shorten\(\) needs text for text, got text=b'x' \(bytes\)"):
        shorten(anything, 5)
    with pytest.raises(ArgumentValueError, match=r"shorten\(\) needs limit >= 0, got limit=-1"):
        shorten("x", -1)
    for notice in ("{", "{lines}", "{0}"):
        with pytest.raises(
            ArgumentValueError, match=r"needs a notice that holds nothing but \{shown\} and \{total\}"
        ):
            shorten("x", 5, notice=notice)
