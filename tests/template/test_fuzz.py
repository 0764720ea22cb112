"""Random input: nothing but our own errors, quickly."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from priompt_py.template.format import format_template
from priompt_py.template.lint import lint_template
from tests.template.fuzz import PIECES, check, mutated
from tests.template.strategies import PROPS, templates


@given(st.text())
def test_any_text(text: str) -> None:
    check(text, thorough=True)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_pieces_of_templates(text: str) -> None:
    check(text, thorough=True)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_pieces_of_expressions(text: str) -> None:
    check(f"{{{text}}}")
    check(f"<user name='{{{text}}}' {{...{text}}}>{{x | default({text})}}</user>")


@given(st.integers(0, 2**63))
def test_changed_templates(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(10):
        check(mutated(source), thorough=True)


@given(templates())
def test_made_templates_can_be_evaluated(template: str) -> None:
    assert check(template, thorough=True)
    assert PROPS["xs"] == ["a", "b\n"]  # nothing was changed
    assert [one for one in lint_template(format_template(template)) if one.is_error] == []
