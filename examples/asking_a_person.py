"""A program that asks a person in place of a model, and shows its question in the preview's page.

`live` takes the place of `run`: the prompt appears in the page, and the program goes on with what is typed there. Here the
program serves the page itself, and a client stands for the person: it asks the page's interface what waits, sees the
prompt as a model would get it, and answers. (With `priompt serve` in another terminal, the program needs no
server at all: see docs/web_preview.md.)

Prints:

    Waiting: triage, 28 of 40 tokens
      [in ] system: Which team is it for? Answer billing, support or sales.
      [out] user: Earlier: the customer changed the plan in March, and asked for the old one back twice.
      [in ] user: I paid twice.
    The program goes on: forwarded to BILLING
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import httpx

from priompt_py import Hub, ModelOutput, Node, capture, live, scope, system_message, user_message
from priompt_py.web import PreviewApp, preview_app


def triage(message: str, earlier: str, on_return: Callable[..., None]) -> Node:
    def read(output: ModelOutput) -> None:
        on_return(output.text.strip().upper())

    return [
        system_message["Which team is it for? Answer billing, support or sales."],
        scope(p=5)[user_message[f"Earlier: {earlier}"]],
        user_message[message],
        capture(on_output=read),
    ]


async def work(hub: Hub) -> None:
    """The program."""
    props = {
        "message": "I paid twice.",
        "earlier": "the customer changed the plan in March, and asked for the old one back twice.",
    }
    team = await live(triage, props, token_limit=40, hub=hub)
    print(f"The program goes on: forwarded to {team}")


async def answer(app: PreviewApp) -> None:
    """The person, who has the page open."""
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://localhost:8000",
        headers={"X-Priompt-Token": app.token},
    )
    async with client as page:
        waiting: list[dict[str, Any]] = []
        while not waiting:
            await asyncio.sleep(0.01)
            waiting = (await page.get("/api/questions")).json()["questions"]
        question = waiting[0]
        print(f"Waiting: {question['name']}, {question['tokens_used']} of {question['token_limit']} tokens")
        show((await page.get(f"/api/questions/{question['id']}")).json())
        await page.post(f"/api/questions/{question['id']}/answer", json={"answer": "billing"})


def show(told: dict[str, Any]) -> None:
    """The messages, and whether each is in: bit n of `bits` is row n."""
    rows = told["elements"]
    bits = int.from_bytes(base64.b64decode(told["position"]["bits"]), "little")
    for row, text in enumerate(rows["text"]):
        if text is not None:
            role = rows["details"][str(rows["parent"][row])]["role"]
            print(f"  [{'in ' if bits >> row & 1 else 'out'}] {role}: {text}")


async def main() -> None:
    hub = Hub()
    await asyncio.gather(work(hub), answer(preview_app({"triage": triage}, hub=hub)))


if __name__ == "__main__":
    asyncio.run(main())
