"""What the tables of the other files don't reach."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import pydantic
import pytest

from priompt_py.author.tags import br, first, isolate, scope
from priompt_py.errors import TemplateError
from priompt_py.template.collector import without_collections
from priompt_py.template.environment import Environment
from priompt_py.template.expressions import BadExpressionError, parse_expression
from priompt_py.template.nodes import around_each, is_nothing, settle
from priompt_py.template.source import near, one_line, shared_start


def evaluated(expression: str, **props: Any) -> Any:
    nodes = Environment().from_string(f"{{[{expression}]}}")(**props)
    return nodes[0]


def fault(expression: str, **props: Any) -> str:
    with pytest.raises(TemplateError) as caught:
        evaluated(expression, **props)
    return caught.value.message


class Model(pydantic.BaseModel):
    name: str = "n"

    @property
    def secret(self) -> str:
        raise AssertionError("a property was read")


class Truthless:
    def __bool__(self) -> bool:
        raise ValueError("several values")


class Pair(NamedTuple):
    left: int = 1


def test_fields_of_models() -> None:
    assert evaluated("m.name", m=Model()) == "n"
    assert fault("m.secret", m=Model()) == (
        "a tests.template.test_small_things.Model has no field secret; there are name"
    )
    assert evaluated("m.left", m=Pair()) == 1


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("len(None)", "None has no length"),
        ("abs('a')", "abs needs a number, got a str"),
        ("turn(None)", "turn needs a whole number, got None"),
        ("range(0, 1, 0)", "the step of range can't be 0"),
        ("round(1, 500)", "round needs between -400 and 400 digits"),
        ("int([])", "int needs a text or a number, got a list"),
        ("float([])", "float needs a finite number, got a list"),
        ("float('inf')", "float needs a finite number, got 'inf'"),
        ("sum([1e308, 1e308])", "the number is too large"),
        ("1e308 * 10", "the number is too large"),
        ("'a' - 'b'", "`-` can't be applied to a str and a str"),
        ("None + 1", "`+` can't be applied to None and an int"),
        ("True + 1", "`+` can't be applied to a bool and an int"),
        ("json(deep)", "json can't write this value: it is nested more than 100 deep"),
        ("json(wrong)", "json can't write this value: Out of range float values are not JSON compliant"),
        (
            "1 if truthless else 2",
            "a tests.template.test_small_things.Truthless is neither true nor false: several values",
        ),
        ("[x for x in y]", 'there are no comprehensions; write <for each="…" in={…}>'),
        ("data[1]", "a bytes has no items"),
        ("data[1:]", "a bytes can't be sliced"),
        ("1 in data", "nothing can be in a bytes"),
        ("[1] | indent", "indent needs a text, got a list"),
        ("first(None)", "None has no first and last item"),
        ("'a' | replace(1, 2)", "replace needs a text, got an int"),
    ],
)
def test_faults(expression: str, message: str) -> None:
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    found = fault(expression, deep=deep, wrong=[float("nan")], truthless=Truthless(), data=b"ab")
    assert found.removesuffix(": nan") == message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2 in range(3)", True),
        ("'a' in range(3)", False),
        ("'k' in {'k': 1}", True),
        ("[] in {'k': 1}", False),
        ("'x' in tags", True),
        ("sorted(tags) | join", "xy"),
        ("len(tags)", 2),
        ("{'a': [1]} == {'a': [1]}", True),
        ("{'a': 1} == {'b': 1}", False),
        ("[1, 2] == [1]", False),
        ("[1] * 2 == [1, 1]", True),
        ("(1,) + (2,) == (1, 2)", True),
        ("2 * 'ab'", "abab"),
        ("+3 - -2", 5),
        ("3 != 4 and 4 >= 4 and not 3 > 4", True),
        ("'abc' < 'abd'", True),
        ("json({'a': 1.5, '2': None, 'b': True})", '{"a": 1.5, "2": null, "b": true}'),
        ("range(3)[1]", 1),
        ("range(5)[1:3] | join", "12"),
        ("({1: 'a'})[1]", "a"),
        ("'a\\x0ab' | lines | len", 2),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert evaluated(expression, tags={"x", "y"}) == expected


def test_blanks_around_alternatives_of_all_kinds() -> None:
    given = [first["a", "b"], isolate(token_limit=3)["c"], scope(prel=2)["d"], br(prel=1), None]
    made = settle(around_each(given, " ", "\n"))
    assert made == [
        first[scope[" ", "a", "\n"], scope[" ", "b", "\n"]],
        isolate(token_limit=3)[" ", "c", "\n"],
        scope(prel=2)[" ", "d", "\n"],
        scope(prel=1)[" ", br, "\n"],
        None,
    ]


ODD_YAML = """
"a: "\\U99999999""
"!!bool x"
"!!int ''"
"!!int x"
"!!float x"
"!!binary x"
"!!timestamp x"
"!!set {a, b}"
"!!omap [a]"
"!!pairs [a]"
"!!python/name:os.system"
"!custom 1"
"? [a]\\n: b"
"{[1]: 2}"
"{{}: 2}"
"<<: 3"
"<<: [a]"
"2024-13-01: 3"
"2024-02-30"
"a: 2024-13-01"
"a: 1:99:99"
"a: 0b"
"a: 0x"
"a: .inf"
"a: 1e999"
"a: 99999999999999999999999999999999999"
"props: {1: str}"
"props: {a: [str]}"
"props: {a: null}"
"props: {null: str}"
"props: {a: 'str = {1: 2}'}"
"props: {a: '? = 1'}"
"props: {a: ''}"
"examples: {1: {}}"
"examples: {a: [1]}"
"token_limit: true"
"token_limit: 1.0"
"%YAML 3.0"
"%TAG ! x"
"a: |"
"- ? :"
"a: *b"
"a: &b"
"a: 'b"
"\\tb: c"
"a: b: c"
"...\\na"
""".strip().splitlines()


@pytest.mark.parametrize("line", ODD_YAML)
def test_odd_front_matter(line: str) -> None:
    text = line[1:-1].replace("\\n", "\n").replace("\\t", "\t")
    with pytest.raises(TemplateError) as caught:
        Environment().from_string(f"---\n{text}\n---\n")
    assert caught.value.line is not None
    assert 1 <= caught.value.line <= 4


def test_nothing() -> None:
    assert is_nothing(scope[None, "", first[False]])
    assert not is_nothing(scope[br])
    assert not is_nothing(0)


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with without_collections():
        assert not gc.isenabled()
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_texts_of_messages() -> None:
    assert one_line("a\n  b" + "c" * 50, 10) == "a bcccccc…"
    assert near("a" * 100, ["a"]) == ""
    assert near("NAME", ["name"]) == "; did you mean name?"
    assert (shared_start([]), shared_start(["ab", "abc", "a"]), shared_start(["b", "a"])) == ("", "a", "")


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("'a' 'b", 4, "the text that begins with ' is not closed on its line"),
        ("a # b", 2, "`#` is not part of expressions: a comment is written {# … #}"),
        ("a is b", 2, "`is` asks `is None`, `is not None`, `is defined` and `is not defined`"),
        ("a | b + 1", 6, "a filter binds less than `+`: write (value | filter) + …"),
        ("{1: 2: 3}", 5, "`:` stands in slices and mappings only"),
        ("a else b", 2, "it is written `value if test else other`"),
        ("a >> b", 2, "shifts are not part of expressions"),
    ],
)
def test_expressions_that_are_none(text: str, at: int, message: str) -> None:
    with pytest.raises(BadExpressionError) as caught:
        parse_expression(text)
    assert (caught.value.at, caught.value.message) == (at, message)
