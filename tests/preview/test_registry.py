"""Registering: ids, what is kept of a function, who may take an id again."""

from __future__ import annotations

import functools
import importlib
import inspect
import pickle
import sys
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, assert_type

import pytest

from priompt_py.author.component import Component, component
from priompt_py.author.tags import scope
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, SourceError
from priompt_py.face.render import arender, render
from priompt_py.model.elements import Node
from priompt_py.preview.registry import (
    RegisteredPrompt,
    described,
    find_prompt,
    prompt,
    register,
    registered_as,
    registered_prompts,
)
from priompt_py.template.environment import Environment, Template, load_template
from tests.preview.registering import dumps, told

__all__ = ["dumps", "told"]

pytestmark = pytest.mark.usefixtures("dumps")


def text_of(node: Node) -> str | None:
    return render(node, token_limit=1_000, tokenizer=len).text


# ------------------------------------------------------------------------------------------ what is kept


def test_a_function_stays_what_it_was() -> None:
    @prompt(id="chat", token_limit=9)
    def chat(question: str, *, pages: int = 2) -> list[Node]:
        """Ask."""
        return [question, pages]

    assert_type(chat("a"), list[Node])
    assert chat("a", pages=3) == ["a", 3]
    assert (chat.__name__, chat.__doc__) == ("chat", "Ask.")
    assert str(inspect.signature(chat)) == "(question: 'str', *, pages: 'int' = 2) -> 'list[Node]'"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'question'"):
        chat()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    entry = find_prompt("chat")
    assert registered_as(chat) is entry
    assert (entry.id, entry.token_limit, entry.function is chat) == ("chat", 9, True)
    code = inspect.unwrap(chat).__code__
    assert entry.place == f"{__file__}:{code.co_firstlineno}"
    assert registered_prompts()["chat"] is entry
    assert entry.build({"question": "b"}) == ["b", 2]


def test_what_copies_a_registered_function_is_not_registered() -> None:
    @prompt(id="chat")
    def chat() -> Node:
        return "a"

    @functools.wraps(chat)
    def louder() -> Node:
        return [chat(), "!"]

    assert registered_as(chat) is find_prompt("chat")
    assert registered_as(louder) is None
    assert registered_as("chat") is None


@pytest.mark.anyio
async def test_async_functions_stay_async() -> None:
    @prompt(id="chat")
    async def chat(question: str = "a") -> Node:
        return question

    assert inspect.iscoroutinefunction(chat)
    assert await chat("b") == "b"
    assert (await arender([chat, chat("c")], token_limit=9, tokenizer=len)).text == "ac"
    assert len(find_prompt("chat").dumps()) == 4


@pytest.mark.anyio
async def test_objects_that_are_called() -> None:
    class Now:
        def __call__(self, name: str) -> Node:
            return name

    class Later:
        async def __call__(self, name: str) -> Node:
            return name

    assert register(Now(), id="now")("a") == "a"
    assert await register(Later(), id="later")("b") == "b"
    assert find_prompt("now").place.startswith(f"{__file__}:")
    assert find_prompt("later").read("last") == {"name": "b"}


def test_generators_and_methods() -> None:
    class Shop:
        def greet(self, name: str) -> Iterator[Node]:
            yield "Hello "
            yield name

    greet = register(Shop().greet, id="greet")
    assert text_of(greet("you")) == "Hello you"
    assert find_prompt("greet").read("last") == {"name": "you"}


def test_partials() -> None:
    def ask(name: str, tone: str) -> Node:
        return [tone, name]

    polite = register(functools.partial(ask, tone="Dear "), id="polite")
    assert polite(name="you") == ["Dear ", "you"]
    assert find_prompt("polite").read("last") == {"name": "you"}
    register(functools.partial(ask, tone="Dear "), id="polite")


@prompt(id="module.level")
@component
def quoted(children: Node, *, source: str) -> Node:
    return [source, ": ", children]


def test_components_stay_components() -> None:
    @prompt(id="quoted")
    @component
    def quoted(children: Node, *, source: str) -> Node:
        return [source, ": ", children]

    assert isinstance(quoted, Component)
    node = quoted(source="Kant")["a", scope(p=1)["b"]]
    entry = find_prompt("quoted")
    assert entry.dumps() == []
    assert text_of(node) == "Kant: ab"
    data = entry.read("last")
    assert data == {
        "children": ["a", {"$priompt": "node", "value": [{"type": "scope", "p": 1, "children": ["b"]}]}],
        "source": "Kant",
    }
    assert text_of(entry.build(data)) == "Kant: ab"
    assert text_of(entry.build({"source": "Hume"})) == "Hume: "
    assert len(entry.dumps()) == 2


def test_components_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(quoted)) is quoted  # noqa: S301 - our own


def test_components_whose_children_have_another_name() -> None:
    @prompt(id="many")
    @component
    def many(*nodes: Node) -> Node:
        return [nodes, "."]

    text_of(many["a", "b"])
    assert find_prompt("many").read("last") == {"nodes": ["a", "b"]}
    assert text_of(find_prompt("many").build({"nodes": ["c"]})) == "c."


def test_templates_stay_templates(tmp_path: Path) -> None:
    (tmp_path / "ask.priompt").write_text("---\nprops: {q: str}\n---\n{q}<children/>", "utf-8")
    plain = load_template(tmp_path / "ask.priompt")
    ask = register(plain, id="ask")
    assert_type(ask, Template)
    assert isinstance(ask, Template)
    assert text_of(ask(q="Why?")) == "Why?"
    entry = find_prompt("ask")
    assert entry.read("last") == {"q": "Why?"}
    assert text_of(ask.component(q="a")["b"]) == "ab"
    data = entry.read("last")
    assert data == {"children": ["b"], "q": "a"}
    assert text_of(entry.build(data)) == "ab"
    assert entry.place == str(tmp_path / "ask.priompt")
    assert register(load_template(tmp_path / "ask.priompt"), id="ask") is not ask
    other = Environment().from_string("x")
    with pytest.raises(ArgumentValueError, match="two prompts want the id 'ask'"):
        register(other, id="ask")


# ------------------------------------------------------------------------------------------ ids


@pytest.mark.parametrize(
    "good", ["chat", "a", "7", "shop.chat-2_b", "Chat", "a" * 100, "con1", "x.con", "a_", "a-"]
)
def test_good_ids(good: str) -> None:
    register(lambda: "x", id=good)
    assert find_prompt(good).id == good


FORM = (
    "prompt() needs an id of letters from a to z, digits, '.', '_' and '-', with a letter or digit first and no '.' "
    "at its end, got id={} (str)"
)
FILE = "prompt() needs an id that isn't like the name of a file, got id={}"
DEVICE = "prompt() needs another id: {} is the name of a device on Windows, where dumps have to lie too"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *((one, FORM) for one in ("", ".", "..", "../x", "a/b", "a\\b", "/etc", "C:", "a\0", " a", "a ", "a\n", "~a")),
        *((one, FORM) for one in (".a", "a.", "-a", "_a", "а", "caf\u00e9", "cafe\u0301", "ﬁ", "a:b", "a*", "a\u202eb")),
        *((one, FILE) for one in ("chat.json", "chat.PY", "chat.priompt", "a.yaml", "a.yml")),
        *((one, DEVICE) for one in ("con", "NUL", "aux.chat", "com1", "LPT9.x", "prn", "com0")),
        ("a" * 101, "prompt() needs an id of at most 100 characters, got one of 101"),
    ],
)  # fmt: skip
def test_wrong_ids(wrong: str, message: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        prompt(id=wrong)
    assert str(caught.value) == message.format(repr(wrong))


def test_unknown_ids() -> None:
    register(lambda: "x", id="chat")
    register(lambda: "x", id="summary")
    with pytest.raises(SourceError) as caught:
        find_prompt("chta")
    assert str(caught.value) == "no prompt is registered as 'chta'; did you mean chat?"
    with pytest.raises(
        SourceError, match=r"^no prompt is registered as 'zzzz'; there are .*\bchat\b.*, summary\b"
    ):
        find_prompt("zzzz")


# ------------------------------------------------------------------------------------------ twice


def test_two_functions_of_one_id() -> None:
    @prompt(id="chat")
    def first() -> Node:
        return "1"

    def second() -> Node:
        return "2"

    places = [f"{__file__}:{inspect.unwrap(one).__code__.co_firstlineno}" for one in (first, second)]
    with pytest.raises(ArgumentValueError) as caught:
        register(second, id="chat")
    assert (
        str(caught.value)
        == f"two prompts want the id 'chat': the one at {places[0]}, and the one at {places[1]}"
    )
    with pytest.raises(ArgumentValueError) as caught:
        register(first, id="CHAT")
    assert str(caught.value) == (
        f"two prompts want the id 'CHAT': the one at {places[0]} as 'chat', and the one at {places[0]}"
    )
    assert find_prompt("chat").function is first


def test_lambdas_are_told_by_their_lines() -> None:
    register(lambda: "1", id="chat")
    with pytest.raises(ArgumentValueError, match="two prompts want the id 'chat'"):
        register(lambda: "2", id="chat")


def test_a_module_is_reloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    text = "from priompt_py import prompt\n@prompt(id='chat')\ndef chat():\n    return 'old'\n"
    (tmp_path / "chats_of_test.py").write_text(text, "utf-8")
    module = importlib.import_module("chats_of_test")
    assert find_prompt("chat").build({}) == "old"
    (tmp_path / "chats_of_test.py").write_text("# moved\n" + text.replace("old", "newer"), "utf-8")
    importlib.reload(module)
    assert find_prompt("chat").build({}) == "newer"
    # The same file under another name: run as a program, and imported.
    other = types.ModuleType("__main__")
    exec(compile(text, str(tmp_path / "chats_of_test.py"), "exec"), vars(other))  # noqa: S102 - as Python runs it
    assert find_prompt("chat").build({}) == "old"
    del sys.modules["chats_of_test"]


# ------------------------------------------------------------------------------------------ wrong calls


async def stream() -> AsyncIterator[Node]:
    yield "a"


def made() -> Node:
    return None


RIGHT = "register() needs a function, a component or a template, got "
WRONG: list[tuple[object, dict[str, object], str]] = [
    ("x", {}, f"{RIGHT}'x' (str)"),
    (int, {}, f"{RIGHT}<class 'int'> (type)"),
    (
        scope["a"],
        {},
        (
            f"{RIGHT}scope(...) (priompt_py.model.elements.Scope); a node has no props: write a function that returns "
            "it"
        ),
    ),
    (
        stream,
        {},
        "register() takes no async generators; make stream() an async function that returns a list",
    ),
    (max, {}, "register() can't read the parameters of <built-in function max> (builtin_function_or_method)"),
    (
        made,
        {"token_limit": 1.5},
        "register() needs a whole number for token_limit, got token_limit=1.5 (float)",
    ),
    (made, {"token_limit": -1}, "register() needs token_limit >= 0, got token_limit=-1"),
    (made, {"dump": True}, "register() needs a folder or False for dump, got dump=True (bool)"),
    (made, {"hydrate": {}}, "register() needs a function for hydrate, got hydrate={} (dict)"),
    (made, {"id": 5}, 'register() needs text for id, as in id="chat", got id=5 (int)'),
]


@pytest.mark.parametrize(("function", "settings", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_calls(function: Any, settings: Any, message: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        register(function, **({"id": "a"} | settings))
    assert str(caught.value) == message
    assert "a" not in registered_prompts()


def test_described_without_registering() -> None:
    entry = described(max)
    assert isinstance(entry, RegisteredPrompt)
    assert (entry.id, entry.dumps(), entry.typed({"default": 1})) == ("", [], {"default": 1})
