"""A peer as a process that is asked for one round after the other."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Self

__all__ = ["PeerError", "Worker"]


class PeerError(Exception):
    """A peer did not do what it was asked: it says why."""


class Worker:
    """One peer's process; requests and answers are told in ``worker.mjs``. Close it, or use it in ``with``."""

    def __init__(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._read = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: Mapping[str, Any], *, patience: float) -> dict[str, Any]:
        """Send a request and wait for its answer, ``patience`` seconds at most.

        Raises PeerError where the peer says that it failed, ends, or takes longer; after the last two it is closed.
        """
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        except (OSError, ValueError):  # a broken pipe, or closed before
            self.close()
            raise PeerError("it ended") from None
        answer: dict[str, Any] = json.loads(self._line(patience))
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def _line(self, patience: float) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        end = monotonic() + patience
        while b"\n" not in self._read:
            ready, _, _ = select.select([stdout], [], [], max(0.0, end - monotonic()))
            if not ready:
                self.close()
                raise PeerError(f"more than {patience:g} s")
            part = os.read(stdout.fileno(), 1 << 16)
            if not part:
                self.close()
                raise PeerError("it ended")
            self._read += part
        line, self._read = self._read.split(b"\n", 1)
        return line

    def close(self) -> None:
        """End the process, at once."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except OSError:
                    continue  # what it was sent last never arrived
