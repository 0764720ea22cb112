"""Expressions from text: parsed once for each distinct text, refused in plain words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from priompt_py.template import expression_syntax as ast
from priompt_py.template.expression_faults import RESERVED, BadExpressionError, bad_character, bad_token
from priompt_py.template.expression_syntax import Expr, parts_of
from priompt_py.template.grammar import parser

if TYPE_CHECKING:
    from lark import Token

__all__ = ["MOST_DEEP", "BadExpressionError", "parse_expression", "size_of"]

MOST_DEEP = 60
"""How deep an expression may be nested."""

_MOST_LONG = 10_000  # characters; longer values belong into props
_MOST_DIGITS = 600

_WHOLE = re.compile(r"\s*(0|[1-9][0-9]{0,14})\s*", re.ASCII)
_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)\s*", re.ASCII)


def parse_expression(text: str) -> Expr:
    """The expression of a text. Raises BadExpressionError."""
    word = _WORD.fullmatch(text)
    if word is not None and word[1] not in _KEYWORDS:
        return ast.Name(word[1], at=word.start(1))
    whole = _WHOLE.fullmatch(text)
    if whole is not None:
        return ast.Constant(int(whole[1]), at=whole.start(1))
    return _parse(text)


_KEYWORDS = frozenset((*RESERVED, "True", "False", "None"))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Expr:
    if not text.strip():
        raise BadExpressionError(0, "there is no expression between the braces")
    if len(text) > _MOST_LONG:
        raise BadExpressionError(
            0, f"an expression has at most {_MOST_LONG:,} characters, this one {len(text):,}"
        )
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lark: Any = parser("expressions", "start", _BUILD)
            tree: Any = lark.parse(text)
    except UnexpectedCharacters as error:
        place = int(cast("Any", error).pos_in_stream)
        raise BadExpressionError(place, bad_character(text, place)) from None
    except UnexpectedToken as error:
        token: Any = cast("Any", error).token
        raise bad_token(text, token) from None
    except UnexpectedInput:  # pragma: no cover - lark has no third kind for LALR
        raise BadExpressionError(0, "this is no expression") from None
    root: Expr = tree
    _check_depth(root)
    return root


def _check_depth(root: Expr) -> None:
    level: list[Expr] = [root]
    for _ in range(MOST_DEEP):
        level = [part for node in level for part in parts_of(node)]
        if not level:
            return
    raise BadExpressionError(level[0].at, f"the expression is nested more than {MOST_DEEP} deep")


def size_of(root: Expr) -> int:
    """How many parts an expression has."""
    count = 0
    stack = [root]
    while stack:
        stack.extend(parts_of(stack.pop()))
        count += 1
    return count


# ------------------------------------------------------------------------------------------ from lark's rules


class _Build:
    """What each rule of the grammar makes. lark finds the methods by the rules' names."""

    def name(self, children: list[Token]) -> Expr:
        (token,) = children
        if token in _KEYWORDS:
            raise BadExpressionError(_start(token), f"`{token}` is no name: {RESERVED[str(token)]}")
        return ast.Name(str(token), at=_start(token))

    def integer(self, children: list[Token]) -> Expr:
        (token,) = children
        if len(token) > _MOST_DIGITS:
            raise BadExpressionError(_start(token), f"a number has at most {_MOST_DIGITS} digits")
        if len(token) > 1 and token[0] == "0" and token.strip("0_"):
            raise BadExpressionError(_start(token), f"`{token}`: a whole number doesn't begin with 0")
        return ast.Constant(int(token), at=_start(token))

    def floating(self, children: list[Token]) -> Expr:
        (token,) = children
        value = float(token)
        if value - value != 0.0:
            raise BadExpressionError(_start(token), f"`{token}` is too large for a number")
        return ast.Constant(value, at=_start(token))

    def string(self, children: list[Token]) -> Expr:
        (token,) = children
        return ast.Constant(_unescape(str(token)[1:-1], _start(token) + 1), at=_start(token))

    def constant(self, children: list[Token]) -> Expr:
        (token,) = children
        return ast.Constant({"True": True, "False": False, "None": None}[str(token)], at=_start(token))

    def sequence(self, children: list[Any]) -> Expr:
        return ast.TupleOf(_given(children), at=_first(children))

    def listing(self, children: list[Any]) -> Expr:
        return ast.ListOf(_given(children), at=_first(children))

    def table(self, children: list[Any]) -> Expr:
        pairs = _given(children)
        return ast.MappingOf(pairs, at=pairs[0][0].at if pairs else 0)

    def pair(self, children: list[Any]) -> tuple[Expr, Expr]:
        key, value = children
        return (key, value)

    def keyword(self, children: list[Any]) -> tuple[str, Expr, int]:
        name, value = children
        return (str(name), value, _start(name))

    def comparator(self, children: list[Token]) -> str:
        return " ".join(children[0].split())

    def unary(self, children: list[Any]) -> Expr:
        token, operand = children
        operator = str(token)
        if operator == "-" and _is_plain_number(operand):
            return ast.Constant(-operand.value, at=_start(token))
        return ast.Unary(operator, operand, at=_start(token))

    def binary(self, children: list[Any]) -> Expr:
        left, operator, right = children
        return ast.Binary(str(operator), left, right, at=_start(operator))

    def comparison(self, children: list[Any]) -> Expr:
        first, *rest = children
        return ast.Comparison(first, tuple(zip(rest[::2], rest[1::2], strict=True)), at=first.at)

    def any_of(self, children: list[Any]) -> Expr:
        return ast.Logic("or", tuple(children), at=children[0].at)

    def all_of(self, children: list[Any]) -> Expr:
        return ast.Logic("and", tuple(children), at=children[0].at)

    def conditional(self, children: list[Any]) -> Expr:
        value, test, otherwise = children
        return ast.Conditional(value, test, otherwise, at=value.at)

    def test(self, children: list[Any]) -> Expr:
        value, token = children
        words = token.split()
        return ast.Test(value, words[-1], len(words) == 3, at=value.at)

    def attribute(self, children: list[Any]) -> Expr:
        of, name = children
        if name.startswith("_"):
            raise BadExpressionError(_start(name), f"`.{name}`: names that begin with _ are private")
        return ast.Attribute(of, str(name), at=_start(name))

    def item(self, children: list[Any]) -> Expr:
        of, index = children
        return ast.Item(of, index, at=index.at)

    def slicing(self, children: list[Any]) -> Expr:
        of, start, stop, step = children
        return ast.Slice(of, start, stop, step, at=of.at)

    def call(self, children: list[Any]) -> Expr:
        name, *given = children
        arguments, keywords = _arguments(given)
        return ast.Call(str(name), arguments, keywords, at=_start(name))

    def filtering(self, children: list[Any]) -> Expr:
        value, name, *given = children
        arguments, keywords = _arguments(given)
        return ast.Filter(value, str(name), arguments, keywords, at=_start(name))


_BUILD = _Build()


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos


def _is_plain_number(node: Expr) -> bool:
    """Whether ``-node`` is a constant too; of 0 it stays an operation, since -0 is written so."""
    if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
        return False
    return bool(node.value > 0) or str(node.value) == "0.0"


def _given(children: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(child for child in children if child is not None)


def _first(children: Sequence[Any]) -> int:
    given = _given(children)
    return given[0].at if given else 0


def _arguments(given: Sequence[Any]) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]:
    arguments: list[Expr] = []
    keywords: dict[str, Expr] = {}
    for one in _given(given):
        if isinstance(one, tuple):
            name, value, at = cast("tuple[str, Expr, int]", one)
            if name in keywords:
                raise BadExpressionError(at, f"the argument {name} is given twice")
            keywords[name] = value
        elif keywords:
            raise BadExpressionError(one.at, "arguments without a name come before those with one")
        else:
            arguments.append(one)
    return tuple(arguments), tuple(keywords.items())


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "0": "\0"}


def _unescape(text: str, at: int) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        if digits:
            code = int(digits, 16)
            if code > 0x10FFFF:
                raise BadExpressionError(at + match.start(), f"`{match[0]}`: no character has this number")
            return chr(code)
        plain = _ESCAPED.get(match[4])
        if plain is None:
            raise BadExpressionError(
                at + match.start(),
                f"`{match[0]}` is no escape; there are \\n \\t \\r \\0 \\\\ \\\" \\' \\xhh \\uhhhh \\Uhhhhhhhh, "
                "and a backslash itself is \\\\",
            )
        return plain

    return _ESCAPE.sub(character, text)
