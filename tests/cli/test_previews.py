"""`priompt preview`, `explain`, `curve`, `diff` and `render --source-map`: what they write, and their mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import Priompt
from tests.cli.test_main import PROGRAM, environment

CHAT = """\
from priompt_py import *

fired = []

def chat(turns=6, hint="a hint"):
    return [
        system_message["Answer briefly. \\x1b[2J"],
        [scope(p=10 + i, name=f"turn {i}")[user_message[f"turn {i} says something"]] for i in range(turns)],
        user_message["Why? ", scope(p=5, name="hint", on_include=lambda: fired.append(1))[hint]],
        isolate(token_limit=12, key="notes")[user_message["x", scope(p=3, name="note")["a note that is long"]]],
        empty(tokens=20),
    ]

chat.token_limit = 110

def shares():
    return ["abc ", at_most(token_limit="50%")[scope(p=1, name="half")["some more words"]]]

async def waits():
    return ["waited ", scope(p=1)["for it"], empty(tokens=reserve)]

async def reserve(count):
    return count("some words")

@component
def gives_async(children):
    return waits()

def holds_async():
    return ["a ", gives_async()]

def empty_prompt():
    return []

def fails():
    raise ValueError("no \\x1b")
"""

LABELS = "(its labels are hint, note, notes, turn 0, turn 1, turn 2, turn 3, turn 4, turn 5)"


@pytest.fixture
def chat(folder: Path) -> Path:
    (folder / "chat.py").write_text(CHAT, "utf-8")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        "preview chat.py:chat",
        "preview chat.py:chat --plain --limit 70",
        "preview chat.py:chat --limit 70 --lines 1",
        "preview chat.py:chat --limit 70 --full --set turns=1",
        "preview chat.py:waits --limit 9",
        "preview chat.py:holds_async --limit 9 --plain",
        "preview chat.py:empty_prompt --limit 9",
        "explain chat.py:chat",
        "explain chat.py:chat --plain --limit 70",
        "explain chat.py:waits --limit 9",
        "explain chat.py:chat --why hint",
        "explain chat.py:chat --why note --limit 300",
        "explain chat.py:shares --why half --limit 7",
        "curve chat.py:chat",
        "curve chat.py:chat --plain --limit 3",
        "curve chat.py:empty_prompt --limit 3 --plain",
        "curve chat.py:waits --plain",
        "diff chat.py:chat --set-b turns=7",
        "diff chat.py:chat --limit-b 70 --plain",
        "diff chat.py:chat chat.py:waits --limit 110",
        "diff chat.py:chat chat.py:chat",
    ],
)
def test_screens(chat: Path, priompt: Priompt, arguments: str, snapshot: SnapshotAssertion) -> None:
    done = priompt(*arguments.split())
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert done.out == snapshot


def test_no_columns_are_unknown_columns(
    chat: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in ("preview chat.py:chat --limit 90", "explain chat.py:chat", "curve chat.py:chat"):
        wide = priompt(*arguments.split()).out
        monkeypatch.setenv("COLUMNS", "0")
        assert priompt(*arguments.split()).out == wide
        monkeypatch.setenv("COLUMNS", "80")


def test_why_under_a_limit_that_the_prompt_does_not_fit(folder: Path, priompt: Priompt) -> None:
    (folder / "tree.json").write_text(
        '["one two", {"type": "scope", "p": 5, "name": "more", "children": [" three"]}]'
    )
    assert priompt("explain", "tree.json", "--limit", "1", "--why", "more").out == (
        "more (root > 1:scope[name=more])\n"
        "  under the limit of 1: out, since the prompt doesn't fit; priority 5; 1 token\n"
        "  it comes in at a limit of 3, 2 more than now\n"
    )


NAMED = """
from priompt_py import first, scope, user_message

def named():
    names = ["a\\nb\\tc \\u202e"]
    return [
        [scope(p=2, name=name)[user_message(key=name)["x"]] for name in names],
        user_message[first(name="f\\n")[scope(p=5)["long " * 20], scope(p=9)["y"]]],
    ]
"""


def test_a_name_stays_in_its_line(folder: Path, priompt: Priompt) -> None:
    """A name may be anybody's text: it can't look like a row of the table, and a plain screen is ASCII around it."""
    (folder / "named.py").write_text(NAMED, "utf-8")
    table = (
        "priority       tokens   total  element\n"
        "required  in       25       7  root > 1:user\n"
        "required  in       21       7  f\\n (root > 1:user > 0:first[name=f\\n])\n"
        "       9  out       1       8  ...name=f\\n] > 1:scope  another alternative is in\n"
        "       5  in       21      28  root > 1:user > 0:first[name=f\\n] > 0:scope\n"
        f"-------- cutoff 5, limit 30 {'-' * 52}\n"
        "       2  out       5      33  a\\nb\\tc \\u202e (root > 0:sco...  below the cutoff\n"
        "       2  out       5      33  a\\nb\\tc \\u202e (root...  what is around it is out\n"
    )
    assert priompt("explain", "named.py:named", "--limit", "30", "--plain") == (0, table, "")
    why = priompt("explain", "named.py:named", "--limit", "30", "--why", "a\nb\tc \u202e").out
    assert [line for line in why.split("\n") if line and not line.startswith("  ")] == [
        "a\\nb\\tc \\u202e (root > 0:scope[name=a\\nb\\tc \\u202e])",
        "a\\nb\\tc \\u202e (root > 0:scope[name=a\\nb\\tc \\u202e] > 0:user[key=a\\nb\\tc \\u202e])",
    ]
    preview = priompt("preview", "named.py:named", "--limit", "40", "--plain").out
    assert "-- user, a\\nb\\tc \\u202e ---" in preview
    assert preview.isascii()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("preview chat.py:waits", 2, "chat.py:waits: no token limit: give --limit N, or the prompt a token_limit of its own"),
        ("preview chat.py:chat --lines few", 2, "priompt: --lines needs a whole number of lines, 0 or more, got 'few'"),
        ("preview chat.py:chat --lines 3 --full", 2, "priompt: --full shows all lines: leave out --lines"),
        ("preview - --watch --limit 3", 2, "priompt: --watch needs files: standard input can be read only once"),
        ("preview chat.py:chat --watch --props -", 2, "priompt: --watch needs files: standard input can be read only once"),
        ("preview chat.py:fails --limit 3", 3, "chat.py:36: ValueError: no \\u001b"),
        ("explain chat.py:chat --why hnt", 2, f"chat.py:chat: no element has the label or path 'hnt'; did you mean hint? {LABELS}"),
        ("curve chat.py:shares", 2, "chat.py:shares: no token limit: give --limit N, or the prompt a token_limit of its own"),
        ("curve chat.py:chat -o curve.pdf", 2, "priompt: -o needs a file that ends in .csv, .png, .svg, got 'curve.pdf'"),
        ("diff chat.py:chat", 2, "priompt: needs a second source, or --props-b, --set-b or --limit-b to tell two renders of A apart"),
    ],
)  # fmt: skip
def test_mistakes(chat: Path, priompt: Priompt, arguments: str, code: int, message: str) -> None:
    assert priompt(*arguments.split()) == (code, "", f"{message}\n")


def test_what_does_not_fit(chat: Path, priompt: Priompt) -> None:
    for command in ("preview", "explain"):
        done = priompt(command, "chat.py:chat", "--limit", "3")
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("chat.py:chat: the prompt needs ")


def test_previews_fire_no_callbacks(chat: Path, priompt: Priompt) -> None:
    for command in ("preview", "explain", "curve"):
        assert priompt(command, "chat:chat").code == 0
    assert priompt("diff", "chat:chat", "--limit-b", "90").code == 0
    assert sys.modules["chat"].fired == []
    assert priompt("render", "chat:chat").code == 0
    assert sys.modules["chat"].fired == [1]


def test_curves_as_files(chat: Path, priompt: Priompt, snapshot: SnapshotAssertion) -> None:
    from PIL import Image

    for name in ("curve.csv", "curve.SVG", "curve.png"):
        assert priompt("curve", "chat.py:chat", "-o", name) == (0, "", "")
    assert (chat / "curve.csv").read_bytes().startswith(b"level,tokens,reserved\r\n1000000000,51,20\r\n15,")
    assert (chat / "curve.SVG").read_text("utf-8") == snapshot
    picture = Image.open(BytesIO((chat / "curve.png").read_bytes()))
    assert (picture.format, picture.size) == ("PNG", (800, 450))
    assert priompt("curve", "chat.py:waits", "-o", "free.svg").code == 0
    assert "limit" not in (chat / "free.svg").read_text("utf-8")


def test_a_png_without_pillow(chat: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    message = "priompt: a PNG needs Pillow: pip install 'priompt-py[plot]'; SVG and CSV need nothing\n"
    assert priompt("curve", "chat.py:chat", "-o", "curve.png") == (2, "", message)
    assert not (chat / "curve.png").exists()


def test_source_maps_as_files(chat: Path, priompt: Priompt) -> None:
    done = priompt("render", "chat.py:chat", "--format", "text", "--source-map", "map.json")
    assert (done.code, done.err) == (0, "")
    written = json.loads((chat / "map.json").read_text("utf-8"))
    assert written["text"] == done.out
    (hint,) = [span for span in written["spans"] if span.get("label") == "hint"]
    assert done.out[hint["start"] : hint["end"]] == "a hint"
    assert written["spans"][hint["parent"]]["path"] == "root > 7:user"
    (chat / "map.json").write_text("old", "utf-8")
    assert priompt("render", "chat.py:chat", "--limit", "3", "--source-map", "map.json").code == 1
    assert (chat / "map.json").read_text("utf-8") == "old"


# ------------------------------------------------------------------------------------------ real processes


def run(cwd: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments], cwd=cwd, capture_output=True, env=environment(more), timeout=120, check=False
    )


def test_colours_are_for_terminals(chat: Path) -> None:
    pty = pytest.importorskip("pty")
    arguments = [*PROGRAM, "preview", "chat.py:chat"]

    def seen(*more: str, **variables: str) -> bytes:
        leader, follower = pty.openpty()
        env = environment({"TERM": "xterm-256color", "COLUMNS": "60", **variables})
        try:
            subprocess.run([*arguments, *more], cwd=chat, stdout=follower, env=env, timeout=120, check=True)
            os.set_blocking(leader, False)
            return os.read(leader, 1 << 20)
        finally:
            os.close(leader)
            os.close(follower)

    coloured = seen()
    assert b"\x1b[38;5;" in coloured
    assert b"\x1b[2J" not in coloured  # that is the prompt's
    assert b"\\u001b[2J" in coloured
    assert b"\x1b[38;5;" not in seen(NO_COLOR="1")
    assert b"\x1b" not in seen("--plain")
    assert max(len(line.decode()) for line in seen("--plain").splitlines()) <= 60
    assert b"\x1b" not in run(chat, "preview", "chat.py:chat", TERM="xterm-256color").stdout


def test_a_reader_that_goes_ends_it_quietly(chat: Path) -> None:
    (chat / "long.py").write_text("def prompt():\n    return ['line of text\\n' * 20_000]\n", "utf-8")
    with subprocess.Popen(
        [*PROGRAM, "preview", "long.py:prompt", "--limit", "1000000", "--full"],
        cwd=chat,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(100)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0
