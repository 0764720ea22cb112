"""Calls and their results in a request: providers want each call answered once, most want it answered at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, TypeAlias

from priompt_py.errors import ProviderError
from priompt_py.providers.shared import Placed, call_place

__all__ = ["Gather", "paired"]

Gather: TypeAlias = Literal["message", "turn"] | None


def paired(placed: Sequence[Placed], provider: str, gather: Gather, *, unique: bool = False) -> list[Placed]:
    """The messages, with each result directly after its call, in its own order among the results.

    Directly after the ``message`` that holds the call, after the ``turn`` (neighbouring messages of the assistant)
    that does, or (None) where it stood. All else keeps its order. Raises ProviderError, naming the message, for a
    call without a result, a result without a call before it, a second one, and a call that repeats the id of one
    that is still open, or with ``unique`` of any: rendering with ``pair_tools=False`` lets them come so far.
    """
    owners = _owners(placed, provider, unique=unique)
    if gather is None:
        return list(placed)
    ends = list(range(len(placed)))  # for each message, the one that its results stand after
    if gather == "turn":
        for index in range(len(placed) - 2, -1, -1):
            if placed[index][1].role == placed[index + 1][1].role == "assistant":
                ends[index] = ends[index + 1]
    results: dict[int, list[Placed]] = defaultdict(list)
    for index, owner in owners.items():
        results[ends[owner]].append(placed[index])
    ordered: list[Placed] = []
    for index, item in enumerate(placed):
        if index not in owners:
            ordered += [item, *results.get(index, ())]
    return ordered


def _owners(placed: Sequence[Placed], provider: str, *, unique: bool) -> dict[int, int]:
    """For the number of each result, the number of the message that holds its call."""
    waiting: dict[str, tuple[int, str]] = {}  # by id: the message, and how the call is named
    answered: set[str] = set()
    owners: dict[int, int] = {}
    for index, (place, message) in enumerate(placed):
        for call in message.tool_calls:
            if not call.id:
                raise ProviderError(f"{place}: the call of {call.name!r} has no id")
            if call.id in waiting:
                raise ProviderError(
                    f"{call_place(place, call)} has the id of a call before it that has no result yet; "
                    f"{provider} tells calls by their ids"
                )
            if unique and call.id in answered:
                raise ProviderError(
                    f"{call_place(place, call)} has the id of a call before it; "
                    f"{provider} wants another for each call"
                )
            waiting[call.id] = index, call_place(place, call)
        if message.role == "tool":
            if not message.tool_call_id:
                raise ProviderError(f"{place}: a tool message needs the id of the call that it answers")
            if message.tool_call_id not in waiting:
                raise ProviderError(
                    f"{place} answers no call before it that has no result yet, and {provider} refuses that"
                )
            owners[index] = waiting.pop(message.tool_call_id)[0]
            answered.add(message.tool_call_id)
    for _, named in waiting.values():
        raise ProviderError(f"{named} has no result, and {provider} refuses that")
    return owners
