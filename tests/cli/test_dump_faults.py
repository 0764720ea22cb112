"""The cases of ``tests/faults.jsonl`` about files, dumps and encodings, found by their kind; every input in them is run."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from priompt_py.errors import SourceError
from priompt_py.face.render import render
from priompt_py.model.elements import Node
from priompt_py.preview.dumps import list_dumps, read_dump, write_dump
from priompt_py.preview.registry import find_prompt, prompt, register
from tests.cli.conftest import Priompt
from tests.preview.registering import dumps, told

__all__ = ["dumps", "told"]

ROOT = Path(__file__).parents[2]
CASES: dict[str, Any] = {
    case["kind"]: case
    for case in map(json.loads, (ROOT / "tests" / "faults.jsonl").read_text("utf-8").splitlines())
}
LEAVING = CASES["include and dump names that leave the folder"]["input"]["names"]
UNSAFE = CASES["dumps loaded with a loader that can run code"]["input"]["dumps"]
SHOP = """\
from priompt_py import prompt

@prompt(id="chat", token_limit=100)
def chat(text=None):
    return text
"""


@pytest.fixture
def shop(folder: Path, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module that registers the prompt `chat`."""
    (folder / "shop.py").write_text(SHOP, "utf-8")
    monkeypatch.setenv("PRIOMPT_MODULES", "shop")
    return folder


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own, in a folder with `shop.py`."""
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PRIOMPT_MODULES": "shop",
        "PRIOMPT_DUMP": str(folder / "dumps"),
        **{name: value for name, value in os.environ.items() if name.startswith("COV")},
    }
    return subprocess.run(
        [sys.executable, "-m", "priompt_py", *arguments],
        cwd=folder,
        env=variables | environment,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("name", LEAVING)
def test_names_that_leave_the_folder(shop: Path, priompt: Priompt, name: str) -> None:
    case = CASES["include and dump names that leave the folder"]
    assert "good names still work: 'example01', '2024-05-01T10-00-00'" in case["expected"]["all"]
    secret = shop / "secret.json"
    secret.write_text('{"text": "SECRET"}', "utf-8")
    folder = shop / "dumps"
    written = write_dump(folder, "chat", '{"text": "good"}')
    written.rename(written.with_name("2024-05-01T10-00-00.json"))
    for good in ("example01", "2024-05-01T10-00-00"):
        assert read_dump(folder, "chat", good) == {"text": "good"}
    if name == "symlink inside the folder pointing outside":
        name = "link"
        (folder / "chat" / "link.json").symlink_to(secret)
    if name == "very long name (5000)":
        name = "a" * 5_000
    for prompt_id in ("chat", name):
        with pytest.raises(SourceError) as caught:
            read_dump(folder, prompt_id, name)
        assert "SECRET" not in str(caught.value)
    assert "link" not in [dump.name for dump in list_dumps(folder, "chat")]
    done = priompt("render", "chat", f"--props={name}")
    assert (done.code, done.out) == (2, "")
    assert "SECRET" not in done.err


@pytest.mark.parametrize("text", UNSAFE)
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_dumps_that_would_run_code(shop: Path, priompt: Priompt, text: str, suffix: str) -> None:
    own = shop / "dumps" / "chat"
    own.mkdir(parents=True)
    data = text.replace("/tmp/pwned", str(shop / "pwned")).encode()  # noqa: S108 - the text of the case
    is_yaml = text.startswith("!")
    if text.startswith("a pickle file"):
        data = pickle.dumps({"text": "a"})
    (own / f"example01.{suffix}").write_bytes(data)
    done = priompt("render", "chat", "--props", f"dumps/chat/example01.{suffix}")
    assert (done.code, done.out) == (2, "")
    assert not (shop / "pwned").exists()
    place, message = done.err.split(": ", 1)
    if is_yaml and suffix == "yaml":
        assert place == "dumps/chat/example01.yaml:1:1"
        tag = text.split(" ", maxsplit=1)[0]
        assert message == f"not YAML: there are no values of {tag}: only plain data can be read\n"
    elif is_yaml:
        assert place == "dumps/chat/example01.json:1:1"
        assert message.startswith("not JSON: a value is needed, got '!")
    elif text.startswith("{"):  # plain data, which no prompt takes
        assert (place, message) == ("chat", "no prop '__class__'; it takes text\n")
    else:
        assert place == f"dumps/chat/example01.{suffix}"
        assert message.startswith("not UTF-8: byte 0x80 at offset 0")
    if suffix == "json":
        named = priompt("render", "chat", "--props", "example01")
        assert (named.code, named.out) == (2, "")
    else:  # only JSON is a dump
        assert [dump.name for dump in list_dumps(shop / "dumps", "chat")] == []


LOCALES = [
    {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp936"},
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252:strict"},
]


@pytest.mark.slow
@pytest.mark.parametrize("locale", LOCALES, ids=range(3))
def test_the_locale_plays_no_part(tmp_path: Path, locale: dict[str, str]) -> None:
    operation = CASES["files and output in the platform's default codec"]["input"]["operation"]
    text = operation.partition("with text '")[2].removesuffix("'")
    assert ascii(text) == r"'\u4f60\u597d \U0001f600 \xe9'"
    program = f"import shop; shop.chat({text!a}); shop.chat(text={text!a})"
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ
        | locale
        | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PRIOMPT_DUMP": str(tmp_path / "dumps")},
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    found = list_dumps(tmp_path / "dumps", "chat")
    assert [dump.path.read_bytes() for dump in found] == [f'{{\n  "text": "{text}"\n}}\n'.encode()] * 3
    (tmp_path / "ö.priompt").write_bytes(f"{text} {{text}}".encode())
    for arguments in (
        ("render", "chat", "--props", "last"),
        ("render", "ö.priompt", "--limit", "100", "--props", str(found[-1].path)),
    ):
        expected = text if arguments[1] == "chat" else f"{text} {text}"
        piped = run(tmp_path, *arguments, **locale)
        assert (piped.returncode, piped.stdout.decode(), piped.stderr) == (0, expected, b"")
        assert run(tmp_path, *arguments, "-o", "é.txt", **locale).returncode == 0
        assert (tmp_path / "é.txt").read_bytes() == expected.encode()


def test_other_encodings_are_refused_by_name(shop: Path, priompt: Priompt) -> None:
    case = CASES["byte order mark and CRLF in template files"]
    assert "looks like UTF-16" in case["expected"]["UTF-16"]
    (shop / "wide.priompt").write_bytes("<user>a</user>".encode("utf-16"))
    (shop / "latin.priompt").write_bytes(b"\xe9")
    (shop / "wide.json").write_bytes('{"text": "a"}'.encode("utf-16"))
    (shop / "latin.json").write_bytes(b'{"text": "\xe9"}')
    for arguments, message in (
        (("wide.priompt", "--limit", "9"), "wide.priompt: looks like UTF-16; save it as UTF-8"),
        (
            ("latin.priompt", "--limit", "9"),
            "latin.priompt: not UTF-8: byte 0xE9 at offset 0 (line 1); save it as UTF-8",
        ),
        (("chat", "--props", "wide.json"), "wide.json: looks like UTF-16; save it as UTF-8"),
        (
            ("chat", "--props", "latin.json"),
            "latin.json: not UTF-8: byte 0xE9 at offset 10 (line 1); save it as UTF-8",
        ),
    ):
        assert priompt("render", *arguments) == (2, "", f"{message}\n")


def test_halves_of_a_character(dumps: Path) -> None:
    case = CASES["two surrogate halves instead of one character"]
    halves = "".join(one if len(one) == 1 else chr(int(one, 16)) for one in case["input"]["b_code_units"])
    texts = [case["input"]["a"], halves, "x\ud83d", "\udc4dy"]

    @prompt(id="chat")
    def chat(parts: list[str]) -> Node:
        return list(parts)

    for parts in ([texts[0]], [texts[1]], texts[2:]):
        node = chat(parts)
        before = render(node, token_limit=100)
        after = render(find_prompt("chat").build(find_prompt("chat").read("last")), token_limit=100)
        assert (before.text, before.token_count) == (after.text, after.token_count)
        assert after.text == ("x\U0001f44dy" if len(parts) == 1 else "x\ufffd\ufffdy")


def test_numbers_keep_their_form(dumps: Path, told: list[str]) -> None:
    named = {
        "float NaN": float("nan"),
        "float +inf": float("inf"),
        "(3+0j)": 3 + 0j,
        "bool subclass check: True": True,
    }
    made: dict[str, Any] = {"Decimal('1.10')": Decimal("1.10"), "Fraction(1,3)": Fraction(1, 3)}
    shown: list[str] = []

    def chat(value: Any) -> Node:
        shown.append(repr(value))
        return None

    ask = register(chat, id="chat")
    for child in CASES["number formatting"]["input"]["children"]:
        if isinstance(child, str) and child.startswith(("numpy", "IntEnum")):
            continue  # refused unless an annotation names the class: test_prop_json.py
        value = named.get(child, made.get(child, child)) if isinstance(child, str) else child
        ask(value)
        if told:
            assert child == "(3+0j)"
            assert told == [
                "no dump of the prompt chat: value: a complex has no JSON form; give the prompt dehydrate= and hydrate="
            ]
            told.clear()
            continue
        find_prompt("chat").build(find_prompt("chat").read("last"))
        assert shown[-1] == shown[-2]
    assert ast.literal_eval(shown[0]) == 1.0


def test_the_package_as_a_program_gives_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    assert run(tmp_path, "render", "chta").returncode == 2
