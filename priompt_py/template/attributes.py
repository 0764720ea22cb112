"""The attributes of a tag: their values as syntax, and what can be checked before anything is evaluated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from priompt_py.author.element_table import ELEMENTS_BY_NAME
from priompt_py.template.expressions import BadExpressionError, parse_expression
from priompt_py.template.items import Code, RawTag, TagItem, read_quoted
from priompt_py.template.source import MOST_ERRORS, Source, near, one_line
from priompt_py.template.syntax import Attribute, Expression, Quoted, Spread
from priompt_py.template.vocabulary import (
    CONTROL,
    MODES,
    NUMBER_ARGUMENTS,
    ControlArgument,
    is_component,
    known_attributes,
)

if TYPE_CHECKING:
    from priompt_py.errors import TemplateSyntaxError

__all__ = ["NUMBER", "expression_of", "read_attributes"]

NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
"""What a quoted number may be."""

_VARIABLE = re.compile(r"[^\W\d_]\w*")
_COMPONENT = re.compile(r"[A-Z]\w*")
_NO_NAMES = frozenset(
    {
        "and",
        "or",
        "not",
        "in",
        "is",
        "if",
        "else",
        "for",
        "lambda",
        "True",
        "False",
        "None",
        "await",
        "yield",
        "import",
    }
)


def expression_of(code: Code, source: Source, errors: list[TemplateSyntaxError]) -> Expression | None:
    """The expression of code in braces; None where it is wrong, which is noted."""
    try:
        return Expression(parse_expression(code.text), text=code.text, start=code.start)
    except BadExpressionError as error:
        message = error.message
        inner = code.text.strip()
        if inner[:1] == "{" and inner[-1:] == "}":
            message = f"one brace on each side is enough: {{{one_line(inner[1:-1].strip(), 30)}}}"
            errors.append(source.syntax_error(code.start, message))
            return None
        if inner[:1] == "%" and inner[-1:] == "%":
            message = (
                'there is no {% … %}: write <if test={…}>, <for each="…" in={…}> or <let name="…" value={…}/>'
            )
            errors.append(source.syntax_error(code.start - 1, message))
            return None
        errors.append(source.syntax_error(min(code.start + error.at, len(source.text)), message))
        return None


def read_attributes(
    tag: TagItem, source: Source, errors: list[TemplateSyntaxError]
) -> tuple[Attribute | Spread, ...]:
    """The attributes of a tag; what is wrong with them is noted in ``errors``."""
    found: list[Attribute | Spread] = []
    names: set[str] = set()
    for raw in tag.attributes:
        if len(errors) >= MOST_ERRORS:
            return tuple(found)
        if not raw.name:
            assert isinstance(raw.value, Code)
            expression = expression_of(raw.value, source, errors)
            if tag.name in CONTROL:
                errors.append(source.syntax_error(raw.start, f"<{tag.name}> takes no spread"))
            elif expression is not None:
                found.append(Spread(expression, start=raw.start))
            continue
        if raw.name in names:
            errors.append(source.syntax_error(raw.start, f"the attribute {raw.name} is given twice"))
            continue
        names.add(raw.name)
        attribute = _read(raw, source, errors)
        if attribute is not None and _is_known(tag, attribute, source, errors):
            found.append(attribute)
    if tag.name == "for":
        _check_loop(found, source, errors)
    _check_required(
        tag,
        names,
        has_spread=len(found) > 0 and any(type(one) is Spread for one in found),
        source=source,
        errors=errors,
    )
    return tuple(found)


def _read(raw: RawTag, source: Source, errors: list[TemplateSyntaxError]) -> Attribute | None:
    value = raw.value
    if value is None:
        return Attribute(raw.name, None, start=raw.start)
    if isinstance(value, Code):
        expression = expression_of(value, source, errors)
        return None if expression is None else Attribute(raw.name, expression, start=raw.start)
    text, start = value
    if "{" not in text and "}" not in text:
        return Attribute(raw.name, Quoted((text,) if text else (), start=start - 1), start=raw.start)
    before = len(errors)
    parts: list[str | Expression] = []
    for part in read_quoted(text, start, source, errors):
        if isinstance(part, Code):
            inner = expression_of(part, source, errors)
            if inner is not None:
                parts.append(inner)
        else:
            parts.append(part)
    if len(errors) > before:
        return None
    return Attribute(raw.name, Quoted(tuple(parts), start=start - 1), start=raw.start)


def _is_known(tag: TagItem, attribute: Attribute, source: Source, errors: list[TemplateSyntaxError]) -> bool:
    """Whether the tag takes the attribute, with a value of this form."""
    name = attribute.name
    if is_component(tag.name):
        return True
    if name not in known_attributes(tag.name):
        errors.append(source.syntax_error(attribute.start, _unknown(tag.name, name)))
        return False
    problem: str | None = None
    if name == "whitespace":
        mode = attribute.value.constant if isinstance(attribute.value, Quoted) else None
        if mode not in MODES:
            problem = f"whitespace is one of {', '.join(f'{mode!r}' for mode in MODES)}, in quotes".replace(
                "'", '"'
            )
    elif tag.name in CONTROL:
        problem = _control_problem(tag.name, CONTROL[tag.name].by_name[name], attribute)
    elif name in NUMBER_ARGUMENTS[tag.name] and isinstance(attribute.value, Quoted):
        text = attribute.value.constant
        if (
            text is not None
            and name not in ("token_limit", "max_response_tokens")
            and not NUMBER.fullmatch(text)
        ):
            problem = f'{name} needs a number, got "{one_line(text)}"'
    if problem is not None:
        errors.append(source.syntax_error(attribute.start, problem))
    return problem is None


def _unknown(tag: str, name: str) -> str:
    known = known_attributes(tag)
    hint = near(name, known)
    if not hint:
        hint = f"; it takes {', '.join(known)}" if known else "; it takes none"
    return f"<{tag}> takes no attribute {one_line(name)}{hint}"


def _control_problem(tag: str, argument: ControlArgument, attribute: Attribute) -> str | None:
    value = attribute.value
    name = argument.name
    if value is None:
        return f"{name} of <{tag}> needs a value"
    if argument.kind == "value":
        if tag != "let" and isinstance(value, Quoted):
            shown = one_line(value.constant or "…", 30)
            return f"{name} of <{tag}> needs an expression in braces: {name}={{{shown}}}"
        return None
    text = value.constant if isinstance(value, Quoted) else None
    if text is None:
        return f'{name} of <{tag}> is written out, in quotes: {name}="…"'
    if argument.kind == "name" and (not _VARIABLE.fullmatch(text) or text in _NO_NAMES):
        return (
            f'{name} of <{tag}> needs a name (letters, digits and _, a letter first), got "{one_line(text)}"'
        )
    if argument.kind == "component" and not _COMPONENT.fullmatch(text):
        return f'{name} of <{tag}> needs the name of a component, which begins with a capital, got "{one_line(text)}"'
    return None


def _check_loop(found: list[Attribute | Spread], source: Source, errors: list[TemplateSyntaxError]) -> None:
    """The item and its number have different names."""
    names = {
        one.name: (one.value.constant, one.start)
        for one in found
        if isinstance(one, Attribute) and isinstance(one.value, Quoted)
    }
    if "each" in names and "index" in names and names["each"][0] == names["index"][0]:
        name, at = names["index"]
        errors.append(
            source.syntax_error(at, f"each and index of <for> need different names, both are {name}")
        )


def _check_required(
    tag: TagItem, names: set[str], *, has_spread: bool, source: Source, errors: list[TemplateSyntaxError]
) -> None:
    if is_component(tag.name) or has_spread:
        return
    control = CONTROL.get(tag.name)
    if control is not None:
        missing = [one.name for one in control.arguments if one.required and one.name not in names]
    else:
        missing = [
            one.name for one in ELEMENTS_BY_NAME[tag.name].arguments if one.required and one.name not in names
        ]
    if missing:
        errors.append(source.syntax_error(tag.start, f"<{tag.name}> needs {' and '.join(missing)}"))
