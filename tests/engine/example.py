"""A prompt with what it comes to."""

from __future__ import annotations

from typing import Any

import attrs

from priompt_py import errors
from priompt_py.model.elements import BASE_PRIORITY, Node
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer
from priompt_py.tokens.chat_format import OPENAI_CHAT


@attrs.frozen
class Example:
    """``comes_to``: text, or role and text of each message, with the cutoff; or the name of an error."""

    name: str
    tree: Node
    limit: int
    comes_to: Any
    cutoff: Any = BASE_PRIORITY
    count: int | None = None
    how: dict[str, Any] = attrs.field(factory=dict[str, Any])

    @property
    def error(self) -> type[errors.PromptError] | None:
        """The error that it comes to."""
        found: type[errors.PromptError] | None = getattr(errors, str(self.comes_to), None)
        return found


def arguments(example: Example) -> dict[str, Any]:
    """What to pass to ``render`` besides the tree."""
    return {"tokenizer": CharTokenizer(), "token_limit": example.limit, **example.how}


GREEDY = {"tokenizer": GreedyTokenizer(("ab", "bcd"))}
OPENAI = {"chat_format": OPENAI_CHAT}


def calling(*ids: str) -> list[dict[str, str]]:
    return [{"id": each, "name": "f", "arguments": ""} for each in ids]
