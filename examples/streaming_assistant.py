"""An assistant that streams: text is shown as it comes, tools are called, and their results go back.

All handlers of a prompt run at the same time: one prints the text, one follows the arguments of a call while they
stream, and the tool itself is an ordinary typed function, called with checked arguments. The client takes its key and
address from the environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`).

Prints:

    assistant> Let me look at the timetable.
    (looking for trains from Basel ...)
    timetable> 09:06, 09:56
    assistant> The next train leaves at 09:06, the one after it at 09:56.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from openai import AsyncOpenAI

from priompt_py import (
    Delta,
    ModelOutput,
    Node,
    ToolCall,
    assistant_message,
    capture,
    openai_model,
    run,
    system_message,
    tool_message,
    tools,
    user_message,
)

TIMETABLE = {("Basel", "Bern"): ["09:06", "09:56", "10:06"]}


async def trains(start: str, end: str, count: int = 2) -> str:
    """The next trains between two stations.

    Args:
        start: Where the journey begins.
        end: Where it ends.
        count: How many trains.
    """
    await asyncio.sleep(0)  # a service would be asked here
    return ", ".join(TIMETABLE[start, end][:count])


async def show_text(stream: AsyncIterator[Delta]) -> None:
    print("assistant> ", end="")
    async for delta in stream:
        print(delta.text, end="", flush=True)
    print()


async def show_call(partials: AsyncIterator[dict[str, Any]]) -> None:
    async for arguments in partials:
        if "end" in arguments:  # then "start", which stands before it, is whole
            print(f"\n(looking for trains from {arguments['start']} ...)", end="")
            return


async def answer(history: list[Node], client: AsyncOpenAI) -> ModelOutput:
    """One answer, shown as it comes; it and the results of its calls are added to the history."""
    results: dict[str | None, str] = {}

    def keep(result: str, call: ToolCall) -> None:
        results[call.id] = result
        print(f"timetable> {result}")

    prompt: Node = [
        system_message["You help travellers."],
        history,
        tools(on_format=show_call, on_result=keep)[trains],
        capture(on_stream=show_text),
    ]
    model = openai_model(client, model="gpt-4o", stream=True)
    output: ModelOutput = await run(prompt, model=model, token_limit=2_000)
    history.append(assistant_message(tool_calls=output.tool_calls)[output.content])
    history += [tool_message(tool_call_id=str(call.id))[results[call.id]] for call in output.tool_calls]
    return output


async def main() -> None:
    history: list[Node] = [user_message["When do trains go from Basel to Bern?"]]
    async with AsyncOpenAI() as client:
        while (await answer(history, client)).tool_calls:
            pass


if __name__ == "__main__":
    asyncio.run(main())
