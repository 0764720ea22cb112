"""The bar of long work: on standard error, if that is a terminal, after a while."""

from __future__ import annotations

import sys
from io import StringIO

import pytest

from priompt_py.cli import progress
from priompt_py.cli.progress import progress_bar


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_no_bar_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_bar("levels") as tell:
            assert tell is None


def test_a_bar_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    with progress_bar("levels") as tell:
        assert tell is not None
        tell(1, 10)
        assert seen.getvalue() == ""
        now[0] = 1.0
        tell(5, 10)
        assert "levels" in seen.getvalue()
    assert seen.getvalue().endswith("\x1b[2K")  # the line is cleared
