"""From elements to JSON data, by the element table."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import attrs

from priompt_py.author.children import spread
from priompt_py.author.element_table import ELEMENTS_BY_NAME, Argument
from priompt_py.author.json_reader import json_fault
from priompt_py.author.json_values import NotJsonError, json_copy
from priompt_py.errors import JsonFormError
from priompt_py.model.elements import AsyncNode, Child, ComponentCall, Element, children_of, element_type

__all__ = ["JsonWriter"]


@attrs.define(eq=False)
class _Frame:
    """Children at hand, what was made of them, and the object that gets that."""

    children: Iterator[tuple[int, Child]]
    owner: dict[str, Any] | None = None
    at: int = -1
    made: list[Any] = attrs.field(factory=list[Any])


class JsonWriter:
    """Writes one tree, without recursion."""

    def __init__(self, *, drop_functions: bool) -> None:
        self._drop_functions = drop_functions
        self._frames: list[_Frame] = []

    def write(self, node: object) -> list[Any]:
        """The JSON form of ``node``; see ``to_json``."""
        top = _Frame(enumerate(spread(node, "root")))
        self._frames.append(top)
        while self._frames:
            frame = self._frames[-1]
            for index, child in frame.children:
                frame.at = index
                if not isinstance(child, Element):
                    frame.made.append(child)
                    continue
                written = self._element(child)
                if written is None:
                    continue
                frame.made.append(written)
                if children_of(child):
                    self._frames.append(_Frame(enumerate(children_of(child)), written))
                    break
            else:
                self._frames.pop()
                if frame.owner is not None and frame.made:
                    frame.owner["children"] = frame.made
        return top.made

    def _fault(self, problem: str, *steps: str | int) -> JsonFormError:
        path: list[str | int] = [self._frames[0].at]
        for frame in self._frames[1:]:
            path += ["children", frame.at]
        return json_fault([*path, *steps], problem)

    def _no_function(self, what: str, *steps: str | int) -> None:
        if not self._drop_functions:
            raise self._fault(f"{what} has no JSON form; drop_functions=True leaves it out", *steps)

    def _element(self, element: Element) -> dict[str, Any] | None:
        """The object of an element without its children; None if it is left out."""
        name = element_type(element)
        if isinstance(element, (ComponentCall, AsyncNode)):
            kind = "component" if isinstance(element, ComponentCall) else "async node"
            self._no_function(f"the {kind} {name!r} is a function, which")
            return None
        info = ELEMENTS_BY_NAME[name]
        if not info.has_json_form:
            self._no_function(f"{name} holds functions only, which")
            return None
        written: dict[str, Any] = {"type": name}
        for argument in info.arguments:
            value = getattr(element, argument.name)
            if value is None or value == argument.default:
                continue
            if argument.schema is None or callable(value):
                self._no_function("this is a function, which", argument.name)
                if argument.required:
                    return None
                continue
            written[argument.name] = self._argument(argument, value)
        return written

    def _argument(self, argument: Argument, value: Any) -> Any:
        if isinstance(value, bytes):
            return base64.b64encode(value).decode("ascii")
        if argument.name == "tool_calls":
            value = [attrs.asdict(call) for call in value]
        elif argument.name == "function_call":
            value = {"name": value.name, "arguments": value.arguments}
        try:
            return json_copy(value)
        except NotJsonError as error:
            raise self._fault(error.problem, argument.name, *error.path) from None
