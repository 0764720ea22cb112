"""Marks for Anthropic's prompt cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from priompt_py.errors import ProviderError
from priompt_py.model.elements import Call, Part
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import CacheMark, ChatMessage, PromptConfig, TextPart, Tool
from priompt_py.providers.anthropic import AnthropicCache, to_anthropic
from tests.providers.chats import chat, text_message
from tests.providers.sdk_types import check_anthropic

FIVE = PromptConfig(max_response_tokens=5)
MARK = CacheMark()
EPHEMERAL = {"type": "ephemeral"}


def text(*parts: str | CacheMark) -> tuple[Any, ...]:
    return tuple(TextPart(part) if isinstance(part, str) else part for part in parts)


def blocks(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block with a name, in the order of the prompt: tools, system, messages."""
    for tool in request.get("tools", ()):
        yield f"tool {tool['name']}", tool
    for block in request.get("system", ()):
        yield block["text"], block
    for message in request["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield block.get("text", block["type"]), block


def marked(outcome: Outcome, cache: AnthropicCache | None = None) -> list[str]:
    request = to_anthropic(outcome, cache=cache)
    check_anthropic(request)
    found = [name for name, block in blocks(request) if "cache_control" in block]
    assert all(block.get("cache_control", EPHEMERAL) == EPHEMERAL for _, block in blocks(request))
    return found


LONG = chat(
    ChatMessage("system", text("s1", MARK, "s2")),
    ChatMessage("user", text("u1", MARK, MARK, "u2")),
    ChatMessage("assistant", text("a1")),
    ChatMessage("user", text(MARK, "u3", MARK, "u4", MARK)),
    ChatMessage("assistant", text("a2")),
    tools=[Tool("t1", "", {}), Tool("t2", "", {})],
    config=FIVE,
)


def test_of_the_authors_marks_the_first_two_and_the_last_two_are_written() -> None:
    # Marks stand behind s1, u1, a1 (the one in front of u3), u3 and u4.
    assert marked(LONG) == marked(LONG, "marks") == ["s1", "u1", "u3", "u4"]


def test_auto_marks_the_ends_of_what_stays() -> None:
    assert marked(LONG, "auto") == ["tool t2", "s1s2", "u3u4", "a2"]


def test_off_writes_none() -> None:
    assert marked(LONG, "off") == []


def test_without_marks_none_is_written_by_default() -> None:
    assert marked(chat(text_message("user", "q"), config=FIVE)) == []


def test_auto_of_a_short_prompt() -> None:
    assert marked(chat(text_message("user", "q"), config=FIVE), "auto") == ["q"]


def test_a_mark_with_nothing_before_it_is_lost() -> None:
    assert marked(chat(ChatMessage("user", text(MARK, "a")), config=FIVE)) == []


def test_a_mark_before_all_texts_falls_on_the_last_tool() -> None:
    tools = [Tool("t1", "", {}), Tool("t2", "", {})]
    for role in ("user", "system"):
        messages = ChatMessage(role, text(MARK, "a", MARK)), text_message("user", "q")
        assert marked(chat(*messages, tools=tools, config=FIVE)) == ["tool t2", "a"]


@pytest.mark.parametrize(
    ("parts", "written"),
    [
        (("a", MARK, "\n\n", MARK, "b"), ["a*", "\n\nb"]),
        (("a", MARK, " ", MARK), ["a *"]),
        ((" ", MARK, "a"), [" a"]),
        (("a", MARK, " "), ["a *"]),
        (("a", " ", MARK, "", MARK, "\n", "b", MARK), ["a *", "\nb*"]),
        ((" ", MARK, " ", "q"), ["  q"]),
    ],
)
def test_marks_leave_blank_texts_beside_others_as_they_are(parts: Any, written: list[str]) -> None:
    """Blank blocks are refused, but what is blank belongs to the text: marks change nothing that is read."""
    outcome = chat(ChatMessage("user", text(*parts)), config=FIVE)
    request = to_anthropic(outcome)
    check_anthropic(request)
    found = [name + "*" * ("cache_control" in block) for name, block in blocks(request)]
    assert found == written
    (whole,) = blocks(to_anthropic(outcome, cache="off"))
    assert "".join(found).replace("*", "") == whole[0]


def test_blank_texts_beside_what_is_no_text_of_ours_are_left_out() -> None:
    own = Part(provider="anthropic", data={"type": "text", "text": "own"})
    message = ChatMessage("user", (*text("a", MARK, " "), own, *text(" ", MARK, " "), own))
    assert [name for name, _ in blocks(to_anthropic(chat(message, config=FIVE)))] == ["a ", "own", "own"]


def test_a_mark_in_a_blank_message_falls_on_the_block_before_it() -> None:
    outcome = chat(
        text_message("user", "a"),
        ChatMessage("assistant", text(" ", MARK)),
        text_message("user", "b"),
        config=FIVE,
    )
    assert marked(outcome) == ["a"]


THINKING = Part(provider="anthropic", data={"type": "thinking", "thinking": "T", "signature": "s"})


def test_thinking_cannot_be_marked() -> None:
    outcome = chat(
        text_message("user", "q"),
        ChatMessage("assistant", (THINKING, MARK, TextPart("a"), THINKING)),
        config=FIVE,
    )
    assert marked(outcome) == ["q"]
    assert marked(outcome, "auto") == ["q", "a"]


TOOLS: dict[str, Any] = {"tools": [Tool("look", "", {})], "config": FIVE}
CALL = (Call("c", "look", "{}"),)


def test_marks_at_the_end_of_a_message_stand_behind_its_calls() -> None:
    outcome = chat(
        ChatMessage("assistant", text("a", MARK, "b", MARK), tool_calls=CALL),
        text_message("tool", "R", tool_call_id="c"),
        **TOOLS,
    )
    assert marked(outcome) == ["a", "tool_use"]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_blank_text_behind_a_mark_does_not_keep_it_from_the_calls(blank: str) -> None:
    outcome = chat(
        ChatMessage("assistant", text("a", MARK, blank), tool_calls=CALL),
        text_message("tool", "R", tool_call_id="c"),
        **TOOLS,
    )
    assert marked(outcome) == ["tool_use"]
    said = to_anthropic(outcome)["messages"][1]["content"]
    assert said[0] == {"type": "text", "text": "a" + blank}


def test_marks_in_a_result_stand_on_the_result() -> None:
    outcome = chat(
        ChatMessage("assistant", tool_calls=CALL),
        ChatMessage("tool", text("R", MARK, "S"), tool_call_id="c"),
        **TOOLS,
    )
    request = to_anthropic(outcome)
    check_anthropic(request)
    (result,) = request["messages"][-1]["content"]
    assert result == {"type": "tool_result", "tool_use_id": "c", "content": "RS", "cache_control": EPHEMERAL}
    assert marked(outcome, "auto") == ["tool look", "tool_use", "tool_result"]


def own(text: str) -> Part:
    return Part(provider="anthropic", data={"type": "text", "text": text, "cache_control": EPHEMERAL})


@pytest.mark.parametrize(("taken", "names"), [(0, ["p", "a", "b", "d"]), (1, ["p", "a", "d"]), (3, ["p"])])
def test_marks_that_stand_already_are_counted(taken: int, names: list[str]) -> None:
    # Four are taken in all: one in a part, `taken` (at most one by extra, the others by parts), the rest for marks.
    more = [own(f"p{i}") for i in range(1, taken)]
    config = PromptConfig(max_response_tokens=5, extra={"cache_control": EPHEMERAL} if taken else {})
    parts = (own("p"), *more, *text("a", MARK, "b", MARK, "c", MARK, "d", MARK))
    assert marked(chat(ChatMessage("user", parts), config=config)) == [
        *names[:1],
        *[f"p{i}" for i in range(1, taken)],
        *names[1:],
    ]


SEARCH = {"name": "s", "input_schema": {"type": "object"}, "cache_control": EPHEMERAL}


def test_marks_in_the_tools_and_the_system_text_of_extra_are_counted() -> None:
    extra: dict[str, Any] = {
        "tools": [SEARCH],
        "system": [{"type": "text", "text": "S", "cache_control": EPHEMERAL}],
    }
    outcome = chat(
        ChatMessage("user", text("a", MARK, "b", MARK, "c", MARK, "d")),
        config=PromptConfig(max_response_tokens=5, extra=extra),
    )
    assert marked(outcome) == ["tool s", "S", "a", "c"]


def test_four_marks_of_the_author_leave_no_room() -> None:
    parts = (*(own(f"p{i}") for i in range(4)), *text("a", MARK))
    assert marked(chat(ChatMessage("user", parts), config=FIVE)) == ["p0", "p1", "p2", "p3"]


IN_A_RESULT = chat(
    ChatMessage("assistant", tool_calls=CALL),
    ChatMessage("tool", tuple(own(f"p{i}") for i in range(5)), tool_call_id="c"),
    **TOOLS,
)


@pytest.mark.parametrize("cache", [None, "auto", "marks", "off"])
@pytest.mark.parametrize(
    ("outcome", "count", "place"),
    [
        (
            chat(ChatMessage("user", tuple(own(f"p{i}") for i in range(6))), config=FIVE),
            6,
            "messages[0].content[4]",
        ),
        (IN_A_RESULT, 5, "messages[2].content[0].content[4]"),
        (
            chat(
                ChatMessage("user", tuple(own(f"p{i}") for i in range(4))),
                config=PromptConfig(max_response_tokens=5, extra={"cache_control": EPHEMERAL}),
            ),
            5,
            "cache_control",
        ),
        (
            chat(
                ChatMessage("user", tuple(own(f"p{i}") for i in range(4))),
                config=PromptConfig(max_response_tokens=5, extra={"tools": [SEARCH], "system": "S"}),
            ),
            5,
            "messages[0].content[3]",
        ),
    ],
)
def test_more_than_four_marks_of_the_author_are_an_error(
    outcome: Outcome, count: int, place: str, cache: AnthropicCache | None
) -> None:
    with pytest.raises(ProviderError) as caught:
        to_anthropic(outcome, cache=cache)
    assert str(caught.value) == (
        f"the prompt's own parts and extra hold {count} marks for caching (cache_control), and Anthropic takes at most "
        f"4 in a request; the first too many is {place} of the request"
    )


def test_a_part_that_is_marked_already_keeps_its_mark() -> None:
    assert marked(chat(ChatMessage("user", (own("p"), MARK)), config=FIVE)) == ["p"]
