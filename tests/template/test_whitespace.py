"""The rules of whitespace, as a table: mode, template, props, what is rendered (of a chat, each message)."""

from __future__ import annotations

from typing import Any

import pytest

from priompt_py.face.render import render
from priompt_py.template.environment import Environment

TABLE: list[tuple[str, str, dict[str, Any], str | list[str]]] = [
    ("default", "A\nB\n", {}, "A\nB"),
    ("default", "  A\n  B", {}, "A\nB"),
    ("default", "\n\nA\n\n\nB\n\n", {}, "\n\nA\n\n\nB\n"),
    ("default", "A  \nB\t\n", {}, "A  \nB\t"),
    ("default", "\tA\n\t\tB\n", {}, "A\n\tB"),
    ("default", " A\n\tB", {}, " A\n\tB"),
    ("default", "<user>Hello</user>", {}, ["Hello"]),
    ("default", "<user>\n  Hello\n</user>\n<user>\n  World\n</user>\n", {}, ["Hello", "World"]),
    ("default", "<user> Hello </user>", {}, [" Hello "]),
    ("default", "<user>   </user>", {}, [""]),
    ("default", "<user>\n\n</user>", {}, [""]),
    ("default", "<user>\n  \n  A\n\n</user>", {}, ["\nA\n"]),
    ("default", "<user>  {p}  </user>", {"p": "P"}, ["  P  "]),
    ("default", "<user>\n  {p}\n</user>", {"p": "P\n  Q  "}, ["P\n  Q  "]),
    ("default", "<user>\n  a {p}\n    b\n</user>", {"p": "1\n2"}, ["a 1\n2\n  b"]),
    ("default", "A\n  <scope p={1}>x</scope>\nB", {}, "A\n  x\nB"),
    ("default", "A <scope p={1}>x</scope> B", {}, "A x B"),
    ("default", "A\n<scope p={1}>\n  x\n  y\n</scope>\nB", {}, "A\nx\ny\nB"),
    ("default", "A\n  <scope p={1}>\n    x\n      y\n  </scope>\nB", {}, "A\n  x\n    y\nB"),
    ("default", "A\n  <scope p={1}>\n  x\n  </scope>\nB", {}, "A\n  x\nB"),
    ("default", "A\n<if test={c}>\n  yes\n<else/>\n  no\n</if>\nB", {"c": True}, "A\nyes\nB"),
    ("default", "A\n<if test={c}>\n  yes\n<else/>\n  no\n</if>\nB", {"c": False}, "A\nno\nB"),
    ("default", "A\n<if test={c}>yes<else/>no</if>\nB", {"c": False}, "A\nno\nB"),
    ("default", "A\n  <if test={c}>yes</if>\nB", {"c": True}, "A\n  yes\nB"),
    ("default", "A\n  <if test={c}>yes</if>\nB", {"c": False}, "A\nB"),
    ("default", "A <if test={c}>yes</if> B", {"c": False}, "A  B"),
    ("default", "<for each='x' in={xs}>{x}, </for>\nB", {"xs": [1, 2]}, "1, 2, \nB"),
    ("default", "<for each='x' in={xs}>{x}, </for>\nB", {"xs": []}, "B"),
    ("default", "A\n  <for each='x' in={xs}>{x}, </for>\nB", {"xs": [1, 2]}, "A\n  1, 2, \nB"),
    ("default", "<for each='x' in={xs}>\n  - {x}\n<else/>\n  none\n</for>\nB", {"xs": []}, "none\nB"),
    (
        "default",
        "<for each='x' in={xs}>\n  - {x}\n    more\n</for>",
        {"xs": [1, 2]},
        "- 1\n  more\n- 2\n  more",
    ),
    ("default", "A\n{# note #}\nB", {}, "A\nB"),
    ("default", "A {# note #}\nB", {}, "A \nB"),
    ("default", "A\n  {# one #} {/* two */}\nB", {}, "A\nB"),
    ("default", "A{# two\nlines #}B", {}, "AB"),
    ("default", "A\n<br/>\nB", {}, "A\n\nB"),
    ("default", "A<br/>\nB", {}, "A\n\nB"),
    ("default", "A\n  <let name='x' value={1}/>\n{x}", {}, "A\n1"),
    ("default", "A\n<empty tokens={3}/>\nB", {}, "A\nB"),
    ("default", "<user>A\n<empty tokens={3}/></user>", {}, ["A"]),
    ("default", "<user>\nA\n{x}\n</user>", {"x": None}, ["A\n"]),
    ("default", "<user>\nA\n{x}</user>", {"x": None}, ["A"]),
    ("default", "<user>\nA\n{x}\n</user>", {"x": "v\n"}, ["A\nv\n"]),
    ("default", "<user>\nA<br/>\n</user>", {}, ["A\n"]),
    ("default", "<user>\nA\n<hr/>\n</user>", {}, ["A\n\n\n-------\n\n"]),
    (
        "default",
        "<user>\n<scope p={1}>\nA\n</scope>\n<scope p={2}>\n{x}\n</scope>\n</user>",
        {"x": "B"},
        ["A\nB"],
    ),
    ("default", "<user>\nA\n<scope p={2}>\n{x}</scope>\n</user>", {"x": None}, ["A\n"]),
    (
        "default",
        "<user>\n  <first>\n    <scope p={2}>{x}</scope>\n    <scope p={3}>no</scope>\n  </first>\n  after\n</user>",
        {"x": "page"},
        ["page\nafter"],
    ),
    (
        "default",
        "<user>\n  <first>\n    <scope p={2}>{x}</scope>\n    <scope p={3}>no</scope>\n  </first>\n</user>",
        {"x": "page"},
        ["page"],
    ),
    (
        "default",
        "<user>\n  <fallback>\n    {x}\n    (no)\n  </fallback>\n  after\n</user>",
        {"x": "page"},
        ["page\nafter"],
    ),
    (
        "default",
        "<user>\n  <first>{x}<scope p={3}>no</scope></first>\n  after\n</user>",
        {"x": "page"},
        ["page\nafter"],
    ),
    (
        "default",
        "<user>\nin\n    <first>\n      {x}\n      no\n    </first>\n  after\n</user>",
        {"x": "page"},
        ["in\n    page\n  after"],
    ),
    ("default", "<raw>\n  a {b} <c>\n    d &lt;\n</raw>\nB", {}, "a {b} <c>\n  d &lt;\nB"),
    ("default", "A <raw>{x}</raw>\nB", {}, "A {x}\nB"),
    ("default", "A\n  <raw> {x} </raw>\nB", {}, "A\n   {x} \nB"),
    ("default", "A &lt; B&nbsp;C &unknown; & D &#65;&#x42; > E", {}, "A < B\xa0C &unknown; & D AB > E"),
    ("default", "A&#10;  B", {}, "A\n  B"),
    ("default", "&#32; A", {}, "  A"),
    (
        "default",
        "<user>\n  code:\n  <if test={True}>\n    if x:\n      <for each='i' in={[1, 2]}>\n        f({i})\n      </for>\n  </if>\n</user>",
        {},
        ["code:\nif x:\n  f(1)\n  f(2)"],
    ),
    (
        "default",
        "<component name='Box'>\n  [\n    <children/>\n  ]\n</component>\n<user>\n  <Box>\n    x\n      y\n  </Box>\n  z\n</user>",
        {},
        ["[\n  x\n  y\n]\nz"],
    ),
    ("default", "<component name='Hi'>\n  hi\n</component>\nA\n<Hi/>\nB <Hi/> C", {}, "A\nhi\nB hi C"),
    ("default", "<component name='No'>\n</component>\nA\n<No/>\nB", {}, "A\n\nB"),
    ("default", "<component name='No'>\n</component>\n<user>\nA\n<No/></user>", {}, ["A"]),
    ("default", "A\n<scope p={1}>\n  <scope p={2}>x</scope>\n  y\n</scope>\nB", {}, "A\nx\ny\nB"),
    ("default", "x <scope p={1}>\n  y\n  z</scope>\nB", {}, "x \n  y\n  z\nB"),
    ("default", "A\n  <scope whitespace='keep'>\n    x\n  </scope>\nB", {}, "A\n\n    x\n  B"),
    ("default", "<user whitespace='jsx'>\n  a\n  b\n</user>", {}, ["a b"]),
    (
        "default",
        "<user>\n  a\n  <scope whitespace='jsx'>\n    b\n    c\n  </scope>\n  d\n</user>",
        {},
        ["a\nb cd"],
    ),
    ("default", "<user>\n  {s}\n\n  {s}\n</user>", {"s": "a\n\n b"}, ["a\n\n b\n\na\n\n b"]),
    ("default", "\ufeff<user>a\r\nb\r\n</user>\r\n", {}, ["a\nb"]),
    ("default", "<isolate token_limit={50}>\n  a\n</isolate>\nb", {}, "a\nb"),
    ("default", "<max token_limit={50}>a</max>\nb", {}, "a\nb"),
    ("default", "<user>a</user>\n\n<user>b</user>\n", {}, ["a", "b"]),
    ("default", "<if test={True}><br/></if>\nA", {}, "\nA"),
    ("default", "<user>\n  {# c #}\n    A\n  {# d #}\n</user>", {}, ["A"]),
    ("default", "a  b\tc", {}, "a  b\tc"),
    ("default", "  <scope>\n    a\n  </scope>\n  b", {}, "a\nb"),
    ("default", "<user>\n      deep\n  <scope>\n  x\n  </scope>\n</user>", {}, ["    deep\nx"]),
    ("default", "A\n  <scope p={1}>{x}  {x} </scope>  \nB", {"x": 1}, "A\n  1  1 \nB"),
    ("default", "<for each='i' in={[1, 2]}><scope p={i}>{i} {i}.</scope> </for>\nB", {}, "1 1. 2 2. \nB"),
    ("jsx", "<user>   </user>", {}, ["   "]),
    ("jsx", "<user>  {p}    </user>", {"p": "P"}, ["  P    "]),
    ("jsx", "<user>\n      {p}    \n      </user>", {"p": "P"}, ["P"]),
    ("jsx", "<user>  3  \n  </user>", {}, ["  3"]),
    ("jsx", "<user>\n   3    \n   </user>", {}, ["3"]),
    ("jsx", "<user>\n   \n   </user>", {}, [""]),
    ("jsx", "<user>  \n\n   foo\n\n bar   \n\n  </user>", {}, ["foo bar"]),
    ("jsx", "<user>{p} {p}</user>", {"p": "P"}, ["P P"]),
    ("jsx", "<user>foo  <scope>bar</scope>  baz</user>", {}, ["foo  bar  baz"]),
    ("jsx", "<system>\r\n  a\r\n  b\r\n</system>\r\n<user>你好</user>", {}, ["a b", "你好"]),
    (
        "jsx",
        "<user>\n  Code:\n  {code}\n  End\n</user>",
        {"code": "\n\tdef f():\n\n\t    return  1   \n"},
        ["Code:\n\tdef f():\n\n\t    return  1   \nEnd"],
    ),
    ("jsx", "<user>\n  one\n  {/* note */}\n  two\n</user>", {}, ["onetwo"]),
    ("jsx", "<user>a{/* x } < \" ' */}b</user>", {}, ["ab"]),
    ("jsx", "<user>a\tb\n\tc</user>", {}, ["a b c"]),
    ("jsx", "<user>\n a\n <scope whitespace='keep'>\n  b\n </scope>\n c\n</user>", {}, ["a\n  b\n c"]),
    ("jsx", "<user>\n a\n <scope whitespace='default'>\n  b\n  c\n </scope>\n d\n</user>", {}, ["ab\nc\nd"]),
    ("jsx", "<first>\n <scope>a</scope>\n <scope>b</scope>\n</first>", {}, "a"),
    ("jsx", "<user><raw>\n a\n b\n</raw></user>", {}, ["a b"]),
    ("keep", "<user>   </user>", {}, ["   "]),
    ("keep", "  A\n  B\n", {}, "  A\n  B\n"),
    ("keep", "<user>\n  a\n</user>", {}, ["\n  a\n"]),
    ("keep", "A\n<if test={True}>\n  x\n</if>\nB", {}, "A\n\n  x\n\nB"),
    ("keep", "A\n{# c #}\nB", {}, "A\n\nB"),
    ("keep", "<first>\n <scope>a</scope>\n <scope>b</scope>\n</first>", {}, "a"),
    ("keep", "a\r\nb", {}, "a\nb"),
    ("keep", "<user>\n <scope whitespace='default'>\n  b\n  c\n </scope>\n</user>", {}, ["\n b\nc\n\n"]),
    ("keep", "&lt;\n", {}, "<\n"),
    ("keep", "A\n<br/>\nB", {}, "A\n\n\nB"),
]


def shown(template: str, mode: str = "default", **props: Any) -> str | list[str]:
    if mode != "default":
        template = f"---\nwhitespace: {mode}\n---\n{template}"
    rendered = render(Environment().from_string(template)(**props), token_limit=10**6, tokenizer=len)
    return (
        [message.text for message in rendered.messages]
        if rendered.messages is not None
        else rendered.text or ""
    )


@pytest.mark.parametrize(("mode", "template", "props", "expected"), TABLE)
def test_table(mode: str, template: str, props: dict[str, Any], expected: str | list[str]) -> None:
    assert shown(template, mode, **props) == expected


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 60
    assert {mode for mode, *_ in TABLE} == {"default", "jsx", "keep"}


VALUES = ["", " ", "\n", "  a\n\tb  \n\n", "<user>", "{x}", "&lt;", "</user>", "a\r\nb", "{# no #}"]


@pytest.mark.parametrize("mode", ["default", "jsx", "keep"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "template",
    [
        "<user>|{v}|</user>",
        "<user>\n  |{v}|\n</user>",
        "<user>\n  <scope p={{1}}>\n    |{v}|\n  </scope>\n</user>".replace("{{", "{").replace("}}", "}"),
        "<user><if test={True}>|{v}|</if></user>",
    ],
)
def test_values_are_never_touched(template: str, value: str, mode: str) -> None:
    message = shown(template, mode, v=value)[0]
    assert message.strip("\n ") == f"|{value}|"
    message = shown(template.replace("|", ""), mode, v=f"|{value}")[0]
    assert f"|{value}" in message
