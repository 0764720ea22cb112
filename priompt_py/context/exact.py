"""Shares of a whole as exact fractions: ``0.7`` is seven tenths, not the double that is nearest to it."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from priompt_py.author.checks import got, wrong_type, wrong_value

__all__ = ["Share", "exact_share"]

Share: TypeAlias = str | int | float | Fraction | Decimal

# Short, since Python would also work out "1e999999999".
_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30}|[0-9]{1,30}/[0-9]{1,30}")


def exact_share(tag: str, name: str, value: object, *, zero: bool = False) -> Fraction:
    """``value`` as a fraction over 0 (or of 0, with ``zero``) up to 1, exactly as it is written.

    A float counts as its shortest decimal form: 0.58 × 100 is 58. ``tag`` and ``name`` are for the errors:
    ArgumentTypeError for what is no number, ArgumentValueError for what is no such fraction.
    """
    kind = type(value)
    if kind is bool or not isinstance(value, (str, int, float, Fraction, Decimal)):
        raise wrong_type(
            name, f"{tag}() needs a number or its text, like '0.7', for {name}, got {name}={got(value)}"
        )
    least = "from 0 to 1" if zero else "over 0 and up to 1"
    fault = wrong_value(name, f"{tag}() needs a share {least} for {name}, got {name}={got(value)}")
    try:
        if isinstance(value, str):
            share = Fraction(value) if _NUMBER.fullmatch(value) else None
        elif isinstance(value, float):
            share = Fraction(repr(float(value)))
        elif isinstance(value, Decimal):
            share = Fraction(value) if value.is_finite() and -1000 < value.adjusted() < 1000 else None
        else:
            share = Fraction(value)
    except (ValueError, ZeroDivisionError):
        share = None
    if share is None or not (0 < share <= 1 or (zero and share == 0)):
        raise fault
    return share
