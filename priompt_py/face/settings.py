"""The arguments of a render, checked and brought together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.memory import Memory
from priompt_py.model.values import short_repr
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.limits import LimitChoice
from priompt_py.tokens.tokenizer import Tokenizer, chat_format_of, get_tokenizer

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["DEFAULT_TOKENIZER", "KEEP", "Settings", "check_flag", "check_limit", "settle"]

DEFAULT_TOKENIZER = "o200k_base"
KEEP = 0.7  # of the limit: what a prompt keeps when its cut moves


@attrs.frozen(eq=False)
class Settings:
    """What one render is made with."""

    token_limit: int
    limit_from: str
    tokenizer: Tokenizer
    chat_format: ChatFormat
    tool_family: str
    image_family: str
    last_message_incomplete: bool
    pair_tools: bool
    cache: TokenCache | None
    previous: Memory | None
    shares: tuple[Fraction, Fraction] | None  # keep and refill; None without previous


def check_limit(token_limit: object) -> int:
    """A limit in tokens: an int of 0 or more, or the one of a choice."""
    if isinstance(token_limit, LimitChoice):
        return token_limit.limit
    if type(token_limit) is not int:
        raise ArgumentTypeError(
            f"token_limit needs a whole number of tokens, got token_limit={got(token_limit)}"
        )
    if token_limit < 0:
        raise ArgumentValueError(
            f"token_limit needs to be 0 or more, got token_limit={token_limit}; "
            "was more subtracted from the window than it holds?"
        )
    return token_limit


def settle(
    *,
    token_limit: object,
    tokenizer: object,
    model: str | None,
    chat_format: ChatFormat | None,
    last_message_incomplete: object,
    pair_tools: object,
    cache: object,
    previous: object = None,
    keep: object = KEEP,
    refill: object = None,
) -> Settings:
    """Check a render's arguments. Raises ArgumentTypeError, ArgumentValueError or TokenizerError."""
    from priompt_py.tokens.models import info_for_encoding, model_info

    limit = check_limit(token_limit)
    info = None if model is None else model_info(model)
    if tokenizer is None:
        tokenizer = DEFAULT_TOKENIZER if info is None else info.encoding
    chosen = get_tokenizer(tokenizer)
    if info is None:
        info = info_for_encoding(chosen.name)
    if chat_format is None:
        chat_format = chat_format_of(chosen)
    elif not isinstance(chat_format, ChatFormat):
        raise ArgumentTypeError(f"chat_format needs a ChatFormat, got chat_format={got(chat_format)}")
    if cache is not None and not isinstance(cache, TokenCache):
        raise ArgumentTypeError(f"cache needs a TokenCache, got cache={got(cache)}")
    return Settings(
        token_limit=limit,
        limit_from=token_limit.reason if isinstance(token_limit, LimitChoice) else f"token_limit ({limit})",
        tokenizer=chosen,
        chat_format=chat_format,
        tool_family=info.tools,
        image_family=info.images,
        last_message_incomplete=check_flag("last_message_incomplete", last_message_incomplete),
        pair_tools=check_flag("pair_tools", pair_tools),
        cache=cache,
        previous=_memory(previous),
        shares=None if previous is None and keep == KEEP and refill is None else _shares(keep, refill),
    )


def _memory(previous: object) -> Memory | None:
    """What is remembered: a Memory, or that of what has one."""
    found = (
        previous
        if previous is None or isinstance(previous, Memory)
        else getattr(previous, "memory", previous)
    )
    if found is None or isinstance(found, Memory):
        return found
    raise ArgumentTypeError(
        f"previous needs the last Rendered, its memory, or Memory() to begin with, got previous={got(previous)}"
    )


def _shares(keep: object, refill: object) -> tuple[Fraction, Fraction]:
    """``keep`` and ``refill`` exactly as they were written: 0 < refill <= keep <= 1."""
    most = _share("keep", keep)
    least = most / 2 if refill is None else _share("refill", refill)
    if least > most:
        raise ArgumentValueError(
            f"refill needs to be keep={_written(keep)} at most, got refill={_written(refill)}"
        )
    return most, least


def _share(name: str, value: object) -> Fraction:
    from fractions import Fraction

    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise ArgumentTypeError(f"{name} needs a share of the limit, such as 0.7, got {name}={got(value)}")
    if not 0 < value <= 1:  # not a number neither
        raise ArgumentValueError(f"{name} needs to be above 0 and at most 1, got {name}={_written(value)}")
    # A float is the number that is written, 0.7 say; of subclasses (numpy's, enumerations) it is the plain one.
    return Fraction(float.__repr__(value) if isinstance(value, float) else value)


def _written(share: object) -> str:
    """A share in an error; fractions as they are written with a stroke."""
    from fractions import Fraction

    if isinstance(share, Fraction) and share.denominator != 1:
        return f"{short_repr(share.numerator)}/{short_repr(share.denominator)}"
    return short_repr(share.numerator if isinstance(share, Fraction) else share)


def check_flag(name: str, value: object) -> bool:
    """``value`` if it is True or False."""
    if type(value) is not bool:
        raise ArgumentTypeError(f"{name} needs True or False, got {name}={got(value)}")
    return value
