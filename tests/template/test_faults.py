"""The cases of ``tests/faults.jsonl`` that are about templates, found by their kind; every input in them is run.

Where a case assumes that lines are joined with a blank it is run with ``whitespace: jsx``; its ``<u>`` is ``<user>`` and
its ``<tool>`` is ``<tool_definition>`` here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from priompt_py.errors import TemplateError
from priompt_py.face.render import render
from priompt_py.template.environment import Environment
from priompt_py.template.loader import FileLoader

FILE = Path(__file__).parents[1] / "faults.jsonl"
CASES: dict[str, Any] = {case["kind"]: case for case in map(json.loads, FILE.read_text("utf-8").splitlines())}
JSX = "---\nwhitespace: jsx\n---\n"


class Value:
    def __init__(self) -> None:
        self.name = "n"


def user_text(template: str, **props: Any) -> str:
    here = template.replace("<u>", "<user>").replace("</u>", "</user>")
    rendered = render(Environment().from_string(here)(**props), token_limit=10**6, tokenizer=len)
    assert rendered.messages is not None
    (message,) = rendered.messages
    return message.text


def refused(template: str, **props: Any) -> TemplateError:
    start = time.process_time()
    with pytest.raises(TemplateError) as caught:
        Environment().from_string(template)(**props)
    assert time.process_time() - start < 2
    assert caught.value.line is not None
    assert caught.value.column is not None
    return caught.value


def test_quoted_priorities() -> None:
    case = CASES["priority given as text silently treated as 'no priority'"]
    tree = Environment().from_string(case["input"]["template"])()
    assert render(tree, token_limit=case["input"]["limit"], tokenizer=len).text == case["expected"]["text"]
    for wrong in ("high", ""):
        assert refused(f'<scope p="{wrong}">a</scope>').column == 8


def test_whitespace_as_in_jsx() -> None:
    case = CASES["text and line breaks collapse differently from JSX"]
    for name, template in case["input"]["templates"].items():
        expected = case["expected"][name][1:-1]
        assert user_text(JSX + template, **case["input"]["values"]) == expected, name


def test_whitespace_never_touches_values() -> None:
    case = CASES["whitespace rules applied to values"]
    code = case["input"]["values"]["code"]
    assert user_text(JSX + case["input"]["template"], code=code) == f"Code:{code}End"
    assert user_text(case["input"]["template"], code=code) == f"Code:\n{code}\nEnd"


def test_attributes() -> None:
    templates = CASES["quotes, line breaks and blanks in attribute values"]["input"]["templates"]
    here = [template.replace("<tool ", "<tool_definition ") for template in templates]
    made = [Environment().from_string(template)()[0].description for template in here[:4]]
    assert made == ["line 1\n   line 2", 'say "hi"', "   a   ", "back\\\\slash \\n not newline"]
    assert [(error.column, error.message) for error in map(refused, here[4:])] == [
        (23, 'the value of name needs quotes or braces: name="t" or name={t}'),
        (26, "a blank is missing between two attributes"),
        (27, "the attribute name is given twice"),
        (1, "<scope> takes p or prel, not both, got p=1 and prel=True"),
    ]


def test_comments() -> None:
    templates = CASES["comments leak, or their content is parsed"]["input"]["templates"]
    assert user_text(templates[0]) == "ab"
    assert user_text(templates[1]) == "ab"
    assert user_text(JSX + templates[2]) == "onetwo"
    assert user_text(templates[2]) == "one\ntwo"
    error = refused(templates[3].replace("<u>", "<user>").replace("</u>", "</user>"))
    assert (error.column, error.message) == (7, "comments are written {# … #}, not <!-- … -->")
    error = refused(templates[4].replace("<u>", "<user>"))
    assert (error.column, error.message) == (7, "the comment is not closed with */}")
    assert user_text(templates[5]) == "x"


def test_inserted_values_are_not_parsed() -> None:
    case = CASES["inserted values parsed again"]
    message = case["input"]["values"]["msg"]
    tree = Environment().from_string(case["input"]["template"])(msg=message, **case["input"]["context"])
    rendered = render(tree, token_limit=10**6, tokenizer=len)
    assert [(one.role, one.text) for one in rendered.messages or ()] == [("system", "S"), ("user", message)]


def test_chat_markers_in_values() -> None:
    case = CASES["chat markers in content change the message structure; over-eager cleaning damages text"]
    assert user_text("<user>{text}</user>", text=case["input"]["user_text"]) == case["input"]["user_text"]


def test_wrong_tags() -> None:
    templates = CASES["misplaced quotes, tags as attribute values, wrong nesting"]["input"]["templates"]
    for template in templates[:9]:
        start = time.process_time()
        error = refused(template)
        assert time.process_time() - start < 0.1
        assert error.message
    assert user_text(templates[9], props={"name": "n"}) == "x"


@pytest.mark.parametrize(
    "expression", CASES["dunder and attribute access in template expressions"]["input"]["expressions"]
)
def test_ways_out(expression: str) -> None:
    refused(f"{{{expression}}}", v=Value())


@pytest.mark.parametrize(
    "expression", CASES["expressions that never end or eat all memory"]["input"]["expressions"]
)
def test_bombs(expression: str) -> None:
    if expression == "a loop construct over a generator that never ends":
        refused("<for each='i' in={endless}>a</for>", endless=iter(int, 1))
    else:
        refused(f"{{{expression}}}")


@pytest.mark.parametrize("name", CASES["include and dump names that leave the folder"]["input"]["names"])
def test_names_that_leave_the_folder(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.priompt").write_text("SECRET", "utf-8")
    names = {
        "symlink inside the folder pointing outside": "link",
        "very long name (5000)": "a" * 5000,
        "name with /": "name with /",
    }
    (root / "link.priompt").symlink_to(tmp_path / "outside.priompt")
    with pytest.raises(TemplateError) as caught:
        Environment(loader=FileLoader(root)).get(names.get(name, name))
    assert "SECRET" not in str(caught.value)


def test_marks_and_line_ends(tmp_path: Path) -> None:
    text = JSX + "<system>\n  a\n  b\n</system>\n<user>\u4f60\u597d</user>"
    (tmp_path / "windows.priompt").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    (tmp_path / "unix.priompt").write_bytes(text.encode())
    environment = Environment(loader=FileLoader(tmp_path))
    for name in ("windows", "unix"):
        rendered = render(environment.get(name)(), token_limit=100, tokenizer=len)
        assert [one.text for one in rendered.messages or ()] == ["a b", "\u4f60\u597d"]


def test_the_locale_plays_no_part(tmp_path: Path) -> None:
    (tmp_path / "a.priompt").write_bytes("<user>你好 😀 é {x}</user>".encode())
    program = (
        "import sys; from priompt_py import load_template, render\n"
        "node = load_template('a.priompt')(x='\\u00e9')\n"
        "text = render(node, token_limit=100).messages[0].text\n"
        "sys.stdout.buffer.write(text.encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        env={
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "LC_ALL": "C",
            "PYTHONPATH": str(FILE.parents[1]),
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == "你好 😀 é é"
