"""The JSON Schema of the JSON form, made from the element table."""

from __future__ import annotations

import json
from typing import Any

from priompt_py.author.element_table import ELEMENTS, ElementInfo
from priompt_py.author.json_values import json_copy

__all__ = ["json_schema", "schema_text"]

_BOTH_PRIORITIES = {
    "required": ["p", "prel"],
    "properties": {"p": {"type": "number"}, "prel": {"type": "number"}},
}
_OWN_PRIORITY = {
    "type": "object",
    "anyOf": [
        {"required": ["p"], "properties": {"p": {"type": "number"}}},
        {"required": ["prel"], "properties": {"prel": {"type": "number"}}},
    ],
}


def _one_of(*names: str) -> list[dict[str, Any]]:
    """Exactly one of these arguments is given."""
    return [
        {
            "required": [name],
            "properties": {
                other: {"not": {"type": "null"}} if other == name else {"type": "null"} for other in names
            },
        }
        for name in names
    ]


_ONE_OF = {"excerpt": _one_of("priority", "around", "keep"), "image": _one_of("data", "url")}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of prompt trees in their JSON form, as a new dict."""
    elements = [element for element in ELEMENTS if element.has_json_form]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Prompt tree",
        "description": "An array of nodes, or one node, of a prompt of priompt_py.",
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "description": "A text or number stands for itself, null and booleans render nothing, "
                "an array stands for its items.",
                "type": ["string", "number", "boolean", "null", "array", "object"],
                "items": {"$ref": "#/$defs/node"},
                "if": {"type": "object"},
                "then": {"$ref": "#/$defs/element"},
            },
            "element": {
                "required": ["type"],
                "properties": {"type": {"enum": [element.name for element in elements]}},
                "allOf": [
                    {
                        "if": {"properties": {"type": {"const": element.name}}},
                        "then": {"$ref": f"#/$defs/{element.name}"},
                    }
                    for element in elements
                ],
            },
            **{element.name: _of_element(element) for element in elements},
        },
    }


def _of_element(element: ElementInfo) -> dict[str, Any]:
    properties: dict[str, dict[str, Any]] = {"type": {"const": element.name}}
    for argument in element.arguments:
        if argument.schema is not None:
            properties[argument.name] = {"description": argument.meaning, **argument.schema}
    if not element.is_void:
        no_priority = {"not": _OWN_PRIORITY} if element.name == "fallback" else {}
        properties["children"] = {"type": "array", "items": {"$ref": "#/$defs/node", **no_priority}}
    schema: dict[str, Any] = {
        "description": element.meaning,
        "type": "object",
        "properties": properties,
        "required": ["type", *(argument.name for argument in element.arguments if argument.required)],
        "additionalProperties": False,
    }
    if "prel" in properties:
        schema["not"] = _BOTH_PRIORITIES
    if element.name in _ONE_OF:
        schema["oneOf"] = _ONE_OF[element.name]
    copied: dict[str, Any] = json_copy(schema)  # plain dicts and lists, which a caller may change
    return copied


def schema_text() -> str:
    """The text of the published file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
