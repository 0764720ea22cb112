"""A long chat under a budget: the oldest turns go first, the last one always stays.

A model plays Algernon of Wilde's *The Importance of Being Earnest*, a person plays Jack. `turn(i)` counts from the
start of the conversation, so a turn keeps its priority while the chat grows.

Prints:

"""

from __future__ import annotations

from pathlib import Path

from priompt_py import Node, assistant_message, empty, render, scope, system_message, turn, user_message

PLAY = Path(__file__).parent / "data" / "earnest.txt"


def prompt() -> Node:
    *past, last = PLAY.read_text("utf-8").splitlines()
    return [
        system_message["You are Algernon Moncrieff. Answer Jack in one or two sentences."],
        [scope(prel=turn(i), name=f"turn {i}")[said(line)] for i, line in enumerate(past)],
        said(last),
        empty(tokens=100),
    ]


def said(line: str) -> Node:
    speaker, _, words = line.partition(": ")
    message = user_message if speaker == "Jack" else assistant_message
    return message[words]


def main() -> None:
    for limit in (10_000, 1_000, 300):
        rendered = render(prompt(), token_limit=limit)
        messages = rendered.messages or ()
        print(
            f"{limit:,} tokens: {len(messages)} messages, {rendered.token_count:,} tokens. After the first:"
        )
        for message in messages[1:3]:
            print(f"  {message.role}: {message.text[:80]}")
        print(f"  ... {messages[-1].role}: {messages[-1].text}")


if __name__ == "__main__":
    main()
