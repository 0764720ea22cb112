"""Templates as components: props, components of all kinds, control, functions, caching."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest

from priompt_py.author.component import component
from priompt_py.author.excerpts import excerpt
from priompt_py.author.messages import user_message
from priompt_py.author.tags import br, fallback, first, isolate, scope
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, TemplateError, TemplateSyntaxError
from priompt_py.face.render import arender, render
from priompt_py.model.elements import Node
from priompt_py.template.environment import Environment, load_template, parse_template
from priompt_py.template.loader import DictLoader, FileLoader
from priompt_py.testing.tokenizers import CharTokenizer


def nodes(template: str, **props: Any) -> Any:
    return Environment().from_string(template)(**props)


def text(node: Node, limit: int = 10_000) -> str | None:
    return render(node, token_limit=limit, tokenizer=len).text


# ------------------------------------------------------------------------------------------ elements and control


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("<scope p={5} name='a'>x</scope>", [scope(p=5, name="a")["x"]]),
        ("<scope p='1'>x</scope>", [scope(p=1)["x"]]),
        ("<scope p='-1.5'>x</scope>", [scope(p=-1.5)["x"]]),
        ("<scope p={None}>x</scope>", [scope["x"]]),
        ("<scope/>", [scope]),
        ("<scope></scope>", [scope]),
        (
            "<user name='Ann'>a{1}{1.0}{None}{True}</user>",
            [user_message(name="Ann")["a", 1, 1.0, None, True]],
        ),
        ("<isolate token_limit='50% - 3'>x</isolate>", [isolate(token_limit="50% - 3")["x"]]),
        ("<isolate token_limit='50'>x</isolate>", [isolate(token_limit=50)["x"]]),
        ("a<br/>b", ["a", br, "b"]),
        ("<first>{[1, 2]}</first>", [first[1, 2]]),
        ("<scope {...{'p': 1, 'name': 'a'}}>x</scope>", [scope(p=1, name="a")["x"]]),
        ("<scope key='a &lt; {1 + 1}&#33;'>x</scope>", [scope(key="a < 2!")["x"]]),
        ("<scope key='back\\slash \\n'>x</scope>", [scope(key="back\\slash \\n")["x"]]),
        ("<scope key='   a\n b  '>x</scope>", [scope(key="   a\n b  ")["x"]]),
        (
            "<let name='a' value={1}/>{a}<scope><let name='a' value='b{a}'/>{a}</scope>{a}",
            [1, scope["b1"], 1],
        ),
        ("<for each='a' in={[1, 2]}><let name='b' value={(b | default(0)) + a}/>{b}</for>", [1, 2]),
        ("<for each='a' index='i' in={['x', 'y']}>{i}{a}</for>", [0, "x", 1, "y"]),
        ("<for each='a' in={{'x': 1, 'y': 2}}>{a}</for>", ["x", "y"]),
        (
            "<for each='a' in={range(3)}><if test={a == 1}>b<elif test={a == 2}/>c<else/>d</if></for>",
            ["d", "b", "c"],
        ),
        ("<if test={0}>a</if>", []),
        ("<for each='a' in={[]}>a<else/>none</for>", ["none"]),
        ("<raw>{x} <y> &lt; {# #} </raw>", ["{x} <y> &lt; {# #} "]),
        ("{[[1, [2]], (3,)]}", [1, 2, 3]),
    ],
)
def test_same_tree_as_in_python(template: str, expected: list[Any]) -> None:
    assert nodes(template) == expected


def test_quoted_priorities_are_numbers() -> None:
    tree = nodes('A<scope p="1">BBBB</scope><scope p={2}>C</scope>')
    assert text(tree, 2) == "AC"


def test_callbacks_are_props() -> None:
    seen: list[str] = []
    tree = nodes("<scope p={1} on_include={note}>a</scope>", note=lambda: seen.append("in"))
    render(tree, token_limit=10, tokenizer=len)
    assert seen == ["in"]


def test_alternatives() -> None:
    tree = nodes(
        '<component name="Two">a{1}</component>\n<component name="One"><scope p={3}>b</scope></component>\n'
        "<component name='None'></component>\n"
        "<first>\n  <Two/>\n  <One/>\n  <None/>\n  text\n</first>\nend"
    )
    two, one, last = tree[0].children
    assert two == scope["a", 1, "\n"]
    assert one == scope(p=3)["b", "\n"]
    assert last == "text\n"
    assert tree[1:] == ["end"]


def test_fallback_in_a_template() -> None:
    tree = nodes("<fallback>\n  {page}\n  (left out)\n</fallback>\n|", page="P")
    assert tree == [fallback[scope["P", "\n"], "(left out)\n"], "|"]
    assert text(tree, 3) == "P\n|"


def test_excerpts() -> None:
    tree = nodes("A\n<excerpt text={t} around='2'/>\nB", t="1\n2\n3")
    assert tree == ["A\n", excerpt("1\n2\n3", around=2), "\nB"]
    tree = nodes("<fallback>\n  <excerpt text={t} around={1}/>\n  no\n</fallback>\nB", t="1")
    assert tree == [fallback[scope[excerpt("1", around=1), "\n"], "no\n"], "B"]


def test_a_value_with_a_priority_keeps_it_on_its_line() -> None:
    tree = nodes("<first>\n  {one}\n  {two}\n</first>\n|", one=scope(p=2)["a"], two=br(p=3))
    assert tree[0] == first[scope(p=2)["a", "\n"], scope(p=3)[br, "\n"]]
    assert tree[0].children[1].children[0].p is None


# ------------------------------------------------------------------------------------------ components


def test_components_of_python() -> None:
    @component
    def box(children: Node, *, title: str = "-") -> Node:
        return [title, ": ", children]

    def note(*, text: str) -> Node:
        return ["(", text, ")"]

    environment = Environment(components={"Box": box, "Note": note})
    tree = environment.from_string("<Box title='a'>b</Box> <Note text='c'/> <Box/>")()
    assert text(tree) == "a: b (c) -: "
    assert text(tree) == "a: b (c) -: "  # each render runs them again


def test_the_call_of_a_python_component_is_one_alternative() -> None:
    environment = Environment(components={"Note": lambda: ["a", "b"]})
    assert text(environment.from_string("<first>\n  <Note/>\n  c\n</first>")()) == "ab"


@pytest.mark.anyio
async def test_async_components() -> None:
    async def note(*, text: str) -> Node:
        return f"({text})"

    tree = Environment(components={"Note": note}).from_string("<user>a <Note text='b'/></user>")()
    rendered = await arender(tree, token_limit=100, tokenizer=len)
    assert rendered.messages is not None
    assert rendered.messages[0].text == "a (b)"


def test_errors_of_python_components_keep_their_type() -> None:
    def broken() -> Node:
        raise KeyError("key")

    environment = Environment(components={"Broken": broken})
    with pytest.raises(KeyError) as caught:
        text(environment.from_string("a\n  <Broken/>", "chat.priompt")())
    assert "in <Broken> at chat.priompt:2:3" in caught.value.__notes__


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("<component name='B'>b</component><user><B>{x}</B></user>", "1:40"),
        ("<component name='B'>b</component>\n<B><if test={False}>a</if></B>", "2:1"),
        ("<import name='B' from='b'/><B>\n a\n</B>", "1:28"),
        ("<B>a</B>", "1:1"),
    ],
)
def test_children_that_nobody_takes(template: str, place: str) -> None:
    loader = DictLoader({"b": "<component name='C'><children/></component><C>c</C>b"})
    environment = Environment(loader=loader, components={"B": Environment(loader=loader).get("b")})
    with pytest.raises(TemplateSyntaxError) as caught:
        environment.from_string(template, "t")
    assert str(caught.value).partition("\n")[0] == f"t:{place}: <B> takes no children: it has no <children/>"


def test_calls_that_do_not_fit_their_function() -> None:
    def shout(text: str, *, marks: int = 1, **_more: int) -> str:
        return text.upper() + "!" * marks

    environment = Environment(functions={"shout": shout, "kind": type, "next": next})
    assert environment.from_string("{'a' | shout(marks=2, b=1)}{kind('a') is None}{[1] | length}")() == [
        "A!!",
        False,
        1,
    ]
    with pytest.raises(TemplateSyntaxError) as caught:
        environment.from_string("a {shout('a', 2)} {shout()} {'a' | foo}", "t")
    assert [f"{one.line}:{one.column}: {one.message}" for one in caught.value.errors] == [
        "1:4: shout() takes 1 argument without a name, got 2; it is shout(text, marks=1, …)",
        "1:20: shout() needs text; it is shout(text, marks=1, …)",
        "1:36: there is no filter foo",
    ]


def test_blank_children_that_nobody_takes() -> None:
    blank = Environment().from_string("<component name='B'>b</component><B> \n{# none #} </B><B></B>")
    assert blank() == ["b", "b"]
    template = Environment().from_string("b", "b")
    assert render(template.component[[None, " ", False]], token_limit=10).text == "b"
    with pytest.raises(TemplateError) as caught:
        render(template.component["a"], token_limit=10)
    assert str(caught.value) == "b: the template takes no children: it has no <children/>"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("<Note/>", "1:1: <Note> needs the prop text"),
        ("<Note txt='a'/>", "1:7: <Note> takes no prop txt; did you mean text?"),
        ("<Note text='a'>b</Note>", "1:1: <Note> takes no children"),
        ("a <Box titel='a'/>", "1:8: <Box> takes no prop titel; did you mean title?"),
        ("<Note {...x}/>", "1:11: a spread needs a mapping of attributes, got int"),
        ("<Note text='a' {...{'text': 1}}/>", "1:20: the attribute text is given twice"),
    ],
)
def test_wrong_props_of_python_components(template: str, message: str) -> None:
    @component
    def box(children: Node, *, title: str = "-") -> Node:
        return [title, children]

    def note(*, text: str) -> Node:
        return text

    environment = Environment(components={"Box": box, "Note": note})
    with pytest.raises(TemplateError) as caught:
        environment.from_string(template)(x=1)
    assert f"{caught.value.line}:{caught.value.column}: {caught.value.message}" == message


def test_templates_in_python() -> None:
    box = Environment().from_string(
        "---\nprops:\n  title: str = '-'\n---\n{title}: <children/>", "box.priompt"
    )
    assert text(
        [box(title="a"), "|", box.component(title="b")["c", scope(p=1)["d"]], "|", box.component["e"]]
    ) == ("a: |b: cd|-: e")
    assert repr(box) == "<Template box.priompt>"
    assert box.__name__ == "box"


def test_children_stay_in_their_callers_scope() -> None:
    tree = nodes(
        '<component name="Box" props="x"><let name="y" value="inner"/>{x}<children/></component>'
        '<let name="y" value="outer"/><Box x="a">{y}</Box>'
    )
    assert tree == ["a", "outer"]


def test_components_know_their_own_props_only() -> None:
    with pytest.raises(TemplateError) as caught:
        nodes('<component name="Box">{x}</component><Box/>', x=1)
    assert caught.value.message == "x is not defined"


def test_nested_children() -> None:
    tree = nodes(
        '<component name="A">[<children/>]</component><component name="B">(<A><children/></A>)</component><B>x</B>'
    )
    assert "".join(tree) == "([x])"


# ------------------------------------------------------------------------------------------ props


def test_props_and_defaults() -> None:
    template = Environment().from_string(
        "---\nprops:\n  a: str\n  b: int = 2\n  c: list = [1, 'x']\n  d: dict?\n  e: float? = 1.5\n  f: any\n"
        "  g: bool = True\n---\n{[a, b, c, d, e, f, g] | json}"
    )
    assert template(a="A", f=None) == ['["A", 2, [1, "x"], null, 1.5, null, true]']
    assert template(a="A", b=3, c=(4,), d={"k": 1}, e=None, f="f", g=False) == [
        '["A", 3, [4], {"k": 1}, null, "f", false]'
    ]
    assert template.token_limit is None
    assert [prop.required for prop in template.front_matter.props or ()] == [
        True,
        False,
        False,
        False,
        False,
        True,
        False,
    ]


def test_front_matter() -> None:
    template = Environment().from_string(
        "---\ndescription: A chat\ntoken_limit: 100\ntokenizer: cl100k_base\nexamples:\n  short: {x: a}\n"
        "must_keep: [rules]\nlimits: [10, 20]\nwhitespace: keep\n---\n{x}"
    )
    front = template.front_matter
    assert (front.description, front.token_limit, front.tokenizer) == ("A chat", 100, "cl100k_base")
    assert (front.examples, front.must_keep, front.limits) == ({"short": {"x": "a"}}, ("rules",), (10, 20))
    assert front.whitespace == "keep"


# ------------------------------------------------------------------------------------------ functions


def double(value: int, times: int = 2) -> int:
    return value * times


@attrs.frozen
class Person:
    name: str
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("7 // 2 + 7 % 4 + 2 ** 3", 14),
        ("-2 ** 2", -4),
        ("1 < 2 <= 2 != 3", True),
        ("1 if [] else 2", 2),
        ("'a' in 'abc' and 2 not in [1]", True),
        ("[1, (2, {'a': None})] == [1, (2, {'a': None})]", True),
        ("[1] == (1,)", False),
        ("0 or 'x' or 1", "x"),
        ("1 and 0 and 2", 0),
        ("not None", True),
        ("None is None and 1 is not None", True),
        ("q is defined", False),
        ("q.a.b is not defined", True),
        ("q.a | default('d')", "d"),
        ("None | default('d')", "d"),
        ("p.name", "Ann"),
        ("p.tags[-1]", "b"),
        ("'abc'[::-1] + 'abc'[1:2]", "cbab"),
        ("[1, 2, 3][1:] == [2, 3]", True),
        ("len('abc') + len([1]) + ('ab' | length)", 6),
        ("turn(2)", -999_998),
        ("range(1, 10, 3) | join('-')", "1-4-7"),
        ("enumerate(['a', 'b'], 1) == [(1, 'a'), (2, 'b')]", True),
        ("zip([1, 2], 'x y' | split) == [(1, 'x'), (2, 'y')]", True),
        ("min(3, 1) + max([1, 5]) + sum([1, 2.5])", 9.5),
        ("min('b', 'a')", "a"),
        ("abs(-3) + round(2.5) + round(2.567, 2)", 7.57),
        ("sorted([3, 1, 2], reverse=True) == [3, 2, 1]", True),
        ("reversed('ab') + (reversed([1, 2]) | join)", "ba21"),
        ("str(1.0) + str(None) + str(True) + str('a')", "1.0NoneTruea"),
        ("int('12') + int(2.9) + int(True)", 15),
        ("float('1.5') + float(1)", 2.5),
        ("bool('') or bool([0])", True),
        ("json({'a': [1, None, 'ä']})", '{"a": [1, null, "ä"]}'),
        ("[1] | tojson(2)", "[\n  1\n]"),
        ("'ann lee' | capitalize", "Ann lee"),
        ("'ann lee' | title | upper | lower", "ann lee"),
        ("(' a ' | strip) + ('xax' | strip('x'))", "aa"),
        ("'aXbX' | replace('X', '--')", "a--b--"),
        ("'a,b' | split(',') | join(' ')", "a b"),
        ("'a\\nb\\r\\n' | lines | join('|')", "a|b"),
        ("'abcdef' | truncate(4)", "abc…"),
        ("'abcdef' | truncate(4, marker='')", "abcd"),
        ("'abc' | truncate(3)", "abc"),
        ("'abc' | truncate(1, '...')", "."),
        ("'a\\n\\nb' | indent(2)", "a\n\n  b"),
        ("'a\\nb' | indent(2, first=True)", "  a\n  b"),
        ("'  a\\n    b\\n' | dedent", "a\n  b\n"),
        ("first([1, 2]) + last([1, 2])", 3),
        ("first([]) is None", True),
        ("'a b c' | tokens", 3),
        ("'one two three four' | fit(3)", "one two …"),
        ("'one two three four' | fit(2, marker='', keep='tail')", " three four"),
        ("double(4) + (4 | double(times=3))", 20),
        ("'\\x41\\u00e4\\t\\\\'", "Aä\t\\"),
        ("1_000 + 1e3", 2000.0),
        ("{'a': {'b': 1}}['a'].b", 1),
    ],
)
def test_expressions(expression: str, expected: object) -> None:
    environment = Environment(functions={"double": double})
    found: Any = environment.from_string(f"{{[{expression}]}}")(p=Person("Ann", ("a", "b")))
    (value,) = found
    assert value == expected
    assert type(value) is type(expected)


def test_errors_of_registered_functions_keep_their_type() -> None:
    environment = Environment(functions={"fail": lambda: 1 / 0})
    with pytest.raises(ZeroDivisionError):
        environment.from_string("{fail()}")()


def test_undefined_is_none_where_that_is_asked_for() -> None:
    environment = Environment(strict=False)
    assert environment.from_string("{a}{b.c}{[1][3]}{m.x.y | default(2)}{a is defined}")(m={}) == [
        None,
        None,
        None,
        2,
        False,
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"components": {"box": len}}, "Environment() needs components with capitalised names, got 'box'"),
        (
            {"functions": {"a b": len}},
            "Environment() needs names of letters and digits for functions, got 'a b'",
        ),
        ({"functions": {"a": 1}}, "Environment() needs functions for functions, got a=1"),
    ],
)
def test_wrong_environments(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        Environment(**wrong)
    assert str(caught.value) == message


# ------------------------------------------------------------------------------------------ loading


def test_templates_are_parsed_once_and_again_when_they_change(tmp_path: Path) -> None:
    (tmp_path / "part.priompt").write_text("one", "utf-8")
    chat = tmp_path / "chat.priompt"
    chat.write_text('<import name="Part" from="./part"/><user><Part/></user>', "utf-8")
    environment = Environment(loader=FileLoader(tmp_path))
    still = Environment(loader=FileLoader(tmp_path), auto_reload=False)
    first_one = environment.get("chat")
    assert environment.get("chat.priompt") is first_one
    assert first_one() == still.get("chat")() == [user_message["one"]]
    (tmp_path / "part.priompt").write_text("two!", "utf-8")
    os.utime(tmp_path / "part.priompt", (1, 1))
    assert environment.get("chat")() == [user_message["two!"]]
    assert still.get("chat")() == [user_message["one"]]
    (tmp_path / "part.priompt").unlink()
    with pytest.raises(TemplateError):
        environment.get("chat")


def test_load_template(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "a.priompt").write_text('<import name="B" from="b"/><user><B/></user>', "utf-8")
    (folder / "b.priompt").write_text("{shout(1)}", "utf-8")
    with pytest.raises(TemplateError):
        load_template(folder / "a.priompt")
    environment = Environment(functions={"shout": "{}!".format})
    assert load_template(folder / "a.priompt", environment=environment)() == [user_message["1!"]]
    (folder / "b.priompt").write_text("b", "utf-8")
    assert load_template(str(folder / "a.priompt"))() == [user_message["b"]]
    assert load_template(folder / "a.priompt") is load_template(folder / "a.priompt")
    (tmp_path / "c.priompt").write_text('<import name="B" from="prompts/b"/><B/>', "utf-8")
    assert load_template(tmp_path / "c.priompt")() == ["b"]


def test_imports_need_a_loader() -> None:
    with pytest.raises(TemplateError) as caught:
        nodes('<import name="A" from="a"/>')
    assert caught.value.message == "there is no loader to import templates with: Environment(loader=…)"


def test_one_component_in_several_templates() -> None:
    environment = Environment(
        loader=DictLoader(
            {
                "a": '<import name="C" from="c"/><import name="B" from="sub/b"/><C/><B/>',
                "sub/b": '<import name="C" from="../c"/><import name="D" from="./d"/><C/><D/>',
                "sub/d": "d",
                "c": "c",
            }
        )
    )
    assert environment.get("a")() == ["c", "c", "d"]
    assert environment.get("c") is environment.get("a").link.imports["C"]


def test_many_threads_share_a_template() -> None:
    environment = Environment(loader=DictLoader({"a": "<for each='i' in={range(n)}>{i}</for>"}))
    found: list[Any] = []

    def use(number: int) -> None:
        found.append((number, len(environment.get("a")(n=number))))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(number, number) for number in range(20)]


def test_evaluating_twice_gives_the_same_and_changes_nothing() -> None:
    template = Environment().from_string("<user>\n  <for each='i' in={xs}>\n    {i}\n  </for>\n</user>")
    values = [1, 2]
    assert template(xs=values) == template(xs=values)
    assert values == [1, 2]


def test_syntax_is_data() -> None:
    parsed = parse_template("<user name='a'>\n  {x}\n</user>")
    user: Any = parsed.nodes[0]
    assert (user.start, user.name) == (0, "user")
    assert parsed.source.location(user.children[1].start).line == 2
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        user.name = "b"
    assert hash(parsed.nodes) == hash(parse_template("<user name='a'>\n  {x}\n</user>").nodes)


def test_counts_with_the_environments_tokenizer() -> None:
    environment = Environment(tokenizer=CharTokenizer())
    assert environment.from_string("{'abc' | tokens}")() == [3]
    by_name = environment.from_string("---\ntokenizer: o200k_base\n---\n{'abc' | tokens}")
    assert by_name() == [1]


def test_a_prop_named_self() -> None:
    template = Environment().from_string("{self}{run}{props}")
    assert template(self=1, run=2, props=3) == [1, 2, 3]


def test_a_template_object_as_a_component_takes_children() -> None:
    box = Environment().from_string("[<children/>]{self}", "box")
    outer = Environment(components={"Box": box}).from_string("<Box self={1}>a<br/></Box><Box self={2}/>")
    with_children, without = outer()
    assert with_children.function([*with_children.children], **with_children.kwargs) == ["[", "a", br, "]", 1]
    assert without.function([], **without.kwargs) == ["[", "]", 2]
