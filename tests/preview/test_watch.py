"""Watching files: which are opened, when they changed, and the command that shows a prompt anew."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from priompt_py.preview.watch import Recorder, forget_modules, snapshot_of, wait_for_change
from tests.cli.test_main import PROGRAM, environment


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder()  # its hook stays for the whole process


def test_what_is_opened_is_recorded(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "watched_module.py").write_text("TEXT = 'x'\n", "utf-8")
    (tmp_path / "data.txt").write_text("data", "utf-8")
    with recorder.recording():
        import watched_module  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports, reportUnusedImport]  # noqa: F401

        (tmp_path / "data.txt").read_text("utf-8")
        with (tmp_path / "written.txt").open("w", encoding="utf-8") as stream:
            stream.write("out")
        os.close(os.open(os.fsencode(tmp_path / "data.txt"), os.O_RDONLY))
        with pytest.raises(FileNotFoundError):
            (tmp_path / "missing.txt").read_text("utf-8")
        Path(os.devnull).read_text("utf-8")
        Path(os.__file__).read_text("utf-8")  # Python's own
        Path(pytest.__file__).read_text("utf-8")  # a package's
    seen = {Path(name).name for name in recorder.seen}
    assert {"watched_module.py", "data.txt", "missing.txt"} <= seen
    assert not seen & {"written.txt", "null", "os.py", "__init__.py"}
    assert recorder.seen[str(tmp_path / "missing.txt")] is None
    assert recorder.modules == {"watched_module"}
    (tmp_path / "data.txt").read_text("utf-8")
    before = dict(recorder.seen)
    assert dict(recorder.seen) == before
    forget_modules(recorder.modules)
    assert "watched_module" not in sys.modules
    with recorder.recording():
        pass
    assert (recorder.seen, recorder.modules) == ({}, set())


def test_what_the_hook_hears(recorder: Recorder, tmp_path: Path) -> None:
    """Python doesn't trace hooks: here it is called."""
    file = tmp_path / "a.txt"
    with recorder.recording():
        recorder._hear("open", (str(file), "r", 0))
        recorder._hear("open", (os.fsencode(tmp_path / "b.txt"), None, 0))
        recorder._hear("open", (str(tmp_path / "c.txt"), "wb", 0))
        recorder._hear("open", (3, "r", 0))
        recorder._hear("import", ("os", None))
    recorder._hear("open", (str(tmp_path / "late.txt"), "r", 0))
    assert {Path(name).name for name in recorder.seen if name.startswith(str(tmp_path))} == {"a.txt", "b.txt"}


def test_a_change_is_waited_for_until_it_has_settled(tmp_path: Path) -> None:
    file, other = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text("a", "utf-8")
    other.write_text("b", "utf-8")
    names = [str(file), str(other), str(tmp_path / "later.txt"), "\0"]
    before = snapshot_of(names)
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: file.write_text("half of", "utf-8"),
        lambda: file.write_text("half of it and", "utf-8"),
        lambda: (tmp_path / "later.txt").write_text("new", "utf-8"),
        lambda: None,
    ]

    def sleep(_: float) -> None:
        steps.pop(0)()

    assert wait_for_change(before, sleep=sleep) == [str(file), str(tmp_path / "later.txt")]
    assert steps == []
    other.unlink()
    assert wait_for_change(snapshot_of(names) | {str(other): before[str(other)]}, sleep=lambda _: None) == [
        str(other)
    ]


def test_another_width_is_a_change_of_no_file(tmp_path: Path) -> None:
    widths = iter([80, 80, 80, 120])
    looks: list[float] = []
    found = wait_for_change(
        snapshot_of([str(tmp_path / "a.txt")]), sleep=looks.append, screen=lambda: next(widths)
    )
    assert (found, len(looks)) == ([], 3)


# ------------------------------------------------------------------------------------------ the command


class Watching:
    """`priompt preview --watch` in a process of its own; what it writes comes a screen at a time."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        # A shell lets what it runs in the background ignore interrupts, and its children after it.
        ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen(
                [*PROGRAM, "preview", *arguments, "--watch", "--plain"],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                text=True,
                encoding="utf-8",
            )
        finally:
            signal.signal(signal.SIGINT, ignored)
        self.screens: queue.Queue[str] = queue.Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line)
            if line.endswith("; Ctrl+C ends --\n"):
                self.screens.put("".join(lines))
                lines = []

    def screen(self) -> str:
        return self.screens.get(timeout=60)

    def end(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=60)
        assert self.process.stderr is not None
        return code, self.process.stderr.read()


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(*arguments: str) -> Watching:
        started.append(Watching(tmp_path, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait(timeout=60)
        assert one.process.stdout is not None
        assert one.process.stderr is not None
        one.thread.join(timeout=60)
        one.process.stdout.close()
        one.process.stderr.close()


@pytest.mark.slow
def test_a_name_does_not_steer_the_terminal(watch: Callable[..., Watching], tmp_path: Path) -> None:
    name = "a\x1b[41m\u202e.priompt"
    (tmp_path / name).write_text("one", "utf-8")
    seen = watch(name, "--limit", "50")
    assert seen.screen().startswith("-- prompt ---")
    (tmp_path / name).write_text("two", "utf-8")
    status = seen.screen().splitlines()[-1]
    assert status == "-- a\\u001b[41m\\u202e.priompt changed; watching 1 file; Ctrl+C ends --"


@pytest.mark.slow
def test_a_template_its_imports_and_its_props(watch: Callable[..., Watching], tmp_path: Path) -> None:
    page, part, props = tmp_path / "page.priompt", tmp_path / "part.priompt", tmp_path / "props.json"
    page.write_text('<import name="Part" from="part.priompt"/>\nHello {name}, <Part/>.\n', "utf-8")
    part.write_text("one", "utf-8")
    props.write_text('{"name": "Ada"}', "utf-8")
    seen = watch("page.priompt", "--limit", "50", "--props", "props.json")
    assert "Hello Ada, one.\n" in (first := seen.screen())
    assert first.endswith("\n-- watching 3 files; Ctrl+C ends --\n")
    part.write_text("two <scope p={5}>", "utf-8")  # half of it
    broken = seen.screen()
    assert broken.startswith("part.priompt:1:5: ")
    assert broken.endswith("-- part.priompt changed; waiting for a change that mends it; Ctrl+C ends --\n")
    part.write_text("two <scope p={5}>and</scope>", "utf-8")
    assert "Hello Ada, two and.\n" in seen.screen()
    props.write_text('{"name": "Grace"}', "utf-8")
    assert "Hello Grace, two and.\n" in seen.screen()
    part.unlink()
    assert 'there is no template "part.priompt"' in seen.screen()
    part.write_text("three", "utf-8")
    assert "Hello Grace, three.\n" in seen.screen()
    page.unlink()
    assert seen.screen().startswith("page.priompt: no such file")
    page.write_text("Back.\n", "utf-8")
    assert "Back.\n" in seen.screen()
    assert seen.end() == (0, "")


@pytest.mark.slow
def test_a_module_what_it_imports_and_what_it_reads(watch: Callable[..., Watching], tmp_path: Path) -> None:
    (tmp_path / "texts.py").write_text("TEXT = 'one'\n", "utf-8")
    (tmp_path / "data.txt").write_text("data", "utf-8")
    (tmp_path / "prompts.py").write_text(
        "from pathlib import Path\nimport texts\n"
        "def prompt():\n    return [texts.TEXT, ' ', Path('data.txt').read_text()]\nprompt.token_limit = 20\n",
        "utf-8",
    )
    seen = watch("prompts.py:prompt")
    assert "one data\n" in seen.screen()
    (tmp_path / "texts.py").write_text(
        "TEXT = 'two'\n", "utf-8"
    )  # of the same size, perhaps in the same second
    assert "two data\n" in seen.screen()
    (tmp_path / "data.txt").write_text("more", "utf-8")
    assert "two more\n" in seen.screen()
    (tmp_path / "texts.py").write_text("raise SystemExit(3)\n", "utf-8")
    assert seen.screen().startswith("texts.py:1: the prompt's code called sys.exit(3)\n")
    (tmp_path / "texts.py").write_text("TEXT = 'three'\n", "utf-8")
    assert "three more\n" in seen.screen()
    assert not (tmp_path / "__pycache__").exists()
    assert seen.end() == (0, "")
