"""A classifier: the prompt holds the handler that makes a value of the model's answer.

`run` renders the prompt, asks the model, and gives back what the handler returned. The examples for the model stay as
long as there is room; the message that is to be classified is always in. The client takes its key and address from
the environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`).

Prints:

    billing: I was charged twice in May.
    bug: The export button does nothing.
    unclear: Hello?
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from openai import AsyncOpenAI

from priompt_py import (
    ModelOutput,
    Node,
    capture,
    config,
    openai_model,
    run,
    scope,
    system_message,
    user_message,
)

LABELS = ("billing", "bug", "praise")
EXAMPLES = {
    "The invoice names the wrong company.": "billing",
    "Saving takes a minute since yesterday.": "bug",
    "Best tool I have used in years!": "praise",
}


def classify(message: str, on_return: Callable[..., None]) -> Node:
    def handle(answer: ModelOutput) -> None:
        word = answer.text.strip().lower()
        on_return(word if word in LABELS else "unclear")

    return [
        system_message[f"Answer with one word: {', '.join(LABELS)}."],
        user_message[
            [scope(prel=-n)[f"{text} -> {label}\n"] for n, (text, label) in enumerate(EXAMPLES.items(), 1)],
            f"{message} ->",
        ],
        config(max_response_tokens=5),
        capture(on_output=handle),
    ]


async def main() -> None:
    async with AsyncOpenAI() as client:
        model = openai_model(client, model="gpt-4o-mini", temperature=0)
        for message in ("I was charged twice in May.", "The export button does nothing.", "Hello?"):
            label = await run(classify, {"message": message}, model=model, token_limit=300)
            print(f"{label}: {message}")


if __name__ == "__main__":
    asyncio.run(main())
