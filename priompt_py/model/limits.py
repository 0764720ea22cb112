"""Limits of isolates and maxes: whole numbers of tokens, or a share of the limit around them."""

from __future__ import annotations

import re

__all__ = ["relative_limit", "resolve_limit"]

_RELATIVE = re.compile(r"\s*([0-9]+)\s*%\s*(?:([+-])\s*([0-9]+)\s*)?", re.ASCII)


def relative_limit(spec: str) -> tuple[int, int] | None:
    """``(per cent, tokens to add)`` of ``"N%"``, ``"N% + M"`` or ``"N% - M"``; None for another text."""
    match = _RELATIVE.fullmatch(spec)
    if match is None:
        return None
    percent, sign, tokens = match.groups()
    return int(percent), int(tokens or 0) * (-1 if sign == "-" else 1)


def resolve_limit(spec: int | str, outer: int) -> int:
    """A limit in tokens: ``spec`` itself, or its per cent of ``outer``, floored; never below 0."""
    if isinstance(spec, int):
        return spec
    relative = relative_limit(spec)
    assert relative is not None, spec  # checked when the element was built
    percent, tokens = relative
    return max(0, percent * outer // 100 + tokens)
