"""Expressions as data. ``at`` is the 0-based offset of what an error would point to, in the expression's text."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import attrs

__all__ = [
    "Attribute",
    "Binary",
    "Call",
    "Comparison",
    "Conditional",
    "Constant",
    "Expr",
    "Filter",
    "Item",
    "ListOf",
    "Logic",
    "MappingOf",
    "Name",
    "Slice",
    "Test",
    "TupleOf",
    "Unary",
    "parts_of",
]


def _typed(value: object) -> tuple[str, object]:
    """For comparing: 1, 1.0 and True are three constants."""
    return (type(value).__name__, repr(value) if isinstance(value, float) else value)


@attrs.frozen
class Constant:
    """A number, text, ``True``, ``False`` or ``None``."""

    value: Any = attrs.field(eq=cast("Any", _typed))
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Name:
    """A prop, or what ``for`` and ``let`` name."""

    name: str
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Attribute:
    """``of.name``: a mapping's key or a declared field."""

    of: Expr
    name: str
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Item:
    """``of[index]``."""

    of: Expr
    index: Expr
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Slice:
    """``of[start:stop:step]``."""

    of: Expr
    start: Expr | None
    stop: Expr | None
    step: Expr | None
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class ListOf:
    """``[a, b]``."""

    items: tuple[Expr, ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class TupleOf:
    """``(a, b)``."""

    items: tuple[Expr, ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class MappingOf:
    """``{"a": b}``."""

    pairs: tuple[tuple[Expr, Expr], ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Unary:
    """``-a``, ``+a`` and ``not a``."""

    operator: str
    operand: Expr
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Binary:
    """Arithmetic: ``+ - * / // % **``."""

    operator: str
    left: Expr
    right: Expr
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Comparison:
    """``a < b <= c``: ``rest`` are pairs of an operator and its right side."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Logic:
    """``a and b and c``, or the same with ``or``."""

    operator: str
    operands: tuple[Expr, ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Conditional:
    """``value if test else otherwise``."""

    value: Expr
    test: Expr
    otherwise: Expr
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Call:
    """``function(a, key=b)`` of a registered function."""

    function: str
    arguments: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Filter:
    """``value | function(a, key=b)``: the function gets the value first."""

    value: Expr
    function: str
    arguments: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    at: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Test:
    """``value is defined``, ``value is not None``: ``asks`` is ``defined`` or ``None``."""

    value: Expr
    asks: str
    negated: bool
    at: int = attrs.field(default=0, eq=False)


Expr: TypeAlias = (
    Constant
    | Name
    | Attribute
    | Item
    | Slice
    | ListOf
    | TupleOf
    | MappingOf
    | Unary
    | Binary
    | Comparison
    | Logic
    | Conditional
    | Call
    | Filter
    | Test
)


def parts_of(node: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of, in the order in which they stand."""
    match node:
        case Constant() | Name():
            return ()
        case Attribute(of=of):
            return (of,)
        case Item(of=of, index=index):
            return (of, index)
        case Slice():
            return tuple(part for part in (node.of, node.start, node.stop, node.step) if part is not None)
        case ListOf(items=items) | TupleOf(items=items):
            return items
        case MappingOf(pairs=pairs):
            return tuple(part for pair in pairs for part in pair)
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Comparison(first=first, rest=rest):
            return (first, *(part for _, part in rest))
        case Logic(operands=operands):
            return operands
        case Conditional(value=value, test=test, otherwise=otherwise):
            return (value, test, otherwise)
        case Call(arguments=arguments, keywords=keywords):
            return (*arguments, *(part for _, part in keywords))
        case Filter(value=value, arguments=arguments, keywords=keywords):
            return (value, *arguments, *(part for _, part in keywords))
        case Test(value=value):
            return (value,)
