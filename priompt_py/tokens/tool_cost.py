"""What tool definitions cost in tokens, by OpenAI's published recipe.

Source: OpenAI cookbook, "How to count tokens with tiktoken", section 7 (``num_tokens_for_tools``), with its constants per
model family; its example (one tool, two properties) comes to the published figures. The recipe knows flat properties
only. Beyond it, in its spirit:

* a property with properties of its own costs them too, with the opening of a property list each time;
* a schema without a name (``items``, ``prefixItems``, the branches of ``anyOf``, ``oneOf`` and ``allOf``,
  ``additionalProperties``) costs what a property costs, with an empty name;
* a local ``$ref`` costs the definition it points to, at its first mention alone;
* types that are lists are joined by ``|``; a ``const`` is an enum of one; items of enums that are no strings count as
  their JSON; what is missing counts as empty.

Anthropic adds a system prompt of a known length once any tool is there (source: "Tool use", pricing; tool choice auto);
definitions themselves count by the same recipe.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import attrs

from priompt_py.errors import ArgumentValueError

__all__ = ["FAMILIES", "MAX_SCHEMAS", "ToolCosts", "tool_cost", "tools_closing_cost"]

#: Schemas within one definition, counted with repetition: more (or a definition that holds itself) is an error.
MAX_SCHEMAS = 20_000


@attrs.frozen
class ToolCosts:
    """The recipe's constants, in tokens, with the recipe's names."""

    func_init: int
    prop_init: int = 3
    prop_key: int = 3
    enum_init: int = -3
    enum_item: int = 3
    func_end: int = 12


#: Family -> constants.
FAMILIES: Mapping[str, ToolCosts] = {
    "gpt-4o": ToolCosts(func_init=7),
    "gpt-4": ToolCosts(func_init=10),
    "claude": ToolCosts(func_init=7, func_end=675),  # Opus 4.7; later ones 290 to 354
    "claude-4": ToolCosts(func_init=7, func_end=497),  # the most of those up to 4.6
}


def tool_cost(
    count: Callable[[str], int],
    *,
    name: str,
    description: str | None,
    parameters: Mapping[str, Any] | None,
    family: str = "gpt-4o",
) -> int:
    """What one definition costs, without the closing constant; ``count`` counts the tokens of a text.

    ``parameters`` is a JSON schema and is only read. Raises :class:`ArgumentValueError` for a family that is not known,
    and for schemas that hold themselves or more than :data:`MAX_SCHEMAS` schemas.
    """
    costs = _family(family)
    total = costs.func_init + count(f"{name}:{_sentence(description)}")
    root: Mapping[str, Any] = {} if parameters is None else parameters
    known: set[str] = set()
    pending: list[Iterator[tuple[str, Mapping[str, Any]]]] = []

    def enter(schema: Mapping[str, Any]) -> int:
        """Puts the schemas within ``schema`` on the list, in order; gives what opening its properties costs."""
        inner = list(_within(schema, root, known))
        pending.append(iter(inner))
        return costs.prop_init if _mapping(schema.get("properties")) else 0

    total += enter(root)
    seen = 0
    while pending:
        entry = next(pending[-1], None)
        if entry is None:
            pending.pop()
            continue
        seen += 1
        if seen > MAX_SCHEMAS:
            raise ArgumentValueError(
                f"the parameters of tool {name!r} hold themselves or more than {MAX_SCHEMAS:,} schemas"
            )
        key, schema = entry
        total += costs.prop_key
        options = _options(schema)
        if options is not None:
            total += costs.enum_init
            total += sum(costs.enum_item + count(_text(option, name)) for option in options)
        total += count(f"{key}:{_type(schema, name)}:{_sentence(schema.get('description'))}")
        total += enter(schema)
    return total


def tools_closing_cost(family: str = "gpt-4o") -> int:
    """What a request with any tool costs once, whatever the number of tools."""
    return _family(family).func_end


def _family(family: str) -> ToolCosts:
    costs = FAMILIES.get(family)
    if costs is None:
        raise ArgumentValueError(
            f"no family of tool costs is named {family!r}; there are {', '.join(FAMILIES)}"
        )
    return costs


def _within(
    schema: Mapping[str, Any], root: Mapping[str, Any], known: set[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and schema of what stands directly within ``schema``; schemas without a name have an empty one."""
    for key, value in _mapping(schema.get("properties")).items():
        yield str(key), _mapping(value)
    for keyword in ("items", "additionalProperties"):
        if inner := _mapping(schema.get(keyword)):
            yield "", inner
    for keyword in ("prefixItems", "anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list | tuple):
            yield from (("", _mapping(branch)) for branch in cast("Iterable[object]", branches))
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in known:
        known.add(reference)
        if target := _resolved(reference, root):
            yield "", target


def _resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a local reference (``#/$defs/Name``) points to; empty if it is not there or not local."""
    if not reference.startswith("#/"):
        return {}
    place: object = root
    for step in reference[2:].split("/"):
        place = _mapping(place).get(step.replace("~1", "/").replace("~0", "~"))
    return _mapping(place)


def _options(schema: Mapping[str, Any]) -> Iterable[object] | None:
    options = schema.get("enum")
    if isinstance(options, list | tuple):
        return cast("Iterable[object]", options)
    return (schema["const"],) if "const" in schema else None


def _type(schema: Mapping[str, Any], tool: str) -> str:
    kind = schema.get("type")
    if isinstance(kind, list | tuple):
        return "|".join(_text(part, tool) for part in cast("Iterable[object]", kind))
    return "" if kind is None else _text(kind, tool)


def _sentence(description: object) -> str:
    """A description as the recipe counts it: without one full stop at its end."""
    return description.removesuffix(".") if isinstance(description, str) else ""


def _text(value: object, tool: str) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        raise ArgumentValueError(
            f"the parameters of tool {tool!r} hold a value that has no JSON: {type(value).__name__}"
        ) from None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
