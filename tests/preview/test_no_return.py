"""Prompts that give a value back, where no model is asked: their dumps, their replays, their checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from priompt_py import (
    Node,
    capture,
    component,
    find_prompt,
    load_template,
    prompt,
    register,
    render,
    run_sync,
    user_message,
)
from priompt_py.preview.gate import needs_props
from priompt_py.preview.no_return import with_return
from priompt_py.preview.registry import described
from priompt_py.testing import check_budget
from tests.cli.conftest import Priompt, folder, priompt
from tests.preview.registering import dumps, told

__all__ = ["dumps", "folder", "priompt", "told"]


def classify(message: str, on_return: Callable[..., None]) -> Node:
    on_return("at once", p=-1)
    return [user_message[message], capture(on_output=lambda output: on_return(output.text))]


def test_a_dump_has_no_on_return_and_replays(dumps: Path, told: list[str]) -> None:
    asked = register(classify, id="classify")
    assert run_sync(asked, {"message": "Hi"}, model=lambda _: "bug", token_limit=50) == "bug"
    entry = find_prompt("classify")
    assert (told, entry.read("last")) == ([], {"message": "Hi"})
    messages = render(entry.build(entry.read("last")), token_limit=50).messages
    assert [message.text for message in messages or ()] == ["Hi"]
    assert entry.dumps_folder == dumps


def test_dehydrate_never_sees_it(dumps: Path, told: list[str]) -> None:
    seen: list[dict[str, Any]] = []

    def dehydrate(props: dict[str, Any]) -> dict[str, Any]:
        seen.append(dict(props))
        return props

    @prompt(id="classify", dehydrate=dehydrate)
    def asked(on_return: Callable[..., None], **rest: str) -> Node:
        return [user_message[str(rest)], capture(on_output=lambda output: on_return(output.text))]

    assert run_sync(asked, {"a": "b"}, model=lambda _: "x", token_limit=50) == "x"
    assert (told, seen, find_prompt("classify").read("last")) == ([], [{"a": "b"}], {"a": "b"})


def test_a_check_of_the_budget() -> None:
    found = check_budget(classify, {"message": "Hi"}, token_limits=[50])
    assert [rendered is not None for rendered in found.values()] == [True]


TEMPLATE = "---\nprops:\n  on_return: any\n---\n<user>Hi</user>\n"


def test_who_takes_one(tmp_path: Path) -> None:
    @component
    def tag(children: Node, on_return: Callable[..., None]) -> Node:
        return children

    @component
    def children_of_that_name(on_return: Node) -> Node:
        return on_return

    def positional(on_return: object, /) -> Node:
        return str(on_return)

    (tmp_path / "takes.priompt").write_text(TEMPLATE)
    (tmp_path / "leaves.priompt").write_text("Hi")
    template = load_template(tmp_path / "takes.priompt")
    assert not needs_props(described(template))

    def wants(*, on_return: object) -> Node:
        return str(on_return)

    def keywords(**on_return: object) -> Node:
        return str(on_return)

    takes: list[Any] = [classify, tag, template, wants]
    leaves: list[Any] = [
        children_of_that_name,
        positional,
        min,
        load_template(tmp_path / "leaves.priompt"),
        keywords,
    ]
    assert [[*with_return(one, {})] for one in takes] == [["on_return"]] * 4
    assert [[*with_return(one, {})] for one in leaves] == [[]] * 5
    assert with_return(classify, {"on_return": 1}) == {"on_return": 1}


def test_it_is_no_prop_that_must_be_given() -> None:
    assert needs_props(described(classify))

    def wants_nothing(on_return: Callable[..., None]) -> Node:
        return capture(on_output=on_return)

    assert not needs_props(described(wants_nothing))


FILE = """\
from priompt_py import capture, user_message

def classify(message, on_return):
    return [user_message[message], capture(on_output=on_return)]
"""


def test_on_the_command_line(tmp_path: Path, priompt: Priompt) -> None:
    file = tmp_path / "classify.py"
    file.write_text(FILE)
    options = ("--limit", "50", "--format", "text")
    found = priompt("render", f"{file}:classify", "--set", "message=Hi", *options)
    assert (found.code, found.out.count("Hi")) == (0, 1)
    found = priompt("render", f"{file}:classify", *options)
    assert (found.code, found.err.count("needs the prop message: give")) == (2, 1)


@pytest.mark.parametrize("command", ["render", "check"])
def test_a_template_on_the_command_line(tmp_path: Path, priompt: Priompt, command: str) -> None:
    file = tmp_path / "classify.priompt"
    file.write_text(TEMPLATE)
    found = priompt(command, str(file), *(["--limit", "50"] if command == "render" else ["--no-warnings"]))
    assert (found.code, found.err) == (0, "")
