"""A cutoff with memory as the definition says it, tried at every number, without the engine.

A max comes first: its floor is the cutoff that the four rules find for its content alone, under its own limit. From there on
its content is taken at the smallest level that is not below the prompt's cutoff, and fits. Then the rules find the cutoff of the
prompt.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import attrs

from priompt_py import Node, PromptTooLong
from priompt_py.model.elements import BASE_PRIORITY, Number
from priompt_py.testing.definition import message_facts
from priompt_py.testing.oracle import Tree, closed, levels_of, reaches, tree_of
from priompt_py.testing.oracle_count import Draft, as_message, as_text, draft, merged
from priompt_py.testing.oracle_tree import Spot, spots

__all__ = ["Remembering", "remembering"]


@attrs.define
class Remembering:
    """A prompt with what is remembered of it; ``how`` are arguments of ``oracle_render``."""

    tree: Tree
    token_limit: int
    keep: object
    refill: object
    cutoff: Number | None
    maxes: Mapping[str, Number]
    allowed: dict[str, list[Number]] = attrs.field(factory=dict[str, "list[Number]"])
    """The levels that each max can be taken at, ascending, by its path."""
    noted: dict[str, Number] = attrs.field(factory=dict[str, Number])

    def facts(self) -> dict[str, Any]:
        """The prompt as it has to be, and the memory that it has to leave. Raises PromptTooLong."""
        for spot in reversed([spot for spot in _outside(self.tree.root) if spot.kind == "max"]):
            if not spot.over:
                self._settle(spot)
        levels = levels_of(self.tree.root)
        chosen, is_remembered = self._choose(levels, self.count, self.token_limit, self.cutoff)
        made = self._draft(chosen)
        is_chat = self.tree.is_chat
        return {
            "cutoff": chosen,
            "text": None if is_chat else as_text(made.items).text,
            "messages": [message_facts(as_message(each)) for each in made.messages] if is_chat else None,
            "tools": list(made.tools),
            "count": self.count(chosen) - made.reserved,
            "reserved": made.reserved,
            "config": merged(made.configs),
            "memory": {"cutoff": chosen if is_remembered else None, "maxes": self.noted},
        }

    def count(self, c: Number) -> int:
        """|Prompt(c)|."""
        made = self._draft(c)
        return self.tree.prices.cost(made) + self.tree.prices.chat(made, incomplete=self.tree.incomplete)

    def _draft(self, c: Number) -> Draft:
        root = self.tree.root
        return draft(closed(self.tree, self._taken(root, c), root), root)

    def _settle(self, spot: Spot) -> None:
        """Find a max's floor, and what it can be taken at."""

        def count(c: Number) -> int:
            return self.tree.prices.cost(draft({spot, *self._content(spot, c)}, spot))

        # Its own priority is one of its levels, whether a scope inside has it or not: what is shown is the same.
        levels = sorted({*levels_of(spot), min(spot.priority, BASE_PRIORITY)})
        lowest, is_noted = self._choose(levels, count, spot.ceiling, self.maxes.get(spot.path))
        above = [level for level in levels if level > lowest and count(level) <= spot.ceiling]
        self.allowed[spot.path] = [lowest, *above]
        if is_noted:
            self.noted[spot.path] = lowest

    def _choose(
        self, levels: Sequence[Number], count: Callable[[Number], int], limit: int, remembered: Number | None
    ) -> tuple[Number, bool]:
        """The cutoff by the four rules, and whether it is to be remembered."""
        most, least = _share(self.keep, limit), _share(self.refill, limit)
        if count(levels[0]) <= limit:
            return levels[0], False
        if remembered is not None and least < count(remembered) <= limit:
            return remembered, True
        for bound in (most, limit):
            for level in levels:
                if count(level) <= bound:
                    return level, True
        raise PromptTooLong(
            token_count=min(map(count, levels)),
            tokens_reserved=0,
            token_limit=limit,
            required_limit=None,
            largest=(),
        )

    def _taken(self, spot: Spot, c: Number) -> set[Spot]:
        if spot.over or not reaches(spot, c):
            return set()
        if spot.kind == "isolate":
            return {spot, *spot.shown}
        if spot.kind == "max":
            c = next(level for level in self.allowed[spot.path] if level >= min(c, BASE_PRIORITY))
        return {spot, *self._content(spot, c)}

    def _content(self, spot: Spot, c: Number) -> set[Spot]:
        children = spot.children
        if spot.kind in ("first", "alternatives"):
            eligible = [child for child in children if not child.own or child.priority >= c]
            children = eligible[:1]
        return set(itertools.chain.from_iterable(self._taken(child, c) for child in children))


def remembering(
    node: Node,
    *,
    token_limit: int,
    cutoff: Number | None,
    maxes: Mapping[str, Number],
    keep: object = 0.7,
    refill: object = None,
    **how: Any,
) -> Remembering:
    """The definition of a render with memory. Raises PromptTooLong for what is over a limit of its own."""
    tree = tree_of(node, token_limit=token_limit, **how)
    least = Fraction(str(keep)) / 2 if refill is None else refill
    return Remembering(tree, token_limit, keep, least, cutoff, maxes)


def max_paths(node: Node, *, token_limit: int, **how: Any) -> list[str]:
    """The paths of the maxes outside isolates."""
    tree = tree_of(node, token_limit=token_limit, **how)
    return [spot.path for spot in _outside(tree.root) if spot.kind == "max"]


def _outside(root: Spot) -> list[Spot]:
    """The spots outside isolates, in document order."""
    inside = {below for spot in spots(root) if spot.kind == "isolate" for below in spots(spot)}
    return [spot for spot in spots(root) if spot not in inside or spot.kind == "root"]


def _share(share: object, limit: int) -> int:
    return floor(Fraction(str(share)) * limit)
