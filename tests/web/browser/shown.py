"""Prompts that the tests look at in a browser; a copy of this file is served."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

from priompt_py import (
    Node,
    assistant_message,
    at_most,
    capture,
    config,
    empty,
    excerpt,
    fallback,
    image,
    prompt,
    scope,
    system_message,
    tool_definition,
    turn,
    user_message,
)

MANUAL = "".join(f"Step {n}: turn screw {n} to the left.\n" for n in range(1, 31))
LIGHTS = "# Lights\n\n| light | meaning |\n|---|---|\n| green | it works |\n| orange | an update is being installed |\n"
TURNS = [
    ("user", "Hi! My device came today. Where should I put it?"),
    ("assistant", "Welcome! On a flat surface, away from heat."),
    ("user", "Done 👍 and the light is green."),
    ("assistant", "Good: it has found the antenna."),
    ("user", "Since the update tonight the light blinks orange."),
    ("assistant", "Does it blink or is it steady?"),
]
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f0003860180348d0dea0000000049454e44ae426082"
)


def _search(query: str) -> str:
    return f"found nothing for {query}"


def _heard(output: Any) -> dict[str, Any]:
    return {"answer": output.text, "calls": [call.name for call in output.tool_calls]}


async def _streamed(stream: Any) -> str:
    parts = [piece async for piece in stream]
    return f"{len(parts) > 1}"


@prompt(id="support", token_limit=700, dump="dumps")
def support(question: str = "What does that mean?", turns: int = 6, name: str = "Ann") -> Node:
    """A chat with everything in it."""
    return [
        system_message[
            "Answer from the manual; say so where it is silent. ",
            scope(p=900, name="style")["Be brief.\n"],
            scope(p=120, name="example")["Example: “My light is red.” → “It has found no antenna.”\n"],
        ],
        tool_definition(
            name="search",
            description="Search the manual.",
            parameters={
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
            on_call=_search,
        ),
        [
            scope(prel=turn(i), name=f"turn {i + 1}")[
                (user_message if who == "user" else assistant_message)[text]
            ]
            for i, (who, text) in enumerate(TURNS[:turns])
        ],
        user_message[
            scope(p=700, name="lights")[LIGHTS],
            scope(p=50, name="manual")[excerpt(MANUAL, around=12, omitted="…\n")],
            fallback(p=300, name="warranty")["Two years, unless it was opened.\n", "(No warranty here.)\n"],
            image(data=PIXEL, detail="low"),
            f"{name} asks: {question}",
        ],
        empty(tokens=100),
        config(stop="\n\n", max_response_tokens="tokens_reserved"),
        capture(on_output=_heard),
    ]


@prompt(id="lines", token_limit=12)
def lines() -> Node:
    """A plain prompt of small exact numbers: each word is a token."""
    return [
        "required",
        scope(p=30, name="high")[" high"],
        scope(p=20, name="middle")[" middle"],
        scope(p=10, name="low")[" low"],
        empty(tokens=2),
    ]


@prompt(id="big", token_limit=60_000)
def big(count: int = 10_000) -> Node:
    """10,000 scopes."""
    return [
        system_message["You read logs."],
        user_message[
            (
                scope(p=(i * 7919) % count + 1, name=f"line {i}")[
                    f"{i:05d} INFO worker-{i % 7} handled request {i * 31} in {i % 97} ms\n"
                ]
                for i in range(count)
            ),
            "What is wrong?",
        ],
    ]


@prompt(id="streamed", token_limit=50)
def streamed() -> Node:
    """A prompt whose handler reads the answer in pieces."""
    return [user_message["Speak."], capture(on_stream=_streamed)]


EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@prompt(id="evil", token_limit=400)
def evil(text: str = EVIL) -> Node:
    """Markup wherever text can stand."""
    return [
        system_message(name="a_name")[scope(p=5, name=EVIL)[text, "\u202ereversed\x1b[31m\u200b"]],
        user_message["&amp; ", EVIL],
    ]


@prompt(id="raises", token_limit=100)
def raises(name: str = "Bob") -> Node:
    """A prompt whose code fails."""
    print("looking for", name)
    if name == "Eve":
        return f"Hello {name}"
    raise ValueError(f"no customer is called {name!r} {EVIL}")


@prompt(id="hangs", token_limit=100)
def hangs() -> Node:
    """A prompt that never comes to an end."""
    sys.stderr.write("hanging\n")
    while True:
        time.sleep(0.05)


@prompt(id="long", token_limit=20_000)
def long() -> Node:
    """One text that is sent in part at first, and shares of the limit."""
    return ["words " * 5_000, at_most(token_limit="10%")[scope(p=1, name="share")["ten per cent"]]]


@prompt(id="blank", token_limit=10)
def blank() -> Iterable[Node]:
    """A prompt without any text."""
    return []
