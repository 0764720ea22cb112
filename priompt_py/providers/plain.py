"""Conversions that belong to no provider: text, token ids, and JSON for people, files and other programs."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Call, Image, Number, Part
from priompt_py.model.outcome import Decision, Outcome
from priompt_py.model.prompt import ChatMessage, ContentPart, TextPart, Tool, split_at
from priompt_py.providers.shared import message_place, plain_text
from priompt_py.tokens.chat_format import ChatFormat, FlatMessage
from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["json_data", "to_json", "to_messages", "to_text", "to_tokens"]


# ------------------------------------------------------------------------------------------ text and tokens


def to_text(outcome: Outcome, chat_format: ChatFormat, *, defuse: bool = False) -> str:
    """A plain prompt's text; a chat's flat form, with what is no text (images, calls, parts, tools) left out.

    Content stays as it is: for people and source maps. ``defuse=True`` alters whole control markers of the chat
    format that stand in content, and nothing else, so that the text reads back as the same messages.
    """
    if outcome.messages is not None:
        whole = ((one.role, one.name, one.to, (one.text,)) for one in outcome.messages)
        return chat_format.flat_text(whole, incomplete=outcome.last_message_incomplete, defuse=defuse)
    text = plain_text(outcome).text
    return chat_format.defuse(text) if defuse else text


def to_tokens(outcome: Outcome, tokenizer: Tokenizer, chat_format: ChatFormat) -> list[int]:
    """The prompt's token ids, exactly ``token_count`` of them; content never becomes a control token.

    Text is tokenised piece by piece between its token breaks, as it was counted. Raises ProviderError for a prompt
    with images, tools, tool calls or parts, which have no ids, and for a count that is no exact one;
    TokenizerError where the tokenizer has no ids, or the chat format none for its marks.
    """
    _only_text(outcome)
    if outcome.messages is None:
        ids = [number for piece in _pieces(plain_text(outcome)) for number in tokenizer.encode(piece)]
    else:
        ids = chat_format.flat_ids(
            _flat(outcome.messages), tokenizer.encode, incomplete=outcome.last_message_incomplete
        )
    if len(ids) != outcome.token_count:
        raise ProviderError(
            f"the prompt was counted as {outcome.token_count} tokens, and {tokenizer.name} gives {len(ids)} ids for it: "
            "its encode and count, or the chat format's costs and ids, don't agree"
        )
    return ids


def _only_text(outcome: Outcome) -> None:
    """Refuses, by name, what has no token ids."""
    if outcome.tools:
        names = ", ".join(tool.name for tool in outcome.tools)
        raise ProviderError(f"tools have no token ids; the prompt holds {names}")
    for index, message in enumerate(outcome.messages or ()):
        found = None
        if message.tool_calls or message.function_call is not None:
            found = "tool calls"
        elif any(isinstance(part, Image) for part in message.parts):
            found = "images"
        elif any(isinstance(part, Part) for part in message.parts):
            found = "opaque parts"
        if found is not None:
            raise ProviderError(f"{found} have no token ids; {message_place(index, message)} holds some")
    if outcome.count_kind != "exact":  # last: images of unknown size, say, are why it isn't
        raise ProviderError(
            f"token ids need exact counts; this prompt's is an {outcome.count_kind.replace('_', ' ')}"
        )


def _flat(messages: Iterable[ChatMessage]) -> Iterator[FlatMessage]:
    return ((message.role, message.name, message.to, message.pieces) for message in messages)


def _pieces(text: TextPart) -> list[str]:
    return [piece for piece in split_at(text.text, text.breaks) if piece]


# ------------------------------------------------------------------------------------------ JSON


def to_messages(outcome: Outcome) -> list[dict[str, Any]]:
    """The messages as JSON data, nothing left out; a plain prompt is one user message.

    A message has ``role`` and ``content`` (text, or a list of parts where it holds more than text), then what it
    has of ``name``, ``to``, ``tool_calls``, ``function_call``, ``tool_call_id``, ``is_error``. Parts are written as
    in the JSON form of elements: ``text``, ``image`` (bytes as base64), ``part``, ``cache_break``.
    """
    if outcome.messages is None:
        return [{"role": "user", "content": plain_text(outcome).text}]
    return [_message(message, f"messages[{i}]") for i, message in enumerate(outcome.messages)]


def to_json(outcome: Outcome, decisions: Iterable[Decision] | None = None) -> dict[str, Any]:
    """The whole result as JSON data: ``text`` or ``messages``, ``tools`` if there are any, ``token_count`` (without
    what is reserved), ``tokens_reserved``, ``token_limit``, ``tokens_remaining``, ``cutoff``, ``config``, and
    ``decisions`` where they are given.

    Raises ProviderError, naming the place, for an author's value that JSON can't hold.
    """
    written: dict[str, Any] = {}
    if outcome.messages is None:
        written["text"] = plain_text(outcome).text
    else:
        written["messages"] = to_messages(outcome)
    if outcome.tools:
        written["tools"] = [_tool(tool, f"tools[{i}]") for i, tool in enumerate(outcome.tools)]
    stop = outcome.config.stop
    written |= {
        "token_count": outcome.token_count,
        "tokens_reserved": outcome.tokens_reserved,
        "token_limit": outcome.token_limit,
        "tokens_remaining": outcome.token_limit - outcome.token_count,
        "cutoff": outcome.cutoff,
        "config": {
            "stop": list(stop) if isinstance(stop, tuple) else stop,
            "max_response_tokens": outcome.config.max_response_tokens,
            "extra": json_data(outcome.config.extra, "config.extra"),
        },
    }
    if decisions is not None:
        written["decisions"] = [_decision(decision) for decision in decisions]
    return written


def _message(message: ChatMessage, place: str) -> dict[str, Any]:
    content: str | list[dict[str, Any]] = message.text
    if not all(isinstance(part, TextPart) for part in message.parts):
        shown = [part for part in message.parts if not isinstance(part, TextPart) or part.text]
        content = [_part(part, f"{place}.content[{i}]") for i, part in enumerate(shown)]
    written: dict[str, Any] = {"role": message.role, "content": content}
    if message.name is not None:
        written["name"] = message.name
    if message.to is not None:
        written["to"] = message.to
    if message.tool_calls:
        written["tool_calls"] = [{"id": call.id, **_call(call)} for call in message.tool_calls]
    if message.function_call is not None:
        written["function_call"] = _call(message.function_call)
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    if message.is_error:
        written["is_error"] = True
    return written


def _part(part: ContentPart, place: str) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        written: dict[str, Any] = {"type": "image"}
        if part.data is not None:
            written |= {"data": base64.b64encode(part.data).decode("ascii"), "media_type": part.media_type}
        else:
            written["url"] = part.url
        written["detail"] = part.detail
        if part.dimensions is not None:
            written["dimensions"] = list(part.dimensions)
        return written
    if isinstance(part, Part):
        written = {"type": "part", "provider": part.provider, "data": json_data(part.data, f"{place}.data")}
        if part.tokens is not None:
            written["tokens"] = part.tokens
        return written
    return {"type": "cache_break"}


def _call(call: Call) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments}


def _tool(tool: Tool, place: str) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": json_data(tool.parameters, f"{place}.parameters"),
    }
    if tool.strict is not None:
        written["strict"] = tool.strict
    return written


def _decision(decision: Decision) -> dict[str, Any]:
    """Levels without a bound (minus or plus infinity) are written as null."""
    return {
        "path": decision.path,
        "label": decision.label,
        "kind": decision.kind,
        "included": decision.included,
        "priority": decision.priority,
        "effective_priority": decision.effective_priority,
        "low": _bound(decision.low),
        "high": _bound(decision.high),
        "tokens": decision.tokens,
        "reason": decision.reason,
    }


def _bound(level: Number) -> Number | None:
    return None if isinstance(level, float) and math.isinf(level) else level


def json_data(value: Any, place: str) -> Any:
    """A copy of an author's data that ``json.dumps(..., allow_nan=False)`` takes: tuples as lists, bytes as base64,
    whole numbers as keys as their text. Raises ProviderError naming ``place`` for what JSON can't hold."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return [json_data(item, f"{place}[{i}]") for i, item in enumerate(items)]
    if isinstance(value, Mapping):
        mapping = cast("Mapping[object, Any]", value)
        return {_key(key, place): json_data(item, f"{place}.{key}") for key, item in mapping.items()}
    raise ProviderError(f"{place} can't be written as JSON: {value!r:.80} ({type(value).__name__})")


def _key(key: object, place: str) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise ProviderError(
        f"{place} can't be written as JSON: the key {key!r:.80} ({type(key).__name__}) is no text"
    )
