"""What several conversions need: copies of author's data, the size of the answer, call ids, names of messages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from priompt_py.errors import ProviderError
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import ChatMessage, TextPart

__all__ = ["copy_data", "fitting_id", "message_place", "plain_text", "response_tokens"]


def copy_data(value: Any) -> Any:
    """A copy of data that an author gave, so that a request never shares them with the prompt.

    Mappings become dicts in their own order, lists and tuples lists; any other value is handed on as it is.
    """
    if isinstance(value, Mapping):
        mapping = cast("Mapping[object, Any]", value)
        return {key: copy_data(item) for key, item in mapping.items()}
    if isinstance(value, list | tuple):
        return [copy_data(item) for item in cast("Sequence[Any]", value)]
    return value


def response_tokens(outcome: Outcome) -> int | None:
    """The tokens that the answer may take, or None where the prompt's config says nothing of it.

    ``"tokens_reserved"`` is what the tree's empties reserved (None for 0), ``"tokens_remaining"`` is limit −
    count. Raises ProviderError if nothing remains: neither a negative number nor a silent 1 is ever sent.
    """
    asked = outcome.config.max_response_tokens
    if asked == "tokens_reserved":
        return outcome.tokens_reserved or None
    if asked == "tokens_remaining":
        remaining = outcome.token_limit - outcome.token_count
        if remaining <= 0:
            raise ProviderError(
                f"max_response_tokens='tokens_remaining' leaves {remaining} tokens for the answer: the prompt takes "
                f"{outcome.token_count} of its limit of {outcome.token_limit}; reserve room with empty(tokens=...)"
            )
        return remaining
    if asked is None or isinstance(asked, int):
        return asked
    raise ProviderError(
        f"max_response_tokens needs a number, 'tokens_reserved' or 'tokens_remaining', got {asked!r}"
    )


def fitting_id(call_id: str, accepted: re.Pattern[str]) -> str:
    """``call_id`` where the provider's pattern accepts it, else ``call_`` and 32 hex digits made from it.

    One id always gives the same one, whatever stands around it, so calls still find their results and the
    bytes of a prompt's beginning don't change between renders; two ids give different ones (SHA-256).
    """
    if accepted.fullmatch(call_id):
        return call_id
    return "call_" + hashlib.sha256(call_id.encode()).hexdigest()[:32]


def plain_text(outcome: Outcome) -> TextPart:
    """The text of an outcome that is no chat."""
    assert outcome.text is not None, "an outcome has either text or messages"
    return outcome.text


def message_place(index: int, message: ChatMessage) -> str:
    """How errors name a message: its 0-based index, its role, and what else tells it from its neighbours."""
    marks = [f"{message.role} message"]
    if message.name is not None:
        marks.append(f"name={message.name!r}")
    if message.tool_call_id is not None:
        marks.append(f"tool_call_id={message.tool_call_id!r}")
    return f"messages[{index}] ({', '.join(marks)})"
