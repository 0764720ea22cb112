"""Messages and what they hold: what is taken, and what is refused in which words."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py import ArgumentTypeError, ArgumentValueError
from priompt_py.context import (
    Attachment,
    CompactionPoint,
    ContextReport,
    Drop,
    Event,
    ImagePart,
    InfoPart,
    Message,
    OpaquePart,
    PassReport,
    ReasoningPart,
    Restored,
    Strategy,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    chat_tokens,
    message_tokens,
)


def call(function: Any, /, *arguments: Any, **options: Any) -> Any:
    """A call that the type checkers would refuse."""
    return function(*arguments, **options)


CALL = ToolCallPart("c1", "look")
RESULT = ToolResultPart("c1", "found")


def test_parts_may_be_a_text_a_part_or_several() -> None:
    assert Message("a", "user", "x").parts == (TextPart("x"),)
    assert Message("a", "user", TextPart("x")).parts == (TextPart("x"),)
    assert Message("a", "user", iter([TextPart("x"), TextPart("y")])).text == "x\ny"
    assert Message("a", "user").parts == ()
    assert Message("a", "user").text == ""


def test_calls_and_results() -> None:
    message = Message("a", "assistant", [TextPart("x"), CALL, RESULT])
    assert (message.calls, message.results) == ((CALL,), (RESULT,))


def test_texts_are_cleaned() -> None:
    assert Message("a", "user", "\ud83d\ude00 \ud800").text == "\U0001f600 \ufffd"
    assert Message("a", "user", "x", error="").error is None


def test_messages_can_be_hashed_and_compared() -> None:
    data = {"signature": "s"}
    left = Message("a", "assistant", [ReasoningPart("t", "anthropic", data), CALL])
    data["signature"] = "changed"
    right = Message("a", "assistant", [ReasoningPart("t", "anthropic", {"signature": "s"}), CALL])
    assert left == right
    assert hash(left) == hash(right)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: call(Message, 1, "user"), "Message() needs text for id, got id=1 (int)"),
        (lambda: call(Message, "a", "user", b"x"), "Message() needs a text or a list of parts for parts, got parts=b'x' (bytes)"),
        (lambda: call(Message, "a", "user", 5), "Message() needs a text or a list of parts for parts, got parts=5 (int)"),
        (lambda: call(Message, "a", "user", ["x"]), "message 'a': parts[0] is no part, got 'x' (str)"),
        (lambda: call(Message, "a", "user", step=True), "Message() needs a whole number or None for step, got step=True (bool)"),
        (lambda: call(Message, "a", "user", step=1.0), "Message() needs a whole number or None for step, got step=1.0 (float)"),
        (lambda: call(Message, "a", "user", pinned=1), "Message() needs True or False for pinned, got pinned=1 (int)"),
        (lambda: call(Message, "a", "user", attachments="x"), "Message() needs a list of attachments for attachments, got attachments='x' (str)"),
        (lambda: call(Message, "a", "user", attachments=["x"]), "message 'a': attachments[0] is no Attachment, got 'x' (str)"),
        (lambda: call(TextPart, b"x"), "TextPart() needs text for text, got text=b'x' (bytes)"),
        (lambda: call(ToolResultPart, "c", {"a": 1}), "ToolResultPart() needs text for content, got content={'a': 1} (dict)"),
        (lambda: call(ToolCallPart, "c", "n", {"a": 1}), "ToolCallPart() needs text for args, got args={'a': 1} (dict)"),
        (lambda: call(ImagePart, data="x"), "ImagePart() needs bytes for data, got data='x' (str)"),
        (lambda: call(OpaquePart, "openai", []), "OpaquePart() needs a mapping for data, got data=[] (list)"),
        (lambda: call(OpaquePart, "openai", {"a": object}), "OpaquePart() needs JSON for data, but data.a: "),
        (lambda: call(Attachment, "a", "a.txt", loader=str), "Attachment() needs an object with read(attachment) for loader, got loader=<class 'str'> (type)"),
        (lambda: call(CompactionPoint, "s", "b", "1"), "CompactionPoint() needs a number for created_at, got created_at='1' (str)"),
        (lambda: call(CompactionPoint, "s", "b", True), "CompactionPoint() needs a number for created_at, got created_at=True (bool)"),
    ],
)  # fmt: skip
def test_wrong_types(build: Callable[[], Any], said: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        build()
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: call(Message, "", "user"), "Message() needs id, got an empty text"),
        (lambda: call(Message, "a", "wizard"), "Message() needs role to be one of system, developer, user, assistant, tool, got role='wizard' (str)"),
        (lambda: call(Message, "a", "tool", "x"), "message 'a': a tool message needs a ToolResultPart, which says its call_id"),
        (lambda: call(Message, "a", "user", [CALL]), "message 'a': a ToolCallPart belongs to a message of assistant, got role='user'"),
        (lambda: call(Message, "a", "user", [RESULT]), "message 'a': a ToolResultPart belongs to a message of assistant or tool, got role='user'"),
        (lambda: call(Message, "a", "tool", [RESULT, ReasoningPart("x")]), "message 'a': a ReasoningPart belongs to a message of assistant, got role='tool'"),
        (lambda: call(Message, "a", "assistant", [CALL, CALL]), "message 'a': two calls of the id 'c1'"),
        (lambda: call(Message, "a", "tool", [RESULT, RESULT]), "message 'a': two results of the id 'c1'"),
        (lambda: call(Message, "a", "assistant", [CALL], is_summary=True), "message 'a': a summary is text; it holds no calls and no results"),
        (lambda: call(ToolResultPart, "", "x"), "ToolResultPart() needs call_id, got an empty text"),
        (ImagePart, "ImagePart() needs data or url, got neither"),
        (lambda: call(ImagePart, data=b"x", url="y"), "ImagePart() needs data or url, not both"),
        (lambda: call(Attachment, "f", "a", kind="sound"), "Attachment() needs kind to be one of file, image, link, got kind='sound' (str)"),
        (lambda: call(CompactionPoint, "s", "b", float("nan")), "CompactionPoint() needs a number for created_at, got NaN"),
    ],
)  # fmt: skip
def test_wrong_values(build: Callable[[], Any], said: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        build()
    assert str(caught.value) == said


# ------------------------------------------------------------------------------------------ counting


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (Message("a", "user", "one two"), 4 + 2),
        (Message("a", "user", "one two", name="Ann"), 4 + 2 + 1),
        (Message("a", "assistant", [ToolCallPart("c", "look", '{"a": 1}')]), 4 + 1 + 2 + 3),
        (Message("a", "tool", [RESULT]), 4 + 1),
        (Message("a", "tool", [RESULT, ToolResultPart("c2", "one two")]), 4 + 1 + 4 + 2),
        (Message("a", "assistant", [CALL, RESULT]), 4 + 1 + 1 + 3 + 4 + 1),
        (Message("a", "assistant", [ReasoningPart("one two")]), 4 + 2),
        (Message("a", "assistant", [ReasoningPart("one two", "anthropic", {"a": "b c"})]), 4 + 2),
        (Message("a", "user", [OpaquePart("openai", {"a": "b c d"})]), 4 + 3),
        (Message("a", "user", [OpaquePart("openai", {"a": "b c d"}, tokens=50)]), 4 + 50),
        (Message("a", "user", [ImagePart(url="u"), InfoPart("one two")]), 4 + 85 + 8 * 170),
        (Message("a", "user", [ImagePart(url="u", detail="low")]), 4 + 85),
        (Message("a", "user", [ImagePart(data=PIXEL), TextPart("one")]), 4 + 85 + 170 + 1),
        (Message("a", "user", [ImagePart(data=b"no picture")]), 4),
    ],
)
def test_tokens_of_messages(message: Message, tokens: int) -> None:
    assert message_tokens(message, words) == tokens


def test_tokens_of_chats() -> None:
    assert chat_tokens([], words) == 0
    assert chat_tokens([Message("a", "user", "x"), Message("b", "assistant", "y")], words) == 5 + 5 + 3


# ------------------------------------------------------------------------------------------ reports


def test_reports_are_json() -> None:
    report = ContextReport(
        passes=(
            PassReport(
                "prune",
                kept=2,
                dropped=(Drop("m1", None, "expire", "expired", "age 12, over 10"),),
                restored=(Restored("m2", "fee", ("m3", "m4")),),
                merged=(("m5", "m6"),),
                notes=("a note",),
            ),
        ),
        strategy=Strategy("none", "no-files"),
        metrics={"length": 5},
        events=(Event("pass", "done", "prune"),),
        notes=("another",),
        priorities={"m7": -1.5},
    )
    assert report.to_json() == {
        "passes": [
            {
                "name": "prune",
                "kept": 2,
                "dropped": [
                    {
                        "message_id": "m1",
                        "part": None,
                        "stage": "expire",
                        "reason": "expired",
                        "detail": "age 12, over 10",
                    }
                ],
                "restored": [{"message_id": "m2", "term": "fee", "references": ["m3", "m4"]}],
                "merged": [["m5", "m6"]],
                "demoted": [],
                "tokens_before": None,
                "tokens_after": None,
                "notes": ["a note"],
            }
        ],
        "strategy": {
            "name": "none",
            "reason": "no-files",
            "available": None,
            "counted": 0,
            "parsed": 0,
        },
        "metrics": {"length": 5},
        "events": [{"kind": "pass", "state": "done", "subject": "prune", "progress": None, "text": ""}],
        "notes": ["another"],
        "priorities": {"m7": -1.5},
    }
    assert ContextReport().to_json()["strategy"] is None
