"""A shared cache keeps the messages that it knows: what is sent must not depend on it."""

from __future__ import annotations

import copy

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    Node,
    PromptError,
    TokenCache,
    assistant_message,
    render,
    scope,
    system_message,
    user_message,
)
from priompt_py.model.prompt import ChatMessage, TextPart
from priompt_py.testing import chats
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()


def test_a_later_render_has_the_same_message() -> None:
    cache = TokenCache()
    first = render([user_message["a"], user_message["b"]], token_limit=100, tokenizer=CHARS, cache=cache)
    longer = render(
        [user_message["a"], user_message["b"], assistant_message["c"]],
        token_limit=100,
        tokenizer=CHARS,
        cache=cache,
    )
    assert first.messages is not None
    assert longer.messages is not None
    assert longer.messages[:2] == first.messages
    assert longer.messages[1] is first.messages[1]


def test_one_text_in_two_roles() -> None:
    cache = TokenCache()
    tree: Node = [
        system_message["same"],
        user_message["same"],
        assistant_message["same"],
        user_message["same"],
        user_message(name="bob")["same"],
    ]
    for _ in range(2):
        messages = render(tree, token_limit=100, tokenizer=CHARS, cache=cache).messages
        assert messages is not None
        assert [(message.role, message.name, message.text) for message in messages] == [
            ("system", None, "same"),
            ("user", None, "same"),
            ("assistant", None, "same"),
            ("user", None, "same"),
            ("user", "bob", "same"),
        ]


def test_long_texts_are_not_kept() -> None:
    cache = TokenCache(max_text=3)
    for _ in range(2):
        render([user_message["abcd"], user_message["abc"]], token_limit=100, tokenizer=CHARS, cache=cache)
    assert list(cache.for_tokenizer(CHARS).messages) == ["abc"]


@given(st.lists(chats(), min_size=2, max_size=3), st.integers(20, 200))
def test_a_cache_changes_nothing(trees: list[Node], limit: int) -> None:
    cache = TokenCache(max_entries=8)
    for tree in [*trees, *trees]:
        try:
            alone = render(tree, token_limit=limit, tokenizer=CHARS)
        except PromptError as error:
            with pytest.raises(type(error)):
                render(tree, token_limit=limit, tokenizer=CHARS, cache=cache)
            continue
        shared = render(tree, token_limit=limit, tokenizer=CHARS, cache=cache)
        assert shared.messages == alone.messages
        assert shared.text == alone.text


@pytest.mark.parametrize("value", [ChatMessage("user", (TextPart("ab", (1,)),)), TextPart("ab", (1,))])
def test_messages_cannot_be_changed(value: ChatMessage | TextPart) -> None:
    name = attrs.fields(type(value))[0].name
    with pytest.raises(attrs.exceptions.FrozenError):
        setattr(value, name, "x")
    again = copy.deepcopy(value)
    assert again == value
    assert hash(again) == hash(value)
    assert attrs.evolve(value) == value


def test_scopes_of_messages() -> None:
    cache = TokenCache()
    for number in (1, 2, 3):
        tree: Node = [scope(p=turn)[user_message[f"turn {turn}"]] for turn in range(number)]
        messages = render(tree, token_limit=16, tokenizer=CHARS, cache=cache).messages
        assert messages is not None
        assert [message.text for message in messages] == [f"turn {turn}" for turn in range(number)][-2:]
