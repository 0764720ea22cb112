"""The newest message and its files: put in whole where they fit, searched where they don't.

``preprocess`` works on the last message alone, which is the user's; the earlier ones are history, and whatever a former
turn did with their files stays done. What it gives back is the message to send *and* to store: files that went in whole
are ``inlined`` then and are searched no more, files that were searched stay searchable.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

import attrs

from priompt_py.author.checks import choice, got, truth, whole_number, wrong_type, wrong_value
from priompt_py.context.counting import chat_tokens
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, WrongDoor, run_sync
from priompt_py.context.exact import Share, exact_share
from priompt_py.context.messages import Attachment, Hit, Message, Part, TextPart
from priompt_py.context.reading import Content, OnError, Parsers, Reader, check_parsers
from priompt_py.context.reports import ContextReport, Drop, PassReport, Strategy
from priompt_py.context.strategy import INJECT, NONE, RETRIEVAL, choose_strategy
from priompt_py.context.telling import Teller, said
from priompt_py.context.wording import WORDING, Wording
from priompt_py.tokens.tokenizer import Tokenizer, chat_format_of, get_tokenizer

__all__ = ["Outcome", "Preprocessed", "Template", "apreprocess", "preprocess", "preprocess_flow"]

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


def preprocess(
    messages: Sequence[Message],
    *,
    window: int | None,
    tokenizer: str | Tokenizer = "o200k_base",
    retriever: Any = None,
    parsers: Parsers = None,
    template: Template | None = None,
    share: Share = "0.7",
    retrieval_limit: int = 3,
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
    ``retrieval_limit`` hits; those over ``affinity_threshold`` (the retriever's own where it is None) are cited.
    Without ``notice`` a search without hits leaves the message as it is. ``events`` and ``citations`` are sinks;
    ``time_limit`` (seconds) is for each call of loader, parser and retriever. ``clock`` gives seconds, for metrics alone.

    A file that can't be read, or a retriever that fails, is said in the report and in the message, and the rest goes
    on; with ``on_error="raise"`` its exception goes up. Raises ArgumentTypeError or ArgumentValueError, and what
    ``template`` raises.
    """
    door = SyncDoor("preprocess", "apreprocess")
    options = _Options(
        "preprocess",
        window=window,
        tokenizer=tokenizer,
        retriever=retriever,
        parsers=parsers,
        template=template,
        share=share,
        limit=retrieval_limit,
        threshold=affinity_threshold,
        notice=notice,
        on_error=on_error,
        sinks=(events, citations),
        time_limit=time_limit,
        clock=clock,
        wording=wording,
    )
    return run_sync(_Run(options, door).run(messages))


async def apreprocess(
    messages: Sequence[Message],
    *,
    window: int | None,
    tokenizer: str | Tokenizer = "o200k_base",
    retriever: Any = None,
    parsers: Parsers = None,
    template: Template | None = None,
    share: Share = "0.7",
    retrieval_limit: int = 3,
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
    options = _Options(
        "apreprocess",
        window=window,
        tokenizer=tokenizer,
        retriever=retriever,
        parsers=parsers,
        template=template,
        share=share,
        limit=retrieval_limit,
        threshold=affinity_threshold,
        notice=notice,
        on_error=on_error,
        sinks=(events, citations),
        time_limit=time_limit,
        clock=clock,
        wording=wording,
    )
    return await _Run(options, AsyncDoor()).run(messages)


async def preprocess_flow(tag: str, door: Door, messages: Sequence[Message], **options: Any) -> Preprocessed:
    """What both do, behind a door, for whoever has one; ``options`` are those of ``_Options``, all of them."""
    return await _Run(_Options(tag, **options), door).run(messages)


class _Options:
    """The arguments, checked."""

    def __init__(
        self,
        tag: str,
        *,
        window: object,
        tokenizer: object,
        retriever: Any,
        parsers: Parsers,
        template: object,
        share: Share,
        limit: object,
        threshold: object,
        notice: object,
        on_error: object,
        sinks: tuple[Any, Any],
        time_limit: float | None,
        clock: Callable[[], float],
        wording: Wording,
    ) -> None:
        self.tag = tag
        self.window = None if window is None else whole_number(tag, "window", window, least=1)
        self.tokenizer = get_tokenizer(tokenizer)
        self.retriever = retriever
        if retriever is not None and not callable(getattr(retriever, "search", None)):
            raise wrong_type(
                "retriever",
                f"{tag}() needs an object with a method search for retriever, got {got(retriever)}",
            )
        self.parsers = check_parsers(tag, parsers)
        if template is not None and not callable(template):
            raise wrong_type(
                "template", f"{tag}() needs a function for template, got template={got(template)}"
            )
        self.template = cast("Template | None", template)
        self.share = exact_share(tag, "share", share)
        self.limit = whole_number(tag, "retrieval_limit", limit, least=1)
        self.threshold = _threshold(tag, threshold)
        self.notice = truth(tag, "notice", notice)
        self.on_error: OnError = choice(tag, "on_error", on_error, ("report", "raise"))
        self.events, self.citations = sinks
        self.time_limit = time_limit
        self.clock = clock
        self.words = wording


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


class _Run:
    """One run: what it finds out on its way to the message."""

    def __init__(self, options: _Options, door: Door) -> None:
        self.options = options
        self.door = door
        self.teller = Teller(door, options.events)
        self.reader = Reader(
            door,
            self.teller,
            options.parsers,
            on_error=options.on_error,
            time_limit=options.time_limit,
            clock=options.clock,
        )
        self.message_id = ""
        self.metrics: dict[str, Any] = {}
        self.drops: list[Drop] = []
        self.notes: list[str] = []
        self.tokenize_seconds = 0.0

    async def run(self, messages: Sequence[Message]) -> Preprocessed:
        if not messages or messages[-1].role != "user":
            last = messages[-1] if messages else None
            return self._result(last, "unchanged", Strategy(NONE, "no-message"))
        *history, message = messages
        self.message_id = message.id
        files = _distinct(one for one in message.attachments if _is_file(one))
        everything = _distinct([one for old in history for one in old.attachments if _is_file(one)] + files)
        if not everything:
            return self._result(message, "unchanged", Strategy(NONE, "no-files"))
        prompt = message.text
        self.metrics["prompt"] = prompt
        try:
            if files:
                strategy, contents = await self._choose(history, files, prompt)
                if strategy.name == INJECT:
                    return await self._inject(message, contents, strategy)
            else:
                strategy = Strategy(RETRIEVAL, "no-new-files")
            return await self._retrieve(message, everything, strategy)
        except BaseException as error:
            # A cancelled flow must not be held up for long: a sink that hangs is left after its own time.
            await self.teller.close("error" if isinstance(error, Exception) else "canceled", said(error))
            raise

    # ------------------------------------------------------------------------------------ choosing

    async def _choose(
        self, history: list[Message], files: list[Attachment], prompt: str
    ) -> tuple[Strategy, list[Content]]:
        """The strategy, and the contents that had to be read for it."""
        options, tell = self.options, self.teller.tell
        await tell("choosing", "loading", text="deciding how the files go in")
        contents: list[Content] = []
        if options.window is None:
            strategy = choose_strategy(length=None, used=0, files=(0,), prompt=0)
        else:
            window = options.window
            used = self._used(history)
            prompt_tokens = self._count(prompt)
            remaining = max(0, window - used)
            counts: list[int] = []
            for file in files:  # one by one: those behind the one that is too much aren't even parsed
                content = await self.reader.read(file)
                contents.append(content)
                counts.append(0 if content.text is None else self._count(content.text))
                if sum(counts) > remaining:
                    break
            strategy = choose_strategy(
                length=window, used=used, files=counts, prompt=prompt_tokens, share=options.share
            )
            self.metrics |= {
                "length": window,
                "used": used,
                "remaining": remaining,
                "occupied_percent": round(100 * used / window, 2),
                "prompt_tokens": prompt_tokens,
                "file_tokens": strategy.counted,
                "available": strategy.available,
                "comparison": f"{strategy.counted} + {prompt_tokens} "
                f"{'<=' if strategy.name == INJECT else '>'} {strategy.available}",
            }
            if strategy.name == INJECT:
                self.metrics["files"] = {
                    content.attachment.id: count
                    for content, count in zip(contents, counts, strict=True)
                    if content.text is not None
                }
        self._note_failures(contents)
        await tell("choosing", "done", text=f"{strategy.name} ({strategy.reason})")
        return strategy, contents

    def _used(self, history: list[Message]) -> int:
        template = self.options.template
        if template is None:
            tokenizer = self.options.tokenizer
            began = self.options.clock()
            used = chat_tokens(history, tokenizer.count, chat_format=chat_format_of(tokenizer))
            self.tokenize_seconds += self.options.clock() - began
            return used
        try:
            text = template(history)
        except Exception:
            if any(message.role == "user" for message in history):
                raise
            # Many templates want a turn of the user; this one is not blank, since some leave out blank ones.
            text = template([*history, Message(_free_id(history), "user", "?")])
        given: object = text
        if not isinstance(given, str):
            raise wrong_type("template", f"template gives text, got {got(given)}")
        return self._count(text)

    def _count(self, text: str) -> int:
        began = self.options.clock()
        tokens = self.options.tokenizer.count(text)
        self.tokenize_seconds += self.options.clock() - began
        return tokens

    def _note_failures(self, contents: Sequence[Content]) -> None:
        for content in contents:
            name = content.attachment.name
            if content.problem is not None:
                drop = Drop(
                    self.message_id, None, "attachments", content.problem, f"{name}: {content.detail}"
                )
                if drop not in self.drops:
                    self.drops.append(drop)
            if content.note is not None and content.note not in self.notes:
                self.notes.append(content.note)

    # ------------------------------------------------------------------------------------ full content

    async def _inject(self, message: Message, contents: list[Content], strategy: Strategy) -> Preprocessed:
        words = self.options.words
        read = _distinct_contents(contents)
        ids = {content.attachment.id for content in contents if content.text is not None}
        blocks = [
            f"** {content.attachment.name} full content **\n\n{content.text}\n\n"
            f"** end of {content.attachment.name} **\n"
            if content.text is not None
            else words.unread_file.format(name=content.attachment.name, detail=content.detail) + "\n"
            for content in read
        ]
        text = (
            words.full_intro
            + "\n"
            + "\n".join(blocks)
            + f"\n{words.full_request}\n\nUser query: {message.text}"
        )
        attachments = tuple(
            attrs.evolve(one, inlined=True) if one.id in ids and _is_file(one) else one
            for one in message.attachments
        )
        sent = attrs.evolve(_with_text(message, text), attachments=attachments)
        return self._result(sent, "full-content", strategy)

    # ------------------------------------------------------------------------------------ retrieval

    async def _retrieve(self, message: Message, files: list[Attachment], strategy: Strategy) -> Preprocessed:
        options, tell, query = self.options, self.teller.tell, message.text
        hits: list[Hit] = []
        reason = "no-hits"
        await tell("retrieving", "loading", text="loading the search")
        if not query.strip():
            reason = "empty-query"
        elif options.retriever is None:
            reason = "no-retriever"
            self.notes.append("files would have been searched, but no retriever was given")
        else:
            try:
                hits, reason = await self._search(query, files)
            except WrongDoor:
                raise
            except Exception as error:
                if options.on_error == "raise":
                    raise
                reason = "retriever-failed"
                self.notes.append(f"the retriever failed: {said(error)}")
                await tell("retrieving", "error", text=said(error))
        if reason != "retriever-failed":
            count = len(hits)
            await tell(
                "retrieving", "done" if hits else "canceled", text=f"{count} found" if hits else reason
            )
        self.metrics["hits"] = [
            {
                "source": hit.source_id,
                "chunk": hit.chunk,
                "affinity": hit.affinity,
                "tokens": self._count(hit.text),
            }
            for hit in hits
        ]
        words = options.words
        if hits:
            cited = "".join(f'Citation {number}: "{hit.text}"\n\n' for number, hit in enumerate(hits, 1))
            text = f"{words.hits_intro}\n\n{cited}{words.hits_use}\n\nUser Query:\n\n{query}"
            await self._cite(hits)
        elif options.notice:
            found_nothing = words.search_failed if reason == "retriever-failed" else words.no_hits
            text = f"{found_nothing}\n\nUser Query:\n\n{query}"
        else:
            return self._result(message, "no-citations", strategy, (), reason)
        outcome: Outcome = "citations" if hits else "no-citations"
        return self._result(
            _with_text(message, text), outcome, strategy, tuple(hits), reason if not hits else ""
        )

    async def _search(self, query: str, files: list[Attachment]) -> tuple[list[Hit], str]:
        options, door, retriever = self.options, self.door, self.options.retriever
        documents = await self._documents(files)
        if not documents:
            return [], "no-documents"
        await self._prepare(documents)
        await self.teller.tell("retrieving", "loading", text="searching")
        given: object = await door.call(
            "the retriever",
            retriever,
            "search",
            query,
            documents,
            options.limit,
            time_limit=options.time_limit,
        )
        found = _hits(given)[: options.limit]
        threshold = options.threshold
        if threshold is None:
            threshold = float(getattr(retriever, "default_threshold", 0.0))
        hits = [hit for hit in found if hit.affinity > threshold]
        return hits, "" if hits else "no-hits"

    async def _documents(self, files: list[Attachment]) -> list[Attachment]:
        """The files with their text. A retriever that says ``reads = True`` knows files by their id, or reads them."""
        if getattr(self.options.retriever, "reads", False):
            return files
        contents = await self.reader.read_all(files)
        self._note_failures(contents)
        return [
            attrs.evolve(content.attachment, text=content.text)
            for content in _distinct_contents(contents)
            if content.text is not None
        ]

    async def _prepare(self, documents: list[Attachment]) -> None:
        """Let the retriever do what it has to do for files that it doesn't know yet, if it says which those are.

        Its method ``pending(documents)`` gives them, ``prepare(document, progress)`` works, and calls
        ``progress("Chunking", 12.5)`` meanwhile.
        """
        retriever, door = self.options.retriever, self.door
        if not callable(getattr(retriever, "pending", None)):
            return
        waiting = list(
            await door.call(
                "the retriever", retriever, "pending", documents, time_limit=self.options.time_limit
            )
        )
        for document in waiting:
            await self.teller.tell("embedding", "waiting", document.id)
        for document in waiting:
            relay = self.teller.relay("embedding", document.id)
            await self.teller.tell("embedding", "loading", document.id, text="loading")

            def progress(
                step: str, percent: float, relay: Callable[[str, float | None], None] = relay
            ) -> None:
                relay(step, round(percent, 1))

            await door.call(
                "the retriever", retriever, "prepare", document, progress, time_limit=self.options.time_limit
            )
            await relay.settled()
            await self.teller.tell("embedding", "done", document.id)

    async def _cite(self, hits: list[Hit]) -> None:
        if self.options.citations is None:
            return
        try:
            await self.door.call(
                "the citation sink",
                self.options.citations,
                "__call__",
                hits,
                time_limit=self.options.time_limit,
            )
        except WrongDoor:
            raise
        except Exception as error:
            if self.options.on_error == "raise":
                raise
            self.notes.append(f"the citation sink failed: {said(error)}")

    # ------------------------------------------------------------------------------------ the result

    def _result(
        self,
        message: Message | None,
        outcome: Outcome,
        strategy: Strategy,
        hits: tuple[Hit, ...] = (),
        reason: str = "",
    ) -> Preprocessed:
        if outcome != "unchanged":
            self.metrics |= {
                "strategy": strategy.name,
                "read_ms": round(1000 * self.reader.seconds, 2),
                "tokenize_ms": round(1000 * self.tokenize_seconds, 2),
                "text": "" if message is None else message.text,
            }
        passes = (PassReport("attachments", int(message is not None), tuple(self.drops)),)
        report = ContextReport(
            passes, strategy, self.metrics, tuple(self.teller.events), (*self.notes, *self.teller.notes)
        )
        return Preprocessed(message, outcome, strategy, report, hits, reason)


def _is_file(attachment: Attachment) -> bool:
    return attachment.kind != "image" and not attachment.inlined


def _distinct(attachments: Any) -> list[Attachment]:
    """Attachments without those whose id came before."""
    found: dict[str, Attachment] = {}
    for one in cast("Iterator[Attachment]", attachments):
        found.setdefault(one.id, one)
    return list(found.values())


def _distinct_contents(contents: Sequence[Content]) -> list[Content]:
    """Contents without those whose text came before; the unread ones all stay."""
    seen: set[bytes] = set()
    found: list[Content] = []
    for content in contents:
        if content.text is not None:
            digest = hashlib.sha256(content.text.encode("utf-8", "replace")).digest()
            if digest in seen:
                continue
            seen.add(digest)
        found.append(content)
    return found


def _free_id(history: Sequence[Message]) -> str:
    taken = {message.id for message in history}
    return next(name for name in (f"?{n}" for n in range(len(taken) + 1)) if name not in taken)


def _with_text(message: Message, text: str) -> Message:
    """The message with this text in place of its own; its other parts stay where they are."""
    places = [index for index, part in enumerate(message.parts) if isinstance(part, TextPart)]
    parts: list[Part] = [part for part in message.parts if not isinstance(part, TextPart)]
    parts.insert(places[0] if places else 0, TextPart(text))
    return attrs.evolve(message, parts=tuple(parts))


def _hits(given: object) -> list[Hit]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise wrong_type("retriever", f"a retriever gives a list of Hits, got {got(given)}")
    hits = list(cast("Sequence[object]", given))
    for hit in hits:
        if not isinstance(hit, Hit):
            raise wrong_type("retriever", f"a retriever gives a list of Hits, got {got(hit)} in it")
    return cast("list[Hit]", hits)
