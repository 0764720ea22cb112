"""What is known about each packaged encoding: pattern, special tokens, safe cuts.

Patterns and special tokens are facts of tiktoken 0.14 (``tiktoken_ext/openai_public.py``); a test compares
them. The safe-cut rules are ours, argued below and tried on adversarial text in ``tests/tokens``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from priompt_py.tokens.safe_cuts import SafeCuts

if TYPE_CHECKING:
    from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["ENCODINGS", "WHITE", "WORD_CUTS", "EncodingSpec", "cuts_for_pattern"]

# ------------------------------------------------------------------------------------------- characters

#: What ``\s`` means to tiktoken (Unicode White_Space). Python's ``\s`` also has U+001C–U+001F.
WHITE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: Letters and digits about which every Unicode version of the last ten years agrees, for a character class.
#: Letters that are new to one side (Python's tables or tiktoken's) must not make a cut, so a list of ranges
#: stands here and no ``\w``: Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai, kana, CJK, Hangul.
_LETTERS = (
    "0-9A-Za-zÀ-ÖØ-öø-ʯͰ-ͳͻ-ͽΑ-ΡΣ-ώА-ҁҊ-ԯ\u05d0-\u05ea\u0621-\u064a\u0904-\u0939\u0e01-\u0e30"
    "ぁ-ゖァ-ヺ㐀-䶵一-鿕가-힣０-９Ａ-Ｚａ-ｚ"
)

# ------------------------------------------------------------------------------------------- safe cuts
#
# tiktoken splits a text with the pattern, from the left, and tokenises every piece by itself. No pattern looks
# behind. So a place is safe if no piece can span it and if no look-ahead to its left comes out differently for
# what stands on the right. Each rule is written with the look-ahead first: Python's `re` then tries the
# look-behind at few places (65 ns a character instead of 87).
#
# R1  left: CR or LF; right: neither white nor "/", or blanks and tabs and then what is not white. Pieces that hold a
#     line break end with it or go on with white up to another one, but for o200k's punctuation, which takes "/" after
#     it. Fails for p50k and r50k: their `\s+(?!\S)` gives the last white character back when something follows.
# R2  left: not white; right: blank or tab. White is only ever the start of a piece, but for CR and LF after
#     punctuation. Python's `\S` is narrower than tiktoken's, which is the safe side.
# R3  left: letter or digit; right: any white, or ASCII punctuation other than the apostrophe. Pieces with letters or
#     digits hold nothing after them but other letters, digits, marks and "'s" and its like, and a look-ahead that
#     matters stands behind white, not behind letters.
# R4  left: blank, tab, CR or LF; right: a blank or tab that is followed by what is not white. A run of white before
#     something else gives back its last character, and a piece that ends in line breaks ends before it.

_R1 = r"(?<=[\r\n])(?=[^\s/]|[ \t]+\S)"
_R2 = r"(?=[ \t])(?<=\S)"
_PUNCTUATION = r"!-&(-/:-@\[-`{-~"  # all of ASCII's but the apostrophe
_WHITE_BUT_BLANKS = WHITE.replace(" ", "").replace("\t", "")  # R2 has blanks and tabs
_R3 = rf"(?=[{_WHITE_BUT_BLANKS}{_PUNCTUATION}])(?<=[{_LETTERS}])"

_R4 = r"(?=[ \t]\S)(?<=[ \t\r\n])"

#: The cuts of o200k_base and cl100k_base at either end of a run of white: for what counts by words.
WORD_CUTS = SafeCuts(
    re.compile(rf"{_R2}|(?=[{_WHITE_BUT_BLANKS}])(?<=[{_LETTERS}])|(?<=[\r\n])(?=[^\s/])"), "between words"
)
_CUTS_WITH_BREAKS = SafeCuts(re.compile(f"{_R2}|{_R3}|{_R4}|{_R1}"), "R1 R2 R3 R4")
_CUTS = SafeCuts(re.compile(f"{_R2}|{_R3}|{_R4}"), "R2 R3 R4")

# ------------------------------------------------------------------------------------------- patterns

_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
_R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


@attrs.frozen
class EncodingSpec:
    """A packaged encoding: which vocabulary it reads, and what goes with it.

    ``breaks_alone``: whether line breaks are pieces of their own rule, so that only the white after the last one
    is one piece (o200k, cl100k), or whether white is white (p50k, r50k). ``at_end``: whether white at the
    very end of a text is taken by a rule that can't fail (all but o200k). Both matter for long runs of white.
    """

    vocabulary: str
    pattern: str
    special_tokens: Mapping[str, int]
    safe_cuts: SafeCuts
    breaks_alone: bool
    at_end: bool
    max_token_bytes: int = 128
    chat: str | None = None

    @property
    def chat_format(self) -> ChatFormat | None:
        from priompt_py.tokens import chat_format

        return None if self.chat is None else getattr(chat_format, self.chat)


def _o200k(special_tokens: Mapping[str, int], chat: str) -> EncodingSpec:
    return EncodingSpec("o200k_base", _O200K, special_tokens, _CUTS_WITH_BREAKS, True, False, chat=chat)


def _r50k(vocabulary: str, special_tokens: Mapping[str, int]) -> EncodingSpec:
    return EncodingSpec(vocabulary, _R50K, special_tokens, _CUTS, False, True)


_END, _PROMPT_END = "<|endoftext|>", "<|endofprompt|>"
_CHAT_MARKS = ("<|im_start|>", "<|im_sep|>", "<|im_end|>")  # so that ids of chats can be decoded
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

_HARMONY = {
    **{f"<|reserved_{rank}|>": rank for rank in range(200_000, 201_088)},
    "<|startoftext|>": 199_998,
    _END: 199_999,
    "<|return|>": 200_002,
    "<|constrain|>": 200_003,
    "<|channel|>": 200_005,
    "<|start|>": 200_006,
    "<|end|>": 200_007,
    "<|message|>": 200_008,
    "<|call|>": 200_012,
    _PROMPT_END: 200_018,
}
for _name in (2, 3, 5, 6, 7, 8, 12):  # these have a name instead; 200018 has both
    del _HARMONY[f"<|reserved_{200_000 + _name}|>"]

#: Name -> encoding. All seven that tiktoken brings: gpt2 has the vocabulary of r50k_base (OpenAI cookbook, "How to
#: count tokens with tiktoken"), p50k_edit that of p50k_base, o200k_harmony that of o200k_base.
ENCODINGS: Mapping[str, EncodingSpec] = {
    "o200k_base": _o200k(
        {
            _END: 199_999,
            _PROMPT_END: 200_018,
            **dict(zip(_CHAT_MARKS, (200_006, 200_008, 200_007), strict=True)),
        },
        "OPENAI_CHAT_O200K",
    ),
    "o200k_harmony": _o200k(_HARMONY, "HARMONY_CHAT"),
    "cl100k_base": EncodingSpec(
        "cl100k_base",
        _CL100K,
        {
            _END: 100_257,
            **dict(zip(_FIM, range(100_258, 100_261), strict=True)),
            **dict(zip(_CHAT_MARKS, (100_264, 100_266, 100_265), strict=True)),
            _PROMPT_END: 100_276,
        },
        _CUTS_WITH_BREAKS,
        True,
        True,
        chat="OPENAI_CHAT_CL100K",
    ),
    "p50k_base": _r50k("p50k_base", {_END: 50_256}),
    "p50k_edit": _r50k("p50k_base", {_END: 50_256, **dict(zip(_FIM, range(50_281, 50_284), strict=True))}),
    "r50k_base": _r50k("r50k_base", {_END: 50_256}),
    "gpt2": _r50k("r50k_base", {_END: 50_256}),
}


def cuts_for_pattern(pattern: str) -> SafeCuts | None:
    """The safe cuts of an encoding that splits with ``pattern`` (they rest on it alone), if it is known."""
    return next((spec.safe_cuts for spec in ENCODINGS.values() if spec.pattern == pattern), None)
