"""Messages of Anthropic, read back."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage

from priompt_py import (
    Node,
    assistant_message,
    cache_break,
    config,
    image,
    part,
    render,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.providers.anthropic_history import from_anthropic
from tests.providers.chats import png

THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK"}
TOOL_USE: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "ß"}}
CALL = {"id": "c1", "name": "look", "arguments": '{"at": "ß"}'}
EPHEMERAL = {"type": "ephemeral"}


def thought(data: dict[str, Any]) -> Any:
    return part(provider="anthropic", data=data)


def text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def result(call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, **more}


@pytest.mark.parametrize(
    ("messages", "elements"),
    [
        (
            [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
            [user_message["q"], assistant_message["a"]],
        ),
        (
            [{"role": "user", "content": ""}, user(), assistant()],
            [user_message, user_message, assistant_message],
        ),
        (
            [
                user(text("a", cache_control=EPHEMERAL), text("b", citations=[{}])),
                {"role": "system", "content": "S"},
            ],
            [user_message["a", cache_break, "b"], system_message["S"]],
        ),
        (
            [assistant(THINKING, REDACTED, text("Looking."), {**TOOL_USE, "caller": {"type": "direct"}})],
            [assistant_message(tool_calls=[CALL])[thought(THINKING), thought(REDACTED), "Looking."]],
        ),
        (
            [
                assistant(
                    {**TOOL_USE, "cache_control": EPHEMERAL}, {**TOOL_USE, "id": "c2"}, THINKING, text("b")
                )
            ],
            [
                assistant_message(tool_calls=[CALL, {**CALL, "id": "c2"}])[cache_break],
                assistant_message[thought(THINKING), "b"],
            ],
        ),
        (
            [
                user(
                    text("a"),
                    result(content="R", is_error=True),
                    result("c2", cache_control=EPHEMERAL),
                    text("b"),
                )
            ],
            [
                user_message["a"],
                tool_message(tool_call_id="c1", is_error=True)["R"],
                tool_message(tool_call_id="c2")[cache_break],
                user_message["b"],
            ],
        ),
        (
            [
                user(
                    {
                        "type": "image",
                        "source": {
                            "type": "base64",
                            "media_type": "image/png",
                            "data": base64.encodebytes(png()).decode(),
                        },
                        "cache_control": EPHEMERAL,
                    },
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                    {"type": "image", "source": {"type": "file", "file_id": "f"}},
                    {"type": "document", "source": {"type": "file", "file_id": "f"}, "title": None},
                )
            ],
            [
                user_message[
                    image(data=png()),
                    cache_break,
                    image(url="https://example.org/a.png"),
                    part(
                        provider="anthropic",
                        data={"type": "image", "source": {"type": "file", "file_id": "f"}},
                    ),
                    part(
                        provider="anthropic",
                        data={"type": "document", "source": {"type": "file", "file_id": "f"}},
                    ),
                ]
            ],
        ),
        (
            [
                user(
                    result(
                        content=[
                            text("R"),
                            {"type": "image", "source": {"type": "url", "url": "https://x.org/a"}},
                        ]
                    )
                )
            ],
            [tool_message(tool_call_id="c1")["R", image(url="https://x.org/a")]],
        ),
        (
            [
                assistant(
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, text("Sunny.")
                )
            ],
            [
                assistant_message[
                    thought({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
                    "Sunny.",
                ]
            ],
        ),
        ([], []),
    ],
)
def test_messages(messages: list[dict[str, Any]], elements: list[Any]) -> None:
    found = from_anthropic(messages)
    assert found == [element[()] if not element.children else element for element in elements]


def test_system_text_and_blocks() -> None:
    assert from_anthropic([], system="S") == [system_message["S"]]
    blocks = [text("S", cache_control=EPHEMERAL), text("T")]
    assert from_anthropic([], system=blocks) == [system_message["S", cache_break, "T"]]


def test_answers_of_the_client_and_the_tokens_of_their_parts() -> None:
    answer = AnthropicMessage.construct(
        id="m",
        type="message",
        role="assistant",
        model="m",
        content=[THINKING, text("Hi.")],
        stop_reason="end_turn",
    )
    wanted = [assistant_message[part(provider="anthropic", data=THINKING, tokens=3), "Hi."]]
    for message in (answer, {"role": "assistant", "content": answer.content}):
        assert from_anthropic([message], part_tokens=lambda data: len(data["thinking"])) == wanted


def test_thinking_survives_a_second_request() -> None:
    messages = [
        user(text("q")),
        assistant(THINKING, REDACTED, text("a"), TOOL_USE),
        user(result(content="R")),
    ]
    tree: Node = [
        from_anthropic(messages, system="S"),
        tool_definition(name="look", description="", parameters={}),
        config(max_response_tokens=5),
    ]
    sent = render(tree, token_limit=1_000).to_anthropic()
    assert sent["system"] == [text("S")]
    assert sent["messages"] == [{"role": "user", "content": "q"}, *messages[1:]]


NOT_MESSAGES: list[tuple[Any, type[PromptError], str]] = [
    (
        {"role": "tool", "content": "x"},
        ArgumentValueError,
        " needs one of the roles user, assistant, system, got 'tool' (str)",
    ),
    (
        {"role": "user", "content": "x", "name": "bob"},
        ArgumentValueError,
        " has the unknown key 'name'; a user message takes role, content",
    ),
    ({"role": "user"}, ArgumentTypeError, ".content needs text or a list of blocks, got None (NoneType)"),
    (user("x"), ArgumentTypeError, ".content[0] needs a mapping, got 'x' (str)"),
    (
        user(text("x", colour="red")),
        ArgumentValueError,
        ".content[0] has the unknown key 'colour'; a text block takes type, text, citations, cache_control",
    ),
    (user({"type": "text"}), ArgumentTypeError, ".content[0].text needs text, got None (NoneType)"),
    (
        user({"text": "x"}),
        ArgumentValueError,
        ".content[0]: a user message can't hold a block of type None (NoneType)",
    ),
    (
        user(TOOL_USE),
        ArgumentValueError,
        ".content[0]: a user message can't hold a block of type 'tool_use' (str)",
    ),
    (
        assistant(result()),
        ArgumentValueError,
        ".content[0]: an assistant message can't hold a block of type 'tool_result' (str)",
    ),
    (
        user({"type": "tool_result"}),
        ArgumentValueError,
        ".content[0] needs tool_use_id, the id of the call that it answers",
    ),
    (user(result(is_error="yes")), ArgumentTypeError, ".content[0]: tool_message()"),
    (
        user(result(content=[result()])),
        ArgumentValueError,
        ".content[0].content[0]: a tool message can't hold a block of type 'tool_result' (str)",
    ),
    (
        user({"type": "image", "source": {"type": "base64", "data": "?"}}),
        ArgumentValueError,
        ".content[0].source.data needs base64",
    ),
    (
        user({"type": "image", "source": {"type": "base64", "data": "aGk="}}),
        ArgumentValueError,
        ".content[0]: image()",
    ),
    (
        user({"type": "image", "source": {"type": "url"}}),
        ArgumentValueError,
        ".content[0]: image() needs data or url, got neither",
    ),
    (assistant({"type": "tool_use", "id": "c"}), ArgumentValueError, ".content[0] needs name"),
    (
        assistant({**TOOL_USE, "input": [1]}),
        ArgumentTypeError,
        ": assistant_message() needs JSON text or a mapping for tool_calls[0].arguments",
    ),
    (
        assistant({**TOOL_USE, "caller": {"type": "code_execution_20260120"}}),
        ArgumentValueError,
        ".content[0]: a call that a program made can't be held: ",
    ),
    (5, ArgumentTypeError, " needs a mapping, got 5 (int)"),
]


@pytest.mark.parametrize(("bad", "error", "says"), NOT_MESSAGES)
def test_unknown_content_is_refused_with_its_place(bad: Any, error: type[PromptError], says: str) -> None:
    with pytest.raises(error) as caught:
        from_anthropic([{"role": "user", "content": "fine"}, bad])
    assert str(caught.value).startswith(f"messages[1]{says}")


@pytest.mark.parametrize("bad", ["text", b"bytes", {"role": "user", "content": "U"}, 5, None])
def test_not_a_list_of_messages(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^from_anthropic\(\) needs a list of messages, got "):
        from_anthropic(bad)


def test_system_needs_text_or_blocks() -> None:
    system: Any = 5
    with pytest.raises(
        ArgumentTypeError, match=r"^from_anthropic\(\) needs a list of blocks, got 5 \(int\)$"
    ):
        from_anthropic([], system=system)
