"""A template of 5,000 scopes: parsed in half a second, evaluated about as fast as Python builds the tree."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from priompt_py.author.messages import user_message
from priompt_py.author.tags import scope
from priompt_py.template.environment import Environment, parse_template
from priompt_py.template.expressions import parse_expression

SCOPES = 5_000
SLACK = 5 if sys.gettrace() is not None else 1
"""Measuring coverage makes Python some times slower."""
WRITTEN = (
    "<user>\n"
    + "".join(
        f'<scope p={{{number}}} name="line {number}">\n  {number}: {{text}}\n</scope>\n'
        for number in range(SCOPES)
    )
    + "</user>\n"
)
LOOP = (
    '<user>\n<for each="line" index="number" in={lines}>\n<scope p={number} name="line {number}">\n'
    "  {number}: {line}\n</scope>\n</for>\n</user>\n"
)


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of five runs."""
    found: list[float] = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def in_python(lines: list[str]) -> Any:
    return user_message[
        [
            scope(p=number, name=f"line {number}")[f"{number}: ", line, "\n"]
            for number, line in enumerate(lines)
        ]
    ]


@pytest.mark.slow
def test_parsing() -> None:
    parse_expression("1 + 1")
    assert seconds(lambda: parse_template(WRITTEN)) < 0.5 * SLACK


@pytest.mark.slow
def test_evaluating() -> None:
    lines = [f"text {number}" for number in range(SCOPES)]
    python = seconds(lambda: in_python(lines))
    written = Environment().from_string(WRITTEN)
    assert len(written(text="x")[0].children) == SCOPES
    assert seconds(lambda: written(text="x")) - python < 0.05 * SLACK
    loop = Environment().from_string(LOOP)
    assert seconds(lambda: loop(lines=lines)) - python < 0.05 * SLACK


def test_an_expression_is_parsed_once_for_each_text() -> None:
    text = "a + b * [1, 2, 3][0]"
    assert parse_expression(text) is parse_expression(text)
