"""Standard streams: UTF-8 whatever the locale, results kept apart from all else, pipes that may close."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Generator
from typing import Any, BinaryIO, TextIO

__all__ = [
    "TooLongError",
    "argument_text",
    "give_up_stdout",
    "is_closed_pipe",
    "made_visible",
    "prepare",
    "prints_to_stderr",
    "read_bounded",
    "read_stdin",
    "shown",
    "stdin_kept",
    "warn",
    "write_result",
    "write_screen",
]


def prepare() -> None:
    """Make the standard streams write UTF-8, without translation of line ends; nothing written can fail to encode."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def write_result(text: str) -> None:
    r"""Write ``text`` to standard output as it is.

    On a terminal, control characters and what hides or reverses text are shown as ``\u001b`` (a prompt may hold
    anybody's text), and a last line feed is added where there is none. Raises BrokenPipeError where the reader is gone.
    """
    if sys.stdout is None:  # closed by the caller: `>&-`
        raise OSError(errno.EBADF, "standard output is closed")
    if sys.stdout.isatty():
        text = made_visible(text)
        if not text.endswith("\n"):
            text += "\n"
    sys.stdout.write(text)
    sys.stdout.flush()


def made_visible(text: str) -> str:
    r"""``text`` with what a terminal would act upon, or nobody would see, written as ``\u001b``."""
    if (
        text.isascii() and text.replace("\n", "").isprintable()
    ):  # nearly all messages: nothing is imported for them
        return text
    from priompt_py.face.visible import written_out

    return written_out(text)


def write_screen(text: str) -> None:
    """Write what was drawn for a terminal, colours included; whatever it shows was made safe before.

    Raises BrokenPipeError where the reader is gone.
    """
    if sys.stdout is None:  # closed by the caller: `>&-`
        raise OSError(errno.EBADF, "standard output is closed")
    sys.stdout.write(text)
    sys.stdout.flush()


def warn(text: str) -> None:
    """Write lines to standard error; if nobody reads it, so be it."""
    if sys.stderr is not None:  # closed by the caller: `2>&-`
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{made_visible(text)}\n")
            sys.stderr.flush()


def give_up_stdout() -> None:
    """After writing has failed: let the flush that the interpreter makes at its end go nowhere, instead of failing."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, sys.stdout.fileno())
        finally:
            os.close(nowhere)


def is_closed_pipe(error: BaseException) -> bool:
    """Whether ``error`` says that nobody reads any more (Windows says EINVAL)."""
    return isinstance(error, BrokenPipeError) or (
        sys.platform == "win32" and isinstance(error, OSError) and error.errno == errno.EINVAL
    )


_PART = 1024 * 1024  # bytes that are read at a time
_kept: list[bytes] | None = None  # what was read within ``stdin_kept``


class TooLongError(Exception):
    """There is more to read than the caller wants."""


def read_bounded(stream: BinaryIO, most: int) -> bytes:
    """All bytes of a stream; TooLongError for more than ``most``, as soon as that is known."""
    found = bytearray()
    while True:
        part = stream.read(_PART)
        found += part
        if len(found) > most:
            raise TooLongError
        if len(part) < _PART:  # the end; a terminal would want to be told of it again
            return bytes(found)


def read_stdin(most: int) -> bytes:
    """All bytes of standard input; TooLongError for more than ``most``."""
    if _kept:
        return _kept[0]
    if sys.stdin is None:  # closed by the caller: `<&-`
        raise OSError(errno.EBADF, "standard input is closed")
    buffer: Any = getattr(sys.stdin, "buffer", None)
    data = sys.stdin.read().encode() if buffer is None else read_bounded(buffer, most)
    if _kept is not None:
        _kept.append(data)
    return data


@contextlib.contextmanager
def stdin_kept() -> Generator[None]:
    """Give the same bytes to all who read standard input meanwhile: a command may need a source twice."""
    global _kept  # noqa: PLW0603 - there is but one standard input
    _kept = []
    try:
        yield
    finally:
        _kept = None


@contextlib.contextmanager
def prints_to_stderr() -> Generator[None]:
    """Send what is printed meanwhile to standard error: by ``print``, and by programs that are started."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        with contextlib.suppress(OSError):  # a stream that is closed has no number to lend
            saved = os.dup(1)
            stack.callback(os.close, saved)
            os.dup2(2, 1)
            stack.callback(os.dup2, saved, 1)
            stack.callback(_flush, sys.__stdout__)
        yield


def _flush(stream: TextIO | None) -> None:
    if stream is not None and not stream.closed:
        stream.flush()


def shown(name: str) -> str:
    """A file name or an argument as text: bytes that the locale couldn't decode are read as UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode("utf-8", "backslashreplace")
    return name


def argument_text(argument: str) -> str:
    """An argument that is text, not a file's name: UTF-8 whatever the locale; what isn't becomes U+FFFD."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument
