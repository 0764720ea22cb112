"""JSON Schemas of Python types: what the arguments of a tool may be."""

from __future__ import annotations

import collections.abc
import contextlib
import enum
import types
import typing
from collections.abc import Callable
from typing import Any, TypeGuard

from priompt_py.author.json_values import NotJsonError, json_argument, json_copy
from priompt_py.author.typed_fields import (
    MISSING,
    Field,
    description_of,
    fields_of_class,
    fields_of_function,
    has_fields,
    is_model,
    without_wrappers,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["LISTS", "MAPPINGS", "SETS", "is_enum", "schema_of_class", "schema_of_function", "strict_schema"]

LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
SETS = (set, frozenset, collections.abc.Set)
MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)

_SCALARS: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    types.NoneType: "null",
    None: "null",
}

Schema = dict[str, Any]


def is_enum(value: object) -> TypeGuard[type[enum.Enum]]:
    """Whether ``value`` is an enum class."""
    return isinstance(value, enum.EnumMeta)


def schema_of_function(function: Callable[..., Any]) -> Schema:
    """The schema of an object that holds the function's arguments by name."""
    schemas = _Schemas()
    return schemas.with_definitions(schemas.of_fields(fields_of_function(function)))


def schema_of_class(cls: type[Any]) -> Schema:
    """The schema of a pydantic model, a dataclass, an attrs class or a TypedDict."""
    schemas = _Schemas()
    schema = schemas.of(cls, cls.__name__)
    if "$ref" in schema:  # a class that holds itself; providers want the object itself at the top
        schema = schemas.definitions[schema["$ref"].rpartition("/")[2]]
    return schemas.with_definitions(schema)


class _Schemas:
    """Makes the schemas of one tool. Classes that hold themselves get a definition, others stand in place."""

    def __init__(self) -> None:
        self.definitions: Schema = {}
        self.open: list[type[Any]] = []
        self.recursive: set[type[Any]] = set()

    def with_definitions(self, schema: Schema) -> Schema:
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def of_fields(self, fields: list[Field]) -> Schema:
        """The schema of an object with these fields and no others."""
        schema: Schema = {
            "type": "object",
            "properties": {field.name: self.of_field(field) for field in fields},
        }
        if required := [field.name for field in fields if field.required]:
            schema["required"] = required
        schema["additionalProperties"] = False
        return schema

    def of_field(self, field: Field) -> Schema:
        schema = dict(self.of(field.annotation, field.place))
        if field.description is not None:
            schema["description"] = field.description
        if field.default is not MISSING:
            default = field.default.value if isinstance(field.default, enum.Enum) else field.default
            with contextlib.suppress(NotJsonError):  # the model needs no default that JSON can't say
                schema["default"] = json_copy(default)
        return schema

    def of(self, annotation: Any, place: str) -> Schema:
        """The schema of one type; ``place`` is where it stands, for messages."""
        inner = without_wrappers(annotation)
        schema = self.of_plain(inner, place)
        description = description_of(annotation)
        return schema if description is None else {**schema, "description": description}

    def of_plain(self, annotation: Any, place: str) -> Schema:
        origin = typing.get_origin(annotation)
        if annotation is Any or annotation is object:
            return {}
        if origin is None and annotation.__hash__ is not None and annotation in _SCALARS:
            return {"type": _SCALARS[annotation]}
        if origin in (typing.Union, types.UnionType):
            members = [self.of(member, place) for member in typing.get_args(annotation)]
            members = [member for i, member in enumerate(members) if member not in members[:i]]
            return members[0] if len(members) == 1 else {"anyOf": members}
        if origin is typing.Literal:
            return _one_of(list(typing.get_args(annotation)), place)
        if is_enum(annotation):
            return _one_of(list(annotation), place)
        if is_model(annotation):
            return self.of_model(annotation)
        if has_fields(annotation):
            return self.of_class(annotation)
        return self.of_container(annotation, origin or annotation, place)

    def of_container(self, annotation: Any, origin: Any, place: str) -> Schema:
        args = typing.get_args(annotation)
        if origin in LISTS or origin in SETS:
            schema: Schema = {"type": "array"}
            if args and args[0] is not Any:
                schema["items"] = self.of(args[0], place)
            return {**schema, "uniqueItems": True} if origin in SETS else schema
        if origin is tuple:
            if not args and annotation is tuple:
                return {"type": "array"}
            if len(args) == 2 and args[1] is ...:
                return {"type": "array", "items": self.of(args[0], place)}
            if not args:
                return {"type": "array", "maxItems": 0}
            items = [self.of(arg, place) for arg in args]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if origin in MAPPINGS:
            if not args:
                return {"type": "object"}
            if without_wrappers(args[0]) is not str:
                raise ArgumentTypeError(
                    f"tool_definition(): the keys of {place} must be str in JSON, got {_shown(args[0])}"
                )
            return {"type": "object", "additionalProperties": self.of(args[1], place)}
        raise ArgumentTypeError(
            f"tool_definition(): {place} has the type {_shown(annotation)}, which has no JSON Schema; "
            "take a JSON type and convert it, or give parameters as a JSON Schema"
        )

    def of_class(self, cls: type[Any]) -> Schema:
        reference = {"$ref": f"#/$defs/{cls.__name__}"}
        if cls in self.open:
            self.recursive.add(cls)
            return reference
        self.open.append(cls)
        schema = self.of_fields(fields_of_class(cls))
        self.open.pop()
        if cls not in self.recursive:
            return schema
        self.define(cls.__name__, schema)
        return reference

    def of_model(self, model: Any) -> Schema:
        schema: Schema = json_argument(
            "tool_definition", f"the schema of {model.__name__}", model.model_json_schema()
        )
        for name, definition in schema.pop("$defs", {}).items():
            self.define(name, definition)
        return schema

    def define(self, name: str, schema: Schema) -> None:
        if self.definitions.setdefault(name, schema) != schema:
            raise ArgumentValueError(f"tool_definition(): two different types are called {name!r}")


def _one_of(values: list[Any], place: str) -> Schema:
    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    for value in plain:
        if type(value) not in _SCALARS:
            raise ArgumentTypeError(
                f"tool_definition(): {place} has the choice {value!r}, which has no JSON form"
            )
    kinds = {_SCALARS[type(value)] for value in plain}
    return {"type": kinds.pop(), "enum": plain} if len(kinds) == 1 else {"enum": plain}


def _shown(annotation: Any) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


def strict_schema(schema: Schema) -> Schema:
    """The schema as OpenAI's strict mode wants it: objects without further properties, all of them
    required, and no defaults (structured outputs guide, "Supported schemas")."""
    made = dict(schema)
    made.pop("default", None)
    for key in ("properties", "$defs"):
        if key in made:
            made[key] = {name: strict_schema(inner) for name, inner in made[key].items()}
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if key in made:
            made[key] = [strict_schema(inner) for inner in made[key]]
    if isinstance(made.get("items"), dict):
        made["items"] = strict_schema(made["items"])
    if "properties" in made:
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    elif isinstance(made.get("additionalProperties"), dict):
        made["additionalProperties"] = strict_schema(made["additionalProperties"])
    return made
