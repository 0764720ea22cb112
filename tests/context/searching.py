"""What tests of searching share: an embedder of a few listed words, and attachments from texts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from priompt_py.context import Attachment

TOPICS = {
    "refund": (1, 0, 0), "money": (1, 0, 0), "back": (1, 0, 0),
    "ship": (0, 1, 0), "parcel": (0, 1, 0),
    "mail": (0, 0, 1), "letter": (0, 0, 1),
}  # fmt: skip


class TopicEmbedder:
    """Adds up what its words are about. ``faults`` are raised by the calls, in order, None being none."""

    name = "topics"
    dim = 3

    def __init__(self, *faults: Exception | None) -> None:
        self.faults = list(faults)
        self.calls: list[tuple[str, list[str]]] = []
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        with self._lock:
            self.calls.append((kind, list(texts)))
            fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        found = [TOPICS[word] for word in text.lower().replace(".", "").split() if word in TOPICS]
        return [float(sum(column)) for column in zip(*found, strict=True)] if found else [0.0, 0.0, 0.0]


class AsyncTopicEmbedder(TopicEmbedder):
    """The same, async."""

    async def embed(self, texts: Sequence[str], kind: str) -> Any:
        return super().embed(texts, kind)


class Answers:
    """An embedder that gives what it was made with."""

    name = "answers"
    dim = 3

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        return self.answer


def documents(*texts: str) -> list[Attachment]:
    """Attachments ``d0``, ``d1`` and so on, with names ``d0.txt`` and so on."""
    return [Attachment(f"d{i}", f"d{i}.txt", text=text) for i, text in enumerate(texts)]
