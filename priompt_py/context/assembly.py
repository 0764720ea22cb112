"""From a stored conversation to a node: passes, files, a search, and the tree that the renderer fits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import attrs

from priompt_py.author.checks import choice, got, truth, whole_number, wrong_type
from priompt_py.author.tags import empty
from priompt_py.context.attachments import (
    AttachmentOptions,
    append_attachments,
    attachment_ladder,
    forms_of,
    needs_reading,
    shown_attachments,
)
from priompt_py.context.citations import citation_ladder, cited
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, WrongDoor, run_sync
from priompt_py.context.exact import Share
from priompt_py.context.messages import Attachment, Hit, Message
from priompt_py.context.passes.units import Pass, checked, last_user
from priompt_py.context.pipelines import Pipeline, default_pipeline, pipeline
from priompt_py.context.preprocess_options import Options
from priompt_py.context.preprocessing import Preprocessed, Template, preprocess_flow
from priompt_py.context.reading import Content, OnError, Parsers, Reader, check_parsers
from priompt_py.context.reports import ContextReport, Drop, PassReport, PassResult, Strategy
from priompt_py.context.reranking import RECALL_K
from priompt_py.context.telling import Teller, said
from priompt_py.context.tree import TreeOptions, conversation_nodes, image_node
from priompt_py.context.wording import WORDING, Wording
from priompt_py.model.elements import Node
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered

__all__ = ["Assembly", "AttachmentsAs", "aassemble", "assemble"]

AttachmentsAs: TypeAlias = Literal["ladder", "preprocess", "envelope"]

_NO_IMAGE = "[the picture {name} can't be read: {detail}]"


@attrs.frozen
class Assembly:
    """A conversation as a node to render, with everything that was done to it.

    ``messages`` are those that are in the node: with ``attachments="preprocess"`` the last one is what history should
    store. ``hits`` are what a search found, the best first; which of them a render holds says :meth:`cited`.
    """

    node: Node
    report: ContextReport
    messages: tuple[Message, ...]
    hits: tuple[Hit, ...] = ()

    def cited(self, rendered: Rendered) -> list[Hit]:
        """The hits that are in ``rendered``, the first being citation 1."""
        return cited(rendered, self.hits) if self.hits else []


def assemble(
    messages: Sequence[Message],
    *,
    window: int | None,
    tokenizer: str | Tokenizer = "o200k_base",
    retriever: Any = None,
    reranker: Any = None,
    parsers: Parsers = None,
    template: Template | None = None,
    attachments: AttachmentsAs = "ladder",
    passes: Pipeline | Pass | None = None,
    output_reserve: int = 0,
    tools: bool = False,
    together: bool = False,
    result_ladder: bool = True,
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
    first_index: int = 0,
) -> Assembly:
    """The node of a conversation. Everything given must be sync.

    ``passes`` go first: ``default_pipeline()`` with its settings, any other ``pipeline(...)``, or one pass. ``attachments`` says
    how files are shown: ``"ladder"``, the renderer takes content, preview or placeholder, whatever fits, and what
    ``retriever`` finds in them stands before the question; ``"preprocess"``, the newest message's files are put in
    whole or searched (see ``preprocess``), older ones are as stored; ``"envelope"``, each as the table says, without
    priorities. ``output_reserve`` tokens are kept for the answer. ``tools``: the model can read files itself.
    ``together``: files are shown in full all or none. ``result_ladder``: results of tools in three sizes. ``window``
    and what follows ``share`` are as for ``preprocess``. ``first_index`` is the place of the first message since the
    conversation began, where older ones aren't given any more: priorities count from there.

    Raises ArgumentTypeError, ArgumentValueError, and what passes raise; of files, searches and sinks that fail the
    report tells, unless ``on_error="raise"``.
    """
    options = _Options(**{name: value for name, value in locals().items() if name != "messages"})
    return run_sync(_Run("assemble", options, SyncDoor("assemble", "aassemble")).run(messages))


async def aassemble(
    messages: Sequence[Message],
    *,
    window: int | None,
    tokenizer: str | Tokenizer = "o200k_base",
    retriever: Any = None,
    reranker: Any = None,
    parsers: Parsers = None,
    template: Template | None = None,
    attachments: AttachmentsAs = "ladder",
    passes: Pipeline | Pass | None = None,
    output_reserve: int = 0,
    tools: bool = False,
    together: bool = False,
    result_ladder: bool = True,
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
    first_index: int = 0,
) -> Assembly:
    """As :func:`assemble`, for what is async too: files are read at the same time, what is sync runs in threads.

    Cancelled, it tells the sink so, and the cancellation goes up.
    """
    options = _Options(**{name: value for name, value in locals().items() if name != "messages"})
    return await _Run("aassemble", options, AsyncDoor()).run(messages)


@attrs.frozen(kw_only=True)
class _Options:
    """The arguments, as they were given; :class:`_Run` checks them."""

    window: int | None
    tokenizer: str | Tokenizer
    retriever: Any
    reranker: Any
    parsers: Parsers
    template: Template | None
    attachments: AttachmentsAs
    passes: Pipeline | Pass | None
    output_reserve: int
    tools: bool
    together: bool
    result_ladder: bool
    share: Share
    retrieval_limit: int
    recall_k: int
    affinity_threshold: float | None
    notice: bool
    on_error: OnError
    events: Any
    citations: Any
    time_limit: float | None
    clock: Callable[[], float]
    wording: Wording
    first_index: int


_SHARED = [
    "window",
    "tokenizer",
    "retriever",
    "reranker",
    "parsers",
    "template",
    "share",
    "retrieval_limit",
    "recall_k",
    "affinity_threshold",
    "notice",
    "on_error",
    "events",
    "citations",
    "time_limit",
    "clock",
    "wording",
]


def _indexes(kept: Sequence[Message], given: Mapping[str, int], first: int) -> dict[str, int]:
    """The place of each message since the conversation began; one that a pass made stands where the one before does."""
    found: dict[str, int] = {}
    for message in kept:
        first = found[message.id] = given.get(message.id, first)
    return found


class _Run:
    """One assembly: what it finds out on its way to the node."""

    def __init__(self, tag: str, options: _Options, door: Door) -> None:
        self.tag = tag
        self.options = options
        self.door = door
        choice(tag, "attachments", options.attachments, ("ladder", "preprocess", "envelope"))
        for name in ("tools", "together", "result_ladder"):
            truth(tag, name, getattr(options, name))
        self.reserve = whole_number(tag, "output_reserve", options.output_reserve)
        self.first_index = whole_number(tag, "first_index", options.first_index)
        if options.passes is not None and not callable(options.passes):
            raise wrong_type(
                "passes", f"{tag}() needs a pipeline for passes, got passes={got(options.passes)}"
            )
        checked_options = Options(
            tag, **self._search_options()
        )  # refused here, also where nothing is searched
        self.own_documents = checked_options.own_documents
        tokenizer = get_tokenizer(options.tokenizer)
        self.passes: Pipeline | Pass = options.passes or default_pipeline(count=tokenizer.count)
        self.shown = AttachmentOptions(tools=options.tools, wording=options.wording)
        self.teller = Teller(door, options.events)
        self.reader = Reader(
            door,
            self.teller,
            check_parsers(tag, options.parsers),
            on_error=options.on_error,
            time_limit=options.time_limit,
            clock=options.clock,
        )
        self.contents: dict[int, Content] = {}
        self.images: dict[int, bytes | str] = {}
        self.drops: list[Drop] = []
        self.notes: list[str] = []
        self.index: Mapping[str, int] = {}

    async def run(self, messages: Sequence[Message]) -> Assembly:
        given = checked(self.tag, messages)
        self.index = {message.id: self.first_index + i for i, message in enumerate(given)}
        try:
            kept, passed = await self._pass(given)
            searched = await self._attach(kept)
        except BaseException as error:
            await self.teller.close("error" if isinstance(error, Exception) else "canceled", said(error))
            raise
        if self.options.attachments == "preprocess" and searched is not None and searched.message is not None:
            kept = [*kept[:-1], searched.message]
        elif self.options.attachments == "envelope":
            kept = [self._enveloped(message) for message in kept]
        self.index = _indexes(kept, self.index, self.first_index)
        hits = () if searched is None or self.options.attachments != "ladder" else searched.hits
        tree = TreeOptions(
            index=self.index,
            priorities=passed.priorities,
            pictures=self._pictures,
            files=self._files,
            before_question=self._citations(searched),
            result_ladder=self.options.result_ladder,
        )
        nodes = conversation_nodes(kept, tree)
        if self.reserve:
            nodes.append(empty(tokens=self.reserve))
        return Assembly(nodes, self._report(kept, passed, searched), tuple(kept), tuple(hits))

    # ------------------------------------------------------------------------------------ passes

    async def _pass(self, messages: list[Message]) -> tuple[list[Message], ContextReport]:
        await self.teller.tell("pass", "loading", text=f"{len(messages)} messages")
        given = self.passes(messages)
        if isinstance(given, PassResult):  # one pass alone
            alone = given
            given = pipeline(lambda _: alone)(messages)
        met = cast("object", given)
        if not isinstance(met, tuple):
            raise wrong_type(
                "passes",
                f"{self.tag}(): passes gave neither messages and a report nor a PassResult, but {got(met)}",
            )
        kept, passed = given
        for report in passed.passes:
            await self.teller.tell("pass", "loading", report.name)
            text = f"{report.kept} messages, {len(report.dropped)} dropped"
            await self.teller.tell("pass", "done", report.name, text=text)
        await self.teller.tell("pass", "done", text=f"{len(kept)} messages")
        return kept, passed

    # ------------------------------------------------------------------------------------ attachments

    async def _attach(self, kept: Sequence[Message]) -> Preprocessed | None:
        """Read what is shown, and search; what a search gave, if there was one."""
        if self.options.attachments == "preprocess":
            await self._read(kept, files=False)
            return await self._preprocess(kept, search_only=False)
        await self._read(kept, files=True)
        place = last_user(kept)
        if self.options.attachments == "envelope" or self.options.retriever is None or place == len(kept):
            return None
        # The search gets what was read, and nothing that couldn't be: that is told already.
        turn = [self._searchable(message) for message in kept[: place + 1]]
        if not self.own_documents and not any(shown_attachments(message) for message in turn):
            return None
        return await self._preprocess(turn, search_only=True)

    async def _read(self, kept: Sequence[Message], *, files: bool) -> None:
        shown = [(message, one) for message in kept for one in shown_attachments(message)] if files else []
        needed = [one for _, one in shown if needs_reading(one, self.shown)]
        read = {id(content.attachment): content for content in await self.reader.read_all(needed)}
        for message, one in shown:
            content = self.contents[id(one)] = read.get(id(one), Content(one, one.text))
            if content.problem is not None and id(one) in read:
                self.drops.append(
                    Drop(message.id, None, "attachments", content.problem, f"{one.name}: {content.detail}")
                )
            if content.note is not None:
                self.notes.append(content.note)
        for message in kept:
            for one in message.attachments:
                if one.kind == "image" and not one.inlined:
                    await self._read_image(message, one)

    async def _read_image(self, message: Message, one: Attachment) -> None:
        try:
            if one.loader is None:
                raise ValueError("it has no loader")
            what = f"the loader of {one.name}"
            data = await self.door.call(what, one.loader, "read", one, time_limit=self.options.time_limit)
            if not isinstance(data, bytes):
                raise wrong_type("loader", f"a loader gives bytes, got {got(data)}")
            self.images[id(one)] = data
        except WrongDoor:
            raise
        except Exception as error:
            if self.options.on_error == "raise":
                raise
            detail = said(error)
            self.images[id(one)] = _NO_IMAGE.format(name=one.name, detail=detail)
            self.drops.append(Drop(message.id, None, "attachments", "unreadable", f"{one.name}: {detail}"))

    def _searchable(self, message: Message) -> Message:
        found: list[Attachment] = []
        for one in message.attachments:
            content = self.contents.get(id(one))
            if content is None or content.problem is not None:
                continue
            found.append(attrs.evolve(one, text=content.text) if content.text is not None else one)
        return attrs.evolve(message, attachments=tuple(found))

    async def _preprocess(self, messages: Sequence[Message], *, search_only: bool) -> Preprocessed:
        return await preprocess_flow(
            self.tag, self.door, messages, **self._search_options(), search_only=search_only
        )

    def _search_options(self) -> dict[str, Any]:
        """The options that preprocess has, too."""
        return {name: getattr(self.options, name) for name in _SHARED}

    def _enveloped(self, message: Message) -> Message:
        contents = [self.contents[id(one)] for one in shown_attachments(message)]
        return append_attachments(message, contents, self.shown)[0]

    # ------------------------------------------------------------------------------------ nodes

    def _pictures(self, message: Message) -> list[Node]:
        shown: list[Node] = []
        for one in message.attachments:
            if id(one) in self.images and message.role in ("user", "tool"):
                given = self.images[id(one)]
                note = _NO_IMAGE.format(name=one.name, detail="its bytes are no picture that is known")
                shown.append(given if isinstance(given, str) else image_node(given, None, "auto", note))
        return shown

    def _files(self, message: Message) -> list[Node]:
        if self.options.attachments != "ladder":
            return []
        return [
            attachment_ladder(
                forms_of(self.contents[id(one)], number, self.shown),
                message_index=self.index[message.id],
                file_index=number - 1,
                together=self.options.together,
            )
            for number, one in enumerate(shown_attachments(message), 1)
        ]

    def _citations(self, searched: Preprocessed | None) -> Node:
        if searched is None or self.options.attachments != "ladder":
            return None
        words = self.options.wording
        if searched.hits:
            return citation_ladder(searched.hits, wording=words)
        if searched.reason == "retriever-failed":
            return f"{words.search_failed}\n\n"
        if searched.reason == "no-hits" and self.options.notice:
            return citation_ladder((), wording=words)
        return None

    # ------------------------------------------------------------------------------------ report

    def _report(
        self, kept: Sequence[Message], passed: ContextReport, searched: Preprocessed | None
    ) -> ContextReport:
        passes = list(passed.passes)
        strategy: Strategy | None = None
        metrics: Mapping[str, Any] = {}
        events, notes = tuple(self.teller.events), [*passed.notes, *self.notes, *self.teller.notes]
        drops = list(self.drops)
        if searched is not None:
            metrics = searched.report.metrics
            if self.options.attachments == "preprocess":
                strategy = searched.strategy  # in the ladder the renderer decides
            events += searched.report.events
            notes += searched.report.notes
            drops += [drop for one in searched.report.passes for drop in one.dropped]
        if drops:
            passes.append(PassReport("attachments", len(kept), tuple(drops)))
        return ContextReport(
            tuple(passes), strategy, metrics, events, tuple(dict.fromkeys(notes)), passed.priorities
        )
