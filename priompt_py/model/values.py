"""Equality, hash, repr and pickling of elements, none of which recurses into the tree."""

from __future__ import annotations

import inspect
import reprlib
import sys
from itertools import islice
from typing import Any

import attrs

from priompt_py.model.elements import (
    AsyncNode,
    Child,
    ComponentCall,
    Container,
    Element,
    children_of,
    field_names,
    tag_name,
)

__all__ = ["brief", "equal", "flatten", "shallow_hash", "short_repr", "unflatten"]

# ------------------------------------------------------------------------------------------ equality

_PRIORITY = ("p", "prel")


def equal(left: Element, right: Element) -> bool:
    """Whether two trees are equal: kinds, arguments and children.

    Numbers and booleans are equal to their own type only, since ``1``, ``1.0`` and ``True`` are
    equal in Python and are shown and sent differently; priorities compare as numbers.
    """
    stack: list[tuple[Any, Any]] = [(left, right)]
    seen: set[tuple[int, int]] = set()  # what stands in many places is compared once
    while stack:
        a, b = stack.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if isinstance(a, Element):
            if not (isinstance(b, Element) and a.kind == b.kind and a.p == b.p and a.prel == b.prel):
                return False
            seen.add((id(a), id(b)))
            pairs = [
                (getattr(a, name), getattr(b, name)) for name in field_names(type(a)) if name not in _PRIORITY
            ]
            kids_a, kids_b = children_of(a), children_of(b)
            if len(kids_a) != len(kids_b):
                return False
            stack.extend(pair for pair in pairs if pair[0] is not pair[1])
            stack.extend(zip(kids_a, kids_b, strict=True))
            continue
        kind = _class(a)
        if kind is not _class(b):
            return False
        if issubclass(kind, (list, tuple)):
            if len(a) != len(b):
                return False
            seen.add((id(a), id(b)))
            stack.extend(zip(a, b, strict=True))
        elif issubclass(kind, dict):
            if a.keys() != b.keys():
                return False
            seen.add((id(a), id(b)))
            stack.extend((a[key], b[key]) for key in a)
        elif a != b:
            return False
    return True


def _class(value: object) -> type[object]:
    return type(value)


def shallow_hash(element: Element) -> int:
    """A hash of the element's own arguments and texts: equal trees have equal ones."""
    own = [getattr(element, name) for name in field_names(type(element))]
    kids = children_of(element)
    return hash(
        (
            element.kind,
            len(kids),
            *(value for value in own if isinstance(value, (str, int, float, bytes))),
            # A thousand sections of one prompt differ in their first texts.
            *(kid.kind if isinstance(kid, Element) else kid for kid in kids[:4]),
        )
    )


# ------------------------------------------------------------------------------------------ repr

_MOST = 400  # characters of a repr; a whole tree can be megabytes
_MOST_OF_VALUE = 60


class _Short(reprlib.Repr):
    """Values in a few words, whatever their size and depth."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = self.maxlong = _MOST_OF_VALUE

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, Element):  # elements in props: not their content, which may go as deep as it likes
            return f"{tag_name(x)}(...)"
        if isinstance(x, str):
            return repr(x if len(x) <= _MOST_OF_VALUE else x[: _MOST_OF_VALUE - 3] + "...")
        if isinstance(x, (bytes, bytearray)):
            return repr(bytes(x[:16])) + (f"... ({len(x)} bytes)" if len(x) > 16 else "")
        try:
            return super().repr1(x, level)
        except Exception as error:  # noqa: BLE001 - a user's repr that fails must not hide what we report
            if type(x) is int:
                return f"<int of {x.bit_length()} bits>"
            return f"<{type(x).__qualname__} whose repr raises {type(error).__name__}>"


_short = _Short()


def short_repr(value: object) -> str:
    """A repr of some tens of characters, of anything."""
    return _short.repr(value)


def brief(element: Element) -> str:
    """One line of code-like text for an element, cut after some hundred characters."""
    out: list[str] = []
    size = 0
    stack: list[Child | _Raw] = [element]
    while stack:
        here = stack.pop()
        if isinstance(here, _Raw):
            text = here.text
        elif isinstance(here, Element):
            text = tag_name(here) + _arguments(here)
            kids = children_of(here)
            if kids:
                text += "["
                stack.append(_Raw("]"))
                for i, kid in enumerate(reversed(kids[:_MOST])):
                    if i:
                        stack.append(_Raw(", "))
                    stack.append(kid)
        else:
            text = short_repr(here)
        out.append(text)
        size += len(text)
        if size > _MOST:
            return "".join(out)[: _MOST - 3] + "..."
    return "".join(out)


@attrs.frozen
class _Raw:
    text: str


def _arguments(element: Element) -> str:
    shown: list[str] = []
    if isinstance(element, ComponentCall):
        shown += [short_repr(value) for value in islice(element.args, 20)]
        shown += [f"{name}={short_repr(value)}" for name, value in islice(element.kwargs.items(), 20)]
    elif not isinstance(element, AsyncNode):
        for field in attrs.fields(type(element)):
            value = getattr(element, field.name)
            if field.name in ("children", "pieces", "role") or value is None:
                continue
            if field.name in ("tokens", "token_limit") or not _is_default(value, field.default):
                shown.append(f"{field.name}={short_repr(value)}")
    return f"({', '.join(shown)})" if shown else ""


def _is_default(value: object, default: object) -> bool:
    if hasattr(default, "factory"):  # attrs makes a new mapping for each element
        return not value
    return type(value) is type(default) and value == default


# ------------------------------------------------------------------------------------------ pickling


@attrs.frozen
class _Inner:
    """A function that its module knows only inside what a decorator made of it."""

    outer: Any


def flatten(root: Element) -> list[Any]:
    """A tree as a flat list, children before parents, for pickling to any depth.

    An entry is ``(class, field values, child references)``; a reference is ``(index,)`` of an
    earlier entry, or the text, number, boolean or None itself. What is shared stays shared.
    """
    flat: list[Any] = []
    index: dict[int, int] = {}
    stack: list[tuple[Element, bool]] = [(root, False)]
    while stack:
        here, done = stack.pop()
        if id(here) in index:
            continue
        kids = children_of(here)
        if not done:
            stack.append((here, True))
            stack.extend((kid, False) for kid in kids if isinstance(kid, Element))
            continue
        references = [(index[id(kid)],) if isinstance(kid, Element) else kid for kid in kids]
        cls = type(here)
        values = [getattr(here, name) for name in field_names(cls)]
        if isinstance(here, ComponentCall):
            values = [_picklable(value) for value in values]
        flat.append((cls, values, references))
        index[id(here)] = len(flat) - 1
    return flat


def unflatten(flat: list[Any]) -> Element:
    """The tree that :func:`flatten` made a list of."""
    made: list[Element] = []
    for cls, values, references in flat:
        element = object.__new__(cls)
        for name, value in zip(field_names(cls), values, strict=True):
            setattr(element, name, value.outer.__wrapped__ if isinstance(value, _Inner) else value)
        if isinstance(element, Container):
            kids: list[Child] = [made[ref[0]] if type(ref) is tuple else ref for ref in references]
            element.children = tuple(kids)
        made.append(element)
    return made[-1]


def _picklable(value: Any) -> Any:
    """A function under ``@component`` is pickled by way of the component, which has its name."""
    if not inspect.isfunction(value):
        return value
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return _Inner(found) if found is not value and getattr(found, "__wrapped__", None) is value else value
