"""Which prompts are shown: those that are registered, those that are given, and the sources of the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from priompt_py import ArgumentTypeError, ArgumentValueError, Node, component, load_template, prompt, scope
from priompt_py.cli.served import SourcesServed, sources_served, templates_below
from priompt_py.preview import registry
from priompt_py.web import preview_app
from priompt_py.web.catalogue import Broken, Served
from priompt_py.web.registered import RegisteredPrompts
from tests.web.asking import TOKEN, Page

pytestmark = pytest.mark.anyio

Pages = Callable[..., Page]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is registered but what the test registers."""
    monkeypatch.setattr(registry, "_prompts", {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder; modules from it, and its place among Python's folders, are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def anything(**props: object) -> Node:
    return str(props)


@component
def box(children: Node, *, title: str = "x") -> Node:
    return [title, children]


# ------------------------------------------------------------------------------------------ in the program


async def test_registered_prompts_as_they_come(tmp_path: Path) -> None:
    one = Page(preview_app(token=TOKEN))
    assert (await one.get("/api/prompts"))["prompts"] == []

    @prompt(id="late", token_limit=9, dump=tmp_path)
    def late(name: str, n: int = 2, *, extra: object = object()) -> Node:
        return [name * n]

    (told,) = (await one.get("/api/prompts"))["prompts"]
    assert told["place"].startswith(f"{__file__}:")
    assert {key: told[key] for key in told if key != "place"} == {
        "id": "late",
        "title": "late",
        "kind": "function",
        "token_limit": 9,
        "props": [
            {"name": "name", "required": True, "type": "str"},
            {"name": "n", "required": False, "type": "int", "default": 2},
            {"name": "extra", "required": False, "type": "object"},
        ],
        "takes_children": False,
        "takes_return": False,
        "examples": [],
        "problem": None,
    }
    late("dumped")  # a run: its dump is shown, and replays
    (told,) = (await one.get("/api/prompts"))["prompts"]
    assert told["examples"][0]["name"] == "example01"
    assert len(told["examples"]) == 2
    props = await one.get("/api/props", prompt="late", name="example01")
    assert props == {"props": {"name": "dumped"}}
    opened = await one.post("/api/open", {"prompt": "late", "example": "last", "props": {"n": 1}})
    assert opened["elements"]["text"] == ["dumped"]
    assert len(list((tmp_path / "late" / "dumps").iterdir())) == 1  # a preview writes no dump


async def test_prompts_that_are_given(page: Pages, tmp_path: Path) -> None:
    file = tmp_path / "t.priompt"
    file.write_text(
        "---\nprops:\n  q: str\nexamples:\n  hi: {q: hello}\ntoken_limit: 30\n---\n<user>{q}</user>", "utf-8"
    )
    template = load_template(file)

    def own() -> Node:
        return "x"

    setattr(own, "token_limit", 8)  # noqa: B010 - functions have no such attribute, for a checker
    one = page(
        prompts={
            "node": scope(p=1)["text"],
            "template": template,
            "box": box,
            "own": own,
            "any": anything,
        }
    )
    told = {item["id"]: item for item in (await one.get("/api/prompts"))["prompts"]}
    assert [item["kind"] for item in told.values()] == [
        "node",
        "template",
        "component",
        "function",
        "function",
    ]
    assert [item["token_limit"] for item in told.values()] == [None, 30, None, 8, None]
    assert told["box"]["takes_children"] is True
    assert told["any"]["props"] is None
    assert told["template"]["props"] == [{"name": "q", "required": True, "type": "str"}]
    assert [example["name"] for example in told["template"]["examples"]] == ["hi"]
    opened = await one.post("/api/open", {"prompt": "template", "example": "hi"})
    assert opened["elements"]["text"] == [None, "hello"]
    inside = await one.post("/api/open", {"prompt": "box", "props": {"title": "t", "children": ["c"]}})
    assert inside["elements"]["text"] == [None, "t", "c"]
    assert (await one.error("/api/open", {"prompt": "node", "props": {"a": 1}}))[2] == (
        "node is a node, which takes no props; got a"
    )
    assert (await one.error("/api/open", {"prompt": "box", "props": {"titel": 1}}))[2] == (
        "box takes no prop 'titel'; did you mean title?"
    )
    assert (await one.error("/api/open", {"prompt": "own", "props": {"zzz": 1}}))[2] == (
        "own takes no prop 'zzz'; it takes none"
    )
    assert (await one.error("/api/open", {"prompt": "template"}))[2] == "template needs the prop q"
    assert await one.error("/api/props?prompt=template&name=../x") == (
        404,
        "unknown",
        "there is no example or dump '../x'",
    )


NAMES = [
    "../../../etc/passwd",
    "..%2f..%2fsecret",
    "....//x",
    "/etc/passwd",
    "C:\\Windows\\win.ini",
    "..\\..\\x",
    "dumps/../../x",
    "a\0.yaml",
    "",
    ".",
    " x",
    "con",
    "name with /",
    "linked",
    "x" * 5_000,
    "~root",
    "file:///etc/passwd",
    "http://127.0.0.1/x",
]


@pytest.mark.parametrize("name", NAMES, ids=[name[:20].replace("\0", "0") for name in NAMES])
async def test_names_of_dumps_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"text": "secret"}', "utf-8")

    @prompt(id="chat", dump=tmp_path / "dumps")
    def chat(text: str) -> Node:
        return text

    chat("usual")
    (tmp_path / "dumps" / "chat" / "linked.json").symlink_to(secret)
    one = Page(preview_app(token=TOKEN))
    answer = await one.send("GET", "/api/props", params={"prompt": "chat", "name": name})
    assert answer.status_code in (400, 404)
    assert 'secret"' not in answer.text
    assert "root:" not in answer.text
    opened = await one.send("POST", "/api/open", json={"prompt": "chat", "example": name})
    assert opened.status_code in (400, 404)
    for prompt_id in (name, f"chat/{name}"):
        answer = await one.send("GET", "/api/props", params={"prompt": prompt_id, "name": "example01"})
        assert answer.status_code in (400, 404)
    good = await one.get("/api/props", prompt="chat", name="example01")
    assert good == {"props": {"text": "usual"}}


async def test_dumps_that_are_there_but_broken(tmp_path: Path) -> None:
    @prompt(id="chat", dump=tmp_path)
    def chat(q: str) -> Node:
        return q

    dumps = tmp_path / "chat" / "dumps"
    dumps.mkdir(parents=True)
    (dumps / "broken.json").write_text('{"q": x}', "utf-8")
    problem = "not JSON: a value is needed, got 'x'; texts stand in double quotes (line 1, column 7)"
    one = Page(preview_app({"chat": chat}, token=TOKEN))
    assert await one.error("/api/open", {"prompt": "chat", "example": "broken"}) == (
        422,
        "prompt",
        f"{dumps / 'broken.json'}: {problem}",
    )
    assert await one.error("/api/open", {"prompt": "chat", "example": "none"}) == (
        404,
        "unknown",
        f"there is no example or dump 'none' of chat in {tmp_path}; there are broken",
    )


async def test_a_folder_of_dumps_that_cannot_be_read(tmp_path: Path) -> None:
    @prompt(id="chat", dump=tmp_path / "dumps")
    def chat() -> Node:
        return "x"

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "dumps").mkdir()
    (tmp_path / "dumps" / "chat").symlink_to(tmp_path / "elsewhere")
    (told,) = (await Page(preview_app(token=TOKEN)).get("/api/prompts"))["prompts"]
    assert told["problem"]["message"].endswith("leads out of the folder of dumps")
    assert told["examples"] == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"prompts": [1]}, ArgumentTypeError, "preview_app() needs prompts by name, got prompts=[1] (list)"),
        (
            {"prompts": {"a": str}},
            ArgumentTypeError,
            "preview_app() needs prompts, got the class str for 'a'",
        ),
        ({"token": 5}, ArgumentTypeError, "preview_app() needs text for token, got token=5 (int)"),
        ({"token": "short"}, ArgumentValueError, None),
        ({"token": "ä" * 20}, ArgumentValueError, None),
        ({"hosts": "example.org"}, ArgumentTypeError, None),
        (
            {"hosts": ["preview.example", "https://preview.example"]},
            ArgumentValueError,
            "preview_app() needs names as in preview.example:8443 for hosts, got 'https://preview.example' (str)",
        ),
        ({"timeout": float("inf")}, ArgumentValueError, None),
        ({"timeout": float("nan")}, ArgumentValueError, None),
        (
            {"timeout": 0},
            ArgumentValueError,
            "preview_app() needs seconds above 0 for timeout, got timeout=0 (int)",
        ),
        ({"timeout": True}, ArgumentValueError, None),
        ({"hub": 5}, ArgumentTypeError, "preview_app() needs a Hub for hub, got hub=5 (int)"),
    ],
    ids=str,
)
def test_wrong_arguments(options: Any, error: type[Exception], message: str | None) -> None:
    with pytest.raises(error) as caught:
        preview_app(**options)
    assert message is None or str(caught.value) == message


def test_the_room_gives_nothing_else() -> None:
    import priompt_py.web

    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(priompt_py.web, "nothing")  # noqa: B009 - a checker knows that it isn't there


def test_folders_of_registered_prompts(tmp_path: Path) -> None:
    @prompt(id="chat", dump=tmp_path)
    def chat() -> Node:
        return "x"

    assert RegisteredPrompts().folders() == [str(tmp_path / "chat"), str(tmp_path / "chat" / "dumps")]
    assert RegisteredPrompts({"x": "y"}).folders() == []


# ------------------------------------------------------------------------------------------ sources

APP = """
from helper import WORD
from priompt_py import prompt, scope

NODE = scope(p=1)["a node"]

def plain(q, on_return=None):
    return [WORD, q]

@prompt(id="chat", token_limit=5)
def chat(q: str = "hi"):
    return q
"""


def write(folder: Path) -> None:
    (folder / "app.py").write_text(APP, "utf-8")
    (folder / "helper.py").write_text('WORD = "word "\n', "utf-8")
    (folder / "t.priompt").write_text("<user>hi</user>", "utf-8")
    (folder / "inner").mkdir()
    (folder / "inner" / "deep.priompt").write_text("deep", "utf-8")
    (folder / "tree.json").write_text(
        json.dumps(["a ", {"type": "scope", "p": 1, "children": ["b"]}]), "utf-8"
    )


def test_each_kind_of_source(folder: Path) -> None:
    write(folder)
    names = ["app.py:NODE", "app.py:plain", "app.py:chat", "t.priompt", "tree.json", "inner", "chat"]
    found = SourcesServed(names, ["app.py"])
    everything = found.all()
    assert [(one.id, one.kind) for one in everything if isinstance(one, Served)] == [
        ("app.py:NODE", "node"),
        ("app.py:plain", "function"),
        ("app.py:chat", "function"),
        ("t.priompt", "template"),
        ("tree.json", "tree"),
        ("inner/deep.priompt", "template"),
        ("chat", "function"),
    ]
    plain = found.get("app.py:plain")
    assert plain is not None
    assert (plain.takes_return, plain.props) == (True, [{"name": "q", "required": True, "type": None}])
    assert plain.build({"q": "!"}) == ["word ", "!"]
    chat = found.get("chat")
    assert chat is not None
    assert chat.token_limit == 5
    assert found.get("nobody") is None
    assert str(folder / "inner") in found.folders()
    assert str(folder) in found.folders()
    with pytest.raises(Exception, match=r"^app\.py:plain: needs the prop q$"):
        plain.build({})


def test_without_sources_what_is_registered_and_the_templates_below(folder: Path) -> None:
    write(folder)
    (folder / "pyproject.toml").write_text('[tool.priompt]\nmodules = ["app"]\n', "utf-8")
    for passed in (".hidden", "node_modules", "env"):
        (folder / passed).mkdir()
        (folder / passed / "x.priompt").write_text("x", "utf-8")
    (folder / "env" / "pyvenv.cfg").write_text("", "utf-8")
    found = sources_served({"sources": [], "modules": []})
    assert [one.id for one in found.all()] == ["t.priompt", "inner/deep.priompt", "chat"]
    assert [one.id for one in found.all()] == ["t.priompt", "inner/deep.priompt", "chat"]


def test_sources_that_cannot_be_loaded_stand_beside_the_others(folder: Path) -> None:
    write(folder)
    (folder / "broken.py").write_text("import nothing_like_it\n", "utf-8")
    (folder / "exits.py").write_text("raise SystemExit(3)\n", "utf-8")
    (folder / "bad.priompt").write_text("<user>hi", "utf-8")
    names = ["broken.py:x", "exits.py:x", "bad.priompt", "nowhere.priompt", "t.priompt"]
    found = SourcesServed(names, ["broken.py"])
    everything = found.all()
    assert [type(one) for one in everything] == [Broken, Broken, Broken, Broken, Served, Broken]
    messages = [str(one.error) for one in everything if isinstance(one, Broken)]
    assert messages[0] == "broken.py:1: ModuleNotFoundError: No module named 'nothing_like_it'"
    assert messages[1] == "exits.py:1: the prompt's code called sys.exit(3)"
    assert messages[2].startswith("bad.priompt:1:1: ")
    assert messages[3] == "nowhere.priompt: no such file"
    assert everything[-1].id == "modules"
    with pytest.raises(Exception, match="nothing_like_it"):
        found.get("broken.py:x")
    with pytest.raises(Exception, match="nothing_like_it"):
        found.get("chat")  # a prompt that the module may register
    (folder / "nowhere.priompt").write_text("there it is", "utf-8")
    assert [type(one) for one in found.all()] == [Broken, Broken, Broken, Served, Served, Broken]


def test_too_many_templates(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priompt_py.cli.served.MOST_FOUND", 3)
    for number in range(5):
        (folder / f"{number}.priompt").write_text("x", "utf-8")
    assert templates_below(".")[0] == ["0.priompt", "1.priompt", "2.priompt"]


def test_examples_of_front_matter_and_dumps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "t.priompt").write_text("---\nexamples:\n  one: {}\n---\nhi", "utf-8")
    found = SourcesServed(["t.priompt"], [])
    (one,) = found.all()
    assert isinstance(one, Served)
    assert [example.name for example in one.examples()] == ["one"]
    assert one.named("one") == {}
    with pytest.raises(Exception, match="no example 'two'"):
        one.named("two")
