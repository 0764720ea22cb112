"""Searching a base: by words, by vectors, by both; what fails is said; the same in every store and in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context import Attachment, BM25Retriever, Hit, KnowledgeBase, SearchReport
from priompt_py.context.analysis import analyse
from priompt_py.context.fusion import fuse
from priompt_py.context.knowledge.sqlite_store import SqliteStore
from priompt_py.context.knowledge.store import Store
from priompt_py.context.scoring import affinity
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from tests.context.cases import case
from tests.context.knowledge.stand_ins import (
    WORDS,
    Failing,
    Hashed,
    Later,
    near,
    not_numbers,
    note,
    too_short,
)

Open = Callable[..., KnowledgeBase]


@pytest.fixture(params=["sqlite", "postgres"])
def open_base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the base of the test, in one store or the other."""
    opened: list[KnowledgeBase] = []
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None

    def open_(embedder: Any = None, **options: Any) -> KnowledgeBase:
        store: Store
        if url is None:
            store = SqliteStore(tmp_path / "base.db")
        else:
            from priompt_py.context.knowledge.postgres_store import PostgresStore

            store = PostgresStore(url)
        given: dict[str, Any] = {"tokenizer": WORDS, **options}
        base = KnowledgeBase(store, embedder, **given)
        opened.append(base)
        return base

    yield open_
    for base in opened:
        base.close()


class Scores:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str], int]] = []

    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
        self.asked.append((query, list(texts), top_k))
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer == "slow":
            time.sleep(0.3)
        return self.answer


def places(hits: Sequence[Hit]) -> list[tuple[str, int]]:
    return [(hit.source_id, hit.chunk) for hit in hits]


DOCS = [
    note("a", "refund policy thirty days"),
    note("b", "shipping takes five days"),
    note("c", "contact support by mail"),
]


# ------------------------------------------------------------------------------------------ by words


def test_bm25(open_base: Open) -> None:
    given = case("RT01")
    base = open_base()
    base.add([Attachment(str(n), f"{n}.txt", text=text) for n, text in enumerate(given["docs"])])
    found = base.search(given["query"])
    assert [[int(hit.source_id), round(hit.affinity, given["decimals"])] for hit in found] == given["out"]
    assert found.report == SearchReport()
    assert found[0] == Hit("refund policy thirty days", found[0].affinity, "0", 0, source_name="0.txt")


def test_the_formula_over_many_documents(open_base: Open) -> None:
    """Every affinity is what the formula says for the whole collection, and nothing better is missing."""
    texts = {f"d{n:02}": " ".join(f"word{(n * i) % 17}" for i in range(1, 4 + n % 9)) for n in range(1, 40)}
    base = open_base()
    base.add([note(id_, text) for id_, text in texts.items()])
    base.delete(["d07", "d11"])
    del texts["d07"], texts["d11"]
    stems = {id_: analyse(text) for id_, text in texts.items()}
    query = "word3 word5 word16 nothing"
    asked = analyse(query)
    frequencies = {stem: sum(stem in own for own in stems.values()) for stem in asked}
    mean = sum(map(len, stems.values())) / len(stems)
    scores = {
        id_: affinity(
            asked,
            {stem: own.count(stem) for stem in asked},
            len(own),
            documents=len(stems),
            mean_length=mean,
            frequencies=frequencies,
        )
        for id_, own in stems.items()
    }
    expected = sorted(((-score, id_) for id_, score in scores.items() if score))[:7]
    found = base.search(query, limit=7)
    assert [hit.source_id for hit in found] == [id_ for _, id_ in expected]
    assert [hit.affinity for hit in found] == near([-score for score, _ in expected])


def test_the_same_as_in_memory(open_base: Open) -> None:
    documents = [
        note(
            f"d{n:02}",
            " ".join(f"word{(n * i * i) % 23} слово{(n + i) % 7} 词{n % 3}语" for i in range(5 + n)),
        )
        for n in range(25)
    ]
    base = open_base(chunk_size=20, overlap=4)
    base.add(documents)
    memory = BM25Retriever(chunk_size=20, overlap=4, tokenizer=WORDS)
    for query in ("word3", "word4 слово5", "词语 слова", "word1 word2 word3 word7 слово1 nothing"):
        expected = memory.search(query, documents, 20)
        found = base.search(query, limit=20)
        assert places(found) == places(expected)
        assert [hit.affinity for hit in found] == near([hit.affinity for hit in expected])
        assert [hit.text for hit in found] == [hit.text for hit in expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("условиями оферты", ["ru"]),
        ("ОФЕРТА", ["ru"]),
        ("еще счёта", ["ru"]),
        ("退款政策是什么", ["zh"]),
        ("配送", ["zh"]),
        ("コンピュータ", ["ja"]),
        ("refunding the customers'", ["en"]),
        ("don't", ["en"]),
    ],
)
def test_inflected_and_unsegmented_texts(open_base: Open, query: str, expected: list[str]) -> None:
    base = open_base()
    base.add(
        [
            note("ru", "Ещё раз: в счёте указаны условия, на которых офертой предлагается договор."),
            note("zh", "本店的退款政策规定三十天内可以退货。配送需要五天。"),
            note("ja", "このコンピュータは新しいです。"),
            note("en", "Don\u2019t refund a customer twice."),
        ]
    )
    assert [hit.source_id for hit in base.search(query)][:1] == expected


def test_nothing_to_search_for(open_base: Open) -> None:
    base = open_base(Hashed())
    assert base.search("anything") == []
    base.add(DOCS)
    found = base.search(" \n")
    assert found == []
    assert found.report.notes == ("the query is empty: nothing was searched",)
    assert open_base().search("?!") == []
    assert open_base().search("zebra") == []


def test_hits_of_a_document_that_has_just_gone(open_base: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    base = open_base()
    base.add(DOCS)
    read_rows = base._store.read_rows

    def late(rows: Sequence[int]) -> Any:
        base.delete("a")
        return read_rows(rows)

    monkeypatch.setattr(base._store, "read_rows", late)
    assert places(base.search("days")) == [("b", 0)]


# ------------------------------------------------------------------------------------------ by both


def test_words_and_vectors_are_fused(open_base: Open) -> None:
    embedder = Hashed(dim=64)
    base = open_base(embedder)
    base.add(DOCS)
    found = base.search("refund days")
    assert embedder.asked[-1] == (["refund days"], "query")
    by_words = [hit.source_id for hit in open_base().search("refund days")]
    cosines = {hit.source_id: hit.affinity for hit in found}
    by_vectors = sorted(cosines, key=lambda id_: (-cosines[id_], id_))
    fused = fuse([(id_, 0) for id_ in by_vectors], [(id_, 0) for id_ in by_words])
    assert places(found) == [place for place, _ in fused]
    assert [hit.rank_score for hit in found] == [score for _, score in fused]
    assert (found[0].source_id, found[0].rank_score) == ("a", 1 / 61 + 1 / 61)
    assert found.report == SearchReport(embedding="done")


def test_a_threshold_counts_before_the_fusion(open_base: Open) -> None:
    base = open_base(Hashed(dim=64), vector_threshold=0.99)
    base.add(DOCS)
    found = base.search("refund days")
    assert places(found) == [("a", 0), ("b", 0)]
    assert [hit.rank_score for hit in found] == [1 / 61, 1 / 62]
    assert found[0].affinity == near(0.4)  # of BM25, as no vector was near enough


def test_more_than_twenty_can_be_asked_for(open_base: Open) -> None:
    base = open_base(Hashed())
    base.add([note(f"d{n:02}", f"common word{n}") for n in range(40)])
    assert len(base.search("common")) == 5
    assert len(base.search("common", limit=33)) == 33
    assert len(open_base().search("common", limit=33)) == 33


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (RuntimeError("down"), "RuntimeError: down"),
        (too_short, "its vectors have 15 numbers, not 16"),
        (not_numbers, "holds NaN"),
        ("slow", "TimeoutError: the embedder took longer than 0.05 s"),
    ],
)
def test_a_failing_embedder_leaves_the_words(open_base: Open, how: Any, words: str) -> None:
    open_base(Hashed()).add(DOCS)
    base = open_base(Failing(how))
    found = base.search("refund days", time_limit=0.05)
    assert found == open_base().search("refund days")
    assert found.report.embedding == "failed"
    (sentence,) = found.report.notes
    assert sentence.startswith("the embedder failed, so that the search was by words alone: ")
    assert words in sentence
    with pytest.raises(Exception, match=words.rpartition(": ")[2]):
        base.search("refund days", time_limit=0.05, on_error="raise")


# ------------------------------------------------------------------------------------------ reranking


def many(open_base: Open, reranker: Any = None, number: int = 30) -> KnowledgeBase:
    base = open_base(reranker=reranker)
    base.add([note(f"d{n:02}", "common " * (number - n) + f"word{n}") for n in range(number)])
    return base


def test_twenty_are_recalled_and_five_given(open_base: Open) -> None:
    reranker = Scores([(19, 0.9), (0, 0.8), (7, 0.85), (1, 0.1), (2, 0.05), (3, 0.01)])
    base = many(open_base, reranker)
    recalled = open_base().search("common", limit=20)
    found = base.search("common")
    assert reranker.asked == [("common", [hit.text for hit in recalled], 5)]
    assert places(found) == [places(recalled)[i] for i in (19, 7, 0, 1, 2)]
    assert [hit.rerank for hit in found] == [0.9, 0.85, 0.8, 0.1, 0.05]
    assert [hit.affinity for hit in found] == [recalled[i].affinity for i in (19, 7, 0, 1, 2)]
    assert found.report.rerank == "done"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (None, "unavailable"),
        (RuntimeError("down"), "failed"),
        ([(0, float("nan"))], "failed"),
        ("slow", "failed"),
    ],
)
def test_without_a_reranker_the_order_of_recall(open_base: Open, answer: Any, outcome: str) -> None:
    assert case("CB30")["out"] == "recall ranks 1..5, rerank failed"
    base = many(open_base, None if answer is None else Scores(answer))
    found = base.search("common", time_limit=0.05)
    assert places(found) == places(open_base().search("common", limit=20))[:5]
    assert found.report.rerank == outcome
    assert len(found.report.notes) == (outcome == "failed")
    if answer is not None:
        with pytest.raises((RuntimeError, ValueError, TimeoutError, ArgumentTypeError)):
            base.search("common", time_limit=0.05, on_error="raise")


def test_indexes_that_are_anyones_guess(open_base: Open) -> None:
    for answer in ([(20, 0.5)], [(-1, 0.5)], [(0, 0.5), (0, 0.4)]):
        with pytest.raises(ArgumentValueError, match="the reranker gave index"):
            many(open_base, Scores(answer)).search("common")


# ------------------------------------------------------------------------------------------ doors


@pytest.mark.anyio
async def test_async(open_base: Open) -> None:
    class LaterScores(Scores):
        async def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
            return super().rerank(query, texts, top_k)

    base = open_base(Later(), reranker=LaterScores([(1, 0.9), (0, 0.1)]))
    await base.aadd(DOCS)
    found = await base.asearch("refund days", limit=2)
    assert [hit.rerank for hit in found] == [0.9, 0.1]
    assert (found.report.embedding, found.report.rerank) == ("done", "done")
    with pytest.raises(
        ArgumentTypeError, match=r"search\(\) is sync and the embedder is async; use asearch\(\)"
    ):
        base.search("refund")


@pytest.mark.parametrize(
    ("query", "options", "kind", "sentence"),
    [
        (7, {}, ArgumentTypeError, "search() needs text for query, got query=7 (int)"),
        ("q", {"limit": 0}, ArgumentValueError, "search() needs limit >= 1, got limit=0"),
        (
            "q",
            {"limit": 2.0},
            ArgumentTypeError,
            "search() needs a whole number for limit, got limit=2.0 (float)",
        ),
        (
            "q",
            {"on_error": "no"},
            ArgumentValueError,
            "search() needs on_error to be one of report, raise, got",
        ),
    ],
)
def test_wrong_arguments(
    open_base: Open, query: Any, options: Any, kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind) as caught:
        open_base().search(query, **options)
    assert str(caught.value).startswith(sentence)


def test_a_question_whose_vector_is_zero_is_searched_by_words(open_base: Open) -> None:
    """It is near to nothing: the first chunks by name are no hits."""
    base = open_base(Hashed())
    base.add(DOCS)
    assert base.search("!?") == []
    assert base.search("!?").report.embedding == "done"


def test_a_whole_text_as_a_question(open_base: Open) -> None:
    base = open_base(chunk_size=20, overlap=0)
    base.add([note(f"d{n}", " ".join(f"u{n}x{m}" for m in range(20))) for n in range(30)])
    text = " ".join(f"u{n}x{m}" for n in range(30) for m in range(20))
    hits = base.search(text, limit=30)
    assert sorted(places(hits)) == sorted((f"d{n}", 0) for n in range(30))
    assert [hit.affinity for hit in hits] == [near(0.4 / 30)] * 30


def test_numbers_that_no_database_holds(open_base: Open) -> None:
    base = open_base()
    base.add(DOCS)
    assert base.read_chunks([("a", 2**70), ("a", -1), ("a", 2**31)]) == [None, None, None]
    assert base.documents(offset=2**70) == []
    assert len(base.documents(limit=2**70)) == 3
    for wrong in ("0", True, 1.0):
        given: Any = [("a", wrong)]
        with pytest.raises(ArgumentTypeError, match="needs ids and whole numbers for places"):
            base.read_chunks(given)
