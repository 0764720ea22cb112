"""The linter: what is found in templates that can be parsed."""

from __future__ import annotations

import pytest

from priompt_py.template.environment import Environment
from priompt_py.template.lint import lint_template
from priompt_py.template.loader import DictLoader

HEAD = "---\nprops:\n  name: str\n  page: str?\n---\n{name}<if test={page}>a</if>\n"  # body begins in line 7

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
]


@pytest.mark.parametrize(("template", "expected"), FOUND)
def test_findings(template: str, expected: list[str]) -> None:
    loader = DictLoader({"part": "---\nprops:\n  tone: str\n---\n{tone}", "broken": "</user>"})
    found = lint_template(template, environment=Environment(loader=loader))
    assert [str(one).removeprefix("<template>:") for one in found] == expected
