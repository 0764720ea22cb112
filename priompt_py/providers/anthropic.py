"""Anthropic's Messages: a rendered prompt as a request.

The shapes are those of the ``TypedDict``s under ``anthropic.types`` (anthropic 2.14); nothing of that package is
imported. Limits that the types don't hold are the API's own refusals: blank texts and stop texts, a first message that
is not the user's, results anywhere but first in the message after their calls, errors of tools that say nothing,
names of 1 to 128 letters, digits, ``_`` and ``-``, the same letters in call ids, white space at the end of an answer to
be continued, more than four marks for caching; and its rule that system messages among the others stand directly after
the user's.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias, get_args

import attrs

from priompt_py.author.checks import whole_number
from priompt_py.errors import ArgumentValueError, ProviderError
from priompt_py.model.elements import Call, Image, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, Tool
from priompt_py.providers.anthropic_cache import CacheMarks, mark_ends
from priompt_py.providers.anthropic_history import from_anthropic
from priompt_py.providers.anthropic_turns import Turns
from priompt_py.providers.flat_tools import flattened, holds_tools
from priompt_py.providers.late_system import LATE_SYSTEM_TEXT, LateSystem, check_late_system, split_system
from priompt_py.providers.leading_text import checked_leading_text
from priompt_py.providers.pairs import paired
from priompt_py.providers.shared import (
    Placed,
    base64_data,
    call_arguments,
    copy_data,
    fitting_id,
    fitting_name,
    of_provider,
    placed_messages,
    refuse_image,
    refuse_legacy_call,
    response_tokens,
    segments,
    with_extra,
    without_last_marks,
)

__all__ = ["AnthropicCache", "from_anthropic", "to_anthropic"]

AnthropicCache: TypeAlias = Literal["auto", "marks", "off"]

PROVIDER = "anthropic"
"""Opaque parts of this provider are written back, those of others are left out."""

_HOLDS = of_provider(PROVIDER)
_LATE: tuple[LateSystem, ...] = get_args(LateSystem)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def to_anthropic(
    outcome: Outcome,
    *,
    late_system: LateSystem | None = None,
    late_system_text: str = LATE_SYSTEM_TEXT,
    lead_with_user: bool | str = True,
    flatten_tools: bool = False,
    cache: AnthropicCache | None = None,
    max_tokens: int | None = None,
) -> dict[str, Any]:
    """The request for ``client.messages.create(model=..., **request)``.

    Its keys stand in a fixed order: ``system``, ``messages``, ``tools``, ``stop_sequences``, ``max_tokens``, then
    ``extra`` of the prompt's config, which has the last word. A plain prompt becomes one user message.

    Leading messages of system and developer become ``system`` blocks. Of a later one ``late_system`` says what it
    becomes: a system message in its place, which the newest models take (``"inline"``; behind what the user said in
    the same turn, as the API wants it), a user message with ``late_system_text`` around it (``"user"``), or another
    ``system`` block (``"hoist"``); None is an error. Neighbours of one role are merged; blank messages and blank texts
    are left out; the results of one turn stand in one user message, before any text. If the first message is the
    assistant's, the user says ``lead_with_user`` before it (True: "(The conversation goes on.)"; False is an error).
    Calls and results need a tool in the request; ``flatten_tools=True`` writes them as text where there is none.

    ``max_tokens`` is what the answer may take where the prompt's config doesn't say.

    ``cache="auto"`` marks the last tool, the last system block, and the last block of the last two messages;
    ``"marks"``, and None, the blocks before the author's ``cache_break``s (of more than 4 the first two and the last
    two); ``"off"`` nothing. Left out: ``name``, ``to``, ``detail``, parts of other providers, white space at the end
    of an answer that the model is to continue. Raises ProviderError for what can't be held.
    """
    check_late_system("to_anthropic", late_system, late_system_text, _LATE)
    if cache is not None and cache not in get_args(AnthropicCache):
        raise ArgumentValueError(
            f"to_anthropic() needs 'auto', 'marks', 'off' or None for cache, got {cache!r}"
        )
    if max_tokens is not None:
        whole_number("to_anthropic", "max_tokens", max_tokens, least=1)
    extra = outcome.config.extra
    placed = _with_tools_held(outcome, flatten_tools=flatten_tools)
    leading, others = split_system(placed, "Anthropic", late_system, late_system_text, _LATE, _HOLDS)

    marks = CacheMarks(on=cache in (None, "marks"))
    tools = [marks.passed(_tool(tool)) for tool in outcome.tools]  # they are read before all else
    system = [block for place, message in leading for block in _content(message, place, marks)]
    turns = Turns()
    for place, message in others:
        turns.add(place, message.role, _blocks(message, place, marks))
    messages = turns.closed(checked_leading_text("to_anthropic", lead_with_user=lead_with_user))

    request: dict[str, Any] = {"system": system} if system else {}
    request["messages"] = messages
    own = {*request, "tools"} if outcome.tools else set(request)
    if outcome.tools:
        request["tools"] = tools
    if cache == "auto":
        mark_ends(request, marks)
    marks.write(request, extra)
    turns.shorten()
    stop = _stop(outcome.config.stop)
    if stop:
        request["stop_sequences"] = stop
    if "max_tokens" not in extra:
        request["max_tokens"] = _max_tokens(outcome, max_tokens)
    return with_extra(request, extra, own)


def _with_tools_held(outcome: Outcome, *, flatten_tools: bool) -> list[Placed]:
    """The messages with calls and results paired, or written as text where the request has no tool."""
    placed = placed_messages(outcome)
    if not outcome.tools and not outcome.config.extra.get("tools") and holds_tools(placed):
        if flatten_tools:
            return flattened(placed)
        place = next(place for place, message in placed if message.tool_calls or message.role == "tool")
        raise ProviderError(
            f"{place} holds calls or results of tools, and Anthropic refuses those in a request without tools; "
            "add a tool_definition, or write them as text with flatten_tools=True"
        )
    return paired(placed, "Anthropic", "turn", unique=True)


def _stop(stop: tuple[str, ...] | str | None) -> list[str]:
    texts = [stop] if isinstance(stop, str) else list(stop or ())
    for text in texts:
        if not text.strip():
            raise ProviderError(
                f"Anthropic refuses blank stop sequences, got {text!r}; choose a stop with visible text"
            )
    return texts


def _max_tokens(outcome: Outcome, otherwise: int | None) -> int:
    tokens = response_tokens(outcome)
    if tokens is None:
        tokens = otherwise
    if tokens is None:
        reserved = outcome.config.max_response_tokens == "tokens_reserved"
        raise ProviderError(
            "Anthropic needs max_tokens, the most tokens that the answer may take: "
            + (
                "config(max_response_tokens='tokens_reserved') says none, as nothing is reserved; add empty(tokens=...)"
                if reserved
                else "say it with config(max_response_tokens=...), or with max_tokens=..."
            )
        )
    return tokens


# ------------------------------------------------------------------------------------------ blocks


def _blocks(message: ChatMessage, place: str, marks: CacheMarks) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [_result(message, place, marks)]
    refuse_legacy_call(message, place, "Anthropic")
    if not message.tool_calls:
        return _content(message, place, marks)
    # Marks at the end of the message stand behind its calls.
    parts, last_marks = without_last_marks(message)
    blocks = _content(attrs.evolve(message, parts=parts), place, marks)
    blocks += [marks.passed(_call(call, place)) for call in message.tool_calls]
    if marks.on and last_marks:
        marks.set()
    return blocks


def _content(message: ChatMessage, place: str, marks: CacheMarks) -> list[dict[str, Any]]:
    """The content as blocks: neighbouring texts joined, blank ones left out.

    A blank text that a mark divides from another one is no block, but stays part of the text: of what follows it, else of
    what stands before it.
    """
    blocks: list[dict[str, Any]] = []
    said: dict[str, Any] = {}  # the text before, if nothing but marks and blanks stands behind it
    blank = ""
    for found in segments(message, _HOLDS, marks=marks.on):
        if isinstance(found, CacheMark):
            marks.set()
        elif isinstance(found, str):
            blank += found
            if found.strip():
                said = {"type": "text", "text": blank}
                blocks.append(marks.passed(said))
                blank = ""
        else:
            _say(said, blank)
            said, blank = {}, ""
            if isinstance(found, Part):
                block: dict[str, Any] = copy_data(found.data)
            else:
                refuse_image(message, place, "Anthropic")
                block = {"type": "image", "source": _source(found, place)}
            blocks.append(marks.passed(block))
    _say(said, blank)
    return blocks


def _say(said: dict[str, Any], blank: str) -> None:
    """Adds a blank text to the block of a text, if there is one."""
    if said:
        said["text"] += blank


def _source(image: Image, place: str) -> dict[str, Any]:
    if image.data is None:
        return {"type": "url", "url": image.url}
    media_type, data = base64_data(image, place)
    if media_type not in _IMAGES:
        raise ProviderError(
            f"{place} holds an image of type {media_type!r}; Anthropic takes {', '.join(_IMAGES)}"
        )
    return {"type": "base64", "media_type": media_type, "data": data}


def _call(call: Call, place: str) -> dict[str, Any]:
    assert call.id is not None, "a call has an id: see pairs.py"
    return {
        "type": "tool_use",
        "id": fitting_id(call.id, _CALL_ID),
        "name": _name(call.name, place),
        "input": call_arguments(call, place, "Anthropic"),
    }


def _result(message: ChatMessage, place: str, marks: CacheMarks) -> dict[str, Any]:
    assert message.tool_call_id is not None, "a result has the id of its call: see pairs.py"
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": fitting_id(message.tool_call_id, _CALL_ID)}
    content = _content(message, place, CacheMarks(on=False))
    if content:
        block["content"] = content
    if message.is_error:
        if not content:
            raise ProviderError(
                f"{place} is an error without content, which Anthropic refuses; say in its text what went wrong"
            )
        block["is_error"] = True
    marks.passed(block)
    if marks.on and any(isinstance(part, CacheMark) for part in message.parts):
        marks.set()  # on the result itself: what is inside one is cached with it or not at all
    return block


def _name(name: str, place: str) -> str:
    rule = "Anthropic takes names of 1 to 128 letters, digits, '_' and '-' for tools"
    return fitting_name(name, _NAME, place, rule)


def _tool(tool: Tool) -> dict[str, Any]:
    place = f"tool_definition {tool.name!r}"
    written: dict[str, Any] = {"name": _name(tool.name, place)}
    if tool.description:
        written["description"] = tool.description
    schema: dict[str, Any] = copy_data(tool.parameters) or {"type": "object", "properties": {}}
    if schema.get("type", "object") != "object":
        raise ProviderError(f"{place}: Anthropic needs parameters of type 'object', got {schema['type']!r}")
    written["input_schema"] = schema if "type" in schema else {"type": "object", **schema}
    if tool.strict is not None:
        written["strict"] = tool.strict
    return written
