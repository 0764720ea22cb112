"""How much commands read: devices and pipes may have no end."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from priompt_py.cli import files
from priompt_py.cli.files import read_text
from tests.cli.conftest import Priompt

MOST = 3 * 1024 * 1024
TOO_LONG = "has more than 3 MiB, which is the most that is read\n"


@pytest.fixture(autouse=True)
def _bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", MOST)


@pytest.mark.parametrize("size", [0, 1, 1024**2 - 1, 1024**2, 1024**2 + 1, MOST])
def test_what_is_read_whole(folder: Path, priompt: Priompt, size: int) -> None:
    (folder / "a.txt").write_text("a" * size, "utf-8")
    assert read_text("a.txt") == "a" * size
    assert priompt("count", "-", stdin=b"a b " * (size // 4)).code == 0


def test_too_large(folder: Path, priompt: Priompt) -> None:
    (folder / "a.txt").write_text("a" * (MOST + 1), "utf-8")
    assert priompt("count", "a.txt") == (2, "", f"a.txt: {TOO_LONG}")
    assert priompt("count", "-", stdin=b"a" * (MOST + 1)) == (2, "", f"<stdin>: {TOO_LONG}")


def test_a_large_file_is_not_read_first(folder: Path, priompt: Priompt) -> None:
    with (folder / "sparse.json").open("wb") as stream:
        stream.truncate(1024**4)
    assert priompt("prune", "sparse.json") == (2, "", f"sparse.json: {TOO_LONG}")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
@pytest.mark.parametrize("command", ["prune", "context", "count"])
def test_a_device_without_an_end(priompt: Priompt, command: str) -> None:
    assert priompt(command, "/dev/zero") == (2, "", f"/dev/zero: {TOO_LONG}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read(folder: Path, priompt: Priompt) -> None:
    """As ``<(command)`` of a shell is one."""
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_text, args=("one two", "utf-8"))
    writer.start()
    assert priompt("count", "pipe") == (0, "2\n", "")
    writer.join()
