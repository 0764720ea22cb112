"""The work of ``preprocess``: measure, choose, and put in whole or search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from priompt_py.author.checks import got, wrong_type
from priompt_py.context.counting import tokens_as_sent
from priompt_py.context.doors import Door, WrongDoor
from priompt_py.context.envelopes import one_line
from priompt_py.context.knowledge.tools import is_small_talk
from priompt_py.context.messages import Attachment, Hit, Message
from priompt_py.context.preprocess_options import Options, Outcome, Preprocessed
from priompt_py.context.preprocess_parts import (
    distinct,
    distinct_contents,
    free_id,
    is_file,
    with_text,
)
from priompt_py.context.preprocess_search import NOT_SEARCHED, Search, hit_metrics
from priompt_py.context.reading import Content, Reader
from priompt_py.context.reports import ContextReport, Drop, PassReport, Strategy
from priompt_py.context.strategy import INJECT, NONE, RETRIEVAL, choose_strategy
from priompt_py.context.telling import Teller, said

__all__ = ["Run"]


class Run:
    """One run: what it finds out on its way to the message."""

    def __init__(self, options: Options, door: Door) -> None:
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
        options = self.options
        if not messages or messages[-1].role != "user":
            last = messages[-1] if messages else None
            return self._result(last, "unchanged", Strategy(NONE, "no-message"))
        *history, message = messages
        self.message_id = message.id
        files = distinct(one for one in message.attachments if is_file(one))
        everything = distinct([one for old in history for one in old.attachments if is_file(one)] + files)
        prompt = message.text
        if not everything and (not options.own_documents or not prompt.strip() or is_small_talk(prompt)):
            return self._result(message, "unchanged", Strategy(NONE, "no-files"))
        self.metrics["prompt"] = prompt
        try:
            if options.search_only:
                strategy = Strategy(RETRIEVAL, "asked-for")
            elif files:
                strategy, contents = await self._choose(history, files, prompt)
                if strategy.name == INJECT:
                    return await self._inject(message, contents, strategy)
            else:
                strategy = Strategy(RETRIEVAL, "no-new-files" if everything else "own-documents")
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
            used = tokens_as_sent(history, tokenizer)
            self.tokenize_seconds += self.options.clock() - began
            return used
        try:
            text = template(history)
        except Exception:
            if any(message.role == "user" for message in history):
                raise
            # Many templates want a turn of the user; this one is not blank, since some leave out blank ones.
            text = template([*history, Message(free_id(history), "user", "?")])
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
        read = distinct_contents(contents)
        ids = {content.attachment.id for content in contents if content.text is not None}
        blocks = [
            f"** {name} full content **\n\n{content.text}\n\n** end of {name} **\n"
            if content.text is not None
            else words.unread_file.format(name=name, detail=content.detail) + "\n"
            for content in read
            for name in [one_line(content.attachment.name)]
        ]
        hits: list[Hit] = []
        if self.options.own_documents:
            hits, _ = await self._search(message.text, [])
        text = (
            (self._citations(hits) + "\n\n" if hits else "")
            + words.full_intro
            + "\n"
            + "\n".join(blocks)
            + f"\n{words.full_request}\n\nUser query: {message.text}"
        )
        attachments = tuple(
            attrs.evolve(one, inlined=True) if one.id in ids and is_file(one) else one
            for one in message.attachments
        )
        sent = attrs.evolve(with_text(message, text), attachments=attachments)
        await self._cite(hits)
        return self._result(sent, "full-content", strategy, tuple(hits))

    # ------------------------------------------------------------------------------------ retrieval

    async def _retrieve(self, message: Message, files: list[Attachment], strategy: Strategy) -> Preprocessed:
        options, query = self.options, message.text
        hits, reason = await self._search(query, files)
        words = options.words
        if hits:
            text = f"{self._citations(hits)}\n\nUser Query:\n\n{query}"
            await self._cite(hits)
        elif options.notice:
            found_nothing = words.search_failed if reason in NOT_SEARCHED else words.no_hits
            text = f"{found_nothing}\n\nUser Query:\n\n{query}"
        else:
            return self._result(message, "no-citations", strategy, (), reason)
        outcome: Outcome = "citations" if hits else "no-citations"
        return self._result(
            with_text(message, text), outcome, strategy, tuple(hits), reason if not hits else ""
        )

    async def _search(self, query: str, files: Sequence[Attachment]) -> tuple[list[Hit], str]:
        search = Search(self.options, self.door, self.teller, self._read)
        hits, reason = await search.run(query, files)
        self.notes += [note for note in search.notes if note not in self.notes]
        self.metrics |= search.metrics
        self.metrics["hits"] = [hit_metrics(hit, self._count(hit.text)) for hit in hits]
        return hits, reason

    def _citations(self, hits: Sequence[Hit]) -> str:
        words = self.options.words
        cited = "".join(f'Citation {number}: "{hit.text}"\n\n' for number, hit in enumerate(hits, 1))
        return f"{words.hits_intro}\n\n{cited}{words.hits_use}"

    async def _read(self, files: Sequence[Attachment]) -> list[Content]:
        """The contents to search, in order; what could not be read is told of."""
        contents = await self.reader.read_all(files)
        self._note_failures(contents)
        return distinct_contents(contents)

    async def _cite(self, hits: list[Hit]) -> None:
        if self.options.citations is None or not hits:
            return
        try:
            await self.door.call(
                "the citation sink",
                self.options.citations,
                "__call__",
                hits,
                time_limit=self._sink_limit(),
            )
        except WrongDoor:
            raise
        except Exception as error:
            if self.options.on_error == "raise":
                raise
            self.notes.append(f"the citation sink failed: {said(error)}")

    def _sink_limit(self) -> float | None:
        """A sink of citations is waited for as long as one of events, unless there is a shorter limit."""
        given, usual = self.options.time_limit, self.teller.time_limit
        return given if usual is None else usual if given is None else min(given, usual)

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
