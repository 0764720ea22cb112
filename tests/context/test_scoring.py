"""BM25 from counts: exact values, and what holds for all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context.analysis import analyse, term_counts
from priompt_py.context.scoring import affinities, affinity, bm25, idf
from tests.context.cases import case


def scored(query: str, texts: Sequence[str]) -> list[float]:
    counts = [term_counts(text) for text in texts]
    frequencies = Counter(term for one in counts for term in one)
    lengths = [one.total() for one in counts]
    return affinities(
        analyse(query),
        list(zip(counts, lengths, strict=True)),
        documents=len(texts),
        mean_length=sum(lengths) / len(texts),
        frequencies=frequencies,
    )


def test_worked_example() -> None:
    given_ = case("RT01")
    found = scored(given_["query"], given_["docs"])
    shown = [[i, round(one, given_["decimals"])] for i, one in enumerate(found) if one]
    assert shown == given_["out"]
    assert found[0] == pytest.approx(0.4, abs=1e-15)  # both terms once, at the mean length: 1 / (1 + k1)
    assert found[1] == pytest.approx(0.4 * math.log(1.6) / (math.log(1.6) + math.log(8 / 3)), abs=1e-15)
    assert found[2] == 0.0


def test_idf() -> None:
    assert idf(3, 1) == math.log(1 + 2.5 / 1.5)
    assert idf(3, 0) == math.log(1 + 3.5 / 0.5)
    assert idf(3, 3) == math.log(1 + 0.5 / 3.5)
    assert idf(3, 4) == idf(3, 3)
    assert idf(0, 0) == math.log(2)


def test_lengths_and_counts() -> None:
    one = affinity(["a"], {"a": 1}, 5, documents=2, mean_length=10, frequencies={"a": 1})
    assert one == pytest.approx(1 / (1 + 1.5 * (0.25 + 0.75 / 2)), abs=1e-15)
    three = affinity(["a"], {"a": 3}, 10, documents=2, mean_length=10, frequencies={"a": 1})
    assert three == pytest.approx(3 / 4.5, abs=1e-15)


def test_terms_that_no_chunk_holds_count_in_the_whole() -> None:
    half = affinity(["a", "zzz"], {"a": 1}, 4, documents=3, mean_length=4.0, frequencies={"a": 1})
    assert half == pytest.approx(0.4 * math.log(8 / 3) / (math.log(8 / 3) + math.log(8)), abs=1e-15)


def test_nothing_to_go_by() -> None:
    assert affinity([], {"a": 1}, 1, documents=1, mean_length=1, frequencies={"a": 1}) == 0.0
    assert affinity(["a"], {}, 0, documents=1, mean_length=0, frequencies={}) == 0.0
    assert affinities(["a"], [], documents=0, mean_length=0, frequencies={}) == []


def test_a_term_said_twice_counts_once() -> None:
    assert scored("refund refund days", ["refund days", "mail"]) == scored(
        "refund days", ["refund days", "mail"]
    )


WORDS = st.lists(st.sampled_from("a b c d e оферта 合同".split()), max_size=8).map(" ".join)  # noqa: SIM905 - read at a glance


@given(WORDS, st.lists(WORDS, min_size=1, max_size=6))
def test_range_and_order(query: str, texts: list[str]) -> None:
    found = scored(query, texts)
    assert all(0 <= one < 1 for one in found)
    asked = set(analyse(query))
    assert [one > 0 for one in found] == [bool(asked & set(analyse(text))) for text in texts]
    assert scored(" ".join(reversed(query.split())), texts) == found  # to the last bit
    assert scored(query, list(reversed(texts))) == list(reversed(found))


def test_weights() -> None:
    query = bm25(["a", "b", "a"], documents=3, mean_length=4, frequencies={"a": 1})
    assert query.weights == {"a": math.log(1 + 2.5 / 1.5), "b": math.log(1 + 3.5 / 0.5)}
    assert query.total == math.fsum(query.weights.values())
