"""Whether data are what a JSON Schema says: the parts of it that definitions of tools use.

Read are the keywords of JSON Schema 2020-12 for types, numbers, texts, lists, objects and their combinations, and
``$ref`` into ``$defs``. Other keywords, ``format`` among them, are notes and refuse nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
    kinds: list[str] = [named] if isinstance(named, str) else [*(named or [])]
    if kinds and not any(_TYPES.get(kind, _anything)(value) for kind in kinds):
        wanted = " or ".join(_WANTED.get(kind, f"a {kind}") for kind in kinds)
        yield f"{place}: needs {wanted}, got {short_repr(value)}"
    if "enum" in rules and not any(_same(value, one) for one in rules["enum"]):
        yield f"{place}: needs one of {', '.join(map(repr, rules['enum']))}, got {short_repr(value)}"
    if "const" in rules and not _same(value, rules["const"]):
        yield f"{place}: needs {rules['const']!r}, got {short_repr(value)}"


def _of_number(value: Any, rules: Mapping[str, Any], place: str) -> Iterator[str]:
    bounds: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
        ("minimum", "at least", lambda a, b: a >= b),
        ("maximum", "at most", lambda a, b: a <= b),
        ("exclusiveMinimum", "more than", lambda a, b: a > b),
        ("exclusiveMaximum", "less than", lambda a, b: a < b),
        ("multipleOf", "a multiple of", lambda a, b: a % b == 0),
    )
    for name, words, fits in bounds:
        if name in rules and not fits(value, rules[name]):
            yield f"{place}: needs {words} {rules[name]}, got {short_repr(value)}"


def _of_text(value: str, rules: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from _size(len(value), rules, "Length", "characters", place)
    if "pattern" in rules:
        try:
            found = re.search(rules["pattern"], value)
        except re.error:  # JSON Schema has another dialect: one that Python can't read says nothing
            return
        if found is None:
            yield f"{place}: needs text that matches {rules['pattern']!r}, got {short_repr(value)}"


def _of_list(value: list[Any], rules: Mapping[str, Any], place: str, root: Any) -> Iterator[str]:
    yield from _size(len(value), rules, "Items", "items", place)
    first: list[Any] = rules.get("prefixItems") or []
    for index, item in enumerate(value):
        if index < len(first):
            yield from _faults(item, first[index], f"{place}[{index}]", root, ())
        elif "items" in rules:
            yield from _faults(item, rules["items"], f"{place}[{index}]", root, ())
    if rules.get("uniqueItems") and any(
        _same(one, other) for index, one in enumerate(value) for other in value[:index]
    ):
        yield f"{place}: needs items that differ, got {short_repr(value)}"


def _of_object(value: dict[str, Any], rules: Mapping[str, Any], place: str, root: Any) -> Iterator[str]:
    yield from _size(len(value), rules, "Properties", "keys", place)
    for name in rules.get("required") or ():
        if name not in value:
            yield f"{place}: {name!r} is missing"
    known: Mapping[str, Any] = rules.get("properties") or {}
    patterns: Mapping[str, Any] = rules.get("patternProperties") or {}
    for name, item in value.items():
        there = f"{place}.{name}"
        if name in known:
            yield from _faults(item, known[name], there, root, ())
        matching = [pattern for pattern in patterns if re.search(pattern, name)]
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
    for one in rules.get("allOf") or ():
        yield from _faults(value, one, place, root, followed)
    for name in ("anyOf", "oneOf"):
        if name not in rules:
            continue
        problems = [next(_faults(value, one, place, root, followed), None) for one in rules[name]]
        count = problems.count(None)
        if not count or (count > 1 and name == "oneOf"):
            said = "; ".join(problem for problem in problems if problem is not None)
            yield f"{place}: fits {count} of its {len(problems)} forms, got {short_repr(value)}" + (
                f" ({said})" if not count else ""
            )
    if "not" in rules and next(_faults(value, rules["not"], place, root, followed), None) is None:
        yield f"{place}: is what it must not be, got {short_repr(value)}"


def _size(size: int, rules: Mapping[str, Any], ending: str, what: str, place: str) -> Iterator[str]:
    least, most = rules.get(f"min{ending}"), rules.get(f"max{ending}")
    if least is not None and size < least:
        yield f"{place}: needs at least {least} {what}, got {size}"
    if most is not None and size > most:
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
