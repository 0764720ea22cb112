"""Texts in chunks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import Chunk, chunk
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer, WordTokenizer
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

WORDS = WordTokenizer()


def texts(text: str, size: int, overlap: int, tokenizer: Tokenizer) -> list[str]:
    return [one.text for one in chunk(text, size, overlap, tokenizer=tokenizer)]


def by_words(text: str, size: int, overlap: int = 0) -> list[str]:
    return texts(text, size, overlap, WORDS)


def test_sizes_in_words() -> None:
    assert by_words("a b c d e f g", 3) == ["a b c", "d e f", "g"]
    assert by_words("a b c d e f g", 3, 1) == ["a b c", "c d e", "e f g"]
    assert by_words("a b c d e f g", 7, 6) == ["a b c d e f g"]
    assert by_words("a b c d", 3, 2) == ["a b c", "b c d"]
    assert by_words("", 3) == by_words(" \n\t ", 3) == []
    assert by_words("  a  b ", 5) == ["a  b"]


def test_the_widest_pause_first() -> None:
    assert by_words("a b c\n\nd e f g", 5) == ["a b c", "d e f g"]
    assert by_words("a b c\nd. e f g", 5) == ["a b c", "d. e f g"]
    assert by_words("a b. c. d e f g", 5) == ["a b. c.", "d e f g"]
    assert by_words("a\n\nb c d e f g", 5) == ["a\n\nb c d", "e f g"]  # a pause costs a token
    assert by_words("a b c \r\n \r\n d\ne f g", 5) == ["a b c", "d\ne f g"]
    assert by_words('a b "c." d e f g', 4) == ['a b "c."', "d e f g"]


def test_overlap() -> None:
    assert by_words("a b c d. e f g h i", 6, 3) == ["a b c d.", "d. e f g h i"]
    assert by_words("a b c. d e f g h i j", 6, 4) == ["a b c. d e f", "d e f g h i", "f g h i j"]


def test_chinese() -> None:
    text = "合同的期限是三年。双方可以延长。费用另计。"
    assert texts(text, 12, 0, CharTokenizer()) == ["合同的期限是三年。", "双方可以延长。费用另计。"]
    assert texts("合同的期限（三年）", 5, 0, CharTokenizer()) == ["合同的期限", "（三年）"]


def test_what_has_no_blanks() -> None:
    assert texts("x" * 10, 4, 1, CharTokenizer()) == ["xxxx", "xxxx", "xxxx"]
    assert texts("x" * 200, 100, 0, CharTokenizer()) == ["x" * 96, "x" * 96, "x" * 8]
    assert texts("a" + " " * 300 + "b", 2, 0, WORDS) == ["a" + " " * 300 + "b"]
    assert by_words("a" + " " * 300 + "b", 1) == ["a", "b"]


def test_a_character_over_the_size() -> None:
    assert get_tokenizer("o200k_base").count("🏴") == 2
    assert texts("🏴🏴 a", 1, 0, get_tokenizer("o200k_base")) == ["🏴", "🏴", "a"]


def test_counts_that_do_not_add_up() -> None:
    # Each word alone is one token, both with the blank between them are three.
    odd = GreedyTokenizer([*"abcdefgh ", " b", " d", " f", " h", "a b"])
    for one in texts("a b c d e f g h", 3, 1, odd):
        assert odd.count(one) <= 3


class Dearer:
    """A word is a token, and so is every border between two: counts of parts say too little."""

    name = "dearer"

    def count(self, text: str, /) -> int:
        return max(0, 2 * len(text.split()) - 1)

    def encode(self, text: str, /) -> list[int]:
        return [0] * self.count(text)

    def decode(self, ids: object, /) -> str:
        raise NotImplementedError


def test_an_exact_count_decides() -> None:
    assert texts("a b c d e f", 5, 0, Dearer()) == ["a b c", "d e f"]
    assert texts("a b c d e f", 5, 2, Dearer()) == ["a b c", "c d e", "e f"]
    assert texts("a b c d", 2, 1, Dearer()) == ["a", "b", "c", "d"]


def test_where_chunks_start() -> None:
    text = "  One two.\n\nThree four five.  "
    found = chunk(text, 3, 0, tokenizer=WORDS)
    assert found == [Chunk("One two.", 2, 2), Chunk("Three four five.", 12, 3)]
    assert [one.end for one in found] == [10, 28]


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((b"x",), ArgumentTypeError, r"chunk() needs text for text, got text=b'x' (bytes)"),
        (("x", 0), ArgumentValueError, "chunk() needs size >= 1, got size=0"),
        (("x", 2.0), ArgumentTypeError, "chunk() needs a whole number for size, got size=2.0 (float)"),
        (("x", True), ArgumentTypeError, "chunk() needs a whole number for size, got size=True (bool)"),
        (("x", 5, -1), ArgumentValueError, "chunk() needs overlap >= 0, got overlap=-1"),
        (("x", 5, 5), ArgumentValueError, "chunk() needs overlap < size, got overlap=5 and size=5"),
    ],
)
def test_bad_arguments(arguments: tuple[object, ...], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        chunk(*arguments)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert str(caught.value) == sentence


TEXTS = st.text(st.sampled_from("ab. \n合。é🏴\f"), max_size=60)


@given(TEXTS, st.integers(1, 12), st.integers(0, 11), st.sampled_from(["chars", "words", "o200k_base"]))
def test_nothing_is_lost_and_nothing_too_long(text: str, size: int, overlap: int, name: str) -> None:
    toys: dict[str, Tokenizer] = {"chars": CharTokenizer(), "words": WORDS}
    tokenizer = toys.get(name) or get_tokenizer(name)
    found = chunk(text, size, min(overlap, size - 1), tokenizer=tokenizer)
    covered: set[int] = set()
    last = -1
    for one in found:
        assert text[one.start : one.start + len(one.text)] == one.text
        assert one.text == one.text.strip()
        assert tokenizer.count(one.text) <= size or len(one.text) == 1
        assert one.start + len(one.text) > last
        last = one.start + len(one.text)
        covered |= set(range(one.start, last))
    assert [i for i, c in enumerate(text) if not c.isspace() and i not in covered] == []
    assert [one.start for one in found] == sorted(one.start for one in found)


def test_time_grows_with_the_text() -> None:
    def seconds(words: int) -> float:
        text = "The licensee may copy this work. " * (words // 6)
        began = time.process_time()
        assert len(chunk(text, 512, 50)) > words / 520
        return time.process_time() - began

    seconds(6_000)
    one = min(seconds(30_000) for _ in range(3))
    assert seconds(300_000) < 30 * one
