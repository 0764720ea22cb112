"""What can be brought into a knowledge base: files, folders and attachments."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, cast

import attrs

from priompt_py.author.checks import got, wrong_type, wrong_value
from priompt_py.context.folder import FolderLoader
from priompt_py.context.messages import Attachment

__all__ = ["LEFT_OUT", "Entry", "Source", "entries_of"]

Source: TypeAlias = "str | os.PathLike[str] | Attachment"
"""The path of a file or a folder, or an attachment with its text or a loader."""

LEFT_OUT = ("__pycache__", "node_modules")
"""Folders that are not looked into, beside those whose names begin with a dot."""


@attrs.frozen
class Entry:
    """A document to be added. ``from_folder``: it was not asked for by name, so that a format that can't be read is no
    failure. ``problem``: why there is nothing to read, known before."""

    attachment: Attachment
    from_folder: bool = False
    problem: str | None = None


def entries_of(sources: Source | Iterable[Source], *, leave_out: Collection[str] = ()) -> Iterator[Entry]:
    """The documents of sources, in order; a folder gives its files, by their paths' order, and those of its folders.

    A file's id and name are its path as it was given, tidied, with ``/`` between its parts: ``notes/plan.md``. Files and
    folders whose names begin with a dot, and those of ``LEFT_OUT``, are left out of a folder; links to folders are
    not followed, and links that lead out of the folder are failures. ``leave_out`` are the real
    paths of files that are never given.
    """
    if isinstance(sources, (str, os.PathLike, Attachment)):
        sources = (sources,)
    elif not isinstance(cast("object", sources), Iterable):
        raise wrong_type("sources", f"add() needs paths or attachments for sources, got {got(sources)}")
    for source in sources:
        if isinstance(source, Attachment):
            if source.kind == "image":
                raise wrong_value("sources", f"add() takes no images, got the image {source.name!r}")
            yield Entry(source)
        elif isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if not isinstance(cast("object", path), str):
                raise wrong_type("sources", f"add() needs paths as text, got {got(path)}")
            yield from _of_path(path, leave_out)
        else:
            raise wrong_type("sources", f"add() needs paths or attachments for sources, got {got(source)}")


def _of_path(path: str, leave_out: Collection[str]) -> Iterator[Entry]:
    if not path or "\0" in path:
        raise wrong_value("sources", f"add() needs the path of a file or folder, got {path!r}")
    name = _name(os.path.normpath(path))
    if Path(path).is_dir():
        yield from _of_folder(path, "" if name == "." else name.rstrip("/") + "/", leave_out)
        return
    real = Path(os.path.realpath(path))  # a link that is named is followed
    yield Entry(_document(name, FolderLoader(real.parent), real.name))


def _of_folder(folder: str, prefix: str, leave_out: Collection[str]) -> Iterator[Entry]:
    loader = FolderLoader(folder)
    problems: list[OSError] = []
    for where, folders, files in os.walk(folder, onerror=problems.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        inside = os.path.relpath(where, folder)
        for name in sorted(files):
            path = os.path.normpath(os.path.join(inside, name))  # noqa: PTH118 - Path has no normpath
            if name.startswith(".") or not (Path(folder) / path).is_file():  # no pipes, no broken links
                continue
            if os.path.realpath(os.path.join(folder, path)) not in leave_out:  # noqa: PTH118 - as above
                own = prefix + _name(path)
                yield Entry(_document(own, loader, path), from_folder=True)
    for problem in problems:
        name = prefix + _name(os.path.relpath(str(problem.filename), folder))
        yield Entry(Attachment(name, name), problem=f"the folder can't be read: {problem.strerror}")


@attrs.frozen
class _File:
    """Reads one file, whose name may be no text."""

    folder: FolderLoader
    path: str

    def read(self, _: Attachment, /) -> bytes:
        return self.folder.read_path(self.path)


def _document(name: str, folder: FolderLoader, path: str) -> Attachment:
    return Attachment(name, name, loader=_File(folder, path))


def _name(path: str) -> str:
    """A path as an id: the same on every system, and text, whatever bytes a file system holds."""
    return path.replace(os.sep, "/").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
