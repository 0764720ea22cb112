"""Where two renders part, for prefix caches: what stands before it is shared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import Part
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart, Tool
from priompt_py.model.source_map import SourceMap
from priompt_py.providers.shared import copy_data

__all__ = ["Difference", "DifferentElement", "common_length", "first_difference"]

_Item: TypeAlias = "str | tuple[Any, ...]"
"""Text of the flat form, or what stands between texts and has none."""

_KINDS = ("image", "part", "tool_calls", "tool_call_id", "is_error", "message")
"""What has no text; of two that differ, the one that stands first here is named."""


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
    ``tool_call_id``, ``is_error``. Tools and parts whose keys stand in another order differ: they are sent so. Tokens are exact where both renders have token ids; else, not ``is_exact``, they are counted up to the
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
    tools, others = _sent_tools(a), _sent_tools(b)
    if tools != others:
        number = common_length(tools, others)
        return Difference("tools", _tool(a, number, maps[0]), _tool(b, number, maps[1]), 0, 0, is_exact=True)
    found = _parting(_items(a, maps[0]), _items(b, maps[1]))
    if found is None:
        return None
    what, characters, passed = found
    shared, is_exact = _shared_tokens(a, b, characters, passed)
    return Difference(
        what,
        _element(a, maps[0], characters, shared, what, passed),
        _element(b, maps[1], characters, shared, what, passed),
        characters,
        shared,
        is_exact=is_exact,
    )


# ------------------------------------------------------------------------------------------ where


def _sent_tools(rendered: Rendered) -> list[tuple[object, ...]]:
    """The tools as they are sent."""

    def sent(tool: Tool) -> tuple[object, ...]:
        return tool.name, tool.description, _sent(tool.parameters), tool.strict

    return list(map(sent, rendered.tools))


def _sent(data: object) -> str:
    """Data of an author as they are sent: ``1`` and ``1.0`` differ, and so does another order of keys."""
    return json.dumps(copy_data(data), default=repr)


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
            yield ("tool_call_id", message.tool_call_id)
            yield ("is_error", message.is_error)
        at = content
        for part in message.parts:
            if isinstance(part, TextPart):
                yield text[at : at + len(part.text)]
                at += len(part.text)
            elif isinstance(part, Part):
                yield ("part", part.provider, _sent(part.data))
            elif not isinstance(part, CacheMark):
                yield ("image", part)
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


def _parting(a: Iterator[_Item], b: Iterator[_Item]) -> tuple[str, int, int] | None:
    """What is different first, after how many characters of text, and after how many images and parts behind those."""
    at = passed = 0
    one, other = next(a, None), next(b, None)
    while one is not None or other is not None:
        if one == "":
            one = next(a, None)
        elif other == "":
            other = next(b, None)
        elif isinstance(one, str) and isinstance(other, str):
            common = common_length(one, other)
            at += common
            passed = 0 if common else passed
            if common < len(one) and common < len(other):
                return "text", at, passed
            one, other = one[common:], other[common:]
        elif one == other:
            passed += one is not None and one[0] in ("image", "part")
            one, other = next(a, None), next(b, None)
        else:
            kinds = {item[0] for item in (one, other) if isinstance(item, tuple)}
            return next((kind for kind in _KINDS if kind in kinds), "text"), at, passed
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


def _shared_tokens(a: Rendered, b: Rendered, characters: int, passed: int) -> tuple[int, bool]:
    """How many tokens two renders share, and whether that is certain."""
    try:
        return common_length(a.to_tokens(), b.to_tokens()), True
    except PromptError:  # images, tools, calls, or a tokenizer without ids
        return min(_tokens_to(a, characters, passed), _tokens_to(b, characters, passed)), False


def _tokens_to(rendered: Rendered, characters: int, passed: int) -> int:
    """The tokens before a difference: of the images and parts that stand at its character, ``passed`` are before it."""
    costs = [
        piece.tokens
        for message in rendered.report.messages
        for piece in message.pieces
        if piece.kind in ("image", "part") and piece.start == piece.end == characters
    ]
    return rendered.tokens_before(characters) - sum(costs[passed:])


def _element(
    rendered: Rendered, source_map: SourceMap, characters: int, shared: int, what: str, passed: int
) -> DifferentElement | None:
    """The element of a render in which a difference at this character stands, behind so many images and parts."""
    line = source_map.at(characters)
    if what in ("image", "part"):
        kinds = ("image", "part")
        here = [
            span for span in source_map.walk() if span.kind in kinds and span.start == span.end == characters
        ]
        line = (*line, *here[passed : passed + 1])
    if not line:
        return None
    span = line[-1]
    label = next((one.label for one in reversed(line) if one.label is not None), None)
    tokens = min(shared, rendered.tokens_before(span.start))
    return DifferentElement(span.path, span.kind, label, span.start, tokens)


def _tool(rendered: Rendered, number: int, source_map: SourceMap) -> DifferentElement | None:
    """The tool of a render with this number, if there is one."""
    if number >= len(rendered.tools):
        return None
    spans = [span for span in source_map.walk() if span.kind == "tool_definition"]
    path = spans[number].path if len(spans) == len(rendered.tools) else "root"
    return DifferentElement(path, "tool_definition", rendered.tools[number].name, 0, 0)
