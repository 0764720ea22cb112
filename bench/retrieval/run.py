"""Questions put to a knowledge base of licence texts.

bash bench/retrieval/setup.sh             once: fetches the texts into build/licences
python -m bench.retrieval.run             writes docs/retrieval_figures.md; about half a minute of processor time
python -m bench.retrieval.run --missed    names the questions that hybrid search doesn't answer; writes nothing
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.retrieval.corpus import LICENCES, licences, notes, questions
from bench.retrieval.evaluate import FIRST, evaluate, made
from bench.retrieval.report import page
from bench.retrieval.rerankers import BestSentence, DenseTerms
from bench.retrieval.speed import read_speeds
from priompt_py.context import KnowledgeBase, WordLlamaEmbedder

__all__ = ["main"]

PAGE = Path(__file__).parents[2] / "docs" / "retrieval_figures.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and write or print."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.run")
    parser.add_argument("--missed", action="store_true", help="name unanswered questions, write nothing")
    options = parser.parse_args(arguments)
    if not LICENCES.is_dir():
        print(f"{LICENCES} is not there: bash bench/retrieval/setup.sh")
        return 1
    documents = [*licences(), *notes()]
    asked = questions(documents)
    embedder = WordLlamaEmbedder()
    rerankers = {"dense terms": DenseTerms(), "best sentence": BestSentence(embedder)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base.db"
        made(path, documents, embedder)
        with KnowledgeBase.open(path, embedder) as base:
            chunks = base.totals().chunks
        outcomes = evaluate(path, documents, asked, embedder, rerankers)
    if options.missed:
        (hybrid,) = [one for one in outcomes if (one.search, one.reranker) == ("hybrid", "none")]
        for question, place in zip(asked, hybrid.places, strict=True):
            if place is None or place > FIRST:
                print(f"{place or '-':>2} {question.kind:6} {question.ask}")
        return 0
    PAGE.write_text(page(documents, chunks, asked, outcomes, read_speeds(), embedder.name), "utf-8")
    for outcome in outcomes:
        print(f"{outcome.search:15} {outcome.reranker:14} {outcome.within(FIRST):3} of {len(asked)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
