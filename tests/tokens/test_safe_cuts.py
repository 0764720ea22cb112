from __future__ import annotations

import re
import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from priompt_py.tokens.bpe import BpeTokenizer
from priompt_py.tokens.encodings import _LETTERS
from priompt_py.tokens.safe_cuts import ANYWHERE, SafeCuts, count_up_to
from priompt_py.tokens.tokenizer import from_count, get_tokenizer
from tests.tokens.texts import ENCODINGS, hard_texts, pickled, random_texts

LETTERS = f"[{_LETTERS}]"
PROSE = ("some prose that goes on. " * 40 + "\n") * 1000

#: Rule -> pattern of the left neighbour, of the right one; the encodings that declare it.
RULES = {
    "R1": (r"[\r\n]", r"[^\s/]", ENCODINGS[:2]),
    "R1 with blanks": (r"[\r\n]", r"[ \t]+\S", ENCODINGS[:2]),
    "R2": (r"\S", r"[ \t]", ENCODINGS),
    "R3": (LETTERS, r"[\n\r\x0b\x0c\x85\xa0\u2028\u3000]", ENCODINGS),
    "R3 with punctuation": (LETTERS, r"[!-&(-/:-@\[-`{-~]", ENCODINGS),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_rule_of_the_last_white_character(name: str) -> None:
    """R4 looks at two characters on the right, so it is tried apart from the others."""
    left_of, right_of, cuts = re.compile(r"[ \t\r\n]"), re.compile(r"[ \t]\S"), cuts_of(name)
    count, tried = BpeTokenizer(name).count, 0
    for text in random_texts(8_000, 12, seed=4):
        for place in cuts.iter(text):
            if left_of.match(text[place - 1]) and right_of.match(text, place):
                tried += 1
                assert count(text) == count(text[:place]) + count(text[place:]), (text, place)
    assert tried > 100


def cuts_of(name: str) -> SafeCuts:
    cuts = BpeTokenizer(name).safe_cuts
    assert cuts is not None
    return cuts


def parts(cuts: SafeCuts, text: str) -> list[str]:
    places = [0, *cuts.iter(text), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


# --------------------------------------------------------------------------------------- they are safe


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=hard_texts)
@settings(max_examples=150, deadline=None)
def test_counts_of_the_parts_add_up(name: str, text: str) -> None:
    count = BpeTokenizer(name).count
    assert count(text) == sum(map(count, parts(cuts_of(name), text)))


@pytest.mark.parametrize("name", ENCODINGS)
def test_counts_of_the_parts_add_up_in_many_more_texts(name: str) -> None:
    count, cuts, found = BpeTokenizer(name).count, cuts_of(name), 0
    for text in random_texts(8_000, 12, seed=5):
        pieces = parts(cuts, text)
        found += len(pieces) - 1
        assert count(text) == sum(map(count, pieces)), repr(text)
    assert found > 3_000


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule in RULES for name in RULES[rule][2]])
def test_each_rule_by_itself(rule: str, name: str) -> None:
    before, after, _ = RULES[rule]
    left_of, right_of, cuts = re.compile(before), re.compile(after), cuts_of(name)
    count, tried = BpeTokenizer(name).count, 0
    texts = random_texts(40_000, 6, seed=len(rule + before))
    for left, right in zip(texts, reversed(texts), strict=True):
        if left and right and left_of.match(left[-1]) and right_of.match(right):
            tried += 1
            assert cuts.border(left, right), (left, right)
            assert count(left + right) == count(left) + count(right), (left, right)
    assert tried > 50


@pytest.mark.parametrize("name", ENCODINGS)
@given(left=hard_texts, right=hard_texts)
@settings(max_examples=150, deadline=None)
def test_joining_counts_only_what_is_around_the_border(name: str, left: str, right: str) -> None:
    tokenizer, cuts = BpeTokenizer(name), cuts_of(name)
    count = tokenizer.count
    tail = left[max(0, cuts.last(left)) :]
    first = cuts.first(right)
    head = right if first < 0 else right[:first]
    assert count(left + right) == count(left) + count(right) - count(tail) - count(head) + count(tail + head)


@pytest.mark.parametrize("name", ["p50k_base", "r50k_base"])
def test_why_the_older_encodings_have_no_r1(name: str) -> None:
    count = BpeTokenizer(name).count
    assert count("\n\n" + "a") != count("\n\n") + count("a")
    assert not cuts_of(name).border("\n\n", "a")


def test_why_a_slash_is_no_r1() -> None:
    count = BpeTokenizer("o200k_base").count
    assert count(".\n\n" + "/") != count(".\n\n") + count("/")
    assert not cuts_of("o200k_base").border(".\n\n", "/")


def test_all_of_our_letters_are_letters_or_digits_to_tiktoken() -> None:
    letters = re.findall(LETTERS, "".join(map(chr, range(0x10000))))
    one_byte = {bytes([byte]): byte for byte in range(256)}
    matches = tiktoken.Encoding(
        "letters", pat_str=r"[\p{L}\p{N}]", mergeable_ranks=one_byte, special_tokens={}
    )
    assert bytes(matches.encode_ordinary("".join(letters))).decode() == "".join(letters)
    assert len(letters) > 40_000


# ------------------------------------------------------------------------------------ finding them


@pytest.mark.parametrize("name", ["o200k_base", "r50k_base"])
@given(text=hard_texts)
@settings(max_examples=100, deadline=None)
def test_all_ways_to_find_cuts_agree(name: str, text: str) -> None:
    cuts = cuts_of(name)
    places = list(cuts.iter(text))
    assert cuts.first(text) == (places[0] if places else -1)
    assert cuts.last(text) == (places[-1] if places else -1)
    for place in range(1, len(text)):
        assert cuts.border(text[:place], text[place:]) == (place in places)
        assert cuts.after(text, place) == next((cut for cut in places if cut >= place), -1)


@given(text=st.text(max_size=12))
def test_anywhere_is_between_any_two_characters(text: str) -> None:
    places = list(range(1, len(text)))
    assert list(ANYWHERE.iter(text)) == places
    assert ANYWHERE.first(text) == (1 if places else -1)
    assert ANYWHERE.last(text) == (len(text) - 1 if places else -1)
    assert ANYWHERE.border("a", "b")
    assert [ANYWHERE.after(text, place) for place in (0, *places)] == ([1, *places] if places else [-1])


def test_anywhere_after_the_end_is_nowhere() -> None:
    assert ANYWHERE.after("ab", 2) == -1
    assert ANYWHERE.after("", 0) == -1


@pytest.mark.parametrize("distance", [0, 1, 1_021, 1_022, 1_023, 1_024, 5_000, 20_000])
def test_the_last_cut_is_found_at_any_distance_from_the_end(distance: int) -> None:
    text = "word " * 50 + "x" * distance
    assert cuts_of("o200k_base").last(text) == 249
    assert cuts_of("o200k_base").last("x" * distance) == -1


def test_the_last_cut_of_a_long_text_is_found_at_once() -> None:
    text, cuts = PROSE * 20, cuts_of("o200k_base")
    start = time.thread_time()
    for _ in range(100):
        cuts.last(text)
    assert time.thread_time() - start < 0.1


@pytest.mark.parametrize("size", [1, 7, 1000])
@given(text=hard_texts)
@settings(max_examples=60, deadline=None)
def test_chunks_are_the_text_cut_at_cuts(size: int, text: str) -> None:
    cuts, count = cuts_of("o200k_base"), BpeTokenizer("o200k_base").count
    chunks = list(cuts.chunks(text, size))
    assert "".join(chunks) == text
    assert all(chunks)
    assert all(len(chunk) >= size for chunk in chunks[:-1])
    assert sum(map(count, chunks)) == count(text)


def test_chunks_of_nothing() -> None:
    assert list(ANYWHERE.chunks("", 3)) == []
    assert list(ANYWHERE.chunks("abcdefg", 3)) == ["abc", "def", "g"]
    with pytest.raises(ValueError, match="a size of at least 1 code point, got 0"):
        list(ANYWHERE.chunks("a", 0))


# --------------------------------------------------------------------------------------- count_up_to


class Plain:
    """Real counts; says nothing about itself but, if asked to, where it can be cut."""

    name = "plain"

    def __init__(self, cuts: SafeCuts | None = None, max_token_bytes: int | None = None) -> None:
        self.safe_cuts = cuts
        self.max_token_bytes = max_token_bytes
        self.counted: list[int] = []
        self._real = BpeTokenizer("o200k_base")

    def count(self, text: str) -> int:
        self.counted.append(len(text))
        return self._real.count(text)

    def encode(self, text: str) -> list[int]:
        return self._real.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._real.decode(ids)


@pytest.mark.parametrize("most", [None, 128])
@pytest.mark.parametrize("cutting", [True, False])
@given(text=hard_texts, times=st.sampled_from([1, 40, 400]), limit=st.integers(0, 3_000))
@settings(max_examples=60, deadline=None)
def test_a_count_up_to_a_limit_is_exact_or_a_bound_above_it(
    most: int | None, cutting: bool, text: str, times: int, limit: int
) -> None:
    tokenizer = Plain(cuts_of("o200k_base") if cutting else None, most)
    whole = BpeTokenizer("o200k_base").count(text * times)
    found = count_up_to(tokenizer, text * times, limit)
    assert found == whole if whole <= limit else limit < found <= whole


def test_max_token_bytes_decides_before_anything_is_tokenised() -> None:
    tokenizer = Plain(cuts_of("o200k_base"), 128)
    assert count_up_to(tokenizer, PROSE, 1_000) == 7_821
    assert tokenizer.counted == []
    assert count_up_to(tokenizer, PROSE, 200_000) > 200_000
    assert sum(tokenizer.counted) < len(PROSE)


def test_without_max_token_bytes_only_the_beginning_is_counted() -> None:
    tokenizer = Plain(cuts_of("o200k_base"))
    assert 1_000 < count_up_to(tokenizer, PROSE, 1_000) < 2_000
    assert sum(tokenizer.counted) < 10_000
    assert max(tokenizer.counted) < 6_000


def test_a_tokenizer_without_cuts_counts_the_whole() -> None:
    tokenizer = Plain()
    assert count_up_to(tokenizer, PROSE, 1_000) == 241_000
    assert tokenizer.counted == [len(PROSE)]


def test_another_count_can_stand_in() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    assert count_up_to(from_count(len), "abc", 2, count=count) == 3
    assert seen == ["abc"]


def test_long_runs_take_few_rounds() -> None:
    tokenizer = Plain(cuts_of("o200k_base"))
    text = (" " * 90 + "x") * 20_000  # 91 characters in two tokens
    assert count_up_to(tokenizer, text, 10_000_000) == get_tokenizer("o200k_base").count(text)
    assert len(tokenizer.counted) == 1
    tokenizer.counted.clear()
    assert 30_000 < count_up_to(tokenizer, text, 30_000) <= 40_000
    assert len(tokenizer.counted) < 15


def test_a_pattern_may_have_flags_and_cuts_pickle() -> None:
    cuts = SafeCuts(re.compile(r"(?i)(?<=x)(?=a)"), "mine")
    assert [*cuts.iter("xaXAy")] == [1, 3]
    assert (cuts.first("xaXAy"), cuts.last("xaXAy"), cuts.last("Xa" + "y" * 5_000)) == (1, 3, 1)
    assert pickled(cuts) == cuts
    assert pickled(cuts).last("xaXAy") == 3
