"""Streams of answers, joined: whose pieces they are is told by the pieces themselves."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any, Protocol, cast

from priompt_py.errors import RunError
from priompt_py.model.delta import Delta
from priompt_py.model.model_output import ModelOutput, Usage
from priompt_py.model.values import short_repr
from priompt_py.runtime.drafts import CallDraft, calls_of
from priompt_py.runtime.fields import field
from priompt_py.runtime.halves import Halves, joined
from priompt_py.runtime.join_anthropic import ANTHROPIC_EVENTS, AnthropicJoiner
from priompt_py.runtime.join_chat import ChatJoiner
from priompt_py.runtime.join_responses import ResponsesJoiner

__all__ = ["AnyJoiner", "DeltaJoiner", "Joiner", "ajoin_stream", "join_stream"]


class Joiner(Protocol):
    """Takes the pieces of a stream one after the other."""

    def add(self, chunk: Any, /) -> list[Delta]:
        """What a piece adds. Raises ModelError where it reports a failure."""
        ...

    def output(self) -> ModelOutput:
        """The answer as far as it has come, at any time."""
        ...


class DeltaJoiner:
    """Joins texts and Deltas."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {"text": [], "reasoning": [], "refusal": []}
        self._drafts: dict[int, CallDraft] = {}
        self._finish: str | None = None
        self._usage: Usage | None = None

    def add(self, chunk: str | Delta) -> list[Delta]:
        """A text or a Delta as a Delta; nothing where it is empty."""
        delta = Delta(text=chunk) if isinstance(chunk, str) else chunk
        if delta == Delta():
            return []
        for name, pieces in self._pieces.items():
            pieces.append(getattr(delta, name))
        if delta.call is not None:
            call = delta.call
            draft = self._drafts.setdefault(call.position, CallDraft(call.position))
            draft.id = call.id or draft.id
            draft.name = call.name or draft.name
            draft.add(call.arguments)
        self._finish = delta.finish_reason or self._finish
        self._usage = delta.usage or self._usage
        return [delta]

    def output(self) -> ModelOutput:
        """The answer so far. A stream of nothing but texts has no way to say that it broke off."""
        whole = {name: joined(pieces) for name, pieces in self._pieces.items()}
        drafts = [self._drafts[position] for position in sorted(self._drafts)]
        return ModelOutput(
            text=whole["text"],
            tool_calls=calls_of(drafts, self._finish),
            refusal=whole["refusal"] or None,
            finish_reason=self._finish,
            usage=self._usage,
            reasoning=whole["reasoning"] or None,
        )


class AnyJoiner:
    """Joins a stream of any known kind, which its first piece tells."""

    def __init__(self) -> None:
        self._joiner: Joiner | None = None
        self._halves = Halves()
        self._number = 0

    def add(self, chunk: object) -> list[Delta]:
        """What a piece adds. Raises RunError for what is no piece of an answer, or of another kind than the first."""
        self._number += 1
        kind = _kind(chunk)
        joiner = self._joiner
        if joiner is None:
            if field(chunk, "type") == "keepalive":
                return []
            if kind is None:
                raise RunError(
                    f"piece {self._number} of the model's stream is no text, no Delta and no piece of a known "
                    f"provider: {short_repr(chunk)} ({type(chunk).__name__})"
                )
            joiner = self._joiner = kind()
        elif kind is None and _is_unknown_event(chunk) and not isinstance(joiner, DeltaJoiner):
            return []  # clients' helpers add events of their own, servers send empty ones, and protocols grow
        elif field(chunk, "type") == "error" and not isinstance(joiner, DeltaJoiner):
            pass  # every provider has them, in forms of the others too
        elif not isinstance(joiner, kind or ()):
            raise RunError(
                f"piece {self._number} of the model's stream is of another kind than those before: "
                f"{short_repr(chunk)} ({type(chunk).__name__})"
            )
        piece: Any = chunk
        return self._halves.whole(joiner.add(piece))

    def output(self) -> ModelOutput:
        """The answer as far as it has come."""
        return ModelOutput() if self._joiner is None else self._joiner.output()


def _is_unknown_event(chunk: object) -> bool:
    return isinstance(chunk, Mapping) or isinstance(field(chunk, "type"), str)


def _kind(
    chunk: object,
) -> type[DeltaJoiner | ChatJoiner | ResponsesJoiner | AnthropicJoiner] | None:
    """Whose piece it is; None where it is nobody's."""
    if isinstance(chunk, str | Delta):
        return DeltaJoiner
    kind = field(chunk, "type")
    if isinstance(kind, str):
        if kind.startswith("response.") or (kind == "error" and field(chunk, "error") is None):
            return ResponsesJoiner
        if kind == "chunk" and field(chunk, "chunk") is not None:
            return ChatJoiner
        return AnthropicJoiner if kind in ANTHROPIC_EVENTS else None
    if isinstance(chunk, Mapping):
        names: Any = cast("Mapping[object, object]", chunk)
        return ChatJoiner if any(name in names for name in ("choices", "usage", "error", "object")) else None
    return ChatJoiner if hasattr(chunk, "choices") else None


def join_stream(chunks: Iterable[Any]) -> ModelOutput:
    """The whole answer of a stream: texts, Deltas, chunks of chat completions, events of Responses or of Anthropic.

    The pieces are the client's objects or the same as plain data. A stream that ends early gives what came, with
    ``finish_reason`` None; calls that it broke off are ``incomplete``. Raises ModelError where the provider reports a
    failure, RunError for pieces that aren't known.
    """
    joiner = AnyJoiner()
    for chunk in chunks:
        joiner.add(chunk)
    return joiner.output()


async def ajoin_stream(chunks: AsyncIterable[Any]) -> ModelOutput:
    """``join_stream`` of an asynchronous stream."""
    joiner = AnyJoiner()
    async for chunk in chunks:
        joiner.add(chunk)
    return joiner.output()
