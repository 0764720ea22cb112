"""Pruning: three stages without a model, then neighbours that say the same are merged, and the whole again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

import attrs

from priompt_py.author.checks import choice, whole_number
from priompt_py.context.messages import Message
from priompt_py.context.passes.blocks import Age, Blocks
from priompt_py.context.passes.dedupe import find_duplicates, merge_neighbours, ngram_notes
from priompt_py.context.passes.expire import Expiry, removals
from priompt_py.context.passes.restore import Recall, find_restored, restored_report
from priompt_py.context.passes.units import Count, Removal, checked, tokens_of
from priompt_py.context.reports import Drop, PassReport, PassResult
from priompt_py.model.elements import turn

__all__ = ["DEMOTED", "PruneResult", "Pruner", "prune"]

DEMOTED: Mapping[str, int] = {"expired": -3_000_000, "duplicate": -4_000_000, "merged": -4_000_000}
"""How far below ``turn(i)`` a demoted message stands: below all history and the ladders of its results (which reach
down to -2,000,000), above the full texts of attachments (-10,000,000)."""

_ABOVE = 0.5
"""How far a definition stands above the last message that speaks of it: turns are whole numbers."""

_STAGES = {"expired": "expire", "duplicate": "dedupe", "merged": "merge"}


@attrs.frozen
class PruneResult(PassResult):
    """What ``prune`` gives. ``priorities`` are those of demoted messages, and of definitions that are lifted, by id;
    empty in the mode ``drop``."""

    priorities: Mapping[str, float] = attrs.field(factory=dict[str, float])


class Pruner(Protocol):
    """What ``prune(...)`` is: a pass whose result also holds priorities."""

    def __call__(self, messages: Sequence[Message], /) -> PruneResult: ...


def prune(
    *,
    max_age: int = 10,
    ngram: int = 5,
    min_refs: int = 2,
    passes: int = 2,
    query: str | None = None,
    whitelist: Iterable[str] = (),
    age: Age | None = None,
    mode: Literal["drop", "demote"] = "drop",
    count: Count | None = None,
) -> Pruner:
    """Drops what is expired (see ``expire``) and what says nothing new (``dedupe``), brings back definitions that are
    spoken of (``restore``); then, ``passes`` - 1 times, merges neighbours that say the same, and does all again.

    The order stays, and what comes out was there. Ages count from the newest step of the input throughout; the one of
    two merged messages that stays has the later step. What came back is protected from then on.

    ``mode="demote"`` leaves all messages in, and gives those that would go a low priority instead
    (``PruneResult.priorities``): the renderer takes them out first, but only when it has to. Definitions that came back
    stand just above the last message that speaks of them.
    """
    settings = Expiry("prune", max_age=max_age, query=query, whitelist=whitelist, age=age)
    size = whole_number("prune", "ngram", ngram, least=1)
    least = whole_number("prune", "min_refs", min_refs, least=1)
    rounds = whole_number("prune", "passes", passes, least=1)
    choice("prune", "mode", mode, ("drop", "demote"))

    def run(messages: Sequence[Message]) -> PruneResult:
        before = checked("prune", messages)
        work = _Run(before, settings)
        for number in range(rounds):
            if number:
                work.merge()
            work.stages(settings, ngram=size, min_refs=least)
        dropped = work.drops()
        notes = (*work.blocks.notes, *ngram_notes(size))
        after, priorities = work.survivors(), dict[str, float]()
        if mode == "demote":
            after, priorities = before, work.priorities()
        report = PassReport(
            "prune",
            kept=len(after),
            dropped=() if mode == "demote" else dropped,
            demoted=dropped if mode == "demote" else (),
            restored=tuple(restored_report(work.blocks, work.lasting_recalls())),
            merged=work.merged(),
            tokens_before=tokens_of(before, count),
            tokens_after=tokens_of(after, count),
            notes=notes,
        )
        return PruneResult(after, report, priorities)

    return run


class _Run:
    """One conversation on its way through the stages; all are indexes into the messages as they were given."""

    def __init__(self, messages: list[Message], settings: Expiry) -> None:
        self.blocks = Blocks("prune", messages, settings.age)
        self.protected = list(self.blocks.protected)
        self.kept = list(range(len(messages)))
        self.gone: dict[int, Removal] = {}
        self.recalls: list[Recall] = []
        self.first_ages = list(self.blocks.ages)
        self.into: dict[int, int] = {}

    def stages(self, settings: Expiry, *, ngram: int, min_refs: int) -> None:
        blocks = self.blocks
        self._drop(removals(blocks, settings.expired(blocks, self.kept, self.protected), settings.max_age))
        self._drop(find_duplicates(blocks, self.kept, self.protected, ngram))
        expired = {i for i, removal in self.gone.items() if removal.reason == "expired"}
        back = find_restored(blocks, self.kept, expired, min_refs)
        for recall in back:
            del self.gone[recall.index]
            self.protected[recall.index] = True
        self.recalls += back
        self.kept = sorted([*self.kept, *(recall.index for recall in back)])

    def merge(self) -> None:
        into = merge_neighbours(self.blocks, self.kept, self.protected, self.blocks.ages)
        ids = [message.id for message in self.blocks.messages]
        self.into |= into
        self._drop({goes: Removal("merged", f"into {ids[stays]}") for goes, stays in into.items()})

    def _drop(self, gone: Mapping[int, Removal]) -> None:
        self.gone |= gone
        self.kept = [i for i in self.kept if i not in gone]

    def lasting_recalls(self) -> list[Recall]:
        """What came back, with those that speak of it and are still there."""
        kept = set(self.kept)
        return [
            attrs.evolve(one, references=tuple(i for i in one.references if i in kept))
            for one in self.recalls
            if one.index in kept
        ]

    def drops(self) -> tuple[Drop, ...]:
        """Whatever went, in order."""
        return tuple(
            Drop(self.blocks.messages[i].id, None, _STAGES[why.reason], why.reason, why.detail)
            for i, why in sorted(self.gone.items())
        )

    def merged(self) -> tuple[tuple[str, str], ...]:
        messages = self.blocks.messages
        return tuple((messages[goes].id, messages[stays].id) for goes, stays in sorted(self.into.items()))

    def survivors(self) -> list[Message]:
        """What stays, as it was given but for the steps of those that others were merged into."""
        by_steps = self.blocks.by_steps
        return [
            self._later(i)
            if by_steps and self.blocks.ages[i] != self.first_ages[i]
            else self.blocks.messages[i]
            for i in self.kept
        ]

    def _later(self, i: int) -> Message:
        message = self.blocks.messages[i]
        assert message.step is not None
        return attrs.evolve(message, step=message.step + int(self.first_ages[i] - self.blocks.ages[i]))

    def priorities(self) -> dict[str, float]:
        """Low ones for what would have gone, and those of definitions that are lifted, in order."""
        found = {i: float(turn(i) + DEMOTED[why.reason]) for i, why in self.gone.items()}
        for recall in self.recalls:
            found[recall.index] = self._lifted(recall.references)
        return {self.blocks.messages[i].id: found[i] for i in sorted(found)}

    def _lifted(self, references: Sequence[int]) -> float:
        """Just above those that speak of it; where one of them is always in, above all history."""
        if any(self.blocks.protected[i] for i in references):
            return -_ABOVE
        return turn(max(references)) + _ABOVE
