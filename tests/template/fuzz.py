"""Random and mutated templates: nothing but our own errors, and no hanging. By hand, for as long as you like:

python -m tests.template.fuzz --inputs 1000000 --seed 1
python -m tests.template.fuzz --atheris -max_total_time=300
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from typing import Any

from priompt_py.errors import PromptError, TemplateError
from priompt_py.template.bounds import Bounds
from priompt_py.template.environment import Environment
from priompt_py.template.format import format_template
from priompt_py.template.lint import lint_template
from tests.template.strategies import BOX, PROPS
from tests.template.test_errors import TEMPLATES as EVALUATED
from tests.template.test_syntax_errors import FRONT_MATTER, TEMPLATES
from tests.template.test_whitespace import TABLE

ENVIRONMENT = Environment(bounds=Bounds(steps=3_000, loop=100, text=20_000))
SECONDS = 2
"""No input may take longer, in CPU time."""

PIECES = [
    *"<>/{}\"'=&;|.,:()[]!#*-+%\\ \n\t\r\0 aZ_09é😀\ufeff\ufdd0\ud800",
    *[
        "<user>",
        "</user>",
        "<scope",
        "</scope>",
        "<if",
        "<else/>",
        "<elif",
        "</if>",
        "<for",
        "</for>",
        "<raw>",
        "</raw>",
        "<let",
        "<br/>",
        "<Box",
        "</Box>",
        "/>",
    ],
    *[
        "<component",
        "</component>",
        "<import",
        "<children/>",
        "<first>",
        "</first>",
        "<fallback>",
        "</fallback>",
        "<isolate",
        "<empty",
        "<image",
    ],
    *[
        "p={1}",
        'prel="2"',
        "test={x}",
        'each="i"',
        "in={xs}",
        'name="a"',
        "value={k}",
        'whitespace="keep"',
        'whitespace="jsx"',
        "{...m}",
    ],
    *[
        "{x}",
        "{#",
        "#}",
        "{/*",
        "*/}",
        "{/*",
        "-->",
        "<!--",
        "---",
        "&lt;",
        "&#10;",
        "&#x110000;",
        "{{",
        "}}",
        "{%",
        "%}",
        "<|",
        "|>",
    ],
    *[
        "x",
        "xs",
        "m.a",
        "m['a']",
        "k",
        "if",
        "else",
        "for",
        "in",
        "is",
        "not",
        "and",
        "or",
        "None",
        "True",
        "defined",
        "lambda",
        "==",
        "!=",
        "<=",
        "**",
        "//",
        "1e9",
        "10**9",
    ],
    *[
        "range(9)",
        "len(xs)",
        "x|upper",
        "|default(1)",
        "|fit(3)",
        "|json",
        "|join",
        "|truncate(2)",
        "f(a=1)",
        "[1,2]",
        "{'a':1}",
        "(1,)",
        "1:2",
    ],
    "---\n",
    "---\nprops:\n  x: str\n---\n",
    "!!bool ",
    "!!int ",
    "<<: ",
    "2024-13-01 ",
    "? ",
    "token_limit: 5\n",
    BOX,
]
CORPUS = [
    *(template for template, _ in (*TEMPLATES, *FRONT_MATTER)),
    *(template for template, _, _ in EVALUATED),
    *(template for _, template, _, _ in TABLE),
]


def mutated(source: random.Random) -> str:
    """A template from the tables of the tests, changed here and there, or made of pieces."""
    if source.random() < 0.25:
        return "".join(source.choice(PIECES) for _ in range(source.randint(1, 30)))
    text = source.choice(CORPUS)
    for _ in range(source.randint(1, 4)):
        at = source.randint(0, len(text))
        end = min(len(text), at + source.randint(0, 6))
        kind = source.random()
        if kind < 0.4:
            text = text[:at] + source.choice(PIECES) + text[at:]
        elif kind < 0.6:
            text = text[:at] + text[end:]
        elif kind < 0.75:
            text = text[:at] + source.choice(PIECES) + text[end:]
        elif kind < 0.9:
            other = source.choice(CORPUS)
            cut = source.randint(0, len(other))
            text = text[:at] + other[cut : cut + 40] + text[at:]
        else:
            text = text[:at] + text[at:end] * source.randint(2, 20) + text[end:]
    return text


def check(text: str, *, thorough: bool = False) -> bool:
    """Parse and evaluate; True if that went well. Raises what is none of our errors, and for what takes too long."""
    start = time.process_time()
    went_well = False
    try:
        template = ENVIRONMENT.from_string(text)
    except TemplateError as error:
        _check_error(error, text)
    else:
        try:
            template(**PROPS)
            went_well = True
        except PromptError as error:
            _check_error(error, text)
        if thorough:
            formatted = format_template(text)
            assert format_template(formatted) == formatted, text
    if thorough:
        lint_template(text, environment=ENVIRONMENT)
    assert time.process_time() - start < SECONDS, f"took too long: {text!r}"
    return went_well


def _check_error(error: PromptError, text: str) -> None:
    assert str(error), text
    if isinstance(error, TemplateError):
        assert error.line is not None or "prop" in error.message or "nested" in error.message, text


def main() -> None:
    """Run as the module's docstring says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true")
    given, rest = parser.parse_known_args()
    if given.atheris:
        fuzz_with_atheris([sys.argv[0], *rest])
        return
    source = random.Random(given.seed)
    check("{1 + x | json}", thorough=True)  # makes the parsers
    start = time.perf_counter()
    well = 0
    for number in range(given.inputs):
        text = mutated(source)
        try:
            well += check(text, thorough=number % 10 == 0)
        except BaseException:
            print(f"input {number}: {text!r}", flush=True)
            raise
    seconds = time.perf_counter() - start
    print(f"{given.inputs:,} inputs in {seconds:.0f} s; {well:,} were templates that could be evaluated")


def fuzz_with_atheris(arguments: list[str]) -> None:
    """Let atheris choose the inputs, by the code that they reach. It is no dependency: install it by hand."""
    import importlib

    atheris: Any = importlib.import_module("atheris")
    for name in [one for one in sys.modules if one.startswith(("priompt_py.template", "tests.template"))]:
        del sys.modules[name]
    with atheris.instrument_imports(include=["priompt_py.template"]):
        watched: Any = importlib.import_module("tests.template.fuzz")

    def one(data: bytes) -> None:
        watched.check(data.decode("utf-8", "surrogateescape"))

    atheris.Setup(arguments, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
