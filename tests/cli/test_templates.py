"""``priompt render``, ``check`` and ``fmt`` with templates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Priompt

CHAT = """\
---
props:
  name: str
  history: list = []
token_limit: 60
---
<import name="Rules" from="./parts/rules"/>
<system>
  The user is {name}.
  <Rules tone="kind"/>
</system>
<for each="text" index="i" in={history}>
  <scope prel={turn(i)} name="turn {i}">
    <user>{text}</user>
  </scope>
</for>
"""
RULES = "---\nprops:\n  tone: str\n---\nBe {tone}.\n"


@pytest.fixture
def chat(folder: Path) -> Path:
    (folder / "parts").mkdir()
    (folder / "chat.priompt").write_text(CHAT, "utf-8")
    (folder / "parts" / "rules.priompt").write_text(RULES, "utf-8")
    return folder


def test_render(priompt: Priompt, chat: Path) -> None:
    done = priompt("render", "chat.priompt", "--set", "name=Ann", "--set", 'history=["Hi"]')
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == [
        {"role": "system", "content": "The user is Ann.\nBe kind."},
        {"role": "user", "content": "Hi"},
    ]


def test_the_front_matter_has_the_limit_and_the_tokenizer(priompt: Priompt, folder: Path) -> None:
    (folder / "a.priompt").write_text(
        "---\ntoken_limit: 3\ntokenizer: cl100k_base\n---\none two three\n", "utf-8"
    )
    shown = json.loads(priompt("render", "a.priompt", "--format", "json").out)
    assert (shown["token_limit"], shown["token_count"]) == (3, 3)
    assert priompt("render", "a.priompt", "--limit", "2").code == 1
    (folder / "b.priompt").write_text("---\ntoken_limit: 3\ntokenizer: none\n---\none\n", "utf-8")
    assert priompt("render", "b.priompt").code == 2
    assert priompt("render", "b.priompt", "--tokenizer", "o200k_base").out == "one"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["chat.priompt"], 2, "chat.priompt: needs the prop name: give --set name=VALUE or --props"),
        (
            ["chat.priompt", "--set", "nam=a"],
            2,
            "chat.priompt: no prop 'nam'; did you mean name?; it takes name, history",
        ),
        (
            ["chat.priompt", "--set", "name=3"],
            3,
            "chat.priompt: the prop name of chat.priompt is a str, got 3 (an int)",
        ),
        (["cha.priompt"], 2, "cha.priompt: no such file; did you mean chat.priompt?"),
        (
            ["parts/rules.priompt", "--set", "tone=a"],
            2,
            "parts/rules.priompt: no token limit: give --limit N, or the prompt a token_limit of its own",
        ),
        (
            ["wrong.priompt", "--limit", "5"],
            3,
            "wrong.priompt:2:5: the expression ends where a value is expected\n{a +}\n^",
        ),
        (
            ["undefined.priompt", "--limit", "5"],
            3,
            "undefined.priompt:1:2: x is not defined\n    {x}\n     ^",
        ),
        (
            ["latin.priompt", "--limit", "5"],
            2,
            "latin.priompt: not UTF-8: byte 0xE9 at offset 0 (line 1); save it as UTF-8",
        ),
    ],
)
def test_wrong_renders(priompt: Priompt, chat: Path, arguments: list[str], code: int, message: str) -> None:
    (chat / "wrong.priompt").write_text("<user>\n{a +}\n</user>", "utf-8")
    (chat / "undefined.priompt").write_text("{x}", "utf-8")
    (chat / "latin.priompt").write_bytes(b"\xe9")
    done = priompt("render", *arguments)
    assert (done.code, done.out) == (code, "")
    assert (
        re.sub(r"^ +", "", done.err, flags=re.MULTILINE)
        == re.sub(r"^ +", "", message, flags=re.MULTILINE) + "\n"
    )


def test_the_way_through_templates_is_told(priompt: Priompt, chat: Path) -> None:
    (chat / "parts" / "rules.priompt").write_text(RULES.replace("{tone}", "{tone.x}"), "utf-8")
    done = priompt("render", "chat.priompt", "--set", "name=Ann")
    assert done.code == 3
    assert done.err == (
        "parts/rules.priompt:5:10: a str has no .x: only mappings and classes with declared fields have\n"
        "    Be {tone.x}.\n"
        "             ^\n"
        "  in chat.priompt:10 <Rules> → parts/rules.priompt:5\n"
    )


def test_check(priompt: Priompt, chat: Path) -> None:
    assert priompt("check", ".") == (0, "", "")
    (chat / "parts" / "rules.priompt").write_text(
        "---\nprops:\n  tone: str\n  x: int = 1\n---\n</user>{ton}", "utf-8"
    )
    (chat / "b.priompt").write_text("{1 +}}<scop>", "utf-8")
    done = priompt("check", ".")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        "b.priompt:1:5: the expression ends where a value is expected",
        'b.priompt:1:6: a lone `}`: as text it is written {"}"} or &rbrace;',
        "b.priompt:1:7: there is no <scop>; did you mean scope?",
        "b.priompt:1:7: <scop> is not closed: </scop> is missing",
        "parts/rules.priompt:6:1: </user> closes nothing: no <user> is open",
        "parts/rules.priompt:6:9: ton is not defined; did you mean tone?",
    ]


def test_check_tells_warnings_apart(priompt: Priompt, folder: Path) -> None:
    (folder / "a.priompt").write_text("<let name='x' value={1}/>", "utf-8")
    assert priompt("check", "a.priompt") == (1, "a.priompt:1:1: warning: x is not used\n", "")
    assert priompt("check", "--no-warnings", "a.priompt") == (0, "", "")


def test_check_renders_the_examples(priompt: Priompt, folder: Path) -> None:
    (folder / "a.priompt").write_text(
        "---\nprops:\n  n: int\ntoken_limit: 20\nlimits: [4]\nmust_keep: [extra]\nexamples:\n  small: {n: 1}\n"
        "  large: {n: 30}\n  broken: {n: x}\n---\n"
        "<for each='i' in={range(n)}>word </for><scope p={1} name='extra'>more words for the prompt</scope>",
        "utf-8",
    )
    done = priompt("check", "a.priompt")
    assert done.code == 1
    assert [line.partition(";")[0] for line in done.out.splitlines()] == [
        "a.priompt:8: example small: extra must be kept, and is left out under the limit of 4",
        "a.priompt:9: example large: under its own limit: the prompt needs 31 tokens, over its limit of 20",
        "a.priompt:9: example large: under its own limit: the prompt needs 31 tokens, over its limit of 4",
        "a.priompt:10: example broken: the prop n of a.priompt is an int, got 'x' (a str)",
    ]


def test_check_takes_other_sources(priompt: Priompt, folder: Path) -> None:
    (folder / "prompts.py").write_text(
        "from priompt_py import user_message\n"
        "def good(): return user_message['a']\n"
        "def needs(x): return x\n"
        "def bad(): return user_message[user_message['a']]\n",
        "utf-8",
    )
    assert priompt("check", "prompts.py:good", "prompts.py:needs") == (0, "", "")
    done = priompt("check", "prompts.py:bad")
    assert (done.code, done.out.startswith("prompts.py:bad: "), done.err) == (1, True, "")


def test_check_of_a_folder_without_templates(priompt: Priompt, folder: Path) -> None:
    assert priompt("check", ".") == (2, "", ".: there is no .priompt file below this folder\n")


@pytest.mark.parametrize(
    ("body", "err"),
    [
        ("raise RuntimeError('two\\nlines')", "own.py:2: RuntimeError: two\n  lines\n"),
        ("raise SystemExit(5)", "own.py:2: the prompt's code called sys.exit(5)\n"),
        ("return Gone", "own.py:2: NameError: name 'Gone' is not defined\n"),
    ],
)
def test_check_of_code_that_fails(folder: Path, priompt: Priompt, body: str, err: str) -> None:
    (folder / "own.py").write_text(f"def prompt():\n    {body}\n")
    assert priompt("check", "own.py:prompt") == (3, "", err)


def test_check_of_a_reserve_that_fails(folder: Path, priompt: Priompt) -> None:
    (folder / "own.py").write_text(
        "from priompt_py import empty\n"
        "def count(count):\n"
        "    return 1 // 0\n"
        "def prompt():\n"
        "    return ['a', empty(tokens=count)]\n"
        "prompt.token_limit = 9\n"
    )
    done = priompt("check", "own.py:prompt")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("own.py:prompt: own.py:3: ZeroDivisionError: ")


def test_a_file_that_cannot_be_read_does_not_hide_the_others(folder: Path, priompt: Priompt) -> None:
    (folder / "a.priompt").write_text("<user>{x</user>")
    (folder / "b.priompt").write_bytes(b"caf\xe9")
    (folder / "c.priompt").write_text("<user>c</user >\n")
    (folder / ".priompt").write_text("d")
    (folder / "own.py").write_text("def prompt():\n    raise ValueError\n")
    unread = "b.priompt: not UTF-8: byte 0xE9 at offset 3 (line 1); save it as UTF-8\n"
    done = priompt("check", "own.py:prompt", ".")
    assert done.code == 3
    assert [line.partition(": ")[0] for line in done.out.splitlines()] == ["a.priompt:1:7"]
    assert done.err == (
        f".priompt: is no template: their files end in .priompt\n{unread}own.py:2: ValueError\n"
    )
    assert priompt("check", "b.priompt", "a.priompt")[0::2] == (2, unread)
    done = priompt("fmt", ".")
    assert (done.code, done.out) == (3, "c.priompt\n")
    assert unread in done.err
    assert (folder / "c.priompt").read_text() == "<user>c</user>\n"


def test_an_empty_path_is_not_the_working_folder(folder: Path, priompt: Priompt) -> None:
    (folder / "a.priompt").write_text("<user>a</user >\n")
    refused = "priompt: PATH... needs names of files or folders, got ''\n"
    assert priompt("fmt", "") == (2, "", refused)
    assert priompt("check", "") == (2, "", refused)
    assert (folder / "a.priompt").read_text() == "<user>a</user >\n"


def test_check_renders_a_template_that_declares_no_props(folder: Path, priompt: Priompt) -> None:
    """It may need some, which is no mistake; what is one shows without."""
    (folder / "a.priompt").write_text("<user>a</user>\n<scope p={1}>b</scope>\n")
    (folder / "b.priompt").write_text("<user>{a}</user>\n<scope p={1}>b</scope>\n")
    (folder / "c.priompt").write_text("---\ntoken_limit: 3\n---\n<user>c</user>\n")
    assert priompt("check", "a.priompt", "b.priompt", "c.priompt")[:2] == (
        1,
        (
            "a.priompt: root > 2:scope > 0:text: the text 'b' stands beside messages; put it into a message\n"
            "c.priompt: under its own limit: the prompt needs 8 tokens, over its limit of 3; the smallest limit that "
            "works is 8; the largest parts that are always in: root > 0:user (1 token)\n"
        ),
    )


def test_fmt(priompt: Priompt, chat: Path) -> None:
    assert priompt("fmt", "--check", ".") == (0, "", "")
    rough = "<user   p = '1'>\n{ a|upper }\n</user >\n"
    (chat / "rough.priompt").write_text(rough, "utf-8")
    assert priompt("fmt", "--check", ".") == (1, "rough.priompt\n", "")
    assert (chat / "rough.priompt").read_text("utf-8") == rough
    assert priompt("fmt", ".") == (0, "rough.priompt\n", "")
    smooth = '<user p="1">\n  {a | upper}\n</user>\n'
    assert (chat / "rough.priompt").read_text("utf-8") == smooth
    assert priompt("fmt", ".") == (0, "", "")
    assert priompt("fmt", "-", stdin=rough.encode()) == (0, smooth, "")


def test_fmt_says_what_it_cannot_read(priompt: Priompt, folder: Path) -> None:
    (folder / "a.priompt").write_text("<user >a</user >", "utf-8")
    (folder / "b.priompt").write_text("</user>", "utf-8")
    done = priompt("fmt", ".")
    assert (done.code, done.out) == (3, "a.priompt\n")
    assert done.err == "b.priompt:1:1: </user> closes nothing: no <user> is open\n    </user>\n    ^\n"
    (folder / "c.txt").write_text("a", "utf-8")
    assert priompt("fmt", "c.txt") == (2, "", "c.txt: is no .priompt file\n")
