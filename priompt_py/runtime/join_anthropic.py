"""Events of Anthropic's messages, joined. The shapes are those of ``anthropic.types.RawMessageStreamEvent``
(anthropic 2.14); events of other types are passed over, as the protocol asks for."""

from __future__ import annotations

import json
from typing import Any

import attrs

from priompt_py.errors import ModelError, ModelOutputError
from priompt_py.model.delta import Delta
from priompt_py.model.model_output import ModelOutput
from priompt_py.providers.answers import output_from_anthropic
from priompt_py.providers.sdk_data import as_data
from priompt_py.runtime.drafts import CallDraft, calls_of
from priompt_py.runtime.fields import failure, field, items, mapping, number, text
from priompt_py.runtime.halves import joined

__all__ = ["ANTHROPIC_EVENTS", "AnthropicJoiner"]

ANTHROPIC_EVENTS = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "ping",
        "error",
    }
)

# Which block a delta belongs to, for servers that leave out its beginning; and under which name its text stands.
_TEXTS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
}


class _Block:
    """One content block, as far as it has come."""

    __slots__ = ("data", "draft", "is_call", "pieces")

    def __init__(self, data: dict[str, Any], draft: CallDraft | None, *, is_call: bool) -> None:
        self.data = data
        self.draft = draft  # of the arguments; the provider's own tools have them too
        self.is_call = is_call
        self.pieces: dict[str, list[str]] = {}

    def add(self, name: str, piece: str) -> None:
        self.pieces.setdefault(name, []).append(piece)

    def whole(self) -> dict[str, Any]:
        """The block as it would have been sent at once. Arguments that are no JSON object can't stand in one."""
        data = dict(self.data)
        for name, pieces in self.pieces.items():
            data[name] = joined((text(data, name), *pieces))
        if self.draft is not None and not self.draft.is_empty:
            try:
                data["input"] = self.draft.call(cut=False).parsed
            except ModelOutputError:
                data["input"] = {}
        return data


class AnthropicJoiner:
    """Joins events of Anthropic's messages."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: list[_Block] = []
        self._by_index: dict[int | None, _Block] = {}
        self._drafts: list[CallDraft] = []
        self._end: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}

    def add(self, event: object) -> list[Delta]:
        """What an event adds. Raises ModelError where it reports an error."""
        kind = text(event, "type")
        if kind == "error":
            raise ModelError(f"the model broke off its answer: {failure(event)}", output=self.output())
        if kind == "message_start":
            return self._start(mapping(event, "message"))
        if kind == "content_block_start":
            return self._open(number(event, "index"), mapping(event, "content_block"))
        if kind == "content_block_delta":
            return self._piece(number(event, "index"), field(event, "delta"))
        if kind == "content_block_stop":
            return self._close(self._by_index.get(number(event, "index")))
        if kind == "message_delta":
            return self._finish(event)
        return []

    def _start(self, data: dict[str, Any]) -> list[Delta]:
        self._usage.update(mapping(data, "usage"))
        data.pop("usage", None)
        found = output_from_anthropic({"content": [], "usage": self._usage or None})
        deltas = [] if found.usage is None else [Delta(usage=found.usage)]
        for index in range(len(items(data, "content"))):  # mostly empty
            deltas += self._open(index, mapping({"block": data["content"][index]}, "block"))
        data.pop("content", None)
        self._message = data
        return deltas

    def _open(self, index: int | None, data: dict[str, Any]) -> list[Delta]:
        kind = text(data, "type")
        if not kind:
            return []  # nothing that could be sent back; its deltas say of what kind it is
        is_call = kind == "tool_use"
        draft: CallDraft | None = None
        if is_call or "input" in data:
            draft = CallDraft(len(self._drafts), id=text(data, "id") or None, name=text(data, "name"))
        block = _Block(data, draft, is_call=is_call)
        self._blocks.append(block)
        self._by_index[index] = block
        if is_call and draft is not None:
            self._drafts.append(draft)
            return [Delta(call=draft.delta(""))]
        if text(data, "text") and kind == "text":
            return [Delta(text=data["text"])]
        return [Delta(reasoning=data["thinking"])] if text(data, "thinking") and kind == "thinking" else []

    def _piece(self, index: int | None, delta: object) -> list[Delta]:
        kind = text(delta, "type")
        deltas: list[Delta] = []
        if kind == "citations_delta":
            block = self._by_index.get(index)
            if block is not None:
                block.data["citations"] = [
                    *(block.data.get("citations") or []),
                    as_data(field(delta, "citation")),
                ]
            return deltas
        if kind not in _TEXTS:
            return deltas
        of_block, name = _TEXTS[kind]
        if index not in self._by_index:
            deltas += self._open(
                index, {"type": of_block, "id": None} if of_block == "tool_use" else {"type": of_block}
            )
        block = self._by_index[index]
        piece = text(delta, name)
        if kind == "input_json_delta":
            if block.draft is not None and piece:
                added = block.draft.add(piece)
                deltas += [Delta(call=added)] if block.is_call else []
            return deltas
        block.add(name, piece)
        if kind == "text_delta" and piece:
            deltas.append(Delta(text=piece))
        elif kind == "thinking_delta" and piece:
            deltas.append(Delta(reasoning=piece))
        return deltas

    def _close(self, block: _Block | None) -> list[Delta]:
        """At its end a call is whole; where no pieces came, its arguments stood at its beginning."""
        if block is None or block.draft is None:
            return []
        block.draft.whole = True
        if block.draft.is_empty and block.data.get("input"):
            added = block.draft.add(json.dumps(block.data["input"], ensure_ascii=False))
            return [Delta(call=added)] if block.is_call else []
        return []

    def _finish(self, event: object) -> list[Delta]:
        end: dict[str, Any] = mapping(event, "delta")
        self._end.update({name: value for name, value in end.items() if value is not None})
        usage: dict[str, Any] = mapping(event, "usage")
        self._usage.update({name: value for name, value in usage.items() if value is not None})
        found = output_from_anthropic({"content": [], **self._end, "usage": self._usage or None})
        return [Delta(refusal=found.refusal or "", finish_reason=found.finish_reason, usage=found.usage)]

    def output(self) -> ModelOutput:
        """The answer as far as it has come. ``raw`` is the message that it would have been at once."""
        raw: dict[str, Any] = {
            **self._message,
            "content": [block.whole() for block in self._blocks],
            **self._end,
            "usage": self._usage or None,
        }
        readable = [
            {**block, "id": "", "name": ""} | {k: v for k, v in block.items() if v is not None}
            if block.get("type") == "tool_use"
            else block
            for block in items(raw, "content")
        ]
        found = output_from_anthropic({**raw, "content": readable})
        return attrs.evolve(found, tool_calls=calls_of(self._drafts, found.finish_reason), raw=raw)
