"""Which base and which embedder the options of `priompt kb` mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from priompt_py.cli import kb_base
from tests.cli.conftest import Priompt


@pytest.fixture(autouse=True)
def _clean(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRIOMPT_KB", "PRIOMPT_EMBEDDER", "PRIOMPT_EMBEDDER_KEY"):
        monkeypatch.delenv(name, raising=False)
    (folder / "a.txt").write_text("refunds", "utf-8")


def test_no_base_is_made_for_vectors_that_nobody_can_give(
    folder: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> None:
        return None

    monkeypatch.setattr(kb_base, "find_spec", missing)
    assert priompt("kb", "add", "a.txt", "--embedder", "wordllama") == (
        2,
        "",
        "priompt: --embedder wordllama: it needs a package: pip install 'priompt-py[embeddings]'\n",
    )
    assert not (folder / "knowledge.db").exists()
    assert priompt("kb", "add", "a.txt").code == 0
