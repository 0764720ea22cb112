"""What a prompt says about itself: its limits, what it must keep, its tokenizer, examples of its props."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from priompt_py.model.elements import Element
from priompt_py.preview.registry import RegisteredPrompt, registered_as

__all__ = ["Declared", "declared", "inner_prompt"]


@attrs.frozen
class Declared:
    """``token_limits`` are tokens, ascending; ``examples`` are props by the example's name."""

    token_limits: tuple[int, ...] = ()
    must_keep: tuple[str, ...] = ()
    tokenizer: str | None = None
    examples: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict[str, Any])


def declared(prompt: Any) -> Declared:
    """What is declared in a template's front matter, by ``@prompt(...)``, or in attributes of a function."""
    inner = inner_prompt(prompt)
    entry = prompt if isinstance(prompt, RegisteredPrompt) else registered_as(prompt)
    own = entry.token_limit if entry is not None else None
    front = getattr(inner, "front_matter", None)
    if isinstance(inner, Element) or not callable(inner):
        return Declared()
    if own is None:
        own = getattr(inner, "token_limit", None)
    limits = {own} if type(own) is int and own >= 0 else set[int]()
    if front is None:
        return Declared(tuple(limits))
    return Declared(
        tuple(sorted(limits | set(front.limits))),
        tuple(front.must_keep),
        front.tokenizer,
        dict(front.examples),
    )


def inner_prompt(prompt: Any) -> Any:
    """A registered prompt without what writes its dumps; any other one as it is."""
    if isinstance(prompt, RegisteredPrompt):
        return prompt.original
    entry = registered_as(prompt)
    return prompt if entry is None else entry.original
