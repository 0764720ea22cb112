"""Retrievers and rerankers at work in ``preprocess`` and ``assemble``: what is cited, told and reported."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import PromptTooLong, render
from priompt_py.context import (
    Assembly,
    Attachment,
    BM25Retriever,
    Event,
    Found,
    Hit,
    Message,
    Preprocessed,
    SearchReport,
    VectorRetriever,
    aassemble,
    apreprocess,
    assemble,
    preprocess,
)
from priompt_py.context.wording import WORDING
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, EmbedderError
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.cases import case
from tests.context.searching import AsyncTopicEmbedder, TopicEmbedder, documents

WORDS = WordTokenizer()
DOCS = documents("refund policy", "ship the parcel", "money back by mail", "a letter about policy")
QUERY = "refund policy"


class Reranker:
    """Scores by a list, or raises."""

    def __init__(self, *scores: tuple[int, float], fault: Exception | None = None) -> None:
        self.scores = list(scores)
        self.fault = fault
        self.texts: list[str] = []

    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
        assert query == QUERY
        self.texts = list(texts)
        if self.fault is not None:
            raise self.fault
        return self.scores


class AsyncReranker(Reranker):
    async def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
        await asyncio.sleep(0)
        return super().rerank(query, texts, top_k)


class Asked:
    """A retriever that has hits enough, and keeps what it is asked for."""

    default_threshold = 0.5

    def __init__(self) -> None:
        self.limits: list[int] = []

    def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
        self.limits.append(limit)
        return [Hit(f"text {n}", 0.99 - n / 40, documents[0].id, n) for n in range(limit)]


def searched(retriever: Any, docs: Sequence[Attachment] = DOCS, **options: Any) -> Preprocessed:
    messages = [Message("m", "user", QUERY, attachments=docs)]
    return preprocess(messages, window=None, tokenizer=WORDS, retriever=retriever, **options)


def told(events: Sequence[Event]) -> list[tuple[Any, ...]]:
    return [(one.kind, one.state, one.subject) for one in events if one.kind != "choosing"]


def text_of(result: Preprocessed) -> str:
    assert result.message is not None
    return result.message.text


# ------------------------------------------------------------------------------------------ what is cited


def test_by_words_with_nothing_set_up() -> None:
    sunk: list[Sequence[Hit]] = []
    result = searched(BM25Retriever(), citations=sunk.append)
    assert (result.strategy.name, result.outcome, result.reason) == ("retrieval", "citations", "")
    assert text_of(result) == (
        f"{WORDING.hits_intro}\n\n"
        'Citation 1: "refund policy"\n\n'
        'Citation 2: "a letter about policy"\n\n'
        f"{WORDING.hits_use}\n\nUser Query:\n\nrefund policy"
    )
    assert [[(hit.source_id, hit.source_name) for hit in hits] for hits in sunk] == [
        [("d0", "d0.txt"), ("d3", "d3.txt")]
    ]
    assert [one["source"] for one in result.report.metrics["hits"]] == ["d0", "d3"]
    assert "embedding" not in result.report.metrics
    assert "rerank" not in result.report.metrics


def test_nothing_found() -> None:
    sunk: list[Sequence[Hit]] = []
    result = searched(BM25Retriever(), documents("ship the parcel"), citations=sunk.append)
    assert (result.strategy.name, result.outcome, result.reason) == ("retrieval", "no-citations", "no-hits")
    assert text_of(result) == f"{WORDING.no_hits}\n\nUser Query:\n\nrefund policy"
    assert sunk == []
    assert told(result.report.events)[-1] == ("retrieving", "canceled", "")
    quiet = searched(BM25Retriever(), documents("ship the parcel"), notice=False)
    assert (text_of(quiet), quiet.outcome) == (QUERY, "no-citations")


def test_a_blank_prompt_is_not_searched() -> None:
    embedder = TopicEmbedder()
    messages = [Message("m", "user", " \n", attachments=DOCS)]
    result = preprocess(messages, window=None, tokenizer=WORDS, retriever=VectorRetriever(embedder))
    assert (result.strategy.name, result.outcome, result.reason) == (
        "retrieval", "no-citations", "empty-query",
    )  # fmt: skip
    assert embedder.calls == []
    assert text_of(result).startswith(f"{WORDING.search_failed}\n\nUser Query:\n\n")
    assert told(result.report.events) == [("retrieving", "loading", ""), ("retrieving", "canceled", "")]


def test_files_that_all_fail_are_not_said_to_hold_nothing() -> None:
    result = searched(BM25Retriever(), [Attachment("f", "f.txt")])
    assert result.reason == "no-documents"
    assert text_of(result) == f"{WORDING.search_failed}\n\nUser Query:\n\nrefund policy"


def test_the_query_is_the_prompt_as_typed() -> None:
    class Queries(Asked):
        queries: list[str]

        def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
            self.queries = [query]
            return []

    retriever = Queries()
    messages = [Message("m", "user", "  Fee?\nWhich  one ", attachments=DOCS)]
    preprocess(messages, window=None, tokenizer=WORDS, retriever=retriever)
    assert retriever.queries == ["  Fee?\nWhich  one "]


def test_the_threshold_is_the_retrievers_own() -> None:
    strict = VectorRetriever(TopicEmbedder(), hybrid=False, threshold=0.9)
    assert [hit.source_id for hit in searched(strict).hits] == ["d0"]
    assert [hit.source_id for hit in searched(strict, affinity_threshold=0.5).hits] == ["d0", "d2"]
    assert [hit.source_id for hit in searched(BM25Retriever()).hits] == ["d0", "d3"]
    assert [hit.source_id for hit in searched(BM25Retriever(), affinity_threshold=0.4).hits] == ["d0"]


# ------------------------------------------------------------------------------------------ reranking


def test_a_reranker_gets_what_was_recalled_and_its_best_are_cited() -> None:
    retriever, reranker = Asked(), Reranker((7, 0.9), (2, 0.95), (0, 0.1), (1, 0.2))
    result = searched(retriever, reranker=reranker)
    assert retriever.limits == [20]
    assert reranker.texts == [f"text {n}" for n in range(20)]
    assert [(hit.text, hit.rerank, hit.source_name) for hit in result.hits] == [
        ("text 2", 0.95, "d0.txt"),
        ("text 7", 0.9, "d0.txt"),
        ("text 1", 0.2, "d0.txt"),
    ]
    assert 'Citation 1: "text 2"' in text_of(result)
    assert result.report.metrics["rerank"] == "done"
    assert result.report.metrics["hits"][0] == {
        "source": "d0", "chunk": 2, "affinity": 0.94, "tokens": 2, "rerank": 0.95,
    }  # fmt: skip
    assert told(result.report.events) == [
        ("retrieving", "loading", ""),
        ("retrieving", "loading", ""),
        ("reranking", "loading", ""),
        ("reranking", "done", ""),
        ("retrieving", "done", ""),
    ]


def test_how_many_are_recalled() -> None:
    retriever = Asked()
    searched(retriever, reranker=Reranker((0, 1.0)), recall_k=2, retrieval_limit=4)
    searched(retriever, reranker=Reranker((0, 1.0)), recall_k=7, retrieval_limit=4)
    searched(retriever, recall_k=7, retrieval_limit=4)
    assert retriever.limits == [4, 7, 4]


def test_only_what_is_over_the_threshold_is_reranked() -> None:
    reranker = Reranker((0, 1.0))
    searched(Asked(), reranker=reranker, affinity_threshold=0.9)
    assert reranker.texts == ["text 0", "text 1", "text 2", "text 3"]
    nothing = searched(Asked(), reranker=reranker, affinity_threshold=1)
    assert (nothing.reason, told(nothing.report.events)[-1]) == ("no-hits", ("retrieving", "canceled", ""))
    assert [one for one in nothing.report.events if one.kind == "reranking"] == []


def test_a_reranker_that_fails() -> None:
    assert case("CB30")["out"] == "recall ranks 1..5, rerank failed"
    result = searched(Asked(), reranker=Reranker(fault=OSError("off")), retrieval_limit=5)
    assert [hit.text for hit in result.hits] == [f"text {n}" for n in range(5)]
    assert result.report.metrics["rerank"] == "failed"
    assert result.report.notes == ("the reranker failed: OSError: off",)
    assert [(one.state, one.text) for one in result.report.events if one.kind == "reranking"] == [
        ("loading", "20 hits"), ("error", "OSError: off"),
    ]  # fmt: skip
    with pytest.raises(OSError, match="off"):
        searched(Asked(), reranker=Reranker(fault=OSError("off")), on_error="raise")


@pytest.mark.parametrize("scores", [((20, 1.0),), ((0, 1.0), (0, 0.5))])
def test_wrong_indexes_go_up(scores: Any) -> None:
    events: list[Event] = []
    with pytest.raises(ValueError, match="the reranker gave index"):
        searched(Asked(), reranker=Reranker(*scores), events=events.append)
    assert told(events)[-2:] == [("reranking", "error", ""), ("retrieving", "error", "")]


def test_hits_of_blank_texts() -> None:
    class Blank(Asked):
        def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
            return [Hit(" ", 0.9, "d0"), Hit("", 0.8, "d0", 1)]

    result = searched(Blank(), reranker=Reranker())
    assert (result.outcome, result.reason) == ("no-citations", "no-hits")
    assert result.report.notes == ("2 of 2 hits have no text; they are left out",)
    assert result.report.metrics["rerank"] == "unavailable"


# ------------------------------------------------------------------------------------------ embedding


def test_what_is_told_of_embedding() -> None:
    assert case("LM21")["out"] == "root: loading, loading, done; child: waiting, loading+, done"
    retriever = VectorRetriever(TopicEmbedder(), chunk_size=1, overlap=0, tokenizer=WORDS, batch=3)
    document = Attachment("f", "f.txt", text="one two refund four five six seven")
    first = searched(retriever, [document])
    embedding = [
        (one.state, one.text, one.progress) for one in first.report.events if one.kind == "embedding"
    ]
    assert embedding == [
        ("waiting", "", None),
        ("loading", "loading", None),
        ("loading", "Chunking", 0.0),
        ("loading", "Chunking", 100.0),
        ("loading", "Embedding", 42.9),
        ("loading", "Embedding", 85.7),
        ("loading", "Embedding", 100.0),
        ("done", "", None),
    ]
    assert {one.subject for one in first.report.events if one.kind == "embedding"} == {"f"}
    assert [one.state for one in first.report.events if one.kind == "retrieving"] == [
        "loading", "loading", "done",
    ]  # fmt: skip
    assert first.report.metrics["embedding"] == "done"
    again = searched(retriever, [document])
    assert [one for one in again.report.events if one.kind == "embedding"] == []
    assert again.hits == first.hits


def test_an_embedder_that_fails_leaves_the_words() -> None:
    embedder = TopicEmbedder(None, OSError("off"))
    result = searched(VectorRetriever(embedder, hybrid=False))
    assert [(hit.source_id, hit.affinity) for hit in result.hits] == [
        (hit.source_id, hit.affinity) for hit in searched(BM25Retriever()).hits
    ]  # under the threshold of cosines, which isn't theirs
    assert result.report.metrics["embedding"] == "failed"
    note = "the embedder failed: EmbedderError: topics: it failed with OSError: off"
    assert result.report.notes == (note,)
    assert len(embedder.calls) == 2  # nothing that may cost money is tried again
    assert told(result.report.events) == [
        ("retrieving", "loading", ""),
        ("embedding", "waiting", "d0"),
        ("embedding", "waiting", "d1"),
        ("embedding", "waiting", "d2"),
        ("embedding", "waiting", "d3"),
        *[("embedding", "loading", "d0")] * 4,
        ("embedding", "done", "d0"),
        *[("embedding", "loading", "d1")] * 3,
        ("embedding", "error", "d1"),
        ("embedding", "canceled", "d2"),
        ("embedding", "canceled", "d3"),
        ("retrieving", "loading", ""),
        ("retrieving", "done", ""),
    ]


@pytest.mark.parametrize("faults", [(OSError("off"),), (None, None, None, None, OSError("off"))])
def test_an_embedders_failure_can_be_raised(faults: tuple[Exception | None, ...]) -> None:
    with pytest.raises(EmbedderError, match="it failed with OSError: off"):
        searched(VectorRetriever(TopicEmbedder(*faults)), on_error="raise")


def test_a_retriever_that_reports() -> None:
    class Reporting(Asked):
        def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
            report = SearchReport(embedding="failed", rerank="done", notes=("by words alone",))
            return Found([Hit("text", 0.2, "d0")], report, 0.1)

    result = searched(Reporting())
    assert [hit.affinity for hit in result.hits] == [0.2]
    assert (result.report.metrics["embedding"], result.report.metrics["rerank"]) == ("failed", "done")
    assert result.report.notes == ("by words alone",)


# ------------------------------------------------------------------------------------------ assemble


def assembled(retriever: Any, docs: Sequence[Attachment] = DOCS, **options: Any) -> Assembly:
    messages = [Message("m", "user", QUERY, attachments=docs)]
    return assemble(messages, window=8_000, tokenizer=WORDS, retriever=retriever, **options)


def test_citations_in_the_tree() -> None:
    long = [attrs.evolve(one, text=f"{one.text} and more of the same kind of text about it") for one in DOCS]
    sunk: list[Sequence[Hit]] = []
    assembly = assembled(VectorRetriever(TopicEmbedder()), long, citations=sunk.append)
    assert [hit.source_id for hit in assembly.hits] == ["d0", "d2", "d3"]
    assert sunk == [list(assembly.hits)]
    seen: dict[int, list[str]] = {}
    for limit in range(400, 0, -1):
        try:
            rendered = render(assembly.node, token_limit=limit, tokenizer=WORDS)
        except PromptTooLong:
            break
        kept = assembly.cited(rendered)
        assert kept == list(assembly.hits[: len(kept)])
        assert rendered.messages is not None
        text = rendered.messages[0].text
        numbers = [n for n in range(1, 5) if f"Citation {n}:" in text]
        assert numbers == list(range(1, len(kept) + 1))
        assert (WORDING.hits_intro in text) == bool(kept)
        assert (WORDING.hits_left_out.format(count=3) in text) == (not kept)
        assert WORDING.no_hits not in text
        seen.setdefault(len(kept), [hit.source_id for hit in kept])
    assert seen == {3: ["d0", "d2", "d3"], 2: ["d0", "d2"], 1: ["d0"], 0: []}


def test_reranked_in_the_tree() -> None:
    assembly = assembled(Asked(), reranker=Reranker((5, 0.9), (6, 0.8)), recall_k=10)
    assert [hit.text for hit in assembly.hits] == ["text 5", "text 6"]
    assert assembly.report.metrics["rerank"] == "done"
    stored = assembled(Asked(), reranker=Reranker((5, 0.9)), attachments="preprocess", share="0.001")
    assert 'Citation 1: "text 5"' in stored.messages[0].text


def test_the_notice_only_where_there_was_no_hit() -> None:
    rendered = render(assembled(BM25Retriever(), documents("ship it")).node, token_limit=500, tokenizer=WORDS)
    assert rendered.messages is not None
    assert WORDING.no_hits in rendered.messages[0].text


@pytest.mark.anyio
@pytest.mark.parametrize("kinds", [(TopicEmbedder, Reranker), (AsyncTopicEmbedder, AsyncReranker)])
async def test_async_is_the_same(kinds: tuple[type[TopicEmbedder], type[Reranker]]) -> None:
    embedder, reranker = kinds
    messages = [Message("m", "user", QUERY, attachments=DOCS)]
    options: dict[str, Any] = {"window": 8_000, "tokenizer": WORDS}
    here = assembled(VectorRetriever(TopicEmbedder()), reranker=Reranker((1, 0.9), (0, 0.8)))
    there = await aassemble(
        messages,
        retriever=VectorRetriever(embedder()),
        reranker=reranker((1, 0.9), (0, 0.8)),
        **options,
    )
    assert there.hits == here.hits
    assert told(there.report.events) == told(here.report.events)
    failing = await apreprocess(
        messages,
        retriever=VectorRetriever(embedder(OSError("off"))),
        reranker=reranker(fault=OSError("gone")),
        window=None,
        tokenizer=WORDS,
    )
    assert [hit.source_id for hit in failing.hits] == ["d0", "d3"]
    assert (failing.report.metrics["embedding"], failing.report.metrics["rerank"]) == ("failed", "failed")


class Hanging:
    name = "hanging"
    dim = 3

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.began.set()
        await asyncio.sleep(60)

    async def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
        self.began.set()
        await asyncio.sleep(60)


@pytest.mark.anyio
@pytest.mark.parametrize("what", ["embedding", "reranking"])
async def test_cancelling_is_told_and_goes_up(what: str) -> None:
    hanging, events = Hanging(), list[Event]()
    options: dict[str, Any] = (
        {"retriever": VectorRetriever(hanging)}
        if what == "embedding"
        else {"retriever": BM25Retriever(), "reranker": hanging}
    )
    messages = [Message("m", "user", QUERY, attachments=DOCS[:1])]
    task = asyncio.ensure_future(
        aassemble(messages, window=8_000, tokenizer=WORDS, events=events.append, **options)
    )
    await hanging.began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told(events)[-2:] == [
        (what, "canceled", "d0" if what == "embedding" else ""),
        ("retrieving", "canceled", ""),
    ]


@pytest.mark.anyio
async def test_what_hangs_is_left_behind() -> None:
    began = time.monotonic()
    messages = [Message("m", "user", QUERY, attachments=DOCS)]
    result = await apreprocess(
        messages,
        window=None,
        tokenizer=WORDS,
        retriever=VectorRetriever(Hanging(), time_limit=0.05),
        reranker=Hanging(),
        time_limit=0.2,
    )
    assert [hit.source_id for hit in result.hits] == ["d0", "d3"]
    assert result.report.notes == (
        "the embedder failed: EmbedderError: hanging: the embedder took longer than 0.05 s",
        "the reranker failed: TimeoutError: the reranker took longer than 0.2 s",
    )
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        (
            {"retrieval_limit": 0},
            ArgumentValueError,
            "{}() needs retrieval_limit >= 1, got retrieval_limit=0",
        ),
        ({"recall_k": 0}, ArgumentValueError, "{}() needs recall_k >= 1, got recall_k=0"),
        (
            {"recall_k": True},
            ArgumentTypeError,
            "{}() needs a whole number for recall_k, got recall_k=True (bool)",
        ),
        (
            {"reranker": "best first"},
            ArgumentTypeError,
            "{}() needs an object with a method rerank for reranker, got 'best first' (str)",
        ),
        (
            {"affinity_threshold": 1.01},
            ArgumentValueError,
            "{}() needs a number from 0 to 1 for affinity_threshold, got affinity_threshold=1.01 (float)",
        ),
    ],
)
@pytest.mark.parametrize("function", [preprocess, assemble])
def test_bad_input(function: Any, options: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        function([], window=100, tokenizer=WORDS, **options)
    assert str(caught.value) == sentence.format(function.__name__)


def test_async_things_need_the_async_door() -> None:
    sentence = r"preprocess\(\) is sync and the reranker is async; use apreprocess\(\)"
    with pytest.raises(ArgumentTypeError, match=sentence):
        searched(Asked(), reranker=AsyncReranker((0, 1.0)))
    with pytest.raises(ArgumentTypeError, match=r"the embedder is async; use aprepare\(\) or aassemble\(\)"):
        searched(VectorRetriever(AsyncTopicEmbedder()))


# ------------------------------------------------------------------------------------------ whatever fails

FAULT = st.sampled_from([None, None, OSError("off"), EmbedderError("topics", "status", "401")])


@given(
    st.lists(FAULT, max_size=6),
    st.sampled_from([None, Reranker((0, 1.0)), Reranker(fault=OSError("gone")), Reranker((9, 1.0))]),
    st.booleans(),
    st.sampled_from(["report", "raise"]),
)
def test_what_began_is_told_to_end(
    faults: list[Exception | None], reranker: Any, hybrid: bool, on_error: Any
) -> None:
    events: list[Event] = []
    retriever = VectorRetriever(TopicEmbedder(*faults), hybrid=hybrid)
    failed = any(faults[:5])  # four documents and the query
    try:
        result = searched(retriever, reranker=reranker, on_error=on_error, events=events.append)
    except (OSError, EmbedderError):
        assert on_error == "raise"
    except ArgumentValueError:
        assert reranker is not None
        assert reranker.scores == [(9, 1.0)]
    else:
        assert result.hits[0].source_id == "d0"
        assert result.report.metrics["embedding"] == ("failed" if failed else "done")
        assert on_error == "report" or not failed
    open_: dict[tuple[str, str], int] = {}
    for event in events:
        key = (event.kind, event.subject)
        if event.state in ("done", "error", "canceled"):
            assert open_.pop(key) > 0
        else:
            open_[key] = open_.get(key, 0) + 1
    assert open_ == {}
