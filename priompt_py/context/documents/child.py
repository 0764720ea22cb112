"""The main program of the process that reads one file.

Standard input holds a line of JSON (see ``process``) and then the file. Standard output gets lines of JSON: events, and
at last either ``{"text": bytes that follow, …}`` or ``{"refused": reason, "message": …}``. It is run by its path, not as
a module, so that nothing of priompt_py is imported before the limits stand.
"""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["main"]

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SPARE = 32_000_000  # bytes of memory
_FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "shutil.",
    "tempfile.",
    "urllib.",
)


def limit_process(memory: int, seconds: float) -> None:
    """Limit address space and processor time, and forbid files to be written, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = {
        resource.RLIMIT_AS: (memory, memory + _SPARE),
        resource.RLIMIT_CPU: (int(seconds) + 2, int(seconds) + 2),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
    }
    for what, (soft, most) in wanted.items():
        hard = resource.getrlimit(what)[1]
        if hard != resource.RLIM_INFINITY:
            soft, most = min(soft, hard), min(most, hard)  # noqa: PLW2901 - it may be less already
        try:
            resource.setrlimit(what, (soft, most))
        except (ValueError, OSError):  # macOS knows no limit of address space
            continue


def use_spare_memory() -> None:
    """Allow what was kept to say that the memory is used up."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def forbid(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook: no connections, no processes, no files changed."""
    if event == "open":
        flags = args[2] if len(args) > 2 else 0
        if isinstance(flags, int) and flags & _WRITES:
            raise PermissionError("a reader of documents writes no files")
    elif event.startswith(_FORBIDDEN):
        raise PermissionError(f"a reader of documents does no {event}")


def work(request: dict[str, Any], data: bytes, out: BinaryIO) -> None:
    """Read one file and write what it gave."""
    from priompt_py.context.documents.limits import DocumentLimits
    from priompt_py.context.documents.readers import kind_of, load, read
    from priompt_py.context.documents.refusals import Refused

    def say(**line: Any) -> None:
        out.write(json.dumps(line).encode() + b"\n")
        out.flush()

    last = -1

    def progress(percent: float) -> None:
        nonlocal last
        if int(percent) > last:
            last = int(percent)
            say(progress=round(percent, 2))

    limits = DocumentLimits(**request["limits"])
    try:
        kind = kind_of(data, request["kind"], limits)
        library = load(kind)
        say(loaded=library, kind=kind)
        pieces, decoded = read(data, kind, limits, request["encoding"], progress)
        texts: list[bytes] = []
        size = 0
        for piece in pieces:
            texts.append(piece.encode("utf-8", "replace"))
            size += len(texts[-1])
            if size > limits.text_bytes:
                raise Refused("too-large", request["too_much_text"])
        text = b"".join(texts)
        del texts
        say(
            text=len(text),
            encoding=None if decoded is None else decoded.encoding,
            guessed=decoded is not None and decoded.guessed,
        )
        out.write(text)
    except Refused as refused:
        say(refused=refused.reason, message=refused.message)
    except MemoryError:
        use_spare_memory()
        say(refused="memory", message=request["too_much_memory"])
    except RecursionError:
        say(refused="archive", message="its elements nest too deep to be read")
    except Exception as error:  # noqa: BLE001 - libraries raise anything over a broken file
        say(refused="broken", message="", error=f"{type(error).__name__}: {error}"[:300])
    out.flush()


def main() -> None:
    """Read the file that standard input brings."""
    source = sys.stdin.buffer
    request = json.loads(source.readline())
    # Whatever a library prints must not get between our lines.
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    limit_process(request["limits"]["memory_bytes"], request["limits"]["seconds"])
    sys.path[:] = request["path"]
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(2_000)  # honest files need less, and what is deep takes long
    # The package's own __init__ would import the whole of it, which takes longer than reading most files.
    package = types.ModuleType("priompt_py")
    package.__path__ = [str(Path(__file__).parents[2])]
    sys.modules["priompt_py"] = package
    sys.addaudithook(forbid)
    data = source.read()
    work(request, data, out)
    os._exit(0)  # nothing is left to tidy up, and tearing libraries down takes time


if __name__ == "__main__":
    main()
