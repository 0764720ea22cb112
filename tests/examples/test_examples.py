"""Runs every examples/*.py and compares what it prints with the text after `Prints:` in its docstring."""

from __future__ import annotations

import ast
import contextlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Generator
from pathlib import Path

import pytest
import yaml

from tests.runtime.server import Say, Server

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
ANSWERS = Path(__file__).parent / "answers"  # of the models that examples ask
MARK = "\nPrints:\n"
# A screen of a known size without colours, the same on every machine.
SCREEN = {
    "COLUMNS": "100",
    "LINES": "40",
    "NO_COLOR": "1",
    "PYTHONUTF8": "1",
    "PYTHONWARNINGS": "error",
    "TERM": "dumb",
}


def promised(source: str) -> list[str]:
    """The lines that the docstring says are printed: what follows the line `Prints:`, without its indentation."""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert MARK in docstring, "its docstring has no line `Prints:`"
    return lines_of(textwrap.dedent(docstring.partition(MARK)[2]))


def lines_of(text: str) -> list[str]:
    """Lines without blanks at their ends, and without blank lines at the start and the end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()


@contextlib.contextmanager
def model_of(script: Path) -> Generator[dict[str, str], None, None]:
    """The variables with which an example finds its model: a local server that gives the answers in answers/."""
    answers = ANSWERS / f"{script.stem}.yaml"
    if not answers.exists():
        yield {}
        return
    with Server(Say(**one) for one in yaml.safe_load(answers.read_text("utf-8"))) as server:
        yield {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{server.url}/v1"}
        assert server.faults == []
        assert not server.answers, "not everything was asked for"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_prints_what_it_says(script: Path, tmp_path: Path) -> None:
    with model_of(script) as model:
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=tmp_path,  # an example runs from any folder
            capture_output=True,
            encoding="utf-8",
            env=os.environ | SCREEN | model,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert lines_of(done.stdout) == promised(script.read_text("utf-8"))


def test_promise_is_read_without_its_indentation() -> None:
    assert promised('"""Title.\n\nPrints:\n\n    a\n      b\n\n    c\n"""\nprint()\n') == [
        "a",
        "  b",
        "",
        "c",
    ]


def test_promise_is_required() -> None:
    with pytest.raises(AssertionError, match="no line `Prints:`"):
        promised('"""Title. Prints: nothing."""')
