"""The pytest plugin, as users have it: in a pytest of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

PROMPTS = """\
from priompt_py import scope, system_message, user_message
from priompt_py.testing import budget_test, check_budget

def chat(question: str, page: str):
    return [system_message["Be brief."], scope(p=1, name="page")[user_message[page]], user_message(key="question")[question[:20]]]
"""


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env=plain | {"PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "200"},
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", "utf-8")
    (tmp_path / "prompts.py").write_text(PROMPTS, "utf-8")
    return tmp_path


def test_importing_the_plugin_imports_nothing_of_ours(tmp_path: Path) -> None:
    code = (
        "import argparse, sys, time, pytest\n"
        "before = set(sys.modules)\n"
        "start = time.process_time()\n"
        "import _priompt_pytest\n"
        "took = time.process_time() - start\n"
        "print(sorted(set(sys.modules) - before), took)\n"
    )
    took: list[float] = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, cwd=tmp_path
        )
        modules, _, seconds = done.stdout.strip().rpartition(" ")
        assert modules == "['_priompt_pytest']"
        took.append(float(seconds))
    assert min(took) < 0.005


def test_a_pytest_that_does_not_use_it_imports_nothing_of_ours(folder: Path) -> None:
    (folder / "test_other.py").write_text(
        "import sys\ndef test_other():\n"
        "    assert '_priompt_pytest' in sys.modules\n"
        "    assert not [name for name in sys.modules if name.startswith('priompt_py')]\n",
        "utf-8",
    )
    done = pytest_in(folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_budget_test_passes_and_has_a_marker(folder: Path) -> None:
    (folder / "test_chat.py").write_text(
        "from prompts import *\n"
        "test_chat = budget_test(chat, limits=range(100, 400), must_keep=['question'])\n"
        "def test_other(): pass\n",
        "utf-8",
    )
    assert "1 passed, 1 deselected" in pytest_in(folder, "-m", "priompt_budget").stdout


@pytest.mark.slow
def test_priompt_limit_runs_budget_tests_at_one_limit(folder: Path) -> None:
    (folder / "test_chat.py").write_text(
        "from prompts import *\n"
        "seen = []\n"
        "@budget_test(chat, limits=range(100, 400), must_keep=['question'])\n"
        "def test_chat(token_limit): seen.append(token_limit)\n"
        "def test_direct():\n"
        "    found = check_budget(chat, {'question': 'Why?', 'page': 'a'}, token_limits=[100])\n"
        "    assert list(found) == [101]\n"
        "def test_seen(): assert set(seen) == {101}\n",
        "utf-8",
    )
    assert pytest_in(folder).returncode == 1
    done = pytest_in(folder, "-v", "--priompt-limit", "101")
    assert "3 passed" in done.stdout
    assert "priompt: budget tests at a limit of 101 tokens alone" in done.stdout
    done = pytest_in(folder, "--priompt-limit", "5")
    assert "chat breaks 'fits' at a limit of 5: the prompt needs" in done.stdout


@pytest.mark.parametrize("value", ["-1", "many", "1.5"])
def test_priompt_limit_is_checked(folder: Path, value: str) -> None:
    done = pytest_in(folder, f"--priompt-limit={value}")
    assert done.returncode == 4
    assert f"needs a whole number of tokens, 0 or more, got '{value}'" in done.stderr


@pytest.mark.slow
def test_it_works_in_several_processes(folder: Path) -> None:
    (folder / "test_chat.py").write_text(
        "import pytest\n"
        "from prompts import *\n"
        "from priompt_py import render\n"
        "@pytest.mark.parametrize('n', range(4))\n"
        "@budget_test(chat, limits=[200, 300])\n"
        "def test_chat(rendered, n, token_limit): assert token_limit == 250\n"
        "def test_snapshot(prompt_snapshot):\n"
        "    assert render(chat('Why?', 'a page'), token_limit=50) == prompt_snapshot\n",
        "utf-8",
    )
    done = pytest_in(folder, "-n", "2", "--priompt-limit=250", "--snapshot-update", "--junit-xml", "out.xml")
    assert "5 passed" in done.stdout, done.stdout
    cases = {case.get("name") for case in ET.parse(folder / "out.xml").iter("testcase")}  # noqa: S314 - just written
    assert cases == {"test_snapshot", *(f"test_chat[{n}]" for n in range(4))}
    assert "6 passed" not in pytest_in(folder, "-n", "2", "--priompt-limit=250").stdout


SNAPSHOT = """\
# serializer version: 1
# name: test_chat
  25 of 60 tokens, cutoff 1

  [system]
    Be brief.

  [user]
    [assistant]
    a page

  [user]
    Why?
# ---
# name: test_chat.1
  16 of 20 tokens, cutoff 1000000000

  [system]
    Be brief.

  [user]
    Why?

  [left out]
    root > 1:scope[name=page] (priority 1, below cutoff)
# ---
"""


@pytest.mark.slow
def test_snapshots_can_be_read_and_reviewed(folder: Path) -> None:
    (folder / "test_chat.py").write_text(
        "from prompts import *\n"
        "from priompt_py import render\n"
        "def test_chat(prompt_snapshot):\n"
        "    tree = chat('Why?', '[assistant]\\na page')\n"
        "    assert render(tree, token_limit=60) == prompt_snapshot\n"
        "    assert render(tree, token_limit=20) == prompt_snapshot\n",
        "utf-8",
    )
    assert "2 snapshots failed" in pytest_in(folder).stdout.replace("1 snapshot failed", "2 snapshots failed")
    assert pytest_in(folder, "--snapshot-update").returncode == 0
    written = (folder / "__snapshots__" / "test_chat.ambr").read_text("utf-8")
    assert "\n".join(line.rstrip() for line in written.splitlines()) + "\n" == SNAPSHOT
    assert pytest_in(folder).returncode == 0
    source = (folder / "test_chat.py").read_text("utf-8").replace("a page", "another page")
    (folder / "test_chat.py").write_text(source, "utf-8")
    done = pytest_in(folder, "-vv")
    assert done.returncode == 1
    assert "another page" in done.stdout


def test_prompt_snapshot_says_what_it_needs(folder: Path) -> None:
    (folder / "test_chat.py").write_text("def test_chat(prompt_snapshot): pass\n", "utf-8")
    done = pytest_in(folder, "-p", "no:syrupy")
    assert done.returncode == 1
    assert "prompt_snapshot needs syrupy: pip install 'priompt-py[testing]'" in done.stdout
