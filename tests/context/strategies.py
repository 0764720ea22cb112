"""Random chats: small vocabularies, so that copies, terms and references meet; tool rounds whole and broken."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

from priompt_py.context import (
    Attachment,
    ImagePart,
    InfoPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from priompt_py.context.messages import Role

WORDS = (  # noqa: SIM905 - read at a glance
    "оферта оферты оферту акцепт акцепта договор договоре Счёт срок ответа Когда отправили fee fees licence The what "
    "delivery address address, OK ok да нет 5 10 合同 的 期限 是多久 👍 👎 C++ C# state-of-the-art — ё é x X"
).split()
SENTENCES = (
    "Оферта — это предложение заключить договор",
    "Под акцептом понимается полное согласие",
    "“合同”是指双方签订的协议",
    '"Licence" means the terms of use',
    "Fee: ten euro per month",
    "please verify the delivery address today",
    "Please verify the delivery address today!",
    "ok, fine",
    "OK, fine!",
    "да",
    "",
    "  ",
    "合同的期限是多久",
    "What about the licence fee and the оферта?",
)


def random_chat(rng: random.Random, most: int = 14) -> list[Message]:
    """A chat of up to ``most`` messages; the same for the same generator."""
    size = rng.randrange(most + 1)
    by_step = rng.random() < 0.7
    step = 0
    found: list[Message] = []
    open_calls: list[str] = []
    for i in range(size):
        step += rng.choice((0, 1, 1, 2, 5))
        role: Role = rng.choice(
            ("user", "assistant", "user", "assistant", "system", "developer", "assistant")
        )
        if open_calls and rng.random() < 0.8:
            role = "tool"
        parts: list[Part] = []
        answered = False
        if role == "tool":
            call = open_calls.pop(rng.randrange(len(open_calls))) if rng.random() < 0.9 else "stray"
            parts.append(ToolResultPart(call, _said(rng), is_error=rng.random() < 0.1))
            if rng.random() < 0.1:
                parts.append(ToolResultPart(rng.choice(("stray again", "c0 again")), _said(rng)))
        elif rng.random() < 0.95:
            parts.append(TextPart(_said(rng)))
        if role == "assistant":
            open_calls = [f"c{rng.randrange(4)}" for _ in range(rng.choice((0, 0, 0, 1, 2)))]
            open_calls = list(dict.fromkeys(open_calls))
            if open_calls and rng.random() < 0.3:
                parts.append(ReasoningPart("hm", "anthropic", {"signature": "s"}))
            parts += [ToolCallPart(call, "look", '{"for": "оферта"}') for call in open_calls]
            if open_calls and rng.random() < 0.2:
                parts.append(ToolResultPart(open_calls.pop(0), _said(rng)))
                answered = True
        elif role == "user" and rng.random() < 0.1:
            parts.append(ImagePart(url="https://example.com/a.png"))
        if rng.random() < 0.05:
            parts.append(InfoPart("note"))
        found.append(
            Message(
                f"m{i}",
                role,
                parts,
                step=step if by_step or rng.random() < 0.5 else None,
                attachments=[Attachment(f"f{i}", "a.txt", text="x")] if rng.random() < 0.05 else [],
                is_summary=role == "assistant" and not open_calls and not answered and rng.random() < 0.06,
                pinned=rng.random() < 0.08,
                hidden=rng.random() < 0.03,
                generating=rng.random() < 0.03,
                error="failed" if rng.random() < 0.04 else None,
            )
        )
    return found


def _said(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(SENTENCES)
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(9)))


def chats(most: int = 14) -> st.SearchStrategy[list[Message]]:
    """Random chats for hypothesis: it draws the generator, and makes the chat smaller by making it shorter."""
    build: Callable[[random.Random, int], list[Message]] = random_chat
    return st.builds(build, st.randoms(use_true_random=False), st.integers(0, most))
