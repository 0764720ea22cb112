"""An embedder without a server: WordLlama, a table of 32,000 word vectors that comes inside its package.

It was made from the token embeddings of large models; a text's vector is the mean of its tokens', so that it knows
words and no order of words. That is little, and it is fast, small and the same everywhere: 16 MB, and thousands of
chunks in a second. Russian and Chinese are in the vocabulary, in small pieces.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from priompt_py.author.checks import got, wrong_type, wrong_value
from priompt_py.context.embedders.vectors import Kind, Vectors, checked_vectors
from priompt_py.errors import EmbedderError

__all__ = ["WordLlamaEmbedder"]


class WordLlamaEmbedder:
    """Vectors of ``dim`` numbers (256, or 128 or 64 of them) from the package wordllama, without any network.

    The model is read when first used. ``kind`` makes no difference to it. ``embed`` may be called from several threads.
    """

    default_threshold = 0.15
    """Cosines up to this say nothing. Of the questions in ``bench/retrieval`` 91 % have an answer over it (over 0.5 only
    34 %), and half of what has nothing to do with a question is below."""

    def __init__(self, *, dim: int = 256) -> None:
        tag = type(self).__name__
        if type(dim) is not int:
            raise wrong_type("dim", f"{tag}() needs a whole number for dim, got dim={got(dim)}")
        if dim not in _DIMS:
            raise wrong_value("dim", f"{tag}() needs dim to be one of 64, 128, 256, got dim={dim}")
        self._dim = dim
        self._model: Any = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self._dim})"

    @property
    def name(self) -> str:
        """What vectors of this kind are known by."""
        return f"wordllama-l2-supercat-{self._dim}"

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        return self._dim

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """The vectors of ``texts``, a row each, of length 1 (zeros for a blank text).

        EmbedderError with reason ``library`` where the package is missing, or its weights aren't in it.
        """
        with self._lock:  # its tokenizer is set up by each call
            model = self._loaded()
            given: Any = model.embed(list(texts), norm=False) if texts else ()
        return checked_vectors(self.name, given, count=len(texts), dim=self._dim)

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                package = import_module("wordllama")
            except ImportError:
                detail = "it needs the package wordllama: pip install 'priompt-py[embeddings]'"
                raise EmbedderError(self.name, "library", detail) from None
            # The package looks for its weights in a folder of another name than its own, and then on the network; its
            # own folder as cache makes it find them.
            folder = Path(str(package.__file__)).parent
            try:
                self._model = package.WordLlama.load(
                    cache_dir=folder, dim=256, trunc_dim=self._dim, disable_download=True
                )
            except (OSError, ValueError) as error:
                detail = f"its weights can't be read from the package wordllama: {error}"
                raise EmbedderError(self.name, "library", detail) from error
        return self._model


_DIMS = (64, 128, 256)
