"""HTML's character references in literal text: ``&lt;``, ``&#65;``, ``&#x41;``. An ``&`` that begins none is itself."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5

__all__ = ["decode"]

_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def decode(text: str) -> str:
    """``text`` with its references as characters."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    reference = match[0]
    if reference[1] == "#":
        return unescape(reference)
    return html5.get(reference[1:], reference)
