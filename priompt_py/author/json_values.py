"""JSON values inside elements: checked and copied, so that nothing of the caller's is shared."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from priompt_py.author.checks import wrong_type, wrong_value
from priompt_py.author.children import a_type, clean_text, has_digits, is_list, is_mapping
from priompt_py.model.values import short_repr

__all__ = ["MOST_LEVELS", "NotJsonError", "json_argument", "json_copy", "json_scalar", "path_text"]

MOST_LEVELS = 200
"""How deep lists and mappings may stand in each other: json.dumps fails at some hundreds more."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class NotJsonError(Exception):
    """A value has no JSON form. ``path`` leads to it from the value that was given; ``is_type``
    tells whether its type or its value is at fault."""

    def __init__(self, path: Iterable[str | int], problem: str, *, is_type: bool) -> None:
        super().__init__(problem)
        self.path = tuple(path)
        self.problem = problem
        self.is_type = is_type


def path_text(path: Iterable[str | int]) -> str:
    """A JSON path without its root: ``[2].children[0]["odd name"]``."""
    return "".join(
        f"[{step}]"
        if isinstance(step, int)
        else f".{step}"
        if _NAME.fullmatch(step)
        else f"[{_quoted(step)}]"
        for step in path
    )


def _quoted(step: str) -> str:
    shown = step if len(step) <= 60 else step[:57] + "..."
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def json_argument(tag: str, name: str, value: object, *, strict: bool = True) -> Any:
    """A copy of an argument that is JSON; raises ArgumentTypeError or ArgumentValueError that names
    the place in it."""
    try:
        return json_copy(value, strict=strict)
    except NotJsonError as error:
        wrong = wrong_type if error.is_type else wrong_value
        place = f"{name}{path_text(error.path)}"
        raise wrong(place, f"{tag}() needs JSON for {name}, but {place}: {error.problem}") from None


def json_copy(value: object, *, strict: bool = True) -> Any:
    """A deep copy of a JSON value: plain dicts, lists, texts, numbers, booleans and None.

    Tuples become lists, mappings dicts, subclasses of str, int and float their plain values.
    Raises NotJsonError for anything else, for keys that are no text, for NaN and infinities, and
    for more than :data:`MOST_LEVELS` levels (so for what holds itself). Where it is not
    ``strict``, dicts and lists are copied alike, and all that is in them stays as it is.
    """
    top: list[Any] = []
    stack: list[tuple[Iterator[tuple[Any, Any]], Any]] = [(iter(((0, value),)), top)]
    path: list[
        str | int
    ] = []  # the keys of the containers on the stack; the first stands for the value itself
    while stack:
        items, target = stack[-1]
        for raw_key, item in items:
            key = _key(raw_key, path) if strict and isinstance(target, dict) else raw_key
            inner = _container(item, strict=strict)
            made = inner[1] if inner else json_scalar(item, [*path, key][1:]) if strict else item
            if isinstance(target, dict):
                target[key] = made
            else:
                target.append(made)
            if inner:
                if len(path) >= MOST_LEVELS:
                    shown = path[1:7]
                    raise NotJsonError(shown, f"nested more than {MOST_LEVELS} levels deep", is_type=False)
                stack.append(inner)
                path.append(key)
                break
        else:
            stack.pop()
            if path:
                path.pop()
    return top[0]


def _container(item: object, *, strict: bool) -> tuple[Iterator[tuple[Any, Any]], Any] | None:
    """The items of a list or mapping with their keys, and the list or dict that will hold their copies."""
    copied = strict or type(item) in (dict, list)
    if copied and is_mapping(item):
        return iter(item.items()), {}
    if copied and is_list(item):
        return iter(enumerate(item)), []
    return None


def _key(key: object, path: list[str | int]) -> str:
    if not isinstance(key, str):
        problem = f"a key must be text, got {short_repr(key)} ({a_type(key)})"
        raise NotJsonError(path[1:], problem, is_type=True)
    return clean_text(key)


def json_scalar(item: object, path: Iterable[str | int] = ()) -> str | int | float | None:
    """A text, number, boolean or None as its plain value; raises NotJsonError with ``path`` for the rest."""
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, str):
        return clean_text(item)
    if isinstance(item, int):
        whole = int.__int__(item)
        if has_digits(whole):
            return whole
        raise NotJsonError(path, f"an int of {whole.bit_length()} bits has too many digits", is_type=False)
    if isinstance(item, float):
        exact = float.__float__(item)
        if math.isfinite(exact):
            return exact
        raise NotJsonError(path, f"{exact!r} is no JSON number", is_type=False)
    raise NotJsonError(path, f"{a_type(item)} has no JSON form (got {short_repr(item)})", is_type=True)
