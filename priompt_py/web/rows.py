"""A prompt's elements and texts as columns, in document order: what the page draws once, and then only colours."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from priompt_py.author.children import is_list, is_mapping
from priompt_py.model.elements import (
    RULE_TEXT,
    Capture,
    Child,
    ComponentCall,
    Config,
    Element,
    Empty,
    Image,
    Isolate,
    Max,
    Message,
    Part,
    ToolDefinition,
)
from priompt_py.model.ops import Entry
from priompt_py.web.answers import as_json, number

__all__ = ["MOST_TEXT", "bits_of", "columns", "rows_of_entries", "text_of_row", "utf16"]

MOST_ROW = 20_000
"""Characters of one text that are sent at once."""

MOST_TEXT = 12_000_000
"""Characters that are sent at once in all; texts behind them are cut to ``SHORT``."""

SHORT = 200

Row = tuple[str, int, str, str | None, int | float | str | None, int | float | str | None, str | None]
"""Kind, parent, segment, label, declared and effective priority, text."""

_OF_BITS = bytes([0x30, 0x31, *([0x31] * 254)])


def columns(rows: Iterable[Row], details: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """The columns of rows; long texts are cut, and ``cut`` says how many characters they have."""
    kinds: dict[str, int] = {}
    numbers: list[int] = []
    texts: list[str | None] = []
    cut: dict[str, int] = {}
    found = list(rows)
    room = MOST_TEXT
    for n, row in enumerate(found):
        numbers.append(kinds.setdefault(row[0], len(kinds)))
        text = row[6]
        if text is not None:
            most = MOST_ROW if room > 0 else SHORT
            if len(text) > most:
                cut[str(n)] = len(text)
                text = text[:most]
            room -= len(text)
        texts.append(text)
    return {
        "count": len(found),
        "kinds": list(kinds),
        "kind": numbers,
        "parent": [row[1] for row in found],
        "segment": [row[2] for row in found],
        "label": [row[3] for row in found],
        "priority": [row[4] for row in found],
        "effective": [row[5] for row in found],
        "text": texts,
        "cut": cut,
        "details": {str(n): one for n, one in details.items()},
    }


def rows_of_entries(
    entries: Sequence[Entry],
    *,
    is_chat: bool,
    frame: Callable[[Message], int],
    reserved: Callable[[Entry], int],
) -> dict[str, Any]:
    """The columns of a compiled prompt; ``frame`` counts what stands around a message's content, ``reserved`` says what
    an ``empty`` reserves, both in tokens."""
    in_message: list[bool] = []
    details: dict[int, dict[str, Any]] = {}
    rows: list[Row] = []
    for n, entry in enumerate(entries):
        inside = isinstance(entry.element, Message) or (entry.parent >= 0 and in_message[entry.parent])
        in_message.append(inside)
        text = text_of_row(entry)
        rows.append(
            (
                entry.kind,
                entry.parent,
                entry.segment,
                entry.label,
                number(entry.priority),
                number(entry.high),
                text,
            )
        )
        if text is not None:
            if is_chat and not inside:
                details[n] = {"dropped": True}
        elif told := _details(entry.element, frame):
            details[n] = told
        if isinstance(entry.element, Empty):
            details[n] = {"tokens": reserved(entry)}
    return columns(rows, details)


def text_of_row(entry: Entry) -> str | None:
    """The text that an entry gives by itself; None of what is no text."""
    if not isinstance(entry.element, Element):
        return None if entry.kind not in ("text", "omitted") else str(entry.element)
    return {"hr": RULE_TEXT, "br": "\n"}.get(entry.kind)


def _details(element: Child, frame: Callable[[Message], int]) -> dict[str, Any]:
    """What is told of an element beyond its priorities."""
    match element:
        case Message():
            told: dict[str, Any] = {
                "role": element.role,
                "name": element.name,
                "to": element.to,
                "frame_tokens": frame(element),
            }
            calls = [
                {"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls_of(element)
            ]
            if calls:
                told["tool_calls"] = calls
            if element.role == "tool":
                told |= {"tool_call_id": element.tool_call_id, "is_error": element.is_error}
            return told
        case Isolate() | Max():
            return {"token_limit": element.token_limit}
        case Image():
            size = None if element.dimensions is None else list(element.dimensions)
            return {"source": element.url or "bytes", "detail": element.detail, "dimensions": size}
        case Part():
            return {"provider": element.provider}
        case Config():
            values = {
                "stop": element.stop,
                "max_response_tokens": element.max_response_tokens,
                "extra": element.extra,
            }
            return {name: as_json(_plain(value)) for name, value in values.items() if value}
        case Capture():
            return {"handlers": [name for name in HANDLERS if getattr(element, name) is not None]}
        case ToolDefinition():
            return {
                "name": element.name,
                "description": element.description,
                "parameters": as_json(_plain(element.parameters)),
                "handlers": [name for name in TOOL_HANDLERS if getattr(element, name) is not None],
            }
        case ComponentCall():
            return {"name": getattr(element.function, "__name__", type(element.function).__name__)}
        case _:
            return {}


HANDLERS = ("on_output", "on_stream", "on_stream_response")
TOOL_HANDLERS = ("on_call", "on_format", "on_parse_error", "on_result")


def calls_of(message: Message) -> list[Any]:
    """The calls of a message, the legacy one last."""
    calls: list[Any] = list(message.tool_calls or ())
    return calls if message.function_call is None else [*calls, message.function_call]


def _plain(value: Any) -> Any:
    """Frozen mappings and tuples as JSON writes them."""
    if is_mapping(value):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if is_list(value) else value


# ------------------------------------------------------------------------------------------ bits and offsets


def bits_of(flags: Iterable[bool]) -> tuple[str, int]:
    """Flags as base64, bit n in byte n >> 3, the lowest first; and as a number."""
    raw = bytes(flags)
    value = int(raw[::-1].translate(_OF_BITS) or b"0", 2)
    return base64.b64encode(value.to_bytes((len(raw) + 7) // 8, "little")).decode(), value


def utf16(text: str, offset: int) -> int:
    """A code point's offset in JavaScript's units."""
    if text.isascii():
        return offset
    return offset + sum(character > "\uffff" for character in text[:offset])
