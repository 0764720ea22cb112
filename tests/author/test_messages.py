"""Messages; and wrong arguments of messages, images and parts."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.model.elements import Call, Message

NAN = float("nan")


def png(width: int, height: int, size: int = 0) -> bytes:
    """The beginning of a PNG, which is all that is looked at, and ``size`` more bytes."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 2, 0, 0, 0)
    return header + bytes(4) + b"\x55" * size


# ------------------------------------------------------------------------------------------ messages


@pytest.mark.parametrize(
    ("tag", "role"),
    [
        (system_message, "system"),
        (developer_message, "developer"),
        (user_message, "user"),
        (assistant_message, "assistant"),
    ],
)
def test_roles(tag: Any, role: str) -> None:
    message = tag(name="Ann", to="tools", p=3, key="k")["a", "b"]
    assert type(message) is Message
    assert (message.role, message.name, message.to, message.p, message.key) == (role, "Ann", "tools", 3, "k")
    assert message.children == ("a", "b")
    assert tag["x"].role == tag.role == role


def test_tool_messages() -> None:
    message = tool_message(tool_call_id="c1", name="look", is_error=True, to="x", prel=-1)["none"]
    assert (message.role, message.tool_call_id, message.name, message.is_error) == (
        "tool",
        "c1",
        "look",
        True,
    )
    assert (message.to, message.prel, message.children) == ("x", -1, ("none",))
    assert tool_message(tool_call_id="c1").is_error is False
    assert tool_message(tool_call_id="").tool_call_id == ""  # found when it is rendered: it may be left out


def test_tool_calls() -> None:
    message = assistant_message(
        tool_calls=[
            {"id": "a", "name": "look", "arguments": '{"at": "sky"}'},
            {"arguments": {"at": ["é", 1.0, None]}, "name": "look", "id": "b"},
            Call(id="c", name="look", arguments="not JSON"),
        ],
        function_call={"name": "look", "arguments": {}},
    )["text"]
    assert message.tool_calls == (
        Call("a", "look", '{"at": "sky"}'),
        Call("b", "look", '{"at": ["é", 1.0, null]}'),
        Call("c", "look", "not JSON"),
    )
    assert message.function_call == Call(None, "look", "{}")
    assert assistant_message(function_call=Call("x", "look", "{}")).function_call == Call(None, "look", "{}")
    assert assistant_message(tool_calls=None).tool_calls == ()
    assert assistant_message(tool_calls=()).tool_calls == ()


def test_arguments_of_calls_do_not_change_with_the_callers_data() -> None:
    arguments = {"at": ["sky"]}
    calls = [{"id": "a", "name": "look", "arguments": arguments}]
    message = assistant_message(tool_calls=calls)
    arguments["at"].append("sea")
    calls.clear()
    assert json.loads(message.tool_calls[0].arguments) == {"at": ["sky"]}


CALL = {"id": "a", "name": "look", "arguments": "{}"}
deep: Any = {}
for _ in range(100_000):
    deep = {"a": deep}
looped: dict[str, Any] = {}
looped["a"] = [looped]

WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (user_message, {"name": 3}, "user_message() needs text for name, got name=3 (int)"),
    (system_message, {"to": b"x"}, "system_message() needs text for to, got to=b'x' (bytes)"),
    (developer_message, {"p": "x"}, "developer_message() needs a number for p, got p='x' (str)"),
    (
        assistant_message,
        {"p": 1, "prel": 2},
        "assistant_message() takes p or prel, not both, got p=1 and prel=2",
    ),
    (
        tool_message,
        {"tool_call_id": 7},
        "tool_message() needs text for tool_call_id, got tool_call_id=7 (int)",
    ),
    (
        tool_message,
        {"tool_call_id": None},
        "tool_message() needs text for tool_call_id, got tool_call_id=None (NoneType)",
    ),
    (
        tool_message,
        {"tool_call_id": "a", "is_error": 1},
        "tool_message() needs True or False for is_error, got is_error=1 (int)",
    ),
    (
        assistant_message,
        {"tool_calls": CALL},
        (
            "assistant_message() needs a list of calls for tool_calls, got tool_calls="
            "{'arguments': '{}', 'id': 'a', 'name': 'look'} (dict)"
        ),
    ),
    (
        assistant_message,
        {"tool_calls": "look"},
        "assistant_message() needs a list of calls for tool_calls, got tool_calls='look' (str)",
    ),
    (
        assistant_message,
        {"tool_calls": ["look"]},
        "assistant_message() needs a mapping for tool_calls[0], got 'look' (str)",
    ),
    (
        assistant_message,
        {"tool_calls": [CALL, {**CALL, "type": "function"}]},
        (
            "assistant_message(): tool_calls[1] has the unknown key 'type'; it takes id, name, arguments; "
            "from_openai() reads messages of that form"
        ),
    ),
    (
        assistant_message,
        {"tool_calls": [{"id": "a", "name": "b"}]},
        "assistant_message(): tool_calls[0] needs arguments",
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "name": ""}]},
        "assistant_message(): tool_calls[0] has an empty name",
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "id": 5}]},
        "assistant_message() needs text for tool_calls[0].id, got tool_calls[0].id=5 (int)",
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "arguments": 5}]},
        "assistant_message() needs JSON text or a mapping for tool_calls[0].arguments, got 5 (int)",
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "arguments": {"a": [1, NAN]}}]},
        "assistant_message() needs JSON for tool_calls[0].arguments, but tool_calls[0].arguments.a[1]: nan is no JSON number",
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "arguments": {"a": {1: 2}}}]},
        (
            "assistant_message() needs JSON for tool_calls[0].arguments, but tool_calls[0].arguments.a: "
            "a key must be text, got 1 (an int)"
        ),
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "arguments": {"a": {"b c": b"x"}}}]},
        (
            "assistant_message() needs JSON for tool_calls[0].arguments, but "
            "tool_calls[0].arguments.a[\"b c\"]: a bytes has no JSON form (got b'x')"
        ),
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "arguments": deep}]},
        (
            "assistant_message() needs JSON for tool_calls[0].arguments, but tool_calls[0].arguments.a.a.a.a.a.a: "
            "nested more than 200 levels deep"
        ),
    ),
    (
        assistant_message,
        {"tool_calls": [{**CALL, "arguments": looped}]},
        (
            "assistant_message() needs JSON for tool_calls[0].arguments, but tool_calls[0].arguments.a[0].a[0].a[0]: "
            "nested more than 200 levels deep"
        ),
    ),
    (
        assistant_message,
        {"function_call": CALL},
        "assistant_message(): function_call has the unknown key 'id'; it takes name, arguments",
    ),
    (assistant_message, {"function_call": {}}, "assistant_message(): function_call needs name"),
    (image, {}, "image() needs data or url, got neither"),
    (image, {"data": png(1, 1), "url": "x"}, "image() needs data or url, not both"),
    (image, {"data": "x"}, "image() needs bytes for data, got data='x' (str)"),
    (image, {"data": 5}, "image() needs bytes for data, got data=5 (int)"),
    (image, {"url": 5}, "image() needs text for url, got url=5 (int)"),
    (image, {"url": " "}, "image() needs a URL, got an empty text"),
    (
        image,
        {"url": "u", "detail": "full"},
        "image() needs detail to be one of low, high, auto, got detail='full' (str)",
    ),
    (image, {"url": "u", "detail": None}, "image() needs text for detail, got detail=None (NoneType)"),
    (
        image,
        {"url": "u", "dimensions": 5},
        "image() needs (width, height) for dimensions, got dimensions=5 (int)",
    ),
    (
        image,
        {"url": "u", "dimensions": [1]},
        "image() needs (width, height) for dimensions, got dimensions=[1] (list)",
    ),
    (image, {"url": "u", "dimensions": (1, 0)}, "image() needs dimensions[1] >= 1, got dimensions[1]=0"),
    (
        image,
        {"url": "u", "dimensions": (1.0, 2)},
        "image() needs a whole number for dimensions[0], got dimensions[0]=1.0 (float)",
    ),
    (image, {"url": "data:image/png,abc"}, "image(): a data URL needs the form data:image/...;base64,..."),
    (image, {"url": "data:image/png;base64"}, "image(): a data URL needs the form data:image/...;base64,..."),
    (
        image,
        {"url": "data:image/png;base64,a"},
        (
            "image(): the data URL's base64 can't be read: Invalid base64-encoded string: "
            "number of data characters (1) cannot be 1 more than a multiple of 4"
        ),
    ),
    (part, {"provider": "x", "data": []}, "part() needs a mapping for data, got data=[] (list)"),
    (part, {"provider": "", "data": {}}, "part() needs the provider's name, got an empty text"),
    (part, {"provider": 1, "data": {}}, "part() needs text for provider, got provider=1 (int)"),
    (part, {"provider": "x", "data": {}, "tokens": -1}, "part() needs tokens >= 0, got tokens=-1"),
    (
        part,
        {"provider": "x", "data": {}, "tokens": True},
        "part() needs a whole number for tokens, got tokens=True (bool)",
    ),
    (
        part,
        {"provider": "x", "data": {1: 2}},
        "part() needs text for a key of data, got a key of data=1 (int)",
    ),
    (
        part,
        {"provider": "x", "data": {"a": b"x"}},
        "part() needs JSON for data, but data.a: a bytes has no JSON form (got b'x')",
    ),
]


@pytest.mark.parametrize(
    ("tag", "arguments", "message"), WRONG, ids=[message[:60] for _, _, message in WRONG]
)
def test_wrong_arguments(tag: Callable[..., Any], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PromptError) as caught:
        tag(**arguments)
    assert str(caught.value) == message
    assert isinstance(caught.value, (ArgumentTypeError, ArgumentValueError))


def test_needed_arguments() -> None:
    needed: list[Any] = [tool_message, part]
    for tag in needed:
        with pytest.raises(TypeError, match=r"\(\) needs (tool_call_id|provider, data)$"):
            tag()
