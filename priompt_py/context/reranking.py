"""A second look at what a search recalled: a reranker's order, or the search's own where there is no reranker or it fails."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal, cast

import attrs

from priompt_py.author.checks import choice, got, text, whole_number, wrong_type, wrong_value
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, WrongDoor, run_sync
from priompt_py.context.messages import Hit
from priompt_py.context.reading import OnError
from priompt_py.context.reports import Found, SearchReport
from priompt_py.context.telling import said

__all__ = ["FINAL_K", "RECALL_K", "arerank", "check_reranker", "rerank", "rerank_flow"]

RECALL_K = 20
FINAL_K = 5


def rerank(
    query: str,
    hits: Sequence[Hit],
    reranker: Any,
    *,
    final_k: int = FINAL_K,
    on_error: OnError = "report",
    time_limit: float | None = None,
) -> Found:
    """The best ``final_k`` of ``hits`` by ``reranker``, each with its score in ``rerank``; its affinity stays.

    Equal scores keep the order of ``hits``. Hits without text go, with a note. Where ``reranker`` is None, or it fails
    (raises, takes longer than ``time_limit`` seconds, gives no scores or what is no finite number), the first
    ``final_k`` stay in their order, and the report says ``unavailable`` or ``failed``; with ``on_error="raise"`` the
    failure goes up.

    Raises ArgumentValueError for an index that the reranker gives twice, or that is out of range: then its scores
    belong to other texts, and which is anyone's guess. ArgumentTypeError for an async one: :func:`arerank` takes both.
    """
    flow = rerank_flow(
        "rerank",
        SyncDoor("rerank", "arerank"),
        query,
        hits,
        reranker,
        final_k=final_k,
        on_error=on_error,
        time_limit=time_limit,
    )
    return run_sync(flow)


async def arerank(
    query: str,
    hits: Sequence[Hit],
    reranker: Any,
    *,
    final_k: int = FINAL_K,
    on_error: OnError = "report",
    time_limit: float | None = None,
) -> Found:
    """As :func:`rerank`, for a reranker that is async, too; a sync one runs in a thread."""
    return await rerank_flow(
        "arerank",
        AsyncDoor(),
        query,
        hits,
        reranker,
        final_k=final_k,
        on_error=on_error,
        time_limit=time_limit,
    )


def check_reranker(tag: str, reranker: Any) -> None:
    """ArgumentTypeError for what is neither None nor a reranker."""
    if reranker is not None and not callable(getattr(reranker, "rerank", None)):
        raise wrong_type(
            "reranker", f"{tag}() needs an object with a method rerank for reranker, got {got(reranker)}"
        )


async def rerank_flow(
    tag: str,
    door: Door,
    query: str,
    hits: Sequence[Hit],
    reranker: Any,
    *,
    final_k: int,
    on_error: OnError = "report",
    time_limit: float | None = None,
) -> Found:
    """What both do, behind a door, for whoever has one."""
    query = text(tag, "query", query)
    whole_number(tag, "final_k", final_k, least=1)
    choice(tag, "on_error", on_error, ("report", "raise"))
    check_reranker(tag, reranker)
    given = getattr(hits, "report", SearchReport())
    threshold = getattr(hits, "threshold", None)
    failure: Exception | None = getattr(hits, "failure", None)
    texts = [hit for hit in hits if hit.text.strip()]
    notes = list(given.notes)
    if len(texts) < len(hits):
        notes.append(f"{len(hits) - len(texts)} of {len(hits)} hits have no text; they are left out")

    def found(best: Sequence[Hit], outcome: Literal["done", "failed", "unavailable"]) -> Found:
        report = attrs.evolve(given, rerank=outcome, notes=tuple(notes))
        return Found(best, report, threshold, failure=failure)

    if reranker is None or not texts:
        return found(texts[:final_k], "unavailable")
    try:
        answer: object = await door.call(
            "the reranker",
            reranker,
            "rerank",
            query,
            [hit.text for hit in texts],
            final_k,
            time_limit=time_limit,
        )
        scores = _scores(answer)
    except WrongDoor:
        raise
    except Exception as error:
        if on_error == "raise":
            raise
        failure = error
        notes.append(f"the reranker failed: {said(error)}")
        return found(texts[:final_k], "failed")
    _check_indexes(scores, len(texts))
    # Sorted here: some give their scores in the order of the texts.
    best = sorted(scores, key=lambda pair: (-pair[1], pair[0]))[:final_k]
    return found([attrs.evolve(texts[index], rerank=score) for index, score in best], "done")


def _scores(given: object) -> list[tuple[int, float]]:
    """What a reranker gave, as pairs; raises ArgumentTypeError, and ArgumentValueError for what is no score."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise wrong_type("reranker", f"a reranker gives pairs of index and score, got {got(given)}")
    scores: list[tuple[int, float]] = []
    for one in cast("Sequence[object]", given):
        try:
            index, score = cast("Any", one)
            if isinstance(index, bool):  # "is it any good", where the place in the list is asked for
                raise TypeError
            pair = (operator.index(index), float(score))  # numpy's numbers, too
        except (TypeError, ValueError):
            raise wrong_type(
                "reranker", f"a reranker gives pairs of index and score, got {got(one)} among them"
            ) from None
        if not math.isfinite(pair[1]):
            raise wrong_value("reranker", f"a reranker gives finite scores, got {got(one)}")
        scores.append(pair)
    if not scores:
        raise wrong_value("reranker", "a reranker gives at least one score, got none")
    return scores


def _check_indexes(scores: Sequence[tuple[int, float]], count: int) -> None:
    seen: set[int] = set()
    for index, _ in scores:
        if not 0 <= index < count:
            raise wrong_value(
                "reranker", f"the reranker gave index {index} for {count} texts; the first has index 0"
            )
        if index in seen:
            raise wrong_value("reranker", f"the reranker gave index {index} twice")
        seen.add(index)
