"""A long text cut at its middle, with a note there that says how much of it is shown."""

from __future__ import annotations

from priompt_py.author.checks import text as checked_text
from priompt_py.author.checks import whole_number, wrong_value
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer
from priompt_py.tokens.truncate import truncate_to

__all__ = ["NOTICE", "shorten"]

NOTICE = "\n[{shown:,} of {total:,} characters are shown]\n"


def shorten(text: str, limit: int, *, tokenizer: str | Tokenizer = "o200k_base", notice: str = NOTICE) -> str:
    """``text`` if it has at most ``limit`` tokens, else its beginning and its end with ``notice`` between them.

    ``{shown}`` and ``{total}`` in the notice are characters. The result never has more than ``limit`` tokens, notice
    included; without room for any text it is the notice alone, without room for that empty. The same text gives
    the same result every time. Raises ArgumentTypeError and ArgumentValueError.
    """
    tag = "shorten"
    text = checked_text(tag, "text", text)
    limit = whole_number(tag, "limit", limit)
    counter = get_tokenizer(tokenizer)
    total = len(text)
    try:
        widest = notice.format(shown=total, total=total)
    except (LookupError, ValueError):
        raise wrong_value(
            "notice", f"{tag}() needs a notice that holds nothing but {{shown}} and {{total}} in braces"
        ) from None
    for least in range(limit, 0, -1):
        # Cut with the widest number in the notice; the right one is put in its place, and the whole counted again.
        cut = truncate_to(text, least, counter, marker=widest, keep="ends")
        if cut == text:
            return text
        if not cut:
            break
        shown = len(cut) - len(widest)
        result = (
            text[: (shown + 1) // 2] + notice.format(shown=shown, total=total) + text[total - shown // 2 :]
        )
        if counter.count(result) <= limit:
            return result
    alone = notice.format(shown=0, total=total)
    return alone if counter.count(alone) <= limit else ""
