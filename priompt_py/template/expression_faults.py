"""What is wrong with an expression that can't be parsed: what was met, what would do, the likely slip."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Token

__all__ = ["RESERVED", "BadExpressionError", "bad_character", "bad_token"]

RESERVED = {
    "lambda": "there are no lambdas",
    "for": 'there are no comprehensions; write <for each="…" in={…}>',
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
"""Words that are no names, and what they are or would be."""


class BadExpressionError(Exception):
    """An expression that can't be parsed: ``at`` is the 0-based offset in its text."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


def bad_character(text: str, at: int) -> str:
    """The message about a character that begins nothing."""
    character = text[at]
    if character in "\"'":
        return f"the text that begins with {character} is not closed on its line"
    if text.startswith("<<", at):
        return "shifts are not part of expressions"
    for operator, instead in _OTHERS.items():
        if text.startswith(operator, at):
            return f"`{operator}` is not part of expressions: write `{instead}`"
    hint = _HINTS.get(character, "")
    return f"`{character}` is not part of expressions" + (f": {hint}" if hint else "")


_OTHERS = {"??": "value | default(other)", "?.": "a.b | default(other)", "&&": "and"}

_HINTS = {
    "!": "write `not x`, or `x != y`",
    "&": "write `and`",
    "?": "write `value if test else other`",
    "`": "write texts in quotes",
    ";": "an expression is one value",
    "=": "expressions assign nothing; equality is `==`",
    "@": "there is no such operator",
    "^": "powers are written `**`",
    "~": "there is no such operator",
    "\\": "escapes stand in quotes only",
    "$": "a name stands alone",
    "#": "a comment is written {# … #}",
    **dict.fromkeys("“”„«»", 'texts stand in straight quotes (")'),
    **dict.fromkeys("‘’‚‹›", "texts stand in straight quotes (')"),
}

_DOUBLED = {"|": ("|", "||", "or"), ">": ("<", "<>", "!=")}
"""Characters that with the one before them are another language's operator."""

_OPERATORS = ("+", "-", "*", "/", "//", "%", "**")
_NOT_THERE = ("lambda", "for", "await", "yield", "import")
_PREFIXES = ("f", "r", "b", "u", "rb", "br", "fr", "rf", "t")


def bad_token(text: str, token: Token) -> BadExpressionError:
    """The error about a token that can't stand where it does."""
    if token.type == "$END":
        return _ends(text)
    at = token.start_pos or 0
    before = text[:at].rstrip()
    word = re.search(r"[^\W\d]\w*$", before)
    last = word[0] if word else ""
    met = str(token)
    if met in _NOT_THERE:
        return BadExpressionError(at, RESERVED[met])
    if last in _NOT_THERE:
        return BadExpressionError(len(before) - len(last), RESERVED[last])
    if token.type == "STRING" and last.lower() in _PREFIXES:
        return BadExpressionError(
            at - len(last),
            f"`{last}{met[0]}`: texts have no prefixes; join them with +, or write them outside",
        )
    if token.type == "STRING" and before.endswith(('""', "''")):
        return BadExpressionError(at - 2, "texts have one quote on each side")
    if last == "is" or met == "is":
        return BadExpressionError(at if met == "is" else len(before) - 2, RESERVED["is"])
    if met in _DOUBLED and text[:at].endswith(_DOUBLED[met][0]):
        whole, instead = _DOUBLED[met][1:]
        return BadExpressionError(at - 1, f"`{whole}` is not part of expressions: write `{instead}`")
    if met in "<>" and text[:at].endswith(met):
        return BadExpressionError(at - 1, "shifts are not part of expressions")
    return BadExpressionError(at, _of_punctuation(met, before, last) or _of_value(met, token.type, before))


def _ends(text: str) -> BadExpressionError:
    """The error about an expression that isn't complete."""
    at = len(text.rstrip())
    before = text[:at]
    if _wants_value(before):
        return BadExpressionError(at, "the expression ends where a value is expected")
    if re.search(r"\bif\b", before):
        return BadExpressionError(at, "`else` is missing: it is written `value if test else other`")
    return BadExpressionError(at, "the expression ends too early: a bracket is not closed")


def _of_punctuation(met: str, before: str, last: str) -> str | None:
    """The message about what an operator or bracket met, if it is a known slip."""
    if met == "(":
        if before.endswith((")", "]", "}")) or re.search(r"\.\s*[^\W\d]\w*$", before):
            return "only registered functions can be called, by name; methods can't"
        return "this can't be called: only registered functions can, by name"
    if met == "=":
        return "expressions assign nothing; equality is `==`"
    if met == ":" and not last:
        return "`:` stands in slices and mappings only"
    if met == "|":
        return "`|` stands between a value and the name of a filter"
    if met in _OPERATORS and re.search(r"\|\s*[^\W\d]\w*(\([^()]*\))?$", before):
        return f"a filter binds less than `{met}`: write (value | filter) {met} …"
    if before.endswith("|"):
        return f"after `|` stands the name of a filter, not `{met}`"
    if before.endswith("."):
        return f"after `.` stands a name, not `{met}`"
    return RESERVED.get(met)


def _of_value(met: str, kind: str, before: str) -> str:
    wants_value = _wants_value(before)
    if kind in ("CONSTANT", "NAME", "INTEGER", "FLOAT", "STRING") and not wants_value:
        return f"`{met}` follows a value: an operator or a comma is missing between them"
    return f"a value is expected before `{met}`" if wants_value else f"`{met}` can't stand here"


def _wants_value(before: str) -> bool:
    """Whether what was read so far ends with something that a value follows."""
    return (
        not before
        or before[-1] in "+-*/%<>=([{,:|."
        or bool(re.search(r"\b(?:and|or|not|in|if|else|is)$", before))
    )
