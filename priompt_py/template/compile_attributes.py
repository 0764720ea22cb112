"""Values of attributes: constants, expressions, and quoted texts with expressions in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from priompt_py.template.attributes import NUMBER
from priompt_py.template.bounds import Fault
from priompt_py.template.compile import Names, Unit, evaluate_expression
from priompt_py.template.entities import decode
from priompt_py.template.evaluate import Run
from priompt_py.template.source import Source
from priompt_py.template.syntax import Attribute, Expression, Quoted, Spread
from priompt_py.template.values import expanded_size, text_of

__all__ = ["DATA", "MISSING", "charge", "constant_of", "number_of", "value_of"]

MISSING = object()
"""What an attribute has whose value is not always the same."""


def value_of(unit: Unit, attribute: Attribute) -> Callable[[Run, Names], Any]:
    """The function that gives an attribute's value."""
    value = attribute.value
    if value is None:
        return lambda _run, _names: True
    if isinstance(value, Expression):
        return evaluate_expression(unit, value)
    return _quoted(unit, value)


def _quoted(unit: Unit, value: Quoted) -> Callable[[Run, Names], Any]:
    constant = value.constant
    if constant is not None:
        text = unit.source.literal(decode(constant))
        return lambda _run, _names: text
    parts: list[tuple[str, Expression | None, Any]] = [
        (unit.source.literal(decode(part)), None, None)
        if isinstance(part, str)
        else ("", part, evaluate_expression(unit, part))
        for part in value.parts
    ]

    def evaluate(run: Run, names: Names) -> str:
        texts: list[str] = []
        for text, expression, inner in parts:
            if expression is None:
                texts.append(text)
                continue
            try:
                given = text_of(inner(run, names))
                run.budget.characters(len(given))
            except Fault as fault:
                raise unit.error(run, fault, expression) from None
            texts.append(given)
        return "".join(texts)

    return evaluate


def constant_of(source: Source, attribute: Attribute) -> Any:
    """The value of an attribute that is always the same, else a mark that says so."""
    from priompt_py.template.expression_syntax import Constant

    value = attribute.value
    if value is None:
        return True
    if isinstance(value, Expression):
        return value.root.value if isinstance(value.root, Constant) else MISSING
    return MISSING if value.constant is None else source.literal(decode(value.constant))


DATA = frozenset((list, tuple, dict))
"""Types of values that may be large, however short they are written."""


def charge(unit: Unit, run: Run, value: Any, given: Attribute | Spread) -> None:
    """Take what data has, expanded, of the budget: an element may copy it, however much of it is shared."""
    expression = given.expression if isinstance(given, Spread) else given.value
    assert isinstance(expression, Expression)
    try:
        items, characters = expanded_size(value)
        run.budget.step(items)
        run.budget.characters(characters)
    except Fault as fault:
        raise unit.error(run, fault, expression) from None


def number_of(value: Any) -> Any:
    """A quoted number as one; all else as it is."""
    if isinstance(value, str) and len(value) < 400 and NUMBER.fullmatch(value):
        text = value.strip()
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return value
