"""Which files a prompt is made from, and when one of them changes.

Files are looked at a few times a second: their time, size and number. That works on every file system, and needs no
service of the system. What Python opens is learnt by an audit hook, so that files that a prompt reads itself count too.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

__all__ = ["Recorder", "Snapshot", "forget_modules", "snapshot_of", "wait_for_change"]

Snapshot: TypeAlias = "dict[str, tuple[int, int, int] | None]"
"""Time of change (nanoseconds), size and number of each file; None for one that isn't there."""

STEP = 0.1
"""Seconds between two looks."""

SETTLED = 2
"""Looks in a row that have to agree: an editor may still be writing."""

_PACKAGE = Path(__file__).parents[1]
_OURS = (
    f"{_PACKAGE}{os.sep}",
    f"{_PACKAGE.parent / 'grammar'}{os.sep}",
)  # a checkout's grammars lie beside it


@attrs.define(eq=False)
class Recorder:
    """Learns which files are opened while ``recording`` is on; there is one for a process, since hooks stay.

    ``seen`` is how each file was when it was opened first; ``modules`` are the names of the modules that were imported
    meanwhile from files of the user's.
    """

    seen: Snapshot = attrs.field(factory=dict[str, "tuple[int, int, int] | None"])
    modules: set[str] = attrs.field(factory=set[str])
    _is_on: bool = False
    _is_hooked: bool = False

    @contextlib.contextmanager
    def recording(self) -> Generator[None]:
        """Start anew, and record until the end."""
        if not self._is_hooked:
            sys.addaudithook(self._hear)
            self._is_hooked = True
        self.seen, self.modules = {}, set()
        before = set(sys.modules)
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False
            for name in set(sys.modules) - before:
                file = getattr(sys.modules[name], "__file__", None)
                if isinstance(file, str) and _is_users(file):
                    self.modules.add(name)
                    self._see(file)

    def _hear(self, event: str, arguments: Sequence[object]) -> None:
        if event != "open" or not self._is_on:
            return
        file, mode = arguments[0], arguments[1]
        if isinstance(file, bytes):
            file = os.fsdecode(file)
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        if isinstance(file, str) and not writes and _is_users(file):
            self._see(file)

    def _see(self, file: str) -> None:
        name = str(Path(file).absolute())
        if name not in self.seen:
            self.seen[name] = _stamp(name)


def _is_users(file: str) -> bool:
    """Whether a file can be part of a prompt: it is not ours, not Python's, not a package's, and no device."""
    path = Path(file).absolute()
    if {"site-packages", "dist-packages", "__pycache__"} & set(path.parts):
        return False
    library = sysconfig.get_path("stdlib")
    return not str(path).startswith((*_OURS, library + os.sep, "/dev/", "/proc/", "/sys/"))


def forget_modules(names: Iterable[str]) -> None:
    """Let modules be imported anew the next time."""
    import importlib

    for name in names:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def snapshot_of(files: Iterable[str]) -> Snapshot:
    """What there is to see of files now."""
    return {file: _stamp(file) for file in files}


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        seen = Path(file).stat()
    except (OSError, ValueError):
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def wait_for_change(
    before: Snapshot,
    *,
    sleep: Callable[[float], object] = time.sleep,
    screen: Callable[[], object] = lambda: None,
) -> list[str]:
    """Wait until some of the files are no longer as they were, and no longer changing; gives their names, sorted. Where
    what ``screen`` gives is no longer the same (its width), that is a change of no file."""
    same = 0
    last = before
    drawn = screen()
    while True:
        sleep(STEP)
        if screen() != drawn:
            return []
        now = snapshot_of(before)
        same = same + 1 if now == last else 0
        last = now
        if now != before and same >= SETTLED - 1:
            return sorted(file for file in before if now[file] != before[file])
