"""The page of figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.retrieval.corpus import Document, Question
from bench.retrieval.evaluate import FIRST, RECALL, Outcome
from bench.retrieval.speed import CHUNK_SIZE, KINDS, QUERIES, Speed

__all__ = ["page", "within_one"]

GOAL = 100

_KINDS = {
    "words": "English, in the text's words",
    "sense": "English, in other words",
    "ru": "Russian about an English text",
    "ru-ru": "Russian about a Russian note",
    "zh": "Chinese about a Chinese text",
    "zh-en": "Chinese about an English text",
    "other": "French, German, Japanese",
}


def page(
    documents: Sequence[Document],
    chunks: int,
    questions: Sequence[Question],
    outcomes: Sequence[Outcome],
    speeds: Sequence[Speed],
    embedder: str,
) -> str:
    """All of it, as Markdown."""
    equal = sum(len(document.names) - 1 for document in documents)
    parts = [
        _HEAD.format(
            documents=len(documents),
            equal=equal,
            chunks=f"{chunks:,}",
            questions=len(questions),
            embedder=embedder,
            first=FIRST,
            recall=RECALL,
        ),
        table(
            ["search", "second look", f"in the first {FIRST}", "first", f"in the first {RECALL}"],
            [
                [
                    outcome.search,
                    outcome.reranker,
                    f"{outcome.within(FIRST)} ({outcome.within(FIRST) / len(questions):.0%})",
                    str(outcome.within(1)),
                    str(outcome.within(RECALL)),
                ]
                for outcome in outcomes
            ],
        ),
        _READING.format(verdict=_verdict(outcomes)),
        _by_kind(questions, outcomes),
    ]
    if speeds:
        verdict = _within(speeds)
        parts += [_SPEED.format(size=CHUNK_SIZE, queries=QUERIES, verdict=verdict), *_speeds(speeds)]
    return "\n".join(parts)


def within_one(outcomes: Iterable[Outcome]) -> dict[str, bool]:
    """For each second look: is the hybrid search at most one question behind the better of both?"""
    counts = {(outcome.search, outcome.reranker): outcome.within(FIRST) for outcome in outcomes}
    return {
        reranker: counts["hybrid", reranker]
        >= max(counts["words", reranker], counts["vectors", reranker]) - 1
        for reranker in dict.fromkeys(reranker for _, reranker in counts)
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; all columns but the text ones to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _verdict(outcomes: Sequence[Outcome]) -> str:
    missed = [name for name, holds in within_one(outcomes).items() if not holds]
    if not missed:
        return "The hybrid search is nowhere more than one question behind the better of the two that it is made of."
    return (
        "The hybrid search is more than one question behind the better of the two that it is made of"
        f" with {' and '.join(f'`{name}`' for name in missed)} as second look."
    )


def _within(speeds: Sequence[Speed]) -> str:
    over = [
        f"by {kind} in {speed.store}"
        for speed in speeds
        for kind in KINDS
        if speed.searches[kind].median > GOAL
    ]
    goal = f"The goal, {GOAL} ms for a search, in the median, is"
    return f"{goal} missed {' and '.join(over)}." if over else f"{goal} kept."


def _by_kind(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> str:
    sizes = Counter(question.kind for question in questions)
    kinds = [kind for kind in _KINDS if sizes[kind]]
    shown = [outcome for outcome in outcomes if outcome.reranker in ("none", "dense terms")]
    rows: list[list[str]] = []
    for kind in kinds:
        row = [_KINDS[kind], str(sizes[kind])]
        for outcome in shown:
            pairs = zip(questions, outcome.places, strict=True)
            row.append(
                str(
                    sum(
                        1
                        for question, place in pairs
                        if question.kind == kind and place is not None and place <= FIRST
                    )
                )
            )
        rows.append(row)
    names = [
        outcome.search if outcome.reranker == "none" else f"{outcome.search}, {outcome.reranker}"
        for outcome in shown
    ]
    return table([f"answered in the first {FIRST}", "questions", *names], rows)


def _speeds(speeds: Sequence[Speed]) -> Iterable[str]:
    yield table(
        ["", *(speed.store for speed in speeds)],
        [
            ["documents", *(f"{speed.documents:,}" for speed in speeds)],
            ["chunks", *(f"{speed.chunks:,}" for speed in speeds)],
            ["words in a chunk", *(f"{speed.words:.0f}" for speed in speeds)],
            ["on the disk, MiB", *(f"{speed.size:,.0f}" for speed in speeds)],
            ["added in, s", *(f"{speed.seconds:,.0f}" for speed in speeds)],
            ["processor time of that, s", *(f"{speed.processor:,.0f}" for speed in speeds)],
            ["chunks a second", *(f"{speed.chunks / speed.seconds:,.0f}" for speed in speeds)],
            [
                "chunks a second of processor time",
                *(f"{speed.chunks / speed.processor:,.0f}" for speed in speeds),
            ],
            ["memory before, MiB", *(f"{speed.memory_before:.0f}" for speed in speeds)],
            ["memory when all was added, MiB", *(f"{speed.memory_added:.0f}" for speed in speeds)],
            ["memory when all was searched, MiB", *(f"{speed.memory_searched:.0f}" for speed in speeds)],
            ["searches answered while 20 documents were added", *(str(speed.together) for speed in speeds)],
        ],
    )
    yield table(
        [
            "milliseconds of a search by",
            *(f"{s.store}: {w}" for s in speeds for w in ("processor", "median", "worst")),
        ],
        [
            [
                kind,
                *(
                    f"{value:.0f}"
                    for speed in speeds
                    for value in (
                        speed.searches[kind].processor,
                        speed.searches[kind].median,
                        speed.searches[kind].worst,
                    )
                ),
            ]
            for kind in KINDS
        ],
    )


_HEAD = """\
# Retrieval: figures

Written by `python -m bench.retrieval.run`; not to be edited. [Retrieval](retrieval.md) is the guide.

{questions} questions, written by hand (`bench/retrieval/questions.yaml`) before anything was searched, are put to a knowledge
base of {documents} texts: the licences of the npm package `spdx-license-list` (texts that are equal, {equal} of them, are one
document) and eight Russian notes of our own, {chunks} chunks with the defaults, 512 tokens and 50 shared. Vectors are those of
`{embedder}`, the small offline model. A question is answered if one of the first {first} hits is a chunk of a document that
answers it.

*Second look*: what is done with the first {recall} hits. No reranker that reads comes with its weights in a package, so two
rules of our own stand for one: `dense terms` asks how much of the question's words, by weight, stand together within 60
words; `best sentence` takes the cosine of the nearest sentence, by the same small model. *hybrid* is what a knowledge
base with an embedder does, reciprocal rank fusion with k = 60 over the first 20 of each; *k = 10* is the same with
`fusion_k=10`.
"""

_READING = """\
{verdict}

With k = 60 a chunk that both lists hold, be it at their ends, goes before a first place in one of them (2 / 80 against
1 / 61), and a model that knows words and no order of words fills its list with chunks that are about as near as any. The
fusion then takes a right answer away where only the words knew it; a smaller constant, which trusts first places more,
gives one back. A second look that weighs the words undoes it, too. What a larger model makes of vectors was not measured.
(The constant was looked at after the questions had been asked; take the difference as a hint.)
"""

_SPEED = """\
## A large base

Documents of sentences of the same licences, 50 paragraphs each, in chunks of at most {size} tokens with vectors of 256
numbers; {queries} of the questions above, one after the other, the second time each. *Processor* is processor time on the
average, the server's and those of all threads included; *median* and *worst* are as time passed, on a machine with 2 cores
and nothing else to do. {verdict}

Made by `python -m bench.retrieval.speed sqlite postgres`, PostgreSQL
with the settings that it comes with.
"""
