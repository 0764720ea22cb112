"""Expressions from text: parsed once for each distinct text, refused in plain words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from priompt_py.template import expression_syntax as ast
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
_RESERVED = {
    "lambda": "there are no lambdas",
    "for": "there are no comprehensions; write <for each=\"…\" in={…}>",
    "await": "there is no await; async values come in as props",
    "yield": "there is no yield",
    "import": 'there is no import in expressions; write <import name="…" from="…"/>',
    "and": "`and` stands between two values",
    "or": "`or` stands between two values",
    "if": "it is written `value if test else other`",
    "else": "it is written `value if test else other`",
    "in": "`in` stands between two values",
    "is": "`is` asks `is None`, `is not None`, `is defined` and `is not defined`",
    "not": "`not` stands before a value",
}


class BadExpressionError(Exception):
    """An expression that can't be parsed: ``at`` is the 0-based offset in its text."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


def parse_expression(text: str) -> Expr:
    """The expression of a text. Raises BadExpressionError."""
    word = _WORD.fullmatch(text)
    if word is not None and word[1] not in _KEYWORDS:
        return ast.Name(word[1], at=word.start(1))
    whole = _WHOLE.fullmatch(text)
    if whole is not None:
        return ast.Constant(int(whole[1]), at=whole.start(1))
    return _parse(text)


_KEYWORDS = frozenset((*_RESERVED, "True", "False", "None"))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Expr:
    if not text.strip():
        raise BadExpressionError(0, "there is no expression between the braces")
    if len(text) > _MOST_LONG:
        raise BadExpressionError(0, f"an expression has at most {_MOST_LONG:,} characters, this one {len(text):,}")
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            root: Any = parser("expressions", "start", _BUILD).parse(text)
    except UnexpectedCharacters as error:
        raise BadExpressionError(error.pos_in_stream, _bad_character(text, error.pos_in_stream)) from None
    except UnexpectedToken as error:
        raise _bad_token(text, error.token) from None
    except UnexpectedInput:  # pragma: no cover - lark has no third kind for LALR
        raise BadExpressionError(0, "this is no expression") from None
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
            raise BadExpressionError(_start(token), f"`{token}` is no name: {_RESERVED[str(token)]}")
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

    def tuple(self, children: list[Any]) -> Expr:
        return ast.TupleOf(_given(children), at=_first(children))

    def list(self, children: list[Any]) -> Expr:
        return ast.ListOf(_given(children), at=_first(children))

    def mapping(self, children: list[Any]) -> Expr:
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
        operator, operand = children
        if operator == "-" and type(operand) is ast.Constant and type(operand.value) in (int, float):
            if operand.value > 0 or (type(operand.value) is float and str(operand.value)[0] != "-"):
                return ast.Constant(-operand.value, at=_start(operator))
        return ast.Unary(str(operator), operand, at=_start(operator))

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

    def slice(self, children: list[Any]) -> Expr:
        of, start, stop, step = children
        return ast.Slice(of, start, stop, step, at=of.at)

    def call(self, children: list[Any]) -> Expr:
        name, *given = children
        arguments, keywords = _arguments(given)
        return ast.Call(str(name), arguments, keywords, at=_start(name))

    def filter(self, children: list[Any]) -> Expr:
        value, name, *given = children
        arguments, keywords = _arguments(given)
        return ast.Filter(value, str(name), arguments, keywords, at=_start(name))


_BUILD = _Build()


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos


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
            name, value, at = one
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


# ------------------------------------------------------------------------------------------ what is wrong


def _bad_character(text: str, at: int) -> str:
    character = text[at]
    if character in "\"'":
        return f"the text that begins with {character} is not closed on its line"
    rest = text[at:]
    hints = {
        "!": "write `not x`, or `x != y`",
        "&": "write `and`",
        "?": "write `value if test else other`",
        "`": "write texts in quotes",
        ";": "an expression is one value",
        "=": "expressions assign nothing; equality is `==`",
        "<": "shifts are not part of expressions" if rest.startswith("<<") else "",
        "@": "there is no such operator",
        "^": "powers are written `**`",
        "~": "there is no such operator",
        "\\": "escapes stand in quotes only",
    }
    hint = hints.get(character, "")
    return f"`{character}` is not part of expressions" + (f": {hint}" if hint else "")


def _bad_token(text: str, token: Token) -> BadExpressionError:
    at = len(text.rstrip()) if token.type == "$END" else _start(token)
    before = text[:at].rstrip()
    word = re.search(r"[^\W\d]\w*$", before)
    last = word[0] if word else ""
    if token.type == "$END":
        if _wants_value(before):
            return BadExpressionError(at, "the expression ends where a value is expected")
        if re.search(r"\bif\b", before):
            return BadExpressionError(at, "`else` is missing: it is written `value if test else other`")
        return BadExpressionError(at, "the expression ends too early: a bracket is not closed")
    met = f"`{token}`"
    for candidate in (str(token), last):
        if candidate in ("lambda", "for", "await", "yield", "import"):
            place = at if candidate == str(token) else at - len(text[:at]) + len(before) - len(candidate)
            return BadExpressionError(place, _RESERVED[candidate])
    if token.type == "STRING" and last.lower() in ("f", "r", "b", "u", "rb", "br", "fr", "rf", "t"):
        return BadExpressionError(
            at - len(last), f"`{last}{token[0]}`: texts have no prefixes; join them with +, or write them outside"
        )
    if token == "(":
        if before.endswith((")", "]", "}")) or re.search(r"\.\s*[^\W\d]\w*$", before):
            return BadExpressionError(at, "only registered functions can be called, by name; methods can't")
        return BadExpressionError(at, "this can't be called: only registered functions can, by name")
    if token == "=":
        return BadExpressionError(at, "expressions assign nothing; equality is `==`")
    if token == ":" and last == "":
        return BadExpressionError(at, "`:` stands in slices and mappings only")
    if str(token) in ("<", ">") and text[:at].endswith(str(token)):
        return BadExpressionError(at - 1, "shifts are not part of expressions")
    if token == "|":
        return BadExpressionError(at, "`|` stands between a value and the name of a filter")
    if before.endswith("|"):
        return BadExpressionError(at, f"after `|` stands the name of a filter, not {met}")
    if before.endswith("."):
        return BadExpressionError(at, f"after `.` stands a name, not {met}")
    if last == "is" or str(token) == "is":
        return BadExpressionError(
            at - (0 if str(token) == "is" else len(text[:at]) - len(before) + 2), _RESERVED["is"]
        )
    if str(token) in _RESERVED:
        return BadExpressionError(at, _RESERVED[str(token)])
    if token.type == "CONSTANT" or token.type in ("NAME", "INTEGER", "FLOAT", "STRING"):
        if _wants_value(before):
            return BadExpressionError(at, f"{met} can't stand here")
        return BadExpressionError(at, f"{met} follows a value: an operator or a comma is missing between them")
    if _wants_value(before):
        return BadExpressionError(at, f"a value is expected before {met}")
    return BadExpressionError(at, f"{met} can't stand here")


def _wants_value(before: str) -> bool:
    return not before or before[-1] in "+-*/%<>=([{,:|." or bool(
        re.search(r"\b(?:and|or|not|in|if|else|is)$", before)
    )
