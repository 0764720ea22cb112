"""A solution with the leaves that a recorded walk has.

The compiler makes one leaf of a message of texts, but where it records: there every text has an entry, so the message
is a beginning, texts and an end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import attrs

from priompt_py.engine.presence import Presence
from priompt_py.engine.pricing import Piece
from priompt_py.engine.solve import Solved
from priompt_py.model.elements import Message, Number
from priompt_py.model.ops import Leaf, MessageEnd, MessageStart

__all__ = ["as_recorded"]


def as_recorded(part: Solved) -> Solved:
    """The same solution, its leaves, intervals and flags numbered as a recorded walk numbers them."""
    presence, special = part.sheet.presence, part.sheet.special
    if Message not in map(type, presence.leaves):
        return part
    leaves: list[Leaf] = []
    highs: list[Number] = []
    wide = Presence(leaves, highs, {}, only_text=False)
    pieces: dict[int, Piece] = {}
    on = bytearray()
    for index, (leaf, high, flag) in enumerate(zip(presence.leaves, presence.highs, part.on, strict=True)):
        for one in _recorded(leaf):
            at = len(leaves)
            leaves.append(one)
            highs.append(high)
            on.append(flag)
            if index in presence.lows:
                wide.lows[at] = presence.lows[index]
            if index in presence.more:
                wide.more[at] = presence.more[index]
            if index in special:
                pieces[at] = special[index]
    return attrs.evolve(
        part, sheet=attrs.evolve(part.sheet, presence=wide, special=pieces, timeline=None), on=on
    )


def _recorded(leaf: Leaf) -> Sequence[Leaf]:
    if not isinstance(leaf, Message):
        return (leaf,)
    texts = cast("tuple[str, ...]", leaf.children)
    return (MessageStart(leaf), *filter(None, texts), MessageEnd())
