r"""Tools, a picture, and tool calls that stay with their results.

A person asks about a chart; earlier the model had called a tool. Under the small limit the old call has to go, and its
result goes with it, although the result alone has the higher priority: a request with half a pair would be refused.
What is printed is the request for OpenAI, with the bytes of the picture cut short.

Prints:

    2,000 tokens, 381 used:
      messages:
        {"role": "system", "content": "You help the manager of a museum."}
        {"role": "user", "content": "How was Monday?"}
        {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"day\": \"Mon\"}"}}]}
        {"role": "tool", "content": "Sunny, 24 degrees, a light wind from the west", "tool_call_id": "call_1"}
        {"role": "user", "content": [{"type": "text", "text": "Visitors from Monday to Saturday. Why the orange bar?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,...", "detail": "auto"}}]}
      tools:
        {"type": "function", "function": {"name": "weather", "description": "The weather on a day of last week.", "parameters": {"type": "object", "properties": {"day": {"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]}}, "required": ["day"]}}}
      max_completion_tokens: 200
    570 tokens, 343 used:
      messages:
        {"role": "system", "content": "You help the manager of a museum."}
        {"role": "user", "content": [{"type": "text", "text": "Visitors from Monday to Saturday. Why the orange bar?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,...", "detail": "auto"}}]}
      tools:
        {"type": "function", "function": {"name": "weather", "description": "The weather on a day of last week.", "parameters": {"type": "object", "properties": {"day": {"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]}}, "required": ["day"]}}}
      max_completion_tokens: 200
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from priompt_py import (
    Node,
    assistant_message,
    config,
    empty,
    image,
    render,
    scope,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)

CHART = Path(__file__).parent / "data" / "visitors.png"
WEATHER = {
    "type": "object",
    "properties": {"day": {"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]}},
    "required": ["day"],
}


def prompt() -> Node:
    return [
        system_message["You help the manager of a museum."],
        tool_definition(name="weather", description="The weather on a day of last week.", parameters=WEATHER),
        scope(p=10)[
            user_message["How was Monday?"],
            assistant_message(tool_calls=[{"id": "call_1", "name": "weather", "arguments": {"day": "Mon"}}]),
        ],
        scope(p=20)[tool_message(tool_call_id="call_1")["Sunny, 24 degrees, a light wind from the west"]],
        user_message["Visitors from Monday to Saturday. Why the orange bar?", image(data=CHART.read_bytes())],
        empty(tokens=200),
        config(max_response_tokens="tokens_reserved"),
    ]


def main() -> None:
    for limit in (2_000, 570):
        rendered = render(prompt(), token_limit=limit, model="gpt-4o")
        print(f"{limit:,} tokens, {rendered.token_count} used:")
        request = rendered.to_openai()
        for name in ("messages", "tools"):
            print(f"  {name}:")
            for item in request[name]:
                print(f"    {shortened(json.dumps(item))}")
        print(f"  max_completion_tokens: {request['max_completion_tokens']}")


def shortened(item: str) -> str:
    """The JSON text with the bytes of its picture left out."""
    return re.sub(r'(?<=;base64,)[^"]+', "...", item)


if __name__ == "__main__":
    main()
