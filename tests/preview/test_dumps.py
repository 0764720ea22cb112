"""The folder of dumps: what is written, kept, listed and refused."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from priompt_py.errors import SourceError
from priompt_py.preview import dumps
from priompt_py.preview.dumps import list_dumps, read_dump, write_dump
from priompt_py.preview.names import is_id, is_name

ROOT = Path(__file__).parents[2]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------------------------------ writing


def test_the_first_dump_is_an_example_too(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    first = write_dump(folder, "chat", '{"q": "é"}\n')
    second = write_dump(folder, "chat", '{"q": 2}\n')
    own = folder / "chat"
    assert names(own) == ["dumps", "example01.json"]
    assert names(own / "dumps") == [first.name, second.name]
    assert first.read_bytes() == (own / "example01.json").read_bytes() == b'{"q": "\xc3\xa9"}\n'
    (own / "example01.json").write_text("{}", "utf-8")
    assert first.read_bytes() == b'{"q": "\xc3\xa9"}\n'  # another file, which people edit
    for path in (first, own / "example01.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((own / "dumps").stat().st_mode) == 0o700
    found = list_dumps(folder, "chat")
    assert [(dump.name, dump.is_example, dump.size) for dump in found] == [
        ("example01", True, 2),
        (second.stem, False, 9),
        (first.stem, False, 12),
    ]
    assert all(is_name(dump.name) and time.time() - dump.modified < 60 for dump in found)
    assert read_dump(folder, "chat", "last") == read_dump(folder, "chat", second.stem) == {"q": 2}
    assert read_dump(folder, "chat", "example01") == {}


def test_the_oldest_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dumps.MOST_DUMPS == 2_000
    monkeypatch.setattr(dumps, "MOST_DUMPS", 3)
    own = tmp_path / "chat" / "dumps"
    own.mkdir(parents=True)
    (own / f"{'2'.ljust(dumps._LENGTH - 5, '-')}.json").write_text("{}", "utf-8")
    made = [write_dump(tmp_path, "chat", "{}") for _ in range(3)]
    (own / "mine.json").write_text("{}", "utf-8")
    (own / ".old.tmp").write_text("", "utf-8")
    (own / ".new.tmp").write_text("", "utf-8")
    os.utime(own / ".old.tmp", (0, 0))
    made += [write_dump(tmp_path, "chat", "{}") for _ in range(2)]
    assert names(own)[:1] == [".new.tmp"]
    assert [name for name in names(own) if name.startswith("20")] == [path.name for path in made[2:]]
    assert len(names(own)) == 6
    assert names(tmp_path / "chat") == ["dumps", "example01.json"]


def test_names_that_are_taken_are_not_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter(["a", "a", "b", "b", "c"])
    monkeypatch.setattr(dumps, "_new_name", lambda: next(given))
    assert write_dump(tmp_path, "chat", "1").name == "a.json"
    assert write_dump(tmp_path, "chat", "2").name == "b.json"
    (tmp_path / "chat" / "dumps" / ".c.tmp").write_text("", "utf-8")  # somebody is writing it
    given = iter(["b", "c", "d"])
    assert write_dump(tmp_path, "chat", "3").name == "d.json"
    assert (tmp_path / "chat" / "dumps" / "a.json").read_text("utf-8") == "1"


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    write_dump(tmp_path, "chat", "1")
    write_dump(tmp_path, "chat", "2")
    assert (tmp_path / "chat" / "example01.json").read_text("utf-8") == "1"
    assert names(tmp_path / "chat") == ["dumps", "example01.json"]


def test_the_first_of_several_firsts_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dump(tmp_path, "chat", "1")
    exists = os.path.lexists

    def none_yet(path: Path) -> bool:
        return "example01" not in str(path) and exists(path)

    monkeypatch.setattr(os.path, "lexists", none_yet)
    write_dump(tmp_path, "chat", "2")
    assert (tmp_path / "chat" / "example01.json").read_text("utf-8") == "1"
    assert names(tmp_path / "chat") == ["dumps", "example01.json"]


def test_what_is_half_written_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dump(tmp_path, "chat", "1")
    before = names(tmp_path / "chat" / "dumps")

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="No space left"):
        write_dump(tmp_path, "chat", "2")
    assert names(tmp_path / "chat" / "dumps") == before


def test_a_dump_that_could_not_be_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "MOST_BYTES", 4)
    write_dump(tmp_path, "chat", '"é"')
    with pytest.raises(SourceError) as caught:
        write_dump(tmp_path, "chat", '"éa"')
    assert str(caught.value) == "a dump has at most 4 bytes, this one 5"


def test_many_threads(tmp_path: Path) -> None:
    seen: set[str] = set()
    lock = threading.Lock()

    def work(thread: int) -> None:
        for i in range(100):
            path = write_dump(tmp_path, "chat", json.dumps({"thread": thread, "i": i}))
            with lock:
                seen.add(path.name)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for dump in list_dumps(tmp_path, "chat")[:20]:
            assert set(read_dump(tmp_path, "chat", dump.name)) == {"thread", "i"}
    for thread in threads:
        thread.join()
    assert len(seen) == 800
    assert sorted(seen) == names(tmp_path / "chat" / "dumps")
    assert names(tmp_path / "chat") == ["dumps", "example01.json"]
    written = {(one["thread"], one["i"]) for one in (read_dump(tmp_path, "chat", name[:-5]) for name in seen)}
    assert len(written) == 800


WRITER = """
import sys
from pathlib import Path
from priompt_py.preview import dumps
dumps.MOST_DUMPS = 50
text = '{"text": "' + "x" * int(sys.argv[2]) + '"}'
number = 0
while sys.argv[3] == "forever" or number < int(sys.argv[3]):
    number += 1
    dumps.write_dump(Path(sys.argv[1]), "chat", text)
    if number == 3:
        print("started", flush=True)
"""


def start_writer(folder: Path, size: int, times: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(folder), str(size), times]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def test_several_processes(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, 1_000, "60") for _ in range(3)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert len(names(tmp_path / "chat" / "dumps")) == 50
    assert all(
        len(read_dump(tmp_path, "chat", dump.name)["text"]) == 1_000 for dump in list_dumps(tmp_path, "chat")
    )


def test_a_process_that_is_killed_leaves_no_half_dump(tmp_path: Path) -> None:
    for _ in range(3):
        writer = start_writer(tmp_path, 3_000_000, "forever")
        assert writer.stdout is not None
        writer.stdout.readline()
        writer.kill()
        writer.communicate()
        for dump in list_dumps(tmp_path, "chat"):
            assert len(read_dump(tmp_path, "chat", dump.name)["text"]) == 3_000_000
    left = [name for name in names(tmp_path / "chat" / "dumps") if name.endswith(".tmp")]
    assert len(left) <= 3
    for name in left:
        os.utime(tmp_path / "chat" / "dumps" / name, (0, 0))
    write_dump(tmp_path, "chat", "{}")
    assert [name for name in names(tmp_path / "chat" / "dumps") if name.endswith(".tmp")] == []


# ------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    "wrong", ["", ".", "..", "../chat", "a/b", "a\\b", "con", "a.", "\u0430", "a" * 101, "a\0"]
)
def test_names_that_are_refused(tmp_path: Path, wrong: str) -> None:
    write_dump(tmp_path, "chat", "{}")
    assert not is_id(wrong)
    assert not is_name(wrong)
    for call in (
        lambda: read_dump(tmp_path, "chat", wrong),
        lambda: read_dump(tmp_path, wrong, "example01"),
        lambda: list_dumps(tmp_path, wrong),
        lambda: write_dump(tmp_path, wrong, "{}"),
    ):
        with pytest.raises(SourceError, match=r"^no (prompt can have the id|dump can have the name) "):
            call()
    assert names(tmp_path) == ["chat"]


def test_what_is_not_there(tmp_path: Path) -> None:
    assert list_dumps(tmp_path, "chat") == []
    with pytest.raises(SourceError) as caught:
        read_dump(tmp_path, "chat", "last")
    assert str(caught.value) == f"there is no dump of chat in {tmp_path}"
    with pytest.raises(SourceError) as caught:
        read_dump(tmp_path, "chat", "example02")
    assert (
        str(caught.value) == f"there is no example or dump 'example02' of chat in {tmp_path}; there are none"
    )
    for number in range(1, 8):
        (tmp_path / "chat").mkdir(exist_ok=True)
        (tmp_path / "chat" / f"e{number}.json").write_text("{}", "utf-8")
    with pytest.raises(SourceError) as caught:
        read_dump(tmp_path, "chat", "e9")
    assert str(caught.value) == (
        f"there is no example or dump 'e9' of chat in {tmp_path}; there are e1, e2, e3, e4, e5, and 2 more"
    )
    (tmp_path / "file").write_text("", "utf-8")
    assert list_dumps(tmp_path, "file") == []
    with pytest.raises(SourceError, match=r"/chat: can't be read: File name too long$"):
        list_dumps(tmp_path / ("a" * 300), "chat")


# ------------------------------------------------------------------------------------------ files that are no dumps


def too_large(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(dumps.MOST_BYTES + 1)


FILES: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.symlink_to(path.with_name("example01.json")), "is a link, not a dump"),
    (lambda path: path.symlink_to("/etc/passwd"), "is a link, not a dump"),
    (lambda path: path.symlink_to(path), "is a link, not a dump"),
    (os.mkfifo, "is no regular file"),
    (lambda path: path.mkdir(), "is no regular file"),
    (too_large, "has more than 33,554,432 bytes"),
    (lambda path: path.write_bytes(b""), "not JSON: there is nothing; JSON needs a value, {} say (line 1, column 1)"),
    (lambda path: path.write_bytes(b'{"a": 1\n,,}'), "not JSON: a name in double quotes is needed, got ',' (line 2, column 2)"),
    (lambda path: path.write_bytes(b'{"a": NaN}'), "not JSON: NaN is no JSON number (line 1, column 7)"),
    (lambda path: path.write_bytes(b'{"a": 1e999}'), "not JSON: 1e999 is too large a number"),
    (lambda path: path.write_bytes(b'{"a": {"b": 1, "c": 1, "b": 2}}'), "not JSON: the name 'b' stands twice in one object"),
    (lambda path: path.write_bytes(b'{"a": "\xe9"}'), "not UTF-8: byte 0xE9 at offset 7"),
    (lambda path: path.write_bytes(b"[]"), "props are an object with a name for each value, got [] (list)"),
    (lambda path: path.write_bytes(b"[" * 100_000), "not JSON: nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "problem"), FILES, ids=range(len(FILES)))
def test_files_that_are_refused(tmp_path: Path, make: Callable[[Path], object], problem: str) -> None:
    write_dump(tmp_path, "chat", '{"secret": 1}')
    path = tmp_path / "chat" / "odd.json"
    make(path)
    with pytest.raises(SourceError) as caught:
        read_dump(tmp_path, "chat", "odd")
    assert str(caught.value).startswith(f"{path}: {problem}")
    assert path.is_file() or "odd" not in [dump.name for dump in list_dumps(tmp_path, "chat")]


def test_a_dump_that_others_may_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dump(tmp_path, "chat", "{}")

    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(SourceError, match=r"example01\.json: can't be read: Permission denied$"):
        read_dump(tmp_path, "chat", "example01")


def test_a_mark_at_the_start_of_a_file(tmp_path: Path) -> None:
    write_dump(tmp_path, "chat", "{}")
    (tmp_path / "chat" / "example02.json").write_bytes(b'\xef\xbb\xbf{\r\n"q": "\xc3\xa9"}')
    assert read_dump(tmp_path, "chat", "example02") == {"q": "é"}


@pytest.mark.parametrize("inner", ["chat", "chat/dumps"])
def test_folders_that_lead_elsewhere(tmp_path: Path, inner: str) -> None:
    root = tmp_path / "root"
    outside = tmp_path / "outside"
    write_dump(outside, "chat", '{"secret": 1}')
    (root / inner).parent.mkdir(parents=True)
    (root / inner).symlink_to(outside / inner)
    for call in (
        lambda: write_dump(root, "chat", "{}"),
        lambda: list_dumps(root, "chat"),
        lambda: read_dump(root, "chat", "last"),
        lambda: read_dump(root, "chat", "example01"),
    ):
        with pytest.raises(SourceError) as caught:
            call()
        assert str(caught.value) == f"{root / inner} leads out of the folder of dumps"
    assert len(list_dumps(outside, "chat")) == 2
    link = tmp_path / "link"  # the folder itself may be one: it is the user's word
    link.symlink_to(outside)
    assert read_dump(link, "chat", "last") == {"secret": 1}
