"""Snapshots of prompts that people can read and review: an extension of syrupy."""

from __future__ import annotations

import json
from typing import Any

from syrupy.extensions.amber import AmberDataSerializer, AmberSnapshotExtension

from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import Image, Part
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart

__all__ = ["PromptExtension", "readable"]

# What a file of lines can't hold as it is: other line ends, controls, lone directions. They are shown as escapes.
_PLAIN_CONTROLS = "\n\t"


def readable(rendered: Rendered) -> str:
    """A prompt for people: a line with its figures, its text or messages as they are, its tools, what was left out."""
    reserved = f" + {rendered.tokens_reserved} reserved" if rendered.tokens_reserved else ""
    lines = [f"{rendered.token_count}{reserved} of {rendered.token_limit} tokens, cutoff {rendered.cutoff}"]
    if rendered.messages is None:
        lines += ["", *_text(rendered.text or "")]
    for message in rendered.messages or ():
        lines += ["", *_message(message)]
    for tool in rendered.tools:
        strict = "" if tool.strict is None else f", strict {str(tool.strict).lower()}"
        lines += ["", f"[tool {tool.name}{strict}]"]
        lines += _text(tool.description) if tool.description else []
        lines.append(f"  {json.dumps(tool.parameters, ensure_ascii=False)}")
    config = rendered.config
    settings: dict[str, Any] = {"stop": config.stop, "max_response_tokens": config.max_response_tokens}
    settings = {name: value for name, value in settings.items() if value is not None} | dict(config.extra)
    if settings:
        lines += ["", f"[config] {json.dumps(settings, ensure_ascii=False, default=str)}"]
    out = [d for d in rendered.decisions if not d.included and d.reason != "parent_out" and d.kind != "piece"]
    if out:
        lines += ["", "[left out]"]
        lines += [f"  {d.path} (priority {d.priority}, {d.reason.replace('_', ' ')})" for d in out]
    return "\n".join(lines)


def _message(message: ChatMessage) -> list[str]:
    names = {"name": message.name, "to": message.to, "answers": message.tool_call_id}
    head = "".join(f" {what}={value}" for what, value in names.items() if value is not None)
    lines = [f"[{message.role}{head}{' error' if message.is_error else ''}]"]
    text = ""
    for part in message.parts:
        if isinstance(part, TextPart):
            text += part.text
            continue
        lines += _text(text) if text else []
        text = ""
        lines.append(f"  {_part(part)}")
    lines += _text(text) if text else []
    lines += [f"  → {call.name}({call.arguments}) {call.id or ''}".rstrip() for call in message.tool_calls]
    if message.function_call is not None:
        lines.append(f"  → {message.function_call.name}({message.function_call.arguments})")
    return lines


def _part(part: Image | Part | CacheMark) -> str:
    if isinstance(part, CacheMark):
        return "[cache break]"
    if isinstance(part, Part):
        return f"[part of {part.provider}: {json.dumps(part.data, ensure_ascii=False, default=str)}]"
    source = part.url if part.data is None else f"{len(part.data)} bytes"
    size = "" if part.dimensions is None else f", {part.dimensions[0]} × {part.dimensions[1]}"
    return f"[image {source}{size}, detail {part.detail}]"


def _text(text: str) -> list[str]:
    """Text as it is, line by line, indented so that no text looks like a heading; what would be read as another line end, or is no character to see, as an escape."""
    shown = "".join(
        character if character.isprintable() or character in _PLAIN_CONTROLS else _escape(character)
        for character in text
    )
    return [f"  {line}" if line else "" for line in shown.split("\n")]


def _escape(character: str) -> str:
    # A non-joiner or joiner inside emoji and words is part of what is seen.
    return character if character in "\u200c\u200d\ufe0f\u00a0\u3000" else ascii(character)[1:-1]


class _Serializer(AmberDataSerializer):
    """Writes prompts as ``readable`` does, everything else as amber does."""

    @classmethod
    def _serialize(cls, data: Any, **how: Any) -> str:
        return readable(data) if isinstance(data, Rendered) else str(super()._serialize(data, **how))


class PromptExtension(AmberSnapshotExtension):
    """Amber files with readable prompts in them."""

    serializer_class = _Serializer
