"""Assemblies that are cancelled at any moment: everything that began ends, in the sink too, and nothing is left running."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Sequence

import pytest

from priompt_py.context import Assembly, Attachment, Event, Hit, Message, aassemble


class Loads:
    def __init__(self, data: bytes | None, seconds: float) -> None:
        self.data = data
        self.seconds = seconds

    async def read(self, _: Attachment) -> bytes:
        await asyncio.sleep(self.seconds)
        if self.data is None:
            raise OSError("gone")
        return self.data


class Searches:
    default_threshold = 0.0

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def search(self, query: str, documents: Sequence[Attachment], limit: int) -> list[Hit]:
        await asyncio.sleep(self.seconds)
        return [Hit(query, 0.5, documents[0].id)]


def ended(events: Sequence[Event]) -> bool:
    """Whether every subject that began has ended, and none that didn't begin."""
    is_open: dict[tuple[str, str], bool] = {}
    for event in events:
        key = (event.kind, event.subject)
        if event.state in ("done", "error", "canceled"):
            if not is_open.get(key):
                return False
            is_open[key] = False
        else:
            is_open[key] = True
    return not any(is_open.values())


async def one(seed: int) -> Assembly | None:
    """An assembly that is cancelled after a while; None if it came too early. The sink is slow, and fails at times."""
    dice = random.Random(seed)
    told: list[Event] = []

    async def sink(event: Event) -> None:
        if dice.random() < 0.2:
            await asyncio.sleep(0.001)
        told.append(event)
        if dice.random() < 0.05:
            raise ValueError("a sink fails")

    files = [
        Attachment(
            f"f{n}", f"f{n}", loader=Loads(dice.choice([b"text", b"\x00", None]), dice.random() * 0.01)
        )
        for n in range(5)
    ]
    task = asyncio.ensure_future(
        aassemble(
            [Message("u", "user", "question", attachments=files)],
            window=dice.choice([None, 10, 10_000]),
            attachments=dice.choice(["ladder", "preprocess", "envelope"]),
            retriever=Searches(dice.random() * 0.01),
            events=sink,
            time_limit=dice.choice([None, 0.005, 5]),
        )
    )
    await asyncio.sleep(dice.random() * 0.05)
    task.cancel()
    try:
        assembly = await task
    except asyncio.CancelledError:
        assembly = None
    assert ended(told)
    assert assembly is None or assembly.report.events == tuple(told)
    return assembly


@pytest.mark.anyio
async def test_cancelled_at_any_moment() -> None:
    tasks, threads = asyncio.all_tasks(), threading.active_count()
    results = [await one(seed) for seed in range(60)]
    results += await asyncio.gather(*(one(seed) for seed in range(60, 100)))
    assert 10 < sum(result is None for result in results) < 95
    assert asyncio.all_tasks() == tasks
    for _ in range(500):
        if threading.active_count() <= threads:
            break
        await asyncio.sleep(0.01)
    assert threading.active_count() <= threads
