"""Ids of test cases that are the same in every process, as running in several asks for."""

from __future__ import annotations

import re

__all__ = ["stable_id"]


def stable_id(value: object) -> str:
    """The beginning of a repr, without the addresses of objects."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:40]
