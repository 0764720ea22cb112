"""What several conversions need: copies of author's data, content without what others hold, the size of the answer,
call ids, names of messages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias, cast

from priompt_py.author.children import clean_text
from priompt_py.errors import ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, ContentPart, TextPart
from priompt_py.model.values import short_repr

__all__ = [
    "Holds",
    "Placed",
    "Segment",
    "base64_data",
    "call_arguments",
    "call_place",
    "copy_data",
    "fitting_id",
    "fitting_name",
    "has_content",
    "image_url",
    "is_blank",
    "message_place",
    "of_provider",
    "placed_messages",
    "plain_text",
    "refuse_image",
    "refuse_legacy_call",
    "response_tokens",
    "segments",
    "with_extra",
    "without_last_marks",
]

Placed: TypeAlias = tuple[str, ChatMessage]
"""A message, and how errors name it."""

Holds: TypeAlias = Callable[[ChatMessage, Part], bool]
"""Whether a request holds a part of a message."""

Segment: TypeAlias = str | Image | Part | CacheMark
"""Content that a conversion has to write: neighbouring texts are one."""


def copy_data(value: Any) -> Any:
    """A copy of data that an author gave, so that a request never shares them with the prompt.

    Mappings become dicts in their own order, lists and tuples lists. Surrogate halves in texts, which nobody can send,
    are joined or become U+FFFD, as in all text; any other value is handed on as it is.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[object, Any]", value)
        return {copy_data(key): copy_data(item) for key, item in mapping.items()}
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


def placed_messages(outcome: Outcome) -> list[Placed]:
    """The messages with their places; a plain prompt is one user message."""
    if outcome.messages is None:
        return [("the prompt", ChatMessage("user", (plain_text(outcome),)))]
    return [(message_place(i, message), message) for i, message in enumerate(outcome.messages)]


def segments(message: ChatMessage, holds: Holds, *, marks: bool) -> list[Segment]:
    """The content without empty texts, without parts that the request does not hold (other providers'), and without
    marks unless they are asked for.

    Texts that then stand side by side are joined: only an image, a part or a mark divides them.
    """
    found: list[Segment] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            if part.text and found and isinstance(found[-1], str):
                found[-1] += part.text
            elif part.text:
                found.append(part.text)
        elif isinstance(part, CacheMark):
            if marks:
                found.append(part)
        elif isinstance(part, Image) or holds(message, part):
            found.append(part)
    return found


def of_provider(provider: str) -> Holds:
    """Whether a part is one of this provider's own."""
    return lambda _, part: part.provider == provider


def has_content(message: ChatMessage, holds: Holds) -> bool:
    """Whether the request would hold any content of a message that can be seen."""
    found = segments(message, holds, marks=False)
    return any(not isinstance(item, str) or item.strip() for item in found)


def is_blank(message: ChatMessage, holds: Holds) -> bool:
    """Whether the request would hold nothing of a message, for providers that refuse blank ones."""
    if message.role == "tool" or message.tool_calls or message.function_call is not None:
        return False
    return not has_content(message, holds)


def refuse_legacy_call(message: ChatMessage, place: str, provider: str) -> None:
    """Raises ProviderError for a ``function_call``, which only OpenAI's chat completions can hold."""
    if message.function_call is not None:
        raise ProviderError(
            f"{place} holds a legacy function_call, which {provider} can't hold; give it an id, in tool_calls"
        )


def refuse_image(message: ChatMessage, place: str, provider: str, *, results: bool = True) -> None:
    """Raises ProviderError unless messages of this role may hold images: the user's, and ``results`` of tools."""
    if message.role != "user" and not (results and message.role == "tool"):
        where = "user and tool messages" if results else "user messages"
        raise ProviderError(
            f"{place} holds an image; {provider} takes images in {where} alone: move it to one"
        )


def without_last_marks(message: ChatMessage) -> tuple[tuple[ContentPart, ...], tuple[ContentPart, ...]]:
    """The content, and the marks at its end, which may stand behind the message's calls. Nothing stands behind them but
    blank text, which is no more than the end of the text before them."""
    end = len(message.parts)
    while end and _is_mark_or_blank(message.parts[end - 1]):
        end -= 1
    last = message.parts[end:]
    blanks = tuple(part for part in last if not isinstance(part, CacheMark))
    return message.parts[:end] + blanks, tuple(part for part in last if isinstance(part, CacheMark))


def _is_mark_or_blank(part: ContentPart) -> bool:
    return isinstance(part, CacheMark) or (isinstance(part, TextPart) and not part.text.strip())


def base64_data(image: Image, place: str) -> tuple[str, str]:
    """Media type and base64 text of a picture that is given by its bytes."""
    assert image.data is not None, "an image has either bytes or a URL"
    if image.media_type is None:
        raise ProviderError(f"{place} holds an image of {len(image.data)} bytes without a media type")
    return image.media_type, base64.b64encode(image.data).decode("ascii")


def image_url(image: Image, place: str) -> str:
    """The URL of a picture, a data URL for bytes."""
    if image.data is None:
        assert image.url is not None, "an image has either bytes or a URL"
        return image.url
    media_type, data = base64_data(image, place)
    return f"data:{media_type};base64,{data}"


def with_extra(request: dict[str, Any], extra: Mapping[str, Any], own: Collection[str]) -> dict[str, Any]:
    """``request`` with ``extra`` of the prompt's config, which has the last word but for the ``own`` keys: those
    hold the prompt itself, and are an error there."""
    for key, value in extra.items():
        if key in own:
            raise ProviderError(
                f"extra holds {key!r}, which the prompt itself gives; leave it out of config(extra=...)"
            )
        request[key] = copy_data(value)
    return request


def fitting_name(name: str, pattern: re.Pattern[str], place: str, rule: str) -> str:
    """A function's name, if the provider takes it; ``rule`` says what it takes."""
    if not pattern.fullmatch(name):
        raise ProviderError(f"{place}: {rule}, got {name!r}")
    return name


def call_place(place: str, call: Call) -> str:
    """How errors name a call."""
    return f"{place}: the call of {call.name!r}" + ("" if call.id is None else f" (id {call.id!r})")


def call_arguments(call: Call, place: str, provider: str) -> dict[str, Any]:
    """The arguments as a mapping, for providers that take no JSON text; blank text is ``{}``.

    Raises ProviderError for what is no JSON object, and for NaN and infinities, numbers too large included.
    """
    if not call.arguments.strip():
        return {}
    try:
        value: object = copy_data(json.loads(call.arguments, parse_constant=_refuse_constant))
        json.dumps(value, allow_nan=False)  # 1e999 is read as infinity
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ProviderError(
            f"{call_place(place, call)} has arguments that are no JSON object, and {provider} takes nothing else: "
            f"{short_repr(call.arguments)}"
        )
    return cast("dict[str, Any]", value)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


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
