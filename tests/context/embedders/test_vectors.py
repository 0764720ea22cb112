"""The check that all vectors pass."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import checked_vectors, embed_texts
from priompt_py.errors import EmbedderError, PromptError


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[3, 4]], [[0.6, 0.8]]),
        ([(3, 4), [0, -2]], [[0.6, 0.8], [0, -1]]),
        (np.array([[3, 4]], dtype=np.float16), [[0.6, 0.8]]),
        ([np.array([3, 4]), np.array([0, 1])], [[0.6, 0.8], [0, 1]]),
        ([[0, 0], [1, 0]], [[0, 0], [1, 0]]),
        ([[3e200, 4e200], [3e-320, 4e-320]], [[0.6, 0.8], [0.6, 0.8]]),
    ],
)
def test_lengths_become_1(rows: Any, expected: list[list[float]]) -> None:
    found = checked_vectors("e", rows, count=len(expected))
    assert found.dtype == np.float32
    assert found.tolist() == [pytest.approx(row, rel=1e-3) for row in expected]


@given(
    st.integers(1, 5).flatmap(
        lambda dim: st.lists(
            st.lists(
                st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=dim, max_size=dim
            ).filter(any),
            min_size=1,
            max_size=5,
        )
    )
)
def test_any_finite_vector_gets_length_1(rows: list[list[float]]) -> None:
    found = checked_vectors("e", rows, count=len(rows), dim=len(rows[0]))
    assert np.linalg.norm(found.astype(np.float64), axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-6)


def test_no_texts() -> None:
    assert checked_vectors("e", [], count=0, dim=3).shape == (0, 3)
    assert checked_vectors("e", np.zeros((0, 7)), count=0).shape == (0, 0)


REFUSED: list[tuple[Any, int, int | None, str, str]] = [
    ([[1.0], [2.0]], 3, None, "count", "it gave 2 vectors for 3 texts"),
    ([[1.0]], 0, None, "count", "it gave 1 vectors for 0 texts"),
    ([], 2, None, "count", "it gave 0 vectors for 2 texts"),
    ([1.0, 2.0], 2, None, "answer", "it gave an array of 1 dimensions, not a list of vectors"),
    (3.5, 1, None, "answer", "it gave a number, not a list of vectors"),
    ([[1j]], 1, None, "answer", "it gave complex numbers"),
    ([[[1.0]]], 1, None, "answer", "it gave an array of 3 dimensions, not a list of vectors"),
    ("no", 1, None, "answer", "it gave str for 1 texts, not a list of vectors"),
    ([["a"]], 1, None, "answer", "it gave list for 1 texts, not a list of vectors"),
    ({"a": [1]}, 1, None, "answer", "it gave dict for 1 texts, not a list of vectors"),
    ([[10**400]], 1, None, "answer", "it gave list for 1 texts, not a list of vectors"),
    ([[1.0, 2.0]], 1, 3, "size", "its vectors have 2 numbers, not 3"),
    ([[], []], 2, None, "size", "its vectors have 0 numbers, not some"),
    ([[1.0], [1.0, 2.0]], 2, None, "size", "its vectors have different lengths, from 1 to 2"),
    ([[1.0], [float("nan")]], 2, 1, "not-finite", "the vector of text 1 (from 0) holds NaN"),
    ([[1.0], [None]], 2, 1, "not-finite", "the vector of text 1 (from 0) holds NaN"),
    ([[-float("inf")]], 1, 1, "not-finite", "the vector of text 0 (from 0) holds an infinite number"),
]


@pytest.mark.parametrize(("given", "count", "dim", "reason", "detail"), REFUSED)
def test_what_is_refused(given: Any, count: int, dim: int | None, reason: str, detail: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        checked_vectors("e", given, count=count, dim=dim)
    assert (caught.value.embedder, caught.value.reason, caught.value.detail) == ("e", reason, detail)
    assert str(caught.value) == f"e: {detail}"


class Embedder:
    name = "mine"
    dim = 2

    def __init__(self, given: Any) -> None:
        self.given = given

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def test_embed_texts() -> None:
    assert embed_texts(Embedder([[0, 5]]), ["a"], "query").tolist() == [[0, 1]]
    failure = ValueError("no")
    with pytest.raises(EmbedderError, match=r"^mine: it failed with ValueError: no$") as caught:
        embed_texts(Embedder(failure), ["a"], "query")
    assert caught.value.__cause__ is failure
    assert caught.value.reason == "failed"
    own = EmbedderError("mine", "timeout", "late")
    with pytest.raises(EmbedderError, match=r"^mine: late$") as caught:
        embed_texts(Embedder(own), ["a"], "query")
    assert caught.value is own
    with pytest.raises(EmbedderError, match=r"^mine: it gave 1 vectors for 2 texts$"):
        embed_texts(Embedder([[0, 5]]), ["a", "b"], "passage")


def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(
        PromptError, match=r"vectors are kept by numpy: pip install 'priompt-py\[embeddings\]'"
    ):
        checked_vectors("e", [[1]], count=1)
