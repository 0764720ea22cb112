"""`priompt serve`: what is said before it serves. That it serves is tested in tests/web."""

from __future__ import annotations

import queue
import socket
import sys
from pathlib import Path

import pytest

from priompt_py.cli.serve import _ready
from tests.cli.conftest import Priompt

WRONG = [
    (("-",), "priompt: serve needs files: standard input can be read only once"),
    (("",), "priompt: SOURCE... needs names, got ''"),
    (("--port", "x"), "priompt: --port needs a whole number of a port, 0 or more, got 'x'"),
    (("--port", "65536"), "priompt: --port needs a number up to 65535, got 65536"),
    (("--timeout", "0"), "priompt: --timeout needs 1 second or more, got 0"),
    (("--timeout", "1.5"), "priompt: --timeout needs a whole number of seconds, 0 or more, got '1.5'"),
    (("--host", "nowhere.invalid"), None),
    *(
        (
            ("--allow-host", name),
            f"priompt: --allow-host needs a name as in preview.example:8443, got {name!r}",
        )
        for name in ("", "https://preview.example", "*.example", "preview.example/", ":80", "a b")
    ),
    (
        ("--prot", "1"),
        "priompt serve: no option --prot; did you mean --port or --host? (priompt serve --help tells more)",
    ),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[" ".join(arguments) for arguments, _ in WRONG])
def test_wrong_usage(priompt: Priompt, arguments: tuple[str, ...], said: str | None) -> None:
    done = priompt("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said is None or done.err == f"{said}\n"
    assert done.err.count("\n") == 1


def test_a_port_in_use(priompt: Priompt) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = priompt("serve", "--port", str(port))
    assert done == (
        2,
        "",
        f"priompt: port {port} of 127.0.0.1 is in use: give --port N, or --port 0 for a free one\n",
    )


def test_a_working_folder_that_is_gone(
    priompt: Priompt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = priompt("serve", "--port", "0")
    monkeypatch.chdir(tmp_path)
    assert done == (2, "", "priompt: the working folder is not there any more\n")


def test_without_the_extra(priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "priompt_py.web.serving", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = priompt("serve")
    assert done == (2, "", "priompt: the web preview needs uvicorn: pip install 'priompt-py[preview]'\n")


def test_the_page_is_opened(
    priompt: Priompt, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    opened: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    _ready("http://127.0.0.1:4180/#token=x", opens=True)
    out, err = capfd.readouterr()
    assert out == "http://127.0.0.1:4180/#token=x\n"
    assert opened.get(timeout=10) == "http://127.0.0.1:4180/#token=x"
    assert err.startswith("priompt: serving ")
    assert err.endswith("; Ctrl+C ends it\n")
