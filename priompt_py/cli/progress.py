"""A bar on standard error while work takes long, if that is a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from time import monotonic

__all__ = ["progress_bar"]

_AFTER = 0.7  # seconds: what is done sooner shows none


@contextlib.contextmanager
def progress_bar(what: str) -> Generator[Callable[[int, int], object] | None]:
    """Gives a function to be told what is done and what there is to do; None where nobody would see the bar."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(file=sys.stderr), transient=True)
    task = bar.add_task(what, total=None)
    start = monotonic()
    next_time = start + _AFTER

    def tell(done: int, total: int) -> None:
        nonlocal next_time
        now = monotonic()
        if now < next_time:
            return
        next_time = now + 0.1
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()
