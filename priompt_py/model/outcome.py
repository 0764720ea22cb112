"""What the engine found, as plain data: no tokenizer, no provider, no element tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import attrs

from priompt_py.model.elements import Capture, Number, ToolDefinition
from priompt_py.model.memory import Memory
from priompt_py.model.place import Place
from priompt_py.model.prompt import ChatMessage, PromptConfig, TextPart, Tool

__all__ = ["CountKind", "Decision", "Outcome", "Reason"]

CountKind: TypeAlias = Literal["exact", "estimate", "upper_bound"]

Reason: TypeAlias = Literal["included", "below_cutoff", "parent_out", "not_chosen", "over_max", "pair_out"]


@attrs.frozen
class Outcome:
    """A solved prompt. Tokens throughout; ``token_count`` is without ``tokens_reserved``.

    Exactly one of ``text`` (a plain prompt) and ``messages`` (a chat) is given.
    """

    text: TextPart | None
    messages: tuple[ChatMessage, ...] | None
    tools: tuple[Tool, ...]
    token_count: int
    tokens_reserved: int
    token_limit: int
    cutoff: Number
    config: PromptConfig
    count_kind: CountKind
    last_message_incomplete: bool = False
    captures: tuple[Capture, ...] = ()
    tool_definitions: tuple[ToolDefinition, ...] = ()
    limit_from: str = attrs.field(default="", eq=False)  # which setting the limit came from, for people
    memory: Memory = attrs.field(default=Memory(), eq=False)  # what the next render may be given


@attrs.frozen
class Decision:
    """What became of one element: in or out, and why.

    ``priority`` is the declared one, ``effective_priority`` the least on the way down; the
    element is present for the cutoffs ``low < cutoff <= high`` (before maxes and tool units move
    them). ``kind`` is the element's name in JSON (``max`` for at_most), ``message``, or ``piece`` of an excerpt;
    ``label`` is its key or a scope's name.
    """

    _place: Place = attrs.field(repr=False, alias="place", eq=str)
    label: str | None
    kind: str
    included: bool
    priority: Number
    effective_priority: Number
    low: Number
    high: Number
    reason: Reason
    _count: Callable[[], int] = attrs.field(repr=False, alias="count", eq=False)

    @property
    def path(self) -> str:
        """The path from the root, ``root > 2:user > 0:scope[name=docs]``."""
        return str(self._place)

    @property
    def tokens(self) -> int:
        """The tokens of its content counted alone, frames of messages included, at the cutoff where
        it is in, else at the highest cutoff at which it would be. Counted when asked for."""
        return self._count()
