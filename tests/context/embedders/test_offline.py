"""The embedder without a server."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from priompt_py.context import WordLlamaEmbedder
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, EmbedderError


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_vectors(embedder: WordLlamaEmbedder) -> None:
    found = embedder.embed(["a red apple", "", "a green apple", "compiler options"], "passage")
    assert found.shape == (4, 256)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 0, 1, 1], abs=1e-6)
    assert found[0] @ found[2] > 0.5 > found[0] @ found[3]
    assert (embedder.name, embedder.dim, repr(embedder)) == (
        "wordllama-l2-supercat-256",
        256,
        "WordLlamaEmbedder(dim=256)",
    )
    assert embedder.embed([], "query").shape == (0, 256)


def test_the_same_each_time(embedder: WordLlamaEmbedder) -> None:
    texts = [f"text number {number}" for number in range(200)]
    alone = [embedder.embed([text], "query")[0] for text in texts]
    assert np.abs(embedder.embed(texts, "passage") - np.array(alone)).max() < 1e-6


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Кто может изменять программу?", "Изменение программы разрешено", "Оплата доставки товара"),
        ("软件的修改", "您可以修改软件", "今天天气很好"),
        ("How do I get my money back?", "refunds and returns of payment", "the history of the Roman empire"),
    ],
)
def test_near_in_three_languages(embedder: WordLlamaEmbedder, question: str, near: str, far: str) -> None:
    asked, right, wrong = embedder.embed([question, near, far], "query")
    assert asked @ right > asked @ wrong


@pytest.mark.parametrize("dim", [64, 128])
def test_fewer_numbers(dim: int) -> None:
    embedder = WordLlamaEmbedder(dim=dim)
    assert embedder.name == f"wordllama-l2-supercat-{dim}"
    assert embedder.embed(["x"], "query").shape == (1, dim)


def test_several_threads(embedder: WordLlamaEmbedder) -> None:
    fresh = WordLlamaEmbedder()
    expected = embedder.embed(["one", "two three"], "query")
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(fresh.embed(["one", "two three"], "query")))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all((one == expected).all() for one in found)


def test_no_network() -> None:
    code = (
        "import socket\n"
        "def no(*a, **k): raise SystemExit('network')\n"
        "socket.socket.connect = no\n"
        "from priompt_py.context import WordLlamaEmbedder\n"
        "print(WordLlamaEmbedder().embed(['x'], 'query').shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(1, 256)\n"
    assert socket.socket.connect is not None


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(
        EmbedderError, match=r"it needs the package wordllama: pip install 'priompt-py\[embeddings\]'"
    ):
        WordLlamaEmbedder().embed(["x"], "query")


def test_without_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(**_: Any) -> None:
        raise FileNotFoundError("weights")

    broken: Any = ModuleType("wordllama")
    broken.__file__ = __file__
    broken.WordLlama = SimpleNamespace(load=load)
    monkeypatch.setitem(sys.modules, "wordllama", broken)
    with pytest.raises(
        EmbedderError, match="its weights can't be read from the package wordllama: weights"
    ) as caught:
        WordLlamaEmbedder().embed(["x"], "query")
    assert caught.value.reason == "library"


def test_arguments() -> None:
    with pytest.raises(ArgumentValueError, match=r"needs dim to be one of 64, 128, 256, got dim=100"):
        WordLlamaEmbedder(dim=100)
    with pytest.raises(ArgumentTypeError, match=r"needs a whole number for dim, got dim='256' \(str\)"):
        WordLlamaEmbedder(dim="256")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
