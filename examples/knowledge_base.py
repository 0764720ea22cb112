"""A knowledge base in a file: a folder is added, an addition is paused and goes on, and what is found goes into a prompt.

Words alone find inflected and unsegmented text; with an embedder (`KnowledgeBase.open(path, embedder)`) passages that use
other words are found, too.

Prints:

    paused: notes/handbook.md has 100 of 123 chunks
    then: added, added
    again: unchanged, unchanged
    возвраты: notes/policy.md#0 0.40
    退款: notes/policy.md#1 0.49
    the prompt takes 80 tokens and cites notes/policy.md
    kb_read: [notes/policy.md#0]
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from priompt_py import render, system_message, user_message
from priompt_py.context import KnowledgeBase, citation_ladder, cited

POLICY = """# Refunds

Refunds take thirty days. Возврат денег занимает тридцать дней. 退款需要三十天。
"""
HANDBOOK = "\n\n".join(f"Section {n}. Tool number {n} is kept in drawer {n % 17}." for n in range(1, 124))


def main() -> None:
    Path("notes").mkdir()
    Path("notes/policy.md").write_text(POLICY, "utf-8")
    Path("notes/handbook.md").write_text(HANDBOOK, "utf-8")

    with KnowledgeBase.open("knowledge.db", chunk_size=20, overlap=0) as base:
        batches = iter([False, False, True])  # asked before each document and after each batch
        report = base.add("notes", should_pause=lambda: next(batches, True))
        first = report.documents[0]
        print(f"paused: {first.id} has {first.stored} of {first.chunks} chunks")
        print("then:", ", ".join(one.status for one in base.add("notes").documents))
        print("again:", ", ".join(one.status for one in base.add("notes").documents))

        for query in ("возвраты", "退款"):
            hit = base.search(query)[0]
            print(f"{query}: {hit.source_id}#{hit.chunk} {hit.affinity:.2f}")

        question = "How long does a refund take?"
        hits = base.search(question, limit=2)
        prompt = [
            system_message["Answer from the passages."],
            user_message[citation_ladder(hits), question],
        ]
        rendered = render(prompt, token_limit=100)
        names = ", ".join(hit.source_id for hit in cited(rendered, hits))
        print(f"the prompt takes {rendered.token_count} tokens and cites {names}")

        tools = base.tool_functions()  # base.tools() goes into the prompt
        print("kb_read:", tools.kb_read([f"{hits[0].source_id}#{hits[0].chunk}"]).split("\n")[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
