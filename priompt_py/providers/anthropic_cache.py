"""Marks for Anthropic's prompt cache: on which blocks they stand, and which four of them are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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

    def write(self, request: Mapping[str, Any], *, taken: int) -> None:
        """Writes the marks: of more than there is room for, the first and the last half.

        The API takes four in a request; ``taken`` are those that are asked for beside the blocks. Those that stand in
        the author's own parts are counted too.
        """
        if not self._marked:
            return
        room = max(0, _MOST_MARKS - taken - sum("cache_control" in block for block in _all_blocks(request)))
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


def _all_blocks(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every block of the request, those inside results too."""
    yield from request.get("system", ())
    for message in request["messages"]:
        for block in message["content"]:
            yield block
            if block.get("type") == "tool_result":
                yield from block.get("content", ())
