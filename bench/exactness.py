"""The goals that are not a matter of time: what is tokenised for a render, and that the cutoff is the right one."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from bench.counting import CountingTokenizer
from bench.floor import tokenise
from bench.goal import QUICK, Goal, at_most
from bench.shapes import ENCODING, SHAPES, Data, Shape, build, data_of, find, shown_text, text_at
from bench.timing import clock
from priompt_py import Rendered, get_tokenizer, render
from priompt_py.tokens.tokenizer import chat_format_of

__all__ = ["characters", "count_at", "exact", "levels_below"]

CONSTANT = 10_000
"""Characters that a render may tokenise whatever the prompt: samples, message frames, seams."""

MUCH_LARGER = (Shape("lines", 100_000, 800), Shape("lines", 1_000_000, 8_192))
"""Trees more than a thousand times larger than their limit."""

WITHOUT_CUTS = (find("lines", 1_000, 4_096), find("chat", 1_000, 16_000), Shape("firsts", 600, 0))
"""Shapes for a tokenizer that says nothing of itself; 10,000 lines take minutes with it."""


def characters(rounds: int, *, quick: bool) -> Iterator[Goal]:
    """What is tokenised stays under 4 times the final prompt and a constant, however large the tree."""
    del rounds  # it is the same each time
    for shape in QUICK if quick else (*SHAPES, *MUCH_LARGER):
        data, tokenizer = data_of(shape), CountingTokenizer()
        rendered = render(build(data), token_limit=data.limit, tokenizer=tokenizer)
        shown = len(shown_text(rendered))
        value = (tokenizer.chars - CONSTANT) / shown
        note = f"{tokenizer.chars:,} for a prompt of {shown:,}, {tokenizer.chars / shown:.2f} times, {tokenizer.calls:,} calls"
        yield at_most(f"{shape.name}: characters tokenised", max(0.0, value), 4, note=note, timed=False)


# ------------------------------------------------------------------------------------------ exact


def exact(rounds: int, *, quick: bool) -> Iterator[Goal]:
    """The chosen level fits and is counted right, and the levels right below it do not fit; what it costs to find
    that without safe cuts."""
    del rounds
    for shape in QUICK if quick else SHAPES:
        data = data_of(shape)
        rendered = render(build(data), token_limit=data.limit, tokenizer=ENCODING)
        fault, checked = first_fault(data, rendered)
        note = f"{rendered.token_count:,} tokens; {checked} levels below it were counted"
        yield Goal(f"{shape.name}: exact", not fault, fault or "exact", "exact", note, timed=False)
    for shape in QUICK if quick else WITHOUT_CUTS:
        yield without_cuts(shape)


def first_fault(data: Data, rendered: Rendered) -> tuple[str, int]:
    """What is wrong with a prompt ("" if nothing is), and how many lower levels were counted."""
    if shown_text(rendered) != text_at(data, rendered.cutoff):
        return "another text", 0
    if rendered.token_count != count_at(data, rendered.cutoff):
        return "another count", 0
    if rendered.token_count > data.limit:
        return "over the limit", 0
    checked = 0
    for level in levels_below(data, rendered.cutoff)[: max(3, min(100, 500_000 // data.limit))]:
        checked += 1
        if count_at(data, level) <= data.limit:
            return f"level {level} fits", checked
    return "", checked


def count_at(data: Data, cutoff: float) -> int:
    """The tokens of what is in at a cutoff, found the simple way."""
    if data.kind != "chat":
        return tokenise(text_at(data, cutoff))
    texts = [text for i, (_, text) in enumerate(data.messages) if i >= cutoff]
    costs = chat_format_of(get_tokenizer(ENCODING))
    frame = costs.message_cost(tokenise)
    return sum(frame + tokenise(text) for text in texts) + costs.chat_cost(len(texts))


def levels_below(data: Data, cutoff: float) -> list[int]:
    """The levels below a cutoff, the nearest first."""
    if data.kind == "firsts":
        return sorted({p for kids in data.firsts for p, _ in kids if p < cutoff}, reverse=True)
    scopes = len(data.lines) + len(data.messages)
    return list(range(int(min(scopes, cutoff)) - 1, -1, -1))


def without_cuts(shape: Shape) -> Goal:
    """The same prompt with a tokenizer that says nothing of itself, and what that costs."""
    data, given = data_of(shape), dict[bool, tuple[float, Rendered]]()
    chars: dict[bool, int] = {}
    for cuts in (True, False):
        tokenizer, tree = CountingTokenizer(cuts=cuts), build(data)
        gc.collect()
        given[cuts] = clock(render, tree, token_limit=data.limit, tokenizer=tokenizer)
        chars[cuts] = tokenizer.chars
    same = shown_text(given[True][1]) == shown_text(given[False][1])
    note = (
        f"{chars[False] / chars[True]:,.0f} times the characters, {given[False][0] / given[True][0]:,.0f} times as long"
        f" ({1e3 * given[False][0]:,.0f} ms)"
    )
    return Goal(f"{shape.name}: no safe cuts", same, "same" if same else "another", "same", note, timed=False)
