"""The frame of the command line: help, version, the table of commands, streams and signals of a real process."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import click
import pytest

from priompt_py.cli.main import COMMANDS
from tests.cli.conftest import Priompt

TEXT = "你好 😀 é"
PROGRAM = [sys.executable, "-m", "priompt_py.cli.main"]
ROOT = Path(__file__).parents[2]


def environment(more: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """This environment, with the package importable from the checkout, in a C locale without UTF-8 mode."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON", "LANG"))
    }
    return (
        plain
        | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
        | dict(more)
    )


def run(
    *arguments: str, cwd: Path, stdin: bytes = b"", more: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment(more),
        timeout=60,
        check=False,
    )


def test_table_of_commands_says_what_the_commands_say() -> None:
    for name, (where, line) in COMMANDS.items():
        module, _, attribute = where.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        assert (command.name, command.short_help) == (name, line)


def test_help_lists_the_commands(priompt: Priompt) -> None:
    done = priompt("--help")
    assert (done.code, done.err) == (0, "")
    wide = max(map(len, COMMANDS))
    lines = "".join(f"  {name:<{wide}}  {COMMANDS[name][1]}\n" for name in sorted(COMMANDS))
    assert done.out.endswith(f"Commands:\n{lines}")
    assert "  preview  Show a prompt as a person wants to see it.\n" in done.out
    assert priompt("-h").out == done.out
    assert "--set NAME=VALUE" in priompt("render", "--help").out


def test_help_imports_no_command_and_no_tokenizer(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from priompt_py.cli.main import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = ['tiktoken', 'rich', 'yaml', 'lark', 'priompt_py.cli.render', 'priompt_py.cli.count']\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"[]\n")


def test_version(priompt: Priompt) -> None:
    assert priompt("--version") == (0, f"priompt {importlib.metadata.version('priompt-py')}\n", "")


# ------------------------------------------------------------------------------------------ locale


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"PYTHONIOENCODING": "cp1252:strict"}, {"PYTHONIOENCODING": "gbk"}])
def test_utf8_whatever_the_locale(tmp_path: Path, more: dict[str, str]) -> None:
    (tmp_path / "p.py").write_text(
        "def prompt(name):\n    print(name)\n    return ['Hello ', name]\n", "utf-8"
    )
    tree = tmp_path / "bäume.json"
    tree.write_text(f'["{TEXT}"]', "utf-8")
    done = run("render", "bäume.json", "--limit", "99", cwd=tmp_path, more=more)
    assert (done.returncode, done.stdout, done.stderr) == (0, TEXT.encode(), b"")
    done = run("render", "bäume.json", "--limit", "99", "-o", "größe.txt", cwd=tmp_path, more=more)
    assert (done.returncode, (tmp_path / "größe.txt").read_bytes()) == (0, TEXT.encode())
    done = run("render", "p.py:prompt", "--limit", "99", "--set", f"name={TEXT}", cwd=tmp_path, more=more)
    assert (done.returncode, done.stdout) == (0, f"Hello {TEXT}".encode())
    assert done.stderr == f"{TEXT}\n".encode()
    done = run(
        "render", "p.py:prompt", "--limit", "99", "--props", f'{{"name": "{TEXT}"}}', cwd=tmp_path, more=more
    )
    assert done.stdout == f"Hello {TEXT}".encode()
    done = run("count", "-", cwd=tmp_path, stdin=TEXT.encode(), more=more)
    assert (done.returncode, done.stdout) == (0, b"3\n")
    done = run("render", "é.json", "--limit", "9", cwd=tmp_path, more=more)
    assert (done.returncode, done.stderr) == (2, "é.json: no such file\n".encode())


def test_json_is_not_escaped(tmp_path: Path) -> None:
    done = run(
        "render", "-", "--limit", "99", "--format", "messages", cwd=tmp_path, stdin=f'["{TEXT}"]'.encode()
    )
    assert f'"content": "{TEXT}"' in done.stdout.decode()


# ------------------------------------------------------------------------------------------ pipes and signals


def test_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    tree = tmp_path / "long.json"
    tree.write_text('["' + "one two three " * 50_000 + '"]', "utf-8")
    with subprocess.Popen(
        [*PROGRAM, "render", "long.json", "--limit", "1000000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(7) == b"one two"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_pipe_that_was_closed_before(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    for arguments in (["render", "-", "--limit", "9"], ["--help"], ["--version"]):
        done = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=tmp_path,
            input=b'["x"]',
            stdout=write,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(write)


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    line = command.replace("priompt", f"'{PROGRAM[0]}' {' '.join(PROGRAM[1:])}")
    return subprocess.run(
        ["bash", "-c", line], cwd=cwd, capture_output=True, env=environment(), timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("command", "code", "err"),
    [
        (
            "echo '[1]' | priompt render - --limit 9 >&-",
            2,
            "priompt: can't read or write: standard output is closed\n",
        ),
        ("priompt render - --limit 9 <&-", 2, "<stdin>: can't be read: standard input is closed\n"),
        ("echo '[1]' | priompt render - --limit 9 2>&-", 0, ""),
        ("priompt render nothing --limit 9 2>&-", 2, ""),
        ("priompt rendr 2>&1 | true", 0, ""),
        (
            "echo '[1]' | priompt render - --limit 9 >/dev/full",
            2,
            "priompt: can't read or write: No space left on device\n",
        ),
        (
            "echo '[1]' | priompt render - --limit 9 -o /dev/full",
            2,
            "/dev/full: can't be written: No space left on device\n",
        ),
    ],
)
def test_streams_that_fail(tmp_path: Path, command: str, code: int, err: str) -> None:
    done = shell(command, tmp_path)
    assert (done.returncode, done.stderr.decode()) == (code, err)


def test_interrupt(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import sys, time\ndef prompt():\n    print('begun', flush=True)\n    time.sleep(60)\n", "utf-8"
    )
    # A shell lets what it runs in the background ignore interrupts, and its children after it.
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            [*PROGRAM, "render", "slow.py:prompt", "--limit", "9"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    finally:
        signal.signal(signal.SIGINT, ignored)
    with process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"priompt: interrupted\n")
