"""Prompt trees from JSON text."""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any

import attrs

from priompt_py.author.checks import got
from priompt_py.author.children import is_list, is_mapping
from priompt_py.author.json_reader import JsonReader, json_fault
from priompt_py.errors import ArgumentTypeError, JsonFormError
from priompt_py.model.elements import Node
from priompt_py.model.strict_json import line_and_column, syntax_fault

__all__ = ["MOST_DEEP", "node_of_text"]

MOST_DEEP = 200
"""Elements in each other: Python's parser of JSON recurses, 2 levels an element, and fails near 1,000."""


def node_of_text(text: object) -> Node:
    """The node of a JSON text; see ``from_json_text``."""
    return JsonReader(MOST_DEEP).read(_parse(_decode(text)))


def _at(text: str, offset: int, problem: str) -> JsonFormError:
    """The error for a place in a text, counted from 1 in lines and code points."""
    return _error(problem, *line_and_column(text, offset))


def _error(problem: str, line: int, column: int) -> JsonFormError:
    return JsonFormError(f"line {line}, column {column}: {problem}", line=line, column=column)


def _decode(text: object) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    if not isinstance(text, (bytes, bytearray)):
        raise ArgumentTypeError(f"from_json_text() needs text or bytes, got {got(text)}")
    data = bytes(text)
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        raise JsonFormError(f"$: the text is {encoding.upper()}; JSON is read as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        good = data[: error.start].decode()
        raise _at(good, len(good), f"the byte 0x{data[error.start]:02x} is no UTF-8") from None


@attrs.frozen
class _Bad:
    """Stands for a number that JSON has not, until its path is known."""

    problem: str


class _Repeated(dict[str, Any]):
    """An object that names ``key`` twice, until its path is known."""

    key: str


def _parse(text: str) -> Any:
    """JSON as the standard library reads it, but without its silent tolerance."""
    bad: list[_Bad | _Repeated] = []

    def marked(problem: str) -> _Bad:
        mark = _Bad(problem)
        bad.append(mark)
        return mark

    def constant(name: str) -> _Bad:
        return marked(f"{name} is no JSON number")

    def number(digits: str) -> float | _Bad:
        value = float(digits)
        return value if math.isfinite(value) else marked(f"{digits[:20]} is too large for a number")

    def whole(digits: str) -> int | _Bad:
        try:
            return int(digits)
        except ValueError:
            return marked(f"an integer of {len(digits)} digits has too many")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) == len(items):
            return made
        names = [name for name, _ in items]
        repeated = _Repeated(made)
        repeated.key = next(name for i, name in enumerate(names) if name in names[:i])
        bad.append(repeated)
        return repeated

    try:
        data = json.loads(
            text, parse_constant=constant, parse_float=number, parse_int=whole, object_pairs_hook=pairs
        )
    except json.JSONDecodeError as error:
        fault = syntax_fault(error)
        raise _error(fault.message, fault.line, fault.column) from None
    except RecursionError:
        raise _too_deep(text) from None
    if bad:
        raise _first_bad(data)
    return data


_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def _too_deep(text: str) -> JsonFormError:
    """The error for a text at which the parser gave up, at the first bracket that is too many."""
    deep = 0
    for match in _BRACKET.finditer(text):
        if match[0] in "[{":
            deep += 1
            if deep > 2 * MOST_DEEP + 1:
                return _at(text, match.start(), f"this is nested deeper than {MOST_DEEP} elements")
        elif match[0] in "]}":
            deep -= 1
    return JsonFormError("$: nested too deep for Python's JSON parser, called as deep as it is here")


def _first_bad(data: Any) -> JsonFormError:
    """The error for the first thing that the parser marked as bad."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, _Bad):
            return json_fault(path, value.problem)
        if isinstance(value, _Repeated):
            return json_fault((*path, value.key), "this key stands here twice")
        if is_mapping(value):
            stack += [((*path, name), item) for name, item in reversed(list(value.items()))]
        elif is_list(value):
            stack += [((*path, index), item) for index, item in reversed(list(enumerate(value)))]
    raise AssertionError  # an object that was overwritten stands in one that repeats a key
