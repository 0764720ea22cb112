"""What a report looks like: on terminals, in notebooks, and as lines of a width."""

from __future__ import annotations

import pickle
import re
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from priompt_py import (
    PromptError,
    Rendered,
    assistant_message,
    br,
    cache_break,
    compile_prompt,
    config,
    empty,
    excerpt,
    fallback,
    image,
    isolate,
    render,
    scope,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.face.drawing import Look, draw
from priompt_py.face.html import MOST, report_html
from priompt_py.face.panels import Panel
from priompt_py.face.rows import wrapped
from priompt_py.face.visible import fraction, priority_text, tokens_text, visible
from priompt_py.model.elements import BASE_PRIORITY, Node
from priompt_py.testing.strategies import chats, prompts
from priompt_py.testing.tokenizers import CharTokenizer, WordTokenizer

CHARS = CharTokenizer()

CHAT: Node = [
    tool_definition(name="look_up", description="Looks a word up", parameters={}),
    system_message[
        "You answer from the page; say so when it is silent. ", "\x1b[31mred\x07 你好 👩‍👧 é", cache_break
    ],
    user_message(name="ada")[
        "Hi ",
        scope(p=5, name="glossary")["a glossary", br, "of words"],
        scope(p=-3.5)["low\nand\nlong\nlines"],
        excerpt("".join(f"line {number}\n" for number in range(20)), around=8, omitted="...\n"),
        fallback(p=60)[scope["the long version of it"], "(left out)"],
        image(url="https://a.b/c.png", dimensions=(512, 512), detail="low"),
    ],
    [scope(p=40 + number)[user_message[f"turn {number}"]] for number in range(8)],
    assistant_message(tool_calls=[{"id": "1", "name": "look_up", "arguments": '{"word": "a"}'}]),
    scope(p=70)[tool_message(tool_call_id="1", key="answer")["found"]],
    isolate(token_limit=20)[user_message["x", scope(p=3)["y " * 20]]],
    empty(tokens=40),
    config(stop="\n\n"),
]


def chat(limit: int) -> Rendered:
    return render(CHAT, token_limit=limit)


def screen(rendered: Rendered, width: int, **how: Any) -> str:
    """What a console of this width gets, without colours."""
    kept = StringIO()
    console = Console(file=kept, width=width, color_system=None, legacy_windows=False)
    console.print(Panel(rendered.report, **how), soft_wrap=True)
    return kept.getvalue()


@pytest.mark.parametrize(
    ("limit", "width", "how"),
    [
        (500, 80, {}),
        (330, 80, {}),
        (330, 40, {}),
        (330, 20, {}),
        (500, 160, {}),
        (330, 80, {"plain": True}),
        (330, 80, {"lines": None, "out_lines": None}),
        (500, 60, {"lines": 5, "plain": True}),
        (500, 60, {"lines": 0}),
    ],
)
def test_screens(limit: int, width: int, how: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    shown = screen(chat(limit), width, **how)
    assert shown == snapshot
    assert max(map(cell_len, shown.splitlines())) <= max(width, 20)


def test_a_plain_prompt(snapshot: SnapshotAssertion) -> None:
    tree: Node = [
        "Question: ",
        scope(p=9, name="page")["A page.\r\n\tIndented."],
        scope(p=3, name="more")["More."],
    ]
    assert screen(render(tree, token_limit=15), 60) == snapshot
    assert screen(render([], token_limit=0), 60) == snapshot
    assert screen(render(["x"], token_limit=1 << 50), 60) == snapshot
    assert screen(render([scope(p=1)["x"]], token_limit=0), 60) == snapshot


def test_many_parts_that_are_out_are_told_together(snapshot: SnapshotAssertion) -> None:
    tree: Node = ["a ", [scope(p=9 - number)[f"part {number} "] for number in range(9)], "long " * 4_000]
    assert screen(render(tree, token_limit=4_010), 60) == snapshot
    assert screen(render(tree, token_limit=4_010), 60, plain=True, lines=3, out_lines=0) == snapshot


def test_estimates_say_so(snapshot: SnapshotAssertion) -> None:
    rendered = render(
        ["a few words here", scope(p=2)["x" * 600_000]], token_limit=20, tokenizer="o200k_estimate"
    )
    assert screen(rendered, 60) == snapshot


def test_colours() -> None:
    kept = StringIO()
    console = Console(file=kept, width=60, force_terminal=True, color_system="256", legacy_windows=False)
    console.print(render([scope(p=i)[f"{i}\n"] for i in range(5)], token_limit=8, tokenizer=WordTokenizer()))
    colours = re.findall(r"\x1b\[38;5;(\d+)m(\d)\x1b", kept.getvalue())
    assert colours == [("130", "0"), ("133", "1"), ("63", "2"), ("30", "3"), ("28", "4")]


@given(
    prompts() | chats(),
    st.integers(0, 200),
    st.integers(20, 100),
    st.booleans(),
    st.none() | st.integers(0, 5),
)
def test_nothing_is_wider_than_the_screen_and_nothing_steers_it(
    tree: Node, limit: int, width: int, plain: bool, lines: int | None
) -> None:
    try:
        rendered = render(tree, token_limit=limit, tokenizer=CHARS, callbacks=False)
    except PromptError:
        return
    look = Look(width, lines, lines, plain=plain)
    for line in draw(rendered.report, look):
        text = "".join(part for part, _ in line)
        assert cell_len(text) <= width
        assert visible(text) == text
        assert "\n" not in text
        assert "\t" not in text


@given(st.text(), st.integers(1, 12))
def test_wrapping_loses_only_blanks_at_breaks(text: str, width: int) -> None:
    line = visible(text).replace("\n", " ").replace("\t", " ")
    rows = ["".join(part for part, _ in row) for row in wrapped([(line, "text")], width)]
    assert all(cell_len(row) <= max(width, 2) for row in rows)
    at = 0
    for row in rows:
        found = line.index(row, at)
        assert line[at:found] in ("", " ")
        at = found + len(row)
    assert line[at:] in ("", " ")


# ------------------------------------------------------------------------------------------ text made safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 你 👩‍👧", "plain é 你 👩‍👧"),
        ("می\u200cخواهم a\u200db \u200c👩\u200d", "می\u200cخواهم a\\u200db \\u200c👩\\u200d"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nb\\u000dc"),
        ("\x1b]0;title\x07\x9b2J\x7f\x00", "\\u001b]0;title\\u0007\\u009b2J\\u007f\\u0000"),
        ("\u202egnp.exe\u2066\u200f\u061c", "\\u202egnp.exe\\u2066\\u200f\\u061c"),
        ("\u2028\u2029\ufeff\u200b\u00ad", "\\u2028\\u2029\\ufeff\\u200b\\u00ad"),
        ("hidden\U000e0041\U000e0042", "hidden\\U000e0041\\U000e0042"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_priorities_and_tokens_for_people() -> None:
    told = [BASE_PRIORITY, BASE_PRIORITY - 1, BASE_PRIORITY - 0.5, BASE_PRIORITY - 1_000_000, 7, -2.5, 10**18]
    assert [priority_text(level) for level in told] == [
        "required", "base-1", "base-0.5", "base-1000000", "7", "-2.5", "required"
    ]  # fmt: skip
    assert [tokens_text(1), tokens_text(1200), tokens_text(2, is_estimate=True)] == [
        "1 token", "1,200 tokens", "~2 tokens"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("part", "whole", "cells"),
    [(0, 10, 0), (1, 1000, 1), (5, 10, 5), (999, 1000, 9), (10, 10, 10), (20, 10, 10), (3, 0, 0)],
)
def test_fractions_of_a_bar(part: int, whole: int, cells: int) -> None:
    assert fraction(part, whole, 10) == cells
    assert fraction(part, whole, 0) == 0


# ------------------------------------------------------------------------------------------ notebooks


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.names: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.names |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_it(snapshot: SnapshotAssertion) -> None:
    assert report_html(chat(330).report).replace("><", ">\n<") == snapshot


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x00\x1b&amp;"


def test_html_escapes_all_text() -> None:
    tree: Node = [
        user_message(name="b", key=HOSTILE)[
            HOSTILE, scope(p=1, name=HOSTILE)[HOSTILE], scope(p=0, key=HOSTILE)[HOSTILE * 9]
        ],
        tool_definition(name="t", description=HOSTILE, parameters={}),
        config(stop=HOSTILE),
    ]
    for limit in (200, 10_000):
        rendered = render(tree, token_limit=limit)
        parser = Tags()
        html = rendered._repr_html_()
        parser.feed(html)
        assert set(parser.tags) <= {"div", "b", "pre", "span", "i"}
        assert parser.names <= {"style", "title"}
        assert parser.open == []
        assert "\x00" not in html
        assert "\x1b" not in html
        assert "<script>alert(1)</script>" in parser.text
    program = compile_prompt(tree)
    parser = Tags()
    parser.feed(program._repr_html_())
    assert parser.tags == ["pre"]


def test_html_of_much_text_is_cut() -> None:
    tree: Node = ["x" * (MOST - 1), "yz", "w", "never shown"]
    html = report_html(render(tree, token_limit=1 << 40).report)
    assert html.count("x") < MOST + 100
    assert ">y</span>" in html
    assert "… 2 more pieces" in html
    assert "never shown" not in html


def test_rich_and_notebooks_show_renders_and_programs(snapshot: SnapshotAssertion) -> None:
    program = compile_prompt(CHAT)
    kept = StringIO()
    Console(file=kept, width=100, color_system=None).print(program)
    assert re.sub(r"\d+ leaves", "N leaves", kept.getvalue()) == snapshot
    assert isinstance(chat(330).__rich__(), Panel)
    deep = compile_prompt([scope(p=1)["a \x1b", "b" * 60] for _ in range(30)])
    assert str(deep.__rich__()).splitlines()[-1] == "… 50 more"
    assert "<pre>&lt;Program of a chat" in program._repr_html_()


def test_a_pickled_render_shows_its_repr() -> None:
    rendered = render(["a<b"], token_limit=9)
    copied: Rendered = pickle.loads(pickle.dumps(rendered))  # noqa: S301 - our own
    assert copied.__rich__() == repr(rendered)
    assert (
        copied._repr_html_()
        == "<pre>&lt;Rendered &#x27;a&lt;b&#x27;: 2 of 9 tokens, cutoff 1000000000&gt;</pre>"
    )
    assert rendered._repr_html_().startswith("<div ")
