"""Trees as the Python that makes them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, cast

import attrs

from priompt_py.model.elements import (
    AsyncNode,
    Call,
    Child,
    ComponentCall,
    Element,
    children_of,
    tag_name,
)

__all__ = ["code_of", "value_code"]

_WIDTH = 88  # characters of a line, where a line can be broken
_INDENT = "    "


def code_of(node: Any, *, most: int = 4_000, indent: str = "") -> str:
    """The code that makes a node (a child, or a list of them), on several lines where one is too short.

    Functions in it are shown by their names, other values by their repr; what a component gives is not shown, since
    calling it gives it again. A text of more than ``most`` characters is cut. Does not recurse, whatever the depth.
    Lines but the first begin with ``indent``.
    """
    writer = _Writer(most)
    writer.write(node, indent)
    text = "".join(writer.out)
    return text if len(text) <= most else f"{text[: most - 1]}…"


@attrs.define
class _Writer:
    most: int
    out: list[str] = attrs.field(factory=list[str])
    size: int = 0
    flat: dict[int, int] = attrs.field(
        factory=dict[int, int]
    )  # id of an element -> length of its code in one line

    def write(self, node: Any, indent: str) -> None:
        """Write a node; ``stack`` holds text, and nodes with the indentation that they stand at."""
        stack: list[str | tuple[Any, str]] = [(node, indent)]
        while stack and self.size <= self.most:
            here = stack.pop()
            if isinstance(here, str):
                self.out.append(here)
                self.size += len(here)
                continue
            value, indent = here
            head, kids = _parts(value)
            if kids is None:
                stack.append(head)
                continue
            stack.append("]")
            if len(indent) + self._length(value) <= _WIDTH:
                for place in range(len(kids) - 1, -1, -1):
                    stack.append((kids[place], indent))
                    if place:
                        stack.append(", ")
            else:
                inner = indent + _INDENT
                stack.append(f"\n{indent}")
                for kid in reversed(kids):
                    stack += [",", (kid, inner), f"\n{inner}"]
            stack.append(f"{head}[")

    def _length(self, root: Any) -> int:
        """The length of a node's code in one line; more than the width where it is anything more."""
        total, stack = 0, [root]
        while stack and total <= _WIDTH:
            head, kids = _parts(stack.pop())
            total += len(head)
            if kids is not None:
                total += 2 * max(1, len(kids))
                stack.extend(kids)
        return total


def _parts(node: Any) -> tuple[str, tuple[Child, ...] | list[Any] | None]:
    """What stands before the brackets, and what stands in them; None without brackets."""
    if isinstance(node, (list, tuple)):
        return "", list(cast("list[Any]", node))
    if not isinstance(node, Element):
        return value_code(node), None
    if isinstance(node, AsyncNode):
        return node.name, None
    return f"{tag_name(node)}{_arguments(node)}", children_of(node) or None


def _arguments(element: Element) -> str:
    if isinstance(element, ComponentCall):
        given = [value_code(value) for value in element.args]
        given += [f"{name}={value_code(value)}" for name, value in element.kwargs.items()]
        return f"({', '.join(given)})"
    shown: list[str] = []
    for field in attrs.fields(type(element)):
        value = getattr(element, field.name)
        if field.name in ("children", "pieces", "role", "media_type") or value is None:
            continue
        if field.name in ("tokens", "token_limit", "text", "url") or not _is_default(value, field.default):
            shown.append(f"{field.name}={value_code(value)}")
    if not shown and element.kind in ("capture", "config"):  # tags that are functions
        return "()"
    return f"({', '.join(shown)})" if shown else ""


_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def _is_default(value: object, default: object) -> bool:
    if value == _NO_PARAMETERS:  # what tool_definition() makes of none
        return True
    if hasattr(default, "factory"):  # attrs makes a new mapping for each element
        return not value
    return type(value) is type(default) and value == default


_MOST_PLAIN = 60  # characters of a text that is not looked at for repetitions


def _text_code(text: str) -> str:
    """A text's repr; of one that is a short text again and again: that text, times a number."""
    if len(text) > _MOST_PLAIN:
        period = text.find(text[:_MOST_PLAIN], 1)
        if 0 < period <= len(text) // 2 and len(text) % period == 0:
            unit, times = text[:period], len(text) // period
            if unit * times == text:
                return f"{unit!r} * {times}"
    return repr(text)


def value_code(value: object) -> str:
    """The code of an argument's or a prop's value: its repr, where no function, element or call is in it."""
    if isinstance(value, Element):
        return code_of(value, most=10**9)
    if isinstance(value, Call):
        given = {"id": value.id, "name": value.name, "arguments": value.arguments}
        return repr({name: text for name, text in given.items() if text is not None})
    if isinstance(value, re.Pattern):
        return re.sub(r"^re\.compile\((.*)\)$", r"re.compile(\1)", repr(cast("object", value)))
    kind = type(value)
    if kind is str:
        return _text_code(cast("str", value))
    if kind is list or kind is tuple:
        items = [value_code(item) for item in cast("list[object]", value)]
        if kind is list:
            return f"[{', '.join(items)}]"
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return "{" + ", ".join(f"{value_code(key)}: {value_code(item)}" for key, item in pairs) + "}"
    if inspect.isroutine(value) or isinstance(value, type):
        return str(getattr(value, "__qualname__", None) or getattr(value, "__name__", "function"))
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a user's repr that fails must not hide what is reported
        return f"<{kind.__qualname__} whose repr raises {type(error).__name__}>"
