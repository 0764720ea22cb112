"""Events of OpenAI's Responses, joined. The shapes are those of ``openai.types.responses.ResponseStreamEvent``
(openai 3.57). An item is known by its id and by its place in the output; servers that get one of them wrong are
understood by the other. What comes whole at the end counts, if it differs from the pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from priompt_py.errors import ModelError
from priompt_py.model.delta import Delta
from priompt_py.model.model_output import ModelOutput
from priompt_py.providers.answers import output_from_openai_responses
from priompt_py.runtime.drafts import CallDraft, calls_of
from priompt_py.runtime.fields import failure, field, items, mapping, number, text
from priompt_py.runtime.halves import joined

__all__ = ["ResponsesJoiner"]

# What an event's name says: the list in the item, the type and the field of a part of it, the field of a Delta.
_TEXTS = {
    "response.output_text": ("content", "output_text", "text", "text"),
    "response.refusal": ("content", "refusal", "refusal", "refusal"),
    "response.reasoning_text": ("content", "reasoning_text", "text", "reasoning"),
    "response.reasoning_summary_text": ("summary", "summary_text", "text", "reasoning"),
}
_DELTAS: dict[str, Callable[[str], Delta]] = {
    "text": lambda said: Delta(text=said),
    "reasoning": lambda said: Delta(reasoning=said),
    "refusal": lambda said: Delta(refusal=said),
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


@attrs.define(eq=False)
class _Item:
    """One item of the output, as far as it has come. ``texts`` are pieces by list and place in it."""

    data: dict[str, Any]
    draft: CallDraft | None = None
    is_done: bool = False
    texts: dict[tuple[str, int], tuple[str, str, list[str]]] = attrs.field(factory=dict[Any, Any])

    def add(self, part: tuple[str, str, str], at: int, piece: str) -> None:
        where, kind, name = part
        self.texts.setdefault((where, at), (kind, name, []))[2].append(piece)

    def had(self, where: str, at: int) -> str:
        """The text of a part so far."""
        return joined(self.texts[where, at][2]) if (where, at) in self.texts else ""

    def whole(self) -> dict[str, Any]:
        """The item as it would have been sent at once."""
        data = dict(self.data)
        if self.draft is not None:
            data |= {
                "call_id": self.draft.id or "",
                "name": self.draft.name,
                "arguments": self.draft.arguments,
            }
        if self.is_done:
            return data
        for (where, _), (kind, name, pieces) in sorted(self.texts.items(), key=lambda item: item[0]):
            data[where] = [*(data.get(where) or []), {"type": kind, name: joined(pieces)}]
        return {**data, "status": "incomplete"}


class ResponsesJoiner:
    """Joins events of OpenAI's Responses."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._ended = False
        self._items: list[_Item] = []
        self._by_id: dict[str, _Item] = {}
        self._by_index: dict[int | None, _Item] = {}
        self._drafts: list[CallDraft] = []

    def add(self, event: object) -> list[Delta]:
        """What an event adds. Raises ModelError where it reports an error or a failed response."""
        kind = text(event, "type")
        stem, _, ending = kind.rpartition(".")
        if kind == "error":
            raise self._failed(event)
        if kind in ("response.created", "response.in_progress", "response.queued"):
            self._response = mapping(event, "response")
        elif kind == "response.output_item.added":
            item = mapping(event, "item")
            return self._open(event, item) if text(item, "type") else []  # else its deltas say what it is
        elif kind == "response.output_item.done":
            return self._done(self._item(event, field(event, "item")), mapping(event, "item"))
        elif stem in _TEXTS and ending in ("delta", "done"):
            return self._text(event, stem, ending)
        elif stem == "response.function_call_arguments":
            return self._arguments(event, ending)
        elif kind in _ENDS:
            return self._end(kind, mapping(event, "response"))
        return []

    # -- items ------------------------------------------------------------------------------------

    def _item(self, event: object, item: object = None) -> _Item | None:
        item_id = text(event, "item_id") or text(item, "id")
        here = self._by_index.get(number(event, "output_index"))
        return self._by_id.get(item_id, here)

    def _open(self, event: object, data: dict[str, Any]) -> list[Delta]:
        item = _Item(data)
        self._items.append(item)
        if item_id := text(data, "id"):
            self._by_id[item_id] = item
        self._by_index[number(event, "output_index")] = item
        if data.get("type") != "function_call":
            return []
        item.draft = CallDraft(len(self._drafts), id=text(data, "call_id") or None, name=text(data, "name"))
        self._drafts.append(item.draft)
        return [Delta(call=item.draft.add(text(data, "arguments")))]

    def _known(self, event: object, kind: str) -> tuple[_Item, list[Delta]]:
        """The item of an event; made up where its beginning was left out."""
        item = self._item(event)
        if item is not None:
            return item, []
        deltas = self._open(event, {"type": kind, "id": text(event, "item_id")})
        return self._items[-1], deltas

    def _text(self, event: object, stem: str, ending: str) -> list[Delta]:
        where, kind, name, goes_to = _TEXTS[stem]
        item, deltas = self._known(event, "reasoning" if goes_to == "reasoning" else "message")
        at = number(event, "summary_index" if where == "summary" else "content_index") or 0
        said = text(event, "delta" if ending == "delta" else name)
        return deltas + self._more(item, (where, kind, name), at, said, goes_to, ending)

    def _more(
        self, item: _Item, part: tuple[str, str, str], at: int, said: str, goes_to: str, ending: str
    ) -> list[Delta]:
        if ending == "done":  # the whole text: what of it is new
            had = item.had(part[0], at)
            said = said[len(had) :] if said.startswith(had) else ""
        if not said:
            return []
        item.add(part, at, said)
        return [_DELTAS[goes_to](said)]

    def _arguments(self, event: object, ending: str) -> list[Delta]:
        item, deltas = self._known(event, "function_call")
        if item.draft is None:
            return deltas
        if ending == "delta":
            return [*deltas, Delta(call=item.draft.add(text(event, "delta")))]
        item.draft.name = item.draft.name or text(event, "name")
        item.draft.whole = True
        return [*deltas, Delta(call=item.draft.rest(text(event, "arguments")))]

    def _done(self, item: _Item | None, data: dict[str, Any], index: int | None = None) -> list[Delta]:
        """An item at its end, whole: what of it has not come in pieces."""
        deltas: list[Delta] = []
        if not text(data, "type"):
            return deltas
        if item is None:
            deltas += self._open({"output_index": index}, {**data, "arguments": ""})
            item = self._items[-1]
        item.data, item.is_done = data, True
        if item.draft is not None:
            item.draft.id = text(data, "call_id") or item.draft.id
            item.draft.name = text(data, "name") or item.draft.name
            item.draft.whole = text(data, "status") != "incomplete"
            deltas.append(Delta(call=item.draft.rest(text(data, "arguments"))))
            return deltas
        for where, kind, name, goes_to in _TEXTS.values():
            for at, part in enumerate(items(data, where)):
                if text(part, "type") == kind:
                    deltas += self._more(item, (where, kind, name), at, text(part, name), goes_to, "done")
        return deltas

    # -- the end ----------------------------------------------------------------------------------

    def _end(self, kind: str, response: dict[str, Any]) -> list[Delta]:
        self._response = response
        if kind == "response.failed":
            raise self._failed(response)
        self._ended = True
        deltas: list[Delta] = []
        for index, value in enumerate(items(self._response, "output")):
            data = mapping({"item": value}, "item")
            item = self._by_id.get(text(data, "id"), self._by_index.get(index))
            if item is None or not item.is_done:
                deltas += self._done(item, data, index)
        found = self.output()
        return [*deltas, Delta(finish_reason=found.finish_reason, usage=found.usage)]

    def _failed(self, event: object) -> ModelError:
        return ModelError(f"the model broke off its answer: {failure(event)}", output=self.output())

    def output(self) -> ModelOutput:
        """The answer as far as it has come. ``raw`` is the response that it would have been at once."""
        raw = {**self._response, "output": [item.whole() for item in self._items]}
        found = output_from_openai_responses({**raw, "status": None})  # a failure was raised already
        reason = found.finish_reason if self._ended else None
        return attrs.evolve(found, finish_reason=reason, tool_calls=calls_of(self._drafts, reason), raw=raw)
