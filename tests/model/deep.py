"""For tests of deep trees."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["DEEP", "in_thread"]

DEEP = 100_000


def in_thread(function: Callable[[], None]) -> None:
    """Run in a thread with a small stack, where recursion in C would end the process."""
    problems: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            problems.append(error)

    # With 256 KiB, CPython 3.13 itself crashes when it frees deep lists.
    old = threading.stack_size(1024 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    for problem in problems:
        raise problem
