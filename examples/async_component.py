"""Components that wait: `arender` runs them at the same time, and puts each result where it was called.

Both notes are asked for before either is there; the first to be ready is the second in the prompt.

Prints:

    asked for opening hours
    asked for tickets
    got tickets
    got opening hours
    <|im_start|>system<|im_sep|>Answer visitors of the museum.<|im_end|><|im_start|>user<|im_sep|>Opening hours: Tuesday to Sunday, 10 to 18. Thursday until 21.
    Tickets: 12 euros; 8 for students; free on the first Sunday of a month.

    Both are of this year (checked by the front desk)

    What does it cost on a Sunday?<|im_end|><|im_start|>assistant<|im_sep|>
"""

from __future__ import annotations

import asyncio

from priompt_py import Node, arender, component, empty, scope, system_message, user_message

STORE = {
    "opening hours": "Tuesday to Sunday, 10 to 18. Thursday until 21.",
    "tickets": "12 euros; 8 for students; free on the first Sunday of a month.",
}


async def note(topic: str, *, seconds: float) -> Node:
    print(f"asked for {topic}")
    await asyncio.sleep(seconds)  # a database, say
    print(f"got {topic}")
    return scope(p=5, name=topic)[f"{topic.capitalize()}: {STORE[topic]}\n"]


@component
async def checked(children: Node, *, by: str) -> Node:
    await asyncio.sleep(0)
    return [children, f"(checked by {by})"]


async def prompt(question: str = "What does it cost on a Sunday?") -> Node:
    return [
        system_message["Answer visitors of the museum."],
        user_message[
            note("opening hours", seconds=0.1),
            note("tickets", seconds=0.01),
            checked(by="the front desk")["\nBoth are of this year "],
            "\n\n",
            question,
        ],
        empty(tokens=100),
    ]


async def main() -> None:
    rendered = await arender(prompt(), token_limit=300)
    print(rendered.to_text())


if __name__ == "__main__":
    asyncio.run(main())
