"""Compaction: a summary takes the place of what a conversation began with."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import attrs

from priompt_py.author.checks import choice, got, text, truth, whole_number, wrong_type
from priompt_py.context.boundary import find_boundary
from priompt_py.context.conversation import Conversation
from priompt_py.context.counting import tokens_as_sent
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, WrongDoor, run_sync
from priompt_py.context.exact import Share
from priompt_py.context.messages import CompactionPoint, Message
from priompt_py.context.overflow import compaction_threshold, needs_compaction
from priompt_py.context.passes.eligible import apply_compaction, drop_errors, drop_ineligible
from priompt_py.context.reading import OnError
from priompt_py.context.reports import Event
from priompt_py.context.telling import Relay, Teller, said
from priompt_py.context.wording import WORDING
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer

__all__ = ["CompactionResult", "Compactor", "without_thoughts"]

_THOUGHT = re.compile(r"<think(?:ing)?\b[^<>]*>.*?(?:</think(?:ing)?\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"\A.*</think(?:ing)?\s*>", re.DOTALL | re.IGNORECASE)


def without_thoughts(answer: str) -> str:
    """What a model said, without what it thought (``<think>…</think>``) and blanks at both ends.

    A thought that never ends reaches to the end of the answer; what ends as a thought and never began as one is
    one from the answer's beginning, as templates that open it for the model leave it.
    """
    return _END_OF_THOUGHT.sub("", _THOUGHT.sub("", answer)).strip()


@attrs.frozen
class CompactionResult:
    """What a call of ``compact`` came to.

    ``ok`` is False where the summary failed, ``error`` says why; the conversation is as it was then. ``compacted`` is
    True where a summary was added, whose ``point`` it is. ``messages`` are all those of the conversation afterwards,
    the summary among them: put them through ``apply_compaction``. ``events`` were told to the sink; ``notes`` are
    sentences for people.
    """

    ok: bool
    compacted: bool
    messages: list[Message]
    point: CompactionPoint | None = None
    error: str | None = None
    events: tuple[Event, ...] = ()
    notes: tuple[str, ...] = ()


class Compactor:
    """Summarises a conversation once it is over a threshold of its model's window.

    ``summarizer.summarize(messages, instructions)`` gives the summary as text, as an iterator of its pieces, or (for
    :meth:`acompact`) as something async. It gets the conversation as it would be sent, without instructions of the
    system, up to the boundary. ``window`` is the model's, in tokens; without it only ``force`` compacts. ``share``,
    ``reserve`` and ``floor`` are those of :func:`~priompt_py.context.overflow.compaction_threshold`.
    ``keep_tail_rounds`` rounds of question and answer stay as they are, and so does always the turn that waits for
    its answer. ``time_limit`` (seconds) is for the summariser; a summary that comes later is thrown away. ``events`` is
    a sink. ``clock`` gives the time of points, ``new_id(taken ids)`` the id of a summary.

    Raises ArgumentTypeError and ArgumentValueError.
    """

    def __init__(
        self,
        summarizer: Any,
        *,
        window: int | None = None,
        tokenizer: str | Tokenizer = "o200k_base",
        keep_tail_rounds: int = 0,
        instructions: str = WORDING.summary_instructions,
        share: Share = "0.6",
        reserve: int = 32_000,
        floor: Share = "0.5",
        time_limit: float | None = None,
        on_error: OnError = "report",
        events: Any = None,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[Iterable[str]], str] | None = None,
    ) -> None:
        tag = "Compactor"
        if not callable(getattr(summarizer, "summarize", None)):
            raise wrong_type(
                "summarizer", f"{tag}() needs an object with a method summarize, got {got(summarizer)}"
            )
        compaction_threshold(window, share=share, reserve=reserve, floor=floor)  # checks them
        self.summarizer = summarizer
        self.window = window
        self.tokenizer = get_tokenizer(tokenizer)
        self.keep_tail_rounds = whole_number(tag, "keep_tail_rounds", keep_tail_rounds)
        self.instructions = text(tag, "instructions", instructions)
        self._shares: dict[str, Any] = {"share": share, "reserve": reserve, "floor": floor}
        self._timeout = time_limit
        self._raises = choice(tag, "on_error", on_error, ("report", "raise")) == "raise"
        self._events = events
        self._clock = clock
        self._new_id = new_id or _free_id

    def tokens(self, conversation: Conversation) -> int:
        """The tokens of the conversation as it would be sent, after compaction; attachments don't count."""
        return self._tokens(conversation.messages, conversation.points)

    def compact(self, conversation: Conversation, *, force: bool = False) -> CompactionResult:
        """Summarise what can be, if the conversation is over its threshold, or in any case with ``force``.

        While a call is at work on a conversation, others of the same conversation give ``ok`` at once and leave it
        alone. Nothing to summarise is ``ok`` too, also with ``force``. If the summariser fails, gives blank text or
        takes too long, or if its boundary was deleted meanwhile, nothing is changed. Messages that were added
        meanwhile stay. Raises ArgumentTypeError for a summariser that is async.
        """
        return run_sync(self._compact(conversation, SyncDoor("compact", "acompact"), force=force))

    async def acompact(self, conversation: Conversation, *, force: bool = False) -> CompactionResult:
        """As :meth:`compact`; a sync summariser runs in a thread. Cancelled, it leaves the conversation as it was."""
        return await self._compact(conversation, AsyncDoor(), force=force)

    # ------------------------------------------------------------------------------------ the work

    async def _compact(self, conversation: Conversation, door: Door, *, force: bool) -> CompactionResult:
        truth("compact", "force", force)
        given: object = conversation
        if not isinstance(given, Conversation):
            raise wrong_type("conversation", f"compact() needs a Conversation, got {got(given)}")
        if not conversation.compacting.acquire(blocking=False):
            return CompactionResult(ok=True, compacted=False, messages=list(conversation.messages))
        try:
            return await self._compact_alone(conversation, door, force=force)
        finally:
            conversation.compacting.release()

    async def _compact_alone(
        self, conversation: Conversation, door: Door, *, force: bool
    ) -> CompactionResult:
        messages, points = conversation.messages, conversation.points
        nothing = CompactionResult(ok=True, compacted=False, messages=list(messages))
        if not force and not needs_compaction(self._tokens(messages, points), self.window, **self._shares):
            return nothing
        boundary = find_boundary(messages, points, self.keep_tail_rounds)
        if boundary is None:
            return nothing
        teller = Teller(door, self._events)
        await teller.tell("summarising", "loading", text="summarising")
        error = None
        point = None
        try:
            summary = await self._summary(_to_summarise(messages, points, boundary), door, teller)
            point = self._record(conversation, messages[boundary], summary)
        except _Failed as failure:
            error = str(failure)
            await teller.close("error", error)
            if self._raises:
                raise failure.__cause__ or ValueError(error) from None
        except BaseException as failure:
            await teller.close("error" if isinstance(failure, Exception) else "canceled", said(failure))
            raise
        else:
            await teller.close("done", "summarised")
        return CompactionResult(
            ok=error is None,
            compacted=point is not None,
            messages=list(conversation.messages),
            point=point,
            error=error,
            events=tuple(teller.events),
            notes=tuple(teller.notes),
        )

    async def _summary(self, messages: list[Message], door: Door, teller: Teller) -> str:
        relay = teller.relay("summarising", "")
        streamed = _Streamed(self.summarizer, relay)
        what = "the summariser"
        try:
            answer: object = await door.call(
                what, streamed, "summarize", messages, self.instructions, time_limit=self._timeout
            )
            await relay.settled()
            if not isinstance(answer, str):
                raise wrong_type("summarizer", f"a summariser gives text, got {got(answer)}")
        except WrongDoor:
            raise
        except Exception as error:
            raise _Failed(f"{what} failed: {said(error)}") from error
        summary = without_thoughts(answer)
        if not summary:
            raise _Failed(f"{what} gave no text")
        return summary

    def _record(self, conversation: Conversation, boundary: Message, summary: str) -> CompactionPoint:
        """Add the summary and its point to what the conversation is now."""
        made: list[CompactionPoint] = []

        def change(
            messages: tuple[Message, ...], points: tuple[CompactionPoint, ...]
        ) -> tuple[Iterable[Message], Iterable[CompactionPoint]]:
            ids = [message.id for message in messages]
            if boundary.id not in ids:
                raise _Failed(f"the message {boundary.id!r} was deleted while it was summarised")
            # A clock that stands still or goes back must not make the new point the older one.
            newest = max((point.created_at for point in points), default=None)
            now = self._clock()
            when = now if newest is None or now > newest else newest + 1
            point = CompactionPoint(self._new_id(ids), boundary.id, when)
            made.append(point)
            message = Message(point.summary_id, "assistant", summary, is_summary=True, step=boundary.step)
            return (*messages, message), (*points, point)

        conversation.update(change)
        return made[0]

    def _tokens(self, messages: Sequence[Message], points: Iterable[CompactionPoint]) -> int:
        return tokens_as_sent(_as_sent(messages, points), self.tokenizer)


class _Failed(Exception):
    """The summary failed, and that is to be reported."""


class _Streamed:
    """A summariser whose pieces are told as they come; it has both doors."""

    def __init__(self, summarizer: Any, relay: Relay) -> None:
        self._summarizer = summarizer
        self._relay = relay

    def summarize(self, messages: list[Message], instructions: str) -> object:
        given = self._summarizer.summarize(messages, instructions)
        return self._joined(cast("Iterator[object]", given)) if isinstance(given, Iterator) else given

    async def asummarize(self, messages: list[Message], instructions: str) -> object:
        given: object = await AsyncDoor().call(
            "the summariser", self._summarizer, "summarize", messages, instructions
        )
        if isinstance(given, AsyncIterator):
            answer = ""
            async for piece in cast("AsyncIterator[object]", given):
                answer = self._add(answer, piece)
            return answer
        if isinstance(given, Iterator):
            return await AsyncDoor().call("the summariser", self._joined, "__call__", given)
        return given

    def _joined(self, pieces: Iterator[object]) -> str:
        answer = ""
        for piece in pieces:
            answer = self._add(answer, piece)
        return answer

    def _add(self, answer: str, piece: object) -> str:
        if not isinstance(piece, str):
            raise wrong_type("summarizer", f"a summariser gives pieces of text, got {got(piece)}")
        self._relay(piece, None)
        return answer + piece


def _as_sent(messages: Sequence[Message], points: Iterable[CompactionPoint]) -> list[Message]:
    sent = list(messages)
    for one in (drop_ineligible(), apply_compaction(points=points), drop_errors()):
        sent = one(sent).messages
    return sent


def _to_summarise(
    messages: Sequence[Message], points: Iterable[CompactionPoint], boundary: int
) -> list[Message]:
    """What a summary up to ``boundary`` stands for: the summary so far, and what was said since."""
    early = {message.id for message in messages[: boundary + 1]}
    return [
        message
        for message in _as_sent(messages, points)
        if message.role not in ("system", "developer") and (message.is_summary or message.id in early)
    ]


def _free_id(taken: Iterable[str]) -> str:
    ids = set(taken)
    return next(name for name in (f"summary-{n}" for n in range(1, len(ids) + 2)) if name not in ids)
