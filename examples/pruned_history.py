"""A long chat about a contract: what is old and off the question goes, a definition that is still spoken of stays.

The history is pruned before it becomes a tree, and the renderer fits what is left. pruned_history.priompt is the same
prompt as a template.

Prints:

    12 messages, 9 stay
      m3 user: duplicate, in m1
      m4 assistant: expired, age 15, over 10
      m5 tool: expired, age 14, over 10
    came back: m2 defines "penalti", which m7, m9 speak of
    200 tokens: 10 messages, 128 tokens
    120 tokens: 8 messages, 96 tokens
"""

from __future__ import annotations

from typing import Any

from priompt_py import Node, empty, render, system_message
from priompt_py.context import Assembly, assemble, default_pipeline, from_openai, prune

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Hello, I have a question about our contract with the mill."},
    {"role": "user", "content": "Please answer in short sentences, and name the clause."},
    {"role": "assistant", "content": "The penalty means the sum that is due for each day of delay."},
    {"role": "user", "content": "Please answer in short sentences, and name the clause."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "Rain, 9 degrees"},
    {"role": "assistant", "content": "Clause 12 speaks of storage."},
    {"role": "user", "content": "They paid no penalty in May."},
    {"role": "assistant", "content": "Then it is still due."},
    {"role": "user", "content": "So the penalties add up?"},
    {"role": "assistant", "content": "Yes, day by day."},
    {"role": "user", "content": "Who can waive them under the contract?"},
]
AGES = (20, 20, 18, 17, 15, 14, 10, 5, 5, 3, 3, 0)  # days


def history() -> Assembly:
    messages = from_openai(HISTORY)
    days = {message.id: age for message, age in zip(messages, AGES, strict=True)}
    passes = default_pipeline(prune=prune(age=lambda message: days[message.id], whitelist=["clause"]))
    return assemble(messages, window=8_000, passes=passes)


def prompt() -> Node:
    return [system_message["You know the contract by heart."], history().node, empty(tokens=20)]


def main() -> None:
    assembly = history()
    print(f"{len(HISTORY)} messages, {len(assembly.messages)} stay")
    for report in assembly.report.passes:
        for drop in report.dropped:
            role = HISTORY[int(drop.message_id[1:])]["role"]
            print(f"  {drop.message_id} {role}: {drop.reason}, {drop.detail}")
        for back in report.restored:
            speakers = ", ".join(back.references)
            print(f'came back: {back.message_id} defines "{back.term}", which {speakers} speak of')
    for limit in (200, 120):
        rendered = render(prompt(), token_limit=limit, model="gpt-4o")
        print(f"{limit} tokens: {len(rendered.to_messages())} messages, {rendered.token_count} tokens")


if __name__ == "__main__":
    main()
