"""How programs that ask find the server that shows their questions: a file in a folder that only its user can read."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import attrs

from priompt_py.errors import RunError

__all__ = ["VARIABLE", "Announcement", "announce", "announced", "find_server", "folder_of_announcements"]

VARIABLE = "PRIOMPT_LIVE"
"""The environment variable with the address of the server, token included; set and empty, none is looked for."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_MOST_BYTES = 4_096


@attrs.frozen
class Announcement:
    """A server that shows questions: where it is, the token that it asks for, the folder that it was started in."""

    url: str
    token: str = attrs.field(repr=False)
    pid: int
    folder: str
    started: float

    @property
    def place(self) -> tuple[str, int, str]:
        """Host, port and the path before ``api/``. Raises RunError for what isn't on this machine."""
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise RunError(f"questions are shown at an address with a port, got {self.url!r}") from None
        if parts.scheme != "http" or host not in _LOOPBACK:
            raise RunError(f"questions are only shown by servers on this machine, got {self.url!r}")
        return host, port or 80, parts.path.rstrip("/")


def folder_of_announcements() -> Path:
    """The folder; it need not be there."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or (
        os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None
    )
    if runtime:
        return Path(runtime) / "priompt"
    return Path(tempfile.gettempdir()) / f"priompt-{os.getuid() if hasattr(os, 'getuid') else 'live'}"


def announce(found: Announcement) -> Path:
    """Write the file of a server, readable for its user alone; the server removes it. Raises OSError."""
    folder = folder_of_announcements()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_private(folder):
        raise PermissionError(f"{folder} is not this user's alone")
    for one, path in _files(folder):
        if one is None or not _runs(one.pid):
            with contextlib.suppress(OSError):
                path.unlink()
    path = folder / f"serve-{found.pid}-{urlsplit(found.url).port}.json"
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(attrs.asdict(found), stream)
    return path


def announced() -> list[Announcement]:
    """The servers of this user that run, the newest first."""
    folder = folder_of_announcements()
    if not _is_private(folder):
        return []
    found = [one for one, _ in _files(folder) if one is not None and _runs(one.pid)]
    return sorted(found, key=_started, reverse=True)


def find_server(*, after: Collection[str] = ()) -> Announcement | None:
    """The server that shows the questions of this program: that of the environment, else the newest that was started
    in this folder or one around it, else the newest. Those at the addresses ``after`` come after all others. Raises
    RunError for an address that can't be used."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return _of_address(named) if named else None
    there = sorted(announced(), key=lambda one: one.url in after)
    here = Path.cwd()
    near = [one for one in there if here.is_relative_to(one.folder)]
    best = [one for one in near if one.url not in after]
    return next(iter(best or there), None)


def _of_address(address: str) -> Announcement:
    url, _, fragment = address.partition("#")
    name, _, token = fragment.partition("=")
    if name != "token" or not token:
        raise RunError(f"{VARIABLE} needs the address that priompt serve printed, with #token=…, got {url!r}")
    found = Announcement(url, token, 0, "", 0.0)
    _ = found.place
    return found


def _started(one: Announcement) -> float:
    return one.started


def _files(folder: Path) -> Iterator[tuple[Announcement | None, Path]]:
    for path in sorted(folder.glob("serve-*.json")):
        yield _read(path), path


def _read(path: Path) -> Announcement | None:
    """What a file says; None where it is nobody's of ours."""
    try:
        if not _is_private(path):
            return None
        data: Any = json.loads(path.read_bytes()[:_MOST_BYTES])
        fields = cast("dict[str, Any]", data)
        found = Announcement(
            str(fields["url"]),
            str(fields["token"]),
            int(fields["pid"]),
            str(fields["folder"]),
            float(fields["started"]),
        )
        _ = found.place
    except (OSError, ValueError, TypeError, KeyError, RunError):
        return None
    return found


def _is_private(path: Path) -> bool:
    """Whether a file or folder is this user's, and nobody else can read or change it; no link."""
    try:
        found = path.lstat()
    except OSError:
        return False
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return False
    if not hasattr(os, "getuid"):  # Windows: below the user's own folder
        return True
    return found.st_uid == os.getuid() and not found.st_mode & 0o077


def _runs(pid: int) -> bool:
    """Whether a process is there."""
    if sys.platform == "win32":  # os.kill would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
