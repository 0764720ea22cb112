"""JSON text as the standard says, and what is wrong with one in our own words, the same on every Python.

Lines and columns count from 1, in code points; offsets from 0.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

__all__ = ["JsonFault", "line_and_column", "parse_json", "refused_place", "syntax_fault"]

_MOST_DIGITS = 4_300  # of a whole number that Python reads
_SHOWN = 20  # characters of what was met
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_WORD = re.compile(r'"(?:[^"\\\n]|\\.)*"|[^\s{}\[\],:"]+|.', re.DOTALL)
_NUMBER = re.compile(
    r"-?(NaN|Infinity|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)", re.ASCII
)  # at the beginning of a token
_SPACE = " \t\n\r"
_LITERALS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_ESCAPES = {"\n": "a line feed", "\r": "a carriage return", "\t": "a tab"}


class JsonFault(ValueError):
    """A text is no JSON: ``message`` says what is wrong and what would do, ``line`` and ``column`` where."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        self.message = message
        self.line, self.column = line_and_column(text, offset)
        super().__init__(f"{message} (line {self.line}, column {self.column})")


def parse_json(text: str) -> Any:
    """JSON as the standard says: no NaN or infinity, and no name twice in one object.

    Raises JsonFault, and RecursionError for what is nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise syntax_fault(error) from None
    except _RefusedError as error:
        raise JsonFault(str(error), text, refused_place(text, names=error.is_name)) from None
    except ValueError:  # more digits than Python reads
        raise JsonFault(
            f"a whole number has more than {_MOST_DIGITS:,} digits", text, refused_place(text, names=False)
        ) from None


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


# ------------------------------------------------------------------------------------------ syntax


def syntax_fault(error: json.JSONDecodeError) -> JsonFault:
    """What the standard parser stopped at, told from the text there: its own words differ between Pythons."""
    text, at = error.doc, error.pos
    kind = error.msg.lower()
    after = at + len(text[at:]) - len(text[at:].lstrip(_SPACE))
    before = text[:after].rstrip(_SPACE)
    if kind.startswith("illegal trailing comma") or (
        before.endswith(",") and text[after : after + 1] in ("]", "}")
    ):
        comma = at if text[at : at + 1] == "," else len(before) - 1
        return JsonFault("a comma stands before the end; leave it out", text, comma)
    if "string" in kind:
        return JsonFault("the text that begins here has no closing quote", text, at)
    if "control" in kind:
        return JsonFault(_control(text[at]), text, at)
    if "escape" in kind:
        return _escape(text, at)
    if "extra data" in kind:
        return JsonFault(
            f"the value has ended, and {_met(text, at)} follows; several values stand in a list, [1, 2]",
            text,
            at,
        )
    if "property name" in kind:
        return JsonFault(_name_problem(text, after), text, after)
    if "':'" in kind:
        return JsonFault(f"a colon is needed between name and value, got {_met(text, after)}", text, after)
    if "','" in kind:
        return JsonFault(_comma_problem(text, after), text, after)
    return JsonFault(_value_problem(text, after), text, after)


def _met(text: str, at: int) -> str:
    """What stands at an offset, for a sentence."""
    match = _WORD.match(text, at)
    if match is None:
        return "the end"
    word = match[0]
    if word[0] == '"' and word.isprintable():
        return word if len(word) <= _SHOWN else f"{word[: _SHOWN - 3]}..."
    return repr(word if len(word) <= _SHOWN else f"{word[: _SHOWN - 3]}...")


def _value_problem(text: str, at: int) -> str:
    met = _met(text, at)
    if met == "the end":
        if not text.strip(_SPACE):
            return "there is nothing; JSON needs a value, {} say"
        return "the text ends where a value is needed"
    word = text[at : at + 20]
    if word.startswith(("//", "/*", "#")):
        return "JSON has no comments; leave them out"
    if word.startswith("'"):
        return "texts stand in double quotes, not single ones"
    for wrong, right in _LITERALS.items():
        if met == repr(wrong):
            return f"JSON writes {right} for {wrong}"
    if met[1:2].isalpha():
        return f"a value is needed, got {met}; texts stand in double quotes"
    return f"a value is needed, got {met}"


def _name_problem(text: str, at: int) -> str:
    met = _met(text, at)
    if met == "the end":
        return "the text ends within an object; close it with }"
    if text[at : at + 1] in "/#":
        return "JSON has no comments; leave them out"
    if met[1:2].isalnum() or met[1:2] in "_'":
        return f"names stand in double quotes, got {met}"
    return f"a name in double quotes is needed, got {met}"


def _comma_problem(text: str, at: int) -> str:
    met = _met(text, at)
    if text.startswith(("//", "/*", "#"), at):
        return "JSON has no comments; leave them out"
    opened: list[str] = []
    for token in _TOKEN.findall(text, 0, at):
        if token in ("{", "["):
            opened.append(token)
        elif token in ("}", "]") and opened:
            opened.pop()
    closing = "}" if opened[-1:] == ["{"] else "]"
    if met == "the end":
        return f"the text ends within {'an object' if closing == '}' else 'a list'}; close it with {closing}"
    if text[at] in "}])":
        return f"{closing} is needed to close what is open, got {met}"
    return f"a comma or {closing} is needed before {met}"


def _control(character: str) -> str:
    name = _ESCAPES.get(character, f"the character U+{ord(character):04X}")
    written = json.dumps(character)[1:-1]
    return f"{name} stands within a text; write it as {written}"


def _escape(text: str, at: int) -> JsonFault:
    at = max(0, text.rfind("\\", 0, at + 1))
    if text[at + 1 : at + 2] == "u":
        return JsonFault("four hexadecimal digits are needed after \\u", text, at)
    shown = text[at : at + 2]
    return JsonFault(f"{shown} is no escape; write a backslash as \\\\", text, at)


# ------------------------------------------------------------------------------------------ beyond syntax


class _RefusedError(ValueError):
    """Something that the standard parser would take."""

    def __init__(self, message: str, *, is_name: bool = False) -> None:
        super().__init__(message)
        self.is_name = is_name


def _no_constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0.0:
        raise _RefusedError(f"{digits} is too large a number")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _RefusedError(f"the name {name!r} stands twice in one object", is_name=True)
            seen.add(name)
    return found


def refused_place(text: str, *, names: bool) -> int:
    """The offset of what ``parse_json`` refuses in a text that is JSON else: with ``names`` the first that stands twice
    in one object; else the first NaN, infinity, or number that is too large. 0 where there is none."""
    seen: list[set[str]] = []
    found = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
    for (token, offset), (following, _) in zip(found, [*found[1:], ("", 0)], strict=True):
        if token in ("{", "["):
            seen.append(set())
        elif token in ("}", "]"):
            seen.pop()
        elif token[0] == '"' and following == ":":
            name = json.loads(token)
            if names and name in seen[-1]:
                return offset
            seen[-1].add(name)
        elif not names and (number := _NUMBER.match(token)) and _is_refused(number[1]):
            return offset
    return 0


def _is_refused(number: str) -> bool:
    return len(number) > _MOST_DIGITS if number.isdigit() else not math.isfinite(float(number))
