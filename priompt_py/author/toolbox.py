"""``tools[…]``: several tools at once, from whatever defines them, with handlers that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from priompt_py.author.calls import explained
from priompt_py.author.checks import callable_or_none, got, one_of_priorities, text_or_none, truth, wrong_type
from priompt_py.author.children import is_list, is_mapping
from priompt_py.author.tools import OnCall, OnFormat, OnParseError, tool_definition
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.elements import Element, Number, Scope, ToolDefinition

__all__ = ["tools"]

Handler: TypeAlias = Callable[..., object]
Tool: TypeAlias = ToolDefinition | Mapping[str, Any] | type[Any] | Handler

_HANDLERS = ("on_call", "on_result", "on_format", "on_parse_error")


class OpenTools(Scope):
    """A group of tools that waits for them."""

    __slots__ = ("shared", "strict")

    shared: Mapping[str, Handler]
    strict: bool | None

    def __getitem__(self, children: Tool | Iterable[Tool | None | bool]) -> Scope:
        """The tools as one scope; ``None`` and booleans are none, as everywhere."""
        many = is_list(children) or not (
            isinstance(children, Element) or is_mapping(children) or callable(children)
        )
        given: Any = children
        if many and not isinstance(children, Iterable):
            raise _wrong("tools[...]", children)
        found = [
            self._tool(one, f"tools[{number}]")
            for number, one in enumerate(given if many else [given])
            if one is not None and not isinstance(one, bool)
        ]
        names: set[str] = set()
        for tool in found:
            if tool.name in names:
                raise ArgumentValueError(f"tools[...] has two tools named {tool.name!r}")
            names.add(tool.name)
        return Scope(children=tuple(found), p=self.p, prel=self.prel, key=self.key)

    def _tool(self, given: Any, place: str) -> ToolDefinition:
        shared = getattr(self, "shared", {})
        if isinstance(given, ToolDefinition):
            missing = {name: one for name, one in shared.items() if getattr(given, name) is None}
            return attrs.evolve(given, **missing) if missing else given
        if isinstance(given, Element) or not (is_mapping(given) or callable(given)):
            raise _wrong(place, given)
        options: dict[str, Any] = {**shared, "strict": getattr(self, "strict", None)}
        if is_mapping(given):
            return tool_definition(**{**options, **_written(given, place)})
        if not isinstance(given, type):  # a function is what is called
            options.pop("on_call", None)
        return tool_definition(given, **options)


class ToolsTag(OpenTools):
    """``tools``: a scope of tool definitions."""

    __slots__ = ()

    @explained("tools")
    def __call__(
        self,
        *,
        on_call: OnCall | None = None,
        on_result: OnCall | None = None,
        on_format: OnFormat | None = None,
        on_parse_error: OnParseError | None = None,
        strict: bool | None = None,
        p: Number | None = None,
        prel: Number | None = None,
        key: str | None = None,
    ) -> OpenTools:
        """Tools with handlers that those of them get which have none of their own.

        Each tool in the brackets is a typed function (which is its own ``on_call``), a pydantic model or another
        class with fields, a ``tool_definition``, or a mapping with the arguments of one: ``name``, ``description``,
        ``parameters`` (a JSON Schema), ``on_call``, … The handlers are those of ``tool_definition``; ``strict`` is
        for those that don't say it themselves. The group is a scope with ``p`` or ``prel``.
        """
        one_of_priorities("tools", p, prel)
        given = (on_call, on_result, on_format, on_parse_error)
        element = OpenTools(p=p, prel=prel, key=text_or_none("tools", "key", key))
        element.shared = {
            name: callable_or_none("tools", name, one)
            for name, one in zip(_HANDLERS, given, strict=True)
            if one is not None
        }
        element.strict = None if strict is None else truth("tools", "strict", strict)
        return element


def _written(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The arguments of a definition that is given as a mapping."""
    known = ("name", "description", "parameters", "strict", *_HANDLERS)
    for name in given:
        if name not in known:
            hint = ""
            if name in ("type", "function"):
                hint = "; of a tool as OpenAI writes it give what stands under 'function'"
            raise wrong_type(
                str(name), f"{place} has the unknown key {name!r}; it takes {', '.join(known)}{hint}"
            )
    return {name: one for name, one in given.items() if one is not None}


def _wrong(place: str, value: object) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{place} needs a typed function, a class with fields, a tool_definition or a mapping that defines a tool, "
        f"got {got(value)}"
    )


tools = ToolsTag()
"""A group of tools, as one scope."""
