"""A program's elements and their priorities as lines of text: what can be told of it without a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from priompt_py.face.visible import in_one_line, priority_text, visible
from priompt_py.model.elements import BASE_PRIORITY, Element
from priompt_py.model.ops import Compiled, Entry

__all__ = ["outline"]

MOST = 40
"""Lines that are shown."""

_DEEP = 12  # levels of indentation that are shown
_CHARS = 40  # of a text


def outline(recorded: Compiled) -> Iterator[str]:
    """A line for each element and text but the pieces of excerpts, indented by depth: its kind, label, priority and characters."""
    depths: list[int] = []
    entries = recorded.entries
    pieces = Counter(
        entry.parent
        for entry in entries
        if entry.kind == "text" and _kind_around(entries, entry) == "excerpt"
    )
    shown = 0
    for number, entry in enumerate(entries):
        depths.append(0 if entry.parent < 0 else depths[entry.parent] + 1)
        if _kind_around(entries, entry) == "excerpt":
            continue
        shown += 1
        if shown <= MOST:
            count = f" · {pieces[number]:,} pieces" if number in pieces else ""
            yield f"{'  ' * min(depths[number], _DEEP)}{_line(entry)}{count}"
    if shown > MOST:
        yield f"… {shown - MOST:,} more"


def _kind_around(entries: Sequence[Entry], entry: Entry) -> str:
    return "" if entry.parent < 0 else entries[entry.parent].kind


def _line(entry: Entry) -> str:
    if not isinstance(entry.element, Element):
        text = str(entry.element)
        shown = text if len(text) <= _CHARS else f"{text[: _CHARS - 1]}…"
        return f"{visible(shown)!r}"
    facts = [in_one_line(entry.segment.partition(":")[2] or entry.segment)]
    if entry.high < BASE_PRIORITY:
        facts.append(f"priority {priority_text(entry.high)}")
    return " · ".join(facts)
