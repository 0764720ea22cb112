"""Source maps of random prompts: each span is exactly what its element gave, and together they cover the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from priompt_py import Element, PromptError, Rendered, render, scope, user_message
from priompt_py.model.elements import Node
from priompt_py.model.source_map import SourceMap, Span
from priompt_py.testing.oracle import oracle_render
from priompt_py.testing.strategies import chats, prompts
from priompt_py.testing.tokenizers import CharTokenizer
from priompt_py.tokens.chat_format import HARMONY_CHAT, OPENAI_CHAT

CHARS = CharTokenizer()


def mapped(tree: Node, limit: int, **how: Any) -> tuple[Rendered, SourceMap] | None:
    try:
        rendered = render(tree, token_limit=limit, tokenizer=CHARS, source_map=True, **how)
    except PromptError:
        return None
    assert rendered.source_map is not None
    return rendered, rendered.source_map


def families(span: Span) -> Iterator[Span]:
    yield span
    for child in span.children:
        yield from families(child)


@given(
    prompts() | chats(),
    st.integers(0, 120),
    st.sampled_from((OPENAI_CHAT, HARMONY_CHAT)),
    st.booleans(),
)
def test_leaves_are_the_texts_and_cover_the_flat_form(
    tree: Node, limit: int, chat_format: object, open_end: bool
) -> None:
    found = mapped(tree, limit, chat_format=chat_format, last_message_incomplete=open_end)
    if found is None:
        return
    rendered, source_map = found
    text = rendered.to_text()
    assert (source_map.text, source_map.root.start, source_map.root.end) == (text, 0, len(text))
    leaves = list(source_map.leaves())
    assert "".join(text[leaf.start : leaf.end] for leaf in leaves) == text
    how: dict[str, Any] = {"chat_format": chat_format, "last_message_incomplete": open_end}
    expected = oracle_render(tree, token_limit=limit, tokenizer=CHARS, **how)
    shown = [(leaf.path, text[leaf.start : leaf.end]) for leaf in leaves if leaf.kind != "frame"]
    assert shown == list(expected.texts)


@given(prompts() | chats(), st.integers(0, 120))
def test_spans_lie_in_order_within_what_is_around_them(tree: Node, limit: int) -> None:
    found = mapped(tree, limit)
    if found is None:
        return
    for span in families(found[1].root):
        ends = [span.start]
        for child in span.children:
            assert ends[-1] <= child.start <= child.end <= span.end
            ends.append(child.end)
        if span.children:
            assert sum(child.end - child.start for child in span.children) == span.end - span.start


@given(prompts() | chats(), st.integers(0, 120), st.data())
def test_every_character_is_in_one_leaf(tree: Node, limit: int, data: st.DataObject) -> None:
    found = mapped(tree, limit)
    if found is None or not found[1].text:
        return
    source_map = found[1]
    offset = data.draw(st.integers(0, len(source_map.text) - 1))
    line = source_map.at(offset)
    assert line[0] is source_map.root
    assert line[-1] in list(source_map.leaves())
    assert all(span.start <= offset < span.end for span in line)
    assert source_map.at(len(source_map.text)) == ()


@given(prompts() | chats(), st.integers(0, 120))
def test_a_query_at_every_position(tree: Node, limit: int) -> None:
    found = mapped(tree, limit)
    if found is None:
        return
    source_map = found[1]
    leaves = list(source_map.leaves())
    told = [source_map.at(offset)[-1] for offset in range(len(source_map.text))]
    assert told == [leaf for leaf in leaves for _ in range(leaf.start, leaf.end)]
    for leaf in leaves:
        assert leaf in source_map.of(leaf.path)
    assert source_map.at(-1) == ()


@given(prompts() | chats(), st.integers(0, 120))
def test_json_holds_the_whole_map(tree: Node, limit: int) -> None:
    found = mapped(tree, limit)
    if found is None:
        return
    source_map = found[1]
    written: dict[str, Any] = json.loads(json.dumps(source_map.to_json(), allow_nan=False))
    assert written["text"] == source_map.text
    spans = list(source_map.walk())
    assert [
        (one["start"], one["end"], one["path"], one["kind"], one.get("label")) for one in written["spans"]
    ] == [(span.start, span.end, span.path, span.kind, span.label) for span in spans]
    for one, span in zip(written["spans"], spans, strict=True):
        assert span is source_map.root or any(span is child for child in spans[int(one["parent"])].children)
    assert "parent" not in written["spans"][0]


def test_deep_maps_become_json_and_answer() -> None:
    tree: Element = scope["x"]
    for _ in range(9_999):
        tree = scope[tree]
    found = mapped(tree, 9)
    assert found is not None
    assert len(found[1].at(0)) == 10_002
    assert [span.kind for span in found[1].walk()].count("scope") == 10_000


def test_spans_count_code_points() -> None:
    tree: Node = ["😀", scope(name="s")["áb"], scope(name="t")["👩‍👧!"], 7, "你"]
    found = mapped(tree, 99)
    assert found is not None
    rendered, source_map = found
    assert rendered.text == "😀áb👩‍👧!7你"
    assert [(leaf.start, leaf.end) for leaf in source_map.leaves()] == [
        (0, 1),
        (1, 3),
        (3, 7),
        (7, 8),
        (8, 9),
    ]
    assert [(span.start, span.end) for span in source_map.of("s")] == [(1, 3)]


def test_one_element_in_two_places_has_two_spans() -> None:
    again = scope(name="again")["xy"]
    found = mapped([user_message[again, "-", again]], 99)
    assert found is not None
    spans = found[1].of("again")
    assert [found[1].text[span.start : span.end] for span in spans] == ["xy", "xy"]
    assert spans[0].path != spans[1].path


def test_there_is_no_source_map_unless_asked() -> None:
    assert render("a", token_limit=9, tokenizer=CHARS).source_map is None
