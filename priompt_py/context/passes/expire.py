"""Stage 1 of pruning: what is old, and has nothing to do with the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from priompt_py.author.checks import whole_number
from priompt_py.context.matching import Phrases, Query, content_of, query_of
from priompt_py.context.messages import Message
from priompt_py.context.passes.blocks import Age, Blocks, age_argument, query_argument
from priompt_py.context.passes.units import Count, Pass, Removal, checked, finish, terms_argument, without
from priompt_py.context.reports import PassResult

__all__ = ["Expiry", "expire"]


class Expiry:
    """The settings of stage 1, checked. Raises ArgumentTypeError and ArgumentValueError."""

    def __init__(
        self, tag: str, *, max_age: int, query: str | None, whitelist: Iterable[str], age: Age | None
    ) -> None:
        self.max_age = whole_number(tag, "max_age", max_age)
        self.query = query_argument(tag, query)
        self.whitelist = Phrases.of_texts(terms_argument(tag, "whitelist", whitelist))
        self.age: Age | None = age_argument(tag, age)

    def question(self, blocks: Blocks) -> Query:
        """The terms of ``query``, or of the last user message."""
        if self.query is not None:
            return query_of(self.query)
        if blocks.last_user == len(blocks.messages):
            return query_of("")
        return query_of(blocks.messages[blocks.last_user].text)

    def expired(self, blocks: Blocks, kept: Iterable[int], protected: Sequence[bool]) -> list[int]:
        """Those of ``kept`` (indexes, ascending, whole units) that are expired: of a unit all, or none."""
        there = set(kept)
        question = self.question(blocks)
        gone: list[int] = []
        for unit in blocks.units:
            if unit.start not in there:
                continue
            if all(self._is_old(blocks, i, question, protected) for i in unit):
                gone += unit
        return gone

    def _is_old(self, blocks: Blocks, i: int, question: Query, protected: Sequence[bool]) -> bool:
        if blocks.ages[i] <= self.max_age or protected[i]:
            return False
        text = blocks.asked(i)
        if question.matches(text):
            return False
        return not (
            self.whitelist and self.whitelist.any_in(text, content_of(blocks.messages[i], calls=True))
        )


def expire(
    *,
    max_age: int = 10,
    query: str | None = None,
    whitelist: Iterable[str] = (),
    age: Age | None = None,
    count: Count | None = None,
) -> Pass:
    """Drops messages more than ``max_age`` steps behind the newest one, where nothing speaks for them.

    They stay if they share a content word with the last user message (or with ``query``), if they hold a term of the
    ``whitelist`` (names, dates, laws: whole words, whatever their endings), or if they are protected: system and
    developer messages, summaries, pinned ones, and all from the last user message on. A tool unit stays if one of its
    messages does. Where one message has no step, positions count for all; ``age(message)`` takes the place of steps,
    in any unit, that of ``max_age``.
    """
    settings = Expiry("expire", max_age=max_age, query=query, whitelist=whitelist, age=age)

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("expire", messages)
        blocks = Blocks("expire", before, settings.age)
        gone = settings.expired(blocks, range(len(before)), blocks.protected)
        after, dropped = without(before, removals(blocks, gone, settings.max_age), stage="expire")
        return finish("expire", before, after, count=count, dropped=dropped, notes=blocks.notes)

    return run


def removals(blocks: Blocks, gone: Iterable[int], max_age: int) -> dict[int, Removal]:
    """Why each of the expired goes, for people."""
    return {i: Removal("expired", f"age {blocks.ages[i]}, over {max_age}") for i in gone}
