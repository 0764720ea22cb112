"""Runs what README.md and the pages under docs/ show, and compares what it prints with what they say it prints.

Each page is one test, in a process and a folder of its own; CONTRIBUTING.md tells the conventions. By hand:
`python tests/test_docs_snippets.py README.md`.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
# A screen of a known size without colours, the same on every machine.
SCREEN = {
    "COLUMNS": "100",
    "LINES": "40",
    "NO_COLOR": "1",
    "PYTHONUTF8": "1",
    "PYTHONWARNINGS": "error",
    "TERM": "dumb",
}


class Block(NamedTuple):
    kind: str  # the words of the info string: "python", "text output", "console", "jinja file=a.priompt"
    text: str
    line: int  # of its first line of content, 1-based


class SnippetError(Exception):
    """A block did not do what its page says."""


# ------------------------------------------------------------------------------------------ reading


def blocks(markdown: str) -> Iterator[Block]:
    """Fenced blocks, and comments `<!-- python … -->` (code that runs but isn't shown), in order."""
    for token in MarkdownIt().parse(markdown):
        first = token.map[0] + 2 if token.map else 0
        if token.type == "fence":
            yield Block(" ".join(token.info.split()), token.content, first)
        elif token.type == "html_block" and (
            found := re.match(r"<!-- python\n(.*)-->", token.content, re.DOTALL)
        ):
            yield Block("python", found[1], first)


def commands(text: str, line: int) -> Iterator[tuple[str, str, int]]:
    """Command, expected output and line number for each `$ ` of a console block."""
    command: str | None = None
    shown: list[str] = []
    start = line
    lines = enumerate(text.splitlines(), line)
    for number, current in lines:
        if not current.startswith("$ "):
            if command is None:
                raise SnippetError(f"{number}: a console block begins with `$ `")
            shown.append(current)
            continue
        if command is not None:
            yield command, "\n".join(shown), start
        command, shown, start = current[2:], [], number
        while command.endswith("\\"):
            command += "\n" + next(lines, (0, ""))[1]
    if command is not None:
        yield command, "\n".join(shown), start


# ------------------------------------------------------------------------------------------ comparing


def trimmed(text: str) -> list[str]:
    """Lines without blanks at their ends, and without blank lines at the end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n").splitlines()


def matches(printed: str, shown: str) -> bool:
    """Whether they are equal, where a shown line `...` stands for any lines."""
    parts = [".*" if line.strip() == "..." else re.escape(line) + "\n" for line in trimmed(shown)]
    return (
        re.fullmatch("".join(parts), "".join(f"{line}\n" for line in trimmed(printed)), re.DOTALL) is not None
    )


def compare(printed: str, shown: str, where: str, *, exact: bool) -> None:
    if trimmed(printed) == trimmed(shown) or (not exact and matches(printed, shown)):
        return
    raise SnippetError(f"{where}: it prints\n{printed.rstrip()}\n--- but the page shows\n{shown.rstrip()}")


# ------------------------------------------------------------------------------------------ running


def run_command(command: str, shown: str, where: str) -> None:
    """Run a line of a console block, if `priompt` is called in it, and compare both streams with what is shown."""
    if not re.search(r"(^|[|;&]\s*|\n)(\w+=\S+ )*priompt( |$)", command):
        if shown.strip():
            raise SnippetError(f"{where}: only commands that call priompt can show what they print")
        return
    expected = int(found[1]) if (found := re.search(r"# exits with (\d+)$", command)) else 0
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=os.environ | {"PATH": path},
        timeout=60,
        check=False,
    )
    if done.returncode != expected:
        raise SnippetError(f"{where}: exit code {done.returncode}, not {expected}:\n{done.stdout}")
    compare(done.stdout, shown, where, exact=False)


def write_file(block: Block, name: str, where: str) -> None:
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise SnippetError(f"{where}: {name} leaves the page's folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, "utf-8")


def run_page(page: Path) -> None:
    """Run a page in the working folder; raises at the first block that fails or prints something else."""
    text = page.read_text("utf-8")
    module = types.ModuleType("page")
    sys.modules["page"] = module
    sys.path.insert(0, "")
    printed: str | None = None
    # What reads a function's source reads the page: all of it but the Python code is taken for empty.
    source = ["\n"] * (text.count("\n") + 1)
    linecache.cache[str(page)] = (len(text), None, source, str(page))
    for block in blocks(text):
        where = f"{page.name}:{block.line}"
        if found := re.search(r"\bfile=(\S+)", block.kind):
            write_file(block, found[1], where)
        elif block.kind == "python":
            source[block.line - 1 : block.line - 1 + block.text.count("\n")] = block.text.splitlines(
                keepends=True
            )
            # Empty lines before it: a traceback then tells the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, module.__dict__)  # noqa: S102 - our own pages
            printed = out.getvalue()
        elif block.kind == "text output":
            if printed is None:
                raise SnippetError(f"{where}: no Python block before this output")
            compare(printed, block.text, where, exact=True)
            printed = None
        elif block.kind == "console":
            for command, shown, line in commands(block.text, block.line):
                run_command(command, shown, f"{page.name}:{line}")
        elif block.kind.split(" ")[0] in ("python", "py", "pycon", "console"):
            raise SnippetError(f"{where}: no such kind of block: {block.kind!r}")


def main(page: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if (ROOT / "examples").is_dir():
            shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        with contextlib.chdir(folder):
            try:
                run_page(page)
            except SnippetError as error:
                sys.exit(str(error))


# ------------------------------------------------------------------------------------------ tests of the pages


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path) -> None:
    # Nothing is measured in there: coverage would take twice the time to see what other tests show it.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, __file__, str(page)],
        capture_output=True,
        encoding="utf-8",
        env=plain | SCREEN,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_to_files(page: Path) -> None:
    missing = [
        str(target)
        for token in MarkdownIt().parse(page.read_text("utf-8"))
        for child in token.children or []
        if (target := child.attrGet("href") or child.attrGet("src"))
        and not re.match(r"[a-z]+:|#", str(target))
        and not (page.parent / str(target).partition("#")[0]).exists()
    ]
    assert missing == []


# ------------------------------------------------------------------------------------------ tests of the runner


def run_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    page = tmp_path / "page.md"
    page.write_text(text.replace("~~~", "```"), "utf-8")
    run_page(page)


def test_blocks_share_names_files_and_hidden_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_text(
        tmp_path,
        monkeypatch,
        "<!-- python\nhidden = 1\n-->\n\n~~~python\nx = hidden + 1\n~~~\n\ntext\n\n~~~jinja file=a/b.txt\nhi\n~~~\n\n"
        "~~~python\nfrom pathlib import Path\nprint(x)\nprint(Path('a/b.txt').read_text())\n~~~\n\n~~~text output\n2\nhi\n~~~\n",
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "~~~python\nprint(1)\n~~~\n~~~text output\n2\n~~~\n",
            r"page.md:5: it prints\n1\n--- but .* shows\n2",
        ),
        ("~~~text output\n2\n~~~\n", "page.md:2: no Python block before"),
        ("~~~python no-run\n~~~\n", "no such kind of block: 'python no-run'"),
        ("~~~text file=../a\n~~~\n", "leaves the page's folder"),
        ("~~~console\n$ ls\na\n~~~\n", "page.md:2: only commands that call priompt"),
        ("~~~console\nls\n~~~\n", "begins with"),
    ],
)
def test_faults_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fault: str) -> None:
    with pytest.raises(SnippetError, match=fault):
        run_text(tmp_path, monkeypatch, text)


def test_traceback_tells_the_line_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_text(tmp_path, monkeypatch, "# Title\n\n~~~python\nx = 0\n1 / x\n~~~\n")
    assert caught.traceback[-1].lineno == 4  # 0-based


def test_commands_of_a_console_block() -> None:
    text = "$ priompt a \\\n    --b\none\n\ntwo\n$ pip install x\n$ priompt c\n"
    assert list(commands(text, 10)) == [
        ("priompt a \\\n    --b", "one\n\ntwo", 10),
        ("pip install x", "", 15),
        ("priompt c", "", 16),
    ]


@pytest.mark.parametrize(
    ("command", "shown", "fault"),
    [
        ("priompt 0 a", "a", None),
        ("A=1 priompt 0 a | tr a b", "b", None),
        ("echo '{}' | priompt 0 a b", "a\n...", None),
        ("priompt 3 a  # exits with 3", "a", None),
        ("priompt 3 a", "a", "exit code 3, not 0"),
        ("priompt 0 b", "a", "it prints"),
    ],
)
def test_commands_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, shown: str, fault: str | None
) -> None:
    program = tmp_path / "priompt"
    program.write_text(
        '#!/bin/sh\ncat >/dev/null; code=$1; shift; printf "%s\\n" "$@"; exit $code\n', "utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    if fault is None:
        run_command(command, shown, "page.md:1")
    else:
        with pytest.raises(SnippetError, match=fault):
            run_command(command, shown, "page.md:1")


@pytest.mark.parametrize(
    ("shown", "result"),
    [
        ("a\nb\nc", True),
        ("a\n...\nc", True),
        ("a\n...", True),
        ("...", True),
        ("a\nb\nc\n...", True),
        ("a", False),
        ("a\n...\nd", False),
        ("a.*", False),
    ],
)
def test_dots_stand_for_lines(shown: str, result: bool) -> None:
    assert matches("a  \nb\nc\n\n", shown) is result


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
