"""A worker that is a process of its own: what hangs in it can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from priompt_py.web.frames import HEAD, frame, lengths
from priompt_py.web.workers import Gone, Worker

__all__ = ["ProcessWorker"]


class ProcessWorker(Worker):
    """One process; see :mod:`priompt_py.web.child` for its other side."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__()
        self._process = process
        self._ending = asyncio.create_task(self._ended())

    @classmethod
    async def start(cls, factory: str, argument: Any) -> ProcessWorker:
        """Start a process that makes its catalogue with ``factory`` (``module:function``) of ``argument``, which is JSON.

        Raises OSError.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # modules of the working folder come after Python's own: the catalogue adds it
            "-X",
            "utf8",
            "-m",
            "priompt_py.web.child",
            factory,
            json.dumps(argument),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server, which ends its processes itself
        )
        return cls(process)

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def do(self, job: Mapping[str, Any]) -> tuple[Mapping[str, Any], bytes]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(frame(b"", json.dumps(job).encode()))
            await stdin.drain()
            head, body = lengths(await stdout.readexactly(HEAD.size))
            data = await stdout.readexactly(head + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await asyncio.shield(self._ending)
            raise Gone(f"exit code {code}" if code >= 0 else f"signal {-code}") from None
        return json.loads(data[:head]), data[head:]

    async def kill(self) -> None:
        """End it now, with what it has started."""
        if self.is_alive:
            self._kill()
        await asyncio.shield(self._ending)

    async def _ended(self) -> int:
        """Wait for its end, by itself or not, and end at once what it has started; gives its exit code."""
        code = await self._process.wait()
        self._kill()
        return code

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)  # its session is its own: so is its group
