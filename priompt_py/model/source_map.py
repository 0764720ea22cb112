"""Where each piece of a rendered text comes from. Offsets are code points, half-open, absolute."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

from priompt_py.model.elements import Child
from priompt_py.model.place import Place, Spot, path_of

__all__ = ["Inside", "SourceMap", "Span"]


@attrs.define(eq=False)  # frozen would double what it costs to make one
class Span:
    """The stretch ``text[start:end]`` that one element or string gave, with what lies inside it.

    ``kind`` is the element's kind, ``text`` for strings, ``frame``
    for what a chat's flat form puts around content; ``label`` is the element's key or a scope's name.
    Nobody changes one. Siblings are in order and don't overlap. Tool calls, tools, images and marks have no length.
    ``spot`` is where it stands; with ``child``, that one's parent stands there, and it is the child at ``index``: without
    a tuple for each, the collector has half as much to look at. ``children`` may be a function that makes them from the
    span, when somebody asks.
    """

    start: int
    end: int
    _spot: Spot = attrs.field(alias="spot", repr=False)
    kind: str
    label: str | None = None
    _children: Inside = attrs.field(default=(), repr=False, alias="children")
    _index: int = attrs.field(default=-1, repr=False, alias="index")
    _child: Child = attrs.field(default=None, repr=False, alias="child")

    @property
    def spot(self) -> Spot:
        """Where it stands, as links."""
        return self._spot if self._index < 0 else (self._index, self._child, self._spot)

    @property
    def children(self) -> tuple[Span, ...]:
        """The spans inside, in order."""
        if callable(self._children):
            self._children = self._children(self)
        return self._children

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Span) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.start, self.end, self.path, self.kind, self.label, self.children

    def __reduce__(self) -> tuple[Callable[..., Span], tuple[object, ...]]:
        # The path as a text: elements may hold what can't be pickled, and a copy needs none.
        return Span, (self.start, self.end, Place(self.path), self.kind, self.label, self.children)

    @property
    def path(self) -> str:
        """The path from the root."""
        return path_of(self.spot)


Inside: TypeAlias = "tuple[Span, ...] | Callable[[Span], tuple[Span, ...]]"


@attrs.frozen
class SourceMap:
    """The spans of one rendered prompt over ``text``, which is its ``to_text()``."""

    text: str
    root: Span

    def walk(self) -> Iterator[Span]:
        """All spans, parents before children, in order."""
        stack = [self.root]
        while stack:
            here = stack.pop()
            yield here
            stack.extend(reversed(here.children))

    def leaves(self) -> Iterator[Span]:
        """The spans without spans inside that have a length: together they cover the text."""
        return (span for span in self.walk() if not span.children and span.start < span.end)

    def at(self, offset: int) -> tuple[Span, ...]:
        """The spans around the character at ``offset`` (0-based), outermost first; ``()`` outside the text."""
        found: list[Span] = []
        here: Span | None = self.root if self.root.start <= offset < self.root.end else None
        while here is not None:
            found.append(here)
            # The last child that begins there or before; those behind it begin later, those before it end there.
            number = bisect_right(here.children, offset, key=_start)
            inner = here.children[number - 1] if number else None
            here = inner if inner is not None and offset < inner.end else None
        return tuple(found)

    def of(self, name: str) -> tuple[Span, ...]:
        """The spans of the elements with this label or path, in order."""
        return tuple(span for span in self.walk() if name in (span.label, span.path))

    def to_json(self) -> dict[str, Any]:
        """The map as JSON data: ``text`` and ``spans``, parents before children. A span has ``start``, ``end``, ``path``,
        ``kind``, ``label`` where it has one, and ``parent``, the index of the span around it (not in the first, the
        root)."""
        spans: list[dict[str, Any]] = []
        stack: list[tuple[Span, int]] = [(self.root, -1)]
        while stack:
            here, parent = stack.pop()
            written: dict[str, Any] = {
                "start": here.start,
                "end": here.end,
                "path": here.path,
                "kind": here.kind,
            }
            if here.label is not None:
                written["label"] = here.label
            if parent >= 0:
                written["parent"] = parent
            stack += [(child, len(spans)) for child in reversed(here.children)]
            spans.append(written)
        return {"text": self.text, "spans": spans}


def _start(span: Span) -> int:
    return span.start
