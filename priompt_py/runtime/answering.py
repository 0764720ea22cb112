"""What a client's call gave, as an answer: read at once, or when it has been awaited."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from priompt_py.model.model_output import ModelOutput

__all__ = ["answered"]


def answered(given: Any, read: Callable[[Any], ModelOutput] | None) -> Any:
    """``given`` through ``read`` (None: as it is, for streams); something to await where ``given`` is that."""
    if inspect.isawaitable(given):

        async def wait() -> Any:
            found = await given
            return found if read is None else read(found)

        return wait()
    return given if read is None else read(given)
