"""What ``preprocess`` gives, and what it takes: its arguments, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast

import attrs

from priompt_py.author.checks import choice, got, truth, whole_number, wrong_type, wrong_value
from priompt_py.context.exact import Share, exact_share
from priompt_py.context.messages import Hit, Message
from priompt_py.context.reading import OnError, Parsers, check_parsers
from priompt_py.context.reports import ContextReport, Strategy
from priompt_py.context.reranking import check_reranker
from priompt_py.context.wording import Wording
from priompt_py.tokens.tokenizer import get_tokenizer

__all__ = ["Options", "Outcome", "Preprocessed", "Template"]

Template: TypeAlias = Callable[[Sequence[Message]], str]
"""How a model's chat template writes messages; it may raise for what the model doesn't take."""

Outcome = Literal["unchanged", "full-content", "citations", "no-citations"]


@attrs.frozen
class Preprocessed:
    """The newest message as it is to be sent and stored.

    ``outcome`` says what became of its files; ``reason``, for ``no-citations``, why there are none: ``no-hits``,
    ``empty-query``, ``no-retriever``, ``no-documents`` or ``retriever-failed``. ``hits`` are the citations, the first
    being citation 1. ``report`` holds strategy, metrics, events, notes, and in its one pass the files that could not
    be read.
    """

    message: Message | None
    outcome: Outcome
    strategy: Strategy
    report: ContextReport
    hits: tuple[Hit, ...] = ()
    reason: str = ""


class Options:
    """The arguments, checked."""

    def __init__(
        self,
        tag: str,
        *,
        window: object,
        tokenizer: object,
        retriever: Any,
        reranker: Any,
        parsers: Parsers,
        template: object,
        share: Share,
        retrieval_limit: object,
        recall_k: object,
        affinity_threshold: object,
        notice: object,
        on_error: object,
        events: Any,
        citations: Any,
        time_limit: float | None,
        clock: Callable[[], float],
        wording: Wording,
        search_only: bool = False,
    ) -> None:
        self.tag = tag
        self.window = None if window is None else whole_number(tag, "window", window, least=1)
        self.tokenizer = get_tokenizer(tokenizer)
        as_retriever = getattr(retriever, "as_retriever", None)  # a knowledge base
        self.retriever = retriever = as_retriever() if callable(as_retriever) else retriever
        if retriever is not None and not callable(getattr(retriever, "search", None)):
            raise wrong_type(
                "retriever",
                f"{tag}() needs an object with a method search for retriever, got {got(retriever)}",
            )
        self.own_documents = bool(getattr(retriever, "own_documents", False))
        check_reranker(tag, reranker)
        self.reranker = reranker
        self.parsers = check_parsers(tag, parsers)
        if template is not None and not callable(template):
            raise wrong_type(
                "template", f"{tag}() needs a function for template, got template={got(template)}"
            )
        self.template = cast("Template | None", template)
        self.share = exact_share(tag, "share", share)
        self.limit = whole_number(tag, "retrieval_limit", retrieval_limit, least=1)
        self.recall_k = whole_number(tag, "recall_k", recall_k, least=1)
        self.threshold = _threshold(tag, affinity_threshold)
        self.notice = truth(tag, "notice", notice)
        self.on_error: OnError = choice(tag, "on_error", on_error, ("report", "raise"))
        self.events = events
        self.citations = citations
        self.time_limit = time_limit
        self.clock = clock
        self.words = wording
        self.search_only = (
            search_only  # nothing is chosen: the caller shows the files, and wants what is in them
        )


def _threshold(tag: str, value: object) -> float | None:
    if value is None:
        return None
    if type(value) is not float and type(value) is not int:
        raise wrong_type(
            "affinity_threshold",
            f"{tag}() needs a number or None for affinity_threshold, got affinity_threshold={got(value)}",
        )
    if not 0 <= value <= 1:  # NaN is outside too
        raise wrong_value(
            "affinity_threshold",
            f"{tag}() needs a number from 0 to 1 for affinity_threshold, got affinity_threshold={got(value)}",
        )
    return float(value)
