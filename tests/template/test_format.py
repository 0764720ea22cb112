"""The formatter: one form, and never another prompt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from priompt_py.errors import TemplateSyntaxError
from priompt_py.template.environment import Environment
from priompt_py.template.expression_syntax import Expr
from priompt_py.template.expressions import parse_expression
from priompt_py.template.format import format_template, laid_out
from priompt_py.template.format_expression import expression_text
from priompt_py.template.layout import lay_out
from priompt_py.template.parse import parse_source
from priompt_py.template.source import Source
from tests.template.strategies import PROPS, expressions, templates
from tests.template.test_whitespace import TABLE


def syntax_of(text: str) -> list[Any]:
    parsed = parse_source(Source(text))
    return laid_out(parsed, lay_out(parsed.nodes, parsed.front_matter.whitespace))


def check(template: str, **props: Any) -> None:
    formatted = format_template(template)
    assert syntax_of(formatted) == syntax_of(template)
    assert format_template(formatted) == formatted
    environment = Environment()
    assert environment.from_string(formatted)(**props) == environment.from_string(template)(**props)


@given(templates())
def test_formatting_never_changes_the_prompt(template: str) -> None:
    check(template, **PROPS)


@pytest.mark.parametrize(("mode", "template", "props", "expected"), TABLE)
def test_the_table_of_whitespace(mode: str, template: str, props: dict[str, Any], expected: object) -> None:
    head = "" if mode == "default" else f"---\nwhitespace: {mode}\n---\n"
    check(head + template.removeprefix("\ufeff"), **props)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<scope p={1}>\n<scope p={1}></scope></scope><scope p={1}>\nb</scope>",) * 2,
        ("<scope>\n\t</scope><scope>\na</scope>",) * 2,
        (
            "\t<let name='x' value=''/><for each='i' in={xs}>\n\u00a0</for>",
            '\t<let name="x" value=""/><for each="i" in={xs}>\n\u00a0</for>',
        ),
        (
            "<user>\n<scope>\n\t</scope><scope>\na</scope>\n</user>\n<user>\nb\n</user>",
            "<user>\n<scope>\n\t</scope><scope>\na</scope>\n</user>\n<user>\n  b\n</user>",
        ),
    ],
)
def test_what_would_change_keeps_its_blanks(before: str, after: str) -> None:
    assert format_template(before) == after
    check(before, xs=["1"])


@pytest.mark.parametrize(
    "tag",
    [
        "<raw>",
        "<raw whitespace='keep'>",
        '<raw whitespace = "keep">',
        "<raw\n  whitespace\n=\n'keep'\n>",
        '<raw whitespace="default" >',
    ],
)
def test_raw_text_stays_as_it_is(tag: str) -> None:
    content = "{x}<br/>&lt;{# c #}<raw whitespace='keep'>{ y }"
    template = f"{tag}{content}</raw>{{k}}"
    assert Environment().from_string(template)(k="K") == [content, "K"]
    check(template, k="K")
    assert content in format_template(template)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "<raw whitespace=keep>{x</raw>",
            '1:17: the value of whitespace needs quotes or braces: whitespace="keep" or whitespace={keep}',
        ),
        ("<raw whitespace={'keep'}>{</raw>", '1:6: whitespace is one of "default", "jsx", "keep", in quotes'),
        ("<raw whitespace='a>b'>{</raw>", '1:6: whitespace is one of "default", "jsx", "keep", in quotes'),
        ("<raw {...x}>{</raw>", "1:6: <raw> takes no spread"),
        ("<raw>a{</rawx>", "1:1: <raw> is not closed: </raw> is missing"),
    ],
)
def test_raw_tags_that_are_wrong(template: str, message: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        parse_source(Source(template))
    assert [str(one).split("\n")[0] for one in caught.value.errors] == [f"<template>:{message}"]


@given(expressions)
def test_expressions_are_written_as_they_are_read(expression: Expr) -> None:
    for quote in "\"'":
        text = expression_text(expression, quote)
        assert parse_expression(text) == expression
        assert quote == '"' or '"' not in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<user   name = 'x'\n p={1}>a</user  >", '<user name="x" p={1}>a</user>'),
        ("<br   />", "<br/>"),
        ("{  x|upper }", "{x | upper}"),
        ("{a+b*(c-d)}", "{a + b * (c - d)}"),
        ("{(a)}", "{a}"),
        ("{'it'}", '{"it"}'),
        ("<user name='say \"hi\"'>a</user>", "<user name='say \"hi\"'>a</user>"),
        ("<user name='a {b[\"c\"]}'>a</user>", "<user name=\"a {b['c']}\">a</user>"),
        ("<user>\n      a\n        b\n</user>", "<user>\n  a\n    b\n</user>"),
        ("<user>\na\n</user>", "<user>\n  a\n</user>"),
        (
            "<user>\n<if test={x}>\na\n<else/>\nb\n</if>\n</user>",
            "<user>\n  <if test={x}>\n    a\n  <else/>\n    b\n  </if>\n</user>",
        ),
        ("  a\n  b\n", "a\nb\n"),
        ("a\n   \nb", "a\n\nb"),
        ("a  \n", "a  \n"),
        ("<scope>   \na\n</scope>   \n", "<scope>\n  a\n</scope>\n"),
        ("<br/>    <hr/>\n", "<br/> <hr/>\n"),
        (
            '<tool_definition name="forecast" description="The weather of the next days, for a town." parameters={schema}/>',
            '<tool_definition\n  name="forecast"\n  description="The weather of the next days, for a town."\n  parameters={schema}\n/>',
        ),
        ("<tool_definition name=\"t\" parameters={{\n  'type': 'object'\n}}/>",) * 2,
        ("---\nprops:\n    x: str\n---\n<user>{x}</user>",) * 2,
        ("<user whitespace='keep'>\n  a\n    b\n</user>", '<user whitespace="keep">\n  a\n    b\n</user>'),
        (" \ufeffa", "\ufeff\ufeffa"),
        ("  ---\n  a\n", "---\n---\n---\na\n"),
        ("{# kept   as it is #}",) * 2,
        ("<raw>{  a  }</raw>",) * 2,
        ("<scope {  ...x  }>a</scope>", "<scope {...x}>a</scope>"),
        ("{x[ 1 : ]}{x[::2]}{(1,)}{{'a':1}['a']}", '{x[1:]}{x[::2]}{(1,)}{{"a": 1}["a"]}'),
    ],
)
def test_one_form(before: str, after: str) -> None:
    assert format_template(before) == after
    assert format_template(after) == after
    assert syntax_of(before) == syntax_of(after)
