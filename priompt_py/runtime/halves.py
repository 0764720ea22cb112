"""Halves of surrogates: servers that cut text by UTF-16 units send a character in two pieces, as JSON lets them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import attrs

from priompt_py.model.delta import Delta

__all__ = ["Halves", "joined"]

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_CHANNELS = ("text", "reasoning", "refusal")


def joined(pieces: Iterable[str]) -> str:
    """The pieces as one text, in which two halves of a character are that character. A lone half stays."""
    return _PAIR.sub(_character, "".join(pieces))


def _character(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class Halves:
    """Deltas in which no character is in two: the first half of one waits for the second."""

    def __init__(self) -> None:
        self._held: dict[str | int, str] = {}  # by channel, or by position of a call

    def whole(self, deltas: list[Delta]) -> list[Delta]:
        """The deltas with what waited; what is held back now is left out, and deltas that were nothing else."""
        if not self._held and not any(map(_has_half, deltas)):
            return deltas
        return [fresh for delta in deltas if (fresh := self._one(delta)) != Delta()]

    def _one(self, delta: Delta) -> Delta:
        changes: dict[str, Any] = {
            name: self._text(name, text) for name in _CHANNELS if (text := getattr(delta, name))
        }
        if delta.call is not None:
            arguments = self._text(delta.call.position, delta.call.arguments)
            changes["call"] = attrs.evolve(delta.call, arguments=arguments)
        return attrs.evolve(delta, **changes)

    def _text(self, channel: str | int, piece: str) -> str:
        if not piece:
            return piece
        text = joined((self._held.pop(channel, ""), piece))
        if "\ud800" <= text[-1] <= "\udbff":
            self._held[channel] = text[-1]
            text = text[:-1]
        return text


def _has_half(delta: Delta) -> bool:
    texts = [delta.text, delta.reasoning, delta.refusal, "" if delta.call is None else delta.call.arguments]
    return any(text and "\ud800" <= text[-1] <= "\udbff" for text in texts)
