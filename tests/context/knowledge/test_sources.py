"""Files, folders and attachments as documents to be added."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context import Attachment
from priompt_py.context.knowledge.sources import entries_of
from priompt_py.errors import ArgumentTypeError, ArgumentValueError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "docs/b.txt",
        "docs/a.md",
        "docs/sub/c.txt",
        "docs/.hidden",
        "docs/.git/config",
        "docs/node_modules/x.js",
        "docs/__pycache__/x.pyc",
        "out.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def listed(sources: Any, **options: Any) -> list[tuple[str, bool, bytes | str]]:
    found: list[tuple[str, bool, bytes | str]] = []
    for entry in entries_of(sources, **options):
        one = entry.attachment
        assert one.id == one.name
        content: bytes | str
        try:
            content = one.loader.read(one)
        except (OSError, ArgumentValueError) as error:
            content = type(error).__name__
        found.append((one.id, entry.from_folder, content))
    return found


def test_a_folder(folder: Path) -> None:
    expected = [
        ("docs/a.md", True, b"docs/a.md"),
        ("docs/b.txt", True, b"docs/b.txt"),
        ("docs/sub/c.txt", True, b"docs/sub/c.txt"),
    ]
    assert listed("docs") == listed("./docs/") == listed([Path("docs")]) == expected
    assert [one[0] for one in listed(".")] == ["out.txt", "docs/a.md", "docs/b.txt", "docs/sub/c.txt"]
    assert [one[0] for one in listed(str(folder / "docs" / "sub"))] == [str(folder / "docs/sub/c.txt")]
    real = [os.path.realpath("docs/b.txt"), os.path.realpath("out.txt")]
    assert [one[0] for one in listed(".", leave_out=real)] == ["docs/a.md", "docs/sub/c.txt"]


def test_files(folder: Path) -> None:
    assert listed(["docs/.hidden", "docs/../out.txt", "no.txt"]) == [
        ("docs/.hidden", False, b"docs/.hidden"),
        ("out.txt", False, b"out.txt"),
        ("no.txt", False, "FileNotFoundError"),
    ]


def test_links(folder: Path) -> None:
    (folder / "docs/in.txt").symlink_to("b.txt")
    (folder / "docs/out.txt").symlink_to("../out.txt")
    (folder / "docs/gone.txt").symlink_to("nowhere")
    (folder / "docs/loop").symlink_to("../docs")
    (folder / "link.txt").symlink_to("docs/a.md")
    os.mkfifo(folder / "docs/pipe")
    assert listed("docs") == [
        ("docs/a.md", True, b"docs/a.md"),
        ("docs/b.txt", True, b"docs/b.txt"),
        ("docs/in.txt", True, b"docs/b.txt"),
        ("docs/out.txt", True, "ArgumentValueError"),
        ("docs/sub/c.txt", True, b"docs/sub/c.txt"),
    ]
    assert listed("link.txt") == [("link.txt", False, b"docs/a.md")]


def test_a_folder_that_can_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    *_, last = entries_of("docs")
    assert (last.attachment.id, last.problem) == (
        "docs/sub",
        "the folder can't be read: Permission denied",
    )


def test_names_that_are_no_text(folder: Path) -> None:
    name = os.fsdecode(b"docs/\xff\xd0\xbf.txt")
    Path(name).write_text("odd")
    assert listed(name) == [("docs/\ufffdп.txt", False, b"odd")]
    assert ("docs/\ufffdп.txt", True, b"odd") in listed("docs")


def test_attachments_are_taken_as_they_are() -> None:
    one = Attachment("a", "a.txt", text="text")
    assert [entry.attachment for entry in entries_of(one)] == [one]
    assert [entry.attachment for entry in entries_of(iter([one, one]))] == [one, one]


@pytest.mark.parametrize(
    ("sources", "kind", "words"),
    [
        (7, ArgumentTypeError, "add() needs paths or attachments for sources, got 7 (int)"),
        ([None], ArgumentTypeError, "add() needs paths or attachments for sources, got None (NoneType)"),
        ([b"docs"], ArgumentTypeError, "add() needs paths or attachments for sources, got b'docs' (bytes)"),
        ("", ArgumentValueError, "add() needs the path of a file or folder, got ''"),
        ("a\0b", ArgumentValueError, "add() needs the path of a file or folder, got 'a\\x00b'"),
        (
            Attachment("i", "i.png", kind="image"),
            ArgumentValueError,
            "add() takes no images, got the image 'i.png'",
        ),
    ],
)
def test_wrong_sources(sources: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        list(entries_of(sources))
    assert str(caught.value) == words


def test_a_path_of_bytes() -> None:
    class Odd:
        def __fspath__(self) -> bytes:
            return b"docs"

    with pytest.raises(ArgumentTypeError, match="needs paths as text"):
        list(entries_of([Odd()]))  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
