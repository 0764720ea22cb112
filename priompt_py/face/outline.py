"""A program's elements and their priorities as lines of text: what can be told of it without a limit."""

from __future__ import annotations

from collections.abc import Iterator

from priompt_py.face.visible import priority_text, visible
from priompt_py.model.elements import BASE_PRIORITY, Element
from priompt_py.model.ops import Compiled, Entry

__all__ = ["outline"]

MOST = 40
"""Lines that are shown."""

_DEEP = 12  # levels of indentation that are shown
_CHARS = 40  # of a text


def outline(recorded: Compiled) -> Iterator[str]:
    """A line for each element and text, indented by depth: its kind, label, priority and characters."""
    depths: list[int] = []
    entries = recorded.entries
    for number, entry in enumerate(entries[:MOST]):
        depths.append(0 if entry.parent < 0 else depths[entry.parent] + 1)
        yield f"{'  ' * min(depths[number], _DEEP)}{_line(entry)}"
    if len(entries) > MOST:
        yield f"… {len(entries) - MOST:,} more"


def _line(entry: Entry) -> str:
    if not isinstance(entry.element, Element):
        text = str(entry.element)
        shown = text if len(text) <= _CHARS else f"{text[: _CHARS - 1]}…"
        return f"{visible(shown)!r}"
    facts = [visible(entry.segment.partition(":")[2] or entry.segment)]
    if entry.high < BASE_PRIORITY:
        facts.append(f"priority {priority_text(entry.high)}")
    return " · ".join(facts)
