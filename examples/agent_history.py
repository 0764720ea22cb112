"""A turn of an agent that thinks: its history, put under a limit, goes back to the provider whole.

The answer holds a thinking block with a signature, and a call. The provider wants the block back as it was, before the
call that it led to; `from_anthropic` keeps it as a part. The older turn gives way to the limit, and with it its call, its
result and its thoughts at once: half of them would be refused. The answers stand for those of a client.

Prints:

    under 2,000 tokens:
      user: text
      assistant: thinking, tool_use
      user: tool_result
      assistant: text
      user: text
      assistant: thinking, tool_use
      user: tool_result
    under 250 tokens:
      user: text
      assistant: thinking, tool_use
      user: tool_result
    the signature came back: True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from priompt_py import Node, config, from_anthropic, render, scope, tool_definition, turn

TOOL = tool_definition(
    name="weather",
    description="The weather of a day.",
    parameters={"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
)


def exchange(number: int, question: str, day: str, result: str) -> list[dict[str, Any]]:
    """A question, the answer that calls the tool, and the tool's result, as the provider's client has them."""
    thinking = {"type": "thinking", "thinking": f"They mean {day}.", "signature": f"EqQB{number}"}
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "weather", "input": {"day": day}}
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": [thinking, call]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result}],
        },
    ]


OLD = [
    *exchange(1, "How was Monday?", "Mon", "Sunny, 24 degrees, a light wind from the west. " * 10),
    {"role": "assistant", "content": "Sunny."},
]
NEW = exchange(2, "And Tuesday?", "Tue", "Rain.")


def prompt() -> Iterator[Node]:
    yield scope(prel=turn(0))[from_anthropic(OLD)]
    yield from_anthropic(NEW)
    yield TOOL
    yield config(max_response_tokens=500)


def kinds(message: dict[str, Any]) -> str:
    content = message["content"]
    return "text" if isinstance(content, str) else ", ".join(block["type"] for block in content)


def main() -> None:
    request: dict[str, Any] = {}
    for limit in (2_000, 250):
        request = render(list(prompt()), token_limit=limit, tokenizer="o200k_base").to_anthropic()
        print(f"under {limit:,} tokens:")
        for message in request["messages"]:
            print(f"  {message['role']}: {kinds(message)}")
    thinking = request["messages"][1]["content"][0]
    print("the signature came back:", thinking == NEW[1]["content"][0])


if __name__ == "__main__":
    main()
