"""What the tests of registered prompts share: a registry and a folder of dumps of their own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from priompt_py.preview import recording, registry

__all__ = ["dumps", "told"]


@pytest.fixture
def dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of dumps; prompts that are registered meanwhile are forgotten afterwards."""
    before = dict(registry._prompts)
    folder = tmp_path / "dumps"
    monkeypatch.setenv("PRIOMPT_DUMP", str(folder))
    monkeypatch.setattr(recording, "_told", set[tuple[str, str]]())
    yield folder
    registry._prompts.clear()
    registry._prompts.update(before)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What was said of dumps that weren't written."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert (record.name, record.levelname) == ("priompt_py.preview", "WARNING")
            found.append(record.getMessage())

    handler = Handler()
    logger = logging.getLogger("priompt_py.preview")
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)
