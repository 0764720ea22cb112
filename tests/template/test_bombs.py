"""Templates that would take much time or memory are refused, at their place, before they do."""

from __future__ import annotations

import time
from typing import Any

import pytest

from priompt_py.author.tags import br, scope
from priompt_py.errors import TemplateError, TemplateSyntaxError
from priompt_py.model.elements import Scope
from priompt_py.template.bounds import Bounds
from priompt_py.template.environment import Environment
from priompt_py.template.lint import lint_template
from priompt_py.template.nodes import Sizes, size_of_tree
from priompt_py.template.values import expanded_size
from tests.template.test_speed import SLACK

_SHARED = "<let name='a0' value={[1,2]}/>\n" + "".join(
    f"<let name='a{i}' value={{[a{i - 1},a{i - 1}]}}/>\n" for i in range(1, 31)
)


def said(template: str, environment: Environment | None = None, **props: Any) -> str:
    began = time.process_time()
    with pytest.raises(TemplateError) as caught:
        (environment or Environment()).from_string(template, "t")(**props)
    assert time.process_time() - began < 10 * SLACK  # seconds and much memory more, without the bounds
    return str(caught.value).partition("\n")[0]


@pytest.mark.parametrize(
    ("tag", "column"),
    [
        ("<config extra={{'a':a30}}/>", 16),
        ("<part provider='p' data={a30}/>", 26),
        ("<tool_definition name='a' parameters={{'a':a30}}/>", 39),
        ("<assistant tool_calls={a30}>a</assistant>", 24),
        ("<config {...{'extra': {'a': a30}}}/>", 13),
    ],
)
def test_bombs_of_shared_data(tag: str, column: int) -> None:
    assert said(_SHARED + tag) == f"t:32:{column}: the template takes more than 1,000,000 steps"


def test_the_size_of_a_tree() -> None:
    known: Sizes = {}
    twice = scope[["ab", br]]
    assert size_of_tree(scope[[twice, twice, "c", None, 1]], known) == (10, 5)
    assert [count for _, count, _ in known.values()] == [3, 10]
    assert size_of_tree(twice, known) == (3, 2)
    assert size_of_tree("abc", known) == (1, 3)
    assert size_of_tree(br, known) == (1, 0)
    deep: Scope = scope["x"]
    for _ in range(200):
        deep = scope[[deep, deep]]
    assert size_of_tree(deep, {}) == (3 * 2**200 - 1, 2**200)


def test_the_size_of_data() -> None:
    shared = ["ab", "ab"]
    assert expanded_size("abc") == (1, 3)
    assert expanded_size(shared) == (3, 4)
    assert expanded_size({"k": [shared, shared], "m": (None,)}) == (12, 10)
    ring: list[Any] = [1]
    ring.append(ring)
    assert expanded_size(ring) == (3, 0)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert expanded_size(deep) == (100_001, 0)


@pytest.mark.parametrize(
    "template",
    [
        f"a\n<for each='a' in={{range(100000)}}>{'x' * 1000}</for>",
        f"a\n<for each='a' in={{range(1000)}}><tool_definition name='a{{a}}' description='{'x' * 100000}{{a}}'/></for>",
        f"a\n<for each='a' in={{range(1000)}}><let name='b' value='{'x' * 100000}{{a}}'/></for>",
    ],
)
def test_literal_text_is_bound(template: str) -> None:
    assert said(template) == "t:2:1: the template makes more than 32,000,000 characters"


_TWICE = "<component name='A'><scope><children/></scope><scope><children/></scope></component>"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        # Each call has two of what it is given, in elements: 2 ** 40 leaves, of which few are made.
        (
            f"{_TWICE}{'<A>' * 40}x{'</A>' * 40}",
            "1:28: the children stand too often in it: the template takes more than 100,000 steps",
        ),
        (
            f"<component name='A'><children/><children/></component>{'<A>' * 40}x{'</A>' * 40}",
            "1:32: the children stand too often in it: the template takes more than 100,000 steps",
        ),
        (
            f"{_TWICE}{'<A>' * 3}{'x' * 400_000}{'</A>' * 3}" + "<A>y</A>" * 10,
            "",
        ),
        (
            "<for each='i' in={range(1000)}>\n{page}</for>",
            "2:2: the template takes more than 100,000 steps",
        ),
        (
            "<for each='i' in={range(100)}>\n<excerpt text={lines} keep='head'/></for>",
            "2:1: the template takes more than 100,000 steps",
        ),
        (
            "<for each='i' in={range(1000)}>\n<excerpt text='" + "a\n" * 500 + "' keep='head'/></for>",
            "2:1: the template takes more than 100,000 steps",
        ),
        ("<excerpt text={lines * 200} keep='head'/>", "1:1: the template takes more than 100,000 steps"),
        (
            "<excerpt {...{'text': lines * 200, 'keep': 'head'}}/>",
            "1:1: the template takes more than 100,000 steps",
        ),
    ],
)
def test_trees_that_are_shared(template: str, expected: str) -> None:
    page = scope[[scope["a"]] * 500]
    if expected:
        environment = Environment(bounds=Bounds(steps=100_000))
        assert said(template, environment, page=page, lines="a\n" * 3_000) == f"t:{expected}"
    else:
        assert Environment().from_string(template)() is not None


def test_literal_text_up_to_the_bound() -> None:
    environment = Environment(bounds=Bounds(text=6))
    assert environment.from_string("abc<if test={True}>def</if>")() == ["abc", "def"]
    assert (
        said("abc<if test={True}>defg</if>", environment)
        == "t:1:4: the template makes more than 6 characters"
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            "('ab'*5000000)|fit(100000)",
            "17: fit takes words of at most 100,000 characters: a word is longer",
        ),
        ("('a'*1000000)|tokens", "16: tokens takes words of at most 100,000 characters: a word is longer"),
        (
            "(' '*1000000)|tokens",
            "16: tokens takes words of at most 100,000 characters: a run of blanks is longer",
        ),
        (
            "('a b'*9000+'a'*100001+' ')|tokens",
            "30: tokens takes words of at most 100,000 characters: a word is longer",
        ),
    ],
)
def test_long_words(expression: str, expected: str) -> None:
    assert said(f"{{{expression}}}") == f"t:1:{expected}"


def test_a_large_text_that_is_cut_to_fit() -> None:
    environment = Environment()
    text = "several common words and more " * 150_000  # 4.5 MB
    for keep in ("head", "tail", "ends"):
        began = time.process_time()
        environment.from_string("{text | fit(1_100_000, keep=keep)}")(text=text, keep=keep)
        assert time.process_time() - began < 10 * SLACK  # 1 s
    assert said("{text | fit(100)}", text=text * 4) == "t:1:9: the template takes more than 1,000,000 steps"


def test_words_up_to_the_bound() -> None:
    environment = Environment()
    assert environment.from_string("{('a b '*20000)|tokens}")() == [40_001]
    (count,) = environment.from_string("{(' ' + 'a'*100000 + ' ')|tokens}")()
    assert 10_000 < count < 20_000


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            f"---\nprops: {'[' * 10_000}\n---\n",
            "2:108: the front matter is nested more than 100 brackets deep",
        ),
        (
            f"---\ndescription: {'a' * 100_000}\n---\n",
            "2:1: the front matter has at most 100,000 characters, this one 100,014",
        ),
        ("{" * 35_000, '1:1: the `{` is not closed with a `}`; as text it is written {"{"} or &lbrace;'),
        ("{#" * 35_000, "1:1: the comment is not closed with #}"),
        ("{#" * 200_000, "1:70001: the template has more than 35,000 `<` and `{`"),
        (
            "{'" + "a" * 400_000,
            "1:2: the text that begins with ' is not closed on its line, inside the { of line 1",
        ),
        ("a" * 500_001, "1:500001: the template has more than 500,000 characters"),
        (
            "".join(f"{{a+{number}}}" for number in range(30_000)),
            "1:131740: the template has more than 100,000 characters of different expressions",
        ),
        ("{1}" * 100_000, "1:105001: the template has more than 35,000 `<` and `{`"),
        ("<scope>a</scope>\n" * 25_000, "17501:1: the template has more than 35,000 `<` and `{`"),
    ],
)
def test_bombs_of_syntax(template: str, expected: str) -> None:
    assert said(template) == f"t:{expected}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "first"),
    [
        ("".join(f"{{f{number}()}}" for number in range(5_000)), "1:2: there is no function f0"),
        (
            "".join(f"<scop{number}/>" for number in range(20_000)),
            "1:1: there is no <scop0>; did you mean scope?",
        ),
        (
            "".join(f"<A{number}/>" for number in range(20_000)),
            "1:1: there is no component <A0>: import it, define it, or give it as Environment(components=…)",
        ),
        (
            "<scope " + " ".join(f"a{number}" for number in range(8_000)) + "/>",
            "1:8: <scope> takes no attribute a0; it takes p, prel, name, key, on_include, on_eject, whitespace",
        ),
        (
            "<Foo" + " a" * 200_000 + "/>",
            "1:1: there is no component <Foo>: import it, define it, or give it as Environment(components=…)",
        ),
        (
            "---\n" + "".join(f"a{number}: 1\n" for number in range(3_000)) + "---\n",
            (
                "2:1: the front matter takes no a0; it takes props, description, token_limit, tokenizer, examples, "
                "must_keep, limits, whitespace"
            ),
        ),
        (
            "---\nprops:\n" + "".join(f"  a{number}: b\n" for number in range(3_000)) + "---\n",
            (
                "3:3: the type of a0 is one of str, int, float, bool, list, dict, any, then ? if it is optional, "
                "then = and a default; got b"
            ),
        ),
        ("</user>" * 20_000, "1:1: </user> closes nothing: no <user> is open"),
        (
            "---\nprops: {}\n---\n" + "".join(f"{{a{number}}}" for number in range(20_000)),
            "4:2: a0 is not defined",
        ),
    ],
)
def test_after_many_errors_no_more_are_looked_for(template: str, first: str) -> None:
    began = time.process_time()
    found = lint_template(template, "t")
    assert (
        time.process_time() - began < 10 * SLACK
    )  # seconds; without the bound some take longer, and all much memory
    assert str(found[0]) == f"t:{first}"
    assert 90 <= len(found) <= 110


def test_what_stands_too_deep_is_not_read() -> None:
    found = lint_template("<user>" * 20_000 + "</usr>", "t")
    assert [str(one) for one in found] == ["t:1:601: elements stand more than 100 deep in each other"]


def test_many_props_of_a_component() -> None:
    names = ",".join(f"a{number}" for number in range(20_000))
    began = time.process_time()
    environment = Environment()
    environment.from_string(f"<component name='A' props='{names}'></component>")
    assert said(f"<component name='A' props='{names},a7'></component>") == "t:1:21: the prop a7 stands twice"
    assert time.process_time() - began < 10 * SLACK  # a minute, if each is compared with each


def test_what_is_read_again_is_bound() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Environment().from_string("{" * 20 + "{1}" * 10_000)
    assert len(caught.value.errors) == 1


def test_the_bound_of_code() -> None:
    environment = Environment(bounds=Bounds(code=8))
    good = (
        "{a+1}<br key={a+1}/>{a}{12345}{aaaaaaaaaaaa}{a+2}<raw>{a + b + c}</raw><br key='long text {a+2}'/>"
    )
    assert environment.from_string(good) is not None
    for wrong, place in (
        ("{1+1}{1+2}{1+3}", "1:12"),
        ("<br key={1+1}/><Foo {...1+3456}/>", "1:25"),
        ("<scope name='{1+1234567}'>a</scope>", "1:14"),
        ("<scope name ={'12345678'}>a</scope>", "1:15"),
        ("<raw a={1+1} b={2+2} c={1+1} d={3+3}></raw>", "1:33"),
    ):
        expected = f"t:{place}: the template has more than 8 characters of different expressions"
        assert said(wrong, environment) == expected


def test_the_bound_of_tags() -> None:
    environment = Environment(bounds=Bounds(tags=3))
    assert environment.from_string("---\nprops: {a: int=1}\n---\n<br/>{a}{a}")() is not None
    expected = "t:1:10: the template has more than 3 `<` and `{`"
    assert said("{1}{1}{1}{1}", environment) == expected
    assert [str(one) for one in lint_template("{1}{1}{1}{1}", "t", environment=environment)] == [expected]


def test_a_function_that_raises_says_where() -> None:
    def f(x: int) -> float:
        return 1 / (x - 1)

    environment = Environment(functions={"f": f})
    for template, place in (
        ("a\n  {f(1)}", "2:4"),
        ("<component name='A' props='a'>\n<scope p={[f(a)]}>a</scope></component><A a={1}/>", "2:12"),
    ):
        with pytest.raises(ZeroDivisionError) as caught:
            environment.from_string(template, "t")()
        notes = [note for note in caught.value.__notes__ if note.startswith("in f()")]
        assert notes == [f"in f() at t:{place}"]


def test_one_exception_gets_one_note() -> None:
    wrong = KeyError("k")

    def f() -> None:
        raise wrong

    template = Environment(functions={"f": f}).from_string("{f()}", "t")
    for _ in range(2):
        with pytest.raises(KeyError) as caught:
            template()
        assert caught.value is wrong
    assert wrong.__notes__ == ["in f() at t:1:2"]
