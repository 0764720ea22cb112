"""Chunks of chat completions, joined: what OpenAI sends, and what servers that speak its protocol make of it.

Only the choice with index 0 is joined. The shapes are those of ``openai.types.chat.ChatCompletionChunk``
(openai 3.57); beyond them are read: chunks without choices, texts as lists of parts (Mistral), ``reasoning_content``
(DeepSeek, vLLM) and ``reasoning`` (OpenRouter), a whole ``message`` in place of a ``delta``, errors in a chunk.
"""

from __future__ import annotations

from typing import Any

import attrs

from priompt_py.errors import ModelError, ModelOutputError
from priompt_py.model.delta import Delta
from priompt_py.model.model_output import ModelOutput
from priompt_py.providers.answers import output_from_openai
from priompt_py.providers.sdk_data import as_data
from priompt_py.runtime.drafts import ChatCalls, calls_of
from priompt_py.runtime.fields import failure, field, items, number, text
from priompt_py.runtime.halves import joined

__all__ = ["ChatJoiner"]


class ChatJoiner:
    """Joins chunks of chat completions."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls = ChatCalls()
        self._finish: str | None = None
        self._usage: Any = None
        self._head: dict[str, Any] = {}

    def add(self, chunk: object) -> list[Delta]:
        """What a chunk adds. Raises ModelError where it reports an error."""
        kind = field(chunk, "type")
        if kind == "error" or field(chunk, "error"):
            raise ModelError(f"the model broke off its answer: {failure(chunk)}", output=self.output())
        if isinstance(kind, str):  # of the client's own streaming helper: it wraps the chunks
            return self.add(field(chunk, "chunk")) if kind == "chunk" else []
        for name in ("id", "created", "model", "service_tier", "system_fingerprint"):
            value = field(chunk, name)
            if value is not None:
                self._head.setdefault(name, value)
        deltas: list[Delta] = []
        for choice in items(chunk, "choices"):
            if not number(choice, "index"):
                deltas += self._choice(choice)
        usage = field(chunk, "usage")
        if usage is not None:
            self._usage = as_data(usage)
            deltas.append(Delta(usage=self._tail().usage))
        return deltas

    def _choice(self, choice: object) -> list[Delta]:
        piece = field(choice, "delta")
        if piece is None:
            piece = field(choice, "message")
        content, thought = _content(field(piece, "content"))
        thought = text(piece, "reasoning_content") or text(piece, "reasoning") or thought
        refusal = text(piece, "refusal")
        deltas: list[Delta] = []
        if content or thought or refusal:
            self._text.append(content)
            self._reasoning.append(thought)
            self._refusal.append(refusal)
            deltas.append(Delta(text=content, reasoning=thought, refusal=refusal))
        for call in items(piece, "tool_calls"):
            if field(call, "custom") is not None:
                raise ModelOutputError("calls of custom tools can't be held: only those of functions")
            deltas += self._call(number(call, "index"), text(call, "id"), field(call, "function"))
        legacy = field(piece, "function_call")
        if legacy is not None:
            deltas += self._call(0, "", legacy)
        finish = text(choice, "finish_reason")
        if finish:
            self._finish = finish
            deltas.append(Delta(finish_reason=self._tail().finish_reason))
        return deltas

    def _call(self, index: int | None, call_id: str, function: object) -> list[Delta]:
        arguments = field(function, "arguments")
        if arguments is not None and not isinstance(arguments, str):
            import json

            arguments = json.dumps(
                as_data(arguments), ensure_ascii=False
            )  # servers that send an object mean its JSON
        added = self._calls.add(index, call_id, text(function, "name"), arguments or "")
        return [] if added is None else [Delta(call=added)]

    def _tail(self) -> ModelOutput:
        """An answer that has nothing but its end, to have that in our words."""
        return output_from_openai(
            {"choices": [{"finish_reason": self._finish, "message": {}}], "usage": self._usage}
        )

    def output(self) -> ModelOutput:
        """The answer as far as it has come. ``raw`` is the chat completion that it would have been at once."""
        message: dict[str, Any] = {"role": "assistant", "content": joined(self._text) or None}
        for name, pieces in (("reasoning_content", self._reasoning), ("refusal", self._refusal)):
            if whole := joined(pieces):
                message[name] = whole
        drafts = self._calls.drafts
        if drafts:
            message["tool_calls"] = [
                {"id": d.id, "type": "function", "function": {"name": d.name, "arguments": d.arguments}}
                for d in drafts
            ]
        choice = {"index": 0, "finish_reason": self._finish, "message": message}
        raw: dict[str, Any] = {**self._head, "object": "chat.completion", "choices": [choice]}
        if self._usage is not None:
            raw["usage"] = self._usage
        found = output_from_openai(raw)
        return attrs.evolve(found, tool_calls=calls_of(drafts, found.finish_reason), raw=raw)


def _content(content: object) -> tuple[str, str]:
    """Text and thoughts of a chunk's content: a string, or parts."""
    if isinstance(content, str):
        return content, ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in items({"parts": content}, "parts"):
        if text(part, "type") == "thinking":
            thoughts += [text(one, "text") for one in items(part, "thinking")]
        else:
            texts.append(text(part, "text"))
    return "".join(texts), "".join(thoughts)
