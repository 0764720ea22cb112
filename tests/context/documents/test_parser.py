"""The parser and its child process: arguments, failures of the process itself, many at once, cancelled."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from priompt_py.context import DocumentLimits, DocumentParser
from priompt_py.context.documents import child, process, readers
from priompt_py.context.documents.process import Stop, extract
from priompt_py.context.documents.refusals import Refused
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, DocumentError
from tests.context.documents import files

HANGING = "import sys, time\nsys.stdout.flush()\ntime.sleep(60)\n"


@pytest.fixture
def another_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Puts a program of the test in the child's place."""

    def put(source: str) -> None:
        path = tmp_path / "child.py"
        path.write_text(source, "utf-8")
        monkeypatch.setattr(process, "_CHILD", path)

    return put


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that were started; none of them may outlive its test."""
    found: list[subprocess.Popen[bytes]] = []
    start = process._start

    def noted() -> subprocess.Popen[bytes]:
        found.append(start())
        return found[-1]

    monkeypatch.setattr(process, "_start", noted)
    yield found
    assert running(found) == 0


def running(processes: list[subprocess.Popen[bytes]]) -> int:
    return sum(one.poll() is None for one in processes)


# ------------------------------------------------------------------------------------------ arguments


def test_wrong_arguments() -> None:
    parser: Any = DocumentParser()
    with pytest.raises(ArgumentTypeError, match="DocumentParser needs a file's bytes, got 'text' \\(str\\)"):
        parser.parse("text", "a.txt")
    with pytest.raises(ArgumentTypeError, match="needs text for name, got name=5 \\(int\\)"):
        parser.parse(b"x", 5)
    make: Any = DocumentParser
    with pytest.raises(ArgumentTypeError, match="needs a DocumentLimits or None for limits, got limits=5"):
        make(limits=5)
    with pytest.raises(ArgumentValueError, match="needs seconds over 0 in limits, got seconds=0"):
        DocumentParser(limits=DocumentLimits(seconds=0))
    with pytest.raises(ArgumentValueError, match="needs at_once >= 1, got at_once=0"):
        DocumentParser(at_once=0)


def test_bytes_of_every_kind() -> None:
    for data in (b"text", bytearray(b"text"), memoryview(b"text")):
        given: Any = data
        assert DocumentParser().parse(given, "a.txt") == "text"


# ------------------------------------------------------------------------------------------ the process


BROKEN_OFF = (
    "the process that read it broke off ({}); it may be made to harm, or need more than 1,074 MB of memory"
)


@pytest.mark.parametrize(
    ("source", "reason", "message"),
    [
        ("raise SystemExit(3)", "memory", BROKEN_OFF.format("exit code 3")),
        ("import os\nos.abort()", "memory", BROKEN_OFF.format("signal 6")),
        (
            'print(\'{"text": 10, "encoding": null, "guessed": false}\\nshort\', end="")',
            "memory",
            BROKEN_OFF.format("exit code 0"),
        ),
        (
            'print(\'{"text": 999999999, "encoding": null, "guessed": false}\')',
            "memory",
            BROKEN_OFF.format("exit code 0"),
        ),
        ("print('no json' * 100)", "memory", BROKEN_OFF.format("exit code 0")),
        ("print('[1, 2]')\n" + HANGING, "memory", BROKEN_OFF.format("signal 9")),
        ('print(\'{"text": "x"}\')\n' + HANGING, "memory", BROKEN_OFF.format("signal 9")),
        ("print('{\"text\": 1}')", "memory", BROKEN_OFF.format("exit code 0")),
        ('print(\'{"progress": 1, "more": 2}\')', "memory", BROKEN_OFF.format("exit code 0")),
        ("import os, time\nos.close(1)\ntime.sleep(60)", "memory", BROKEN_OFF.format("signal 9")),
        (HANGING, "time", "reading it takes longer than 1 s"),
    ],
)
def test_a_child_that_misbehaves(
    another_child: Callable[[str], None], source: str, reason: str, message: str
) -> None:
    another_child(source)
    with pytest.raises(Refused) as caught:
        extract(files.pages("x"), "pdf", limits=DocumentLimits(seconds=1 if source is HANGING else 20))
    assert (caught.value.reason, caught.value.message) == (reason, message)


def test_no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(DocumentError, match="no Python interpreter beside it that could read the file"):
        DocumentParser().parse(files.pages("x"), "a.pdf")
    with monkeypatch.context() as frozen:
        frozen.setattr(sys, "executable", "/bin/true")
        frozen.setattr(sys, "frozen", True, raising=False)
        with pytest.raises(DocumentError, match="no Python interpreter beside it"):
            DocumentParser().parse(files.pages("x"), "a.pdf")
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(DocumentError, match="no process could be started to read it \\(No such file"):
        DocumentParser().parse(files.pages("x"), "a.pdf")


def test_the_environment_stays_here(
    another_child: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", "xyz")
    another_child(
        "import os, json\ntext = json.dumps(sorted(os.environ)).encode()\n"
        'print(json.dumps({"text": len(text), "encoding": None, "guessed": False}))\nprint(text.decode(), end="")'
    )
    found = json.loads(extract(b"", "pdf", limits=DocumentLimits(seconds=20)).text)
    assert "MY_SECRET" not in found


def test_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(readers, "find_spec", nothing)
    with pytest.raises(Refused) as caught:
        readers.load("pdf")
    assert caught.value.message == "reading PDF files needs pypdfium2: pip install 'priompt-py[documents]'"
    assert readers.load("text") == "charset-normalizer"
    assert readers.load("docx") is None


# ------------------------------------------------------------------------------------------ the child, in here


def worked(data: bytes, kind: str, **limits: Any) -> list[Any]:
    out = io.BytesIO()
    request: dict[str, Any] = {
        "kind": kind,
        "limits": limits,
        "encoding": None,
        "too_much_text": "too much text",
        "too_much_memory": "too much memory",
    }
    child.work(request, data, out)
    lines = out.getvalue().split(b"\n")
    return [json.loads(line) if line.startswith(b"{") else line for line in lines]


def test_what_the_child_says() -> None:
    loaded = {"loaded": "markdownify", "kind": "html"}
    assert worked(b"<p>x</p>", "html") == [
        loaded,
        {"text": 2, "encoding": "utf-8", "guessed": False},
        b"x",
        b"",
    ]
    assert worked(b"<p>x</p>", "html", text_bytes=1) == [
        loaded,
        {"refused": "too-large", "message": "too much text"},
        b"",
    ]
    pdf = files.pages("a", "b", *[""] * 8)
    assert worked(pdf, "pdf")[:3] == [
        {"loaded": "pypdfium2", "kind": "pdf"},
        {"progress": 10.0},
        {"progress": 20.0},
    ]
    assert worked(b"%PDF-", "pdf")[1] == {
        "refused": "broken",
        "message": "",
        "error": "PdfiumError: Failed to load document (PDFium: Data format error).",
    }


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (MemoryError(), {"refused": "memory", "message": "too much memory"}),
        (RecursionError(), {"refused": "archive", "message": "its elements nest too deep to be read"}),
    ],
)
def test_what_the_child_says_at_its_limits(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, said: dict[str, str]
) -> None:
    def fails(*_: object) -> None:
        raise raised

    monkeypatch.setattr(readers, "read", fails)
    monkeypatch.setattr(child, "use_spare_memory", lambda: None)
    assert worked(b"<p>x</p>", "html")[1] == said


def test_a_broken_file_says_why() -> None:
    with pytest.raises(DocumentError) as caught:
        DocumentParser().parse(b"%PDF-1.7 and nothing else", "a.pdf")
    assert caught.value.detail.startswith("it is damaged, or of another format: PdfiumError: ")
    assert caught.value.reason == "broken"


@pytest.mark.parametrize(
    ("event", "args", "allowed"),
    [
        ("open", ("a", "r", os.O_RDONLY), True),
        ("open", ("a", "w", os.O_WRONLY | os.O_CREAT), False),
        ("open", ("a", None, os.O_RDWR), False),
        ("open", ("a",), True),
        ("socket.connect", (None, ("127.0.0.1", 80)), False),
        ("socket.getaddrinfo", ("example.org",), False),
        ("subprocess.Popen", ("sh",), False),
        ("os.system", ("sh",), False),
        ("os.remove", ("a",), False),
        ("import", ("json",), True),
    ],
)
def test_what_is_forbidden(event: str, args: tuple[Any, ...], allowed: bool) -> None:
    refused = False
    try:
        child.forbid(event, args)
    except PermissionError:
        refused = True
    assert refused is not allowed


def run_apart(source: str) -> str:
    """What a program prints; not measured, since it is going to be unable to write that down."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, env=env)
    return ran.stdout


ATTEMPTS = {
    "a connection": "import socket\nsocket.create_connection(('127.0.0.1', 9))",
    "a name": "import socket\nsocket.getaddrinfo('example.org', 80)",
    "a process": "import subprocess\nsubprocess.run(['true'])",
    "a file": "open('written', 'w')",
    "a folder": "import os\nos.mkdir('made')",
    "a fork": "import os\nos.fork()",
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_nothing_gets_out(name: str) -> None:
    # As `main` of the child begins, and then what a library could try.
    source = (
        "import sys\nfrom priompt_py.context.documents import child\n"
        "child.limit_process(1 << 30, 5)\nimport socket, subprocess\nsys.addaudithook(child.forbid)\n"
        f"try:\n    exec({ATTEMPTS[name]!r})\nexcept PermissionError as error:\n    print(error)\n"
    )
    assert run_apart(source).startswith("a reader of documents ")


def test_files_cannot_be_written_by_machine_code() -> None:
    # What goes around Python's open is stopped by the system: a limit of 0 for every file.
    source = (
        "import os, tempfile\nfrom priompt_py.context.documents import child\nfolder = tempfile.mkdtemp()\n"
        "child.limit_process(1 << 30, 5)\nimport signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "try:\n    os.write(os.open(folder + '/x', os.O_CREAT | os.O_WRONLY), b'x')\n"
        "except OSError as error:\n    print(error.errno)\n"
    )
    assert run_apart(source) == "27\n"  # EFBIG


def test_limits_are_never_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    asked: dict[int, tuple[int, int]] = {}

    def limited(what: int, values: tuple[int, int]) -> None:
        if what == resource.RLIMIT_CORE:
            raise ValueError("not here")
        asked[what] = values

    def allowed(what: int) -> tuple[int, int]:
        return (5, 7 if what == resource.RLIMIT_CPU else -1)

    monkeypatch.setattr(resource, "getrlimit", allowed)
    monkeypatch.setattr(resource, "setrlimit", limited)
    child.limit_process(1_000, 9.5)
    assert asked == {
        resource.RLIMIT_AS: (1_000, 32_001_000),
        resource.RLIMIT_CPU: (7, 7),
        resource.RLIMIT_FSIZE: (0, 0),
    }
    child.use_spare_memory()
    assert asked[resource.RLIMIT_AS] == (-1, -1)


def test_without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    child.limit_process(1, 1)
    child.use_spare_memory()


# ------------------------------------------------------------------------------------------ many, and cancelled


def test_threads() -> None:
    parser = DocumentParser(at_once=2)
    results: dict[int, str] = {}

    def read(number: int) -> None:
        results[number] = parser.parse(files.pages(f"file {number}"), "a.pdf")

    threads = [threading.Thread(target=read, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"file {number}\n\n" for number in range(6)}


def test_only_so_many_at_once(
    another_child: Callable[[str], None], started: list[subprocess.Popen[bytes]]
) -> None:
    another_child(HANGING)
    parser = DocumentParser(at_once=1, limits=DocumentLimits(seconds=0.5))
    most = 0

    def read() -> None:
        with pytest.raises(DocumentError, match=r"longer than 0\.5 s"):
            parser.parse(files.pages("x"), "a.pdf")

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, running(started))
        time.sleep(0.01)
    assert (most, len(started)) == (1, 3)


@pytest.mark.anyio
async def test_async() -> None:
    parser = DocumentParser()
    told: list[tuple[str, float | None]] = []
    document = await parser.aread(
        files.pages("x"), "a.pdf", progress=lambda library, percent: told.append((library, percent))
    )
    assert (document.text, told) == ("x\n\n", [("pypdfium2", None), ("pypdfium2", 100.0)])
    assert await parser.aparse(b"text", "a.txt") == "text"
    with pytest.raises(DocumentError, match=r"^a\.png: it is a PNG picture"):
        await parser.aparse(b"\x89PNG\r\n\x1a\n", "a.png")


async def until(true: Callable[[], bool]) -> None:
    """Waits for something that another thread does, for at most 20 s."""
    for _ in range(2_000):
        if true():
            return
        await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_cancelled(
    another_child: Callable[[str], None], started: list[subprocess.Popen[bytes]]
) -> None:
    another_child(HANGING)
    parser = DocumentParser(at_once=1, limits=DocumentLimits(seconds=60))
    before = threading.active_count()
    at_work = asyncio.ensure_future(parser.aread(files.pages("x"), "a.pdf"))
    waiting = asyncio.ensure_future(parser.aread(files.pages("x"), "b.pdf"))
    await until(lambda: bool(started))
    for task in (at_work, waiting):
        task.cancel()
    assert [type(one) for one in await asyncio.gather(at_work, waiting, return_exceptions=True)] == [
        asyncio.CancelledError
    ] * 2
    await until(lambda: not running(started) and threading.active_count() <= before)
    assert len(started) <= 2  # the second may have begun as the first was ended
    assert threading.active_count() <= before
    # And its place is free again.
    assert await parser.aparse(b"text", "a.txt") == "text"


def test_stopped_before_it_began(another_child: Callable[[str], None]) -> None:
    another_child(HANGING)
    stop = Stop()
    stop.ask()
    with pytest.raises(Refused, match="signal 9"):
        extract(b"", "pdf", limits=DocumentLimits(seconds=60), stop=stop)


def test_an_endless_child(another_child: Callable[[str], None]) -> None:
    another_child("while True: print('{\"progress\": 1}')")
    with pytest.raises(Refused, match="broke off"):
        extract(b"", "pdf", limits=DocumentLimits(seconds=60))


def test_a_pipe_that_is_not_read(another_child: Callable[[str], None]) -> None:
    # The child says what it has to say without reading what it is given: no side waits for the other.
    another_child('print(\'{"refused": "broken", "message": "seen enough"}\')')
    with pytest.raises(Refused, match="seen enough"):
        extract(bytes(10_000_000), "pdf", limits=DocumentLimits(seconds=60))


def test_an_error_of_the_callback_ends_the_child() -> None:
    def fails(library: str, percent: float | None) -> None:
        raise KeyError(library)

    with pytest.raises(KeyError, match="pypdfium2"):
        DocumentParser().read(files.pages("x"), "a.pdf", progress=fails)
