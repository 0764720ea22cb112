"""Records in the order of time, where some have none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from priompt_py.author.checks import got, wrong_type, wrong_value

__all__ = ["by_time"]

T = TypeVar("T")


def by_time(records: Iterable[T], key: Callable[[T], Any]) -> list[T]:
    """``records`` by the times that ``key`` gives, the earliest first; equal times stay in stored order.

    A record whose time is None stands with the greatest time before it in stored order; before all others, where there
    is none before it. Raises ArgumentTypeError for times that can't be compared with each other, ArgumentValueError for
    NaN.
    """
    found: list[tuple[T, tuple[Any, ...]]] = []
    greatest: tuple[Any, ...] = ()  # less than any time
    for i, record in enumerate(records):
        time: Any = key(record)
        if time is None:
            found.append((record, greatest))
            continue
        if time != time:  # noqa: PLR0124 - NaN
            raise wrong_value(
                "key", f"by_time(): record {i} has the time {got(time)}, which has no place in an order"
            )
        found.append((record, (time,)))
        try:
            greatest = max(greatest, (time,))
        except TypeError:
            raise wrong_type(
                "key",
                f"by_time(): record {i} has the time {got(time)}, which can't be compared with {got(greatest[0])}",
            ) from None
    return [record for record, _ in sorted(found, key=lambda pair: pair[1])]
