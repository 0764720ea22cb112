"""Tool definitions: from a JSON Schema, a model or another class with fields, or a typed function."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeAlias

import attrs

from priompt_py.author.calls import explained
from priompt_py.author.checks import (
    callable_or_none,
    got,
    one_of_priorities,
    text,
    text_or_none,
    truth,
    wrong_type,
    wrong_value,
)
from priompt_py.author.children import is_mapping
from priompt_py.author.docstrings import parse_docstring
from priompt_py.author.json_values import json_argument
from priompt_py.author.type_schema import schema_of_class, schema_of_function, strict_schema
from priompt_py.author.typed_fields import has_fields, is_model, name_of, own_docstring
from priompt_py.author.typed_values import arguments_of_function, instance_of_class
from priompt_py.errors import ArgumentValueError, ModelOutputError
from priompt_py.model.elements import Number, ToolDefinition
from priompt_py.model.model_output import ToolCall

__all__ = ["OnCall", "OnFormat", "OnParseError", "TypedCall", "tool_definition"]

# Handlers may leave out their last parameter.
OnCall: TypeAlias = Callable[[Any, ToolCall], object] | Callable[[Any], object]
OnFormat: TypeAlias = (
    Callable[[AsyncIterator[dict[str, Any]], ToolCall], object]
    | Callable[[AsyncIterator[dict[str, Any]]], object]
)
OnParseError: TypeAlias = (
    Callable[[ModelOutputError, ToolCall], object] | Callable[[ModelOutputError], object]
)

Parameters: TypeAlias = Mapping[str, Any] | type[Any] | Callable[..., Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)  # OpenAI's and Anthropic's rule for names of functions


@attrs.frozen
class TypedCall:
    """The ``on_call`` of a definition made from types: it gets the arguments as these types.

    ``function(arguments, call)`` gets an instance of ``cls``, or, where ``cls`` is None,
    ``function(**arguments)`` is the function that the definition was made from.
    """

    function: Callable[..., object]
    cls: type[Any] | None = None

    def parse(self, arguments: Mapping[str, Any]) -> Any:
        """The arguments as declared: keyword arguments, or an instance of the class.

        Raises ArgumentTypeError or ArgumentValueError naming the place, or what the class raises.
        """
        if self.cls is None:
            return arguments_of_function(self.function, arguments)
        return instance_of_class(self.cls, arguments)

    def __call__(self, arguments: Mapping[str, Any], call: object = None) -> object:
        """What the function returns (something to await, where it is async)."""
        parsed = self.parse(arguments)
        return self.function(**parsed) if self.cls is None else self.function(parsed, call)


@explained("tool_definition", takes_children=False)
def tool_definition(
    parameters: Parameters | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    strict: bool | None = None,
    on_call: OnCall | None = None,
    on_result: OnCall | None = None,
    on_format: OnFormat | None = None,
    on_parse_error: OnParseError | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> ToolDefinition:
    """A tool that the model may call.

    ``parameters`` is a JSON Schema of an object (copied, as it is), or makes one: a pydantic model,
    a dataclass, an attrs class or a TypedDict by its fields; a function by its parameters, which
    need annotations. Those give the name and, by their docstring, the descriptions too, where
    none are given. No parameters: the tool takes none.

    ``on_call(arguments, call)`` is called with the arguments of each call and the call itself; made
    from a class, with an instance of it. A function becomes the ``on_call`` itself, and is called
    with its parameters by name, as the types that they have; ``on_call`` wins over it.
    ``on_result(result, call)`` gets what it gave. ``on_format(partials)`` gets the arguments as far as
    they have come, again and again, while they stream. ``on_parse_error(error, call)`` is called in
    place of an exception for arguments that are no JSON, don't fit, or stop in the middle.

    ``strict=True`` asks for arguments that follow the schema exactly; a schema made from types is
    then written as that mode wants it: all is required, nothing else allowed.

    Raises ArgumentTypeError or ArgumentValueError that names the place.
    """
    one_of_priorities("tool_definition", p, prel)
    strict = None if strict is None else truth("tool_definition", "strict", strict)
    handler = callable_or_none("tool_definition", "on_call", on_call)
    source: Any = parameters
    schema: dict[str, Any]
    if source is None or is_mapping(source):
        schema = _given(source)
    else:
        if is_model(source) or has_fields(source):
            schema = schema_of_class(source)
            handler = None if handler is None else TypedCall(handler, source)
        elif callable(source) and not isinstance(source, type):
            schema = schema_of_function(source)
            handler = TypedCall(source) if handler is None else handler
        else:
            raise wrong_type(
                "parameters",
                "tool_definition() needs a JSON Schema, a class with fields or a function for parameters, "
                f"got parameters={got(source)}",
            )
        schema = strict_schema(schema) if strict else schema
        name = name_of(source) if name is None else name
        if description is None:
            description = parse_docstring(own_docstring(source)).text
    return ToolDefinition(
        name=_tool_name(name),
        description="" if description is None else text("tool_definition", "description", description),
        parameters=schema,
        strict=strict,
        on_call=handler,
        on_result=callable_or_none("tool_definition", "on_result", on_result),
        on_format=callable_or_none("tool_definition", "on_format", on_format),
        on_parse_error=callable_or_none("tool_definition", "on_parse_error", on_parse_error),
        p=p,
        prel=prel,
        key=text_or_none("tool_definition", "key", key),
    )


def _given(schema: object) -> dict[str, Any]:
    if schema is None:
        return {"type": "object", "properties": {}}
    copied: dict[str, Any] = json_argument("tool_definition", "parameters", schema)
    if copied.get("type", "object") != "object":
        raise wrong_value(
            "parameters.type",
            "tool_definition() needs the schema of an object for parameters, "
            f"got parameters.type={got(copied['type'])}",
        )
    return copied


def _tool_name(name: object) -> str:
    if name is None:
        raise ArgumentValueError("tool_definition() needs a name")
    plain = text("tool_definition", "name", name)
    if not _NAME.fullmatch(plain):
        raise wrong_value(
            "name",
            f"tool_definition() needs a name of 1 to 64 letters, digits, _ and -, got name={got(plain)}",
        )
    return plain
