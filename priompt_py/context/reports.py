"""What was done to a conversation, and why: plain data that turns into JSON. No clocks; whoever measures says so.

::

    ContextReport              of one assembly or pipeline
    ├── passes                 PassReport, in the order of the passes
    │   ├── dropped            Drop: a message, or a part of one
    │   └── restored           Restored: a message that came back
    ├── strategy               Strategy: how the newest files go in
    ├── metrics                figures by name
    ├── events                 Event, everything that was told to the sink, in order
    └── notes                  sentences for people
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from priompt_py.context.messages import Hit, Message

__all__ = [
    "ContextReport",
    "Drop",
    "Event",
    "EventKind",
    "EventState",
    "Found",
    "PassReport",
    "PassResult",
    "Reason",
    "Restored",
    "SearchReport",
    "Strategy",
]

Reason = Literal[
    "ineligible",
    "error",
    "compacted",
    "over-limit",
    "tool-cleanup",
    "emptied",
    "orphan-result",
    "unanswered-call",
    "duplicate-result",
    "expired",
    "duplicate",
    "merged",
    "unreadable",
    "parse-failed",
]
EventKind = Literal["choosing", "parsing", "embedding", "retrieving", "reranking", "summarising", "pass"]
EventState = Literal["waiting", "loading", "done", "error", "canceled"]

JsonObject: TypeAlias = dict[str, Any]


@attrs.frozen
class Drop:
    """A message that went, or a part of one.

    ``part`` is the part's index, from 0, in the message as the pass got it; None for the whole message. ``stage`` is
    the pass, or the stage of one. ``detail`` says more, for people: "age 21", "as in m3".
    """

    message_id: str
    part: int | None
    stage: str
    reason: Reason
    detail: str = ""

    def to_json(self) -> JsonObject:
        return attrs.asdict(self)


@attrs.frozen
class Restored:
    """A message that came back since it defines ``term``, which ``references`` (ids, in order) speak of."""

    message_id: str
    term: str
    references: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return {
            "message_id": self.message_id,
            "term": self.term,
            "references": list(self.references),
        }


@attrs.frozen
class PassReport:
    """What one pass did.

    ``kept`` is how many messages it gave; ``dropped`` what went, in order of the conversation; ``demoted`` what stays
    at a low priority instead; ``merged`` are pairs of ids, what went and what it went into. Tokens are None unless the pass was given a way to count.
    """

    name: str
    kept: int
    dropped: tuple[Drop, ...] = ()
    restored: tuple[Restored, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()
    demoted: tuple[Drop, ...] = ()
    tokens_before: int | None = None
    tokens_after: int | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """The report as JSON values, keys in the order of the fields."""
        return {
            "name": self.name,
            "kept": self.kept,
            "dropped": [drop.to_json() for drop in self.dropped],
            "restored": [one.to_json() for one in self.restored],
            "merged": [list(pair) for pair in self.merged],
            "demoted": [drop.to_json() for drop in self.demoted],
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "notes": list(self.notes),
        }


@attrs.frozen
class PassResult:
    """What a pass gives: the messages that stay, in order, and its report."""

    messages: list[Message]
    report: PassReport


@attrs.frozen
class Strategy:
    """How the newest files go in: ``name`` is ``inject-full-content``, ``retrieval`` or ``none``.

    ``available`` is how many tokens files and prompt could take together, None where it isn't known; ``counted`` the
    tokens of the files that were measured, ``parsed`` how many those were.
    """

    name: str
    reason: str
    available: int | None = None
    counted: int = 0
    parsed: int = 0

    def to_json(self) -> JsonObject:
        return attrs.asdict(self)


@attrs.frozen(kw_only=True)
class SearchReport:
    """How a search went: which of its steps were ``done``, ``failed``, or ``unavailable`` (nothing was given for it).

    A search whose ``embedding`` failed is one by words alone; one whose ``rerank`` is not done is in the order of
    recall. ``notes`` say why, for people.
    """

    embedding: Literal["done", "failed", "unavailable"] = "unavailable"
    rerank: Literal["done", "failed", "unavailable"] = "unavailable"
    notes: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return {"embedding": self.embedding, "rerank": self.rerank, "notes": list(self.notes)}


class Found(list[Hit]):
    """Hits, the best first, and how the search for them went.

    ``threshold`` is set where the hits' affinities are of another measure than the retriever's usual one, since that
    could not be had; it counts in place of any other then. ``failure`` is the exception behind a step that failed.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        report: SearchReport | None = None,
        threshold: float | None = None,
        *,
        failure: Exception | None = None,
    ) -> None:
        super().__init__(hits)
        self.report = SearchReport() if report is None else report
        self.threshold = threshold
        self.failure = failure


@attrs.frozen
class Event:
    """Something began, went on or ended.

    ``subject`` is ``""`` for the step itself, else the id of the attachment that it is about (for passes: the pass's
    name). ``progress`` is in per cent, None where it isn't known. Every subject that began ends in ``done``,
    ``error`` or ``canceled``.
    """

    kind: EventKind
    state: EventState
    subject: str = ""
    progress: float | None = None
    text: str = ""

    def to_json(self) -> JsonObject:
        return attrs.asdict(self)


@attrs.frozen
class ContextReport:
    """Everything that a pipeline or an assembly did, in order.

    ``priorities`` are those that a pass gave instead of dropping, by message id.
    """

    passes: tuple[PassReport, ...] = ()
    strategy: Strategy | None = None
    metrics: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    events: tuple[Event, ...] = ()
    notes: tuple[str, ...] = ()
    priorities: Mapping[str, float] = attrs.field(factory=dict[str, float])

    def to_json(self) -> JsonObject:
        """The report as JSON values, keys in the order of the fields."""
        return {
            "passes": [report.to_json() for report in self.passes],
            "strategy": None if self.strategy is None else self.strategy.to_json(),
            "metrics": dict(self.metrics),
            "events": [event.to_json() for event in self.events],
            "notes": list(self.notes),
            "priorities": dict(self.priorities),
        }
