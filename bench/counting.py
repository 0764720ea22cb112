"""Tokenizers that tell what they were asked for."""

from __future__ import annotations

from collections.abc import Sequence

from bench.shapes import ENCODING
from priompt_py import ChatFormat, get_tokenizer
from priompt_py.tokens.tokenizer import SafeCuts, chat_format_of, max_token_bytes_of, safe_cuts_of

__all__ = ["CountingTokenizer"]


class CountingTokenizer:
    """The encoding that everything is measured in; ``chars`` and ``calls`` say what was tokenised.

    ``cuts=False`` says nothing of safe cuts and of the bytes of a token, as a tokenizer of a few lines would.
    """

    def __init__(self, *, cuts: bool = True) -> None:
        self._inner = get_tokenizer(ENCODING)
        self.name = f"counting-{ENCODING}"
        self.safe_cuts: SafeCuts | None = safe_cuts_of(self._inner) if cuts else None
        self.max_token_bytes: int | None = max_token_bytes_of(self._inner) if cuts else None
        self.chat_format: ChatFormat = chat_format_of(self._inner)
        self.chars = 0
        self.calls = 0

    def count(self, text: str, /) -> int:
        self.chars += len(text)
        self.calls += 1
        return self._inner.count(text)

    def encode(self, text: str, /) -> list[int]:
        self.chars += len(text)
        self.calls += 1
        return self._inner.encode(text)

    def decode(self, ids: Sequence[int], /) -> str:
        return self._inner.decode(ids)
