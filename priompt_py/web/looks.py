"""Looks at a view that take a whole render: tokens, requests, comparisons."""

from __future__ import annotations

import base64
import json
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from priompt_py.face.difference import Difference, DifferentElement, first_difference
from priompt_py.face.positions import token_offsets
from priompt_py.model.outcome import Outcome
from priompt_py.preview.parting import WHAT
from priompt_py.web.answers import Refusal
from priompt_py.web.rows import utf16
from priompt_py.web.view import View

if TYPE_CHECKING:
    from priompt_py.face.rendered import Rendered

__all__ = ["PROVIDERS", "compare", "request_of", "tokens_of"]


def tokens_of(view: View, limit: int) -> dict[str, Any]:
    """Where tokens begin in each row that is in, in UTF-16 units. Raises TokenizerError where the tokenizer has no ids."""
    spot = view.spot(limit)
    assembled = spot.solution.assembled
    outcome = Outcome(
        text=assembled.text,
        messages=assembled.messages,
        tools=(),
        token_count=spot.solution.total,
        tokens_reserved=0,
        token_limit=limit,
        cutoff=spot.solution.cutoff,
        config=assembled.config,
        count_kind="exact",
    )
    offsets = token_offsets(outcome, view.settings.tokenizer, view.settings.chat_format)
    places, _ = spot.explanation.starts()
    starts: list[list[Any]] = []
    for row, (entry, reason) in enumerate(zip(view.entries, spot.reasons, strict=True)):
        if reason != "included" or entry.kind not in ("text", "omitted", "br", "hr"):
            continue
        own = places.get(id(entry.ops))
        if own is None or own[entry.start] == own[entry.end]:
            continue
        start, end = own[entry.start], own[entry.end]
        inside = offsets[bisect_left(offsets, start) : bisect_left(offsets, end)]
        # A character of several tokens begins several.
        text = view.text(row)["text"]
        starts.append([row, [utf16(text, offset - start) for offset in dict.fromkeys(inside)]])
    return {"count": len(offsets), "starts": starts}


# ------------------------------------------------------------------------------------------ requests

_OF_PROVIDERS: dict[str, Callable[[Rendered], Any]] = {
    "openai": lambda rendered: rendered.to_openai(),
    "openai-responses": lambda rendered: rendered.to_openai_responses(),
    # Its API wants to know how long the answer may be: what is left, where the prompt doesn't say.
    "anthropic": lambda rendered: rendered.to_anthropic(max_tokens=max(1, rendered.tokens_remaining)),
    "gemini": lambda rendered: rendered.to_gemini(),
    "langchain": lambda rendered: rendered.to_langchain(),
    "messages": lambda rendered: rendered.to_messages(),
    "text": lambda rendered: rendered.to_text(),
    "json": lambda rendered: rendered.to_json(),
}
PROVIDERS = tuple(_OF_PROVIDERS)
"""The forms in which a prompt can be copied."""


def request_of(rendered: Rendered, provider: str) -> dict[str, Any]:
    """What is sent to a provider, and the text to copy. Raises Refusal and ProviderError."""
    make = _OF_PROVIDERS.get(provider)
    if make is None:
        raise Refusal(404, "unknown", f"no provider {provider!r}: it is one of {', '.join(PROVIDERS)}")
    text = json.dumps(make(rendered), ensure_ascii=False, indent=2, default=_bytes)
    request: Any = json.loads(text)
    return {"provider": provider, "request": request, "text": request if provider == "text" else text}


def _bytes(value: Any) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"no JSON: {type(value).__name__}")
    return base64.b64encode(value).decode()


# ------------------------------------------------------------------------------------------ comparisons


def compare(a: tuple[View, int], b: tuple[View, int]) -> dict[str, Any]:
    """Where two renders part, with the rows in which they do. Raises PromptTooLong."""
    first, second = (view.rendered(limit, source_map=True) for view, limit in (a, b))
    found = first_difference(first, second)
    difference = None
    if found is not None:
        difference = {
            "what": found.what,
            "what_text": WHAT[found.what],
            "characters": found.characters,
            "tokens": found.tokens,
            "is_exact": found.is_exact,
            "a": _element(a[0], first, found, found.a),
            "b": _element(b[0], second, found, found.b),
        }
    return {
        "difference": difference,
        "a": {"tokens": first.token_count},
        "b": {"tokens": second.token_count},
    }


def _element(
    view: View, rendered: Rendered, found: Difference, element: DifferentElement | None
) -> dict[str, Any] | None:
    if element is None:
        return None
    text = rendered.to_text()
    source_map = rendered.source_map
    assert source_map is not None
    edge: str | None = None
    if element.kind == "frame":  # what stands before a message's content, or behind it
        around = source_map.at(element.offset)
        edge = (
            "start" if any(one.kind == "message" and one.start == element.offset for one in around) else "end"
        )
    at = max(0, found.characters - element.offset) if found.what != "tools" else 0
    return {
        "row": view.row_at(element.path, element.kind),
        "path": element.path,
        "label": element.label,
        "kind": element.kind,
        "offset": utf16(text[element.offset :], at),
        "tokens": element.tokens,
        "edge": edge,
    }
