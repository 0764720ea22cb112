"""All elements as data: their names, tags, arguments and meanings.

The JSON form, its schema and the reference page are made from this table, so that they can't differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from priompt_py.author import messages, tags
from priompt_py.author.excerpts import excerpt
from priompt_py.author.tools import tool_definition

__all__ = ["ELEMENTS", "ELEMENTS_BY_NAME", "NAMES_OF_TAGS", "Argument", "ElementInfo", "markdown_table"]

Schema = Mapping[str, Any]


@attrs.frozen
class Argument:
    """An argument of an element. ``schema`` says what it is in JSON; None: a function, which can't be there."""

    name: str
    type: str
    meaning: str
    schema: Schema | None
    default: Any = None
    required: bool = False


@attrs.frozen
class ElementInfo:
    """An element: ``name`` in templates and JSON, ``tag`` in Python, which ``make`` is."""

    name: str
    tag: str
    meaning: str
    make: Callable[..., Any]
    arguments: tuple[Argument, ...]
    is_void: bool = False
    has_json_form: bool = True
    by_name: Mapping[str, Argument] = attrs.field(
        init=False,
        default=attrs.Factory(
            lambda self: {argument.name: argument for argument in self.arguments}, takes_self=True
        ),
    )


# ------------------------------------------------------------------------------------------ kinds of values

NUMBER: Schema = {"type": ["number", "null"]}
TEXT: Schema = {"type": "string"}
OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
OPTIONAL_OBJECT: Schema = {"type": ["object", "null"]}
# As relative_limit reads it; JSON Schema's \s would take more blanks.
_BLANKS = r"[ \t\n\r\f\v]*"
LIMIT: Schema = {
    "anyOf": [
        COUNT,
        {
            "type": "string",
            "pattern": rf"^{_BLANKS}[0-9]+{_BLANKS}%{_BLANKS}([+-]{_BLANKS}[0-9]+{_BLANKS})?$",
        },
    ]
}
STOP: Schema = {
    "anyOf": [{"type": ["string", "null"]}, {"type": "array", "maxItems": 4, "items": {"type": "string"}}]
}
RESPONSE_TOKENS: Schema = {
    "anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["tokens_reserved", "tokens_remaining", None]}]
}
_CALL_FIELDS: Schema = {
    "name": {"type": "string", "minLength": 1},
    "arguments": {"type": ["string", "object"]},
}
TOOL_CALLS: Schema = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "properties": {"id": TEXT, **_CALL_FIELDS},
        "required": ["id", "name", "arguments"],
        "additionalProperties": False,
    },
}
FUNCTION_CALL: Schema = {
    "type": ["object", "null"],
    "properties": _CALL_FIELDS,
    "required": ["name", "arguments"],
    "additionalProperties": False,
}
BASE64: Schema = {"type": ["string", "null"], "contentEncoding": "base64"}
DIMENSIONS: Schema = {
    "type": ["array", "null"],
    "items": {"type": "integer", "minimum": 1},
    "minItems": 2,
    "maxItems": 2,
}
TOOL_NAME: Schema = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
OBJECT_SCHEMA: Schema = {"type": ["object", "null"], "properties": {"type": {"const": "object"}}}

# ------------------------------------------------------------------------------------------ shared arguments

P = Argument("p", "number", "the priority; not together with `prel`", NUMBER)
PREL = Argument("prel", "number", "the priority above the parent's: 0 when neither is given", NUMBER)
KEY = Argument("key", "text", "a label for source maps, decisions and reports", OPTIONAL_TEXT)
LABEL = Argument("name", "text", "a label, as `key`", OPTIONAL_TEXT)
ON_INCLUDE = Argument("on_include", "function", "called once per render if it is in", None)
ON_EJECT = Argument("on_eject", "function", "called once per render if it is out", None)
LIMIT_OF_TOKENS = Argument(
    "token_limit",
    "int >= 0, or `N%`, `N% + M`, `N% - M`",
    "tokens, or per cent of the limit of the nearest isolate or max around it, else of the render",
    LIMIT,
    required=True,
)
AUTHOR = Argument("name", "text", "the author's name, as the provider takes it", OPTIONAL_TEXT)
TO = Argument("to", "text", "whom the message is for", OPTIONAL_TEXT)
COMMON = (P, PREL, KEY)


def _message(role: str, meaning: str, *extra: Argument) -> ElementInfo:
    tag = f"{role}_message"
    return ElementInfo(role, tag, meaning, getattr(messages, tag), (*extra, AUTHOR, TO, *COMMON))


ELEMENTS: tuple[ElementInfo, ...] = (
    ElementInfo(
        "scope",
        "scope",
        "the unit of priority: in or out with its content",
        tags.scope,
        (P, PREL, LABEL, KEY, ON_INCLUDE, ON_EJECT),
    ),
    ElementInfo(
        "first",
        "first",
        "alternatives: the first whose priority reaches the cutoff is in, the others are out",
        tags.first,
        (LABEL, KEY, ON_INCLUDE, ON_EJECT),
    ),
    ElementInfo(
        "fallback",
        "fallback",
        "alternatives that rank themselves, best first; none has a priority of its own",
        tags.fallback,
        (P, PREL, LABEL, KEY),
    ),
    ElementInfo(
        "empty",
        "empty",
        "reserves room; renders nothing",
        tags.empty,
        (
            Argument(
                "tokens", "int >= 0, or a function of `count(text)`", "how many tokens", COUNT, required=True
            ),
            *COMMON,
        ),
        is_void=True,
    ),
    ElementInfo(
        "isolate",
        "isolate",
        "content that is rendered by itself under its own limit, whatever is around it",
        tags.isolate,
        (LIMIT_OF_TOKENS, *COMMON),
    ),
    ElementInfo(
        "max",
        "at_most",
        "a ceiling on the tokens of its content, whose scopes stay part of the one order",
        tags.at_most,
        (LIMIT_OF_TOKENS, *COMMON),
    ),
    ElementInfo(
        "excerpt",
        "excerpt",
        "a long text whose pieces come in by importance, each as in a scope of its own",
        excerpt,
        (
            Argument("text", "text", "the whole text", TEXT, required=True),
            Argument(
                "by",
                "`line`, `sentence` or `word`; in Python also a compiled pattern that ends pieces",
                "what the pieces are",
                {"enum": ["line", "sentence", "word"]},
                default="line",
            ),
            Argument(
                "priority",
                "list of numbers; in Python also a function of index and text",
                "the priority of each piece; this, `around` or `keep`",
                {"type": ["array", "null"], "items": {"type": "number"}},
            ),
            Argument(
                "around",
                "int >= 1",
                "the number of the piece that goes last, from 1",
                {"type": ["integer", "null"], "minimum": 1},
            ),
            Argument(
                "keep",
                "`head`, `tail` or `ends`",
                "where the pieces are that go last",
                {"enum": ["head", "tail", "ends", None]},
            ),
            Argument("omitted", "text", "put once wherever neighbouring pieces were left out", OPTIONAL_TEXT),
            *COMMON,
        ),
        is_void=True,
    ),
    ElementInfo("br", "br", "a line feed; tokens never merge across it", tags.br, COMMON, is_void=True),
    ElementInfo(
        "token_break",
        "token_break",
        "nothing to see; tokens never merge across it",
        tags.token_break,
        COMMON,
        is_void=True,
    ),
    ElementInfo("hr", "hr", "a rule of seven hyphens between blank lines", tags.hr, COMMON, is_void=True),
    ElementInfo(
        "capture",
        "capture",
        "handlers for the model's answer, at least one",
        tags.capture,
        (
            Argument("on_output", "function", "gets the whole answer", None),
            Argument("on_stream", "function", "gets the answer's pieces as they come", None),
            Argument("on_stream_response", "function", "gets the provider's own pieces as they come", None),
            *COMMON,
        ),
        is_void=True,
        has_json_form=False,
    ),
    ElementInfo(
        "config",
        "config",
        "settings for the request; of several, the first included one wins for each setting",
        tags.config,
        (
            Argument("stop", "text, or a list of at most 4", "where the answer ends", STOP),
            Argument(
                "max_response_tokens",
                "int > 0, `tokens_reserved` or `tokens_remaining`",
                "how long the answer may be",
                RESPONSE_TOKENS,
            ),
            Argument("extra", "mapping", "merged into the request unseen", OPTIONAL_OBJECT),
            *COMMON,
        ),
        is_void=True,
    ),
    _message("system", "instructions to the model"),
    _message("developer", "instructions, by the name that newer models know"),
    _message("user", "what the user says"),
    _message(
        "assistant",
        "what the model said",
        Argument(
            "tool_calls",
            "list of mappings `id`, `name`, `arguments`",
            "calls of tools; arguments are JSON text, or a mapping",
            TOOL_CALLS,
            default=(),
        ),
        Argument("function_call", "mapping `name`, `arguments`", "the older form of one call", FUNCTION_CALL),
    ),
    _message(
        "tool",
        "what a tool gave back; in or out together with its call",
        Argument("tool_call_id", "text", "the id of the call", TEXT, required=True),
        Argument("is_error", "true or false", "whether the tool failed", {"type": "boolean"}, default=False),
    ),
    ElementInfo(
        "image",
        "image",
        "a picture in a user message: png, jpeg, gif or webp",
        messages.image,
        (
            Argument("data", "bytes; in JSON base64", "the picture; this or `url`", BASE64),
            Argument(
                "url",
                "text",
                "where it is; a data URL becomes `data`",
                {"type": ["string", "null"], "minLength": 1},
            ),
            Argument(
                "detail",
                "`low`, `high` or `auto`",
                "how closely the model looks",
                {"enum": ["low", "high", "auto"]},
                default="auto",
            ),
            Argument("dimensions", "[width, height]", "pixels; read from `data` when not given", DIMENSIONS),
            *COMMON,
        ),
        is_void=True,
    ),
    ElementInfo(
        "part",
        "part",
        "a content part that only its provider gets",
        messages.part,
        (
            Argument("provider", "text", "whose it is", {"type": "string", "minLength": 1}, required=True),
            Argument("data", "mapping", "the part, as it is sent", {"type": "object"}, required=True),
            Argument(
                "tokens",
                "int >= 0",
                "what it costs; else its JSON text is counted",
                {"type": ["integer", "null"], "minimum": 0},
            ),
            *COMMON,
        ),
        is_void=True,
    ),
    ElementInfo(
        "tool_definition",
        "tool_definition",
        "a tool that the model may call",
        tool_definition,
        (
            Argument("name", "letters, digits, `_`, `-`: 1 to 64", "its name", TOOL_NAME, required=True),
            Argument("description", "text", "what it does", OPTIONAL_TEXT, default=""),
            Argument(
                "parameters",
                "JSON Schema of an object; in Python also a class with fields or a typed function",
                "what it takes",
                OBJECT_SCHEMA,
            ),
            Argument(
                "strict",
                "true or false",
                "arguments have to follow the schema exactly",
                {"type": ["boolean", "null"]},
            ),
            Argument("on_call", "function", "called when the model calls it", None),
            Argument("on_result", "function", "gets what `on_call` gave", None),
            Argument("on_format", "function", "gets the arguments as far as they have come", None),
            Argument("on_parse_error", "function", "gets arguments that can't be used, as an error", None),
            *COMMON,
        ),
        is_void=True,
    ),
    ElementInfo(
        "cache_break",
        "cache_break",
        "a mark for prefix caching; renders nothing, tokens never merge across it",
        tags.cache_break,
        COMMON,
        is_void=True,
    ),
)

ELEMENTS_BY_NAME = {element.name: element for element in ELEMENTS}
NAMES_OF_TAGS = {element.tag: element.name for element in ELEMENTS}


def markdown_table() -> str:
    """The reference of all elements as Markdown, a table each."""
    lines: list[str] = []
    for element in ELEMENTS:
        lines += [f"### {element.name}", "", f"Python: `{element.tag}`. {_sentence(element)}", ""]
        lines += ["| argument | type | default | meaning |", "|---|---|---|---|"]
        lines += [_row(argument) for argument in element.arguments]
        lines.append("")
    return "\n".join(lines)


def _sentence(element: ElementInfo) -> str:
    meaning = element.meaning[0].upper() + element.meaning[1:]
    return f"{meaning}." + (" Takes no children." if element.is_void else "")


def _row(argument: Argument) -> str:
    if argument.required:
        default = "required"
    elif argument.default is None or argument.default == ():
        default = ""
    else:
        default = f"`{argument.default!r}`"
    return f"| `{argument.name}` | {argument.type} | {default} | {argument.meaning} |"
