"""A long chat under a budget: the oldest turns go first, the last one always stays.

A model plays Algernon of Wilde's *The Importance of Being Earnest*, a person plays Jack. `turn(i)` counts from the
start of the conversation, so a turn keeps its priority while the chat grows.

Prints:

    10,000 tokens: 71 messages, 2,464 tokens. After the first:
      assistant: How are you, my dear Ernest? What brings you up to town?
      user: Oh, pleasure, pleasure! What else should bring one anywhere? Eating as usual, I
      ... user: You had much better dine with your Aunt Augusta.
    1,000 tokens: 21 messages, 896 tokens. After the first:
      assistant: Yes, but that does not account for the fact that your small Aunt Cecily, who liv
      user: My dear Algy, you talk exactly as if you were a dentist. It is very vulgar to ta
      ... user: You had much better dine with your Aunt Augusta.
    300 tokens: 5 messages, 199 tokens. After the first:
      assistant: You have invented a very useful younger brother called Ernest, in order that you
      user: I haven't asked you to dine with me anywhere to-night.
      ... user: You had much better dine with your Aunt Augusta.
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
        messages = rendered.to_messages()
        print(
            f"{limit:,} tokens: {len(messages)} messages, {rendered.token_count:,} tokens. After the first:"
        )
        for message in messages[1:3]:
            print(f"  {message['role']}: {message['content'][:80]}")
        print(f"  ... {messages[-1]['role']}: {messages[-1]['content']}")


if __name__ == "__main__":
    main()
