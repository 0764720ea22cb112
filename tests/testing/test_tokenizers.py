from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import ArgumentTypeError
from priompt_py.testing.strategies import texts
from priompt_py.testing.tokenizers import (
    CharTokenizer,
    CountingTokenizer,
    GreedyTokenizer,
    ToyBPE,
    WordTokenizer,
)
from priompt_py.tokens.chat_format import OPENAI_CHAT, PLAIN_FORMAT
from priompt_py.tokens.tokenizer import (
    chat_format_of,
    get_tokenizer,
    kind_of,
    max_token_bytes_of,
    safe_cuts_of,
)

ALL: list[Any] = [
    WordTokenizer(),
    CharTokenizer(),
    GreedyTokenizer(("ab", "bcd", "a b")),
    ToyBPE(("ab", "abc", "  ", "\n\n")),
]
every = pytest.mark.parametrize("tokenizer", ALL, ids=[each.name for each in ALL])


@pytest.mark.parametrize(
    ("tokenizer", "text", "count"),
    [
        (WordTokenizer(), "", 0),
        (WordTokenizer(), " \n ", 0),
        (WordTokenizer(), "one two\n\nthree ", 3),
        (CharTokenizer(), "aé😀", 3),
        (GreedyTokenizer(("ab", "bcd")), "bcd", 1),
        (GreedyTokenizer(("ab", "bcd")), "abcd", 3),
        (GreedyTokenizer(("ab", "abc")), "abcab", 2),
        (GreedyTokenizer(()), "abc", 3),
        (GreedyTokenizer(("",)), "abc", 3),
        (ToyBPE(("ab", "abc")), "a", 1),
        (ToyBPE(("ab", "abc")), "bc", 2),
        (ToyBPE(("ab", "abc")), "abc", 1),
        (ToyBPE(("ab", "abc")), "ab\nc", 3),
        (ToyBPE(()), "é", 2),
    ],
)
def test_small_exact_numbers(tokenizer: Any, text: str, count: int) -> None:
    assert tokenizer.count(text) == count


@every
@given(text=texts())
def test_count_is_the_number_of_ids(tokenizer: Any, text: str) -> None:
    assert tokenizer.count(text) == len(tokenizer.encode(text))


@every
@given(text=texts())
def test_ids_give_the_text_back(tokenizer: Any, text: str) -> None:
    expected = " ".join(text.split()) if isinstance(tokenizer, WordTokenizer) else text
    assert tokenizer.decode(tokenizer.encode(text)) == expected


@pytest.mark.parametrize("tokenizer", [WordTokenizer(), CharTokenizer()], ids=["words", "characters"])
@given(text=texts())
def test_counts_add_up_at_declared_cuts(tokenizer: Any, text: str) -> None:
    whole = tokenizer.count(text)
    for cut in tokenizer.safe_cuts.iter(text):
        assert 0 < cut < len(text)
        assert tokenizer.count(text[:cut]) + tokenizer.count(text[cut:]) == whole


@given(text=texts())
def test_words_can_be_cut_beside_white_space_alone(text: str) -> None:
    cuts = set(WordTokenizer().safe_cuts.iter(text))
    places = range(1, len(text))
    assert cuts == {i for i in places if text[i - 1].isspace() or text[i].isspace()}


@given(text=texts())
def test_a_character_has_at_most_the_declared_bytes(text: str) -> None:
    assert len(text.encode()) <= CharTokenizer().max_token_bytes * CharTokenizer().count(text)


@every
def test_tokenizers_are_accepted_and_say_what_they_are(tokenizer: Any) -> None:
    assert get_tokenizer(tokenizer) is tokenizer
    assert kind_of(tokenizer) == "exact"
    assert chat_format_of(tokenizer) is PLAIN_FORMAT
    declared = isinstance(tokenizer, (WordTokenizer, CharTokenizer))
    assert (safe_cuts_of(tokenizer) is not None) == declared


@every
def test_tokenizers_are_values(tokenizer: Any) -> None:
    for other in (copy.copy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):  # noqa: S301 - our own bytes
        assert other == tokenizer
        assert other.encode("abcd é") == tokenizer.encode("abcd é")


def test_names_tell_tokenizers_apart_that_count_differently() -> None:
    assert GreedyTokenizer(("ab",)).name != GreedyTokenizer(("a", "b")).name
    assert ToyBPE(("ab",)).name != ToyBPE(("ab", "abc")).name


def test_another_chat_format() -> None:
    assert chat_format_of(WordTokenizer(chat_format=OPENAI_CHAT)) is OPENAI_CHAT


def test_counting_tokenizer_notes_calls_and_characters() -> None:
    counting = CountingTokenizer(CharTokenizer())
    assert counting.count("abc") == 3
    assert counting.encode("de") == [100, 101]
    assert counting.decode([100]) == "d"
    assert (counting.calls, counting.characters) == (2, 5)
    counting.reset()
    assert (counting.calls, counting.characters) == (0, 0)


@every
def test_counting_tokenizer_declares_what_the_inner_one_declares(tokenizer: Any) -> None:
    counting = CountingTokenizer(tokenizer)
    assert safe_cuts_of(counting) is safe_cuts_of(tokenizer)
    assert max_token_bytes_of(counting) == max_token_bytes_of(tokenizer)
    assert chat_format_of(counting) is chat_format_of(tokenizer)
    assert kind_of(counting) == kind_of(tokenizer)
    assert tokenizer.name in counting.name


def test_counting_tokenizer_in_threads() -> None:
    counting = CountingTokenizer(CharTokenizer())
    threads = [threading.Thread(target=lambda: [counting.count("ab") for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counting.calls, counting.characters) == (2_000, 4_000)


@given(st.data())
def test_a_long_piece_wins_over_a_short_one(data: st.DataObject) -> None:
    pieces = tuple(data.draw(st.lists(st.text("ab", min_size=1, max_size=3), max_size=3)))
    text = data.draw(st.text("ab", max_size=6))
    ids = GreedyTokenizer(pieces).encode(text)
    start = 0
    for number in ids:
        taken = pieces[number] if number < len(pieces) else chr(number - len(pieces))
        longer = [piece for piece in pieces if len(piece) > len(taken) and text.startswith(piece, start)]
        assert text.startswith(taken, start)
        assert longer == []
        start += len(taken)
    assert start == len(text)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [("ab", "'ab' (str)"), ((3,), "(3,) (tuple)"), (3, "3 (int)"), (None, "None (NoneType)")],
)
def test_toys_take_lists_of_texts(pieces: Any, shown: str) -> None:
    for toy in (ToyBPE, GreedyTokenizer):
        with pytest.raises(ArgumentTypeError) as caught:
            toy(pieces)
        assert str(caught.value) == f'a toy tokenizer needs a list of texts, as in ["ab", "abc"], got {shown}'
