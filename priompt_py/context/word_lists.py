"""The lists of words that pruning goes by: data files beside this module, in ``lists``, free to be replaced.

A file is UTF-8 text: words between blanks, and comments from ``#`` to the end of a line. They are read once, when
first needed, and folded as all words are (NFKC, casefold, ё as е).
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files

__all__ = ["fold", "word_list"]


def fold(text: str) -> str:
    """``text`` as it is compared: NFKC, casefold, ё as е."""
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")


@cache
def word_list(name: str) -> frozenset[str]:
    """The folded words of ``lists/NAME.txt``."""
    source = files("priompt_py.context").joinpath("lists", f"{name}.txt").read_text("utf-8")
    lines = (line.partition("#")[0] for line in source.splitlines())
    return frozenset(fold(word) for line in lines for word in line.split())
