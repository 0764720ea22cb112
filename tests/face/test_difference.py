"""Where two renders part: elements, characters, tokens; and the tokens and characters of one render."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    Difference,
    PromptError,
    ProviderError,
    Rendered,
    assistant_message,
    br,
    cache_break,
    empty,
    first_difference,
    image,
    part,
    render,
    scope,
    system_message,
    token_break,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.model.elements import Node
from priompt_py.model.prompt import CacheMark, ChatMessage, TextPart
from priompt_py.testing.strategies import chats, prompts
from priompt_py.testing.tokenizers import CharTokenizer
from priompt_py.tokens.chat_format import HARMONY_CHAT, OPENAI_CHAT

CHARS = CharTokenizer()


def mapped(tree: Node, limit: int = 10_000, **how: Any) -> Rendered:
    return render(tree, token_limit=limit, source_map=True, callbacks=False, **how)


def mapped_or_none(tree: Node, limit: int, **how: Any) -> Rendered | None:
    try:
        return mapped(tree, limit, **how)
    except PromptError:
        return None


def sent(message: ChatMessage) -> tuple[Any, ...]:
    """All of a message that is sent: texts side by side are one, marks are none."""
    parts: list[Any] = []
    for one in message.parts:
        if isinstance(one, TextPart) and parts and isinstance(parts[-1], str):
            parts[-1] += one.text
        elif isinstance(one, TextPart):
            parts += [one.text] if one.text else []
        elif not isinstance(one, CacheMark):
            parts.append(one)
    calls = message.tool_calls, message.function_call, message.tool_call_id, message.is_error
    return message.role, message.name, message.to, *parts, calls


@given(prompts() | chats(), prompts() | chats(), st.integers(0, 200), st.integers(0, 200), st.booleans())
def test_renders_part_where_what_is_sent_does(a: Node, b: Node, limit: int, other: int, same: bool) -> None:
    one, two = mapped_or_none(a, limit), mapped_or_none(a if same else b, other)
    if one is None or two is None:
        return
    found = first_difference(one, two)
    if found is None:
        assert one.to_text() == two.to_text()
        if one.messages is not None and two.messages is not None:
            assert [sent(m) for m in one.messages] == [sent(m) for m in two.messages]
        assert one.tools == two.tools
        return
    back = first_difference(two, one)
    assert back is not None
    assert (back.what, back.characters, back.tokens, back.a, back.b) == (
        found.what,
        found.characters,
        found.tokens,
        found.b,
        found.a,
    )
    if found.what == "tools":
        assert one.tools != two.tools
        return
    text, twin = one.to_text(), two.to_text()
    assert text[: found.characters] == twin[: found.characters]
    if found.what == "text":
        assert text[found.characters : found.characters + 1] != twin[found.characters : found.characters + 1]
    if found.is_exact:
        ids, others = one.to_tokens(), two.to_tokens()
        assert ids[: found.tokens] == others[: found.tokens]
        assert ids[found.tokens : found.tokens + 1] != others[found.tokens : found.tokens + 1]
    for element in (found.a, found.b):
        assert element is None or (element.offset <= found.characters and element.tokens <= found.tokens)


@given(prompts() | chats(), st.integers(0, 200))
def test_a_render_does_not_part_from_itself(tree: Node, limit: int) -> None:
    one, two = mapped_or_none(tree, limit), mapped_or_none(tree, limit)
    if one is not None and two is not None:
        assert first_difference(one, two) is None


def parting(a: Node, b: Node, **how: Any) -> Difference:
    found = first_difference(mapped(a, **how), mapped(b, **how))
    assert found is not None
    return found


def test_a_clock_in_a_system_message() -> None:
    def prompt(now: str) -> Node:
        return [
            system_message["You are kind. Time: ", scope(name="now")[now]],
            user_message["Hi"],
        ]

    found = parting(prompt("12:01"), prompt("12:02"))
    assert found.a is not None
    assert (found.what, found.characters, found.tokens, found.is_exact) == ("text", 52, 12, True)
    assert (found.a.label, found.a.offset, found.a.tokens) == ("now", 48, 10)
    assert found.a.path == "root > 0:system > 1:scope[name=now] > 0:text"
    assert found.b == found.a


def test_a_turn_more() -> None:
    turns: list[Node] = [user_message["one"]]
    found = parting(turns, [*turns, user_message["two"]])
    assert (found.what, found.is_exact) == ("message", True)
    assert found.a is not None  # the start of the answer
    assert (found.a.kind, found.a.path) == ("frame", "root")
    assert found.b is not None
    assert found.b.path == "root > 1:user"
    shorter = parting("one", "one two", tokenizer=CHARS)
    assert (shorter.characters, shorter.tokens, shorter.a) == (3, 3, None)
    assert shorter.b is not None
    assert (shorter.b.path, shorter.b.offset, shorter.b.tokens) == ("root > 0:text", 0, 0)


GIF = b"GIF89a\x03\x00\x02\x00\x00\x00\x00"
CALL = {"id": "1", "name": "t", "arguments": "{}"}


@pytest.mark.parametrize(
    ("a", "b", "what", "kind"),
    [
        ([user_message["x", image(data=GIF), "y"]], [user_message["x", image(url="https://a.b/c.png", dimensions=(1, 1)), "y"]], "image", "image"),
        ([user_message["x", image(data=GIF)]], [user_message["xy"]], "image", "image"),
        ([assistant_message["x", part(provider="p", data={"a": 1})]], [assistant_message["x", part(provider="p", data={"a": 2})]], "part", "part"),
        (
            [assistant_message(tool_calls=[CALL])["x"], tool_message(tool_call_id="1")["r"]],
            [assistant_message(tool_calls=[{**CALL, "arguments": "[]"}])["x"], tool_message(tool_call_id="1")["r"]],
            "tool_calls",
            "frame",
        ),
        (
            [assistant_message(tool_calls=[CALL, {**CALL, "id": "2"}]), tool_message(tool_call_id="1")["r"], tool_message(tool_call_id="2")["r"]],
            [assistant_message(tool_calls=[CALL, {**CALL, "id": "2"}]), tool_message(tool_call_id="2")["r"], tool_message(tool_call_id="1")["r"]],
            "tool_call_id",
            "text",
        ),
        ([user_message["a<|im_end|>"]], [user_message["a"]], "message", "text"),
    ],
)  # fmt: skip
def test_what_has_no_text(a: Node, b: Node, what: str, kind: str) -> None:
    found = parting(a, b, chat_format=OPENAI_CHAT)
    assert (found.what, found.is_exact) == (what, False)
    assert found.a is not None
    assert found.a.kind == kind


def test_a_legacy_call() -> None:
    call = {"name": "f", "arguments": "{}"}
    found = parting(
        [assistant_message(function_call=call)], [assistant_message(function_call={**call, "name": "g"})]
    )
    assert (found.what, found.is_exact) == ("tool_calls", False)


def test_pictures_and_parts_that_differ_are_not_shared() -> None:
    same = image(url="https://a.b/s.png", dimensions=(1, 1))
    one, other = (image(url=f"https://a.b/{name}.png", dimensions=(1, 1)) for name in "xy")
    found = parting([user_message["w", same, one]], [user_message["w", same, other]])
    assert (found.what, found.characters, found.tokens, found.is_exact) == ("image", 27, 3 + 1 + 255, False)
    assert found.a is not None
    assert (found.a.path, found.a.kind, found.a.tokens) == ("root > 0:user > 2:image", "image", 259)
    alone = parting([user_message[one]], [user_message[other]])
    assert alone.tokens == 3
    behind = parting([user_message[same, "x"]], [user_message[same, "y"]])
    assert (behind.what, behind.tokens) == ("text", 3 + 255)
    fewer = parting([user_message["w", same]], [user_message["w"]])
    back = parting([user_message["w"]], [user_message["w", same]])
    assert (fewer.what, fewer.tokens) == (back.what, back.tokens) == ("image", 4)
    thought = [part(provider="p", data={"n": n}, tokens=9) for n in (1, 1.0, 2)]
    for number in (1, 2):
        parts = parting(
            [assistant_message[thought[0], thought[0]]], [assistant_message[thought[0], thought[number]]]
        )
        assert (parts.what, parts.tokens) == ("part", 3 + 9)
        assert parts.b is not None
        assert parts.b.path == "root > 0:assistant > 1:part"


def test_keys_in_another_order_are_sent_in_another_order() -> None:
    def tool(*names: str) -> Node:
        return tool_definition({"type": "object", "properties": {name: {} for name in names}}, name="t")

    found = parting([tool("a", "b"), "x"], [tool("b", "a"), "x"])
    assert (found.what, found.tokens) == ("tools", 0)
    assert found.a is not None
    assert found.a.path == "root > 0:tool_definition"
    data = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    one, other = ([assistant_message[part(provider="p", data=each)]] for each in data)
    assert parting(one, other).what == "part"


def test_a_result_of_a_call_that_failed() -> None:
    call = assistant_message(tool_calls=[CALL])
    one, other = (
        [call, tool_message(tool_call_id="1", is_error=failed)["no"], user_message["q"]]
        for failed in (False, True)
    )
    assert parting(one, other).what == "is_error"


def test_tools_come_before_all_else() -> None:
    def tool(name: str) -> Node:
        return tool_definition(name=name, description="", parameters={})

    found = parting([tool("a"), tool("b"), "x"], [tool("a"), tool("c"), "x"])
    assert (found.what, found.characters, found.tokens, found.is_exact) == ("tools", 0, 0, True)
    assert found.a is not None
    assert (found.a.label, found.a.path) == ("b", "root > 1:tool_definition")
    fewer = parting([tool("a"), tool("a"), tool("b")], [tool("a")])
    assert fewer.a is not None
    assert (fewer.a.label, fewer.a.path, fewer.b) == (
        "b",
        "root",
        None,
    )  # one is sent once: which is not told
    same = parting([tool("a"), "xyz"], [tool("a"), "xyw"], tokenizer=CHARS)
    assert (same.what, same.characters, same.tokens, same.is_exact) == ("text", 2, 2, False)
    chat = parting([tool("a"), user_message["xyz"]], [tool("a"), user_message["xyw"]])
    assert chat.tokens > 7  # the tool is counted too
    assert not chat.is_exact


def test_cache_marks_make_no_difference() -> None:
    a, b = mapped([user_message["x", cache_break, "y"]]), mapped([user_message["xy"]])
    assert first_difference(a, b) is None


def test_what_is_no_render_with_a_source_map() -> None:
    with pytest.raises(PromptError, match=r"^first_difference\(\) needs two renders, got b=str$"):
        first_difference(mapped("a"), cast("Rendered", "b"))
    with pytest.raises(
        PromptError, match=r"^first_difference\(\) needs renders with source_map=True, a has none$"
    ):
        first_difference(render("a", token_limit=9), mapped("a"))


# ------------------------------------------------------------------------------------------ tokens and characters


@given(
    prompts(kinds={"text", "scope", "br", "token_break", "first"})
    | chats(kinds={"text", "scope", "br", "token_break", "first"}, tools=False),
    st.integers(0, 200),
    st.sampled_from((OPENAI_CHAT, HARMONY_CHAT)),
    st.booleans(),
)
def test_each_token_begins_where_it_is_told(tree: Node, limit: int, form: Any, open_end: bool) -> None:
    rendered = mapped_or_none(tree, limit, last_message_incomplete=open_end)
    if rendered is None:
        return
    try:
        offsets, ids = rendered.token_offsets(), rendered.to_tokens()
    except ProviderError:  # a legacy call has none
        return
    assert len(offsets) == len(ids)
    assert offsets == sorted(offsets)
    assert not offsets or (offsets[0] == 0 and offsets[-1] < len(rendered.to_text()))
    by_chars = mapped_or_none(tree, limit, tokenizer=CHARS, chat_format=form)
    if by_chars is not None and by_chars.messages is None:  # a character is a token
        assert by_chars.token_offsets() == list(range(len(by_chars.to_text())))


def test_tokens_within_characters() -> None:
    rendered = mapped(["a", br, "é 👩‍👧", token_break, "ﷺ\ufffdz"])
    text = rendered.to_text()
    offsets = rendered.token_offsets()
    assert len(offsets) == len(rendered.to_tokens()) == rendered.token_count
    assert offsets[:2] == [0, 1]
    assert {text[offset] for offset in offsets} >= {"a", "\n", "é", " ", "👩", "👧", "ﷺ"}
    assert offsets.count(text.index("ﷺ")) > 1  # its bytes are several tokens


def test_a_frame_of_a_chat() -> None:
    rendered = mapped([user_message(name="me", to="you")["hi"]])
    text = rendered.to_text()
    starts = rendered.token_offsets()
    assert [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)] == [
        "<|im_start|>", "user", ":", "me", " to", "=", "you", "<|im_sep|>", "hi", "<|im_end|>",
        "<|im_start|>", "assistant", "<|im_sep|>",
    ]  # fmt: skip
    harmony = mapped([user_message["hi"]], chat_format=HARMONY_CHAT)
    assert len(harmony.token_offsets()) == len(harmony.to_tokens()) == 7


def test_tokens_before_a_character() -> None:
    rendered = mapped(
        [system_message["ABC"], user_message["DE", empty(tokens=3), "FG"]],
        tokenizer=CHARS,
        chat_format=OPENAI_CHAT,
    )
    text = rendered.to_text()
    told = [rendered.tokens_before(text.index(sign)) for sign in "ABCDEFG"]
    assert told == [3, 4, 5, 10, 11, 12, 13]
    assert rendered.tokens_before(0) == 0
    assert rendered.tokens_before(len(text)) == 7 + 8
    assert mapped("abc", tokenizer=CHARS).tokens_before(2) == 2


def test_no_offsets_where_there_are_no_ids() -> None:
    with pytest.raises(PromptError, match="images have no token ids"):
        mapped([user_message[image(data=GIF)]]).token_offsets()
