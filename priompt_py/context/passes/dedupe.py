"""Stage 2 of pruning: what was said before, word for word; and, between passes, neighbours that say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, MutableSequence, Sequence

from priompt_py.author.checks import whole_number
from priompt_py.context.messages import Message
from priompt_py.context.passes.blocks import Blocks, alike
from priompt_py.context.passes.units import Count, Pass, Removal, checked, finish, without
from priompt_py.context.reports import PassResult
from priompt_py.context.words import CJK

__all__ = ["LEAST_NGRAM", "dedupe", "find_duplicates", "merge_neighbours", "tokens"]

LEAST_NGRAM = 4
"""Below this, n-grams of different sentences are alike too often: a note says so."""

_TOKEN = re.compile(f"[{CJK}]|[^\\s{CJK}]+")
_MOST_NAMED = 3  # ids in a detail


def dedupe(*, ngram: int = 5, count: Count | None = None) -> Pass:
    """Drops messages all of whose n-grams stand in messages before them; the first copy stays.

    A token is what stands between blanks, exactly as written, and each CJK character. What is shorter than ``ngram``
    tokens is compared whole, with what is as short; roles make no difference. Protected messages stay, but their
    n-grams count. No part take: tool messages, messages with any other part than text or with attachments, blank ones,
    and bare answers (yes, no, numbers). For Russian 5 to 7 is right; below 4 a note warns.
    """
    size = whole_number("dedupe", "ngram", ngram, least=1)

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("dedupe", messages)
        blocks = Blocks("dedupe", before)
        gone = find_duplicates(blocks, range(len(before)), blocks.protected, size)
        after, dropped = without(before, gone, stage="dedupe")
        return finish("dedupe", before, after, count=count, dropped=dropped, notes=ngram_notes(size))

    return run


def ngram_notes(ngram: int) -> tuple[str, ...]:
    """A warning of n-grams that are too short, if they are."""
    if ngram >= LEAST_NGRAM:
        return ()
    return (f"ngram={ngram}: so short n-grams are alike in different sentences too; 5 to 7 is usual",)


def tokens(text: str) -> list[str]:
    """``text`` as stage 2 compares it."""
    return text.split() if text.isascii() else _TOKEN.findall(text)


def find_duplicates(
    blocks: Blocks, kept: Iterable[int], protected: Sequence[bool], ngram: int
) -> dict[int, Removal]:
    """Those of ``kept`` (indexes, ascending) that say nothing new, with where it stands."""
    owners: dict[str, int] = {}  # n-gram, or a short text: the first kept message that holds it
    gone: dict[int, Removal] = {}
    for i in kept:
        if not blocks.is_text[i]:
            continue
        grams = _grams(tokens(blocks.messages[i].text), ngram)
        if not protected[i] and all(gram in owners for gram in grams):
            named = dict.fromkeys(blocks.messages[owners[gram]].id for gram in grams)
            gone[i] = Removal("duplicate", _named(list(named)))
            continue
        for gram in grams:
            owners.setdefault(gram, i)
    return gone


def _grams(found: list[str], ngram: int) -> list[str]:
    """The n-grams of tokens as texts; a shorter text is one, marked so that it is none of those."""
    if len(found) < ngram:
        return ["\n" + " ".join(found)]
    return [" ".join(found[start : start + ngram]) for start in range(len(found) - ngram + 1)]


def _named(ids: list[str]) -> str:
    more = len(ids) - _MOST_NAMED
    return f"in {', '.join(ids[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"


def merge_neighbours(
    blocks: Blocks,
    kept: Iterable[int],
    protected: Sequence[bool],
    ages: MutableSequence[int | float],
) -> dict[int, int]:
    """Which of ``kept`` (indexes, ascending) go into which neighbour: one of the same role that says the same but for
    case and marks.

    Two protected ones are never merged; the protected one stays, else the first. The one that stays gets the younger
    age, in ``ages``.
    """
    into: dict[int, int] = {}
    last = -1
    said: tuple[object, ...] | None = None
    for i in kept:
        same = alike(blocks, i)
        if said is None or same != said or (protected[last] and protected[i]):
            last, said = i, same
            continue
        stays, goes = (i, last) if protected[i] else (last, i)
        into[goes] = stays
        ages[stays] = min(ages[stays], ages[goes])
        last = stays
    return into
