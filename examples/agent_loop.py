"""An agent whose history stays under its budget, however long it works.

Every message stands in a scope whose priority is its number, so the oldest go first; a call and its result go
together. The task itself is always in. Each step is one line: how many tokens the prompt had, how many of the
history's messages were in, and what the model did. The client takes its key and address from the environment
(`OPENAI_API_KEY`, `OPENAI_BASE_URL`).

Prints:

    69 of 300 tokens, 0 of 0 messages: read_page(number=1)
    153 of 300 tokens, 2 of 2 messages: read_page(number=2)
    237 of 300 tokens, 4 of 4 messages: read_page(number=3)
    237 of 300 tokens, 4 of 6 messages: read_page(number=4)
    237 of 300 tokens, 4 of 8 messages: The report says: sales rose.
"""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI

from priompt_py import (
    ModelOutput,
    Node,
    Rendered,
    ToolCall,
    assistant_message,
    openai_model,
    run,
    scope,
    system_message,
    tool_message,
    tools,
    turn,
    user_message,
)

LIMIT = 300


def read_page(number: int) -> str:
    """Read a page of the report.

    Args:
        number: Which page, from 1.
    """
    return f"Page {number}. " + "Sales rose in the north, fell in the south, and rose again. " * 4


def agent(task: str, history: list[Node], results: dict[str | None, str]) -> Node:
    def keep(result: str, call: ToolCall) -> None:
        results[call.id] = result

    def sorry(error: Exception, call: ToolCall) -> None:
        results[call.id] = f"This call can't be made: {error}"  # the model sees its mistake and tries again

    return [
        system_message["You read reports, page by page."],
        user_message[task],
        [scope(prel=turn(i))[message] for i, message in enumerate(history)],
        tools(on_result=keep, on_parse_error=sorry)[read_page],
    ]


async def main() -> None:
    history: list[Node] = []
    prompts: list[Rendered] = []
    async with AsyncOpenAI() as client:
        ask = openai_model(client, model="gpt-4o")

        def model(rendered: Rendered) -> object:
            prompts.append(rendered)
            return ask(rendered)

        while True:
            results: dict[str | None, str] = {}
            props = {"task": "What does the report say?", "history": history, "results": results}
            output: ModelOutput = await run(agent, props, model=model, token_limit=LIMIT, tokenizer="gpt-4o")
            rendered = prompts[-1]
            kept = len(rendered.messages or ()) - 2
            calls = [f"{call.name}(number={call.parsed['number']})" for call in output.tool_calls]
            did = ", ".join(calls) or output.text
            print(f"{rendered.token_count} of {LIMIT} tokens, {kept} of {len(history)} messages: {did}")
            if not output.tool_calls:
                return
            history.append(assistant_message(tool_calls=output.tool_calls)[output.content])
            history += [
                tool_message(tool_call_id=str(call.id))[results[call.id]] for call in output.tool_calls
            ]


if __name__ == "__main__":
    asyncio.run(main())
