"""`priompt check`: what it says of priorities, and of the renders of a template's examples."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Priompt

LONG = "The rules of this house stand here, one after the other. " * 15

TEMPLATE = """\
---
token_limit: 1000
props:
  now: str
  turns: list
examples:
  one:
    now: "12:01"
    turns: [a]
  two:
    now: "12:02"
    turns: [a, b]
---
<system>Time {now}. RULES</system>
<for each="turn" index="i" in={turns}><scope prel={i - length(turns)} name={"turn " + str(i)}><user>{turn}</user></scope></for>
"""


def test_examples_of_templates_are_compared(folder: Path, priompt: Priompt) -> None:
    (folder / "talk.priompt").write_text(TEMPLATE.replace("RULES", LONG), "utf-8")
    done = priompt("check", "talk.priompt")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(
        "talk.priompt:10: example two: turn 0 has the priority 999999999 in the example before and "
    )
    assert lines[1].startswith(
        "talk.priompt:10: example two: root > 0:system > 1:text differs between the example before"
    )
    assert priompt("check", "talk.priompt", "--no-warnings").out == ""


def test_sources_in_python(folder: Path, priompt: Priompt) -> None:
    (folder / "own.py").write_text(
        "from priompt_py import scope\nprompt = ['a', scope(p=1)[scope(p=2)['b']]]\n", "utf-8"
    )
    done = priompt("check", "own.py:prompt")
    assert (done.code, done.out) == (
        1,
        "own.py:prompt: root > 1:scope > 0:scope: priority 2 can never act above 1, which the element around it has\n",
    )


def test_what_the_text_of_a_template_shows_is_told_once(folder: Path, priompt: Priompt) -> None:
    (folder / "own.priompt").write_text(
        "---\nprops: {}\n---\n<scope p={1}><scope p={2}>b</scope></scope>\n", "utf-8"
    )
    done = priompt("check", "own.priompt")
    assert done.code == 1
    assert done.out.count("can never act above") == 1
