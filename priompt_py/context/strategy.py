"""Whether the files of a message go in whole or are searched: arithmetic alone, exact.

The budget falls with the square of the free space: what is left of the window, times ``share``, times the part of the
window that is free. A window of 4,096 tokens that is half full gives 716 tokens to files and prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from priompt_py.author.checks import whole_number
from priompt_py.context.exact import Share, exact_share
from priompt_py.context.reports import Strategy

__all__ = ["INJECT", "NONE", "RETRIEVAL", "available_tokens", "choose_strategy"]

INJECT = "inject-full-content"
RETRIEVAL = "retrieval"
NONE = "none"


def available_tokens(length: int, used: int, share: Share = "0.7") -> int:
    """The tokens that files and prompt may take together: ``share · remaining² / length``, floored.

    ``length`` is the whole window, ``used`` what the history takes; a history that is too long leaves 0. All are
    tokens. Raises ArgumentTypeError or ArgumentValueError.
    """
    tag = "available_tokens"
    length = whole_number(tag, "length", length, least=1)
    used = whole_number(tag, "used", used)
    return _available(length, used, exact_share(tag, "share", share))


def _available(length: int, used: int, share: Fraction) -> int:
    remaining = max(0, length - used)  # squared below: an overfull history must not come back as space
    return (share.numerator * remaining * remaining) // (share.denominator * length)


def choose_strategy(
    *, length: int | None, used: int, files: Iterable[int], prompt: int, share: Share = "0.7"
) -> Strategy:
    """How the new files of a message go in.

    ``length`` is the window, None where it isn't known; ``used`` the tokens of the history without this message;
    ``files`` the tokens of each file; ``prompt`` those of the message's own text. Files and prompt together may be
    as many as are available, not more. ``files`` is taken one by one and no further than the answer needs: once the
    sum is over what remains of the window, ``counted`` is that sum and ``parsed`` how many files it is of.

    ======================= ===================================================================
    name                    reason
    ======================= ===================================================================
    ``none``                ``no-files``
    ``inject-full-content`` ``fits``
    ``retrieval``           ``too-large``, or ``unknown-window`` (nothing is measured then)
    ======================= ===================================================================

    Raises ArgumentTypeError or ArgumentValueError.
    """
    tag = "choose_strategy"
    fraction = exact_share(tag, "share", share)
    used = whole_number(tag, "used", used)
    prompt = whole_number(tag, "prompt", prompt)
    if length is None:
        for _ in files:
            return Strategy(RETRIEVAL, "unknown-window")
        return Strategy(NONE, "no-files")
    length = whole_number(tag, "length", length, least=1)
    available = _available(length, used, fraction)
    remaining = max(0, length - used)
    counted = parsed = 0
    for index, tokens in enumerate(files):
        counted += whole_number(tag, f"files[{index}]", tokens)
        parsed += 1
        if counted > remaining:
            break
    if not parsed:
        return Strategy(NONE, "no-files", available)
    if counted + prompt > available:
        return Strategy(RETRIEVAL, "too-large", available, counted, parsed)
    return Strategy(INJECT, "fits", available, counted, parsed)
