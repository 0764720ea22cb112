"""Props as templates declare them: in front matter, and in ``<component props="…">``."""

from __future__ import annotations

import re

import attrs

from priompt_py.template.expression_syntax import Constant, Expr, ListOf, MappingOf, TupleOf, parts_of
from priompt_py.template.expressions import BadExpressionError, parse_expression
from priompt_py.template.source import near, one_line

__all__ = ["NAME_OF_PROP", "PROP_TYPES", "Prop", "parse_props", "read_prop"]

PROP_TYPES = ("str", "int", "float", "bool", "list", "dict", "any")
"""The types of props."""

_PROP = re.compile(r"\s*(?P<type>[^\s?=]+)\s*(?P<optional>\??)\s*(?:=(?P<default>.*))?", re.DOTALL)
NAME_OF_PROP = re.compile(r"[^\W\d_]\w*")
"""What a prop may be called."""


@attrs.frozen
class Prop:
    """A prop: ``default`` is an expression without names; one that is ``optional`` may be None."""

    name: str
    type: str = "any"
    optional: bool = False
    default: Expr | None = None

    @property
    def required(self) -> bool:
        """Whether a call has to give it."""
        return not self.optional and self.default is None


def read_prop(name: str, declared: object) -> tuple[Prop, str | None]:
    """A prop as front matter declares it, and what is wrong with that."""
    forms = f"the type of {name} is one of {', '.join(PROP_TYPES)}, then ? if it is optional, then = and a default"
    if not isinstance(declared, str):
        return Prop(name), f"{forms}; got {one_line(repr(declared))}"
    match = _PROP.fullmatch(declared)
    if match is None or match["type"] not in PROP_TYPES:
        met = match["type"] if match else declared
        return Prop(name), f"{forms}; got {one_line(met)}{near(met, PROP_TYPES)}"
    prop = Prop(name, match["type"], optional=bool(match["optional"]))
    if match["default"] is None:
        return prop, None
    default, problem = _default(name, match["default"])
    if default is not None and not _suits(prop, default):
        problem = f"the default of {name} is no {prop.type}"
    return attrs.evolve(prop, default=default), problem


def _suits(prop: Prop, default: Expr) -> bool:
    """Whether a default is of its prop's type."""
    if prop.type == "any":
        return True
    if isinstance(default, Constant):
        value = default.value
        if value is None:
            return prop.optional
        kinds = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}
        return type(value) in kinds.get(prop.type, ())
    return prop.type == ("dict" if isinstance(default, MappingOf) else "list")


def _default(name: str, text: str) -> tuple[Expr | None, str | None]:
    if not text.strip():
        return None, f"the default of {name} is missing behind the ="
    try:
        root = parse_expression(text)
    except BadExpressionError as error:
        return None, f"the default of {name}: {error.message}"
    stack = [root]
    while stack:
        part = stack.pop()
        if not isinstance(part, Constant | ListOf | TupleOf | MappingOf):
            return None, f"the default of {name} is a plain value: text in quotes, a number, a list, …"
        stack.extend(parts_of(part))
    return root, None


def parse_props(text: str) -> tuple[tuple[Prop, ...], str | None]:
    """The props of ``<component props="label, value=0">``, and what is wrong with them."""
    found: list[Prop] = []
    names: set[str] = set()
    for piece in _split(text):
        name, equals, default = piece.partition("=")
        name = name.strip()
        if not NAME_OF_PROP.fullmatch(name):
            return (
                (),
                f'props needs names with commas between them, such as "label, value=0"; got {one_line(piece)!r}',
            )
        if name in names:
            return (), f"the prop {name} stands twice"
        names.add(name)
        root, problem = _default(name, default) if equals else (None, None)
        if problem is not None:
            return (), problem
        found.append(Prop(name, default=root))
    return tuple(found), None


def _split(text: str) -> list[str]:
    """Split at commas that stand in no bracket and no quotes."""
    pieces: list[str] = []
    depth = start = 0
    quote = ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    pieces.append(text[start:])
    return [piece for piece in pieces if piece.strip()]
