"""Templates in place, and template strings."""

from __future__ import annotations

from typing import Any, cast

import attrs
import pytest

from priompt_py.author.messages import system_message, user_message
from priompt_py.author.tags import br, scope
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, TemplateError, TemplateSyntaxError
from priompt_py.template.environment import Environment
from priompt_py.template.markup import markup


@attrs.frozen
class Interpolation:
    value: Any
    expression: str = "x"
    conversion: str | None = None
    format_spec: str = ""


class TemplateString:
    """As PEP 750 has it: texts, and values between them."""

    def __init__(self, *parts: str | Interpolation) -> None:
        self.strings = tuple(part for part in parts if isinstance(part, str))
        self.interpolations = tuple(part for part in parts if isinstance(part, Interpolation))


def test_values_by_name() -> None:
    assert markup("<system>Hi {name}</system>", name="A") == [system_message["Hi ", "A"]]
    environment = Environment(functions={"shout": str.upper})
    assert markup("{shout(name)}", environment=environment, name="a") == ["A"]


def test_a_template_string() -> None:
    given = TemplateString("<system>Hi ", Interpolation("</system>{x} &lt;"), "</system>{not code}&lt; }")
    assert markup(given) == [system_message["Hi ", "</system>{x} &lt;"], "{not code}< }"]


def test_values_in_attributes() -> None:
    given = TemplateString(
        "<scope p=",
        Interpolation(5),
        ' name="turn ',
        Interpolation(3.14159, format_spec=".2f"),
        " {x}\" key='",
        Interpolation("a", conversion="r"),
        "'>",
        Interpolation([scope["a"], br]),
        "</scope>",
    )
    assert markup(given) == [scope(p=5, name="turn 3.14 {x}", key="'a'")[scope["a"], br]]


def test_the_text_is_parsed_once() -> None:
    made = [markup(TemplateString("<user>", Interpolation(number), "</user>")) for number in range(3)]
    assert made == [[user_message[0]], [user_message[1]], [user_message[2]]]


def test_raw_text_in_a_template_string() -> None:
    assert markup(TemplateString("<raw>{a} <b></raw>")) == ["{a} <b>"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            ("<for each='x' in=", Interpolation([1]), ">a</for>"),
            "<markup>:1:1: <for> is not for template strings: Python has it",
        ),
        (("<let name='x' value='1'/>",), "<markup>:1:1: <let> is not for template strings: Python has it"),
        (
            ("a\n<component name='A'>b</component>",),
            "<markup>:2:1: <component> is not for template strings: Python has it",
        ),
        (
            ("<", Interpolation("user"), ">a</user>"),
            '<markup>:1:1: a lone `<`: as text it is written &lt; or {"<"}',
        ),
        (
            ("<user {x}>a</user>",),
            "<markup>:1:7: `\ufdd0x\ufdd1` is no name of an attribute: it has letters, digits, _ and -",
        ),
        (
            ("---\nprops: {}\n---\n", Interpolation("a"), ""),
            "<markup>:1:1: props are not for template strings: their values are in them",
        ),
        (
            ("---\n", Interpolation("props: {}"), "\n---\n"),
            (
                "<markup>:2:1: the front matter takes no x; it takes props, description, token_limit, tokenizer, "
                "examples, must_keep, limits, whitespace"
            ),
        ),
        (("a\ufdd0",), "<markup>: the text holds the noncharacter U+FDD0 or the next"),
    ],
)
def test_wrong_template_strings(parts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        markup(TemplateString(*parts))
    assert str(caught.value).split("\n")[0] == message.replace("\ufdd0", "{").replace("\ufdd1", "}")


def test_wrong_calls() -> None:
    with pytest.raises(ArgumentTypeError) as wrong_type:
        markup(cast("str", 3))
    assert str(wrong_type.value) == "markup() needs a text or a template string, got an int"
    with pytest.raises(ArgumentValueError) as wrong_value:
        markup(TemplateString("a"), x=1)
    assert str(wrong_value.value) == "markup() takes the values of a template string from it alone, got x"
    with pytest.raises(TemplateError) as undefined:
        markup("{x}")
    assert undefined.value.message == "x is not defined"


def test_values_in_raw_text() -> None:
    given = TemplateString("<user><raw>", Interpolation("{v}<b>&lt;"), "</raw></user>")
    assert markup(given) == [user_message["{v}<b>&lt;"]]
    given = TemplateString(
        "<raw whitespace='keep'>{a}", Interpolation(3), "<b> \ua66e0", Interpolation(4), "</raw>"
    )
    assert markup(given) == ["{a}", 3, "<b> \ua66e0", 4]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            ("<scope ", Interpolation(1, "foo.bar"), ">a</scope>"),
            (
                "<markup>:1:8: a value without a name: write name={foo.bar}, or {...foo.bar} for a mapping of attributes\n"
                "    <scope {foo.bar}>a</scope>\n           ^"
            ),
        ),
        (
            ("<scope ", Interpolation(1, ""), ">a</scope>"),
            (
                "<markup>:1:8: a value without a name: write name={…}, or {...…} for a mapping of attributes\n"
                "    <scope {…}>a</scope>\n           ^"
            ),
        ),
        (
            ("a", Interpolation("b", "long_name"), "b<scope p=", Interpolation("q", "name"), ">a</scope>"),
            (
                "<markup>:1:21: <scope> needs a number for p, got p='q' (str)\n"
                "    a{long_name}b<scope p={name}>a</scope>\n                        ^"
            ),
        ),
    ],
)
def test_messages_show_the_code_of_values(parts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        markup(TemplateString(*parts))
    assert str(caught.value) == message


def test_any_name_of_a_prop() -> None:
    assert markup("{self}{environment}{template}", self=1, environment=2, template=3) == [1, 2, 3]
    assert markup("{environment}", environment=None) == [None]
    environment = Environment(functions={"shout": str.upper})
    assert markup("{shout(environment)}", environment, environment="a") == ["A"]
