"""Whether a template is too much to be read: what takes long is counted before it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from priompt_py.template.bounds import Bounds
from priompt_py.template.items import Code, TagItem, read_raw
from priompt_py.template.source import Source

__all__ = ["over_code", "over_size"]

_MARK = re.compile(r"[<{]")


def over_size(source: Source, start: int, bounds: Bounds) -> tuple[int, str] | None:
    """Where a template is too much to be read, and why."""
    text, most = source.text, bounds.source
    if len(text) > most:
        return most, f"the template has more than {most:,} characters"
    most = bounds.tags
    if text.count("<", start) + text.count("{", start) > most:
        *_, last = islice(_MARK.finditer(text, start), most + 1)
        return last.start(), f"the template has more than {most:,} `<` and `{{`"
    return None


def over_code(source: Source, items: list[Any], bounds: Bounds) -> tuple[int, str] | None:
    """The same of its expressions, which take some twenty times as long as other text."""
    left = bounds.code
    if len(source.text) <= left:
        return None
    seen: set[str] = set()
    for text, at in _codes_in(items):
        if text not in seen and not (text.isascii() and (text.isdigit() or text.isidentifier())):
            seen.add(text)
            left -= len(text)
            if left < 0:
                return at, f"the template has more than {bounds.code:,} characters of different expressions"
    return None


def _codes_in(items: list[Any]) -> Iterator[tuple[str, int]]:
    for item in items:
        if item.__class__ is Code:
            yield item.text, item.start
            continue
        tag = item
        if item.__class__ is not TagItem:
            if getattr(item, "type", "") != "RAW":
                continue
            tag = read_raw(str(item), item.start_pos)[0]
        for one in tag.attributes:
            value = one.value
            if isinstance(value, Code):
                yield value.text, value.start
            elif value is not None and "{" in value[0]:
                yield _code_of(value[0]), value[1]


def _code_of(quoted: str) -> str:
    """What stands in the braces of a quoted value, more or less."""
    _, *pieces = quoted.split("{")
    return "".join(piece[: piece.rfind("}")] if "}" in piece else piece for piece in pieces)
