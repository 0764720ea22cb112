"""A server that fails in every way, behind a knowledge base and behind a search in memory: visible, and never in the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from priompt_py.context import (
    Attachment,
    ClientEmbedder,
    EndpointEmbedder,
    KnowledgeBase,
    VectorRetriever,
)
from priompt_py.errors import EmbedderError
from tests.context.embedders.server import Said, Server, answer_of, serving

NOTES = [
    Attachment("refunds", "refunds.txt", text="Refunds take ten days. Возврат денег занимает десять дней."),
    Attachment("shipping", "shipping.txt", text="Shipping takes five days. 退款需要十天。"),
]
Answer = Callable[[dict[str, Any]], Said]


def each(vector: list[float]) -> Answer:
    """This vector for each text."""
    return lambda request: Said(answer_of([vector] * len(request["input"])))


FAILURES: dict[str, tuple[Said | Answer, str]] = {
    "an error": (Said({"error": "down"}, 500), "status 500: down"),
    "overload": (Said({"error": "busy"}, 429), "status 429: busy"),
    "a time-out": (Said({}, pause=1.0), "it took longer than 0.3 s"),
    "a wrong size": (each([1.0, 2.0]), "its vectors have 2 numbers, not 3"),
    "a wrong count": (Said(answer_of([[1.0, 2.0, 3.0]] * 9)), "it gave 9 vectors for"),
    "NaN": (each([1.0, math.nan, 2.0]), "holds NaN"),
    "infinity": (each([1.0, math.inf, 2.0]), "holds an infinite number"),
    "no JSON": (Said(b"<html>"), "its answer is no JSON"),
    "half an answer": (Said(answer_of([[1.0, 2.0, 3.0]] * 2), cut=True), "it broke the connection off"),
}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def embedder(server: Server) -> EndpointEmbedder:
    return EndpointEmbedder(server.url, "m", dim=3, timeout=0.3, retries=0)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_search_by_words_is_left(server: Server, tmp_path: Path, failure: str) -> None:
    said, words = FAILURES[failure]
    with KnowledgeBase.open(tmp_path / "base.db", embedder(server)) as base:
        base.add(NOTES)
        assert base.search("refund").report.embedding == "done"
        server.answers.append(said)
        found = base.search("refund")
        assert [hit.source_id for hit in found] == ["refunds"]
        assert found.report.embedding == "failed"
        (note,) = [note for note in found.report.notes if "embedder" in note]
        assert words in note
        server.answers.append(said)
        with pytest.raises(EmbedderError, match=words):
            base.search("refund", on_error="raise")
        assert base.search("refund").report.embedding == "done"


@pytest.mark.parametrize("failure", FAILURES)
def test_an_addition_fails_once_and_goes_on(server: Server, tmp_path: Path, failure: str) -> None:
    said, words = FAILURES[failure]
    with KnowledgeBase.open(tmp_path / "base.db", embedder(server)) as base:
        server.answers.append(said)
        report = base.add(NOTES)
        assert [one.status for one in report.documents] == ["failed", "failed"]
        assert all(words in one.detail for one in report.documents)
        assert len(server.requests) == 1  # what may have been paid for is not asked for again
        assert base.totals().chunks == 0
        assert [one.status for one in base.add(NOTES).documents] == ["added", "added"]
        assert base.totals().chunks == 2


@pytest.mark.parametrize("failure", FAILURES)
def test_a_search_in_memory(server: Server, failure: str) -> None:
    said, words = FAILURES[failure]
    server.answers.append(said)
    found: Any = VectorRetriever(embedder(server)).search("refund", NOTES, 3)
    assert [hit.source_id for hit in found] == ["refunds"]
    assert found.report.embedding == "failed"
    assert words in " ".join(found.report.notes)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [("возвратом", "refunds"), ("занимают", "refunds"), ("退款", "shipping"), ("需要", "shipping")],
)
def test_inflected_and_unsegmented(server: Server, tmp_path: Path, query: str, expected: str) -> None:
    """By words alone, whatever the vectors say."""
    with KnowledgeBase.open(tmp_path / "base.db", embedder(server)) as base:
        base.add(NOTES)
        server.answers.append(Said(b"", 500))
        assert [hit.source_id for hit in base.search(query)] == [expected]


@pytest.mark.anyio
async def test_an_asynchronous_client_behind_a_base(server: Server, tmp_path: Path) -> None:
    async with AsyncOpenAI(base_url=server.url, api_key="x") as client:
        with KnowledgeBase.open(tmp_path / "base.db", ClientEmbedder(client, "m", dim=3)) as base:
            report = await base.aadd(NOTES)
            assert [one.status for one in report.documents] == ["added", "added"]
            assert (await base.asearch("refund")).report.embedding == "done"
            server.answers.append(Said({"error": {"message": "no"}}, 500))
            found = await base.asearch("refund")
            assert (found.report.embedding, [hit.source_id for hit in found]) == ("failed", ["refunds"])
