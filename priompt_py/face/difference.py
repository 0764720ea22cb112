"""Where two renders part, for prefix caches: what stands before it is shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.face.rendered import Rendered
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart
from priompt_py.model.source_map import SourceMap

__all__ = ["Difference", "DifferentElement", "common_length", "first_difference"]

_Item: TypeAlias = "str | tuple[Any, ...]"
"""Text of the flat form, or what stands between texts and has none."""


@attrs.frozen
class DifferentElement:
    """The element at which a render parts from another one.

    ``path`` is that of the innermost element or text, ``label`` that of the innermost one around it that has any. It begins
    at ``offset`` code points and ``tokens`` tokens from the beginning of the render.
    """

    path: str
    kind: str
    label: str | None
    offset: int
    tokens: int


@attrs.frozen
class Difference:
    """The first difference of two renders.

    They share ``characters`` code points of ``to_text()`` and ``tokens`` tokens (tools, which are sent first, included).
    ``a`` and ``b`` are the elements that the difference stands in; None of a render that ends there. ``what`` is
    ``text``, ``message``, ``tools``, or the kind of content that has no text: ``image``, ``part``, ``tool_calls``,
    ``tool_call_id``. Tokens are exact where both renders have token ids; else, not ``is_exact``, they are counted up to the
    difference.
    """

    what: str
    a: DifferentElement | None
    b: DifferentElement | None
    characters: int
    tokens: int
    is_exact: bool


def first_difference(a: Rendered, b: Rendered) -> Difference | None:
    """Where two renders with source maps part; None if they are sent alike.

    Raises ArgumentTypeError for what is no render, ArgumentValueError for one without a source map.
    """
    maps: list[SourceMap] = []
    for name, one in (("a", a), ("b", b)):
        if not isinstance(one, Rendered):
            raise ArgumentTypeError(f"first_difference() needs two renders, got {name}={type(one).__name__}")
        source_map = one.source_map
        if source_map is None:
            raise ArgumentValueError(
                f"first_difference() needs renders with source_map=True, {name} has none"
            )
        maps.append(source_map)
    if a.tools != b.tools:
        return Difference("tools", _tool(a, b, maps[0]), _tool(b, a, maps[1]), 0, 0, is_exact=True)
    found = _parting(_items(a, maps[0]), _items(b, maps[1]))
    if found is None:
        return None
    what, characters = found
    shared, is_exact = _shared_tokens(a, b, characters)
    return Difference(
        what,
        _element(a, maps[0], characters, shared, what),
        _element(b, maps[1], characters, shared, what),
        characters,
        shared,
        is_exact=is_exact,
    )


# ------------------------------------------------------------------------------------------ where


def _items(rendered: Rendered, source_map: SourceMap) -> Iterator[_Item]:
    """What is sent, in order: text of the flat form, and between it what has none."""
    if rendered.messages is None:
        yield rendered.text or ""
        return
    text, at = source_map.text, 0
    spans = [span for span in source_map.walk() if span.children and span.children[0].kind == "frame"]
    for message, span in zip(rendered.messages, (span for span in spans if span.kind != "root"), strict=True):
        content = span.children[0].end
        last = span.children[-1]
        ending = last.start if last.kind == "frame" and last.start >= content else span.end
        yield ("message",)
        yield text[at:content]
        if message.role == "tool":
            yield ("tool_call_id", message.tool_call_id, message.is_error)
        at = content
        for part in message.parts:
            if isinstance(part, TextPart):
                yield text[at : at + len(part.text)]
                at += len(part.text)
            elif not isinstance(part, CacheMark):
                yield (type(part).__name__.lower(), part)
        yield from _calls(message)
        yield ("message",)
        yield text[ending : span.end]
        at = span.end
    yield text[at:]


def _calls(message: ChatMessage) -> Iterator[_Item]:
    if message.tool_calls:
        yield ("tool_calls", message.tool_calls)
    if message.function_call is not None:
        yield ("tool_calls", message.function_call)


def _parting(a: Iterator[_Item], b: Iterator[_Item]) -> tuple[str, int] | None:
    """What is different first, and after how many characters of text."""
    at = 0
    one, other = next(a, None), next(b, None)
    while one is not None or other is not None:
        if one == "":
            one = next(a, None)
        elif other == "":
            other = next(b, None)
        elif isinstance(one, str) and isinstance(other, str):
            common = common_length(one, other)
            at += common
            if common < len(one) and common < len(other):
                return "text", at
            one, other = one[common:], other[common:]
        elif one == other:
            one, other = next(a, None), next(b, None)
        else:
            kinds = [item[0] for item in (one, other) if isinstance(item, tuple)]
            return (kinds[0] if kinds else "text"), at
    return None


def common_length(a: Sequence[object], b: Sequence[object]) -> int:
    """How much two sequences have in common at their beginning: found by halves, since slices compare quickly."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


# ------------------------------------------------------------------------------------------ tokens and elements


def _shared_tokens(a: Rendered, b: Rendered, characters: int) -> tuple[int, bool]:
    """How many tokens two renders share, and whether that is certain."""
    try:
        return common_length(a.to_tokens(), b.to_tokens()), True
    except PromptError:  # images, tools, calls, or a tokenizer without ids
        return min(a.tokens_before(characters), b.tokens_before(characters)), False


def _element(
    rendered: Rendered, source_map: SourceMap, characters: int, shared: int, what: str
) -> DifferentElement | None:
    """The element of a render in which a difference at this character stands."""
    line = source_map.at(characters)
    marks = [span for span in source_map.walk() if span.kind == what and span.start == span.end == characters]
    if marks:
        line = (*line, marks[0])
    if not line:
        return None
    span = line[-1]
    label = next((one.label for one in reversed(line) if one.label is not None), None)
    tokens = min(shared, rendered.tokens_before(span.start))
    return DifferentElement(span.path, span.kind, label, span.start, tokens)


def _tool(rendered: Rendered, other: Rendered, source_map: SourceMap) -> DifferentElement | None:
    """The first tool of a render that another one hasn't at its place."""
    number = common_length(rendered.tools, other.tools)
    if number >= len(rendered.tools):
        return None
    spans = [span for span in source_map.walk() if span.kind == "tool_definition"]
    path = spans[number].path if len(spans) == len(rendered.tools) else "root"
    return DifferentElement(path, "tool_definition", rendered.tools[number].name, 0, 0)
