"""Tools that read attached files, and files of a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context import Attachment, FileTools, FolderLoader, Message
from priompt_py.errors import ArgumentValueError

TEXT = "".join(f"line {n}\n" for n in range(1, 701))


class Bytes:
    def __init__(self, *data: bytes | Exception) -> None:
        self.data = list(data)

    def read(self, _: Attachment) -> bytes:
        one = self.data.pop(0)
        if isinstance(one, Exception):
            raise one
        return one


class Later:
    async def read(self, _: Attachment) -> bytes:
        return b"one\ntwo\n"


def tools(**texts: str) -> FileTools:
    return FileTools([Attachment(key, f"{key}.txt", text=text) for key, text in texts.items()])


def test_lines_come_with_their_numbers() -> None:
    assert tools(k="a\r\nb\nc").read_file("k") == "     1\ta\n     2\tb\n     3\tc"
    assert tools(k=TEXT).read_file("k", start=699) == "   699\tline 699\n   700\tline 700"
    assert tools(k="x\n").read_file("k", start=-5, lines=0) == "     1\tx"


@pytest.mark.parametrize(
    ("asked", "last"), [({}, 200), ({"lines": 500}, 500), ({"lines": 9_999}, 500), ({"start": 100}, 299)]
)
def test_how_many_lines(asked: dict[str, int], last: int) -> None:
    read = tools(k=TEXT).read_file("k", **asked).split("\n")
    first = asked.get("start", 1)
    assert read[-2] == f"{last:>6}\tline {last}"
    assert read[-1] == f"(lines {first} to {last} of 700; read on with start={last + 1})"


def test_long_lines_are_cut() -> None:
    line = tools(k="x" * 2_001).read_file("k")
    assert line == "     1\t" + "x" * 2_000 + "… (2,001 characters)"
    assert tools(k="x" * 2_000).read_file("k") == "     1\t" + "x" * 2_000
    found = tools(k="x" * 5_000 + "needle" + "y" * 5_000).search_file("k", "needle")
    assert "needle" in found
    assert found.startswith("     1\t…x")
    assert found.endswith("y… (10,006 characters)")
    at_the_end = tools(k="x" * 5_000 + "needle").search_file("k", "needle")
    assert at_the_end.endswith("xneedle")


def test_searching() -> None:
    one = tools(k=TEXT)
    assert one.search_file("k", "line 69", limit=3) == (
        "    69\tline 69\n   690\tline 690\n   691\tline 691\n(the first 3 lines that hold it; there are more)"
    )
    assert one.search_file("k", "line 700") == "   700\tline 700"
    assert one.search_file("k", "LINE 1") == "No line of the file's 700 holds 'LINE 1'."
    assert one.search_file("k", "") == "There is no text to look for."
    assert len(one.search_file("k", "line").split("\n")) == 11
    assert len(one.search_file("k", "line", limit=5_000).split("\n")) == 101


def test_what_is_asked_wrongly_is_answered() -> None:
    one = tools(a="x", b="y\n")
    assert one.read_file("c") == "There is no file 'c'. The keys are: a, b."
    assert (
        FileTools([]).search_file("c", "x")
        == "There is no file 'c'. The keys are: none, as no file is attached."
    )
    assert one.read_file("b", start=2) == "The file has 1 lines; there is no line 2."
    as_written: Any = one  # a model writes what it likes
    odd: tuple[Any, ...] = ("one", None, [], float("inf"), float("nan"))
    for start in odd:
        assert as_written.read_file("a", start) == "start and lines are whole numbers."
        assert as_written.read_file("a", 1, start) == "start and lines are whole numbers."
        assert as_written.search_file("a", "x", start) == "limit is a whole number."
    assert as_written.read_file("a", "1", 2.0) == "     1\tx"
    assert as_written.search_file("a", 5) == "text is the text to look for, in quotes."
    assert as_written.read_file(["a"]) == "There is no file \"['a']\". The keys are: a, b."


def test_a_file_that_fails_may_be_read_later() -> None:
    one = FileTools([Attachment("k", "k.txt", loader=Bytes(OSError("busy"), b"text"))])
    assert one.read_file("k") == "The file 'k.txt' could not be read: OSError: busy."
    assert one.read_file("k") == "     1\ttext"
    assert one.search_file("k", "ex") == "     1\ttext"  # and is read no more


def test_whose_files() -> None:
    message = Message(
        "m",
        "user",
        "Hi",
        attachments=[
            Attachment("a", "a", text="first"),
            Attachment("a", "a", text="second"),
            Attachment("i", "i.png", kind="image"),
        ],
    )
    one = FileTools([message])
    assert one.read_file("a") == "     1\tfirst"
    assert one.read_file("i") == "There is no file 'i'. The keys are: a."


def test_definitions() -> None:
    read, search = tools(k="a\nb\n").tools()
    assert (read.name, search.name) == ("read_file", "search_file")
    assert read.parameters["properties"] == {
        "key": {"type": "string", "description": "The FILE_KEY of the file."},
        "start": {"type": "integer", "description": "The first line to read, from 1.", "default": 1},
        "lines": {"type": "integer", "description": "How many lines to read, at most 500.", "default": 200},
    }
    assert search.parameters["required"] == ["key", "text"]
    assert read.on_call is not None
    assert read.on_call({"key": "k", "start": 2}) == "     2\tb"


@pytest.mark.anyio
async def test_async_definitions() -> None:
    read, search = FileTools([Attachment("k", "k", loader=Later())]).async_tools()
    assert (read.name, search.name) == ("read_file", "search_file")
    assert read.on_call is not None
    assert search.on_call is not None
    answer: Any = read.on_call({"key": "k"})
    assert await answer == "     1\tone\n     2\ttwo"
    answer = search.on_call({"key": "k", "text": "two"})
    assert await answer == "     2\ttwo"


# ------------------------------------------------------------------------------------------ folders


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "é.txt").write_bytes(b"inside")
    (tmp_path / "secret.txt").write_bytes(b"outside")
    loader = FolderLoader(tmp_path / "in", most_bytes=6)
    assert loader.read(Attachment("k", "é.txt")) == b"inside"
    assert loader.read(Attachment("k", "shown", path="é.txt")) == b"inside"
    for path in ("../secret.txt", str(tmp_path / "secret.txt"), "x/../../secret.txt"):
        with pytest.raises(ArgumentValueError, match="lies outside of the folder of attachments"):
            loader.read(Attachment("k", "k", path=path))
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ArgumentValueError, match="'link' lies outside of the folder of attachments"):
        loader.read(Attachment("k", "link"))
    (tmp_path / "in" / "long").write_bytes(b"seven b")
    with pytest.raises(ArgumentValueError, match="'long' has more than 6 bytes, which is the limit"):
        loader.read(Attachment("k", "long"))
    (tmp_path / "in" / "folder").mkdir()
    with pytest.raises(ArgumentValueError, match="'folder' is no file"):
        loader.read(Attachment("k", "folder"))
    with pytest.raises(FileNotFoundError):
        loader.read(Attachment("k", "nowhere"))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArgumentValueError, match="'pipe' is no file"):
        FolderLoader(tmp_path).read(Attachment("k", "pipe"))


def test_a_sparse_file_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(2_000_000_000)
    with pytest.raises(ArgumentValueError, match="'big' has more than 1 MB, which is the limit"):
        FolderLoader(tmp_path, most_bytes=1_000_000).read(Attachment("k", "big"))


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in ("loop", "loop/x", "a\0b"):
        with pytest.raises(ArgumentValueError) as caught:
            FolderLoader(tmp_path).read(Attachment("k", "k", path=path))
        assert str(caught.value) == f"{path!r} is no path that leads to a file"
