"""Files that are too long for the prompt are searched, and what is found stands before the question, the best longest.

The search goes by words and their stems; it needs no model and no index, and knows Russian and Chinese, too. What it
recalled a reranker orders anew: here a stand-in for a model, which likes passages that speak of days.

Prints:

    retrieving loading: loading the search
    retrieving loading: searching
    reranking loading: 4 hits
    reranking done: 3 hits
    retrieving done: 3 found
    Citation 1: affinity 0.06, Every employee has thirty days of paid leave...
    Citation 2: affinity 0.09, Notice of leave is given two weeks before, i...
    Citation 3: affinity 0.04, Trips are booked by the office. Trains come ...
    600 tokens: handbook.txt 0, handbook.txt 1, handbook.txt 3
    480 tokens: handbook.txt 0, handbook.txt 1
    450 tokens: handbook.txt 0
    заявление на отпуск: Отпуск предоставляется по графику. Заявления подаются за две недели.
    请假: 员工的年假是三十天。请假要提前两周。
"""

from __future__ import annotations

from collections.abc import Sequence

from priompt_py import Rendered, render
from priompt_py.context import Assembly, Attachment, BM25Retriever, Event, Message, assemble

HANDBOOK = """Leave

Every employee has thirty days of paid leave a year. Leave that was not taken by March is lost.

Notice of leave is given two weeks before, in writing, to the head of the department.

Whoever is ill calls before nine. A doctor's note is due from the third day.

Trips are booked by the office. Trains come before planes; hotels cost at most 120 euro a night."""
REGLEMENT = """Отпуск предоставляется по графику. Заявления подаются за две недели.

Расходы на поездки возмещаются по чекам."""
FILES = [
    Attachment("h", "handbook.txt", text=HANDBOOK, mode="retrieval"),
    Attachment("r", "reglement.txt", text=REGLEMENT, mode="retrieval"),
    Attachment("z", "规定.txt", text="员工的年假是三十天。请假要提前两周。", mode="retrieval"),
]
RETRIEVER = BM25Retriever(chunk_size=24, overlap=0)


class LikesDays:
    """Scores each text by how often it says "days"."""

    def rerank(self, query: str, texts: Sequence[str], top_k: int) -> list[tuple[int, float]]:
        scores = [(index, float(text.count("days"))) for index, text in enumerate(texts)]
        return sorted(scores, key=lambda pair: -pair[1])[:top_k]


def tell(event: Event) -> None:
    if event.kind != "pass":
        print(f"{event.kind} {event.state}: {event.text}")


def ask(question: str) -> Assembly:
    return assemble(
        [Message("m", "user", question, attachments=FILES)],
        window=8_000,
        retriever=RETRIEVER,
        reranker=LikesDays(),
        events=tell,
    )


def cited(assembly: Assembly, rendered: Rendered) -> str:
    return ", ".join(f"{hit.source_name} {hit.chunk}" for hit in assembly.cited(rendered)) or "none"


def main() -> None:
    assembly = ask("How many days of leave are there, and who gets the notice?")
    for number, hit in enumerate(assembly.hits, 1):
        print(f"Citation {number}: affinity {hit.affinity:.2f}, {hit.text.splitlines()[-1][:44]}...")
    for limit in (600, 480, 450):
        print(f"{limit} tokens: {cited(assembly, render(assembly.node, token_limit=limit))}")
    for query in ("заявление на отпуск", "请假"):
        [best, *_] = RETRIEVER.search(query, FILES, 1)
        print(f"{query}: {best.text}")


if __name__ == "__main__":
    main()
