"""A pause of Python's cycle collector while many small objects are made that all stay."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator

__all__ = ["without_collections"]


@contextlib.contextmanager
def without_collections() -> Generator[None]:
    """Meanwhile the collector doesn't run by itself.

    Reading a template of 5,000 scopes makes some 300,000 objects and no cycles; looking for cycles among them, again
    and again, takes as long as the reading itself (0.9 s against 0.45 s).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
