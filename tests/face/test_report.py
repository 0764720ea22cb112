"""Reports: what they show adds up, and is what the render holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    BASE_PRIORITY,
    PromptError,
    Rendered,
    assistant_message,
    br,
    cache_break,
    capture,
    config,
    empty,
    excerpt,
    fallback,
    first,
    image,
    part,
    render,
    scope,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.face.report import ReportPart, ReportPiece
from priompt_py.face.report_leaves import COUNTED_OUT
from priompt_py.face.report_pieces import OUT_TEXT
from priompt_py.model.elements import Node
from priompt_py.model.memory import Memory
from priompt_py.testing.strategies import chats, prompts
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer, WordTokenizer
from priompt_py.tokens.chat_format import OPENAI_CHAT

CHARS = CharTokenizer()

TOKENIZERS: list[Callable[[], Any]] = [
    CharTokenizer,
    WordTokenizer,
    lambda: GreedyTokenizer(("ab", "bcd", "d c", "\n\n", "a b", "\na")),
    lambda: "o200k_base",
]


def rendered_of(tree: Node, limit: int, tokenizer: object = CHARS, **how: Any) -> Rendered | None:
    try:
        return render(tree, token_limit=limit, tokenizer=tokenizer, callbacks=False, **how)
    except PromptError:
        return None


@given(prompts() | chats(), st.integers(0, 120), st.sampled_from(TOKENIZERS), st.booleans())
def test_a_report_adds_up(tree: Node, limit: int, tokenizer: Callable[[], Any], open_end: bool) -> None:
    rendered = rendered_of(tree, limit, tokenizer(), last_message_incomplete=open_end)
    if rendered is None:
        return
    report = rendered.report
    assert report.tokens_used + report.tokens_reserved + report.tokens_free == report.token_limit == limit
    assert (report.tokens_used, report.tokens_reserved) == (rendered.token_count, rendered.tokens_reserved)
    inside = [piece for piece in report.pieces() if piece.included]
    frames = sum(message.frame_tokens for message in report.messages if message.included)
    spent = sum(piece.tokens for piece in inside if piece.kind != "empty") + frames + report.other_tokens
    assert spent == report.tokens_used + report.shared_tokens
    if isinstance(tokenizer(), CharTokenizer):  # a character is a token, whatever it stands beside
        assert report.shared_tokens == 0
    assert sum(piece.tokens for piece in inside if piece.kind == "empty") == report.tokens_reserved
    messages = sum(message.tokens for message in report.messages if message.included)
    assert messages + report.other_tokens == report.tokens_used
    assert 1 <= report.level <= report.levels
    assert report.elements_in == sum(decision.included for decision in rendered.decisions)
    assert report.elements_in + report.elements_out == len(rendered.decisions)


@given(prompts() | chats(), st.integers(0, 120))
def test_a_report_shows_what_the_render_holds(tree: Node, limit: int) -> None:
    rendered = rendered_of(tree, limit)
    if rendered is None:
        return
    report, text = rendered.report, rendered.to_text()
    for piece in report.pieces():
        if piece.start is not None and piece.text and piece.kind in ("text", "br", "hr", "omitted"):
            assert text[piece.start : piece.end] == piece.text
        assert (piece.start is not None) <= piece.included
        assert (piece.reason == "included") == piece.included
    said = [
        "".join(
            p.text for p in message.pieces if p.included and p.start is not None and p.start < (p.end or 0)
        )
        for message in report.messages
        if message.included and (message.role is not None or not report.is_chat)
    ]
    if rendered.messages is None:
        assert "".join(said) == rendered.text
    else:
        assert said == [message.text for message in rendered.messages]
    json.dumps(report.to_json(), allow_nan=False)


def seen(piece: ReportPiece) -> tuple[Any, ...]:
    return piece.kind, piece.text, piece.included, piece.reason, piece.priority, piece.tokens


def test_a_plain_prompt_in_small_numbers() -> None:
    tree: Node = [
        "ab",
        scope(p=5, name="out")["cd", br, scope(p=3)["e"], 7],
        fallback[scope["long one"], "."],
        empty(tokens=2),
        scope(p=9)[""],
    ]
    rendered = render(tree, token_limit=6, tokenizer=CHARS)
    report = rendered.report
    (message,) = report.messages
    assert [seen(piece) for piece in message.pieces] == [
        ("text", "ab", True, "included", BASE_PRIORITY, 2),
        ("text", "cd\n", False, "below_cutoff", 5, 3),
        ("text", "e", False, "below_cutoff", 3, 1),
        ("text", "7", False, "below_cutoff", 5, 1),
        ("text", "long one", False, "below_cutoff", BASE_PRIORITY - 1, 8),
        ("text", ".", True, "included", BASE_PRIORITY, 1),
        ("empty", "", True, "included", BASE_PRIORITY, 2),
    ]
    assert [piece.label for piece in message.pieces] == [None, "out", None, "out", None, None, None]
    assert [piece.owner for piece in message.pieces[1:3]] == [
        "root > 1:scope[name=out]",
        "root > 1:scope[name=out] > 2:scope",
    ]
    assert (message.role, message.tokens, message.start, message.end) == (None, 3, 0, 3)
    assert (report.cutoff, report.level, report.levels) == (BASE_PRIORITY, 1, 5)
    assert report.largest == (
        ReportPart("root", None, BASE_PRIORITY, 2),
        ReportPart("root > 2:fallback > 1:text", None, BASE_PRIORITY, 1),
    )


GIF = b"GIF89a\x03\x00\x02\x00\x00\x00\x00"
PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def test_a_chat_in_small_numbers() -> None:
    tool = tool_definition(name="t", description="d", parameters=PARAMETERS)
    tree: Node = [
        tool,
        tool,
        "  ",
        config(stop="x", extra={"seed": 1}),
        system_message["ab", cache_break],
        user_message(name="me", key="seen")[
            image(url="https://x.y/z.png", dimensions=(512, 512)),
            image(data=GIF, detail="low"),
            "c",
        ],
        assistant_message(tool_calls=[{"id": "1", "name": "t", "arguments": "{}"}])["d"],
        scope(p=1)[tool_message(tool_call_id="1")["long result"]],
        scope(p=2)[user_message["ef"]],
        assistant_message[part(provider="anthropic", data={"a": 1}, tokens=4)],
        capture(on_output=print),
    ]
    rendered = render(tree, token_limit=800, tokenizer=CHARS, chat_format=OPENAI_CHAT)
    report = rendered.report
    assert [(m.role, m.name, m.included, m.tokens, m.frame_tokens) for m in report.messages] == [
        (None, None, True, report.messages[0].tokens, 0),
        ("system", None, True, 6, 4),
        ("user", "me", True, 348, 7),
        ("assistant", None, True, 11, 4),
        ("tool", None, True, 15, 4),
        ("user", None, True, 6, 4),
        ("assistant", None, True, 8, 4),
        (None, None, True, 0, 0),
    ]
    told = [(piece.kind, piece.text, piece.tokens) for piece in report.pieces() if piece.kind != "text"]
    cost = told[0][2]
    assert told == [
        ("tool_definition", "t: d", cost),
        ("tool_definition", "t: d", 0),
        ("config", "stop='x', extra={'seed': 1}", 0),
        ("cache_break", "", 0),
        ("image", "https://x.y/z.png 512×512, detail auto", 255),
        ("image", "bytes 3×2, detail low", 85),
        ("tool_calls", "t({})", 6),
        ("part", "for anthropic", 4),
        ("capture", "", 0),
    ]
    assert report.shared_tokens == 0
    less = render(tree, token_limit=rendered.token_count - 1, tokenizer=CHARS, chat_format=OPENAI_CHAT).report
    assert [(m.role, m.included, m.reason, m.tokens) for m in less.messages[3:6]] == [
        ("assistant", True, "included", 5),
        ("tool", False, "below_cutoff", 15),
        ("user", True, "included", 6),
    ]
    (calls,) = [piece for piece in less.pieces() if piece.kind == "tool_calls"]
    assert (calls.included, calls.reason, calls.tokens) == (False, "pair_out", 6)


def test_lines_that_are_out_stand_together() -> None:
    tree: Node = ["x\n", excerpt("a\nb\nc\nd\ne\n", around=3, omitted="..\n")]
    report = render(tree, token_limit=10, tokenizer=CHARS).report
    assert [(p.kind, p.text, p.included, p.priority, p.lowest) for p in report.pieces()] == [
        ("text", "x\n", True, BASE_PRIORITY, BASE_PRIORITY),
        ("omitted", "..\n", True, report.pieces()[1].priority, report.pieces()[1].lowest),
        ("text", "a\nb\n", False, BASE_PRIORITY - 1, BASE_PRIORITY - 2),
        ("text", "c\n", True, BASE_PRIORITY, BASE_PRIORITY),
        ("omitted", "..\n", True, report.pieces()[4].priority, report.pieces()[4].lowest),
        ("text", "d\ne\n", False, BASE_PRIORITY - 1, BASE_PRIORITY - 2),
    ]


def test_much_that_is_out_is_estimated_from_the_lowest_priorities_up() -> None:
    half = "x " * (COUNTED_OUT // 4)
    tree: Node = [scope(p=9)[half], scope(p=8)[half], scope(p=7)[half], scope(p=7)["y" * 9]]
    pieces = render(tree, token_limit=5).report.pieces()
    assert [(piece.is_estimate, piece.characters) for piece in pieces] == [
        (False, COUNTED_OUT // 2),
        (False, COUNTED_OUT // 2),
        (True, COUNTED_OUT // 2),
        (True, 9),
    ]
    assert [piece.tokens for piece in pieces[2:]] == [COUNTED_OUT // 8, 3]
    assert pieces[0].text == half[:OUT_TEXT]
    alone = render([scope(p=9)["x" * (COUNTED_OUT + 1)]], token_limit=5).report.pieces()
    assert [piece.is_estimate for piece in alone] == [True]


def test_an_alternative_that_can_never_be_in_is_shown() -> None:
    tree: Node = [first["a", scope(p=3)["b"]]]
    pieces = render(tree, token_limit=5, tokenizer=CHARS).report.pieces()
    assert [seen(piece) for piece in pieces] == [
        ("text", "a", True, "included", BASE_PRIORITY, 1),
        ("text", "b", False, "not_chosen", 3, 1),
    ]


def test_a_report_is_lost_in_a_pickle_unless_it_was_made() -> None:
    import pickle

    rendered = render(["a"], token_limit=5, tokenizer=CHARS)
    copied: Rendered = pickle.loads(pickle.dumps(rendered))  # noqa: S301 - our own
    with pytest.raises(PromptError, match=r"^this prompt was pickled before its report was made; "):
        _ = copied.report
    report = rendered.report
    again: Rendered = pickle.loads(pickle.dumps(rendered))  # noqa: S301 - our own
    assert again.report == report


def test_a_remembered_cutoff_between_two_levels() -> None:
    tree: Node = ["a", scope(p=5)["bcdefghi"], scope(p=3)["jklmno"]]
    rendered = render(tree, token_limit=12, tokenizer=CHARS, previous=Memory(cutoff=4, maxes={}))
    assert (rendered.cutoff, rendered.report.level, rendered.report.levels) == (4, 2, 3)
