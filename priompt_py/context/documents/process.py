"""Our side of the child process: starts it, feeds it, takes no more from it than is allowed, and ends it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, TypeGuard, cast

import attrs

from priompt_py.context.documents.formats import megabytes
from priompt_py.context.documents.limits import DocumentLimits
from priompt_py.context.documents.refusals import Refused

__all__ = ["Extracted", "Stop", "extract"]

_CHILD = Path(__file__).with_name("child.py")
_KEPT = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")
_MOST_LINES = 1_000  # of events: 100 of progress and some
_LONGEST_LINE = 4_096
_GRACE = 0.5  # seconds from a child's last word to its end

Line: TypeAlias = "dict[str, Any] | bytes | None"


class Extracted(NamedTuple):
    """The text of a file, what it is, by which library, and how its bytes were decoded."""

    text: str
    kind: str
    library: str | None
    encoding: str | None
    guessed: bool


class Stop:
    """Says to :func:`extract`, from another thread, that nobody waits for it any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = False

    @property
    def asked(self) -> bool:
        return self._asked

    def ask(self) -> None:
        """End the process, or let it not begin."""
        with self._lock:
            self._asked = True
            if self._process is not None:
                self._process.kill()

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = process
            if self._asked:
                process.kill()


def extract(
    data: bytes,
    kind: str,
    *,
    limits: DocumentLimits,
    encoding: str | None = None,
    event: Callable[[str, float | None], None] | None = None,
    stop: Stop | None = None,
) -> Extracted:
    """The text of ``data``, which is of the format ``kind``, read in a process of its own.

    ``event`` is told in this thread: the library's name and None when it was loaded, the name and the progress in per
    cent from then on. Raises Refused.
    """
    deadline = time.monotonic() + limits.seconds
    process = _start()
    try:
        if stop is not None:
            stop.watch(process)
        lines: queue.SimpleQueue[Line] = queue.SimpleQueue()
        for work in (_feed, _drain):
            threading.Thread(
                target=work,
                args=(process, _request(kind, limits, encoding), data, lines, limits.text_bytes),
                name="priompt_py document",
                daemon=True,
            ).start()
        return _listen(process, lines, deadline, limits, event)
    finally:
        process.kill()
        process.wait()


def _start() -> subprocess.Popen[bytes]:
    if not sys.executable or getattr(sys, "frozen", False):  # a frozen program would start itself again
        raise Refused("library", "this program has no Python interpreter beside it that could read the file")
    try:
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-X", "utf8", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            cwd=_CHILD.parent,
        )
    except OSError as error:
        raise Refused("library", f"no process could be started to read it ({error.strerror})") from None


def _request(kind: str, limits: DocumentLimits, encoding: str | None) -> bytes:
    request = {
        "kind": kind,
        "limits": attrs.asdict(limits),
        "encoding": encoding,
        "path": [os.path.abspath(entry) for entry in sys.path],  # noqa: PTH100 - "" is the current folder
        "too_much_text": f"it holds more than {megabytes(limits.text_bytes)} of text, which is the limit",
        "too_much_memory": f"reading it takes more than {megabytes(limits.memory_bytes)} of memory",
    }
    return json.dumps(request).encode() + b"\n"


def _feed(process: subprocess.Popen[bytes], request: bytes, data: bytes, *_: Any) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):  # the child may have seen enough, or be gone
        process.stdin.write(request)
        process.stdin.write(data)
    with contextlib.suppress(OSError, ValueError):
        process.stdin.close()


def _drain(
    process: subprocess.Popen[bytes], _: bytes, __: bytes, lines: queue.SimpleQueue[Line], most: int
) -> None:
    """Put the child's lines into a queue, and at last its text, or None where there is none."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError), process.stdout as out:
        _take(out, lines, most)
    lines.put(None)


def _take(out: IO[bytes], lines: queue.SimpleQueue[Line], most: int) -> None:
    for _ in range(_MOST_LINES):
        line: object = json.loads(out.readline(_LONGEST_LINE))
        if not _is_line(line):
            return
        lines.put(line)
        if "text" in line:
            size = line["text"]
            if 0 <= size <= most:
                text = out.read(size)
                lines.put(text if len(text) == size else None)
            return
        if "refused" in line:
            return


def _is_line(line: object) -> TypeGuard[dict[str, Any]]:
    """Whether a line is one of those that the child writes: a file may have taken it over."""
    if not isinstance(line, dict):
        return False
    found = {key: type(value) for key, value in cast("dict[str, object]", line).items()}
    return any(
        found.keys() <= shape.keys() and all(found.get(key, type(None)) in shape[key] for key in shape)
        for shape in _SHAPES
    )


_MAYBE = (str, type(None))
_SHAPES: tuple[dict[str, tuple[type[Any], ...]], ...] = (
    {"loaded": _MAYBE, "kind": (str,)},
    {"progress": (int, float)},
    {"text": (int,), "encoding": _MAYBE, "guessed": (bool,)},
    {"refused": (str,), "message": (str,), "error": _MAYBE},
)


def _listen(
    process: subprocess.Popen[bytes],
    lines: queue.SimpleQueue[Line],
    deadline: float,
    limits: DocumentLimits,
    event: Callable[[str, float | None], None] | None,
) -> Extracted:
    library: str | None = None
    kind = ""
    result: dict[str, Any] | None = None
    while True:
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Refused("time", f"reading it takes longer than {limits.seconds:g} s") from None
        if line is None:
            raise _broken_off(process, limits)
        if isinstance(line, bytes):
            assert result is not None
            return Extracted(
                line.decode("utf-8", "replace"), kind, library, result["encoding"], result["guessed"]
            )
        if "refused" in line:
            message = line["message"] or f"it is damaged, or of another format: {line['error'].rstrip(' .')}"
            raise Refused(line["refused"], message)
        if "text" in line:
            result = line
        elif "loaded" in line:
            library, kind = line["loaded"], line["kind"]
            if event is not None and library is not None:
                event(library, None)
        elif event is not None and library is not None:
            event(library, line["progress"])


def _broken_off(process: subprocess.Popen[bytes], limits: DocumentLimits) -> Refused:
    """What it means that the child ended without a word: a library in machine code gave up, mostly for memory."""
    try:
        code = process.wait(_GRACE)
    except subprocess.TimeoutExpired:  # it lives, and says nothing that makes sense
        process.kill()
        code = process.wait()
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Refused(
        "memory",
        f"the process that read it broke off ({how}); it may be made to harm, "
        f"or need more than {megabytes(limits.memory_bytes)} of memory",
    )
