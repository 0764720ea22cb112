"""The live mode: a running program asks a person in place of a model.

``live(prompt, props)`` puts the rendered prompt into a *hub* and waits. Whoever shows the hub's questions (a page, a
terminal, a test) answers them: one after the other or all at once, from the same event loop or any other thread. Where
nobody in this process shows those of ``HUB``, they are taken to a ``priompt serve`` that runs beside it.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from datetime import UTC, datetime
from typing import Any

import attrs

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, RunError
from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import Node
from priompt_py.model.model_output import ModelOutput
from priompt_py.runtime.calling import name_of_prompt
from priompt_py.runtime.run import run
from priompt_py.tokens.limits import LimitChoice

__all__ = ["HUB", "Hub", "Question", "live"]


@attrs.frozen(eq=False)
class Question:
    """A prompt that waits for its answer. ``id`` is unique in its hub; ``asked_at`` is in UTC.

    ``future`` is the hub's own: who answers calls ``Hub.answer``.
    """

    id: str
    name: str
    props: Mapping[str, Any] = attrs.field(repr=False)
    rendered: Rendered
    asked_at: datetime
    future: Future[ModelOutput] = attrs.field(repr=False)


class Hub:
    """Questions of running programs, for those who answer them. Safe to use from several threads.

    ``changed`` functions are called after each change, in the thread that made it: they should only wake somebody.
    """

    def __init__(self) -> None:
        self._questions: dict[str, Question] = {}
        self._watchers: list[Callable[[], None]] = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    # -- for those who answer ---------------------------------------------------------------------

    def questions(self) -> list[Question]:
        """What waits now, the oldest first."""
        with self._lock:
            return [*self._questions.values()]

    def answer(self, question_id: str, answer: str | ModelOutput) -> None:
        """Answer a question. Raises RunError where it waits no more: it is answered, or its program has gone on."""
        if isinstance(answer, str):
            answer = ModelOutput(text=answer, finish_reason="stop", raw=answer)
        elif not isinstance(answer, ModelOutput):
            raise ArgumentTypeError(f"Hub.answer() needs text or a ModelOutput, got {got(answer)}")
        self._settle(question_id, lambda future: future.set_result(answer))

    def refuse(self, question_id: str, reason: str = "nobody wants to answer it") -> None:
        """Give a question back unanswered: its ``live`` raises RunError with the reason."""
        question = self._known(question_id)
        error = RunError(f"the question {question.name!r} was refused: {reason}")
        self._settle(question_id, lambda future: future.set_exception(error))

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call ``changed()`` after every change; the result is a function that ends it."""
        with self._lock:
            self._watchers.append(changed)

        def end() -> None:
            with self._lock:
                self._watchers = [one for one in self._watchers if one is not changed]

        return end

    @property
    def is_watched(self) -> bool:
        """Whether somebody in this process is told of changes."""
        with self._lock:
            return bool(self._watchers)

    async def wait_for_question(self) -> Question:
        """The oldest question; waits until there is one."""
        loop = asyncio.get_running_loop()
        news = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(news.set)

        end = self.watch(wake)
        try:
            while True:
                news.clear()
                if waiting := self.questions():
                    return waiting[0]
                await news.wait()
        finally:
            end()

    # -- for those who ask ------------------------------------------------------------------------

    async def ask(self, rendered: Rendered, *, name: str, props: Mapping[str, Any]) -> ModelOutput:
        """Put a prompt up and wait for its answer. Cancelled, it takes the question back."""
        question = Question(
            id=f"q{next(self._numbers)}",
            name=name,
            props=props,
            rendered=rendered,
            asked_at=datetime.now(UTC),
            future=Future(),
        )
        with self._lock:
            self._questions[question.id] = question
        self._changed()
        try:
            return await asyncio.wrap_future(question.future)
        finally:
            self._forget(question.id)

    # -- steps --------------------------------------------------------------------------------------

    def _known(self, question_id: str) -> Question:
        with self._lock:
            question = self._questions.get(question_id)
        if question is None:
            raise RunError(f"no question {question_id!r} waits: it is answered, or its program has gone on")
        return question

    def _settle(self, question_id: str, settle: Callable[[Future[ModelOutput]], None]) -> None:
        question = self._known(question_id)
        try:
            settle(question.future)
        except InvalidStateError:  # somebody else was quicker
            raise RunError(
                f"no question {question_id!r} waits: it is answered, or its program has gone on"
            ) from None
        self._forget(question_id)

    def _forget(self, question_id: str) -> None:
        with self._lock:
            known = self._questions.pop(question_id, None)
        if known is not None:
            self._changed()

    def _changed(self) -> None:
        with self._lock:
            watchers = [*self._watchers]
        for changed in watchers:
            changed()


HUB = Hub()
"""The hub of this process, which ``live`` asks and the preview shows."""

_link: Any = None  # to a preview in another process; made when something is asked for the first time


def _take_elsewhere() -> None:
    """Let the questions of ``HUB`` be shown by a preview that runs in another process."""
    global _link  # noqa: PLW0603 - one for the one hub
    if _link is None:
        from priompt_py.runtime.live_link import LiveLink

        _link = LiveLink(HUB)
    _link.ensure()


async def live(
    prompt: Callable[..., Any] | Node,
    props: Mapping[str, Any] | None = None,
    *,
    token_limit: int | LimitChoice | None = None,
    hub: Hub | None = None,
    **options: Any,
) -> Any:
    """``run`` with a person as the model: what the prompt gives back for the answer that somebody types.

    Limits are as for ``run``, and ``options`` are those of ``run``. The rendered prompt waits in ``hub``, by default the one of this process, until it is
    answered there: by who shows it in this process, else in the page of a ``priompt serve``, which may also be started
    later. Raises RunError where it is refused, and what ``run`` raises.
    """
    if "model" in options:
        raise ArgumentTypeError("live() takes no model: a person answers; to ask a model take run()")
    asked = HUB if hub is None else hub
    given = dict(props or {})

    def person(rendered: Rendered) -> Any:
        if asked is HUB and not HUB.is_watched:
            _take_elsewhere()
        return asked.ask(rendered, name=name_of_prompt(prompt), props=given)

    return await run(prompt, props, model=person, token_limit=token_limit, **options)
