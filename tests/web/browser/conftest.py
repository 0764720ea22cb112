"""One server and one Chromium for all tests of the page; each test has pages of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from priompt_py.preview.dumps import write_dump
from tests.web.asking import Running
from tests.web.browser.site import CHROMIUM, Site

SHOWN = Path(__file__).with_name("shown.py")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # CI is root, for whom Chromium has no sandbox; what it opens is ours.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(SHOWN, folder / "shown.py")
    write_dump(folder / "dumps", "support", '{"question": "Where is it?", "turns": 2}')
    write_dump(folder / "dumps", "support", '{"question": "Who are you?", "name": "Zoë"}')
    server = Running(folder, "--module", "shown.py", "--timeout", "60")
    yield server
    assert server.stop()[0] == 0


@pytest.fixture
def site(chromium: Browser, server: Running) -> Iterator[Site]:
    """The site; what its pages complained of fails the test."""
    site = Site(chromium, server)
    yield site
    complaints = [text for tab in site.tabs for text in tab.complaints]
    hosts = {host for tab in site.tabs for host in tab.hosts}
    for context in site.contexts:
        context.close()
    assert complaints == []
    assert {host.partition(":")[0] for host in hosts} <= {"127.0.0.1", "data"}
