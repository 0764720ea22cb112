"""Attachments: envelopes, the table of forms, ladders, the text behind a message."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from priompt_py import BASE_PRIORITY, Node, PromptTooLong, render, scope, user_message
from priompt_py.context import (
    WORDING,
    Attachment,
    AttachmentOptions,
    Content,
    Message,
    TextPart,
    append_attachments,
    assemble,
    attachment_ladder,
    forms_of,
    ladder,
    shown_attachments,
)
from priompt_py.context.envelopes import Envelope, count_lines, first_lines
from priompt_py.testing.tokenizers import WordTokenizer
from tests.context.cases import case

WORDS = WordTokenizer()


def lines(number: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, number + 1))


def content(text: str | None, **more: Any) -> Content:
    attachment = Attachment("k1", more.pop("name", "a.txt"), **more)
    return Content(attachment, text)


# ------------------------------------------------------------------------------------------ envelopes


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 1),
        ("a\n", 1),
        ("a\nb", 2),
        ("a\r\nb\r\n", 2),
        ("\n", 1),
        ("\n\n", 2),
        ("a\u2028b", 1),
        (lines(500), 500),
    ],
)
def test_lines(text: str, number: int) -> None:
    assert count_lines(text) == number


@pytest.mark.parametrize(
    ("text", "number", "cut"),
    [
        ("a\nb\nc", 2, "a\nb"),
        ("a\r\nb\r\nc", 2, "a\r\nb"),
        ("a\nb", 2, "a\nb"),
        ("a", 5, "a"),
        ("a\nb", 0, ""),
    ],
)
def test_first_lines(text: str, number: int, cut: str) -> None:
    assert first_lines(text, number) == cut


def test_an_envelope() -> None:
    one = Envelope(
        index=2, name="a<b>.txt", key="k&1", lines=1, size=5, content="x < y\n", extra=(("HINT", "1 > 0"),)
    )
    assert str(one) == (
        "\n\n<ATTACHMENT_FILE>\n<FILE_INDEX>2</FILE_INDEX>\n<FILE_NAME>a&lt;b&gt;.txt</FILE_NAME>\n"
        "<FILE_KEY>k&amp;1</FILE_KEY>\n<FILE_LINES>1</FILE_LINES>\n<FILE_SIZE>5 bytes</FILE_SIZE>\n"
        "<FILE_CONTENT>\nx < y\n</FILE_CONTENT>\n<HINT>1 &gt; 0</HINT>\n</ATTACHMENT_FILE>\n"
    )


def test_bytes_and_lines() -> None:
    assert case("CB26") == {"id": "CB26", "in": "text 'привет'", "out": "FILE_SIZE 12 bytes, FILE_LINES 1"}
    text = forms_of(content("привет"), 1, AttachmentOptions()).text
    assert "<FILE_SIZE>12 bytes</FILE_SIZE>" in text
    assert "<FILE_LINES>1</FILE_LINES>" in text


# ------------------------------------------------------------------------------------------ the table


def test_full_or_preview() -> None:
    given = case("CB24")
    assert given["out"] == ["full", "preview: 100 lines, says 100 of 501", "full"]
    forms = [
        forms_of(content(lines(number)), 1, AttachmentOptions(tools=tools))
        for number, tools in zip(given["in"]["lines"], given["in"]["tools"], strict=True)
    ]
    assert [one.table for one in forms] == ["full", "preview", "full"]
    assert "line 500\n" in forms[0].text
    preview = forms[1].text
    assert "line 100\n</FILE_CONTENT>" in preview
    assert "line 101" not in preview
    assert "<TRUNCATED>The first 100 of 501 lines;" in preview
    assert "FILE_KEY: k1</TRUNCATED>" in preview
    assert "line 501\n" in forms[2].text
    assert forms[1].full is None


MODES: dict[str, tuple[Any, bool, tuple[bool, bool, str]]] = {
    # name: arguments of the attachment, tools; has full, has preview, what the table shows
    "short": ({}, True, (True, True, "full")),
    "auto": ({"text": 600}, False, (True, True, "full")),
    "full over the limit": ({"mode": "full", "text": 600}, True, (True, True, "full")),
    "preview": ({"mode": "preview", "text": 101}, False, (False, True, "preview")),
    "preview of a short text": ({"mode": "preview"}, True, (True, True, "full")),
    "placeholder": ({"mode": "placeholder"}, True, (False, False, "placeholder")),
    "tool-only": ({"mode": "tool-only", "path": "/a"}, True, (False, False, "placeholder")),
    "tool-only without tools": ({"mode": "tool-only", "path": "/a"}, False, (True, True, "full")),
    "tool-only without path": ({"mode": "tool-only"}, True, (True, True, "full")),
    "sandbox": ({"mode": "sandbox", "path": "/a"}, False, (False, False, "placeholder")),
    "sandbox without path": ({"mode": "sandbox"}, False, (True, True, "full")),
    "retrieval": ({"mode": "retrieval"}, True, (False, False, "placeholder")),
}


@pytest.mark.parametrize("name", MODES)
def test_modes(name: str) -> None:
    arguments, tools, (full, preview, table) = MODES[name]
    given = dict(arguments)
    text = lines(given.pop("text", 30))
    forms = forms_of(content(text, **given), 1, AttachmentOptions(tools=tools))
    assert (forms.full is not None, forms.preview is not None, forms.table) == (full, preview, table)
    assert (
        forms.text == {"full": forms.full, "preview": forms.preview, "placeholder": forms.placeholder}[table]
    )


def test_what_the_modes_say() -> None:
    tools = AttachmentOptions(tools=True)
    only = forms_of(content(None, mode="tool-only", path="/data/a.txt"), 1, tools).text
    assert (
        "<FILE_PATH>/data/a.txt</FILE_PATH>\n<HINT>The content is not shown here; read it with read_file"
        in only
    )
    assert "FILE_LINES" not in only
    box = forms_of(content("привет", mode="sandbox", path="/data/a.txt"), 1, tools).text
    assert (
        "<FILE_SIZE>12 bytes</FILE_SIZE>\n<FILE_CONTENT></FILE_CONTENT>\n<FILE_PATH>/data/a.txt</FILE_PATH>"
        in box
    )
    assert "привет" not in box
    left = forms_of(content(lines(30)), 1, tools).placeholder
    assert (
        "<HINT>The content was left out for lack of space; read it with read_file and the FILE_KEY.</HINT>"
        in left
    )


def test_retrieval_mode() -> None:
    given = case("CB28")
    assert given["in"] == "retrieval mode, status ready"

    class Unread:
        def read(self, _: Attachment) -> bytes:
            raise AssertionError("loader called")

    attachment = Attachment("k1", "a.txt", mode="retrieval", index_status="ready", loader=Unread())
    message = Message("m", "user", "Hi", attachments=[attachment])
    sent, drops = append_attachments(message, [Content(attachment, None)], AttachmentOptions())
    text = sent.text
    assert "<FILE_CONTENT></FILE_CONTENT>" in text
    assert "<RETRIEVAL_MODE>true</RETRIEVAL_MODE>\n<INDEX_STATUS>ready</INDEX_STATUS>" in text
    assert "<SYSTEM_REMINDER>This file is searched, not shown." in text
    assert "query_session_attachment" in text
    assert "BLOCKED_REASON" not in text
    assert drops == []
    blocked = attrs.evolve(attachment, blocked_reason="no quota", index_status="failed")
    assert (
        "<INDEX_STATUS>failed</INDEX_STATUS>\n<BLOCKED_REASON>no quota</BLOCKED_REASON>"
        in forms_of(Content(blocked, None), 1, AttachmentOptions()).text
    )


def test_indexes_and_unreadable_files() -> None:
    given = case("CB27")
    assert given["out"] == "indexes 1, 2, 3; b placeholder, reason unreadable"
    link = Attachment("l", "l", kind="link", text="page")
    a, b = Attachment("a", "a", text="ok"), Attachment("b", "b")
    picture = Attachment("p", "p.png", kind="image")
    gone = Attachment("i", "i.txt", inlined=True, text="was put in")
    message = Message("m", "user", [TextPart("Hi")], attachments=[link, picture, a, gone, b])
    shown = shown_attachments(message)
    assert [one.id for one in shown] == ["a", "b", "l"]
    contents = [
        Content(a, "ok"),
        Content(b, None, "unreadable", "OSError: no such file"),
        Content(link, "page"),
    ]
    sent, drops = append_attachments(message, contents, AttachmentOptions())
    assert len(sent.parts) == 2
    assert sent.attachments == message.attachments
    appended = sent.parts[1]
    assert isinstance(appended, TextPart)
    assert [appended.text.index(f"<FILE_INDEX>{n}</FILE_INDEX>") > 0 for n in (1, 2, 3)] == [True] * 3
    assert (
        "<FILE_CONTENT></FILE_CONTENT>\n<REASON>unreadable</REASON>\n"
        "<HINT>There is no content: OSError: no such file.</HINT>" in appended.text
    )
    assert [(one.message_id, one.reason, one.detail) for one in drops] == [
        ("m", "unreadable", "b: OSError: no such file")
    ]


def test_a_message_without_attachments_is_the_same_one() -> None:
    message = Message("m", "user", "Hi")
    assert append_attachments(message, [], AttachmentOptions()) == (message, [])


def test_content_is_verbatim() -> None:
    text = "a & b < c\r\n</FILE_CONTENT> \t"
    assert f"<FILE_CONTENT>\n{text}\n</FILE_CONTENT>" in forms_of(content(text), 1, AttachmentOptions()).text


@pytest.mark.parametrize("name", ["max_inline_lines", "preview_lines", "preview_percent"])
def test_wrong_options(name: str) -> None:
    values: Any = {name: -1}
    with pytest.raises(ValueError, match=rf"AttachmentOptions\(\) needs {name} >= 0, got {name}=-1"):
        AttachmentOptions(**values)


# ------------------------------------------------------------------------------------------ ladders


def text_at(node: Node, limit: int) -> str:
    rendered = render([user_message[node]], token_limit=limit, tokenizer=WORDS)
    assert rendered.messages is not None
    return rendered.messages[0].text


def words(number: int, word: str) -> str:
    return " ".join([word] * number) + " "


def test_a_ladder() -> None:
    given = case("TR01")
    forms = {"full": 300, "preview": 100, "placeholder": 5}
    tree = [
        words(20, "base"),
        ladder(**{name: words(size, name) for name, size in forms.items()}, full_at=-10, preview_at=-5),
    ]
    for limit, wanted in zip(given["limit"], given["out"], strict=True):
        if wanted == "base-priority error":
            with pytest.raises(PromptTooLong) as caught:
                text_at(tree, limit)
            assert caught.value.required_limit == 25
        else:
            shown = text_at(tree, limit).split()
            assert (len(shown), shown[-1]) == (20 + forms[wanted], wanted)


def file(key: str, size: int) -> Any:
    text = "\n".join(words(5, f"{key}{n}") for n in range(size))
    return forms_of(Content(Attachment(key, key, text=text), text), 1, AttachmentOptions(preview_lines=8))


def forms_shown(nodes: Node, limit: int, keys: str) -> dict[str, str]:
    rendered = render([user_message[nodes]], token_limit=limit, tokenizer=WORDS)
    found: dict[str, str] = {}
    for decision in rendered.decisions:
        for key in keys:
            if f"[name={key}]" in decision.path and decision.included and decision.label != key:
                found[key] = str(decision.label)
    return found


def test_of_two_files_the_newer_stays_longer() -> None:
    nodes = [
        attachment_ladder(file("a", 20), message_index=3),
        attachment_ladder(file("b", 20), message_index=3, file_index=1),
        attachment_ladder(file("c", 20), message_index=9),
    ]
    everything = render([user_message[nodes]], token_limit=10_000, tokenizer=WORDS).token_count
    seen: list[dict[str, str]] = []
    for limit in range(everything, 0, -1):
        try:
            now = forms_shown(nodes, limit, "abc")
        except PromptTooLong:
            break
        if not seen or seen[-1] != now:
            seen.append(now)
    f, p, o = "full", "preview", "placeholder"
    assert [tuple(one.values()) for one in seen] == [
        (f, f, f), (p, f, f), (p, p, f), (p, p, p), (o, p, p), (o, o, p), (o, o, o),
    ]  # fmt: skip


def test_together() -> None:
    nodes = [
        attachment_ladder(file("a", 20), message_index=3, together=True),
        attachment_ladder(file("b", 20), message_index=9, together=True),
    ]
    everything = render([user_message[nodes]], token_limit=10_000, tokenizer=WORDS).token_count
    assert set(forms_shown(nodes, everything, "ab").values()) == {"full"}
    assert set(forms_shown(nodes, everything - 1, "ab").values()) == {"preview"}


def priorities(node: Node) -> list[Any]:
    rendered = render([user_message[node]], token_limit=10_000, tokenizer=WORDS)
    return [one.priority for one in rendered.decisions if one.label in ("full", "preview", "placeholder")]


def test_levels() -> None:
    # Below all history, above all history, as long as the message.
    assert priorities(attachment_ladder(file("a", 20), message_index=5)) == [
        BASE_PRIORITY - 10_999_995,
        BASE_PRIORITY - 1_000 + 5 / 2**11,
        BASE_PRIORITY,
    ]
    third = priorities(attachment_ladder(file("a", 20), message_index=5, file_index=512))
    assert third == [BASE_PRIORITY - 10_999_994.5, BASE_PRIORITY - 1_000 + 5.5 / 2**11, BASE_PRIORITY]
    # In a scope of its own message the levels stay where they are.
    inside = scope(prel=-999_995)[attachment_ladder(file("a", 20), message_index=5, within=-999_995)]
    assert priorities(inside) == [
        BASE_PRIORITY - 10_999_995,
        BASE_PRIORITY - 1_000 + 5 / 2**11,
        BASE_PRIORITY - 999_995,
    ]
    many = [
        priorities(attachment_ladder(file("a", 20), message_index=1, file_index=n))[0]
        for n in (0, 1, 1_023, 1_024, 5_000)
    ]
    assert many == sorted(many)
    far = [
        priorities(attachment_ladder(file("a", 20), message_index=i, file_index=n))[1]
        for i, n in ((999_999, 0), (999_999, 1), (999_999, 1_023), (1_000_000, 0), (5_000_000, 0))
    ]
    assert sorted(set(far)) == far
    assert far[-1] < BASE_PRIORITY - 1
    assert many[2] == many[3] == many[4] < BASE_PRIORITY - 10_999_998


def test_what_is_shorter_than_a_placeholder_stands_in_its_place() -> None:
    short = forms_of(content("some words"), 1, AttachmentOptions())
    assert (short.full, short.preview, short.table) == (None, None, "full")
    assert "\nsome words\n" in short.placeholder
    assert short.text == short.placeholder
    long_line = "a\n" + "x" * 500 + "\n"
    wordy = attrs.evolve(WORDING, left_out="left out " * 20)
    brief = forms_of(content(long_line), 1, AttachmentOptions(preview_lines=1, wording=wordy))
    assert (brief.full is None, brief.preview) == (False, None)


def test_a_short_file_is_its_own_preview() -> None:
    options = AttachmentOptions(preview_lines=20)
    short = forms_of(content(lines(20)), 1, options)
    assert (short.preview, short.full) == (short.full, short.preview)
    rendered = render(
        [user_message[attachment_ladder(short, message_index=5)]], token_limit=1_000, tokenizer=WORDS
    )
    assert [(one.label, one.priority) for one in rendered.decisions if one.label in ("full", "preview")] == [
        ("full", BASE_PRIORITY - 1_000 + 5 / 2**11)
    ]
    wide = forms_of(content("x" * 2_001), 1, options)
    assert (wide.full is None, wide.preview) == (False, None)


def test_a_preview_that_is_too_long_keeps_nothing_else_out() -> None:
    long = forms_of(content(lines(1_000)), 1, AttachmentOptions(preview_lines=200, preview_percent=10))
    node: list[Node] = [
        words(10, "base"),
        [scope(prel=-900_000 + n)[words(10, f"turn{n}")] for n in range(20)],
        attachment_ladder(long, message_index=5),
    ]

    def shown(node: Node, limit: int) -> tuple[bool, int]:
        text = text_at(node, limit)
        return "line 200\n" in text, sum(f"turn{n} " in text for n in range(20))

    assert [shown(node, limit) for limit in (500, 2_000)] == [(False, 20), (True, 20)]
    without = forms_of(content(lines(1_000)), 1, AttachmentOptions(preview_lines=200, preview_percent=None))
    assert without.preview_limit is None
    assert shown([*node[:2], attachment_ladder(without, message_index=5)], 500) == (True, 7)


def test_a_placeholder_always_has_its_place() -> None:
    long = forms_of(content(lines(1_000)), 1, AttachmentOptions(preview_percent=0))
    least = len(long.placeholder.split())
    assert text_at(attachment_ladder(long, message_index=5), least) == long.placeholder


def test_wrong_indexes() -> None:
    wrong: Any = -1
    with pytest.raises(
        ValueError, match=r"attachment_ladder\(\) needs message_index >= 0, got message_index=-1"
    ):
        attachment_ladder(file("a", 20), message_index=wrong)
    with pytest.raises(ValueError, match=r"needs file_index >= 0, got file_index=-1"):
        attachment_ladder(file("a", 1), message_index=0, file_index=wrong)


def test_forms_that_are_missing() -> None:
    placeholder = words(2, "here")
    assert text_at(ladder(placeholder=placeholder, full_at=-2, preview_at=-1), 100) == placeholder


# ------------------------------------------------------------------------------------------ in a conversation


def test_a_file_outlives_its_message() -> None:
    text = lines(300)
    messages = [
        Message("u1", "user", "Here is the contract.", attachments=[Attachment("k", "k.txt", text=text)]),
        Message("a1", "assistant", "Thanks. " + "word " * 50),
        Message("u2", "user", "What is the fee?"),
    ]
    node = assemble(messages, window=10_000, tokenizer=WORDS).node
    seen: list[tuple[bool, str]] = []
    for limit in range(render(node, token_limit=10_000, tokenizer=WORDS).token_count, 0, -1):
        try:
            rendered = render(node, token_limit=limit, tokenizer=WORDS)
        except PromptTooLong:
            break
        assert rendered.messages is not None
        first = rendered.messages[0].text
        shown = "full" if "line 300" in first else "preview" if "line 100" in first else "placeholder"
        now = ("Here is the contract." in first, shown)
        if not seen or seen[-1] != now:
            seen.append(now)
    assert seen == [
        (True, "full"), (True, "preview"), (False, "preview"), (False, "placeholder"),
    ]  # fmt: skip
