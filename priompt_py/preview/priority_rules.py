"""What ``priompt check`` finds in priorities: of one compiled prompt, and of two renders of one prompt."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from priompt_py.engine.structure import path_of_entry
from priompt_py.face.difference import Difference, common_length, first_difference
from priompt_py.face.program import Program
from priompt_py.face.rendered import Rendered
from priompt_py.face.visible import in_one_line, tokens_text
from priompt_py.model.elements import BASE_PRIORITY, Element, Number
from priompt_py.model.ops import Entry
from priompt_py.model.outcome import Decision
from priompt_py.model.source_map import SourceMap

__all__ = ["growth_findings", "priority_findings"]

MOST = 5
"""Findings of one rule that are told for one prompt: a loop makes the same mistake a thousand times."""

WORTH = 128
"""Tokens that have to stand, unchanged, behind a change for it to be called early: the steps in which prefixes are
cached (OpenAI, "Prompt caching")."""


def priority_findings(program: Program) -> Iterator[str]:
    """Priorities that can't act, and alternatives that can never be chosen, wherever the cutoff is."""
    yield from _some(_above_base(program))
    yield from _some(_without_effect(program))
    yield from _some(_never_chosen(program))


def _some(findings: Iterator[str]) -> Iterator[str]:
    yield from islice(findings, MOST)
    more = sum(1 for _ in findings)
    if more:
        yield f"and {more:,} more like the last one"


def _above_base(program: Program) -> Iterator[str]:
    recorded = program.recorded()
    for number, entry in enumerate(recorded.entries):
        if _is_ranked(entry) and entry.priority > BASE_PRIORITY:
            yield (
                f"{path_of_entry(recorded, number)}: priority {entry.priority} lies above the base, and acts like it: "
                "this is always in; lower what may go instead"
            )


def _without_effect(program: Program) -> Iterator[str]:
    recorded = program.recorded()
    entries = recorded.entries
    for number, entry in enumerate(entries):
        around = _around(entries, entry)
        if _is_ranked(entry) and around < entry.priority <= BASE_PRIORITY:
            yield (
                f"{path_of_entry(recorded, number)}: priority {entry.priority} can never act above {around}, which the element around "
                "it has"
            )


def _is_ranked(entry: Entry) -> bool:
    """Whether an element has a priority of its own."""
    element = entry.element
    return isinstance(element, Element) and (element.p is not None or element.prel is not None)


def _around(entries: list[Entry], entry: Entry) -> Number:
    """The effective priority around an entry; an isolate or a max begins anew."""
    if entry.parent < 0:
        return BASE_PRIORITY
    parent = entries[entry.parent]
    return BASE_PRIORITY if parent.inner is not None or parent.kind == "max" else parent.high


def _never_chosen(program: Program) -> Iterator[str]:
    recorded = program.recorded()
    entries = recorded.entries
    for number, entry in enumerate(entries):
        if not entry.is_alternative or entry.low < entry.high:
            continue
        parent = entries[entry.parent]
        if parent.low < parent.high:  # else it is the one around it that never is
            yield (
                f"{path_of_entry(recorded, number)}: this alternative is never chosen: one before it is in whenever it could be; "
                "the one to prefer needs the lower priority"
            )


# ------------------------------------------------------------------------------------------ two renders


def growth_findings(a: Rendered, b: Rendered, names: tuple[str, str]) -> Iterator[str]:
    """What keeps two renders of one prompt, with source maps, from sharing a prefix: priorities that move while what
    they are of stays the same, and early parts that differ while what follows stays."""
    yield from _some(_moving(a, b, names))
    yield from _volatile(a, b, names)


def _moving(a: Rendered, b: Rendered, names: tuple[str, str]) -> Iterator[str]:
    first, second = _labelled(a), _labelled(b)
    places, others = _places(a), _places(b)
    for label, one in first.items():
        other = second.get(label)
        if other is None or one.priority == other.priority:
            continue
        if one.included and other.included:
            if _texts(a, places.get(one.path, [])) != _texts(b, others.get(other.path, [])):
                continue
        elif one.tokens != other.tokens:  # of what is out, nothing else is known
            continue
        yield (
            f"{in_one_line(label)} has the priority {one.priority} in {names[0]} and {other.priority} in {names[1]}, with "
            "the same content: count priorities from the start (turn(i)), so that what was cut stays cut"
        )


def _labelled(rendered: Rendered) -> dict[str, Decision]:
    """The decisions on labels that only one element has."""
    found: dict[str, Decision] = {}
    twice: set[str] = set()
    for decision in rendered.decisions:
        if decision.label is not None:
            if decision.label in found:
                twice.add(decision.label)
            found[decision.label] = decision
    return {label: decision for label, decision in found.items() if label not in twice}


def _places(rendered: Rendered) -> dict[str, list[tuple[int, int]]]:
    """The spans of each path: a map looks a path up by walking through all of it, and here all are asked for."""
    found: dict[str, list[tuple[int, int]]] = {}
    for span in _map(rendered).walk():
        found.setdefault(span.path, []).append((span.start, span.end))
    return found


def _texts(rendered: Rendered, places: list[tuple[int, int]]) -> list[str]:
    text = _map(rendered).text
    return [text[start:end] for start, end in places]


def _map(rendered: Rendered) -> SourceMap:
    source_map = rendered.source_map
    assert source_map is not None  # they were made with one
    return source_map


def _volatile(a: Rendered, b: Rendered, names: tuple[str, str]) -> Iterator[str]:
    found = first_difference(a, b)
    if found is None:
        return
    if found.what == "tools":
        yield from _volatile_tools(a, b, found, names)
        return
    one, end = _rest(a, found.characters)
    other, other_end = _rest(b, found.characters)
    # The change is within these leaves, up to where both go on alike.
    kept = _common_end(one[found.characters : end], other[found.characters : other_end])
    start, other_start = end - kept, other_end - kept
    same = common_length(one[start:], other[other_start:])
    behind = min(
        a.tokens_before(start + same) - a.tokens_before(start),
        b.tokens_before(other_start + same) - b.tokens_before(other_start),
    )
    element = found.a or found.b
    if behind < WORTH or behind <= found.tokens or element is None:
        return
    name = f"{element.label} ({element.path})" if element.label is not None else element.path
    yield (
        f"{in_one_line(name)} differs between {names[0]} and {names[1]} after {tokens_text(found.tokens)}: the "
        f"{tokens_text(behind)} behind it are the same, but no prefix cache can keep them; move it behind them"
    )


def _volatile_tools(a: Rendered, b: Rendered, found: Difference, names: tuple[str, str]) -> Iterator[str]:
    same = common_length(_map(a).text, _map(b).text)
    behind = min(one.tokens_before(same) - one.tokens_before(0) for one in (a, b))
    element = found.a or found.b
    if behind < WORTH or element is None or element.label is None:
        return
    yield (
        f"the tool {in_one_line(element.label)} ({in_one_line(element.path)}) differs between {names[0]} and {names[1]}, and "
        f"tools are sent first: the {tokens_text(behind)} behind them are the same, but no prefix cache can keep them; "
        "send the same tools, in the same order"
    )


def _rest(rendered: Rendered, characters: int) -> tuple[str, int]:
    """The text of a render, and where the leaf ends in which this character is."""
    source_map = _map(rendered)
    line = source_map.at(characters)
    return source_map.text, line[-1].end if line else len(source_map.text)


def _common_end(a: str, b: str) -> int:
    """How many characters two texts have in common at their end."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle :] == b[len(b) - middle :]:
            low = middle
        else:
            high = middle - 1
    return low
