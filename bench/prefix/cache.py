"""The caches themselves: what of a request is read from one, and what it writes there, by the rules of a provider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from bench.prefix.rules import Rules

__all__ = ["Block", "Cache", "MarkedCache", "SteppedCache", "Usage", "cost", "make_cache"]


class Block(NamedTuple):
    """A block of a request, in the order in which the provider reads them: its token ids (or anything that stands for
    them, one each), and whether a mark stands at its end. Two blocks are equal if their ``key`` and tokens are."""

    key: str
    tokens: tuple[int, ...]
    mark: bool = False


class Usage(NamedTuple):
    """What a provider tells of a request, in tokens: read from its cache, written to it, and neither."""

    read: int
    written: int
    plain: int

    @property
    def uncached(self) -> int:
        """What had to be computed."""
        return self.written + self.plain


def cost(usage: Usage, rules: Rules) -> float:
    """US dollars for the input of a request."""
    tokens = usage.read * rules.read + usage.written * rules.write + usage.plain
    return tokens * rules.price / 1e6


class Cache(ABC):
    """One organisation's cache. ``now`` are seconds, which never fall."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._used: dict[int, float] = {}
        """When the prefix with this hash was used last."""

    @abstractmethod
    def ask(self, blocks: Sequence[Block], now: float) -> Usage:
        """What is read and written for a request."""

    def _lives(self, prefix: int, now: float) -> bool:
        return now - self._used.get(prefix, float("-inf")) <= self.rules.lifetime


class SteppedCache(Cache):
    """Automatic: of every request each prefix is kept whose length is the minimum plus a number of steps."""

    def ask(self, blocks: Sequence[Block], now: float) -> Usage:
        tokens = [token for block in blocks for token in block.tokens]
        step, minimum = self.rules.step, self.rules.minimum
        read, prefix, alive = 0, 0, True
        for end in range(step, len(tokens) + 1, step):
            prefix = hash((prefix, tuple(tokens[end - step : end])))
            if end < minimum:
                continue
            alive = alive and self._lives(prefix, now)
            read = end if alive else read
            self._used[prefix] = now
        return Usage(read, 0, len(tokens) - read)


class MarkedCache(Cache):
    """By marks: a prefix is kept that ends at one, and found at a mark or the blocks before it, in reach of the look-back.

    With ``unlimited=True`` every block counts as marked: the most that could be read.
    """

    def __init__(self, rules: Rules, *, unlimited: bool = False) -> None:
        super().__init__(rules)
        self._unlimited = unlimited

    def ask(self, blocks: Sequence[Block], now: float) -> Usage:
        prefixes: list[int] = []
        ends: list[int] = []
        prefix = total = 0
        for block in blocks:
            prefix = hash((prefix, block.key, block.tokens))
            total += len(block.tokens)
            prefixes.append(prefix)
            ends.append(total)
        marked = [i for i, block in enumerate(blocks) if block.mark or self._unlimited]
        hit = max((i for i in self._reach(marked) if self._found(prefixes[i], ends[i], now)), default=None)
        written = self._written(marked, ends)
        for i in written if hit is None else [*written, hit]:
            self._used[prefixes[i]] = now
        read = 0 if hit is None else ends[hit]
        last = max([read, *(ends[i] for i in written)])
        return Usage(read, last - read, total - last)

    def _reach(self, marked: Sequence[int]) -> set[int]:
        """The blocks at whose ends an entry is looked for."""
        if self._unlimited:
            return set(marked)
        back = self.rules.look_back
        return {i for end in self._used_marks(marked) for i in range(max(0, end + 1 - back), end + 1)}

    def _used_marks(self, marked: Sequence[int]) -> Sequence[int]:
        return marked if self._unlimited else marked[max(0, len(marked) - self.rules.marks) :]

    def _found(self, prefix: int, end: int, now: float) -> bool:
        return end >= self.rules.minimum and self._lives(prefix, now)

    def _written(self, marked: Sequence[int], ends: Sequence[int]) -> list[int]:
        return [i for i in self._used_marks(marked) if ends[i] >= self.rules.minimum]


def make_cache(rules: Rules) -> Cache:
    """An empty cache by these rules."""
    return SteppedCache(rules) if rules.kind == "steps" else MarkedCache(rules)
