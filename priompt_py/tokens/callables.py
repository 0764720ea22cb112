"""A function that counts, as a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, cast

import attrs

from priompt_py.errors import TokenizerError
from priompt_py.tokens.safe_cuts import ANYWHERE, SafeCuts

if TYPE_CHECKING:
    from priompt_py.tokens.tokenizer import CountKind

__all__ = ["CallableTokenizer", "from_count"]


@attrs.frozen
class CallableTokenizer:
    """Counts with a function; has no ids, so ``encode`` and ``decode`` refuse.

    ``safe_cuts`` is :data:`ANYWHERE` for counters that add up wherever a text is cut, ``None`` for others.
    """

    count: Callable[[str], int]
    name: str
    safe_cuts: SafeCuts | None = None
    kind: CountKind = "exact"

    def encode(self, text: str) -> NoReturn:
        raise TokenizerError(f"{self.name} only counts: it was made from a function and has no token ids")

    def decode(self, ids: Sequence[int]) -> NoReturn:
        raise TokenizerError(f"{self.name} only counts: it was made from a function and has no token ids")


def from_count(
    count: Callable[[str], int],
    *,
    name: str | None = None,
    splittable: bool | None = None,
    kind: CountKind = "exact",
) -> CallableTokenizer:
    """A tokenizer that counts with ``count(text) -> int``.

    ``splittable=True`` says that ``count(a + b) == count(a) + count(b)`` for all texts: counting is then
    much faster. ``len`` is known to be. ``name`` is the function's own when not given. A function that
    gives anything but an int of 0 or more is refused when it is first seen to.
    """
    if isinstance(count, type) or not callable(count):
        raise TokenizerError(f"from_count() needs a function that counts a text's tokens, got {count!r:.80}")
    if name is None:
        name = str(getattr(count, "__name__", type(count).__name__))
    if splittable is None:
        splittable = count is len
    cuts = ANYWHERE if splittable else None
    return CallableTokenizer(count if count is len else _Checked(count, name), name, cuts, kind)


@attrs.frozen
class _Checked:
    """``count``, with an error of ours where it gives no count."""

    count: Callable[[str], Any]
    name: str

    def __call__(self, text: str) -> int:
        number = self.count(text)
        # An exact int is checked first: it is the usual case, and a call costs 0.1 µs.
        if type(number) is not int or number < 0:
            return self._judge(number)
        return number

    def _judge(self, number: object) -> int:
        import operator

        if not isinstance(number, bool | float):
            try:
                exact = operator.index(cast("SupportsIndex", number))
            except TypeError:
                pass
            else:
                if exact >= 0:
                    return exact
        raise TokenizerError(
            f"{self.name} should count tokens with an int of 0 or more, it gave {number!r:.80} "
            f"({type(number).__name__})"
        )
