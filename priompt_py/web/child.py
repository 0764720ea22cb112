"""The process in which the prompts' code runs: ``python -m priompt_py.web.child FACTORY ARGUMENT``.

FACTORY is ``module:function``; it gets ARGUMENT, parsed as JSON, and gives a Catalogue. Jobs come on standard input
and go out on standard output in frames; the prompts' code sees an empty standard input, and what it prints goes to
standard error. The process ends when its input does, whatever the code is doing; copies of it that code forks have
neither jobs nor answers.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from priompt_py.preview.watch import Recorder
from priompt_py.web.answers import failure
from priompt_py.web.bench import Bench, Missing
from priompt_py.web.frames import read_frame, write_frame

__all__ = ["main", "work"]

MOST_PRINTED = 10_000
"""Characters of what code printed during a job that are kept, the last ones."""


class Printed(io.TextIOBase):
    """A standard stream of the prompts' code: passes on, and keeps the end."""

    encoding = "utf-8"

    def __init__(self, onward: IO[str]) -> None:
        super().__init__()
        self._onward = onward
        self._kept: list[str] = []
        self._size = 0
        self._lock = threading.Lock()

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        with self._lock:
            self._kept.append(text)
            self._size += len(text)
            if self._size > 2 * MOST_PRINTED:
                self._kept = ["".join(self._kept)[-MOST_PRINTED:]]
                self._size = MOST_PRINTED
        with contextlib.suppress(OSError, ValueError):  # nobody reads the server's errors
            self._onward.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._onward.flush()

    def fileno(self) -> int:
        return self._onward.fileno()

    @property
    def buffer(self) -> Any:
        """Where bytes are written: they are passed on, and not kept."""
        return getattr(self._onward, "buffer")  # noqa: B009 - of text streams that have one

    def take(self) -> str:
        """What was printed since the last call."""
        with self._lock:
            text = "".join(self._kept)[-MOST_PRINTED:]
            self._kept, self._size = [], 0
        return text


def main(arguments: list[str]) -> None:
    """Work until standard input ends."""
    into = os.fdopen(os.dup(1), "wb")
    out_of = os.fdopen(os.dup(0), "rb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=partial(_part, out_of.fileno(), into.fileno()))
    printed = Printed(sys.stderr)
    sys.stdout = sys.stderr = printed
    sys.dont_write_bytecode = (
        True  # two versions of a file within a second would look alike to Python's cache
    )
    jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    # Code that hangs holds the main thread; the end of the input is met by this one.
    threading.Thread(target=_listen, args=(out_of, jobs), name="priompt_py jobs", daemon=True).start()
    work(arguments[0], json.loads(arguments[1]), jobs.get, into, printed)


def _part(*handles: int) -> None:
    """Take a forked process off the pipes: the server would wait for its end, and take its answers for others."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in handles:
        os.dup2(nowhere, handle, inheritable=False)
    os.close(nowhere)


def _listen(out_of: IO[bytes], jobs: queue.SimpleQueue[dict[str, Any]]) -> None:
    while True:
        frame = read_frame(out_of)
        if frame is None:
            if sys.platform != "win32" and os.getpgrp() == os.getpid():
                os.killpg(0, signal.SIGKILL)  # with what it has started
            os._exit(0)
        jobs.put(json.loads(frame[1]))


def work(
    factory: str, argument: Any, job: Callable[[], dict[str, Any]], into: IO[bytes], printed: Printed
) -> None:
    """Carry out jobs and write their answers, with the files that were opened for them first."""
    recorder = Recorder()
    own, home = os.getpid(), Path.cwd()
    streams = sys.stdout, sys.stderr
    bench: Bench | None = None
    files: dict[str, Any] = {}
    while True:
        asked = job()
        if asked.get("op") == "stop":
            return
        printed.take()
        head: dict[str, Any] = {"status": 200}
        body = b""
        with recorder.recording():
            try:
                if bench is None:
                    module, _, name = factory.partition(":")
                    bench = Bench(getattr(import_module(module), name)(argument))
                head["status"], body = bench.do(asked, printed.take)
            except Missing:
                head["missing"] = True
            except BaseException as error:  # noqa: BLE001 - sources that can't be loaded at all, sys.exit()
                head["status"], body = failure(error, printed=printed.take())
        if os.getpid() != own:  # the code forked, and came back here twice
            os._exit(0)
        with contextlib.suppress(OSError):  # the folder is gone
            os.chdir(home)
        sys.stdout, sys.stderr = streams
        new = {name: stamp for name, stamp in recorder.seen.items() if name not in files}
        files |= new
        head["files"] = new
        head["folders"] = _folders(bench)
        write_frame(into, json.dumps(head).encode(), body)


def _folders(bench: Bench | None) -> list[str]:
    try:
        return [] if bench is None else list(bench.catalogue.folders())
    except Exception:  # noqa: BLE001 - what is wrong with them is told where they are listed
        return []


if __name__ == "__main__":
    main(sys.argv[1:])
