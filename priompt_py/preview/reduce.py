"""Smaller trees that break the same property, for a tree that hypothesis did not make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from priompt_py.engine.expand import Expansions
from priompt_py.errors import PromptError
from priompt_py.model.code import code_of
from priompt_py.model.elements import Child, ComponentCall, Container, Element, Fallback, First, Scope
from priompt_py.preview.settle import Settled, given_by, settled, with_given

__all__ = ["reduced", "shown"]

_MOST_TRIES = 300  # trees that are tried


def reduced(tree: Settled, breaks: Callable[[Settled], bool]) -> Settled:
    """The smallest tree found that ``breaks`` is true of, as ``tree`` is.

    Children are left out, elements replaced by their children, texts halved, as long as that works. Errors that a
    smaller tree raises mean that it is no example.
    """
    tries = 0
    again = True
    while again and tries < _MOST_TRIES:
        again = False
        for smaller in _smaller(tree.children):
            tries += 1
            if tries > _MOST_TRIES:
                break
            candidate = _hooked(smaller)
            try:
                found = breaks(candidate)
            except PromptError:
                found = False
            if found:
                tree, again = candidate, True
                break
    return tree


def _hooked(children: tuple[Child, ...]) -> Settled:
    """A tree of settled elements with recorders of its own."""
    expansions = Expansions()
    stack: list[Child] = list(children)
    while stack:
        here = stack.pop()
        if isinstance(here, ComponentCall):
            kids = given_by(here) or ()
            expansions.results[id(here)] = kids
            stack.extend(kids)
        elif isinstance(here, Container):
            stack.extend(here.children)
    return settled((children, expansions), len)


def _smaller(children: tuple[Child, ...]) -> Iterator[tuple[Child, ...]]:
    """Trees with one thing less, the boldest first."""
    half = len(children) // 2
    if half > 1:
        yield children[:half]
        yield children[half:]
    for index, child in enumerate(children):
        before, after = children[:index], children[index + 1 :]
        yield (*before, *after)
        if isinstance(child, str):
            if len(child) > 1:
                yield (*before, child[: len(child) // 2], *after)
            continue
        if not isinstance(child, Element):
            continue
        inside = _kids(child)
        if inside is None:
            continue
        yield (*before, *inside, *after)
        for kids in _smaller(inside):
            yield (*before, _with_kids(child, kids), *after)


def _kids(element: Element) -> tuple[Child, ...] | None:
    if isinstance(element, ComponentCall):
        return given_by(element)
    return element.children if isinstance(element, Container) else None


def _with_kids(element: Element, kids: tuple[Child, ...]) -> Element:
    if isinstance(element, ComponentCall):
        return with_given(element, kids)
    assert isinstance(element, Container)
    return attrs.evolve(element, children=kids)


# ------------------------------------------------------------------------------------------ for people


def shown(children: tuple[Child, ...], *, indent: str = "", most: int = 4_000) -> str:
    """A settled tree as code: without recorders, what components gave in their place."""
    return code_of(_plain(children), indent=indent, most=most)


def _plain(children: tuple[Child, ...]) -> list[Any]:
    """The tree without what was put into it for the check. Recursive: for trees that are to be printed."""
    made: list[Any] = []
    for child in children:
        if isinstance(child, ComponentCall):
            made.extend(_plain(given_by(child) or ()))
        elif isinstance(child, (First, Fallback)):
            alternatives = [_alternative(one) for one in child.children]
            made.append(_without_recorders(child, tuple(alternatives)))
        elif isinstance(child, Container):
            made.append(_without_recorders(child, tuple(_plain(child.children))))
        else:
            made.append(child)
    return made


def _alternative(child: Child) -> Any:
    """What a component gives is one alternative."""
    plain = _plain((child,))
    return plain[0] if len(plain) == 1 else _ONE(children=tuple(plain), function=_together)


def _together() -> None:
    """Shown in the place of a component that gives several nodes."""


_together.__name__ = "component(lambda nodes: nodes)"
_ONE = ComponentCall


def _without_recorders(element: Container, kids: tuple[Any, ...]) -> Container:
    if isinstance(element, (Scope, First)):
        return attrs.evolve(element, children=kids, on_include=None, on_eject=None)
    return attrs.evolve(element, children=kids)
