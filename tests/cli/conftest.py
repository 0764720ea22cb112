"""The command line in this process: `priompt("render", "tree.json")` in a folder of its own."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from priompt_py.cli.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Priompt(Protocol):
    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done: ...


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder; modules that are imported from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def priompt(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Priompt:
    """Runs the command line; what it writes is taken from the file descriptors."""

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="ascii"))
        path = list(sys.path)
        code = main(arguments)
        assert sys.path == path
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return run
