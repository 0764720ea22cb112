"""mypy and pyright agree with the authors of right programs, and find every fault of wrong ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RIGHT = Path(__file__).with_name("typing_right.py")
WRONG = Path(__file__).with_name("typing_wrong.py")
IGNORED = re.compile(r"  # type: ignore\[[a-z,-]+\]  # pyright: ignore\[\w+\]$")


def wrong_lines() -> set[int]:
    lines = WRONG.read_text("utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if IGNORED.search(line)}


def without_ignores(folder: Path) -> Path:
    """The wrong program as its author would have it, without a word on its faults."""
    bare = folder / "wrong.py"
    lines = WRONG.read_text("utf-8").splitlines()
    bare.write_text("\n".join(IGNORED.sub("", line) for line in lines) + "\n", "utf-8")
    return bare


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False).stdout


def mypy(path: Path, cache: Path) -> list[str]:
    out = run(
        sys.executable,
        "-m",
        "mypy",
        "--cache-dir",
        str(cache),
        "--no-error-summary",
        "--hide-error-context",
        str(path),
    )
    return [line for line in out.splitlines() if ": error:" in line]


def pyright(path: Path, project: Path) -> list[dict[str, Any]]:
    program = shutil.which("pyright", path=str(Path(sys.executable).parent))
    assert program is not None, "pyright is not installed"
    settings = {
        "include": [str(path)],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": True,
    }
    project.write_text(json.dumps(settings), "utf-8")
    out = run(program, "--outputjson", "--pythonpath", sys.executable, "--project", str(project))
    found: list[dict[str, Any]] = json.loads(out)["generalDiagnostics"]
    return [one for one in found if one["severity"] == "error"]


def test_the_right_program_runs() -> None:
    run_it = subprocess.run(
        [sys.executable, str(RIGHT)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (run_it.returncode, run_it.stderr) == (0, "")


@pytest.mark.slow
def test_mypy(tmp_path: Path) -> None:
    assert mypy(RIGHT, tmp_path) == []
    assert mypy(WRONG, tmp_path) == []  # with warn_unused_ignores: each line has its error
    found = mypy(without_ignores(tmp_path), tmp_path)
    assert {int(line.split(":")[1]) for line in found} == wrong_lines()


@pytest.mark.slow
def test_pyright(tmp_path: Path) -> None:
    project = tmp_path / "pyrightconfig.json"
    assert pyright(RIGHT, project) == []
    assert pyright(WRONG, project) == []
    found = pyright(without_ignores(tmp_path), project)
    assert {one["range"]["start"]["line"] + 1 for one in found} == wrong_lines()


def test_there_are_wrong_lines() -> None:
    assert len(wrong_lines()) > 30
