"""Messages between the server and its processes: two lengths, a head of JSON, a body."""

from __future__ import annotations

import struct
from typing import IO

__all__ = ["HEAD", "frame", "lengths", "read_frame", "write_frame"]

HEAD = struct.Struct("!II")
"""The lengths of head and body, in bytes."""


def frame(head: bytes, body: bytes) -> bytes:
    """The bytes of a message."""
    return HEAD.pack(len(head), len(body)) + head + body


def lengths(start: bytes) -> tuple[int, int]:
    """The lengths of head and body, from the first 8 bytes."""
    head, body = HEAD.unpack(start)
    return head, body


def read_frame(stream: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next message; None where the stream ends."""
    start = stream.read(HEAD.size)
    if len(start) < HEAD.size:
        return None
    head, body = lengths(start)
    data = stream.read(head + body)
    return (data[:head], data[head:]) if len(data) == head + body else None


def write_frame(stream: IO[bytes], head: bytes, body: bytes) -> None:
    """Send a message."""
    stream.write(frame(head, body))
    stream.flush()
