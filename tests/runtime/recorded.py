"""The recorded streams under streams/, as plain data and as the official clients' own objects."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml

__all__ = ["RECORDED", "Recorded", "as_client_objects", "split"]


@attrs.frozen
class Recorded:
    """One stream: whose it is, what it is about, its pieces, and what the joined answer has."""

    provider: str
    about: str
    chunks: list[dict[str, Any]]
    expected: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.provider}: {self.about}"


def _read() -> Iterator[Recorded]:
    for file in sorted((Path(__file__).parent / "streams").glob("*.yaml")):
        for one in yaml.safe_load(file.read_text("utf-8")):
            yield Recorded(file.stem, one["about"], one["chunks"], one["expected"])


RECORDED = [*_read()]


def as_client_objects(recorded: Recorded) -> list[Any]:
    """The pieces as the client of the provider would give them, without validation, as it does itself."""
    if recorded.provider == "anthropic":
        from anthropic._models import construct_type as of_anthropic
        from anthropic.types import RawMessageStreamEvent

        return [of_anthropic(value=chunk, type_=RawMessageStreamEvent) for chunk in recorded.chunks]
    from openai._models import construct_type
    from openai.types.chat import ChatCompletionChunk
    from openai.types.responses import ResponseStreamEvent

    kind: Any = ChatCompletionChunk if recorded.provider == "chat" else ResponseStreamEvent
    return [construct_type(value=chunk, type_=kind) for chunk in recorded.chunks]


# ------------------------------------------------------------------------------------------ splitting


def split(provider: str, chunk: dict[str, Any], cuts: Sequence[float]) -> list[dict[str, Any]]:
    """The same piece in several, its texts cut at these places (shares of their length)."""
    if provider == "chat":
        return _split_chat(chunk, cuts)
    piece = copy.deepcopy(chunk)
    holder: dict[str, Any] = piece
    names: tuple[str, ...] = ("delta",)
    if provider == "anthropic":
        holder, names = piece.get("delta") or {}, ("text", "thinking", "partial_json")
    for name in names:
        if isinstance(holder.get(name), str) and (provider == "anthropic" or ".delta" in chunk["type"]):
            made: list[dict[str, Any]] = []
            for text in pieces_of(holder[name], cuts):
                holder[name] = text
                made.append(copy.deepcopy(piece))
            return made
    return [piece]


def pieces_of(text: str, cuts: Sequence[float]) -> list[str]:
    places = sorted({0, len(text), *(int(share * len(text)) for share in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)] or [""]


def _split_chat(chunk: dict[str, Any], cuts: Sequence[float]) -> list[dict[str, Any]]:
    choices: list[dict[str, Any]] = chunk.get("choices") or []
    delta: Any = choices[0].get("delta") if len(choices) == 1 else None
    if not delta:
        return [chunk]
    first: dict[str, Any] = {
        name: value for name, value in delta.items() if name not in (*_TEXTS, "tool_calls", "function_call")
    }
    made: list[Any] = [first] if first else []
    for name in _TEXTS:
        if name == "reasoning" and "reasoning_content" in delta:
            continue
        if isinstance(delta.get(name), str):
            # A server that sends thoughts under two names means the same by them.
            names = [name, "reasoning"] if name == "reasoning_content" and "reasoning" in delta else [name]
            made += [dict.fromkeys(names, text) for text in pieces_of(delta[name], cuts)]
        elif name in delta:
            made.append({name: delta[name]})
    calls: list[dict[str, Any]] = delta.get("tool_calls") or []
    for call in calls:
        made += [{"tool_calls": [one]} for one in _split_call(call, cuts)]
    if "function_call" in delta:
        made += [
            {"function_call": one["function"]}
            for one in _split_call({"function": delta["function_call"]}, cuts)
        ]
    outer = {name: value for name, value in chunk.items() if name != "choices"}
    parts: list[Any] = [
        {**outer, "choices": [{"index": choices[0].get("index", 0), "delta": one}]} for one in made
    ]
    parts = parts or [chunk]
    if "finish_reason" in choices[0]:
        parts[-1]["choices"][0]["finish_reason"] = choices[0]["finish_reason"]
    return parts


_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def _split_call(call: dict[str, Any], cuts: Sequence[float]) -> Iterator[dict[str, Any]]:
    """A call's piece in several; the later ones have no name, as servers send them."""
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, str):
        yield call
        return
    function = dict(call["function"])
    for text in pieces_of(arguments, cuts):
        yield {**call, "function": {**function, "arguments": text}}
        function.pop("name", None)
