"""Ids as SOURCE, dumps as props, and props of the types that annotations say: a bug that replays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from priompt_py.preview import registry
from tests.cli.conftest import Priompt

SHOP = """\
import dataclasses
import datetime
import enum

from priompt_py import component, load_template, prompt, register, scope, system_message, user_message


class Tone(enum.Enum):
    DRY = "dry"
    WARM = "warm"


@dataclasses.dataclass
class Page:
    text: str
    read: datetime.date
    tags: frozenset[str] = frozenset()


def connect(data):
    return {"DO_NOT_DUMP_client": "a client", **data}


@prompt(id="chat", token_limit=500, hydrate=connect)
def ask(question: str, DO_NOT_DUMP_client, *, pages: tuple[Page, ...] = (), tone: Tone | None = None, extra=None):
    assert DO_NOT_DUMP_client == "a client"
    return [
        system_message["Tone: ", tone.name if tone else "any", "."],
        [user_message[scope(prel=-i)[page.text, f"{page.read:%d.%m.%Y}", sorted(page.tags)]] for i, page in enumerate(pages)],
        user_message[question, extra],
    ]


@prompt(id="later")
async def later(name: str):
    return ["later, ", name]


later.token_limit = 9


@prompt(id="quoted", token_limit=20)
@component
def quoted(children, *, source="nowhere"):
    return [source, ": ", children]


@prompt(id="nested", token_limit=20)
def nested(name: str):
    return quoted(source=name)["x"]


def plain(page: Page, tone: Tone):
    return [page.text, page.read.year, tone.value]


note = register(load_template("note.priompt"), id="note")
"""
NOTE = (
    "---\nprops: {name: str}\ntoken_limit: 30\nexamples:\n  short: {name: Ada}\n---\nFor {name}.<children/>"
)


@pytest.fixture
def shop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = dict(registry._prompts)
    registry._prompts.clear()
    monkeypatch.setenv("PRIOMPT_DUMP", str(folder / "dumps"))
    (folder / "shop.py").write_text(SHOP, "utf-8")
    (folder / "note.priompt").write_text(NOTE, "utf-8")
    (folder / "pyproject.toml").write_text('[tool.priompt]\nmodules = ["shop"]\n', "utf-8")
    yield folder
    registry._prompts.clear()
    registry._prompts.update(before)


DUMP = {
    "question": "Why?",
    "pages": [{"text": "One", "read": "2024-05-01", "tags": ["b", "a"]}],
    "tone": "DRY",
    "extra": {"$priompt": "node", "value": [{"type": "scope", "p": 1, "children": [" Really?"]}]},
}
MESSAGES = [
    {"role": "system", "content": "Tone: DRY."},
    {"role": "user", "content": "One01.05.2024ab"},
    {"role": "user", "content": "Why? Really?"},
]


def write_dump(folder: Path, prompt_id: str, name: str, props: object) -> None:
    path = folder / "dumps" / prompt_id / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(props), "utf-8")


# ------------------------------------------------------------------------------------------ ids


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        ("later --set name=you", "later, you"),
        ("later --set name=you --module shop", "later, you"),
        ("later --set name=you --module shop.py", "later, you"),
        ("shop:later --set name=you", "later, you"),
        ("shop.py:later --set name=you", "later, you"),
        ("shop.py:quoted", "nowhere: "),
        ("quoted --set source=Kant", "Kant: "),
        ('quoted --props {"children":["a",{"$priompt":"node","value":[{"type":"br"}]}]}', "nowhere: a\n"),
        ("nested --set name=N", "N: x"),
        ("note --set name=you", "For you."),
        ("note --props short", "For Ada."),
        ('note --props {"name":"B","children":["!"]}', "For B.!"),
        ("note.priompt --props short", "For Ada."),
        ("note.priompt --props short --set name=Bo", "For Bo."),
        ("shop:note --props short", "For Ada."),
        ('shop:plain --limit 9 --props {"page":{"text":"a","read":"2024-05-01"},"tone":"warm"}', "a2024warm"),
        ('shop:plain --limit 9 --set page.text=a --set page.read="2024-05-01" --set tone=DRY', "a2024dry"),
    ],
)
def test_sources(shop: Path, priompt: Priompt, arguments: str, out: str) -> None:
    done = priompt("render", *arguments.split())
    assert (done.code, done.out, done.err) == (0, out, "")
    assert not (shop / "dumps").exists()  # the command line replays; it runs nothing that is to be recorded


def test_an_id_in_a_file_where_its_name_is_another(shop: Path, priompt: Priompt) -> None:
    done = priompt("render", "shop.py:chat", "--set", "question=Why?")
    assert json.loads(done.out)[1] == {"role": "user", "content": "Why?"}


def test_modules_of_the_environment(shop: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / "pyproject.toml").write_text("", "utf-8")
    (shop / "other.py").write_text("", "utf-8")
    monkeypatch.setenv("PRIOMPT_MODULES", "other, shop")
    assert priompt("render", "quoted").out == "nowhere: "


def test_settings_of_a_folder_above(shop: Path, priompt: Priompt, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = shop / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "note.priompt").write_text(NOTE, "utf-8")
    monkeypatch.chdir(inner)
    assert priompt("render", "quoted").out == "nowhere: "
    (shop / "pyproject.toml").write_text('[tool.priompt]\nmodules = ["shop.py"]\n', "utf-8")
    assert priompt("render", "quoted").out == "nowhere: "


def test_a_folder_of_the_ids_name(shop: Path, priompt: Priompt) -> None:
    (shop / "quoted").mkdir()
    (shop / "notes.txt").write_text("", "utf-8")
    assert priompt("render", "quoted").out == "nowhere: "
    done = priompt("render", "notes.txt")
    assert (done.code, done.err.partition(";")[0]) == (2, "priompt: not a prompt source: 'notes.txt'")


# ------------------------------------------------------------------------------------------ dumps


def test_a_run_replays(shop: Path, priompt: Priompt) -> None:
    write_dump(shop, "chat", "example01", DUMP)
    done = priompt("render", "chat", "--props", "example01")
    assert (done.code, json.loads(done.out)) == (0, MESSAGES), done.err
    again = priompt("render", "shop:ask", "--props", "dumps/chat/example01.json")
    assert again.out == done.out


def test_what_a_program_dumped_replays(shop: Path, priompt: Priompt) -> None:
    program = """
import datetime
from priompt_py import br, render
from shop import Page, Tone, ask
page = Page("é \\U0001f600 \\ud83d", datetime.date(2024, 5, 1), frozenset({"x"}))
node = ask("Why?", "a client", pages=(page,), tone=Tone.WARM, extra=[1.0, br, 0.1 + 0.2, ()])
print(ascii(render(node, token_limit=500).to_messages()))
"""
    path = os.pathsep.join([str(shop), str(Path(__file__).parents[2])])
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=shop,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    example = priompt("render", "chat", "--props", "example01")
    done = priompt("render", "chat", "--props", "last")
    assert ascii(json.loads(done.out)) == ran.stdout.decode().strip()
    assert example.out == done.out
    (dump,) = (shop / "dumps" / "chat" / "dumps").iterdir()
    assert priompt("render", "chat", "--props", str(dump)).out == done.out
    assert priompt("render", "chat", "--props", dump.stem).out == done.out
    for name in ("..", "../chat", "a/b"):
        refused = priompt("render", "chat", "--props", name)
        assert (refused.code, refused.out) == (2, "")


def test_check_takes_registered_prompts(shop: Path, priompt: Priompt) -> None:
    assert priompt("check", "shop:later") == (0, "", "")
    assert priompt("check", "nested") == (0, "", "")
    done = priompt("check", "quoted")
    assert (done.code, done.out) == (0, "")


# ------------------------------------------------------------------------------------------ wrong usage

WRONG: list[tuple[str, int, str]] = [
    (
        "render qoted",
        2,
        "priompt: no prompt is registered as 'qoted' by shop (named by pyproject.toml); did you mean quoted or note?; they register chat, later, nested, note, quoted",
    ),
    (
        "render chat --module empty.py",
        2,
        "priompt: no prompt is registered as 'chat' by empty.py (named by --module); they register none",
    ),
    (
        "render chat --module shoop",
        2,
        "priompt: no module named 'shoop' here or where Python looks (named by --module)",
    ),
    ("render chat --module shoop.py", 2, "shoop.py: no such file; did you mean shop.py? (named by --module)"),
    ("render chat --module broken.py", 3, "broken.py:1: ZeroDivisionError: division by zero"),
    (
        "render twice.py:again",
        3,
        "twice.py:6: two prompts want the id 'same': the one at FOLDER/twice.py:3, and the one at FOLDER/twice.py:6",
    ),
    ("render later", 2, "later: needs the prop name: give --set name=VALUE or --props"),
    ("render later --set nam=x", 2, "later: no prop 'nam'; did you mean name?; it takes name"),
    ("render note", 2, "note: needs the prop name: give --set name=VALUE or --props"),
    ("render note.priompt --props shrt", 2, "note.priompt: no example 'shrt'; did you mean short?; there are short"),
    ("render note --props shrt", 2, "note: there is no example or dump 'shrt' of note in FOLDER/dumps; there are none"),
    ("render chat --props example02", 2, "chat: there is no example or dump 'example02' of chat in FOLDER/dumps; there are example01"),
    ("render chat --props last", 2, "chat: there is no dump of chat in FOLDER/dumps"),
    (
        "render shop:plain --props example01 --limit 5",
        2,
        "shop:plain: only templates and registered prompts have examples, got --props example01",
    ),
    (
        "render tree.json --props example01 --limit 5",
        2,
        "tree.json: only templates and registered prompts have examples, got --props example01",
    ),
    ("render chat --set question=x --set tone=dyr", 2, "chat: the prop tone: needs one of DRY, WARM, got 'dyr' (str)"),
    (
        'render chat --set question=x --set pages=[{"text":"a"}]',
        2,
        "chat: the prop pages[0]: Page needs read",
    ),
    (
        'render note --props {"name":{"$priompt":"os.system","value":"true"}}',
        2,
        "note: the prop name: '$priompt' can't be 'os.system' (str) with the value 'true' (str)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=[line[0] for line in WRONG])
def test_wrong_invocation(shop: Path, priompt: Priompt, arguments: str, code: int, message: str) -> None:
    (shop / "empty.py").write_text("", "utf-8")
    (shop / "broken.py").write_text("1 / 0\n", "utf-8")
    (shop / "tree.json").write_text('["x"]', "utf-8")
    lines = ["from priompt_py import prompt", "", '@prompt(id="same")', "def first(): pass", ""]
    lines += ['@prompt(id="same")', "def again(): pass"]
    (shop / "twice.py").write_text("\n".join(lines), "utf-8")
    write_dump(shop, "chat", "example01", {})
    done = priompt(*arguments.split())
    assert done.err.replace(str(shop), "FOLDER") == f"{message}\n"
    assert (done.code, done.out) == (code, "")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            "[tool.priompt\n",
            "can't be read: Expected ']' at the end of a table declaration (at line 1, column 14)",
        ),
        ("a = '\xe9'", "can't be read: "),
        (
            "[tool.priompt]\nmodules = 'shop'\n",
            "modules of [tool.priompt] is a list of modules and .py files, got 'shop'",
        ),
        (
            "[tool.priompt]\nmodules = [1]\n",
            "modules of [tool.priompt] is a list of modules and .py files, got [1]",
        ),
    ],
)
def test_wrong_settings(shop: Path, priompt: Priompt, settings: str, message: str) -> None:
    (shop / "pyproject.toml").write_bytes(settings.encode("latin-1"))
    done = priompt("render", "chat")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"pyproject.toml: {message}")


@pytest.mark.parametrize("settings", [None, "", "tool = 1", "[tool]\npriompt = 1\n", "[tool.priompt]\n"])
def test_without_modules(shop: Path, priompt: Priompt, settings: str | None) -> None:
    (shop / "pyproject.toml").unlink()
    if settings is not None:
        (shop / "pyproject.toml").write_text(settings, "utf-8")
    done = priompt("render", "chat", "--limit", "5")
    assert done.code == 2
    assert done.err == (
        "priompt: no such prompt source: 'chat'; it is one of package.module:prompt, file.py:prompt, a .json file, a "
        ".priompt file, an id that modules of --module or PRIOMPT_MODULES register, or - for a JSON tree\n"
    )


def test_dumps_are_written_again_afterwards(shop: Path, priompt: Priompt) -> None:
    assert priompt("render", "later", "--set", "name=a").code == 0
    assert not (shop / "dumps").exists()
    registry.find_prompt("quoted").function(source="a")["b"]
    assert not (shop / "dumps").exists()  # a component runs when it is rendered
    registry.find_prompt("note").function(name="a")
    assert [path.name for path in (shop / "dumps").iterdir()] == ["note"]
