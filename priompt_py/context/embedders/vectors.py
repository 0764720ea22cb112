"""Vectors as they are stored and searched by: one row a text, 32-bit floats, of length 1.

Embedders give what they like: lists or arrays, of any length and scale. All of it goes through here, so that a model
that was swapped behind a URL, a server that lost a text, or a NaN is an error when it happens and no silent nonsense
later.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

from priompt_py.author.children import type_name
from priompt_py.errors import EmbedderError, PromptError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Kind", "Vectors", "checked_vectors", "embed_texts", "numpy"]

Vectors: TypeAlias = "NDArray[np.float32]"
Kind = Literal["query", "passage"]


class _Embedder(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: Kind, /) -> Any: ...


def numpy() -> Any:
    """The package numpy. PromptError where it isn't installed."""
    try:
        return import_module("numpy")
    except ImportError:
        raise PromptError("vectors are kept by numpy: pip install 'priompt-py[embeddings]'") from None


def embed_texts(embedder: _Embedder, texts: Sequence[str], kind: Kind) -> Vectors:
    """The checked vectors of ``texts`` by a sync embedder; whatever goes wrong is an EmbedderError."""
    name = embedder.name
    try:
        given = embedder.embed(texts, kind)
        dim = embedder.dim
    except EmbedderError:
        raise
    except Exception as error:
        raise EmbedderError(name, "failed", f"it failed with {type(error).__name__}: {error}") from error
    return checked_vectors(name, given, count=len(texts), dim=dim)


def checked_vectors(embedder: str, given: object, *, count: int, dim: int | None = None) -> Vectors:
    """What an embedder gave for ``count`` texts, as an array of ``count`` rows, each of length 1.

    ``dim`` is how many numbers a vector must have; None takes any, as long as all have the same. A vector of zeros (of
    a text without a known word) stays one: it is near to nothing. EmbedderError with reason ``answer``, ``count``,
    ``size`` or ``not-finite``.
    """
    np = numpy()
    try:
        array = np.asarray(given)
        if np.iscomplexobj(array):  # half of each number would be dropped, with a warning alone
            raise EmbedderError(embedder, "answer", "it gave complex numbers")
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _no_vectors(embedder, given, count) from None
    if (array.ndim == 2 and array.shape[0] != count) or (array.shape == (0,) and count):
        raise EmbedderError(embedder, "count", f"it gave {array.shape[0]} vectors for {count} texts")
    if count == 0:
        return np.zeros((0, dim or 0), dtype=np.float32)  # type: ignore[no-any-return]
    if array.ndim != 2:
        raise EmbedderError(embedder, "answer", f"it gave {_shape(array)}, not a list of vectors")
    size = array.shape[1]
    if size == 0 or (dim is not None and size != dim):
        wanted = "some" if dim is None else str(dim)
        raise EmbedderError(embedder, "size", f"its vectors have {size} numbers, not {wanted}")
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        which = int(np.argmin(finite))
        what = "NaN" if np.isnan(array[which]).any() else "an infinite number"
        raise EmbedderError(embedder, "not-finite", f"the vector of text {which} (from 0) holds {what}")
    return _normalised(np, array)


def _normalised(np: Any, array: Any) -> Vectors:
    largest = np.abs(array).max(axis=1, keepdims=True)  # first, so that no square is too large or too small
    array = array / np.where(largest == 0, 1, largest)
    length = np.linalg.norm(array, axis=1, keepdims=True)
    result: Vectors = (array / np.where(length == 0, 1, length)).astype(np.float32)
    return result


def _no_vectors(embedder: str, given: object, count: int) -> EmbedderError:
    kind = type_name(given)
    if isinstance(given, list | tuple):
        rows = cast("Sequence[object]", given)
        sizes = sorted({len(cast("Sequence[object]", row)) for row in rows if isinstance(row, list | tuple)})
        if len(sizes) > 1:
            return EmbedderError(
                embedder, "size", f"its vectors have different lengths, from {sizes[0]} to {sizes[-1]}"
            )
    return EmbedderError(embedder, "answer", f"it gave {kind} for {count} texts, not a list of vectors")


def _shape(array: Any) -> str:
    return "a number" if array.ndim == 0 else f"an array of {array.ndim} dimensions"
