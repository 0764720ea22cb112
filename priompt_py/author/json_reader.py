"""From JSON data to elements, by the element table."""

from __future__ import annotations

import base64
import binascii
import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from priompt_py.author.children import clean_text, is_list, is_mapping
from priompt_py.author.element_table import ELEMENTS_BY_NAME, NAMES_OF_TAGS, ElementInfo
from priompt_py.author.json_values import NotJsonError, json_copy, json_scalar, path_text
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, JsonFormError
from priompt_py.model.elements import Node
from priompt_py.model.values import short_repr

__all__ = ["JsonReader", "json_fault"]

_LONG_PATH = 40  # steps; of a longer path both ends are shown
_END = 8

# What people write for other names; near spellings are found without this.
_SLIPS = {"content": "children", "limit": "token_limit", "prio": "p", "priority": "p", "text": "children"}


def json_fault(steps: Sequence[str | int], problem: str, more: str = "") -> JsonFormError:
    """The error for what stands at a JSON path; ``more`` is the rest of the path as text."""
    path = path_text(steps)
    if len(steps) > _LONG_PATH:
        path = f"{path_text(steps[:_END])}...({len(steps) - 2 * _END} more)...{path_text(steps[-_END:])}"
    return JsonFormError(f"${path}{more}: {problem}", path=f"${path_text(steps)}{more}")


@attrs.define(eq=False)
class _Frame:
    """An array at hand: an element's children, a plain one, or the one node that is no array."""

    items: Sequence[Any]
    element: ElementInfo | None = None
    arguments: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    indexed: bool = True
    at: int = -1
    made: list[Any] = attrs.field(factory=list[Any])


class JsonReader:
    """Reads one tree, without recursion. ``most_deep`` is how many elements may stand in each other."""

    def __init__(self, most_deep: int | None = None) -> None:
        self._most_deep = most_deep
        self._deep = 0
        self._frames: list[_Frame] = []
        self._open: dict[int, None] = {}  # the arrays at hand, by id

    def read(self, data: object) -> Node:
        """The node of ``data``; see ``from_json``."""
        frame = _Frame(data) if is_list(data) else _Frame([data], indexed=False)
        self._push(frame)
        while True:
            frame = self._frames[-1]
            frame.at += 1
            if frame.at < len(frame.items):
                self._item(frame, frame.items[frame.at])
                continue
            self._frames.pop()
            self._open.popitem()
            if not self._frames:
                return frame.made[0] if len(frame.made) == 1 else frame.made
            if frame.element is None:
                self._frames[-1].made += frame.made
            else:
                self._deep -= 1
                self._frames[-1].made.append(self._make(frame.element, frame.arguments, frame.made))

    def _fault(self, problem: str, *steps: str | int, more: str = "") -> JsonFormError:
        path: list[str | int] = []
        for frame in self._frames:
            if frame.element is not None:
                path.append("children")
            if frame.indexed:
                path.append(frame.at)
        return json_fault([*path, *steps], problem, more)

    def _push(self, frame: _Frame) -> None:
        if id(frame.items) in self._open:
            raise self._fault("this array holds itself")
        # With 200 elements in each other there are 401 arrays; plain ones may not go deeper than that either.
        if self._most_deep is not None and len(self._frames) > 2 * self._most_deep:
            raise self._fault(f"arrays are nested more than {2 * self._most_deep} deep")
        self._frames.append(frame)
        self._open[id(frame.items)] = None

    def _item(self, frame: _Frame, item: object) -> None:
        if isinstance(item, str):
            frame.made.append(clean_text(item))
        elif is_mapping(item):
            self._element(frame, item)
        elif is_list(item):
            self._push(_Frame(item))
        else:
            try:
                frame.made.append(json_scalar(item))
            except NotJsonError as error:
                raise self._fault(error.problem) from None

    def _element(self, frame: _Frame, item: Mapping[Any, Any]) -> None:
        element = self._info(item)
        if self._deep == self._most_deep:
            raise self._fault(f"elements are nested more than {self._most_deep} deep")
        arguments: dict[str, Any] = {}
        for name, value in item.items():
            if name not in ("type", "children"):
                arguments[name] = self._argument(element, name, value)
        for argument in element.arguments:
            if argument.required and argument.name not in arguments:
                raise self._fault(f"{element.name} needs {argument.name}")
        if "children" not in item:
            frame.made.append(self._make(element, arguments, []))
            return
        children = item["children"]
        if element.is_void:
            raise self._fault(f"{element.name} takes no children", "children")
        if not is_list(children):
            raise self._fault(f"needs an array of nodes, got {short_repr(children)}", "children")
        self._push(_Frame(children, element, arguments))
        self._deep += 1

    def _info(self, item: Mapping[Any, Any]) -> ElementInfo:
        if "type" not in item:
            raise self._fault('an element needs its "type"')
        name = item["type"]
        if not isinstance(name, str):
            raise self._fault(f"needs the name of an element, got {short_repr(name)}", "type")
        element = ELEMENTS_BY_NAME.get(name)
        if element is None:
            near = NAMES_OF_TAGS.get(name) or _near(name, ELEMENTS_BY_NAME)
            hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(ELEMENTS_BY_NAME)}"
            raise self._fault(f"no element is called {short_repr(name)}{hint}", "type")
        if not element.has_json_form:
            raise self._fault(f"{element.name} holds functions only, which have no JSON form", "type")
        return element

    def _argument(self, element: ElementInfo, name: object, value: object) -> Any:
        if not isinstance(name, str):
            raise self._fault(f"a key must be text, got {short_repr(name)}")
        argument = element.by_name.get(name)
        if argument is None:
            names = [*element.by_name] + ([] if element.is_void else ["children"])
            near = _SLIPS[name] if _SLIPS.get(name) in names else _near(name, names)
            hint = f"; did you mean {near!r}?" if near else f"; it takes {', '.join(names)}"
            raise self._fault(f"{element.name} takes no {short_repr(name)}{hint}", name)
        if argument.schema is None:
            raise self._fault("this is a function, which has no JSON form", name)
        try:
            plain = json_copy(value)
        except NotJsonError as error:
            raise self._fault(error.problem, name, *error.path) from None
        if element.name == "image" and name == "data" and plain is not None:
            return self._bytes(plain)
        return plain

    def _bytes(self, text: object) -> bytes:
        if not isinstance(text, str):
            raise self._fault(f"needs base64 text, got {short_repr(text)}", "data")
        try:
            return base64.b64decode(text.encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError) as error:
            raise self._fault(f"this is no base64: {error}", "data") from None

    def _make(self, element: ElementInfo, arguments: Mapping[str, Any], children: list[Any]) -> Any:
        try:
            made = element.make(**arguments)
            return made if element.is_void else made[children]
        except (ArgumentTypeError, ArgumentValueError) as error:
            argument = error.argument
            raise self._fault(str(error), more="" if argument is None else f".{argument}") from None


def _near(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that somebody probably meant."""
    found = difflib.get_close_matches(name.lower(), names, n=1)
    return found[0] if found else None
