"""The tags that templates know: the elements of the table, and those of the language itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from priompt_py.author.element_table import ELEMENTS, ELEMENTS_BY_NAME, NAMES_OF_TAGS, ElementInfo

__all__ = [
    "CONTROL",
    "MESSAGES",
    "MODES",
    "NUMBER_ARGUMENTS",
    "TRANSPARENT",
    "Control",
    "ControlArgument",
    "is_component",
    "is_void",
    "known_attributes",
    "unknown_tag",
]


@attrs.frozen
class ControlArgument:
    """An attribute of a control tag. ``kind``: ``name`` (of a variable), ``text``, ``value`` (anything)."""

    name: str
    kind: str
    meaning: str
    required: bool = True


@attrs.frozen
class Control:
    """A tag of the language itself."""

    name: str
    meaning: str
    arguments: tuple[ControlArgument, ...] = ()
    is_void: bool = False
    by_name: Mapping[str, ControlArgument] = attrs.field(
        init=False,
        default=attrs.Factory(
            lambda self: {argument.name: argument for argument in self.arguments}, takes_self=True
        ),
    )


CONTROL: Mapping[str, Control] = {
    control.name: control
    for control in (
        Control(
            "for",
            "its content once for each item; what stands after `<else/>` when there is none",
            (
                ControlArgument("each", "name", "what the content calls the item"),
                ControlArgument("in", "value", "a list, or anything else that gives items"),
                ControlArgument("index", "name", "what it calls the item's number, from 0", required=False),
            ),
        ),
        Control(
            "if",
            "its content if the test holds; else what stands after the first `<elif/>` whose test holds, or after `<else/>`",
            (ControlArgument("test", "value", "true or false; empty texts and lists, 0 and None are false"),),
        ),
        Control(
            "elif",
            "begins the next part of an `<if>`",
            (ControlArgument("test", "value", "as for `<if>`"),),
            is_void=True,
        ),
        Control("else", "begins the last part of an `<if>` or `<for>`", is_void=True),
        Control(
            "let",
            "a name for a value, from here to the end of the element that it stands in",
            (
                ControlArgument("name", "name", "the name"),
                ControlArgument("value", "value", "the value"),
            ),
            is_void=True,
        ),
        Control("raw", "text in which nothing is parsed; up to the first `</raw>`"),
        Control(
            "import",
            "makes another template a component of this one; stands in no element",
            (
                ControlArgument("name", "component", "the component's name, capitalised"),
                ControlArgument("from", "text", "the template, as seen from this one"),
            ),
            is_void=True,
        ),
        Control(
            "component",
            "defines a component of this template; stands in no element",
            (
                ControlArgument("name", "component", "its name, capitalised"),
                ControlArgument(
                    "props", "text", "its props, with defaults: `label, value=0`", required=False
                ),
            ),
        ),
        Control("children", "in a component: what its caller put into it", is_void=True),
    )
}

MODES = ("default", "jsx", "keep")
"""The rules of whitespace."""

MESSAGES = frozenset(element.name for element in ELEMENTS if element.tag.endswith("_message"))
TRANSPARENT = frozenset({"scope", "first", "fallback", "isolate", "max", "for", "if", "elif", "else", "raw"})
"""Tags that a line is dropped for, and that take the layout of what is around them."""


def _takes_numbers(schema: Mapping[str, Any] | None) -> bool:
    """Whether a JSON Schema lets a value be a number."""
    if schema is None:
        return False
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return "number" in kinds or "integer" in kinds or any(map(_takes_numbers, schema.get("anyOf", ())))


NUMBER_ARGUMENTS: Mapping[str, frozenset[str]] = {
    element.name: frozenset(
        argument.name for argument in element.arguments if _takes_numbers(argument.schema)
    )
    for element in ELEMENTS
}
"""Arguments that may be numbers: a quoted number is one there."""


def is_component(name: str) -> bool:
    """Whether a tag is a component's: it begins with a capital."""
    return name[:1].isupper()


def is_void(name: str) -> bool:
    """Whether a known tag takes no content."""
    control = CONTROL.get(name)
    if control is not None:
        return control.is_void
    element = ELEMENTS_BY_NAME.get(name)
    return element is not None and element.is_void


def known_attributes(name: str) -> tuple[str, ...]:
    """The attributes that a tag takes."""
    control = CONTROL.get(name)
    if control is not None:
        return (
            (*control.by_name, "whitespace")
            if name in ("raw", "component", "for", "if")
            else tuple(control.by_name)
        )
    element = ELEMENTS_BY_NAME[name]
    return tuple(element.by_name) if element.is_void else (*element.by_name, "whitespace")


def element_info(name: str) -> ElementInfo | None:
    """The element of a tag, if it is one's."""
    return ELEMENTS_BY_NAME.get(name)


_HTML = {
    "b": "prompts are plain text",
    "i": "prompts are plain text",
    "p": "a paragraph is text with an empty line after it",
    "div": "prompts are plain text",
    "span": "prompts are plain text",
    "include": 'write <import name="Name" from="…"/> and <Name/>',
    "set": 'write <let name="…" value={…}/>',
    "while": 'write <for each="…" in={…}>',
    "elseif": "write <elif test={…}/>",
    "elsif": "write <elif test={…}/>",
    "message": f"write {', '.join(f'<{name}>' for name in sorted(MESSAGES))}",
    "slot": "write <children/>",
}


def unknown_tag(name: str) -> str:
    """The end of a message about a tag that isn't known: what was probably meant."""
    from priompt_py.template.source import near

    if name in NAMES_OF_TAGS:
        return f"; in templates it is <{NAMES_OF_TAGS[name]}>"
    lower = name.lower()
    if lower in ELEMENTS_BY_NAME or lower in CONTROL:
        return f"; did you mean <{lower}>? Names with a capital are components"
    if lower in _HTML:
        return f": {_HTML[lower]}"
    return near(name, [*ELEMENTS_BY_NAME, *CONTROL])
