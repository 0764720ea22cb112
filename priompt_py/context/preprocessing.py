"""The newest message and its files: put in whole where they fit, searched where they don't.

``preprocess`` works on the last message alone, which is the user's; the earlier ones are history, and whatever a former
turn did with their files stays done. What it gives back is the message to send *and* to store: files that went in whole
are ``inlined`` then and are searched no more, files that were searched stay searchable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, run_sync
from priompt_py.context.exact import Share
from priompt_py.context.messages import Message
from priompt_py.context.preprocess_options import Options, Outcome, Preprocessed, Template
from priompt_py.context.preprocess_run import Run
from priompt_py.context.reading import OnError, Parsers
from priompt_py.context.reranking import RECALL_K
from priompt_py.context.wording import WORDING, Wording
from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["Outcome", "Preprocessed", "Template", "apreprocess", "preprocess", "preprocess_flow"]


def preprocess(
    messages: Sequence[Message],
    *,
    window: int | None,
    tokenizer: str | Tokenizer = "o200k_base",
    retriever: Any = None,
    reranker: Any = None,
    parsers: Parsers = None,
    template: Template | None = None,
    share: Share = "0.7",
    retrieval_limit: int = 3,
    recall_k: int = RECALL_K,
    affinity_threshold: float | None = None,
    notice: bool = True,
    on_error: OnError = "report",
    events: Any = None,
    citations: Any = None,
    time_limit: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    wording: Wording = WORDING,
) -> Preprocessed:
    """The last message with its files put in whole or searched. Everything given must be sync.

    ``window`` is the model's, in tokens, None where it isn't known (files are searched then). ``template`` writes the
    history as the model will get it, to count it; without it messages count by the chat format. ``share`` is that of
    the free window that files and prompt may take, see ``choose_strategy``. ``retriever`` is asked for
    ``retrieval_limit`` hits; those over ``affinity_threshold`` (the retriever's own where it is None) are cited. With a
    ``reranker`` it is asked for ``recall_k``, and the reranker's best ``retrieval_limit`` of those are cited.
    Without ``notice`` a search without hits leaves the message as it is. ``events`` and ``citations`` are sinks;
    ``time_limit`` (seconds) is for each call of loader, parser, retriever and reranker. ``clock`` gives seconds, for metrics alone.

    A file that can't be read, or a retriever that fails, is said in the report and in the message, and the rest goes
    on; with ``on_error="raise"`` its exception goes up. Raises ArgumentTypeError or ArgumentValueError, and what
    ``template`` raises.
    """
    options = {name: value for name, value in locals().items() if name != "messages"}
    return run_sync(preprocess_flow("preprocess", SyncDoor("preprocess", "apreprocess"), messages, **options))


async def apreprocess(
    messages: Sequence[Message],
    *,
    window: int | None,
    tokenizer: str | Tokenizer = "o200k_base",
    retriever: Any = None,
    reranker: Any = None,
    parsers: Parsers = None,
    template: Template | None = None,
    share: Share = "0.7",
    retrieval_limit: int = 3,
    recall_k: int = RECALL_K,
    affinity_threshold: float | None = None,
    notice: bool = True,
    on_error: OnError = "report",
    events: Any = None,
    citations: Any = None,
    time_limit: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    wording: Wording = WORDING,
) -> Preprocessed:
    """As :func:`preprocess`, for what is async too; what is sync runs in threads. Cancelled, it tells the sink so."""
    options = {name: value for name, value in locals().items() if name != "messages"}
    return await preprocess_flow("apreprocess", AsyncDoor(), messages, **options)


async def preprocess_flow(tag: str, door: Door, messages: Sequence[Message], **options: Any) -> Preprocessed:
    """What both do, behind a door, for whoever has one; ``options`` are theirs, all of them."""
    return await Run(Options(tag, **options), door).run(messages)
