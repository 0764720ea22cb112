"""What a report tells of, one by one in document order: texts, messages, and elements that stand for themselves."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import attrs

from priompt_py.engine.explain import Explanation
from priompt_py.model.elements import RULE_TEXT, Element, Excerpt, Message, Number
from priompt_py.model.ops import NEVER, Entry
from priompt_py.model.outcome import Reason

__all__ = ["OTHERS", "Leaf", "counted_from", "leaves_of", "text_of_entry"]

COUNTED_OUT = 500_000
"""Characters of what is out that are counted, the highest priorities first; the rest is estimated. (Tokenising them takes
about as long as a prompt of 125,000 tokens.)"""

_TEXTS = frozenset({"text", "br", "hr", "omitted"})
OTHERS = frozenset({"image", "part", "empty", "config", "capture", "tool_definition", "cache_break"})
"""Kinds of elements without children that are shown; a token break is not."""


@attrs.define(eq=False)
class Leaf:
    """A text, or an element without children, or a message before what stands in it."""

    number: int
    entry: Entry
    owner: int  # an entry; -1: the root
    message: int  # an entry; -1: it stands outside messages
    included: bool
    reason: Reason


def leaves_of(explanation: Explanation, reasons: Sequence[Reason], *, is_chat: bool) -> Iterator[Leaf]:
    """What gives text or stands for itself, in document order, and what it belongs to; ``reasons`` are the
    explanation's."""
    owners: list[int] = []
    around: list[int] = []
    causes: list[Reason] = []
    for number, (entry, reason) in enumerate(zip(explanation.recorded.entries, reasons, strict=True)):
        causes.append(causes[entry.parent] if reason == "parent_out" and entry.parent >= 0 else reason)
        is_message = isinstance(entry.element, Message)
        owner = -1 if entry.parent < 0 else owners[entry.parent]
        owners.append(number if is_message or _is_owner(entry) else owner)
        message = number if is_message else -1 if entry.parent < 0 else around[entry.parent]
        around.append(message)
        is_text = entry.kind in _TEXTS
        if is_text and is_chat and message < 0:
            continue  # blank text between messages, which is dropped
        if entry.kind == "omitted" and reason != "included":
            continue  # the mark of a gap that isn't there
        if is_message or is_text or entry.kind in OTHERS:
            yield Leaf(number, entry, owners[-1], message, reason == "included", causes[-1])


def _is_owner(entry: Entry) -> bool:
    """Whether texts are said to belong to this element: it has a priority or a label, or is an alternative."""
    element = entry.element
    if not isinstance(element, Element):
        return entry.is_alternative
    return (
        entry.is_alternative
        or element.p is not None
        or element.prel is not None
        or entry.label is not None
        or isinstance(element, Excerpt)
    )


def counted_from(leaves: Sequence[Leaf]) -> Number:
    """The priority from which on what is out is counted."""
    sizes: dict[Number, int] = defaultdict(int)
    for leaf in leaves:
        if not leaf.included and leaf.entry.kind == "text":
            sizes[leaf.entry.high] += len(text_of_entry(leaf.entry))
    total = 0
    counted: Number = math.inf
    for level in sorted(sizes, reverse=True):
        total += sizes[level]
        if total > COUNTED_OUT:
            return counted
        counted = level
    return NEVER


def text_of_entry(entry: Entry) -> str:
    """The text that an entry gives."""
    if isinstance(entry.element, Element):
        return RULE_TEXT if entry.kind == "hr" else "\n"
    return str(entry.element)
