"""When a conversation has grown so long that it should be summarised: arithmetic alone, exact."""

from __future__ import annotations

import warnings

from priompt_py.author.checks import got, whole_number, wrong_type
from priompt_py.context.exact import Share, exact_share

__all__ = ["compaction_threshold", "needs_compaction"]


def compaction_threshold(
    window: int | None, *, share: Share = "0.6", reserve: int = 32_000, floor: Share = "0.5"
) -> int | None:
    """The tokens over which a conversation should be compacted; None where there is no such number.

    Of the ``window`` (tokens; None where it isn't known) ``reserve`` tokens are kept for the answer, but at least
    its share ``floor`` is for the conversation; ``share`` of that is the threshold. Both are floored. Shares that
    people set lie between 0.4 and 0.9: outside there is a warning. Raises ArgumentTypeError or ArgumentValueError,
    the latter for a window of 0 or less.
    """
    return _threshold("compaction_threshold", window, share, reserve, floor)


def needs_compaction(
    tokens: int,
    window: int | None,
    *,
    share: Share = "0.6",
    reserve: int = 32_000,
    floor: Share = "0.5",
) -> bool:
    """Whether a conversation of so many ``tokens`` is over its :func:`compaction_threshold`.

    The tokens are those of the chat as it would be sent (``chat_tokens``). Never for a window that isn't known.
    """
    tag = "needs_compaction"
    if type(tokens) is not int:
        raise wrong_type("tokens", f"{tag}() needs a whole number for tokens, got tokens={got(tokens)}")
    threshold = _threshold(tag, window, share, reserve, floor)
    return threshold is not None and tokens > max(0, threshold)


def _threshold(tag: str, window: int | None, share: Share, reserve: int, floor: Share) -> int | None:
    part = exact_share(tag, "share", share)
    least = exact_share(tag, "floor", floor, zero=True)
    reserve = whole_number(tag, "reserve", reserve)
    if not 4 <= part * 10 <= 9:
        warnings.warn(f"{tag}(): share is usually from 0.4 to 0.9, got {share}", UserWarning, stacklevel=3)
    if window is None:
        return None
    window = whole_number(tag, "window", window, least=1)
    available = max(window - reserve, int(window * least))
    return int(available * part) if available > 0 else None
