"""Marks for Anthropic's prompt cache: on which blocks they stand, and which four of them are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from priompt_py.errors import ProviderError

__all__ = ["CacheMarks", "mark_ends"]

_MOST_MARKS = 4
_UNMARKABLE = ("thinking", "redacted_thinking")


class CacheMarks:
    """The blocks that get a mark, in the order of the request. A mark falls on the nearest block before it."""

    def __init__(self, *, on: bool) -> None:
        self.on = on
        self._last: dict[str, Any] | None = None
        self._marked: dict[int, dict[str, Any]] = {}

    def passed(self, block: dict[str, Any]) -> dict[str, Any]:
        """``block``, on which the next mark may fall from now on; thinking can't be marked."""
        if block.get("type") not in _UNMARKABLE:
            self._last = block
        return block

    def set(self) -> None:
        """Marks the nearest block before, if there is one."""
        if self._last is not None:
            self.mark(self._last)

    def mark(self, block: dict[str, Any]) -> None:
        """Marks a block; a second time is as once, and what the author wrote into a part stays."""
        if "cache_control" not in block:
            self._marked.setdefault(id(block), block)

    def write(self, request: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        """Writes the marks: of more than there is room for, the first and the last half.

        The API takes four in a request. Those that the author wrote, in parts and in ``extra`` of the config, are
        counted first; raises ProviderError for more than four of them, as they are not ours to leave out.
        """
        own = [
            place for place, block in _all_blocks(request, extra) if block.get("cache_control") is not None
        ]
        room = _MOST_MARKS - len(own)
        if room < 0:
            raise ProviderError(
                f"the prompt's own parts and extra hold {len(own)} marks for caching (cache_control), and Anthropic "
                f"takes at most {_MOST_MARKS} in a request; the first too many is {own[_MOST_MARKS]} of the request"
            )
        for block in _ends(list(self._marked.values()), room):
            block["cache_control"] = {"type": "ephemeral"}


def mark_ends(request: Mapping[str, Any], marks: CacheMarks) -> None:
    """Marks the last tool, the last system block, and the last block of the last two messages.

    Those of the messages roll: what was the last message is found again within the 20 blocks that the API looks back.
    """
    for blocks in (request.get("tools", ()), request.get("system", ())):
        _mark_last(blocks, marks)
    for message in request["messages"][-2:]:
        _mark_last(message["content"], marks)


def _mark_last(blocks: Sequence[dict[str, Any]], marks: CacheMarks) -> None:
    for block in reversed(blocks):
        if block.get("type") not in _UNMARKABLE:
            marks.mark(block)
            return


def _ends(marked: Sequence[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """At most ``room`` of them: the first half (the larger one), and the last."""
    if len(marked) <= room:
        return list(marked)
    first = (room + 1) // 2
    return [*marked[:first], *marked[len(marked) - (room - first) :]]


def _all_blocks(
    request: Mapping[str, Any], extra: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every block of the request with its place, those inside results and those of ``extra`` too. ``extra`` itself is
    the last, as it can ask for a mark beside the blocks."""
    for key in ("tools", "system"):
        yield from _each(key, request.get(key, extra.get(key)))
    for index, message in enumerate(request["messages"]):
        for place, block in _each(f"messages[{index}].content", message["content"]):
            yield place, block
            yield from _each(f"{place}.content", block.get("content"))
    yield "cache_control", extra


def _each(place: str, blocks: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The mappings of a list with their places; anything else holds no marks."""
    if isinstance(blocks, list | tuple):
        for index, block in enumerate(cast("Sequence[object]", blocks)):
            if isinstance(block, Mapping):
                yield f"{place}[{index}]", cast("Mapping[str, Any]", block)
