"""Files that the command line reads and writes: UTF-8, whatever the locale; errors say the file and the byte."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from priompt_py.cli.faults import Fault, near
from priompt_py.cli.streams import TooLongError, read_bounded, read_stdin, shown

__all__ = ["MOST_BYTES", "STDIN", "decode", "name_of", "read_text", "write_bytes", "write_text"]

MOST_BYTES = 512 * 1024 * 1024
"""How much is read of a file or of standard input; a device such as ``/dev/zero`` has no end."""

STDIN = "-"
"""What stands for standard input in place of a file's name."""

_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def name_of(file: str) -> str:
    """A file's name for messages."""
    return "<stdin>" if file == STDIN else shown(file)


def read_text(file: str) -> str:
    """The text of a file, or of standard input for ``-``.

    A byte-order mark at its start is no part of it. Raises Fault for what can't be read, has more than ``MOST_BYTES``
    bytes or isn't UTF-8.
    """
    try:
        data = read_stdin(MOST_BYTES) if file == STDIN else _read(file)
    except FileNotFoundError:
        raise Fault(f"no such file{_near_files(file)}", place=name_of(file)) from None
    except IsADirectoryError:
        raise Fault("is a folder, not a file", place=name_of(file)) from None
    except TooLongError:
        raise Fault(
            f"has more than {MOST_BYTES // 1024**2} MiB, which is the most that is read", place=name_of(file)
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise Fault(f"can't be read: {_reason(error)}", place=name_of(file)) from None
    return decode(data, name_of(file))


def _read(file: str) -> bytes:
    with Path(file).open("rb") as stream:
        if (
            os.fstat(stream.fileno()).st_size > MOST_BYTES
        ):  # a regular file, of which nothing needs to be read
            raise TooLongError
        return read_bounded(stream, MOST_BYTES)


def decode(data: bytes, name: str) -> str:
    """``data`` as UTF-8 text without a byte-order mark; ``name`` says in errors what it is."""
    other = _other_encoding(data)
    if other is not None:
        raise Fault(f"looks like {other}; save it as UTF-8", place=name)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Fault(
            f"not UTF-8: byte 0x{data[error.start]:02X} at offset {error.start} (line {line}); save it as UTF-8",
            place=name,
        ) from None


def _other_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32, by the mark at the start, or by a zero in every other byte."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    start = data[:64]
    if len(start) >= 4:
        for zeros, letters in ((start[0::2], start[1::2]), (start[1::2], start[0::2])):
            if not any(zeros) and all(letters):
                return "UTF-16"
    return None


def write_text(file: str, text: str) -> None:
    """Write ``text`` to a file as UTF-8, as ``write_bytes`` does."""
    write_bytes(file, text.encode())


def write_bytes(file: str, data: bytes) -> None:
    """Write ``data`` to a file, all or nothing: a new file takes the place of the old one when it is complete.

    The old file's mode is kept, and links are followed. What is no regular file (a device, a pipe) is written to.
    Raises Fault.
    """
    try:
        target = Path(os.path.realpath(file))
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as stream:
                stream.write(data)
        else:
            _replace(target, data, None if mode is None else stat.S_IMODE(mode))
    except (OSError, ValueError) as error:
        raise Fault(f"can't be written: {_reason(error)}", place=shown(file)) from None


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    handle, name = tempfile.mkstemp(prefix=".priompt-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_default_mode() if mode is None else mode)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _default_mode() -> int:
    """The mode that a new file gets here; it can only be asked for by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _near_files(file: str) -> str:
    """Names in the same folder that are like the one that isn't there."""
    path = Path(file)
    try:
        names = [entry.name for entry in os.scandir(path.parent) if entry.name.isprintable()]
    except (OSError, ValueError):
        return ""
    return near(path.name, names, cutoff=0.8)
