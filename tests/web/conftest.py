"""Fixtures of the web preview: an app in this process, and `priompt serve` beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from priompt_py import Hub
from priompt_py.web import preview_app
from tests.web.asking import TOKEN, Page, Running


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of announcements for this test alone."""
    folder = tmp_path_factory.mktemp("runtime")
    folder.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("PRIOMPT_LIVE", raising=False)
    return folder


@pytest.fixture
def page() -> Callable[..., Page]:
    """Makes a page of an app that shows these prompts."""

    def make(hub: Hub | None = None, **options: Any) -> Page:
        given: dict[str, Any] = {"prompts": {}, "token": TOKEN, "timeout": 20, **options}
        return Page(preview_app(hub=hub or Hub(), **given))

    return make


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts `priompt serve` in the test's folder; it is ended with the test."""
    running: list[Running] = []

    def start(*arguments: str, **options: Any) -> Running:
        running.append(Running(tmp_path, *arguments, **options))
        return running[-1]

    yield start
    for one in running:
        try:
            one.stop()
        finally:
            one.process.kill()
