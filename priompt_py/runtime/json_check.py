"""Whether data are what a JSON Schema says: the parts of it that definitions of tools use.

Read are the keywords of JSON Schema 2020-12 for types, numbers, texts, lists, objects and their combinations, and
``$ref`` into ``$defs``. Other keywords, ``format`` among them, are notes and refuse nothing; nor does a keyword whose
value is none that it can have (``"required": true``, as older drafts wrote it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeGuard, cast

from priompt_py.model.values import short_repr

__all__ = ["misfit"]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": lambda value: _is_number(value),  # noqa: PLW0108 - it stands further down
    "integer": lambda value: _is_number(value) and value == value // 1,  # 3.0 is a whole number in JSON
}
_WANTED = {
    "array": "a list",
    "integer": "a whole number",
    "null": "null",
    "object": "an object",
    "string": "text",
}


def misfit(value: Any, schema: Any, place: str = "arguments") -> str | None:
    """The first thing that doesn't fit, as a sentence that begins with its place; None where all does."""
    return next(_faults(value, schema, place, schema, ()), None)


def _faults(value: Any, schema: Any, place: str, root: Any, followed: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        if schema is False:
            yield f"{place}: nothing may stand here, got {short_repr(value)}"
        return
    rules = cast("Mapping[str, Any]", schema)
    reference = rules.get("$ref")
    if isinstance(reference, str) and reference not in followed:  # one that leads to itself says nothing
        yield from _faults(value, _target(reference, root), place, root, (*followed, reference))
    yield from _type_and_choice(value, rules, place)
    if _is_number(value):
        yield from _of_number(value, rules, place)
    elif isinstance(value, str):
        yield from _of_text(value, rules, place)
    elif _is_list(value):
        yield from _of_list(value, rules, place, root)
    elif _is_dict(value):
        yield from _of_object(value, rules, place, root)
    yield from _combined(value, rules, place, root, followed)


def _type_and_choice(value: Any, rules: Mapping[str, Any], place: str) -> Iterator[str]:
    named: Any = rules.get("type")
    kinds: list[str] = [named] if isinstance(named, str) else _list(rules, "type")
    if kinds and not any(_TYPES.get(kind, _anything)(value) for kind in kinds):
        wanted = " or ".join(_WANTED.get(kind, f"a {kind}") for kind in kinds)
        yield f"{place}: needs {wanted}, got {short_repr(value)}"
    choices = rules.get("enum")
    if _is_list(choices) and not any(_same(value, one) for one in choices):
        yield f"{place}: needs one of {', '.join(map(repr, choices))}, got {short_repr(value)}"
    if "const" in rules and not _same(value, rules["const"]):
        yield f"{place}: needs {rules['const']!r}, got {short_repr(value)}"


def _of_number(value: Any, rules: Mapping[str, Any], place: str) -> Iterator[str]:
    bounds: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
        ("minimum", "at least", lambda a, b: a >= b),
        ("maximum", "at most", lambda a, b: a <= b),
        ("exclusiveMinimum", "more than", lambda a, b: a > b),
        ("exclusiveMaximum", "less than", lambda a, b: a < b),
        ("multipleOf", "a multiple of", lambda a, b: b <= 0 or _exact(a) % _exact(b) == 0),
    )
    for name, words, fits in bounds:
        if _is_number(rules.get(name)) and not fits(value, rules[name]):
            yield f"{place}: needs {words} {rules[name]}, got {short_repr(value)}"


def _of_text(value: str, rules: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from _size(len(value), rules, "Length", "characters", place)
    if _matches(rules.get("pattern"), value) is False:
        yield f"{place}: needs text that matches {rules['pattern']!r}, got {short_repr(value)}"


def _of_list(value: list[Any], rules: Mapping[str, Any], place: str, root: Any) -> Iterator[str]:
    yield from _size(len(value), rules, "Items", "items", place)
    first = _list(rules, "prefixItems")
    for index, item in enumerate(value):
        if index < len(first):
            yield from _faults(item, first[index], f"{place}[{index}]", root, ())
        elif "items" in rules:
            yield from _faults(item, rules["items"], f"{place}[{index}]", root, ())
    if rules.get("uniqueItems") is True and any(
        _same(one, other) for index, one in enumerate(value) for other in value[:index]
    ):
        yield f"{place}: needs items that differ, got {short_repr(value)}"


def _of_object(value: dict[str, Any], rules: Mapping[str, Any], place: str, root: Any) -> Iterator[str]:
    yield from _size(len(value), rules, "Properties", "keys", place)
    for name in _list(rules, "required"):
        if name not in value:
            yield f"{place}: {name!r} is missing"
    known = _mapping(rules, "properties")
    patterns = _mapping(rules, "patternProperties")
    for name, item in value.items():
        there = f"{place}.{name}"
        if name in known:
            yield from _faults(item, known[name], there, root, ())
        matching = [pattern for pattern in patterns if _matches(pattern, name)]
        for pattern in matching:
            yield from _faults(item, patterns[pattern], there, root, ())
        if name not in known and not matching and "additionalProperties" in rules:
            others = rules["additionalProperties"]
            if others is False:
                yield f"{place}: there is no {name!r}; it takes {', '.join(known) or 'nothing'}"
            else:
                yield from _faults(item, others, there, root, ())


def _combined(
    value: Any, rules: Mapping[str, Any], place: str, root: Any, followed: tuple[str, ...]
) -> Iterator[str]:
    for one in _list(rules, "allOf"):
        yield from _faults(value, one, place, root, followed)
    for name in ("anyOf", "oneOf"):
        forms = _list(rules, name)
        if not forms:
            continue
        problems = [next(_faults(value, one, place, root, followed), None) for one in forms]
        count = problems.count(None)
        if not count or (count > 1 and name == "oneOf"):
            said = "; ".join(problem for problem in problems if problem is not None)
            yield f"{place}: fits {count} of its {len(problems)} forms, got {short_repr(value)}" + (
                f" ({said})" if not count else ""
            )
    if "not" in rules and next(_faults(value, rules["not"], place, root, followed), None) is None:
        yield f"{place}: is what it must not be, got {short_repr(value)}"


def _size(size: int, rules: Mapping[str, Any], ending: str, what: str, place: str) -> Iterator[str]:
    least: Any
    most: Any
    least, most = rules.get(f"min{ending}"), rules.get(f"max{ending}")
    if _is_number(least) and size < least:
        yield f"{place}: needs at least {least} {what}, got {size}"
    if _is_number(most) and size > most:
        yield f"{place}: needs at most {most} {what}, got {size}"


def _target(reference: str, root: Any) -> Any:
    """What ``#/a/b`` names; True, which everything fits, for what is not there."""
    here = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, Mapping) or name not in here:
            return True
        here = cast("Mapping[str, Any]", here)[name]
    return here


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exact(value: float) -> Fraction:
    """The number as it is written: 0.3 is three times 0.1. Infinity, which 1e999 is read as, is a multiple of all."""
    return Fraction(str(value)) if math.isfinite(value) else Fraction(0)


def _matches(pattern: object, value: str) -> bool | None:
    """Whether a pattern is found in a text; None for none, and for one that Python can't read: the dialects differ."""
    if not isinstance(pattern, str):
        return None
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return None


def _list(rules: Mapping[str, Any], name: str) -> list[Any]:
    value = rules.get(name)
    return value if _is_list(value) else []


def _mapping(rules: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = rules.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _anything(_value: object) -> bool:
    return True


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON: 1 and 1.0 are the same, 1 and true are not."""
    if type(one) is bool or type(other) is bool:
        return one is other
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if _is_dict(one) and _is_dict(other):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)
