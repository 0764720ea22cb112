"""``priompt test``: what it finds, says, writes, and how it ends."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from priompt_py.cli.junit import Result, junit_xml
from priompt_py.preview import registry
from tests.cli.conftest import Priompt

CHAT = """\
---
props:
  question: str
  history: list = []
token_limit: 60
limits: [40]
must_keep: [question]
examples:
  short: {question: "Why?"}
  long: {question: "Why?", history: ["one two three four five", "six seven eight", "nine ten eleven"]}
---
<system>Answer briefly.</system>
<for each="text" index="i" in={history}>
  <scope prel={turn(i)} name="turn {i}"><user>{text}</user></scope>
</for>
<user key="question">{question}</user>
"""
LOSES = CHAT.replace(
    '<user key="question">{question}</user>', '<user p={1} key="question">{question}</user>'
).replace("limits: [40]", "limits: [13]")
MODULE = """\
from priompt_py import system_message, user_message
from priompt_py.preview.registry import prompt, register

@prompt(id="test-greet", token_limit=20)
def greet(name: str = "you"):
    return user_message["Hello ", name]

greet.examples = {"ann": {"name": "Ann"}}
greet.must_keep = []

@prompt(id="test-slow")
async def slow():
    print("not on standard output")
    return "text"

@prompt(id="test-needs")
def needs(question):
    return question

def plain():
    return "plain"

node = user_message["a"]
"""


@pytest.fixture(autouse=True)
def no_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test registers its prompts anew, in a folder of its own."""
    monkeypatch.setattr(registry, "_prompts", {})


@pytest.fixture
def chat(folder: Path) -> Path:
    (folder / "chat.priompt").write_text(CHAT, "utf-8")
    (folder / "prompts.py").write_text(MODULE, "utf-8")
    return folder


def test_a_template(priompt: Priompt, chat: Path) -> None:
    done = priompt("test", "chat.priompt")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "chat.priompt",
        "  ok   short: 16 tokens at limits of 40, 60",
        "  ok   long: 39 tokens at limits of 40, 60",
        "2 examples: 2 passed",
    ]


def test_another_limit(priompt: Priompt, chat: Path) -> None:
    done = priompt("test", "chat.priompt", "--limit", "1000")
    assert (done.code, done.out.splitlines()[1]) == (0, "  ok   short: 16 tokens at a limit of 1,000")
    done = priompt("test", "chat.priompt", "--limit", "5")
    assert done.code == 1
    assert done.out.splitlines()[1:5] == [
        (
            "  FAIL short: chat.priompt breaks 'fits' at a limit of 5: the prompt needs 16 tokens, over its limit of 5; the "
            "smallest limit that works is 16; the largest parts that are always in: root > 0:system (3 tokens), root > "
            "2:user[key=question] (2 tokens)"
        ),
        "         (the prompt fits every limit)",
        (
            "         check_budget(load_template('chat.priompt'), {'question': 'Why?'}, token_limits=[5], "
            "must_keep=['question'])"
        ),
        "         its tree:",
    ]


def test_a_folder(priompt: Priompt, chat: Path) -> None:
    (chat / "sub").mkdir()
    (chat / "sub" / "loses.priompt").write_text(LOSES, "utf-8")
    (chat / "sub" / "needs.priompt").write_text("---\nprops: {n: int}\n---\n{n}\n", "utf-8")
    (chat / ".hidden").mkdir()
    for name in ("test_a.py", "setup.py", "conftest.py", ".hidden/a.py", "other.py", "broken.py"):
        text = "raise SystemError" if name == "other.py" else "from priompt_py import prompt\n1 / 0\n"
        (chat / name).write_text("x = (" if name == "broken.py" else text, "utf-8")
    done = priompt("test", ".")
    assert (done.code, done.err) == (1, "not on standard output\n" * 2)
    lines = [line for line in done.out.splitlines() if not line.startswith("       ")]
    assert lines == [
        "chat.priompt",
        "  ok   short: 16 tokens at limits of 40, 60",
        "  ok   long: 39 tokens at limits of 40, 60",
        "prompts.py:test-greet",
        "  ok   ann: 9 tokens at a limit of 20",
        "prompts.py:test-slow",
        "  ok   (no props): 1 token at limits of 0, 1, 2",
        "prompts.py:test-needs",
        "  -    (no props): it needs props, and has no examples",
        "sub/loses.priompt",
        (
            "  FAIL short: sub/loses.priompt breaks 'kept' at a limit of 13: 'question' is left out: its priority is 1, the "
            "cutoff is 1000000000 (root > 2:user[key=question])"
        ),
        (
            "  FAIL long: sub/loses.priompt breaks 'kept' at a limit of 13: 'question' is left out: its priority is 1, the "
            "cutoff is 1000000000 (root > 5:user[key=question])"
        ),
        "sub/needs.priompt",
        "  -    (no props): it needs props, and has no examples",
        "8 examples: 4 passed, 2 failed, 2 not tested",
    ]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("prompts.py:plain", "prompts.py:plain"),
        ("prompts.py:node", None),
        ("prompts:greet", "prompts:greet"),
        ("prompts", "prompts:test-greet"),
        ("prompts.py", "prompts.py:test-greet"),
    ],
)
def test_python(priompt: Priompt, chat: Path, path: str, line: str | None) -> None:
    done = priompt("test", path)
    if line is None:
        assert done.code == 3
        assert "needs a function, a component or a template" in done.out
        return
    assert (done.code, done.out.splitlines()[0]) == (0, line)


def test_code_that_fails_ends_with_3(priompt: Priompt, chat: Path) -> None:
    (chat / "crash.py").write_text("from priompt_py.preview.registry import prompt\n1 / 0\n", "utf-8")
    (chat / "divide.priompt").write_text(
        "---\nprops: {n: int}\nexamples:\n  a: {n: 0}\n  b: {n: 1}\n  c: {m: 1}\n---\n{1 / n}\n", "utf-8"
    )
    (chat / "wrong.priompt").write_text("<user>", "utf-8")
    done = priompt("test", "crash.py", "divide.priompt", "wrong.priompt")
    assert (done.code, done.err) == (3, "")
    assert done.out.splitlines() == [
        "crash.py",
        "  FAIL (no props): crash.py:2: ZeroDivisionError: division by zero",
        "divide.priompt",
        "  FAIL a: divide.priompt:8:4: division by zero",
        "           {1 / n}",
        "              ^",
        "  ok   b: 3 tokens at 4 limits from 0 to 4",
        "  FAIL c: divide.priompt: divide.priompt takes no prop m; it takes n",
        "wrong.priompt",
        "  FAIL (no props): wrong.priompt:1:1: <user> is not closed: </user> is missing",
        "           <user>",
        "           ^",
        "5 examples: 1 passed, 4 with errors",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "priompt test: needs PATH... (priompt test --help tells more)\n"),
        (["no.priompt"], "no.priompt: no such file\n"),
        (["no.py"], "no.py: no such file; did you mean none.py?\n"),
        (["no/such"], "no/such: no such file\n"),
        (["nosuchmodule"], "priompt: no module named 'nosuchmodule' here or where Python looks\n"),
        (["a.txt"], "a.txt: is no .priompt file, Python file, module or folder\n"),
        (["prompts.py:nope"], "prompts.py:nope: no 'nope' in it\n"),
        (
            ["empty"],
            "empty: there is no .priompt file below this folder, and no Python file that registers prompts\n",
        ),
        (["none.py"], "none.py: registers no prompts: @prompt(id=…) does\n"),
        (
            ["chat.priompt", "--limit", "x"],
            "priompt: --limit needs a whole number of tokens, 0 or more, got 'x'\n",
        ),
    ],
)
def test_wrong_usage_ends_with_2(priompt: Priompt, chat: Path, arguments: list[str], message: str) -> None:
    (chat / "a.txt").write_text("a", "utf-8")
    (chat / "none.py").write_text("x = 1\n", "utf-8")
    (chat / "empty").mkdir()
    assert priompt("test", *arguments) == (2, "", message)


def test_nothing_to_test_is_no_success(priompt: Priompt, folder: Path) -> None:
    (folder / "needs.priompt").write_text("---\nprops: {n: int}\n---\n{n}\n", "utf-8")
    done = priompt("test", "needs.priompt")
    assert done.code == 2
    assert done.err == "priompt: nothing was tested: no prompt has examples, or can be called without props\n"


def test_junit(priompt: Priompt, chat: Path) -> None:
    (chat / "loses.priompt").write_text(LOSES, "utf-8")
    assert priompt("test", "chat.priompt", "loses.priompt", "--junit", "out.xml").code == 1
    root = ET.parse(chat / "out.xml").getroot()  # noqa: S314 - just written
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    cases = [
        (case.get("classname"), case.get("name"), [child.tag for child in case])
        for case in root.iter("testcase")
    ]
    assert cases == [
        ("chat.priompt", "short", []),
        ("chat.priompt", "long", []),
        ("loses.priompt", "short", ["failure"]),
        ("loses.priompt", "long", ["failure"]),
    ]
    assert [path.name for path in chat.iterdir() if path.name.startswith(".")] == []
    done = priompt("test", "chat.priompt", "--junit", "no/such/folder.xml")
    assert (done.code, done.err) == (2, "no/such/folder.xml: can't be written: No such file or directory\n")


def test_junit_holds_any_text() -> None:
    results = [
        Result("a.priompt", "", "broken", "bad \x1b[0m\x00 \ud800 <&> 😀\nmore", 0.25),
        Result("a.priompt", "x", "skipped", "why", 0.0),
    ]
    root = ET.fromstring(junit_xml(results).encode())  # noqa: S314 - our own text
    error = root.find("testsuite/testcase/error")
    assert error is not None
    assert (error.get("message"), error.text) == ("bad �[0m� � <&> 😀", "bad �[0m� � <&> 😀\nmore")
    assert [case.get("name") for case in root.iter("testcase")] == ["without props", "x"]
    assert root.get("time") == "0.250"


def test_a_folder_is_tested_whatever_is_wrong_with_one_of_its_files(priompt: Priompt, folder: Path) -> None:
    (folder / "a.priompt").write_bytes(b"\xc8\x00")
    (folder / "b.py").write_text("from priompt_py import prompt\nx = (", "utf-8")
    (folder / "c.py").write_text("from priompt_py import prompt\n", "utf-8")  # registers none
    (folder / "d.py").write_bytes(b"import priompt_py\n\x00")
    (folder / "e.py").write_text(
        "from priompt_py import *\n@prompt(id='test-star')\ndef star():\n    return 'text'\n", "utf-8"
    )
    (folder / "f.py").write_text("from priompt_py import *\nraise SystemError\n", "utf-8")  # no prompts
    (folder / "g.py").write_text("import priompt_py, nosuchmodule\npriompt_py.prompt\n", "utf-8")
    (folder / "h.py").write_text(
        "import priompt_py.preview.registry as r\n@r.prompt(id='test-dotted')\ndef dotted():\n    return 'text'\n",
        "utf-8",
    )
    done = priompt("test", ".", "--junit", "out.xml")
    assert (done.code, done.err) == (3, "")
    lines = [line for line in done.out.splitlines() if not line.startswith("       ")]
    assert [line.partition(": SyntaxError: ")[0] for line in lines] == [
        "a.priompt",
        "  FAIL (no props): a.priompt: not UTF-8: byte 0xC8 at offset 0 (line 1); save it as UTF-8",
        "b.py",
        "  FAIL (no props): b.py:2:5",
        "d.py",
        "  FAIL (no props): d.py",
        "e.py:test-star",
        "  ok   (no props): 1 token at limits of 0, 1, 2",
        "g.py",
        "  FAIL (no props): g.py:1: ModuleNotFoundError: No module named 'nosuchmodule'",
        "h.py:test-dotted",
        "  ok   (no props): 1 token at limits of 0, 1, 2",
        "6 examples: 2 passed, 4 with errors",
    ]
    assert ET.parse(folder / "out.xml").getroot().get("errors") == "4"  # noqa: S314 - just written


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("limits = 'x'", "greet.limits needs a list of whole numbers of tokens, got 'x' (str)"),
        ("limits = [1, 'x']", "token_limit needs a whole number of tokens, got token_limit='x' (str)"),
        ("limits = [1.5]", "token_limit needs a whole number of tokens, got token_limit=1.5 (float)"),
        ("token_limit = True", "greet.token_limit needs a whole number of tokens, got True (bool)"),
        ("must_keep = 'q'", "greet.must_keep needs a list of labels, as in [\"question\"], got 'q' (str)"),
        ("must_keep = [3]", 'greet.must_keep needs a list of labels, as in ["question"], got (3,) (tuple)'),
        ("tokenizer = 3", "greet.tokenizer needs the name of a tokenizer, got 3 (int)"),
        (
            "examples = {3: {}}",
            (
                'greet.examples needs props by the name of the example, as in {"short": {"question": "Why?"}}, '
                "got {3: {}} (dict)"
            ),
        ),
        (
            "examples = {'a': 3}",
            (
                'greet.examples needs props by the name of the example, as in {"short": {"question": "Why?"}}, '
                "got {'a': 3} (dict)"
            ),
        ),
    ],
)
def test_what_a_function_declares_is_checked(
    priompt: Priompt, folder: Path, attribute: str, message: str
) -> None:
    (folder / "greet.py").write_text(f"def greet():\n    return 'Hello'\n\ngreet.{attribute}\n", "utf-8")
    done = priompt("test", "greet.py:greet", "--junit", "out.xml")
    assert (done.code, done.err) == (3, "")
    assert done.out == (
        f"greet.py:greet\n  FAIL (no props): greet.py:greet: {message}\n1 example: 1 with errors\n"
    )
