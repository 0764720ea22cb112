"""JSON text: what is read, and where what is refused stands."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.author.json_form import from_json, from_json_text, to_json
from priompt_py.author.tags import config, scope
from priompt_py.errors import ArgumentTypeError, JsonFormError
from priompt_py.model.elements import Node
from tests.author.trees import nodes
from tests.ids import stable_id


@given(nodes, st.sampled_from(["utf-8", "utf-8-sig", ""]), st.booleans())
def test_text_and_bytes(node: Node, encoding: str, ascii_only: bool) -> None:
    text = json.dumps(to_json(node), ensure_ascii=ascii_only)
    assert from_json_text(text.encode(encoding) if encoding else text) == from_json(to_json(node))


def test_byte_order_marks() -> None:
    for text in ('"x"', '\ufeff"x"', b'\xef\xbb\xbf"x"', b' "x" \n'):
        assert from_json_text(text) == "x"
    with pytest.raises(JsonFormError, match="line 1, column 1"):
        from_json_text('\ufeff\ufeff"x"')


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_other_encodings_are_refused_by_name(encoding: str) -> None:
    data = '[{"type": "br"}]'.encode(encoding)
    with pytest.raises(JsonFormError) as caught:
        from_json_text(data)
    assert str(caught.value) in (
        f"$: the text is {encoding.upper()}; JSON is read as UTF-8",
        f"$: the text is {encoding.upper()}-LE; JSON is read as UTF-8",
    )


DEEP_200 = '{"type": "scope", "children": [' * 200 + "]}" * 200
DEEP_201 = '{"type": "scope", "children": [' * 200 + '{"type": "br"}' + "]}" * 200
DEEP_ERROR = (
    "$.children[0].children[0].children[0].children[0]...(384 more)...."
    "children[0].children[0].children[0].children[0]: elements are nested more than 200 deep"
)

REFUSED: list[tuple[str | bytes, str]] = [
    ("", "line 1, column 1: there is nothing; JSON needs a value, {} say"),
    ("[1, 2", "line 1, column 6: the text ends within a list; close it with ]"),
    ('[\n  "é😀", x]', "line 2, column 9: a value is needed, got 'x'; texts stand in double quotes"),
    (
        '["a"] []',
        "line 1, column 7: the value has ended, and '[' follows; several values stand in a list, [1, 2]",
    ),
    ("{'type': 'br'}", "line 1, column 2: names stand in double quotes, got \"'type'\""),
    ('["a\nb"]', "line 1, column 4: a line feed stands within a text; write it as \\n"),
    (b'["\xff"]', "line 1, column 3: the byte 0xff is no UTF-8"),
    (b'[\n"\xc3\xa9\xf0\x9f"]', "line 2, column 3: the byte 0xf0 is no UTF-8"),
    (b'\xef\xbb\xbf["\xff"]', "line 1, column 3: the byte 0xff is no UTF-8"),
    ("[NaN]", "$[0]: NaN is no JSON number"),
    ('{"type": "scope", "p": -Infinity}', "$.p: -Infinity is no JSON number"),
    ("[1, [1e999]]", "$[1][0]: 1e999 is too large for a number"),
    ('{"type": "config", "extra": {"a": [-1e999]}}', "$.extra.a[0]: -1e999 is too large for a number"),
    ("[1" + "0" * 5_000 + "]", "$[0]: an integer of 5001 digits has too many"),
    ('{"type": "scope", "p": 1, "p": 1}', "$.p: this key stands here twice"),
    ('[1, {"type": "br", "type": "hr"}]', "$[1].type: this key stands here twice"),
    (
        '[{"type": "config", "extra": {"a": {"b c": 1, "d": 2, "b c": 3}}}]',
        '$[0].extra.a["b c"]: this key stands here twice',
    ),
    ('[{"type": "scope", "children": [NaN], "p": 1, "p": 1}]', "$[0].p: this key stands here twice"),
    ("[NaN, 1e999]", "$[0]: NaN is no JSON number"),
    ('[{"a": 1, "a": NaN}]', "$[0].a: this key stands here twice"),
    ('{"type": "br", "p": "1"}', "$.p: br() needs a number for p, got p='1' (str)"),
    (DEEP_201, DEEP_ERROR),
    ("[" * 402 + "]" * 402, f"${'[0]' * 8}...(385 more)...{'[0]' * 8}: arrays are nested more than 400 deep"),
    ("[" * 100_000 + "]" * 100_000, "line 1, column 402: this is nested deeper than 200 elements"),
    (
        '{"type": "scope", "children": [' * 100_000,
        "line 1, column 6231: this is nested deeper than 200 elements",
    ),
    ('["[[[{{{\\"[[", ' + "[" * 100_000, "line 1, column 416: this is nested deeper than 200 elements"),
    ("[" * 100_000 + "x", "line 1, column 402: this is nested deeper than 200 elements"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(JsonFormError) as caught:
        from_json_text(text)
    assert str(caught.value) == message
    place = vars(caught.value)
    if message.startswith("line"):
        assert message.startswith(f"line {place['line']}, column {place['column']}: ")
    else:
        assert place["path"].startswith("$")


def test_200_elements_deep() -> None:
    assert from_json_text(DEEP_200) == from_json(json.loads(DEEP_200))
    inside = '{"type": "config", "extra": %s}' % ('{"a": ' * 200 + "1" + "}" * 200)
    assert from_json_text(f"[{inside}, {DEEP_200}]") == from_json([json.loads(inside), json.loads(DEEP_200)])
    deepest = (
        DEEP_200.replace("[]", f"[{inside}]")
        .removeprefix('{"type": "scope", "children": [')
        .removesuffix("]}")
    )
    assert from_json_text(deepest) == from_json(json.loads(deepest))


def test_a_caller_who_is_deep_himself() -> None:
    """Python 3.11 counts the parser's levels together with the caller's."""

    def call(deep: int) -> Node:
        return call(deep - 1) if deep else from_json_text(DEEP_200)

    try:
        assert call(sys.getrecursionlimit() - 250) == from_json_text(DEEP_200)
    except JsonFormError as error:
        assert str(error) == "$: nested too deep for Python's JSON parser, called as deep as it is here"  # noqa: PT017


@pytest.mark.parametrize("value", [5, None, ["a"], {"type": "br"}, memoryview(b"1")], ids=stable_id)
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"from_json_text\(\) needs text or bytes, got "):
        from_json_text(value)


def test_escapes_of_surrogates() -> None:
    assert from_json_text(r'"x\ud83d\udc4dy"') == "x👍y"
    assert from_json_text(r'["\ud83d", "\udc4d"]') == ["\ufffd", "\ufffd"]
    assert from_json_text(r'{"type": "config", "extra": {"\ud83d\udc4d": "\udc4d"}}') == config(
        extra={"👍": "\ufffd"}
    )


def test_numbers_stay_exact() -> None:
    assert repr(from_json_text("[1, 1.0, 1e2, 100000000000000000000000000000001, -0.0, 0.1]")) == (
        "[1, 1.0, 100.0, 100000000000000000000000000000001, -0.0, 0.1]"
    )
    assert from_json_text('{"type": "scope", "p": 9007199254740993}') == scope(p=9007199254740993)
