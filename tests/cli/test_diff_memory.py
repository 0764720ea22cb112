"""`priompt diff`: two turns of a conversation with `--memory`, standard input for both, what is said of B's options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Priompt

TALK = """\
from priompt_py import scope, system_message, turn, user_message

def chat(rank, n=12):
    said = [scope(prel=rank(i, n), name=f"turn {i}")[user_message[f"I said {i}."]] for i in range(n)]
    return [system_message["Answer briefly."], said, user_message["And now?"]]

def from_start(n=12):
    return chat(lambda i, n: turn(i), n)

def from_newest(n=12):
    return chat(lambda i, n: i - n, n)
"""


def shared(priompt: Priompt, *arguments: str) -> str:
    """The first lines of a diff under a limit that cuts: what is shared, and of how much."""
    done = priompt("diff", *arguments, "--set-b", "n=13", "--limit", "90", "--plain")
    assert (done.code, done.err) == (0, "")
    return " / ".join(" ".join(line.split()) for line in done.out.splitlines()[:3])


def test_memory_makes_the_second_render_one_that_goes_on(folder: Path, priompt: Priompt) -> None:
    (folder / "talk.py").write_text(TALK)
    assert shared(priompt, "talk.py:from_start") == (
        "shared 13 tokens of prefix / 14 % of A, which has 89 tokens / 14 % of B, which has 89 tokens"
    )
    assert shared(priompt, "talk.py:from_start", "--memory") == (
        "shared 55 tokens of prefix / 88 % of A, which has 62 tokens / 77 % of B, which has 71 tokens"
    )
    assert shared(priompt, "talk.py:from_newest", "--memory") == (
        "shared 13 tokens of prefix / 20 % of A, which has 62 tokens / 20 % of B, which has 62 tokens"
    )


def test_memory_of_a_prompt_that_fits_changes_nothing(folder: Path, priompt: Priompt) -> None:
    (folder / "talk.py").write_text(TALK)
    one, other = (
        priompt("diff", "talk.py:from_start", "--set-b", "n=13", "--limit", "1000", *more).out
        for more in ([], ["--memory"])
    )
    assert one == other != ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--limit-b", "x"], "priompt: --limit-b needs a whole number of tokens, 0 or more, got 'x'\n"),
        (["--set-b", "n"], "priompt: --set-b needs NAME=VALUE, got 'n'\n"),
        (["--set-b", "n.a=3", "--set", "n=2"], "priompt: --set-b n.a: n is a number, not an object\n"),
        (["--set", "n", "--set-b", "n=3"], "priompt: --set needs NAME=VALUE, got 'n'\n"),
        (["--props-b", "{1"], "--props-b:1:2: not JSON: names stand in double quotes, got '1'\n"),
        (["--props", "{1", "--set-b", "n=3"], "--props:1:2: not JSON: names stand in double quotes, got '1'\n"),
    ],
)  # fmt: skip
def test_faults_name_the_option_that_was_given(
    folder: Path, priompt: Priompt, arguments: list[str], told: str
) -> None:
    (folder / "talk.py").write_text(TALK)
    done = priompt("diff", "talk.py:from_start", "--limit", "90", *arguments)
    assert (done.code, done.err) == (2, told)


def test_standard_input_is_there_for_both(folder: Path, priompt: Priompt) -> None:
    (folder / "talk.py").write_text(TALK)
    tree = b'["a", {"type": "scope", "p": 1, "children": [" b b b"]}]'
    done = priompt("diff", "-", "--limit", "100", "--limit-b", "1", "--plain", stdin=tree)
    assert (done.code, done.err) == (0, "")
    assert "A: root > 1:scope > 0:text" in done.out
    given = ["diff", "talk.py:from_start", "--props", "-", "--limit", "90", "--limit-b", "30"]
    assert priompt(*given, stdin=b'{"n": 3}').code == 0
    assert priompt("diff", "-", "-", "--limit", "9", stdin=b'"b"').out == "A and B are sent alike: 1 token\n"
