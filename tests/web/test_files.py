"""The page's files: those that are there, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from priompt_py.web import files
from priompt_py.web.files import static_file
from tests.web.asking import Page

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]

PATHS = [
    "../app.py",
    "..%2fapp.py",
    "..%252fapp.py",
    "%2e%2e/app.py",
    "....//app.py",
    "/etc/passwd",
    "//etc/passwd",
    "..\\app.py",
    "C:\\Windows\\win.ini",
    "static/../../app.py",
    "app.js/../../app.py",
    "app.js%00.py",
    "app.js/",
    "APP.JS",
    "app.js.",
    " app.js",
    "app.js%20",
    ".",
    "",
    "x" * 5_000,
    "file:///etc/passwd",
    "http://127.0.0.1/x",
    "con",
    "__init__.py",
]


@pytest.mark.parametrize("path", PATHS, ids=[path[:20] for path in PATHS])
async def test_nothing_else_is_served(page: Pages, path: str) -> None:
    one = page()
    answer = await one.send("GET", f"/static/{path}")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "there is nothing at this address"


async def test_what_is_there(page: Pages) -> None:
    one = page()
    whole = await one.send("GET", "/")
    assert whole.headers["content-type"] == "text/html; charset=utf-8"
    assert whole.headers["cache-control"] == "no-cache"
    again = await one.send("GET", "/", headers={"If-None-Match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    script = await one.send("GET", "/static/app.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert one.app.token not in whole.text


def test_files_in_folders_and_of_other_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.css").write_text("a{}", "utf-8")
    (tmp_path / "inner" / "a.py").write_text("a", "utf-8")
    (tmp_path / "inner" / ".a.css").write_text("a", "utf-8")
    monkeypatch.setattr(files, "_root", lambda: tmp_path)
    found = static_file("inner/a.css")
    assert found is not None
    assert (found.data, found.media_type) == (b"a{}", "text/css; charset=utf-8")
    for path in (
        "inner/a.py",
        "inner/.a.css",
        "inner",
        "inner/",
        "inner/../inner/a.css",
        "nowhere/a.css",
        "inner/a.css/a.css",
    ):
        assert static_file(path) is None, path
