"""A reranker's order, and what is left where there is none."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import Found, Hit, SearchReport, arerank, rerank
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from tests.context.cases import case

HITS = [Hit(f"text {n}", 1 - n / 100, "f", n) for n in range(20)]


class Scores:
    """A reranker that gives what it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[tuple[str, list[str], int]] = []

    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
        self.calls.append((query, list(texts), top_k))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class AsyncScores(Scores):
    async def rerank(self, query: str, texts: Sequence[str], top_k: int) -> Any:
        return super().rerank(query, texts, top_k)


def chunks(found: Sequence[Hit]) -> list[int]:
    return [hit.chunk for hit in found]


def test_a_new_order() -> None:
    reranker = Scores([(7, 0.9), (0, 0.2), (19, 0.5)])
    found = rerank("q", HITS, reranker, final_k=2)
    assert [(hit.chunk, hit.rerank, hit.affinity) for hit in found] == [
        (7, 0.9, HITS[7].affinity),
        (19, 0.5, HITS[19].affinity),
    ]
    assert found.report == SearchReport(rerank="done")
    assert reranker.calls == [("q", [hit.text for hit in HITS], 2)]


def test_equal_scores_keep_the_order_of_recall() -> None:
    assert chunks(rerank("q", HITS, Scores([(5, 1), (3, 1), (4, 2)]))) == [4, 3, 5]


def test_failing() -> None:
    cb30 = case("CB30")
    assert cb30["in"] == "20 recalled; reranker raises"
    assert cb30["out"] == "recall ranks 1..5, rerank failed"
    found = rerank("q", HITS, Scores(OSError("no network")))
    assert found == HITS[:5]
    assert found.report == SearchReport(rerank="failed", notes=("the reranker failed: OSError: no network",))


def test_none_given() -> None:
    found = rerank("q", HITS, None)
    assert found == HITS[:5]
    assert found.report == SearchReport(rerank="unavailable")


def test_indexes_are_those_of_the_texts_that_it_got() -> None:
    hits = [HITS[0], Hit(" \n", 0.9, "f", 1), HITS[2], HITS[3]]
    reranker = Scores([(1, 0.9), (2, 0.1)])
    found = rerank("q", hits, reranker)
    assert reranker.calls == [("q", ["text 0", "text 2", "text 3"], 5)]
    assert chunks(found) == [2, 3]
    assert found.report.notes == ("1 of 4 hits have no text; they are left out",)
    assert chunks(rerank("q", hits, Scores(OSError()), final_k=2)) == [0, 2]


def test_nothing_but_blanks() -> None:
    reranker = Scores([])
    found = rerank("q", [Hit("", 0.9, "f"), Hit(" ", 0.8, "f", 1)], reranker)
    assert (found, reranker.calls) == ([], [])
    assert found.report.notes == ("2 of 2 hits have no text; they are left out",)
    assert rerank("q", [], reranker).report == SearchReport()


def test_what_the_search_reported_stays() -> None:
    hits = Found(HITS, SearchReport(embedding="failed", notes=("no vectors",)), 0.0)
    found = rerank("q", hits, Scores([(0, 1)]))
    assert found.report == SearchReport(embedding="failed", rerank="done", notes=("no vectors",))
    assert found.threshold == 0.0
    assert found.report.to_json() == {"embedding": "failed", "rerank": "done", "notes": ["no vectors"]}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ([(20, 1.0)], "the reranker gave index 20 for 20 texts; the first has index 0"),
        ([(-1, 1.0)], "the reranker gave index -1 for 20 texts; the first has index 0"),
        ([(3, 1.0), (3, 0.5)], "the reranker gave index 3 twice"),
    ],
)
@pytest.mark.parametrize("on_error", ["report", "raise"])
def test_wrong_indexes(answer: Any, sentence: str, on_error: Any) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        rerank("q", HITS, Scores(answer), on_error=on_error)
    assert (type(caught.value), str(caught.value)) == (ArgumentValueError, sentence)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "ArgumentTypeError: a reranker gives pairs of index and score, got None (NoneType)"),
        ("ab", "ArgumentTypeError: a reranker gives pairs of index and score, got 'ab' (str)"),
        (
            [(True, 1.0)],
            "ArgumentTypeError: a reranker gives pairs of index and score, got (True, 1.0) (tuple) among them",
        ),
        (
            [0.5, 0.4],
            "ArgumentTypeError: a reranker gives pairs of index and score, got 0.5 (float) among them",
        ),
        (
            [(0.0, 1.0)],
            "ArgumentTypeError: a reranker gives pairs of index and score, got (0.0, 1.0) (tuple) among them",
        ),
        (
            [(0, "x")],
            "ArgumentTypeError: a reranker gives pairs of index and score, got (0, 'x') (tuple) among them",
        ),
        (
            [(1, math.nan)],
            "ArgumentValueError: a reranker gives finite scores, got (1, nan) (tuple)",
        ),
        ([(1, math.inf)], "ArgumentValueError: a reranker gives finite scores, got (1, inf) (tuple)"),
        ([], "ArgumentValueError: a reranker gives at least one score, got none"),
    ],
)
def test_answers_that_cannot_be_used(answer: Any, said: str) -> None:
    found = rerank("q", HITS, Scores(answer))
    assert found == HITS[:5]
    assert found.report == SearchReport(rerank="failed", notes=(f"the reranker failed: {said}",))
    with pytest.raises((ArgumentTypeError, ArgumentValueError)):
        rerank("q", HITS, Scores(answer), on_error="raise")


SCORES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)),
    unique_by=lambda pair: pair[0],
)


@given(SCORES, st.sets(st.integers(0, 7)), st.integers(1, 9))
def test_any_scores(scores: list[tuple[int, float]], blank: set[int], final_k: int) -> None:
    hits = [Hit(" " if n in blank else f"text {n}", 0.5, "f", n) for n in range(8)]
    texts = [hit for hit in hits if hit.text.strip()]
    scores = [(index, score) for index, score in scores if index < len(texts)]
    found = rerank("q", hits, Scores(scores), final_k=final_k)
    if not scores or not texts:
        assert found == texts[:final_k]
        assert found.report.rerank == ("failed" if texts else "unavailable")
        return
    assert len(found) == min(final_k, len(scores))
    order = [(-float(hit.rerank or 0), hit.chunk) for hit in found]
    assert order == sorted(order)
    assert {(hit.chunk, hit.rerank) for hit in found} <= {(texts[i].chunk, s) for i, s in scores}
    left = [score for i, score in scores if texts[i].chunk not in chunks(found)]
    assert not left or max(left) <= min(hit.rerank for hit in found if hit.rerank is not None)


def test_numbers_of_numpy() -> None:
    import numpy as np

    found = rerank("q", HITS, Scores([(np.int64(4), np.float32(0.5))]))
    assert [(hit.chunk, hit.rerank, type(hit.rerank)) for hit in found] == [(4, 0.5, float)]


class Slow:
    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> list[tuple[int, float]]:
        time.sleep(0.3)
        return [(0, 1.0)]


def test_too_late() -> None:
    found = rerank("q", HITS, Slow(), time_limit=0.01)
    assert found == HITS[:5]
    assert found.report.notes == ("the reranker failed: TimeoutError: the reranker took longer than 0.01 s",)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [Scores, AsyncScores])
async def test_async(kind: type[Scores]) -> None:
    assert chunks(await arerank("q", HITS, kind([(2, 1.0)]))) == [2]
    failed = await arerank("q", HITS, kind(OSError("off")))
    assert (failed.report.rerank, len(failed)) == ("failed", 5)


def test_arguments() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"rerank\(\) is sync and the reranker is async; use arerank\(\)"
    ):
        rerank("q", HITS, AsyncScores([(0, 1.0)]))
    with pytest.raises(ArgumentTypeError, match=r"rerank\(\) needs an object with a method rerank"):
        rerank("q", HITS, object())
    with pytest.raises(ArgumentValueError, match=r"rerank\(\) needs final_k >= 1, got final_k=0"):
        rerank("q", HITS, None, final_k=0)
    with pytest.raises(
        ArgumentTypeError, match=r"rerank\(\) needs a whole number for final_k, got final_k=True"
    ):
        rerank("q", HITS, None, final_k=True)
    with pytest.raises(ArgumentTypeError, match=r"rerank\(\) needs text for query, got query=b'q' \(bytes\)"):
        rerank(b"q", HITS, None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentValueError, match="on_error to be one of report, raise"):
        rerank("q", HITS, None, on_error="ignore")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
