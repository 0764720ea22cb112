"""Errors that rise while a template is evaluated: template, props, place and message."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from priompt_py.author.tags import br
from priompt_py.errors import TemplateError
from priompt_py.template.bounds import Bounds
from priompt_py.template.environment import Environment
from priompt_py.template.loader import DictLoader

TEMPLATES: list[tuple[str, dict[str, Any], str]] = [
    ("{nme}", {"name": 1}, "1:2: nme is not defined; did you mean name?"),
    ("{m.nam}", {"m": {"name": 1}}, "1:4: there is no key 'nam'; did you mean name?"),
    ("{m.x}", {"m": None}, "1:4: None has no .x; ask for it with `if`, or `default(…)`"),
    ("{m.x}", {"m": 3}, "1:4: an int has no .x: only mappings and classes with declared fields have"),
    ('{m["y"]}', {"m": {"name": 1}}, "1:4: there is no key 'y'; there are name"),
    ("{xs[5]}", {"xs": [1]}, "1:5: there is no item 5: there are 1, counted from 0"),
    ('{xs["a"]}', {"xs": [1]}, "1:5: an index is a whole number, got a str"),
    ("{1/0}", {}, "1:3: division by zero"),
    ('{"a" + 1}', {}, "1:6: a str and an int can't be joined; a number's text is str(number)"),
    ("{[1] < [2]}", {}, "1:3: a list and a list have no order; numbers have, and texts"),
    ('{x > "a"}', {"x": 1}, "1:2: an int and a str have no order; numbers have, and texts"),
    ("{-x}", {"x": "a"}, "1:2: `-` needs a number"),
    (
        "{x}",
        {"x": {1: 2}},
        "1:2: a dict can't stand in a prompt; take a part of it, or write it with `| json`",
    ),
    (
        "{x}",
        {"x": [{"a b": 1, "_a": 2, "a": 3}]},
        "1:2: a dict can't stand in a prompt; take a part of it, such as .a, or write it with `| json`",
    ),
    ("{x}", {"x": {1}}, "1:2: a set can't stand in a prompt; bring it in order with sorted(…)"),
    (
        "{x}",
        {"x": range(3)},
        '1:2: a range can\'t stand in a prompt; go through it with <for>, or write it with `| join(", ")`',
    ),
    (
        "{x}",
        {"x": Decimal(1)},
        "1:2: a decimal.Decimal can't stand in a prompt: the program has to give its text",
    ),
    (
        "{x}",
        {"x": Bounds()},
        "1:2: a priompt_py.template.bounds.Bounds can't stand in a prompt; take a part of it, such as .bits",
    ),
    (
        "{x}",
        {"x": int},
        "1:2: the class int can't stand in a prompt: the program has to call it, and give what it returns",
    ),
    (
        "{x}",
        {"x": partial(len)},
        "1:2: a functools.partial can't stand in a prompt: the program has to call it, and give what it returns",
    ),
    (
        '<br key="{x}"/>',
        {"x": {1}},
        '1:11: a set can\'t stand in a text; bring it in order with sorted(…), and write that with `| join(", ")`',
    ),
    (
        '<br key="{x}"/>',
        {"x": br},
        "1:11: a priompt_py.author.tags.LineBreakTag can't stand in a text: elements stand between tags",
    ),
    (
        '<scope {...{"whitespace": "keep"}}>a</scope>',
        {},
        "1:12: <scope> takes no attribute whitespace: it is written in the tag itself",
    ),
    ('<br {...{"whitespace": "keep"}}/>', {}, "1:9: <br> takes no attribute whitespace"),
    ('<scope {...{"nam": "a"}}>a</scope>', {}, "1:12: <scope> takes no attribute nam; did you mean name?"),
    (
        "{x}",
        {"x": b"a"},
        "1:2: a bytes can't stand in a prompt: bytes are no text until the program that gives them decodes them",
    ),
    ("{x}", {"x": float("nan")}, "1:2: got nan: only finite numbers have a text"),
    (
        "{x}",
        {"x": len},
        "1:2: the function len can't stand in a prompt: the program has to call it, and give what it returns",
    ),
    ('<for each="i" in={x}>a</for>', {"x": "abc"}, "1:19: a text is no list; its lines are `text | lines`"),
    ('<for each="i" in={x}>a</for>', {"x": None}, "1:19: None is no list"),
    ('<for each="i" in={x}>a</for>', {"x": {1}}, "1:19: a set has no order; give sorted(…)"),
    ("<scope p={x}>a</scope>", {"x": "high"}, "1:8: <scope> needs a number for p, got p='high' (str)"),
    ("<scope p={True}>a</scope>", {}, "1:8: <scope> needs a number for p, got p=True (bool)"),
    (
        "<scope\n  p={1}\n  prel>a</scope>",
        {},
        "1:1: <scope> takes p or prel, not both, got p=1 and prel=True",
    ),
    ("<scope p={1} prel={2}>a</scope>", {}, "1:1: <scope> takes p or prel, not both, got p=1 and prel=2"),
    ("<empty tokens={-1}/>", {}, "1:8: <empty> needs tokens >= 0, got tokens=-1"),
    (
        '<isolate token_limit="lots">a</isolate>',
        {},
        "1:10: <isolate> needs a whole number, 'N%', 'N% + M' or 'N% - M' for token_limit, got token_limit='lots' (str)",
    ),
    ("<image/>", {}, "1:1: <image> needs data or url, got neither"),
    (
        '<image url="a" detail="best"/>',
        {},
        "1:16: <image> needs detail to be one of low, high, auto, got detail='best' (str)",
    ),
    ("<config stop={3}/>", {}, "1:9: <config> needs text or a list of texts for stop, got stop=3 (int)"),
    ('<config stop={["a","b","c","d","e"]}/>', {}, "1:9: <config> takes at most 4 stop texts, got 5"),
    (
        '<tool_definition name="a b"/>',
        {},
        "1:18: <tool_definition> needs a name of 1 to 64 letters, digits, _ and -, got name='a b' (str)",
    ),
    (
        '<assistant tool_calls={[{"id": "a"}]}>x</assistant>',
        {},
        "1:12: <assistant>: tool_calls[0] needs name",
    ),
    (
        "<tool tool_call_id={3}>x</tool>",
        {},
        "1:7: <tool> needs text for tool_call_id, got tool_call_id=3 (int)",
    ),
    ("<capture/>", {}, "1:1: <capture> needs on_output, on_stream or on_stream_response"),
    (
        '<scope on_eject="note">x</scope>',
        {},
        "1:8: <scope> needs a function for on_eject, got on_eject='note' (str)",
    ),
    (
        "<fallback><scope p={1}>x</scope></fallback>",
        {},
        "1:1: fallback > 0: an alternative of a fallback ranks by its place, got p=1; drop it, or use first with scopes",
    ),
    ("<user {...x}>a</user>", {"x": 3}, "1:11: a spread needs a mapping of attributes, got int"),
    ('<user name="a" {...x}>a</user>', {"x": {"name": "b"}}, "1:20: the attribute name is given twice"),
    ("<user {...x}>a</user>", {"x": {"nme": "b"}}, "1:11: <user> takes no attribute nme; did you mean name?"),
    ("<user {...x}>a</user>", {"x": {3: "b"}}, "1:11: the names of attributes are texts, got int"),
    ("<isolate {...x}>a</isolate>", {"x": {}}, "1:1: <isolate> needs token_limit"),
    (
        '<user name="a {x}">b</user>',
        {"x": [1]},
        '1:16: a list can\'t stand in a text; write it with `| join(", ")` or `| json`',
    ),
    ("{len()}", {}, "1:2: len() needs value; it is len(value)"),
    ("{len(1)}", {}, "1:2: an int has no length"),
    (
        '{"a" | truncate}',
        {},
        "1:8: truncate() needs length; it is truncate(text, length, marker='…')",
    ),
    ('{"a" | truncate("b")}', {}, "1:8: truncate needs a whole number, got a str"),
    ('{"a" | truncate(-1)}', {}, "1:8: truncate needs a number of at least 0, got -1"),
    ("{3 | upper}", {}, "1:6: upper needs a text, got an int"),
    ("{range(10**9)}", {}, "1:2: a range of 1,000,000,000 numbers: there may be 100,000"),
    ("{range(1, 2, 0)}", {}, "1:2: the step of range can't be 0"),
    ('{int("x")}', {}, "1:2: int needs a whole number, got 'x'"),
    ('{float("nan")}', {}, "1:2: float needs a finite number, got 'nan'"),
    ("{min([])}", {}, "1:2: min of nothing; ask `if` the list has items"),
    ('{max(1, "a")}', {}, "1:2: max needs numbers, or texts; both have an order, other values have none"),
    (
        '{sorted([1, "a"])}',
        {},
        "1:2: sorted needs numbers, or texts; both have an order, other values have none",
    ),
    ('{sum(["a"])}', {}, "1:2: sum needs numbers"),
    ('{round("a")}', {}, "1:2: round needs a number, got a str"),
    ('{"a" | split("")}', {}, "1:8: split needs a separator that is not empty"),
    (
        '{[[1]] | join(",")}',
        {},
        '1:10: a list can\'t stand in a text; write it with `| join(", ")` or `| json`',
    ),
    (
        "{json(x)}",
        {"x": len},
        "1:2: json can't write a builtin_function_or_method; it takes texts, numbers, lists and mappings",
    ),
    ("{str([1])}", {}, "1:2: str needs a text, a number, True, False or None, got a list; use json"),
    ('{turn("a")}', {}, "1:2: turn needs a whole number, got a str"),
    ('{"a" | fit(3, keep="middle")}', {}, "1:8: fit keeps one of 'head', 'tail', 'ends', got 'middle'"),
    ('{{"a": 1}[[1]]}', {}, "1:12: a key is a text or a number, got a list"),
    ("{x[::0]}", {"x": [1]}, "1:2: the step of a slice can't be 0"),
    ('{x[1:"a"]}', {"x": [1]}, "1:2: the bounds of a slice are whole numbers, got a str"),
    ("{3 in 4}", {}, "1:2: nothing can be in an int"),
    ('{3 in "4"}', {}, "1:2: only a text can be in a text, not an int"),
    ("{first(3)}", {}, "1:2: an int has no first and last item"),
    (
        '<component name="Row" props="label">{label.x}</component>\n<Row label={1}/>',
        {},
        "1:44: an int has no .x: only mappings and classes with declared fields have",
    ),
    (
        '<component name="Row" props="label">x</component><Row lable="a"/>',
        {},
        "1:55: <Row> takes no prop lable; did you mean label?",
    ),
    ('<component name="Row" props="label">x</component><Row/>', {}, "1:50: <Row> needs the prop label"),
    ('<component name="Row">x</component><Row a="b"/>', {}, "1:41: <Row> takes no prop a; it takes none"),
    (
        '<component name="A"><A/></component><A/>',
        {},
        "1:21: components stand more than 100 deep in each other; does <A> call itself?",
    ),
    ("---\nprops:\n  name: str\n---\n{name}", {}, " <template> needs the prop name"),
    (
        "---\nprops:\n  name: str\n---\n{name}",
        {"name": 3},
        " the prop name of <template> is a str, got 3 (an int)",
    ),
    (
        "---\nprops:\n  name: str\n---\n{name}",
        {"nam": 3},
        " <template> takes no prop nam; did you mean name?",
    ),
    (
        "---\nprops:\n  n: int\n---\n{n}",
        {"n": True},
        " the prop n of <template> is an int, got True (a bool)",
    ),
    (
        "---\nprops:\n  n: float\n---\n{n}",
        {"n": "1"},
        " the prop n of <template> is a float, got '1' (a str)",
    ),
    ("---\nprops:\n  n: list\n---\n{n}", {"n": "1"}, " the prop n of <template> is a list, got '1' (a str)"),
    (
        "---\nprops:\n  n: dict?\n---\n{n}",
        {"n": []},
        " the prop n of <template> is a dict or None, got [] (a list)",
    ),
]

IMPORTS: list[tuple[str, dict[str, str], str]] = [
    (
        '<import name="A" from="./b"/>',
        {"b": "</user>"},
        "b.priompt:1:1: </user> closes nothing: no <user> is open",
    ),
    ('<import name="A" from="./b"/><A/>', {"b": "{x}"}, "b.priompt:1:2: x is not defined"),
    (
        '<import name="A" from="./c"/>',
        {"b": "x"},
        'main.priompt:1:18: there is no template "c.priompt"',
    ),
    (
        '<import name="A" from="b"/>',
        {"b": '<import name="B" from="main"/>'},
        "b.priompt:1:18: templates import each other in a ring: main.priompt → b.priompt → main.priompt",
    ),
    (
        '<import name="A" from="b"/>',
        {"b": '<import name="B" from="c"/>', "c": '<import name="C" from="./b"/>'},
        "c.priompt:1:18: templates import each other in a ring: b.priompt → c.priompt → b.priompt",
    ),
    (
        '<import name="A" from="main"/>',
        {},
        "main.priompt:1:18: templates import each other in a ring: main.priompt → main.priompt",
    ),
    (
        'text\n<import name="A" from="../x"/>',
        {},
        'main.priompt:2:18: the name "../x" leaves the place of the templates',
    ),
    (
        '<import name="A" from="b"/><import name="A" from="b"/>',
        {"b": "x"},
        "main.priompt:1:28: the component A is there already, in line 1",
    ),
    (
        '<import name="A" from="b"/>\n<A tone="x"/>',
        {"b": "---\nprops:\n  tune: str\n---\n"},
        "main.priompt:2:4: b.priompt takes no prop tone; did you mean tune?",
    ),
    (
        '<import name="A" from="b"/>\n<A tune={3}/>',
        {"b": "---\nprops:\n  tune: str\n---\n"},
        "main.priompt:2:4: the prop tune of b.priompt is a str, got 3 (an int)",
    ),
    (
        '<import name="A" from="b"/>\n<user>\n  <A/>\n</user>',
        {"b": '<import name="B" from="c"/>\nx <B n={1}/>', "c": "y\n{n.x}"},
        "c.priompt:2:4: an int has no .x: only mappings and classes with declared fields have",
    ),
]


def place_and_message(error: TemplateError) -> str:
    return str(error).split("\n")[0].removeprefix("<template>:")


@pytest.mark.parametrize(("template", "props", "expected"), TEMPLATES)
def test_evaluating(template: str, props: dict[str, Any], expected: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Environment().from_string(template)(**props)
    assert place_and_message(caught.value) == expected


@pytest.mark.parametrize(("template", "files", "expected"), IMPORTS)
def test_importing(template: str, files: dict[str, str], expected: str) -> None:
    environment = Environment(loader=DictLoader({**files, "main": template}))
    with pytest.raises(TemplateError) as caught:
        environment.get("main")()
    assert place_and_message(caught.value) == expected


def test_the_way_through_templates_is_told() -> None:
    environment = Environment(
        loader=DictLoader(
            {
                "chat": '<import name="Rules" from="rules"/>\n<system>\n  <Rules/>\n</system>',
                "rules": '<import name="Row" from="row"/>\nx <Row n={1}/>',
                "row": "y\n{n.x}",
            }
        )
    )
    with pytest.raises(TemplateError) as caught:
        environment.get("chat")()
    error = caught.value
    assert str(error) == (
        "row.priompt:2:4: an int has no .x: only mappings and classes with declared fields have\n"
        "    {n.x}\n"
        "       ^\n"
        "  in chat.priompt:3 <Rules> → rules.priompt:2 <Row> → row.priompt:2"
    )
    assert error.stack == (("chat.priompt", 3, "Rules"), ("rules.priompt", 2, "Row"))


def test_a_long_way_is_cut() -> None:
    with pytest.raises(TemplateError) as caught:
        Environment().from_string('<component name="A"><A/></component><A/>')()
    assert str(caught.value).split("\n")[-1].count("<A>") == 8
