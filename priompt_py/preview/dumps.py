"""The folder of dumps: ``<folder>/<id>/dumps/<name>.json``, and the first one as ``<folder>/<id>/example01.json``.

Files are written whole or not at all: a temporary file takes its name when it is complete. Nothing is flushed to the
disk itself, which would take milliseconds of every run: after the death of a process its dumps are complete, after a
power cut a last one may be empty, which is refused when it is read.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import heapq
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

import attrs

from priompt_py.author.checks import got
from priompt_py.errors import SourceError
from priompt_py.model.strict_json import JsonFault, parse_json
from priompt_py.preview.names import LAST, is_id, is_name

__all__ = ["FIRST", "MOST_BYTES", "MOST_DUMPS", "Dump", "list_dumps", "read_dump", "write_dump"]

MOST_DUMPS = 2_000
"""Dumps that are kept of a prompt; older ones are removed."""

MOST_BYTES = 32 * 1024 * 1024
"""Of a dump, when it is written and when it is read."""

FIRST = "example01"
"""The name under which the first dump of a prompt is kept, however many follow."""

_SUFFIX = ".json"
_FOLDER = "dumps"
_OURS = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}-[0-9a-f]{8}\.json", re.ASCII)
_LENGTH = len("2024-05-01T10-00-00-123456-9f86d081.json")
_TEMPORARY = re.compile(r"\.[A-Za-z0-9._-]+\.tmp", re.ASCII)
_STALE = 3_600.0  # seconds: nobody writes a dump for an hour, so what is left was left by a process that died


@attrs.frozen
class Dump:
    """A file of props: ``name`` without its suffix, ``size`` in bytes, ``modified`` in seconds since 1970."""

    name: str
    path: Path
    size: int
    modified: float
    is_example: bool


# ------------------------------------------------------------------------------------------ writing


def write_dump(folder: Path, prompt_id: str, text: str) -> Path:
    """Write a dump under a new name, remove what is too old, and give its path.

    The first dump is written as an example too. Raises SourceError for a folder that leads elsewhere and text that is
    too long, OSError where it can't be written.
    """
    data = text.encode()
    if len(data) > MOST_BYTES:
        raise SourceError(f"a dump has at most {MOST_BYTES:,} bytes, this one {len(data):,}")
    own = _own_folder(folder, prompt_id, make=True)
    dumps = own / _FOLDER
    while True:
        target = dumps / f"{_new_name()}{_SUFFIX}"
        try:
            _place(target, data)
            break
        except FileExistsError:
            continue
    example = own / f"{FIRST}{_SUFFIX}"
    if not os.path.lexists(example):
        with contextlib.suppress(FileExistsError):  # another one is the first
            _place(example, data, shared=secrets.token_hex(4))
    _prune(dumps)
    return target


def _new_name() -> str:
    """A name that sorts by time: UTC to the microsecond, and chance."""
    now = dt.datetime.now(dt.UTC)
    return f"{now:%Y-%m-%dT%H-%M-%S-%f}-{secrets.token_hex(4)}"


def _place(target: Path, data: bytes, *, shared: str = "") -> None:
    """Write a file that isn't there yet, whole; raises FileExistsError if it is.

    Who holds the temporary file alone may make the target: its name follows from the target's, and it is made only if
    neither is there. Names that more than one writer may want are ``shared``, and get a link instead.
    """
    temporary = target.with_name(f".{target.stem}{shared}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if os.path.lexists(target):
            raise FileExistsError(target)
        if shared and _link(temporary, target):
            temporary.unlink()
        else:
            temporary.rename(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _link(source: Path, target: Path) -> bool:
    """Give a file a second name that isn't taken; False where the file system has no links."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        return False
    return True


def _prune(dumps: Path) -> None:
    """Remove the oldest dumps that are too many, and temporary files of processes that died.

    Several at a time remove no more than one would: each removes the oldest of what it found. Files with other names
    than ours are somebody's, and stay.
    """
    names = os.listdir(dumps)  # noqa: PTH208 - names alone: these lines are met by 2,000 of them at each run
    if len(names) > MOST_DUMPS:
        likely = [name for name in names if len(name) == _LENGTH and name[0] == "2"]
        for name in heapq.nsmallest(len(likely) - MOST_DUMPS, likely):
            if _OURS.fullmatch(name):  # asked of the few: it would take longer than the listing
                with contextlib.suppress(OSError):
                    (dumps / name).unlink()
    for name in names:
        if name[0] == "." and _TEMPORARY.fullmatch(name):
            with contextlib.suppress(OSError):
                if time.time() - (dumps / name).lstat().st_mtime > _STALE:
                    (dumps / name).unlink()


def _own_folder(folder: Path, prompt_id: str, *, make: bool) -> Path:
    """The folder of a prompt, which lies inside ``folder`` in truth, links resolved. Raises SourceError."""
    if not is_id(prompt_id):
        raise SourceError(f"no prompt can have the id {got(prompt_id)}")
    own = folder / prompt_id
    if make:
        (own / _FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
    for inner in (own, own / _FOLDER):
        inside = os.path.join(os.path.realpath(folder), inner.relative_to(folder))  # noqa: PTH118 - as realpath
        if os.path.lexists(inner) and os.path.realpath(inner) != inside:
            raise SourceError(f"{inner} leads out of the folder of dumps")
    return own


# ------------------------------------------------------------------------------------------ reading


def list_dumps(folder: Path, prompt_id: str) -> list[Dump]:
    """The examples of a prompt by name, then its dumps, the newest first; none where there is no folder.

    Files that :func:`read_dump` would refuse by their name or kind are not listed. Raises SourceError for an id that
    can't be one, and for a folder that leads elsewhere.
    """
    own = _own_folder(folder, prompt_id, make=False)
    examples = sorted(_files(own, is_example=True), key=lambda dump: dump.name)
    return [
        *examples,
        *sorted(_files(own / _FOLDER, is_example=False), key=lambda dump: dump.name, reverse=True),
    ]


def _files(folder: Path, *, is_example: bool) -> Iterator[Dump]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise SourceError(f"{folder}: can't be read: {error.strerror}") from None
    for entry in entries:
        name = entry.name.removesuffix(_SUFFIX)
        if name != entry.name and is_name(name):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    yield Dump(name, Path(entry.path), found.st_size, found.st_mtime, is_example)


def read_dump(folder: Path, prompt_id: str, name: str) -> dict[str, Any]:
    """The props of a dump or example in their JSON form, by its name; ``last`` is the newest dump.

    An example goes before a dump of its name. Raises SourceError for what isn't there, and for files that can't be
    dumps: links, pipes, too large ones, what is no JSON object, JSON with NaN or repeated names.
    """
    own = _own_folder(folder, prompt_id, make=False)
    if not is_name(name):
        raise SourceError(f"no dump can have the name {got(name)}")
    if name == LAST:
        dumps = [dump for dump in list_dumps(folder, prompt_id) if not dump.is_example]
        if not dumps:
            raise SourceError(f"there is no dump of {prompt_id} in {folder}")
        name = dumps[0].name
    for inner in (own, own / _FOLDER):
        path = inner / f"{name}{_SUFFIX}"
        if os.path.lexists(path):
            return _read(path)
    names = [dump.name for dump in list_dumps(folder, prompt_id)]
    raise SourceError(f"there is no example or dump {name!r} of {prompt_id} in {folder}{_known(names)}")


def _known(names: list[str]) -> str:
    if not names:
        return "; there are none"
    more = f", and {len(names) - 5} more" if len(names) > 5 else ""
    return f"; there are {', '.join(names[:5])}{more}"


def _read(path: Path) -> dict[str, Any]:
    def refuse(problem: str) -> NoReturn:
        raise SourceError(f"{path}: {problem}")

    # A pipe would wait for a writer without O_NONBLOCK; a link is not opened at all.
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        if path.is_symlink():
            refuse("is a link, not a dump")
        handle = os.open(path, flags)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                refuse("is no regular file")
            with os.fdopen(handle, "rb", closefd=False) as stream:
                data = stream.read(MOST_BYTES + 1)
        finally:
            os.close(handle)
    except OSError as error:
        refuse(f"can't be read: {error.strerror}")
    if len(data) > MOST_BYTES:
        refuse(f"has more than {MOST_BYTES:,} bytes")
    try:
        loaded = parse_json(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        refuse(f"not UTF-8: byte 0x{data[error.start]:02X} at offset {error.start}")
    except JsonFault as error:
        refuse(f"not JSON: {error}")
    except RecursionError:
        refuse("not JSON: nested too deeply")
    if not isinstance(loaded, dict):
        refuse(f"props are an object with a name for each value, got {got(loaded)}")
    return cast("dict[str, Any]", loaded)
