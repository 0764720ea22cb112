"""A process that adds to a base, to be killed: python worker.py PLACE FOLDER [PAUSE].

It prints ``begun`` once everything is imported, and a line for each document.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from priompt_py.context import AddProgress, KnowledgeBase
from tests.context.knowledge.stand_ins import WORDS, Hashed

CHUNK_SIZE = 10
BATCH = 3


def open_base(place: str) -> KnowledgeBase:
    """The base as the worker has it."""
    return KnowledgeBase.open(place, Hashed(), chunk_size=CHUNK_SIZE, overlap=0, tokenizer=WORDS)


def main(place: str, folder: str, pause: float = 0.0) -> None:
    print("begun", flush=True)

    def tell(progress: AddProgress) -> None:
        if pause:
            time.sleep(pause)

    options: dict[str, Any] = {"on_progress": tell, "batch": BATCH}
    with open_base(place) as base:
        for one in base.add(folder, **options).documents:
            print(one.id, one.status, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:]))
