"""Stage 3 of pruning: definitions come back that what is kept still speaks of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from priompt_py.author.checks import whole_number, wrong_value
from priompt_py.context.matching import Phrases, content_of
from priompt_py.context.messages import Message
from priompt_py.context.passes.blocks import Blocks
from priompt_py.context.passes.units import Count, Pass, checked, finish, terms_argument
from priompt_py.context.reports import PassResult, Restored
from priompt_py.context.terms import label_of

__all__ = ["Recall", "find_restored", "restore"]

_SPEAKS = 3  # lines that a label opens in a chat make it a speaker


@attrs.frozen
class Recall:
    """A message that comes back: its index, the term that it defines (or that its unit does), who speaks of it."""

    index: int
    term: str
    references: tuple[int, ...]


def restore(
    *,
    original: Sequence[Message],
    expired: Iterable[str] | None = None,
    min_refs: int = 2,
    count: Count | None = None,
) -> Pass:
    """Brings back messages of ``original`` that define a term which at least ``min_refs`` kept messages speak of.

    ``expired`` are the ids that may come back, all that are missing when not given; duplicates should not be among
    them. Of several definitions of a term the latest counts: if that is kept, nothing is done. What comes back counts
    as speaking, too. A message that defines a term doesn't speak of it.
    """
    given = checked("restore", original)
    least = whole_number("restore", "min_refs", min_refs, least=1)
    allowed = None if expired is None else frozenset(terms_argument("restore", "expired", expired))

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("restore", messages)
        place = {message.id: i for i, message in enumerate(given)}
        for message in before:
            if message.id not in place:
                raise wrong_value("messages", f"restore(): {message.id!r} is no message of original")
        blocks = Blocks("restore", given)
        kept = sorted(place[message.id] for message in before)
        missing = {i for i in range(len(given)) if allowed is None or given[i].id in allowed} - set(kept)
        recalls = find_restored(blocks, kept, missing, least)
        back = {recall.index for recall in recalls}
        mine = {message.id: message for message in before}  # a pass before may have changed them
        after = [mine.get(given[i].id, given[i]) for i in sorted(back.union(kept))]
        return finish("restore", before, after, count=count, restored=restored_report(blocks, recalls))

    return run


def restored_report(blocks: Blocks, recalls: Iterable[Recall]) -> list[Restored]:
    """What came back, in order, with ids."""
    messages = blocks.messages
    return [
        Restored(messages[recall.index].id, recall.term, tuple(messages[i].id for i in recall.references))
        for recall in sorted(recalls, key=lambda recall: recall.index)
    ]


def find_restored(blocks: Blocks, kept: Sequence[int], expired: set[int], min_refs: int) -> list[Recall]:
    """Which of the ``expired`` come back beside ``kept`` (indexes, ascending), to the fixpoint.

    Takes time in proportion to the texts, whatever the number of terms and messages.
    """
    definers = _definers(blocks, kept, expired)
    wanted = {term for term, where in definers.items() if where[-1] in expired}
    if not wanted:
        return []
    phrases = Phrases(sorted(wanted))
    definers_of = {term: set(definers[term]) for term in wanted}
    references: dict[str, dict[int, None]] = {term: {} for term in wanted}
    there = set(kept)
    found: list[Recall] = []
    waiting = list(kept)
    while waiting:
        hit: dict[str, None] = {}
        for i in waiting:
            for term in phrases.find(blocks.spoken(i), ""):
                if i not in definers_of[term]:
                    references[term][i] = None
                    hit[term] = None
        waiting = list[int]()
        for term in hit:
            home = definers[term][-1]
            if home in there or len(references[term]) < min_refs:
                continue
            for i in blocks.unit_of(home):
                if i not in there:
                    there.add(i)
                    waiting.append(i)
                    found.append(Recall(i, term, ()))
    # Who speaks of it is told as it is in the end, since what came back later speaks too.
    return [Recall(one.index, one.term, tuple(sorted(references[one.term]))) for one in found]


def _definers(blocks: Blocks, kept: Sequence[int], expired: set[int]) -> dict[str, list[int]]:
    """For each term the messages that define it, ascending; speakers' labels are no terms."""
    if not expired:
        return {}
    there = sorted(expired.union(kept))
    labels = {
        definition.label
        for i in there
        for definition in blocks.definitions(i)
        if definition.label is not None
    }
    speakers = _speakers(blocks.messages, labels) if labels else frozenset[str]()
    found: dict[str, dict[int, None]] = {}
    for i in there:
        for definition in blocks.definitions(i):
            if definition.label is None or definition.label not in speakers:
                found.setdefault(definition.term, {})[i] = None
    return {term: list(where) for term, where in found.items()}


def _speakers(messages: Sequence[Message], labels: set[str]) -> frozenset[str]:
    """Those of ``labels`` that open three lines or more of the chat."""
    seen: Counter[str] = Counter()
    for message in messages:
        for line in content_of(message).splitlines():
            if ":" in line or "\uff1a" in line:
                label = label_of(line)
                if label is not None and label in labels:
                    seen[label] += 1
    return frozenset(label for label, lines in seen.items() if lines >= _SPEAKS)
