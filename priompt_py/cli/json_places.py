"""Where in a JSON text a value stands: from a path such as ``messages[2].content[0]`` to an offset."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["offset_of"]

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def offset_of(text: str, path: str) -> int:
    """The offset (code points, from 0) of the value at ``path`` in a valid JSON text.

    A path is keys and indexes from 0; where a step leads nowhere, the value before it is meant. Each value beside the
    path is passed over once.
    """
    place = _skip(text, 0)
    for match in _STEP.finditer(path):
        key, index = match[1], match[2]
        found = _member(text, place, key) if index is None else _item(text, place, int(index))
        if found is None:
            break
        place = found
    return place


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()


def _value(text: str, place: int) -> tuple[Any, int]:
    """A value, and the offset of what follows it and white space."""
    value, end = _DECODER.raw_decode(text, place)
    return value, _skip(text, end)


def _member(text: str, place: int, wanted: str) -> int | None:
    if text[place] != "{":
        return None
    here = _skip(text, place + 1)
    while text[here] != "}":
        key, colon = _value(text, here)
        here = _skip(text, colon + 1)
        if key == wanted:
            return here
        _, here = _value(text, here)
        here = _skip(text, here + 1) if text[here] == "," else here
    return None


def _item(text: str, place: int, wanted: int) -> int | None:
    if text[place] != "[":
        return None
    here = _skip(text, place + 1)
    while text[here] != "]":
        if not wanted:
            return here
        wanted -= 1
        _, here = _value(text, here)
        here = _skip(text, here + 1) if text[here] == "," else here
    return None
