"""Items of OpenAI's Responses, read back."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response

from priompt_py import (
    assistant_message,
    cache_break,
    developer_message,
    image,
    part,
    render,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, PromptError
from priompt_py.providers.responses_history import from_openai_responses

REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
URL = "https://example.org/a.png"


def call(call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", **more}


def said(text: str, **more: Any) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": content,
        **more,
    }


CALL = {"id": "c1", "name": "look", "arguments": "{}"}
THOUGHT = part(provider="openai", data=REASONING)


def test_text_alone_and_instructions() -> None:
    assert from_openai_responses("q", instructions="S") == [system_message["S"], user_message["q"]]


@pytest.mark.parametrize(
    ("items", "messages"),
    [
        (
            [
                {"role": "developer", "content": "D"},
                {"role": "system", "content": "S"},
                {"role": "user", "content": ""},
            ],
            [developer_message["D"], system_message["S"], user_message[""]],
        ),
        (
            [
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}},
                        {"type": "input_image", "image_url": URL, "detail": "low"},
                        {"type": "input_image", "image_url": URL, "file_id": None},
                        {"type": "input_image", "file_id": "f", "detail": "auto"},
                        {"type": "input_file", "file_id": "f", "filename": None},
                    ],
                }
            ],
            [
                user_message[
                    "a",
                    cache_break,
                    image(url=URL, detail="low"),
                    image(url=URL),
                    part(provider="openai", data={"type": "input_image", "file_id": "f", "detail": "auto"}),
                    part(provider="openai", data={"type": "input_file", "file_id": "f"}),
                ]
            ],
        ),
        (
            [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}],
            [assistant_message["a"], assistant_message["b"]],
        ),
        (
            [
                said("Looking.", phase="commentary"),
                call(id="fc_1", status="completed", caller={"type": "direct"}),
                {"type": "function_call_output", "call_id": "c1", "output": "blue"},
            ],
            [assistant_message(tool_calls=[CALL])["Looking."], tool_message(tool_call_id="c1")["blue"]],
        ),
        (
            [REASONING, call(), REASONING, call("c2"), call("c3"), REASONING, said("b")],
            [
                assistant_message(tool_calls=[CALL])[THOUGHT],
                assistant_message(tool_calls=[{**CALL, "id": "c2"}, {**CALL, "id": "c3"}])[THOUGHT],
                assistant_message[THOUGHT, "b"],
            ],
        ),
        (
            [said("a"), REASONING, {**REASONING, "status": None}],
            [assistant_message["a"], assistant_message[THOUGHT, THOUGHT]],
        ),
        (
            [
                {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
                {
                    "type": "function_call_output",
                    "call_id": "c1",
                    "output": [{"type": "input_image", "image_url": URL, "detail": "low"}],
                },
            ],
            [assistant_message["No."], tool_message(tool_call_id="c1")[image(url=URL, detail="low")]],
        ),
        (
            [{"type": "web_search_call", "id": "ws_1", "status": "completed"}, said("Sunny.")],
            [
                assistant_message[
                    part(
                        provider="openai",
                        data={"type": "web_search_call", "id": "ws_1", "status": "completed"},
                    ),
                    "Sunny.",
                ]
            ],
        ),
        ([], []),
    ],
)
def test_items(items: list[dict[str, Any]], messages: list[Any]) -> None:
    assert from_openai_responses(items) == messages


def test_output_of_the_client_and_the_tokens_of_its_parts() -> None:
    response = Response.construct(output=[REASONING, said("Hi.")])
    found = from_openai_responses(
        [{"role": "user", "content": "q"}, *response.output],
        part_tokens=lambda data: len(data["encrypted_content"]),
    )
    assert found == [
        user_message["q"],
        assistant_message[part(provider="openai", data=REASONING, tokens=4), "Hi."],
    ]


def test_reasoning_survives_a_second_request() -> None:
    items = [
        {"role": "user", "content": "q"},
        REASONING,
        call(),
        {"type": "function_call_output", "call_id": "c1", "output": "R"},
    ]
    sent = render(from_openai_responses(items), token_limit=1_000).to_openai_responses()
    assert sent["input"] == items


NOT_ITEMS: list[tuple[Any, type[PromptError], str]] = [
    (
        {"role": "wizard", "content": "x"},
        ArgumentValueError,
        " needs one of the roles system, developer, user, assistant, got 'wizard' (str)",
    ),
    (
        {"role": "user", "content": "x", "name": "bob"},
        ArgumentValueError,
        " has the unknown key 'name'; a message takes type, role, content, id, status, phase",
    ),
    ({"role": "user"}, ArgumentTypeError, ".content needs text or a list of parts, got None (NoneType)"),
    ({"role": "user", "content": ["x"]}, ArgumentTypeError, ".content[0] needs a mapping, got 'x' (str)"),
    (
        {"role": "user", "content": [{"type": "output_text", "text": "x"}]},
        ArgumentValueError,
        ".content[0]: a user message can't hold a part of type 'output_text' (str)",
    ),
    (
        {"role": "user", "content": [{"type": "input_text", "text": 5}]},
        ArgumentTypeError,
        ".content[0].text needs text, got 5 (int)",
    ),
    (
        {"role": "user", "content": [{"type": "input_image", "image_url": "data:x"}]},
        ArgumentValueError,
        ".content[0]: image()",
    ),
    (call(name=""), ArgumentValueError, ": assistant_message(): tool_calls[0] has an empty name"),
    (call(arguments=None), ArgumentValueError, " needs arguments"),
    (call(colour="red"), ArgumentValueError, " has the unknown key 'colour'; a function_call takes "),
    (
        call(caller={"type": "program", "caller_id": "x"}),
        ArgumentValueError,
        ": a call that a program made can't be held: ",
    ),
    (
        {"type": "function_call_output", "output": "x"},
        ArgumentValueError,
        " needs call_id, the id of the call that it answers",
    ),
    ({"content": "x"}, ArgumentValueError, " needs a type or a role, got {'content': 'x'} (dict)"),
    (5, ArgumentTypeError, " needs a mapping, got 5 (int)"),
]


@pytest.mark.parametrize(("bad", "error", "says"), NOT_ITEMS)
def test_unknown_items_are_refused_with_their_place(bad: Any, error: type[PromptError], says: str) -> None:
    # A call's message ends with the items: its errors have the place where it begins.
    with pytest.raises(error) as caught:
        from_openai_responses([{"role": "user", "content": "fine"}, bad])
    assert str(caught.value).startswith(f"items[1]{says}")


@pytest.mark.parametrize("bad", [b"bytes", {"role": "user", "content": "U"}, 5, None])
def test_not_a_list_of_items(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^from_openai_responses\(\) needs a list of items, got "):
        from_openai_responses(bad)


def test_instructions_need_text() -> None:
    instructions: Any = 5
    with pytest.raises(ArgumentTypeError, match=r"^instructions needs text, got 5 \(int\)$"):
        from_openai_responses([], instructions=instructions)
