"""Where in a JSON text a value stands: from a path such as ``messages[2].content[0]`` to a line and a column."""

from __future__ import annotations

import json
import math
import re
from typing import Any

__all__ = ["line_and_column", "offset_of", "problem_of", "refused_place"]

_MOST_DIGITS = 4_300  # of a whole number that Python reads
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
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


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1, in code points."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def problem_of(error: json.JSONDecodeError) -> tuple[str, int]:
    """What is wrong with a JSON text, and the offset: the same on every Python, which tell a comma that is too many
    apart since 3.13."""
    text = error.doc
    if error.msg.startswith("Illegal trailing comma"):
        return "a comma stands before the end", error.pos
    end = _skip(text, error.pos)
    comma = len(text[:end].rstrip(" \t\n\r")) - 1
    if text[end : end + 1] in ("]", "}") and text[comma : comma + 1] == ",":
        return "a comma stands before the end", comma
    return error.msg, error.pos


def refused_place(text: str, *, names: bool) -> int:
    """The offset of what ``parse_json`` refuses in a text that is JSON else: with ``names`` the first that stands twice
    in one object; else the first NaN, infinity, or number that is too large. 0 where there is none."""
    seen: list[set[str]] = []
    found = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
    for (token, offset), (following, _) in zip(found, [*found[1:], ("", 0)], strict=True):
        if token in ("{", "["):
            seen.append(set())
        elif token in ("}", "]"):
            seen.pop()
        elif token[0] == '"' and following == ":":
            name = json.loads(token)
            if names and name in seen[-1]:
                return offset
            seen[-1].add(name)
        elif not names and token[0] in "-0123456789NI" and _is_refused(token.removeprefix("-")):
            return offset
    return 0


def _is_refused(number: str) -> bool:
    return len(number) > _MOST_DIGITS if number.isdigit() else not math.isfinite(float(number))


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
