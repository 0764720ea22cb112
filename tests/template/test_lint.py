"""The linter: what is found in templates that can be parsed."""

from __future__ import annotations

import pytest

from priompt_py.template.environment import Environment
from priompt_py.template.lint import lint_template
from priompt_py.template.loader import DictLoader

HEAD = "---\nprops:\n  name: str\n  page: str?\n---\n{name}<if test={page}>a</if>\n"  # body begins in line 7

LATE = "warning: front matter begins in the first line of a template: nothing may stand before this ---"

FOUND: list[tuple[str, list[str]]] = [
    ("</user>", ["1:1: </user> closes nothing: no <user> is open"]),
    (
        "}{a b}",
        [
            '1:1: a lone `}`: as text it is written {"}"} or &rbrace;',
            "1:5: `b` follows a value: an operator or a comma is missing between them",
        ],
    ),
    (
        "{x | foo}<Foo/>",
        [
            "1:6: there is no filter foo",
            "1:10: there is no component <Foo>: import it, define it, or give it as Environment(components=…)",
        ],
    ),
    (HEAD + "{nam}", ["7:2: nam is not defined; did you mean name?"]),
    (HEAD + "{nam | default(1)}{nam is defined}", []),
    (
        HEAD + "{page}\nx",
        ["7:1: warning: where page is None, its line stays, empty: write <if test={page}>{page}</if>"],
    ),
    (HEAD + "<for each='i' in={[1]}>{i}</for>{i}", ["7:34: i is not defined"]),
    (HEAD + "<let name='i' value={1}/><scope>{i}</scope>", []),
    (HEAD + "<scope><let name='i' value={1}/></scope>{i}", ["7:42: i is not defined"]),
    (
        HEAD + "<component name='Row' props='a'>{a}{name}</component><Row a='1'/>",
        ["7:37: name is not defined"],
    ),
    ("---\nprops:\n  unused: str\n---\na", ["3:3: warning: the prop unused is not used"]),
    ("<let name='x' value={1}/>", ["1:1: warning: x is not used"]),
    ("<component name='Row'>a</component>", ["1:1: warning: <Row> is not used"]),
    ("<import name='Part' from='part'/><Part/>", ["1:34: <Part> needs tone"]),
    (
        "<import name='Part' from='part'/><Part tune='a' tone='b'/>",
        ["1:40: <Part> takes no prop tune; did you mean tone?"],
    ),
    ("<import name='Part' from='part'/><Part {...x}/>", []),
    ("<import name='Part' from='no'/><Part/>", ['1:21: there is no template "no.priompt"']),
    (
        "<import name='Part' from='broken'/><Part/>",
        ["broken.priompt:1:1: </user> closes nothing: no <user> is open"],
    ),
    (
        "<scope p={1}><scope p={5}>a</scope></scope>",
        ["1:21: warning: priority 5 can never act above 1, which the element around it has"],
    ),
    (
        "<scope p='1'><user prel='0.5'>a</user></scope>",
        ["1:20: warning: priority 1.5 can never act above 1, which the element around it has"],
    ),
    ("<scope p={5}><scope p={1}><scope prel={-1}>a</scope></scope></scope>", []),
    ("<scope p={1}><isolate token_limit={5}><scope p={9}>a</scope></isolate></scope>", []),
    ("<scope p={x}><scope p={9}>a</scope></scope>", []),
    (
        "<first><scope p={3}>a</scope><scope p={2}>b</scope></first>",
        [
            "1:30: warning: this alternative is never chosen: one before it, of priority 3, is in whenever it could be"
        ],
    ),
    ("<first><scope p={2}>a</scope><scope p={3}>b</scope>c</first>", []),
    (
        "<first><scope>a</scope><scope p={2}>b</scope></first>",
        [
            "1:24: warning: this alternative is never chosen: one before it has no priority, so it is always in"
        ],
    ),
    (
        "<first>\n  Page: {page}\n</first>",
        [
            "2:9: warning: in <first> this is an alternative of its own; put what belongs together into a <scope>",
            "2:9: warning: this alternative is never chosen: one before it has no priority, so it is always in",
        ],
    ),
    (
        "<fallback><scope p={1}>a</scope>b</fallback>",
        ["1:18: an alternative of <fallback> ranks by its place: drop p"],
    ),
    ("<user>a<system>b</system></user>", ["1:8: a message in a message: <system> stands in <user>"]),
    ("<user>a</user>\ntext\n<!-- -->", ["3:1: comments are written {# … #}, not <!-- … -->"]),
    ("<user>a</user>\ntext", ["2:1: text beside messages: put it into one, or in a comment {# … #}"]),
    (
        "<if test={x}><user>a</user> b</if>",
        ["1:29: text beside messages: put it into one, or in a comment {# … #}"],
    ),
    ("<user>{name}</user>{# fine #}\n", []),
    # What stands beside syntax errors.
    (
        "{nope()}{x | foo}<Foo/><scope",
        [
            "1:2: there is no function nope",
            "1:14: there is no filter foo",
            "1:18: there is no component <Foo>: import it, define it, or give it as Environment(components=…)",
            "1:24: the tag <scope is not closed with >",
        ],
    ),
    (
        HEAD + "{b}<scope p=1>{c}{nope(name)}",
        [
            "7:2: b is not defined",
            '7:13: the value of p needs quotes or braces: p="1" or p={1}',
            "7:16: c is not defined",
            "7:19: there is no function nope",
        ],
    ),
    (
        HEAD + "<for each=x in={[]}>{x}{b|foo}</for>{b}",
        [
            '7:11: the value of each needs quotes or braces: each="x" or each={x}',
            "7:27: there is no filter foo",
            "7:38: b is not defined",
        ],
    ),
    (
        HEAD + "<scope><let name=q/>{q}</scope>{q}",
        ['7:18: the value of name needs quotes or braces: name="q" or name={q}', "7:33: q is not defined"],
    ),
    (HEAD + "<fro each='x' in={[]}>{x}</fro>{x}", ["7:1: there is no <fro>; did you mean for?"]),
    (
        HEAD + "<For each='x' in={[]}>{x}</For>{x}",
        [
            "7:1: there is no component <For>; did you mean <for>? Names with a capital are components",
            "7:33: x is not defined",
        ],
    ),
    (
        HEAD + "<for each='x' in={[]}>{x}</user></for>{x}{zz}",
        ["7:26: </user> closes nothing: open is <for> of line 7", "7:43: zz is not defined"],
    ),
    (
        HEAD + "<component name='A' props='a'>{a}{name}{x}</component><A a='1'/><for each='x' in={[]}>",
        ["7:35: name is not defined", "7:65: <for> is not closed: </for> is missing"],
    ),
    ("<import name=Q/><Q/>", ['1:14: the value of name needs quotes or braces: name="Q" or name={Q}']),
    (
        "<component name='A' props='a b'>{c}</component><A/>{'a'|foo}",
        [
            "1:21: props needs names with commas between them, such as \"label, value=0\"; got 'a b'",
            "1:57: there is no filter foo",
        ],
    ),
    (
        "<component name=A>{c}</component>{d}",
        ['1:17: the value of name needs quotes or braces: name="A" or name={A}'],
    ),
    (
        "---\nprops: {first-name: str}\n---\n{first}",
        ["2:1: a prop's name has letters, digits and _, a letter first, got first-name"],
    ),
    ("---\nprops: a\n---\n{first}", ["2:1: props needs names with types, such as `name: str`"]),
    (
        "<import name='Part' from='broken'/><Part/>{x | foo}",
        ["1:48: there is no filter foo", "broken.priompt:1:1: </user> closes nothing: no <user> is open"],
    ),
    ("<component name='B'>a</component><B>b</B>", ["1:34: <B> takes no children: it has no <children/>"]),
    ("<component name='B'>a</component><B>b", ["1:34: <B> is not closed: </B> is missing"]),
    # Calls, and tags whose arguments are all written out.
    (
        "{'a' | truncate}{truncate('a', 1, 'b', 2)}{'a' | fit(1, kep='head')}{range()}{max()}{zip()}",
        [
            "1:8: truncate() needs length; it is truncate(text, length, marker='…')",
            "1:18: truncate() takes 3 arguments without a name, got 4; it is truncate(text, length, marker='…')",
            (
                "1:50: fit() takes no argument kep; did you mean keep?; "
                "it is fit(text, tokens, marker='…', keep='head')"
            ),
            "1:70: range() needs start; it is range(start, stop=None, step=1)",
        ],
    ),
    (
        HEAD + "{true}{null}{len}{x}",
        [
            "7:2: true is not defined; it is written True",
            "7:8: null is not defined; it is written None",
            "7:14: len is not defined; it is a function: len(…)",
            "7:19: x is not defined",
        ],
    ),
    (
        "<tool_definition name='a b'/><image/><empty tokens='-1'/><scope p={x}>a</scope>",
        [
            "1:18: <tool_definition> needs a name of 1 to 64 letters, digits, _ and -, got name='a b' (str)",
            "1:30: <image> needs data or url, got neither",
            "1:45: <empty> needs tokens >= 0, got tokens=-1",
        ],
    ),
    # Front matter.
    (
        "---\ntokenizer: nope\n---\na",
        ["2:1: the tokenizer of the front matter: no tokenizer and no model is named 'nope'"],
    ),
    (
        "---\ndescription: a\n'tokenizer' : o200k_bsae\n---\na",
        [
            (
                "3:1: the tokenizer of the front matter: no tokenizer and no model is named 'o200k_bsae' "
                "(near: o200k_base, cl100k_base, r50k_base, p50k_base)"
            )
        ],
    ),
    ("---\ntokenizer: gpt-4o\n---\na", []),
    ("\n{# a #}\n\n---\nprops:\n  a: str\n---\na", [f"4:1: {LATE}"]),
    ("\n---\n\n'tokenizer': a\n---\n", [f"2:1: {LATE}"]),
    ("{# a #}\n---\nprops: {a: str}\n", [f"2:1: {LATE}", "3:10: `:` can't stand here"]),
    ("\n---\na: b\n---\n", []),
    ("a\n---\nprops:\n---\n", []),
    ("<br/>\n---\nprops:\n---\n", []),
    ("{# a #} ---\nprops:\n---\n", []),
    ("{# a #}", []),
]


@pytest.mark.parametrize(("template", "expected"), FOUND)
def test_findings(template: str, expected: list[str]) -> None:
    loader = DictLoader({"part": "---\nprops:\n  tone: str\n---\n{tone}", "broken": "</user>"})
    found = lint_template(template, environment=Environment(loader=loader))
    assert [str(one).removeprefix("<template>:") for one in found] == expected
