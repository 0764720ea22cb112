"""The search by vectors beside the one by words, in memory; an embedder that fails leaves the words."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import pytest

from priompt_py.context import Attachment, BM25Retriever, SearchReport, VectorRetriever, WordLlamaEmbedder
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, EmbedderError, PromptError
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.searching import Answers, AsyncTopicEmbedder, TopicEmbedder, documents

WORDS = WordTokenizer()
DOCS = documents("refund policy", "ship the parcel", "money back by mail", "a letter about policy")


def progress(_: str, __: float) -> None:
    return


def test_both_lists_are_fused() -> None:
    embedder = TopicEmbedder()
    found = VectorRetriever(embedder).search("refund policy", DOCS, 9)
    # By vectors: d0 (1.0), d2 (2 of money, 1 of mail); by words: d0 holds both, d3 one.
    assert [(hit.source_id, hit.affinity, hit.rank_score) for hit in found] == [
        ("d0", 1.0, 1 / 61 + 1 / 61),
        ("d2", round(2 / math.sqrt(5), 6), 1 / 62),
        ("d3", BM25Retriever().search("refund policy", DOCS, 9)[1].affinity, 1 / 62),
    ]
    assert found.report == SearchReport(embedding="done")
    assert (found.threshold, found.failure) == (None, None)
    assert VectorRetriever(embedder).search("refund policy", DOCS, 2) == found[:2]
    assert [hit.source_name for hit in found] == ["d0.txt", "d2.txt", "d3.txt"]


def test_what_is_embedded() -> None:
    embedder = TopicEmbedder()
    docs = [Attachment("f", "letter", text="one two three")]
    retriever = VectorRetriever(embedder, chunk_size=2, overlap=0, tokenizer=WORDS, batch=1)
    retriever.search("mail", docs, 1)
    assert embedder.calls == [
        ("passage", ["letter\none two"]),
        ("passage", ["letter\nthree"]),
        ("query", ["mail"]),
    ]
    retriever.search("parcel", docs, 1)
    assert embedder.calls[3:] == [("query", ["parcel"])]
    renamed = [Attachment("f", "other", text="one two three")]
    retriever.search("parcel", renamed, 1)
    assert embedder.calls[4:6] == [("passage", ["other\none two"]), ("passage", ["other\nthree"])]


def test_vectors_alone() -> None:
    retriever = VectorRetriever(TopicEmbedder(), hybrid=False, threshold=0.9)
    found = retriever.search("refund policy", DOCS, 3)
    assert [(hit.source_id, hit.affinity, hit.rank_score) for hit in found] == [
        ("d0", 1.0, None),
        ("d2", 0.894427, None),
        ("d1", 0.0, None),  # the threshold is the caller's to apply, behind the limit
    ]
    assert retriever.default_threshold == 0.9
    assert VectorRetriever(TopicEmbedder(), hybrid=False).default_threshold == 0.5
    assert VectorRetriever(TopicEmbedder()).default_threshold == 0.0


def test_the_threshold_that_suits_the_embedder() -> None:
    class Own(TopicEmbedder):
        default_threshold = 0.95

    assert VectorRetriever(Own(), hybrid=False).default_threshold == 0.95
    assert VectorRetriever(Own(), hybrid=False, threshold=0.2).default_threshold == 0.2
    assert VectorRetriever(WordLlamaEmbedder(), hybrid=False).default_threshold == 0.15
    found = VectorRetriever(Own()).search("refund", documents("money back", "money back by mail"), 9)
    assert [hit.source_id for hit in found] == ["d0"]


def test_the_threshold_of_cosines_comes_before_the_fusion() -> None:
    found = VectorRetriever(TopicEmbedder(), threshold=0.9).search("money", DOCS, 9)
    assert [(hit.source_id, hit.affinity) for hit in found] == [
        ("d0", 1.0),
        ("d2", BM25Retriever().search("money", DOCS, 9)[0].affinity),  # by its words alone
    ]
    exactly = VectorRetriever(TopicEmbedder(), threshold=1.0).search("money", DOCS, 9)
    assert [hit.source_id for hit in exactly] == ["d2"]


def test_equal_hits_are_in_the_order_of_documents() -> None:
    docs = [Attachment(name, name, text=f"refund {number}") for name, number in (("b", "one"), ("a", "two"))]
    found = VectorRetriever(TopicEmbedder()).search("money", docs, 9)
    assert [hit.source_id for hit in found] == ["b", "a"]


def test_twenty_of_each() -> None:
    docs = documents(*(f"refund number {n}" for n in range(30)))
    found = VectorRetriever(TopicEmbedder()).search("refund", docs, 50)
    assert [hit.source_id for hit in found] == [f"d{n}" for n in range(20)]
    assert len(VectorRetriever(TopicEmbedder(), hybrid=False).search("refund", docs, 25)) == 25


def test_nothing_to_search_asks_no_embedder() -> None:
    embedder = TopicEmbedder()
    retriever = VectorRetriever(embedder)
    assert retriever.search("  ", DOCS, 3) == []
    assert retriever.search("refund", [], 3) == []
    assert retriever.search("refund", documents("", " "), 3) == []
    assert embedder.calls == []
    found = retriever.search("refund", documents("", "refund"), 3)
    assert [hit.source_id for hit in found] == ["d1"]


# ------------------------------------------------------------------------------------------ failures

BY_WORDS = BM25Retriever().search("refund policy", DOCS, 3)


class Late:
    name = "late"
    dim = 3

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        time.sleep(0.3)


@pytest.mark.parametrize(
    ("embedder", "note"),
    [
        (
            TopicEmbedder(OSError("no network")),
            "the embedder failed: EmbedderError: topics: it failed with OSError: no network",
        ),
        (
            TopicEmbedder(EmbedderError("topics", "status", "status 401")),
            "the embedder failed: EmbedderError: topics: status 401",
        ),
        (Answers(None), "the embedder failed: EmbedderError: answers: it gave a number, not a list of vectors"),
        (Answers([[1.0, 2.0]]), "the embedder failed: EmbedderError: answers: its vectors have 2 numbers, not 3"),
        (Answers([[1.0, 2.0, 3.0]] * 2), "the embedder failed: EmbedderError: answers: it gave 2 vectors for 1 texts"),
        (
            Answers([[1.0, math.nan, 0.0]]),
            "the embedder failed: EmbedderError: answers: the vector of text 0 (from 0) holds NaN",
        ),
        (Late(), "the embedder failed: EmbedderError: late: the embedder took longer than 0.05 s"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("hybrid", [True, False])
def test_the_search_by_words_is_left(embedder: Any, note: str, hybrid: bool) -> None:
    if isinstance(embedder, TopicEmbedder):
        embedder = TopicEmbedder(*embedder.faults)  # both rounds meet the fault
    limit = 0.05 if isinstance(embedder, Late) else None
    retriever = VectorRetriever(embedder, hybrid=hybrid, time_limit=limit)
    found = retriever.search("refund policy", DOCS, 3)
    assert found == BY_WORDS
    assert found.report.embedding == "failed"
    assert found.threshold == 0.0
    assert isinstance(found.failure, EmbedderError)
    assert found.report.notes == (note,)


def test_a_query_that_cannot_be_embedded() -> None:
    retriever = VectorRetriever(TopicEmbedder(None, None, None, None, OSError("off")))
    found = retriever.search("refund policy", DOCS, 3)
    assert (found, found.report.embedding) == (BY_WORDS, "failed")
    again = retriever.search("refund policy", DOCS, 3)
    assert (again.report.embedding, again[0].affinity) == ("done", 1.0)


# ------------------------------------------------------------------------------------------ preparing


def test_preparing_tells_how_far_it_is() -> None:
    embedder = TopicEmbedder()
    retriever = VectorRetriever(embedder, chunk_size=1, overlap=0, tokenizer=WORDS, batch=2)
    [document] = docs = documents("one two three four five refund")
    assert retriever.pending(docs) == docs
    told: list[tuple[str, float]] = []
    retriever.prepare(document, lambda step, percent: told.append((step, round(percent, 1))))
    assert told == [
        ("Chunking", 0.0), ("Chunking", 100.0), ("Embedding", 33.3), ("Embedding", 66.7), ("Embedding", 100.0),
    ]  # fmt: skip
    assert retriever.pending(docs) == []
    assert len(embedder.calls) == 3
    retriever.prepare(document, progress)
    retriever.search("refund", docs, 1)
    assert [kind for kind, _ in embedder.calls] == ["passage", "passage", "passage", "query"]


def test_what_failed_is_not_asked_for_again_in_the_same_search() -> None:
    embedder = TopicEmbedder(OSError("off"))
    retriever = VectorRetriever(embedder)
    assert retriever.pending(DOCS) == DOCS
    with pytest.raises(EmbedderError, match="topics: it failed with OSError: off"):
        retriever.prepare(DOCS[0], progress)
    found = retriever.search("refund policy", DOCS, 3)
    assert (found, found.report.embedding, len(embedder.calls)) == (BY_WORDS, "failed", 1)
    assert retriever.pending(DOCS) == DOCS  # the next turn asks anew
    assert retriever.search("refund policy", DOCS, 3).report.embedding == "done"


def test_pending_forgets_an_old_failure() -> None:
    retriever = VectorRetriever(TopicEmbedder(OSError("off")))
    with pytest.raises(EmbedderError):
        retriever.prepare(DOCS[0], progress)
    retriever.pending(DOCS)
    assert retriever.search("refund policy", DOCS, 3).report.embedding == "done"


def test_a_blank_document_needs_no_vectors() -> None:
    embedder = TopicEmbedder()
    VectorRetriever(embedder).prepare(documents(" ")[0], progress)
    assert embedder.calls == []


def test_vectors_are_kept_between_searches_and_no_longer_than_there_is_room() -> None:
    embedder = TopicEmbedder()
    retriever = VectorRetriever(embedder, keep=20)
    one, two = documents("refund policy one", "ship the parcel now")
    retriever.pending([one, two])
    retriever.prepare(one, progress)
    retriever.prepare(two, progress)
    retriever.search("refund", [one, two], 3)  # both are there until it is done
    assert [kind for kind, _ in embedder.calls] == ["passage", "passage", "query"]
    assert retriever.pending([one, two]) == [one]


# ------------------------------------------------------------------------------------------ doors, arguments


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [TopicEmbedder, AsyncTopicEmbedder])
async def test_async(kind: type[TopicEmbedder]) -> None:
    retriever = VectorRetriever(kind())
    await retriever.aprepare(DOCS[0], progress)
    found = await retriever.asearch("refund policy", DOCS, 9)
    assert found == VectorRetriever(TopicEmbedder()).search("refund policy", DOCS, 9)
    failing = VectorRetriever(kind(OSError("off")))
    assert (await failing.asearch("refund policy", DOCS, 3)).report.embedding == "failed"
    with pytest.raises(EmbedderError):
        await VectorRetriever(kind(OSError("off"))).aprepare(DOCS[0], progress)


def test_an_async_embedder_needs_the_async_door() -> None:
    retriever = VectorRetriever(AsyncTopicEmbedder())
    sentence = (
        r"VectorRetriever\.search\(\) is sync and the embedder is async; use asearch\(\) or aassemble\(\)"
    )
    with pytest.raises(ArgumentTypeError, match=sentence):
        retriever.search("refund", DOCS, 3)
    with pytest.raises(ArgumentTypeError, match=r"use aprepare\(\) or aassemble\(\)"):
        retriever.prepare(DOCS[0], progress)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        (
            {"embedder": object},
            ArgumentTypeError,
            "VectorRetriever() needs an object with a method embed for embedder, got <class 'object'> (type)",
        ),
        (
            {"hybrid": 1},
            ArgumentTypeError,
            "VectorRetriever() needs True or False for hybrid, got hybrid=1 (int)",
        ),
        (
            {"threshold": 1.5},
            ArgumentValueError,
            "VectorRetriever() needs a number from 0 to 1 for threshold, got threshold=1.5 (float)",
        ),
        (
            {"threshold": math.nan},
            ArgumentValueError,
            "VectorRetriever() needs a number from 0 to 1 for threshold, got threshold=nan (float)",
        ),
        (
            {"threshold": True},
            ArgumentTypeError,
            "VectorRetriever() needs a number for threshold, got threshold=True (bool)",
        ),
        ({"batch": 0}, ArgumentValueError, "VectorRetriever() needs batch >= 1, got batch=0"),
        ({"chunk_size": 0}, ArgumentValueError, "VectorRetriever() needs chunk_size >= 1, got chunk_size=0"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        VectorRetriever(options.pop("embedder", TopicEmbedder()), **options)
    assert str(caught.value) == sentence


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(PromptError, match=r"pip install 'priompt-py\[embeddings\]'"):
        VectorRetriever(TopicEmbedder())


def test_bad_input_of_a_search() -> None:
    with pytest.raises(
        ArgumentValueError, match=r"VectorRetriever\.search\(\) needs limit >= 1, got limit=0"
    ):
        VectorRetriever(TopicEmbedder()).search("q", DOCS, 0)
    with pytest.raises(ArgumentTypeError, match=r"VectorRetriever\.pending\(\) needs a list of attachments"):
        VectorRetriever(TopicEmbedder()).pending("text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
