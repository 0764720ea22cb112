"""Tokenizers from Hugging Face ``tokenizer.json`` files (extra: ``pip install priompt-py[huggingface]``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from priompt_py.errors import TokenizerError

if TYPE_CHECKING:
    from priompt_py.tokens.chat_format import ChatFormat
    from priompt_py.tokens.safe_cuts import SafeCuts
    from priompt_py.tokens.tokenizer import CountKind

__all__ = ["HuggingFaceTokenizer"]


class HuggingFaceTokenizer:
    """A ``tokenizers`` tokenizer as a :class:`~priompt_py.tokens.tokenizer.Tokenizer`.

    ``source`` is the path of a ``tokenizer.json`` or a ``tokenizers.Tokenizer`` (which is copied, so that its settings stay
    as they are). Nothing is fetched. No token is ever added: neither a beginning of text, nor padding; nothing is cut off;
    and special tokens are never made from text. Whoever sends ids adds the beginning of text, once.

    Has no safe cuts unless they are passed: every text is then counted whole.
    """

    __slots__ = ("__weakref__", "_tokenizer", "chat_format", "name", "safe_cuts")

    name: str
    safe_cuts: SafeCuts | None
    chat_format: ChatFormat | None

    def __init__(
        self,
        source: Any,
        *,
        name: str | None = None,
        safe_cuts: SafeCuts | None = None,
        chat_format: ChatFormat | None = None,
    ) -> None:
        tokenizers = _import_tokenizers()
        if isinstance(source, str | os.PathLike):
            path = Path(cast("str | os.PathLike[str]", source))
            if not path.is_file():
                raise TokenizerError(
                    f"no tokenizer file at {str(path)!r} (a tokenizer.json; nothing is fetched)"
                )
            self._tokenizer = _loaded(lambda: tokenizers.Tokenizer.from_file(str(path)), str(path))
            name = name or path.parent.name or path.stem
        elif isinstance(source, tokenizers.Tokenizer):
            self._tokenizer = tokenizers.Tokenizer.from_str(source.to_str())
        else:
            raise TokenizerError(
                f"HuggingFaceTokenizer() needs a path or a tokenizers.Tokenizer, got {source!r:.80} "
                f"({type(source).__name__})"
            )
        self.name = name or "hugging_face"
        self.safe_cuts = safe_cuts
        self.chat_format = chat_format
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True  # what looks like one is text

    @property
    def kind(self) -> CountKind:
        return "exact"

    def count(self, text: str) -> int:
        """The number of tokens of ``text``."""
        return len(self._encoded(text).ids)

    def encode(self, text: str) -> list[int]:
        """The ids of the tokens of ``text``, without any that its model wants around it."""
        return list(self._encoded(text).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special ones too."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False))

    def _encoded(self, text: str) -> Any:
        try:
            return self._tokenizer.encode(text, add_special_tokens=False)
        except (TypeError, UnicodeEncodeError):  # lone surrogates are no text to it
            repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return self._tokenizer.encode(repaired, add_special_tokens=False)

    def __repr__(self) -> str:
        return f"HuggingFaceTokenizer({self.name!r})"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _from_json, (self._tokenizer.to_str(), self.name, self.safe_cuts, self.chat_format)


def _from_json(
    text: str, name: str, safe_cuts: SafeCuts | None, chat_format: ChatFormat | None
) -> HuggingFaceTokenizer:
    tokenizer = _import_tokenizers().Tokenizer.from_str(text)
    return HuggingFaceTokenizer(tokenizer, name=name, safe_cuts=safe_cuts, chat_format=chat_format)


def _loaded(load: Callable[[], Any], where: str) -> Any:
    try:
        return load()
    except Exception as error:  # the library raises plain Exception
        raise TokenizerError(f"{where} is no tokenizer file: {error}") from error


def _import_tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise TokenizerError(
            "Hugging Face tokenizers need the package 'tokenizers': pip install 'priompt-py[huggingface]'"
        ) from error
    return tokenizers
