"""A knowledge base given as a retriever: it searches itself and the files, and is cited like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from priompt_py import ArgumentTypeError, ArgumentValueError, EmbedderError, KnowledgeBaseError, render
from priompt_py.context import (
    Attachment,
    Event,
    Hit,
    KnowledgeBase,
    Message,
    SessionFiles,
    VectorRetriever,
    aassemble,
    assemble,
    preprocess,
)
from priompt_py.testing import WordTokenizer
from tests.context.knowledge.stand_ins import near, note
from tests.context.searching import AsyncTopicEmbedder, TopicEmbedder

WORDS = WordTokenizer()
POLICY = Attachment("p", "policy.md", text="refund policy thirty days")
SHIPPING = Attachment("s", "ship.md", text="ship parcel takes five days")
MINE = Attachment("m", "mine.txt", text="my refund took ninety days")


@pytest.fixture
def base(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "words.db") as opened:
        opened.add([POLICY, SHIPPING])
        yield opened


def with_vectors(path: Path, embedder: Any, **options: Any) -> KnowledgeBase:
    with KnowledgeBase.open(path, TopicEmbedder()) as made:
        made.add([POLICY, SHIPPING])
    return KnowledgeBase.open(path, embedder, **options)


def ask(text: str, *files: Attachment) -> Message:
    return Message("q", "user", text, attachments=files)


def found(hits: Sequence[Hit]) -> list[tuple[str, float, float | None]]:
    return [(hit.source_id, round(hit.affinity, 3), hit.rank_score) for hit in hits]


def test_a_question_without_files(base: KnowledgeBase) -> None:
    sunk: list[Sequence[Hit]] = []
    events: list[Event] = []
    assembly = assemble(
        [ask("refund days?")],
        window=8_000,
        tokenizer=WORDS,
        retriever=base,
        citations=sunk.append,
        events=events.append,
    )
    assert found(assembly.hits) == [("p", 0.421, None), ("s", 0.079, None)]
    assert [hit.source_name for hit in assembly.hits] == ["policy.md", "ship.md"]
    assert sunk == [list(assembly.hits)]
    assert [(event.state, event.text) for event in events if event.kind == "retrieving"] == [
        ("loading", "loading the search"),
        ("loading", "searching"),
        ("done", "2 found"),
    ]
    assert assembly.report.metrics["hits"] == [
        {"source": "p", "chunk": 0, "affinity": near(0.421053), "tokens": 4},
        {"source": "s", "chunk": 0, "affinity": near(0.079336), "tokens": 5},
    ]
    assert assembly.report.metrics["embedding"] == "unavailable"
    whole = render(assembly.node, token_limit=1_000, tokenizer=WORDS)
    assert whole.messages is not None
    assert whole.messages[0].text == (
        "These passages were found in the user's files:\n\n"
        'Citation 1: "refund policy thirty days"\n\nCitation 2: "ship parcel takes five days"\n\n'
        "Use the passages where they help to answer; if none of them does, answer without them and don't speak of "
        "them.\n\nrefund days?"
    )
    assert assembly.cited(whole) == list(assembly.hits)
    less = render(assembly.node, token_limit=whole.token_count - 1, tokenizer=WORDS)
    assert [hit.source_id for hit in assembly.cited(less)] == ["p"]


def test_files_are_searched_beside_it(base: KnowledgeBase) -> None:
    """A text that both hold is one hit, the file's; of equal places the file's goes first."""
    same = Attachment("mine/policy.md", "policy (1).md", text="refund policy thirty days")
    hits = assemble([ask("refund days", MINE, same)], window=8_000, retriever=base).hits
    assert found(hits) == [
        ("mine/policy.md", 0.421, 1 / 61 + 1 / 61),
        ("m", 0.381, 1 / 62),
        ("s", 0.079, 1 / 62),
    ]


def test_files_may_be_left_out(base: KnowledgeBase) -> None:
    alone = base.as_retriever(files=False)
    assert alone.pending([MINE]) == []
    assert found(assemble([ask("refund days", MINE)], window=8_000, retriever=alone).hits) == [
        ("p", 0.421, None),
        ("s", 0.079, None),
    ]


@pytest.mark.parametrize("text", ["Hi there!", "спасибо", "  "])
def test_what_is_not_searched(base: KnowledgeBase, text: str) -> None:
    base.add(Attachment("hello", "hello.txt", text="Hi there! спасибо"))
    assert assemble([ask(text)], window=8_000, retriever=base).hits == ()
    done = preprocess([ask(text)], window=8_000, retriever=base)
    assert (done.outcome, done.strategy.reason, done.message) == ("unchanged", "no-files", ask(text))
    files = assemble(
        [ask(text, Attachment("f", "f.txt", text="Hi there! спасибо"))], window=8_000, retriever=base
    )
    assert [hit.source_id for hit in files.hits] == (["f"] if text.strip() else [])


def test_preprocess(base: KnowledgeBase) -> None:
    alone = preprocess([ask("refund")], window=8_000, retriever=base)
    assert (alone.outcome, alone.strategy.name, alone.strategy.reason) == (
        "citations",
        "retrieval",
        "own-documents",
    )
    assert [hit.source_id for hit in alone.hits] == ["p"]
    nothing = preprocess([ask("zebra")], window=8_000, retriever=base)
    assert (nothing.outcome, nothing.reason) == ("no-citations", "no-hits")
    silent = preprocess([ask("zebra")], window=8_000, retriever=base, notice=False)
    assert silent.message == ask("zebra")


def test_files_that_go_in_whole_and_the_base_beside_them(base: KnowledgeBase) -> None:
    sunk: list[Sequence[Hit]] = []
    done = preprocess([ask("refund", MINE)], window=8_000, retriever=base, citations=sunk.append)
    assert (done.outcome, done.strategy.reason) == ("full-content", "fits")
    assert [hit.source_id for hit in done.hits] == ["p"]
    assert sunk == [list(done.hits)]
    assert done.message is not None
    assert done.message.text == (
        'These passages were found in the user\'s files:\n\nCitation 1: "refund policy thirty days"\n\n'
        "Use the passages where they help to answer; if none of them does, answer without them and don't speak of "
        "them.\n\nThe user attached files to this message. Their whole content follows, each between two marked "
        "lines.\n\n** mine.txt full content **\n\nmy refund took ninety days\n\n** end of mine.txt **\n\n"
        "Answer the user's query with the help of these files.\n\nUser query: refund"
    )
    assert done.message.attachments[0].inlined
    nothing = preprocess([ask("zebra", MINE)], window=8_000, retriever=base, citations=sunk.append)
    assert nothing.message is not None
    assert nothing.message.text.startswith("The user attached files")
    assert len(sunk) == 1


def test_files_that_cannot_be_read_leave_the_base(base: KnowledgeBase) -> None:
    done = preprocess([ask("refund", Attachment("x", "x.txt"))], window=None, retriever=base)
    assert [hit.source_id for hit in done.hits] == ["p"]


# ------------------------------------------------------------------------------------------ vectors


def test_vectors_of_both(tmp_path: Path) -> None:
    """The question is embedded once, a file once for all turns."""
    embedder = TopicEmbedder()
    with with_vectors(tmp_path / "v.db", embedder) as base:
        for _ in range(2):
            assembly = assemble([ask("money", MINE)], window=8_000, retriever=base)
            # Words find nothing, and "ship" has a cosine of 0.
            assert found(assembly.hits) == [("m", 1.0, 1 / 61), ("p", 1.0, 1 / 61)]
            assert assembly.report.metrics["embedding"] == "done"
    assert embedder.calls == [
        ("passage", ["mine.txt\nmy refund took ninety days"]),
        ("query", ["money"]),
        ("query", ["money"]),
    ]


class Near(TopicEmbedder):
    """Everything is somewhat near to everything."""

    def vector(self, text: str) -> list[float]:
        return [number + 0.6 for number in super().vector(text)]


@pytest.mark.parametrize(
    ("options", "threshold", "expected"),
    [
        ({}, None, ["p", "s"]),  # cosines of 1 and 0.77; 0.5
        ({"vector_threshold": 0.8}, None, ["p"]),
        ({"vector_threshold": 0.8}, 0.5, ["p", "s"]),
        ({"vector_threshold": -1}, None, ["p", "s"]),
        ({}, 0.8, ["p"]),
    ],
)
def test_thresholds(
    tmp_path: Path, options: dict[str, Any], threshold: float | None, expected: list[str]
) -> None:
    with KnowledgeBase.open(tmp_path / "v.db", Near(), **options) as base:
        base.add([POLICY, SHIPPING])
        retriever = base.as_retriever(threshold=threshold)
        hits = assemble([ask("money")], window=8_000, retriever=retriever).hits
        assert [hit.source_id for hit in hits] == expected


def test_the_embedders_own_threshold(tmp_path: Path) -> None:
    embedder: Any = Near()
    embedder.default_threshold = 0.8
    with KnowledgeBase.open(tmp_path / "v.db", embedder) as base:
        base.add([POLICY, SHIPPING])
        assert [hit.source_id for hit in base.search("money")] == ["p", "s"]
        assert [hit.source_id for hit in assemble([ask("money")], window=8_000, retriever=base).hits] == ["p"]


def test_async_embedders(tmp_path: Path) -> None:
    embedder = AsyncTopicEmbedder()
    with with_vectors(tmp_path / "v.db", embedder) as base:
        with pytest.raises(ArgumentTypeError) as caught:
            assemble([ask("money")], window=8_000, retriever=base)
        assert str(caught.value) == (
            "KnowledgeRetriever.search() is sync and the embedder is async; use asearch() or aassemble()"
        )
        assembly = asyncio.run(aassemble([ask("money", MINE)], window=8_000, retriever=base))
        assert [hit.source_id for hit in assembly.hits] == ["m", "p"]
    assert [kind for kind, _ in embedder.calls] == ["passage", "query"]


class Both(TopicEmbedder):
    """Has a twin for event loops, and says which of them was asked."""

    async def aembed(self, texts: Sequence[str], kind: str) -> Any:
        return super().embed(texts, f"a{kind}")


def test_the_twin_of_an_embedder(tmp_path: Path) -> None:
    embedder = Both()
    with with_vectors(tmp_path / "v.db", embedder) as base:
        asyncio.run(aassemble([ask("money", MINE)], window=8_000, retriever=base))
    assert [kind for kind, _ in embedder.calls] == ["apassage", "aquery"]


class Handing(TopicEmbedder):
    """A sync method that hands on what an async one gives."""

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        async def later() -> Any:
            return TopicEmbedder.embed(self, texts, kind)

        return later()


def test_an_awaitable_is_awaited_for_each(tmp_path: Path) -> None:
    embedder = Handing()
    with with_vectors(tmp_path / "v.db", embedder) as base:
        assembly = asyncio.run(aassemble([ask("money", MINE)], window=8_000, retriever=base))
        assert [hit.source_id for hit in assembly.hits] == ["m", "p"]
    assert [kind for kind, _ in embedder.calls] == ["passage", "query", "query"]


# ------------------------------------------------------------------------------------------ failures


def test_an_embedder_that_fails_is_asked_once(tmp_path: Path) -> None:
    """Words find the rest, in both, and by their own measure; a threshold that is meant for cosines doesn't count."""
    down = OSError("no network")
    for files, kind in (((), "query"), ((MINE,), "passage")):
        embedder = TopicEmbedder(down)
        with with_vectors(tmp_path / "v.db", embedder) as base:
            assembly = assemble([ask("refund", *files)], window=8_000, retriever=base, affinity_threshold=0.9)
            assert [hit.source_id for hit in assembly.hits] == ["m", "p"][-1 - len(files) :]
            assert [hit.affinity < 0.9 for hit in assembly.hits] == [True] * len(assembly.hits)
            assert assembly.report.metrics["embedding"] == "failed"
            assert "no network" in assembly.report.notes[0]
        assert [called for called, _ in embedder.calls] == [kind]


def test_an_embedder_that_fails_and_is_to_raise(tmp_path: Path) -> None:
    for files, error in (((), OSError), ((MINE,), EmbedderError)):
        embedder = TopicEmbedder(OSError("no network"))
        with (
            with_vectors(tmp_path / "v.db", embedder) as base,
            pytest.raises(error, match="no network"),
        ):
            assemble([ask("refund", *files)], window=8_000, retriever=base, on_error="raise")


class Longer(TopicEmbedder):
    """Another model under the old name."""

    dim = 4

    def vector(self, text: str) -> list[float]:
        return [*super().vector(text), 0.0]


def test_files_that_have_vectors_and_a_base_whose_vectors_are_others(tmp_path: Path) -> None:
    made = tmp_path / "v.db"
    embedder = TopicEmbedder()
    with with_vectors(made, embedder) as base:
        embedder.dim = 4
        embedder.vector = Longer().vector  # type: ignore[method-assign]
        assembly = assemble([ask("refund", MINE)], window=8_000, retriever=base)
        # By words alone, so that both lists have one measure.
        assert found(assembly.hits) == [("m", 0.4, 1 / 61), ("p", 0.421, 1 / 61)]
        assert assembly.report.metrics["embedding"] == "failed"


def test_a_base_that_is_closed(base: KnowledgeBase) -> None:
    retriever = base.as_retriever()
    base.close()
    assembly = assemble([ask("refund")], window=8_000, retriever=retriever)
    assert assembly.hits == ()
    assert assembly.report.notes == (
        f"the retriever failed: KnowledgeBaseError: {base.place}: the knowledge base was closed",
    )
    with pytest.raises(KnowledgeBaseError):
        assemble([ask("refund")], window=8_000, retriever=retriever, on_error="raise")


class Backwards:
    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> list[tuple[int, float]]:
        return [(index, float(index)) for index in range(len(texts))]


def test_the_bases_reranker_looks_at_both(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "words.db", reranker=Backwards()) as base:
        base.add([POLICY, SHIPPING])
        assembly = assemble([ask("refund days", MINE)], window=8_000, retriever=base, retrieval_limit=2)
        assert [(hit.source_id, hit.rerank) for hit in assembly.hits] == [("s", 2.0), ("p", 1.0)]
        assert assembly.report.metrics["rerank"] == "done"


# ------------------------------------------------------------------------------------------ arguments


def test_a_retriever_for_all_turns(base: KnowledgeBase) -> None:
    assert base.as_retriever() is base.as_retriever()
    assert base.as_retriever(files=False) is not base.as_retriever()


WRONG: Any = 1
Call = Callable[[KnowledgeBase], object]
REFUSALS: list[tuple[Call, type[Exception], str]] = [
    (
        lambda base: base.as_retriever(files=WRONG),
        ArgumentTypeError,
        "as_retriever() needs True or False for files, got files=1 (int)",
    ),
    (
        lambda base: base.as_retriever(threshold=True),
        ArgumentTypeError,
        "as_retriever() needs a number or None for threshold, got threshold=True (bool)",
    ),
    (
        lambda base: base.as_retriever(threshold=1.5),
        ArgumentValueError,
        "as_retriever() needs a number from -1 to 1 for threshold, got threshold=1.5 (float)",
    ),
    (
        lambda base: KnowledgeBase.open(base.place, vector_threshold=float("nan")),
        ArgumentValueError,
        "KnowledgeBase() needs a number from -1 to 1 for vector_threshold, got vector_threshold=nan (float)",
    ),
    (
        lambda base: KnowledgeBase.open(base.place, fusion_k=-1),
        ArgumentValueError,
        "KnowledgeBase() needs fusion_k >= 0, got fusion_k=-1",
    ),
    (
        lambda _: VectorRetriever(TopicEmbedder(), fusion_k=True),
        ArgumentTypeError,
        "VectorRetriever() needs a whole number for fusion_k, got fusion_k=True (bool)",
    ),
    (
        lambda base: base.as_retriever().search("x", [], 0),
        ArgumentValueError,
        "KnowledgeRetriever.search() needs limit >= 1, got limit=0",
    ),
    (
        lambda base: SessionFiles([MINE], retriever=base),
        ArgumentTypeError,
        (
            "SessionFiles() needs a retriever that searches the files alone, got a knowledge base; "
            "a knowledge base has tools of its own: tools()"
        ),
    ),
]


@pytest.mark.parametrize(("call", "error", "said"), REFUSALS)
def test_wrong_arguments(base: KnowledgeBase, call: Call, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        call(base)
    assert str(caught.value) == said


def test_the_constant_of_the_fusion(tmp_path: Path) -> None:
    """With 0 a first place alone, 1, is before two third ones, 2 / 3; with 60 it is not."""
    texts = {
        "a": "refund refund refund",  # first by words; its vector is the question's, too, but for the threshold
        "b": "ship",
        "c": "parcel refund ship",
    }
    for k, scores in ((0, {"a": 2.0}), (60, {"a": 1 / 61 + 1 / 61})):
        with KnowledgeBase.open(tmp_path / f"{k}.db", TopicEmbedder(), fusion_k=k) as base:
            base.add([note(id_, text) for id_, text in texts.items()])
            best = base.search("refund")[0]
            assert {best.source_id: best.rank_score} == scores
        hit = VectorRetriever(TopicEmbedder(), fusion_k=k).search(
            "refund", [note(id_, text) for id_, text in texts.items()], 1
        )[0]
        assert {hit.source_id: hit.rank_score} == scores
