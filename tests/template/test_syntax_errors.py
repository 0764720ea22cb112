"""Wrong templates, with all that is said of each: line, column (1-based) and message."""

from __future__ import annotations

import pytest

from priompt_py.errors import TemplateSyntaxError
from priompt_py.template.environment import Environment

TEMPLATES: list[tuple[str, list[str]]] = [
    ("<user>x</usr>", ["1:8: </usr> closes <user> of line 1: write </user>"]),
    ("</user>", ["1:1: </user> closes nothing: no <user> is open"]),
    ("<user name=“x”>a</user>", ['1:12: the value of name needs straight quotes: name="…"']),
    ("{“x”}", ['1:2: `“` is not part of expressions: texts stand in straight quotes (")']),
    ("{‘x’}", ["1:2: `‘` is not part of expressions: texts stand in straight quotes (')"]),
    (
        "a<b)",
        [
            "1:2: there is no <b>: prompts are plain text",
            '1:4: `)` can\'t stand in the tag <b; a `<` that begins no tag is written &lt; or {"<"}',
        ],
    ),
    # What stands directly behind a complete tag or insertion is not its fault.
    ("<scope p={'a'}>}a</scope>", ['1:16: a lone `}`: as text it is written {"}"} or &rbrace;']),
    ("<scope p={'a'}>{'a'}}</scope>", ['1:21: a lone `}`: as text it is written {"}"} or &rbrace;']),
    (
        "{{'a': 1}}}<br/>{'a'}}",
        [
            '1:11: a lone `}`: as text it is written {"}"} or &rbrace;',
            '1:22: a lone `}`: as text it is written {"}"} or &rbrace;',
        ],
    ),
    (
        "<for each='x' index='x' in={[1]}>{x}</for>",
        ["1:15: each and index of <for> need different names, both are x"],
    ),
    (
        "<user><system>x</user></system>",
        [
            "1:16: </user> comes before </system>: <system> of line 1 is still open",
            "1:23: </system> closes nothing: no <system> is open",
        ],
    ),
    # Braces that are closed are not at fault for what stands behind them.
    ("<scope p={1}key={2}>x</scope>", ["1:13: a blank is missing between two attributes"]),
    ("<scope {...m}p={1}>x</scope>", ["1:14: a blank is missing between two attributes"]),
    ("<scope p='1'{...m}>x</scope>", ["1:13: a blank is missing between two attributes"]),
    ("<user name={a} p={b>x</user>", ["1:18: the `{` is not closed with a `}`"]),
    ("<user name={a}}>x</user>", ["1:15: a stray `}` in the tag <user"]),
    ("<user name={a} 'x'>x</user>", ["1:16: a stray quote in the tag <user: a value stands behind name="]),
    # What other languages have.
    ("{a || b}", ["1:4: `||` is not part of expressions: write `or`"]),
    ("{a <> b}", ["1:4: `<>` is not part of expressions: write `!=`"]),
    ("{a ?? b}", ["1:4: `??` is not part of expressions: write `value | default(other)`"]),
    ("{a?.b}", ["1:3: `?.` is not part of expressions: write `a.b | default(other)`"]),
    ('{"""a"""}', ["1:2: texts have one quote on each side"]),
    ("{'''a'''}", ["1:2: texts have one quote on each side"]),
    ("<user>{# x", ["1:7: the comment is not closed with #}"]),
    ("<user><raw>x</user>", ["1:7: <raw> is not closed: </raw> is missing"]),
    ("<user>", ["1:1: <user> is not closed: </user> is missing"]),
    ("text\n<scope p={1}>\n  a\n", ["2:1: <scope> is not closed: </scope> is missing"]),
    ("<user><scope>x</user>", ["1:15: </user> comes before </scope>: <scope> of line 1 is still open"]),
    ("<tool name=<b>x</b>/>", ['1:12: a tag can\'t be the value of name: a value is "text" or {expression}']),
    (
        "<userNo 'x'\">hi</user>",
        [
            "1:1: there is no <userNo>; did you mean user?",
            "1:9: a stray quote in the tag <userNo: a value stands behind name=",
        ],
    ),
    (
        "< user>hi</ user >",
        [
            '1:1: a lone `<`: a tag is written <user>, without a blank; as text it is written &lt; or {"<"}',
            "1:10: a closing tag holds its name alone: </user>",
        ],
    ),
    ("<user/ >", ["1:6: the tag <user ends with /> in one piece"]),
    (
        "<USER>hi</USER>",
        ["1:1: there is no component <USER>; did you mean <user>? Names with a capital are components"],
    ),
    ("<1st/>", ['1:1: a lone `<`: names of tags begin with a letter; as text it is written &lt; or {"<"}']),
    ("<user ...props/>", ["1:7: a spread stands in braces: {...props}"]),
    ("a } b", ['1:3: a lone `}`: as text it is written {"}"} or &rbrace;']),
    ("a { b", ['1:3: the `{` is not closed with a `}`; as text it is written {"{"} or &lbrace;']),
    ("{/* never closed </u>", ["1:1: the comment is not closed with */}"]),
    ("{# never closed", ["1:1: the comment is not closed with #}"]),
    ("<user\nx", ["1:1: the tag <user is not closed with >"]),
    ("<user", ["1:1: the tag <user is not closed with >"]),
    ('<user name="a>x</user>', ['1:12: the value of name is not closed with "']),
    ("<user name='a>x</user>", ["1:12: the value of name is not closed with '"]),
    ('<user name="a" name="b">x</user>', ["1:16: the attribute name is given twice"]),
    ('<scope p="high">x</scope>', ['1:8: p needs a number, got "high"']),
    ('<scope p="">x</scope>', ['1:8: p needs a number, got ""']),
    ('<user nam="x">a</user>', ["1:7: <user> takes no attribute nam; did you mean name?"]),
    (
        '<user foo="x">a</user>',
        ["1:7: <user> takes no attribute foo; it takes name, to, p, prel, key, whitespace"],
    ),
    ("<br>", ["1:1: <br> takes no content: it is written <br/>"]),
    (
        "<br>x</br>",
        [
            "1:1: <br> takes no content: it is written <br/>",
            "1:6: <br/> is never closed: it takes no content",
        ],
    ),
    ("<br/></br>", ["1:6: <br/> is never closed: it takes no content"]),
    ("{{x}}", ["1:2: one brace on each side is enough: {x}"]),
    (
        "{% if x %}a{% endif %}",
        [
            '1:1: there is no {% … %}: write <if test={…}>, <for each="…" in={…}> or <let name="…" value={…}/>',
            '1:12: there is no {% … %}: write <if test={…}>, <for each="…" in={…}> or <let name="…" value={…}/>',
        ],
    ),
    ("<else/>", ["1:1: <else/> stands directly in <if> or <for>"]),
    ("<if test={x}><elif/></if>", ["1:14: <elif> needs test"]),
    ("<if test={x}><else/><else/></if>", ["1:21: <else/> can't come after <else/>"]),
    ("<if test={x}><else/><elif test={y}/></if>", ["1:21: <elif/> can't come after <else/>"]),
    (
        '<for each="x" in={y}><elif test={y}/></for>',
        ["1:22: <elif/> stands directly in <if>, this one in <for>"],
    ),
    ('<for each="x">a</for>', ["1:1: <for> needs in"]),
    ("<for in={xs}>a</for>", ["1:1: <for> needs each"]),
    ("<for each={x} in={y}>a</for>", ['1:6: each of <for> is written out, in quotes: each="…"']),
    (
        '<for each="1x" in={y}>a</for>',
        ['1:6: each of <for> needs a name (letters, digits and _, a letter first), got "1x"'],
    ),
    (
        '<for each="if" in={y}>a</for>',
        ['1:6: each of <for> needs a name (letters, digits and _, a letter first), got "if"'],
    ),
    ('<for each="x" in="y">a</for>', ["1:15: in of <for> needs an expression in braces: in={y}"]),
    (
        '<for each="x" in={y} key="1">a</for>',
        ["1:22: <for> takes no attribute key; it takes each, in, index, whitespace"],
    ),
    ("<!-- a -->", ["1:1: comments are written {# … #}, not <!-- … -->"]),
    ("<!DOCTYPE x>", ['1:1: a lone `<`: there are no declarations; as text it is written &lt; or {"<"}']),
    ("<?xml?>", ['1:1: a lone `<`: there are no declarations; as text it is written &lt; or {"<"}']),
    ('<if test="x">a</if>', ["1:5: test of <if> needs an expression in braces: test={x}"]),
    ("<if>a</if>", ["1:1: <if> needs test"]),
    ('<let name="x"/>', ["1:1: <let> needs value"]),
    ("<let value={1}/>", ["1:1: <let> needs name"]),
    ("<raw>x", ["1:1: <raw> is not closed: </raw> is missing"]),
    ('<raw whitespace="x">a</raw>', ['1:6: whitespace is one of "default", "jsx", "keep", in quotes']),
    (
        '<user name="x {y">a</user>',
        [
            "1:15: the `{` is not closed before the \" that ends the value; texts inside it take the other quotes (')"
        ],
    ),
    ('<user name="x } y">a</user>', ["1:15: a lone `}` in quotes: it is written {'}'} or &rbrace;"]),
    ('<user name="{a +}">x</user>', ["1:17: the expression ends where a value is expected"]),
    (
        '<tool_definition name=t description="x"/>',
        ['1:23: the value of name needs quotes or braces: name="t" or name={t}'],
    ),
    ('<tool_definition name="t"description="x"/>', ["1:26: a blank is missing between two attributes"]),
    ("<tool_definition name=>x", ['1:23: the value of name is missing: name="text" or name={expression}']),
    ('<tool_definition description="x"/>', ["1:1: <tool_definition> needs name"]),
    (
        "<scope p={ 1 }\n prel=>x</scope>",
        ['2:7: the value of prel is missing: prel="text" or prel={expression}'],
    ),
    ("<scope p>x", ["1:1: <scope> is not closed: </scope> is missing"]),
    (
        "<>x</>",
        [
            "1:1: there is no <>: nodes need no tag around them; a tag has a name",
            "1:4: there is no </>: nodes need no tag around them; a tag has a name",
        ],
    ),
    ("</ user>", ["1:1: a closing tag holds its name alone: </user>"]),
    (
        "<user {props}>x</user>",
        ["1:7: a value without a name: write name={props}, or {...props} for a mapping of attributes"],
    ),
    ("<user {# c #}>x</user>", ["1:7: a comment can't stand inside a tag"]),
    (
        '<user on:click="x">a</user>',
        ["1:7: `on:click` is no name of an attribute: it has letters, digits, _ and -"],
    ),
    ('<user ="x">a</user>', ["1:7: an attribute's name is missing before the ="]),
    ('<user "x">a</user>', ["1:7: a stray quote in the tag <user: a value stands behind name="]),
    ("<widget/>", ["1:1: there is no <widget>"]),
    ("<scop p={1}>x</scop>", ["1:1: there is no <scop>; did you mean scope?"]),
    ("<user_message>x</user_message>", ["1:1: there is no <user_message>; in templates it is <user>"]),
    ("<div>x</div>", ["1:1: there is no <div>: prompts are plain text"]),
    ('<include from="x"/>', ['1:1: there is no <include>: write <import name="Name" from="…"/> and <Name/>']),
    ('<set x="1"/>', ['1:1: there is no <set>: write <let name="…" value={…}/>']),
    ("<scope p={1><b>x</scope>", ["1:10: the `{` is not closed with a `}`"]),
    (
        '<scope whitespace="react">x</scope>',
        ['1:8: whitespace is one of "default", "jsx", "keep", in quotes'],
    ),
    (
        '<component name="row">x</component>',
        ['1:12: name of <component> needs the name of a component, which begins with a capital, got "row"'],
    ),
    (
        '<component name="Row" props="1">x</component>',
        ["1:23: props needs names with commas between them, such as \"label, value=0\"; got '1'"],
    ),
    ('<component name="Row" props="a, a">x</component>', ["1:23: the prop a stands twice"]),
    (
        '<component name="Row" props="a=b">x</component>',
        ["1:23: the default of a is a plain value: text in quotes, a number, a list, …"],
    ),
    (
        '<user><component name="Row">x</component></user>',
        ["1:7: <component> stands in no element, this one in <user> of line 1"],
    ),
    (
        '<scope><import name="A" from="b"/></scope>',
        ["1:8: <import> stands in no element, this one in <scope> of line 1"],
    ),
    ('<import name="A"/>', ["1:1: <import> needs from"]),
    ('<import name="A" from={b}/>', ['1:18: from of <import> is written out, in quotes: from="…"']),
    (
        '<component name="A">x</component><component name="A">y</component>',
        ["1:34: the component A is there already, in line 1"],
    ),
    ("<max token_limit={1}>", ["1:1: <max> is not closed: </max> is missing"]),
    ("<isolate>x</isolate>", ["1:1: <isolate> needs token_limit"]),
    ("<empty/>", ["1:1: <empty> needs tokens"]),
    ("{a b}", ["1:4: `b` follows a value: an operator or a comma is missing between them"]),
    ("{a +}", ["1:5: the expression ends where a value is expected"]),
    ("{}", ["1:2: there is no expression between the braces"]),
    ("{ }", ["1:2: there is no expression between the braces"]),
    (
        "{'abc}",
        [
            "1:2: the text that begins with ' is not closed on its line, inside the { of line 1",
            '1:6: a lone `}`: as text it is written {"}"} or &rbrace;',
        ],
    ),
    (
        '{"a\\q"}',
        [
            "1:4: `\\q` is no escape; there are \\n \\t \\r \\0 \\\\ \\\" \\' \\xhh \\uhhhh \\Uhhhhhhhh, and a backslash itself is \\\\"
        ],
    ),
    ('{f"x"}', ['1:2: `f"`: texts have no prefixes; join them with +, or write them outside']),
    ("{x.y()}", ["1:5: only registered functions can be called, by name; methods can't"]),
    ("{x._y}", ["1:4: `._y`: names that begin with _ are private"]),
    ("{lambda: 1}", ["1:2: `lambda` is no name: there are no lambdas"]),
    ("{[i for i in x]}", ['1:5: there are no comprehensions; write <for each="…" in={…}>']),
    ("{x if y}", ["1:8: `else` is missing: it is written `value if test else other`"]),
    ("{x ? y : z}", ["1:4: `?` is not part of expressions: write `value if test else other`"]),
    ("{a && b}", ["1:4: `&&` is not part of expressions: write `and`"]),
    ("{!a}", ["1:2: `!` is not part of expressions: write `not x`, or `x != y`"]),
    ("{a = 1}", ["1:4: expressions assign nothing; equality is `==`"]),
    ("{x := 1}", ["1:4: `:` can't stand here"]),
    ("{1 << 2}", ["1:4: shifts are not part of expressions"]),
    ("{x is 3}", ["1:4: `is` asks `is None`, `is not None`, `is defined` and `is not defined`"]),
    ("{not}", ["1:5: the expression ends where a value is expected"]),
    ("{x..y}", ["1:4: after `.` stands a name, not `.`"]),
    ("{f(a=1, 2)}", ["1:9: arguments without a name come before those with one"]),
    ("{f(a=1, a=2)}", ["1:9: the argument a is given twice"]),
    ("{(1}", ["1:4: the expression ends too early: a bracket is not closed"]),
    ("{[1, 2}", ["1:7: the expression ends too early: a bracket is not closed"]),
    ("{1e999}", ["1:2: `1e999` is too large for a number"]),
    ("{a;b}", ["1:3: `;` is not part of expressions: an expression is one value"]),
    ("{a @ b}", ["1:4: `@` is not part of expressions: there is no such operator"]),
    ("{a[]}", ["1:4: a value is expected before `]`"]),
    ("{*a}", ["1:2: a value is expected before `*`"]),
    ("{foo(1)}", ["1:2: there is no function foo"]),
    (
        "<Foo/>",
        ["1:1: there is no component <Foo>: import it, define it, or give it as Environment(components=…)"],
    ),
    ('<Fooo/><component name="Foo">x</component>', ["1:1: there is no component <Fooo>; did you mean Foo?"]),
    ("{name | }", ["1:8: the expression ends where a value is expected"]),
    ("{x | 3}", ["1:6: after `|` stands the name of a filter, not `3`"]),
    ("{upper(x) | uper}", ["1:13: there is no filter uper; did you mean upper?"]),
    ("{x | truncat(3)}", ["1:6: there is no filter truncat; did you mean truncate?"]),
    ('{x | "a"}', ['1:6: after `|` stands the name of a filter, not `"a"`']),
    ("<user>{x | capitalise}</user>", ["1:12: there is no filter capitalise; did you mean capitalize?"]),
    (
        '<USER p="x">a</USER>',
        ["1:1: there is no component <USER>; did you mean <user>? Names with a capital are components"],
    ),
    ("{x $ y}", ["1:4: `$` is not part of expressions: a name stands alone"]),
    ('{"a" "b"}', ['1:6: `"b"` follows a value: an operator or a comma is missing between them']),
    ("{x # y}", ["1:4: `#` is not part of expressions: a comment is written {# … #}"]),
    ("{~x}", ["1:2: `~` is not part of expressions: there is no such operator"]),
    ("{x, y}", ["1:3: `,` can't stand here"]),
    ("{x for}", ['1:4: there are no comprehensions; write <for each="…" in={…}>']),
    ("{007}", ["1:2: `007`: a whole number doesn't begin with 0"]),
    ('{"\\U99999999"}', ["1:3: `\\U99999999`: no character has this number"]),
    ('<user name="a{b}c"d>x</user>', ["1:19: a blank is missing between two attributes"]),
    ('<br p="1e"/>', ['1:5: p needs a number, got "1e"']),
    ("<a>", ["1:1: there is no <a>", "1:1: <a> is not closed: </a> is missing"]),
    ("</Box>", ["1:1: </Box> closes nothing: no <Box> is open"]),
    ("<Box>", ["1:1: <Box> is not closed: </Box> is missing"]),
    ("<user></scope></user>", ["1:7: </scope> closes nothing: open is <user> of line 1"]),
    ("</br>", ["1:1: <br/> is never closed: it takes no content"]),
]

FRONT_MATTER: list[tuple[str, list[str]]] = [
    ("---\na", ["1:1: the front matter is not closed: a second line --- is missing"]),
    (
        "---\nprops:\n  a: strr\n---\n",
        [
            "3:3: the type of a is one of str, int, float, bool, list, dict, any, then ? if it is optional, then = and a default; got strr; did you mean str?"
        ],
    ),
    (
        "---\nprops:\n  a: 3\n---\n",
        [
            "3:3: the type of a is one of str, int, float, bool, list, dict, any, then ? if it is optional, then = and a default; got 3"
        ],
    ),
    ("---\nprops: 3\n---\n", ["2:1: props needs names with types, such as `name: str`"]),
    ("---\npropz:\n  a: str\n---\n", ["2:1: the front matter takes no propz; did you mean props?"]),
    ("---\n" + "- " * 3_000 + "a\n---\n", ["2:1: the front matter is nested too deeply"]),
    ("---\na: [1\n---\n", ["3:1: the front matter is not YAML: a comma or ] is needed, and the text ends"]),
    ("---\ntoken_limit: -1\n---\n", ["2:1: token_limit needs a whole number, 0 or more, got -1"]),
    ('---\ntoken_limit: "5"\n---\n', ["2:1: token_limit needs a whole number, 0 or more, got '5'"]),
    ("---\nwhitespace: react\n---\n", ["2:1: whitespace is one of default, jsx, keep, got 'react'"]),
    (
        "---\nprops:\n  a: str\n  a: int\n---\n",
        ["4:3: the front matter is not YAML: the key 'a' stands twice in one object"],
    ),
    (
        "---\nprops:\n  1a: str\n---\n",
        ["3:3: a prop's name has letters, digits and _, a letter first, got 1a"],
    ),
    (
        "---\nprops:\n  a: str = b\n---\n",
        ["3:3: the default of a is a plain value: text in quotes, a number, a list, …"],
    ),
    (
        "---\nprops:\n  a: str = [\n---\n",
        ["3:3: the default of a: the expression ends where a value is expected"],
    ),
    (
        "---\nexamples: 3\n---\n",
        ["2:1: examples needs names with props each, such as `short: {question: Why?}`"],
    ),
    ("---\nlimits: [a]\n---\n", ["2:1: limits needs a list of whole numbers, got ['a']"]),
    ("---\nmust_keep: x\n---\n", ["2:1: must_keep needs a list of labels, got 'x'"]),
    ("---\ntokenizer: 3\n---\n", ["2:1: tokenizer needs a tokenizer's name, got 3"]),
    ("---\n- a\n---\n", ["2:1: the front matter needs keys with values, such as `description: …`, got list"]),
    (
        '---\nx: !!python/object/apply:os.system ["true"]\n---\n',
        [
            "2:4: the front matter is not YAML: there are no values of !!python/object/apply:os.system: only plain data can be read"
        ],
    ),
    ("---\nx: &a 1\ny: *a\n---\n", ["3:4: the front matter takes no aliases (*name)"]),
    ("---\nx: \x01\n---\n", ["2:4: the front matter is not YAML: the character '\\x01' is not allowed"]),
]


@pytest.mark.parametrize(("template", "expected"), TEMPLATES + FRONT_MATTER)
def test_every_error_of_a_template(template: str, expected: list[str]) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Environment().from_string(template)
    errors = caught.value.errors
    assert [f"{error.line}:{error.column}: {error.message}" for error in errors] == expected
    assert caught.value is errors[0]
    assert {error.file for error in errors} == {"<template>"}


def test_the_table_is_long_enough() -> None:
    assert len({template for template, _ in TEMPLATES}) >= 80


def test_the_line_is_shown_with_a_caret() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Environment().from_string("<user>\n\tHello {name +} there\n</user>", "chat.priompt")
    assert str(caught.value) == (
        "chat.priompt:2:15: the expression ends where a value is expected\n"
        "    \tHello {name +} there\n"
        "    \t             ^"
    )


def test_a_long_line_is_cut_around_the_place() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Environment().from_string("a" * 200 + "}" + "b" * 200)
    _, line, caret = str(caught.value).split("\n")
    assert line == "    " + "a" * 50 + "}" + "b" * 49
    assert caret == "    " + " " * 50 + "^"


def test_an_error_can_be_pickled() -> None:
    import pickle

    with pytest.raises(TemplateSyntaxError) as caught:
        Environment().from_string("</user>")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert str(again) == str(caught.value)
    assert (again.line, again.column, again.message) == (1, 1, "</user> closes nothing: no <user> is open")


def test_twenty_errors_are_enough() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Environment().from_string("}\n" * 1000)
    assert len(caught.value.errors) == 20
