"""Pictures of values and trees: equal before and after means that nothing was changed in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from priompt_py.author.children import is_list, is_mapping
from priompt_py.model.elements import Element
from priompt_py.template.kinds import is_set

__all__ = ["changed", "picture"]

Picture = list[tuple[str, Any]]
"""Place and what stands there, for everything that a value holds."""

_PLAIN = (str, int, float, complex, bool, bytes, type(None))


def picture(value: object, name: str) -> Picture:
    """All that ``value`` holds, to any depth: plain values by type and repr, the rest by identity and content.

    ``name`` is what places begin with. Looks into lists, mappings, sets, elements and objects with attributes; not
    into functions, classes and modules, nor at what an iterator would give.
    """
    found: Picture = []
    seen: set[int] = set()
    stack: list[tuple[str, Any]] = [(name, value)]
    while stack:
        place, here = stack.pop()
        if isinstance(here, _PLAIN):
            found.append((place, (type(here), repr(here))))
            continue
        found.append((place, (type(here), id(here))))
        is_code = isinstance(here, type) or (callable(here) and not isinstance(here, Element))
        if is_code or id(here) in seen:
            continue
        seen.add(id(here))
        inside = list(_inside(place, here))
        found.append((f"the length of {place}", len(inside)))
        stack.extend(reversed(inside))
    return found


def _inside(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if is_mapping(value):
        for key, item in value.items():
            yield f"{place}[{key!r}]", item
    elif is_list(value):
        for index, item in enumerate(value):
            yield f"{place}[{index}]", item
    elif is_set(value):
        for item in sorted(value, key=repr):
            yield f"an item of {place}", item
    elif isinstance(value, bytearray):
        yield f"the bytes of {place}", bytes(value)
    else:
        for attribute in _attributes(value):
            try:
                item = object.__getattribute__(value, attribute)
            except AttributeError:  # a slot that holds nothing
                continue
            yield f"{place}.{attribute}", item


def _attributes(value: object) -> list[str]:
    """The names of what is stored in an object: its slots and its ``__dict__``. Nothing is computed."""
    names: list[str] = []
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names.extend([slots] if isinstance(slots, str) else slots)
    own = getattr(type(value), "__dictoffset__", 0) and vars(value)
    names.extend(own or ())
    return [name for name in dict.fromkeys(names) if name not in ("__weakref__", "__dict__")]


def changed(before: Picture, after: Picture) -> str | None:
    """The first place that is not what it was; None if all is."""
    if before == after:
        return None
    old = dict(before)
    for place, what in after:
        if place not in old or old[place] != what:
            return place
    new = dict(after)
    return next((place for place, _ in before if place not in new), after[0][0])
