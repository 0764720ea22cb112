"""What a run of a registered prompt writes, and that nothing about it stands in the run's way."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from priompt_py.errors import SourceError
from priompt_py.face.render import render
from priompt_py.model.elements import Node
from priompt_py.preview import recording
from priompt_py.preview.recording import without_dumps
from priompt_py.preview.registry import RegisteredPrompt, find_prompt, prompt, register
from tests.preview.prop_types import Note, Page
from tests.preview.registering import dumps, told

__all__ = ["dumps", "told"]


def written(entry: RegisteredPrompt) -> list[Any]:
    """The dumps of a prompt, the oldest first."""
    return [entry.read(dump.name) for dump in reversed(entry.dumps()) if not dump.is_example]


def chat(question: str = "none", **more: Any) -> Node:
    return question


def test_a_call_is_a_dump(dumps: Path) -> None:
    ask = register(chat, id="chat")
    ask("a")
    ask(question="b", tone={"dry": True})
    ask()
    entry = find_prompt("chat")
    assert written(entry) == [{"question": "a"}, {"question": "b", "tone": {"dry": True}}, {}]
    assert entry.read("example01") == {"question": "a"}
    text = (dumps / "chat" / "example01.json").read_text("utf-8")
    assert text == '{\n  "question": "a"\n}\n'
    newest = entry.dumps()[1].path.read_text("utf-8")
    assert newest == "{}\n"
    chat("d")  # the function itself is none that is registered
    assert len(written(entry)) == 3


def test_without_a_folder_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, dumps: Path, tmp_path: Path
) -> None:
    ask = register(chat, id="chat")
    monkeypatch.delenv("PRIOMPT_DUMP")
    ask("a")
    entry = find_prompt("chat")
    assert (entry.dumps_folder, entry.dumps()) == (None, [])
    with pytest.raises(SourceError) as caught:
        entry.read("last")
    assert str(caught.value) == "there is no folder with dumps of chat: PRIOMPT_DUMP names it"
    monkeypatch.chdir(tmp_path)
    own = register(chat, id="own", dump="prompts")
    monkeypatch.chdir("/")  # a folder in code is where it was when it was said
    own("a")
    assert find_prompt("own").dumps_folder == tmp_path / "prompts"
    assert written(find_prompt("own")) == [{"question": "a"}]
    monkeypatch.setenv("PRIOMPT_DUMP", str(dumps))
    own("b")
    assert written(find_prompt("own")) == [{"question": "b"}]
    monkeypatch.setenv("PRIOMPT_DUMP", "")
    own("c")
    assert find_prompt("own").dumps_folder is None
    monkeypatch.setenv("PRIOMPT_DUMP", str(dumps))
    never = register(chat, id="never", dump=False)
    never("a")
    assert find_prompt("never").dumps_folder is None
    assert not (dumps / "never").exists()


def test_props_are_written_as_they_were_before_the_run(dumps: Path) -> None:
    @prompt(id="chat")
    def ask(pages: list[str]) -> Node:
        taken = list(pages)
        pages.clear()
        return taken

    assert ask(["a", "b"]) == ["a", "b"]
    assert written(find_prompt("chat")) == [{"pages": ["a", "b"]}]


def test_what_is_not_to_be_dumped(dumps: Path) -> None:
    client = object()

    def supply(data: dict[str, Any]) -> Mapping[str, Any]:
        return data | {"DO_NOT_DUMP_client": client, "note": {**data["note"], "DO_NOT_DUMP_client": client}}

    @prompt(id="chat", hydrate=supply)
    def ask(note: Note, DO_NOT_DUMP_client: object, parts: Any = None) -> Node:  # noqa: N803 - what dumps leave out
        assert DO_NOT_DUMP_client is client
        assert note.DO_NOT_DUMP_client is client
        return [note.text, str(parts)]

    parts = [{"a": 1, "DO_NOT_DUMP": object(), "b": {"DO_NOT_DUMP_2": 1, 3: 4}}]
    node = ask(Note("n", client), client, parts=parts)
    assert node == ["n", str(parts)]
    data = find_prompt("chat").read("last")
    assert data == {"note": {"text": "n"}, "parts": [{"a": 1, "b": {"$priompt": "dict", "value": [[3, 4]]}}]}
    assert find_prompt("chat").build(data) == ["n", "[{'a': 1, 'b': {3: 4}}]"]


def test_own_dehydrate_and_hydrate(dumps: Path) -> None:
    class Store:
        def __init__(self, name: str) -> None:
            self.name = name

    @prompt(
        id="chat",
        dehydrate=lambda props: {"store": props["store"].name, "DO_NOT_DUMP": 1, "at": (1, 2)},
        hydrate=lambda data: {"store": Store(data["store"])},
    )
    def ask(store: Store) -> Node:
        return store.name

    assert ask(Store("shelf")) == "shelf"
    data = find_prompt("chat").read("last")
    assert data == {"store": "shelf", "at": {"$priompt": "tuple", "value": [1, 2]}}
    assert find_prompt("chat").build(data) == "shelf"


def test_redacting(dumps: Path) -> None:
    met: list[Any] = []

    def redact(path: tuple[str | int, ...], value: Any) -> Any:
        met.append((path, value))
        return "***" if "token" in path else value

    @prompt(id="chat", redact=redact)
    def ask(user: dict[str, Any], page: Page) -> Node:
        return str(user["token"])

    assert ask({"token": "s3cret", "ids": [1, None]}, Page("a")) == "s3cret"
    text = (dumps / "chat" / "example01.json").read_text("utf-8")
    assert "s3cret" not in text
    assert json.loads(text)["user"] == {"token": "***", "ids": [1, None]}
    assert met == [
        (("user", "token"), "s3cret"),
        (("user", "ids", 0), 1),
        (("user", "ids", 1), None),
        (("page", "text"), "a"),
        (("page", "number"), 1),
    ]


# ------------------------------------------------------------------------------------------ what fails


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def fails(props: dict[str, Any]) -> dict[str, Any]:
    raise ValueError("hook")


NO_JSON = "has no JSON form; give the prompt dehydrate= and hydrate="


def gives(question: object, /, *pages: object, **more: object) -> Node:
    return "given"


def redacted_to_nothing(path: object, value: object) -> object:
    return object()


def takes_one(path: object) -> str:
    return "x"


def gives_five(props: object) -> int:
    return 5


UNSAYABLE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"a": [1, Odd()]}, f"a[1]: a tests.preview.test_recording.Odd {NO_JSON}"),
    ({"dehydrate": fails}, {}, "ValueError: hook"),
    (
        {"redact": redacted_to_nothing},
        {},
        "question: is no JSON: Object of type object is not JSON serializable",
    ),
    ({"redact": takes_one}, {}, "TypeError: "),
    ({"dehydrate": gives_five}, {}, "TypeError: 'int' object is not iterable"),
]


@pytest.mark.parametrize(("settings", "props", "problem"), UNSAYABLE, ids=range(len(UNSAYABLE)))
def test_what_can_not_be_dumped_is_told_once(
    dumps: Path, told: list[str], settings: Any, props: Any, problem: str
) -> None:
    ask = register(chat, id="chat", **settings)
    for _ in range(3):
        assert ask("a", **props) == "a"
    assert len(told) == 1
    assert told[0].startswith(f"no dump of the prompt chat: {problem}")
    assert not (dumps / "chat").exists()


def count(*pages: str) -> int:
    return len(pages)


def test_arguments_that_have_no_names(dumps: Path, told: list[str]) -> None:
    ask = register(gives, id="chat")
    assert ask("a") == "given"
    assert ask("a", "b") == "given"
    pages = register(count, id="pages")
    assert pages("b") == 1
    assert told == [
        "no dump of the prompt chat: question: props are given by name, and this one can't be",
        "no dump of the prompt pages: pages: props are given by name, and this one can't be",
    ]
    assert pages() == 0
    assert written(find_prompt("pages")) == [{}]


def test_a_call_that_does_not_fit_fails_as_without_dumps(dumps: Path, told: list[str]) -> None:
    ask = register(chat, id="chat")
    with pytest.raises(TypeError, match="takes from 0 to 1 positional arguments but 2 were given"):
        ask("a", "b")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    assert told == []
    assert not dumps.exists()


def test_a_prompt_that_fails_was_dumped(dumps: Path) -> None:
    @prompt(id="chat")
    def ask(by: int) -> Node:
        return 1 / by

    with pytest.raises(ZeroDivisionError):
        ask(0)
    assert written(find_prompt("chat")) == [{"by": 0}]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_disks_that_refuse(dumps: Path, told: list[str], monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    ask = register(chat, id="chat")

    def refuse(*_: Any, **__: Any) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    assert (ask("a"), ask("b")) == ("a", "b")
    monkeypatch.undo()
    assert told == [f"no dump of the prompt chat: can't be written: {os.strerror(code)}"]


def test_a_file_where_the_folder_should_be(dumps: Path, told: list[str]) -> None:
    dumps.write_text("", "utf-8")
    assert register(chat, id="chat")("a") == "a"
    assert len(told) == 1
    assert told[0].startswith("no dump of the prompt chat: can't be written: ")


def test_a_folder_that_leads_elsewhere(dumps: Path, told: list[str], tmp_path: Path) -> None:
    dumps.mkdir()
    (tmp_path / "outside").mkdir()
    (dumps / "chat").symlink_to(tmp_path / "outside")
    assert register(chat, id="chat")("a") == "a"
    assert told == [f"no dump of the prompt chat: {dumps / 'chat'} leads out of the folder of dumps"]
    assert [path.name for path in (tmp_path / "outside").rglob("*")] in ([], ["dumps"])


def test_a_logger_that_fails_is_not_in_the_way(dumps: Path) -> None:
    class Raises(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            raise ValueError("filter")

    raises = Raises()
    logging.getLogger("priompt_py.preview").addFilter(raises)
    try:
        assert register(chat, id="chat")("a", b=object()) == "a"
    finally:
        logging.getLogger("priompt_py.preview").removeFilter(raises)


def test_messages_are_not_gathered_for_ever(
    dumps: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_MOST_TOLD", 2)
    ask = register(chat, id="chat")
    for name in ("a", "b", "c", "d1", "d2"):
        ask("x", **{name: object})
    assert [message.partition(": ")[2].partition(":")[0] for message in told] == ["a", "b"]


def test_what_stops_the_program_stops_it(dumps: Path) -> None:
    def interrupted(props: dict[str, Any]) -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        register(chat, id="chat", dehydrate=interrupted)("a")


# ------------------------------------------------------------------------------------------ several at a time


def test_without_dumps_is_for_a_thread_or_task(dumps: Path) -> None:
    ask = register(chat, id="chat")
    with without_dumps():
        ask("a")
        thread = threading.Thread(target=ask, args=("of a thread",))
        thread.start()
        thread.join()
        contextvars.copy_context().run(ask, "b")
    ask("c")
    assert written(find_prompt("chat")) == [{"question": "of a thread"}, {"question": "c"}]


def test_prompts_in_prompts(dumps: Path) -> None:
    @prompt(id="inner")
    def inner(text: str) -> Node:
        return text

    @prompt(id="outer")
    def outer(text: str) -> Iterator[Node]:
        yield inner(text.upper())

    assert render(outer("a"), token_limit=9, tokenizer=len).text == "A"
    assert written(find_prompt("outer")) == [{"text": "a"}]
    assert written(find_prompt("inner")) == [{"text": "A"}]


def test_tasks(dumps: Path) -> None:
    @prompt(id="chat")
    async def ask(number: int) -> Node:
        await asyncio.sleep(0)
        return number

    async def main() -> list[Node]:
        return await asyncio.gather(*(ask(number) for number in range(20)))

    assert asyncio.run(main()) == list(range(20))
    assert sorted(one["number"] for one in written(find_prompt("chat"))) == list(range(20))
