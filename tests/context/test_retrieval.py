"""The search by words, in memory."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import Attachment, BM25Retriever, Hit, chunk, words
from priompt_py.context.analysis import analyse
from priompt_py.context.retrieval import KEPT
from priompt_py.context.scoring import affinities
from priompt_py.context.searchable import Shelf, searchable
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.cases import case
from tests.context.searching import documents

WORDS = WordTokenizer()


def places(hits: Sequence[Hit]) -> list[tuple[str, int]]:
    return [(hit.source_id, hit.chunk) for hit in hits]


def test_worked_example() -> None:
    case_ = case("RT01")
    hits = BM25Retriever().search(case_["query"], documents(*case_["docs"]), 10)
    assert [[int(hit.source_id[1:]), round(hit.affinity, case_["decimals"])] for hit in hits] == case_["out"]
    assert hits[0].affinity == pytest.approx(0.4, abs=1e-12)
    assert hits[0] == Hit(
        "refund policy thirty days", hits[0].affinity, "d0", 0, source_name="d0.txt", rank_score=None
    )


def test_inflected_and_unsegmented_text() -> None:
    docs = documents(
        "Условия оферты изменены", "Контракт подписан сторонами", "合同的期限是三年", "付款方式是银行转账"
    )
    search = BM25Retriever().search
    assert places(search("оферта", docs, 3)) == [("d0", 0)]
    assert places(search("акт", docs, 3)) == []
    assert places(search("合同期限", docs, 3)) == [("d2", 0)]
    assert places(search("银行", docs, 3)) == [("d3", 0)]


def test_equal_hits_are_in_the_order_of_documents_and_chunks() -> None:
    docs = [Attachment("b", "b", text="x one x two"), Attachment("a", "a", text="x six x ten")]
    hits = BM25Retriever(chunk_size=2, overlap=0, tokenizer=WORDS).search("x", docs, 10)
    assert places(hits) == [("b", 0), ("b", 1), ("a", 0), ("a", 1)]
    assert len({hit.affinity for hit in hits}) == 1
    assert places(BM25Retriever(chunk_size=2, overlap=0, tokenizer=WORDS).search("x", docs, 3)) == [
        ("b", 0),
        ("b", 1),
        ("a", 0),
    ]


def test_chunks_of_long_texts() -> None:
    docs = documents("alpha beta gamma delta", "epsilon")
    retriever = BM25Retriever(chunk_size=2, overlap=1, tokenizer=WORDS)
    assert [(hit.text, hit.chunk) for hit in retriever.search("gamma", docs, 9)] == [
        ("beta gamma", 1),
        ("gamma delta", 2),
    ]


def test_a_document_is_searched_once() -> None:
    docs = [
        Attachment("a", "a.txt", text="refund"),
        Attachment("b", "b.txt", text="refund"),
        Attachment("a", "other.txt", text="refund refund"),
        Attachment("c", "c.txt", text="mail"),
    ]
    hits = BM25Retriever().search("refund", docs, 9)
    assert [(hit.source_id, hit.source_name) for hit in hits] == [("a", "a.txt")]
    [same] = BM25Retriever().search("refund", [docs[0], docs[3]], 9)
    assert hits[0].affinity == same.affinity


@pytest.mark.parametrize("query", ["", " \n", "— … !", "missing words"])
def test_queries_that_find_nothing(query: str) -> None:
    assert BM25Retriever().search(query, documents("refund"), 3) == []


def test_nothing_to_search() -> None:
    assert BM25Retriever().search("refund", [], 3) == []
    assert BM25Retriever().search("refund", documents(" ", ""), 3) == []
    assert BM25Retriever().search("refund", documents("...", "refund"), 3) != []  # a chunk without a term


VOCABULARY = st.sampled_from(["a", "b", "c", "оферта", "合同", "the"])
TEXT = st.lists(VOCABULARY, max_size=9).map(" ".join)


@given(st.lists(TEXT, min_size=1, max_size=5, unique=True), TEXT, st.integers(1, 12))
def test_the_formula_over_all_chunks_is_the_oracle(texts: list[str], query: str, limit: int) -> None:
    docs = documents(*texts)
    pieces = [
        (f"d{i}", n, one.text)
        for i, text in enumerate(texts)
        for n, one in enumerate(chunk(text, 3, 0, tokenizer=WORDS))
    ]
    counts = [{term: analyse(piece).count(term) for term in analyse(piece)} for _, _, piece in pieces]
    lengths = [len(analyse(piece)) for _, _, piece in pieces]
    scores = affinities(
        analyse(query),
        list(zip(counts, lengths, strict=True)),
        documents=len(pieces),
        mean_length=sum(lengths) / len(lengths) if lengths else 0,
        frequencies={term: sum(term in one for one in counts) for term in analyse(query)},
    )
    wanted = sorted(
        (-score, source, n) for score, (source, n, _) in zip(scores, pieces, strict=True) if score
    )
    found = BM25Retriever(chunk_size=3, overlap=0, tokenizer=WORDS).search(query, docs, limit)
    assert [(-hit.affinity, hit.source_id, hit.chunk) for hit in found] == wanted[:limit]


# ------------------------------------------------------------------------------------------ arguments


NONE: list[Attachment] = []


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (
            (b"q", NONE, 1),
            ArgumentTypeError,
            "BM25Retriever.search() needs text for query, got query=b'q' (bytes)",
        ),
        (("q", NONE, 0), ArgumentValueError, "BM25Retriever.search() needs limit >= 1, got limit=0"),
        (
            ("q", NONE, 1.0),
            ArgumentTypeError,
            "BM25Retriever.search() needs a whole number for limit, got limit=1.0 (float)",
        ),
        (
            ("q", "text", 1),
            ArgumentTypeError,
            "BM25Retriever.search() needs a list of attachments, got documents='text' (str)",
        ),
        (
            ("q", ["text"], 1),
            ArgumentTypeError,
            "BM25Retriever.search() needs attachments, got documents[0]='text' (str)",
        ),
        (
            ("q", [Attachment("f", "f.txt")], 1),
            ArgumentValueError,
            "BM25Retriever.search() searches attachments with a text, and 'f' has none; assemble() reads them before",
        ),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        BM25Retriever().search(*arguments)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"chunk_size": 0}, ArgumentValueError, "BM25Retriever() needs chunk_size >= 1, got chunk_size=0"),
        ({"overlap": -1}, ArgumentValueError, "BM25Retriever() needs overlap >= 0, got overlap=-1"),
        (
            {"chunk_size": 50},
            ArgumentValueError,
            "BM25Retriever() needs overlap < chunk_size, got overlap=50 and chunk_size=50",
        ),
        (
            {"keep": 1.5},
            ArgumentTypeError,
            "BM25Retriever() needs a whole number for keep, got keep=1.5 (float)",
        ),
    ],
)
def test_bad_options(options: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        BM25Retriever(**options)
    assert str(caught.value) == sentence


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    words.stem.cache_clear()
    words._stemmers.cache_clear()
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(PromptError, match=r"pip install 'priompt-py\[context\]'"):
        BM25Retriever()


# ------------------------------------------------------------------------------------------ what is kept


def test_the_longest_unused_goes_first() -> None:
    shelf = Shelf[str](10)
    for key in (b"a", b"b", b"c"):
        shelf.put(key, key.decode(), 4)
    assert shelf.get(b"a") == "a"
    assert len(shelf) == 3  # nothing goes in the middle of a search
    shelf.trim()
    assert [shelf.get(key) for key in (b"a", b"b", b"c")] == ["a", None, "c"]
    shelf.put(b"d", "d", 20)
    shelf.trim()
    assert len(shelf) == 0


def test_texts_are_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def counted(text: str, *arguments: Any) -> Any:
        done.append(text)
        return searchable(text, *arguments)

    monkeypatch.setattr("priompt_py.context.retrieval.searchable", counted)
    retriever = BM25Retriever(keep=12)
    for _ in range(3):
        retriever.search("x", documents("one text", "two"), 1)
    assert done == ["one text", "two"]
    retriever.search("x", documents("three words here"), 1)  # 16 characters: too much to be kept
    retriever.search("x", documents("three words here"), 1)
    retriever.search("x", documents("two"), 1)
    assert done == ["one text", "two", "three words here", "three words here", "two"]
    assert KEPT == 4_000_000


def test_many_threads() -> None:
    retriever = BM25Retriever(keep=40)
    docs = [documents(f"text {n} says refund") for n in range(8)]
    wanted = [BM25Retriever().search("refund", one, 1) for one in docs]
    found: list[list[Hit]] = [[] for _ in docs]

    def work(n: int) -> None:
        for _ in range(20):
            found[n] = retriever.search("refund", docs[n], 1)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


def test_a_second_search_is_quick() -> None:
    docs = documents(*(" ".join(f"w{n * i % 997}" for i in range(3_000)) for n in range(1, 21)))
    retriever = BM25Retriever()
    began = time.process_time()
    first = retriever.search("w7 w13", docs, 3)
    middle = time.process_time()
    assert retriever.search("w7 w13", docs, 3) == first
    assert time.process_time() - middle < (middle - began) / 5
