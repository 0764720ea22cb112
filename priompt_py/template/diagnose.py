"""What is wrong where a template can't be read: what was met, what would do, the likely slip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from priompt_py.author.element_table import ELEMENTS_BY_NAME
from priompt_py.errors import TemplateSyntaxError
from priompt_py.template.source import Source, one_line
from priompt_py.template.vocabulary import CONTROL, is_component

__all__ = ["in_quotes", "in_template", "offset_of"]

_Token = tuple[int, str, str]  # offset, type, text

_CODE_OPENERS = ("OPEN_BRACE", "EQUALS_BRACE", "SPREAD")


def offset_of(error: Any, text: str) -> int:
    """The 0-based offset that one of lark's errors is about."""
    token = getattr(error, "token", None)
    if token is not None:
        return len(text) if token.type == "$END" else int(token.start_pos)
    return int(error.pos_in_stream)


def in_template(source: Source, at: int, broken: Sequence[_Token]) -> tuple[TemplateSyntaxError, int]:
    """The error at offset ``at``, and where to go on. ``broken`` are the tokens of the item that was begun."""
    opener = _open_code(broken)
    if opener is not None:
        offset, kind, text = opener
        fault = _in_code(source, offset + text.index("{"), at, in_tag=kind != "OPEN_BRACE")
        if kind != "OPEN_BRACE":
            return fault, _behind_tag(source.text, at)
        # The rest of a text after a lone brace is text; an open comment may hold anything.
        is_comment = source.text.startswith(("{#", "{/*"), offset)
        return fault, len(source.text) if is_comment else offset + 1
    if broken and broken[0][1] == "OPEN_TAG":
        return _in_tag(source, at, broken), _behind_tag(source.text, at)
    return _in_text(source, at)


def _open_code(broken: Sequence[_Token]) -> _Token | None:
    """The outermost opening brace that no other one closes."""
    opened: list[_Token] = []
    for token in broken:
        if token[1] in _CODE_OPENERS:
            opened.append(token)
        elif token[1] == "CLOSE_BRACE" and opened:
            opened.pop()
    return opened[0] if opened else None


def _behind_tag(text: str, at: int) -> int:
    """Behind the ``>`` that ends a broken tag, or at the ``<`` of the next one."""
    match = re.compile(r"[^<>]*(>|<)").match(text, at)
    if match is None:
        return len(text)
    return match.end() if match[1] == ">" else max(match.end() - 1, at + 1 if text[at] == "<" else at)


# ------------------------------------------------------------------------------------------ text


def _in_text(source: Source, at: int) -> tuple[TemplateSyntaxError, int]:
    text = source.text
    rest = text[at : at + 200]
    if rest.startswith("}"):
        return source.syntax_error(at, 'a lone `}`: as text it is written {"}"} or &rbrace;'), at + 1
    if rest.startswith(("{#", "{/*")):
        mark = "#}" if rest.startswith("{#") else "*/}"
        return source.syntax_error(at, f"the comment is not closed with {mark}"), len(text)
    if rest.startswith("{"):  # pragma: no cover - a brace always begins something
        return source.syntax_error(at, "the `{` is not closed"), at + 1
    if rest.startswith("<!--"):
        end = text.find("-->", at)
        fault = source.syntax_error(at, "comments are written {# … #}, not <!-- … -->")
        return fault, len(text) if end < 0 else end + 3
    match = re.match(r"</?\s*(?:>|$)", rest)
    if match and match[0] in ("<>", "</>"):
        return (
            source.syntax_error(
                at, f"there is no {match[0]}: nodes need no tag around them; a tag has a name"
            ),
            at + len(match[0]),
        )
    if rest.startswith("</"):
        match = re.match(r"</\s*([^\W\d][\w.:-]*)?[^<>]*>?", rest)
        assert match is not None, rest
        name = match[1]
        if name:
            return source.syntax_error(at, f"a closing tag holds its name alone: </{name}>"), at + match.end()
        return source.syntax_error(
            at, f"`{one_line(match[0], 20)}` is no closing tag: names begin with a letter"
        ), (at + max(2, match.end()))
    hint = 'as text it is written &lt; or {"<"}'
    match = re.match(r"<\s+([^\W\d][\w.:-]*)", rest)
    if match:
        return source.syntax_error(
            at, f"a lone `<`: a tag is written <{match[1]}>, without a blank; {hint}"
        ), at + 1
    if re.match(r"<\d", rest):
        return source.syntax_error(at, f"a lone `<`: names of tags begin with a letter; {hint}"), at + 1
    if rest.startswith(("<!", "<?")):
        return source.syntax_error(at, f"a lone `<`: there are no declarations; {hint}"), at + 1
    return source.syntax_error(at, f"a lone `<`: {hint}"), at + 1


# ------------------------------------------------------------------------------------------ code


def _in_code(source: Source, brace: int, at: int, *, in_tag: bool) -> TemplateSyntaxError:
    text = source.text
    if at < len(text) and text[at] in "\"'":
        return source.syntax_error(
            at,
            f"the text that begins with {text[at]} is not closed on its line, inside the {{ of line {source.line_of(brace)}",
        )
    if text.startswith("{/*", brace) or text.startswith("{#", brace):
        mark = "#}" if text.startswith("{#", brace) else "*/}"
        return source.syntax_error(brace, f"the comment is not closed with {mark}")
    hint = "" if in_tag else '; as text it is written {"{"} or &lbrace;'
    return source.syntax_error(brace, f"the `{{` is not closed with a `}}`{hint}")


def in_quotes(source: Source, value: str, start: int, at: int) -> TemplateSyntaxError:
    """The error at offset ``at`` of a quoted value, whose text begins at ``start``."""
    quote = source.text[start - 1]
    other = "'" if quote == '"' else '"'
    opened = value.rfind("{", 0, at) if at else -1
    if at < len(value) and value[at] == "}":
        return source.syntax_error(
            start + at, 'a lone `}` in quotes: it is written {"}"} or &rbrace;'.replace('"', other)
        )
    opened = max(opened, 0) if value[at : at + 1] != "{" else at
    return source.syntax_error(
        start + opened,
        f"the `{{` is not closed before the {quote} that ends the value; texts inside it take the other quotes ({other})",
    )


# ------------------------------------------------------------------------------------------ tags


def _in_tag(source: Source, at: int, broken: Sequence[_Token]) -> TemplateSyntaxError:
    text = source.text
    start, _, opening = broken[0]
    name = opening[1:]
    last = broken[-1]
    while at < len(text) and text[at].isspace():
        at += 1
    if last[1] == "EQUALS":
        return _no_value(source, at, broken)
    if at >= len(text):
        return source.syntax_error(start, f"the tag <{name} is not closed with >")
    met = text[at]
    rest = text[at : at + 200]
    if met == "<":
        return source.syntax_error(
            at, f"the tag <{name} of line {source.line_of(start)} is not closed with > before this <"
        )
    slips = {
        "}": f"a stray `}}` in the tag <{name}",
        "/": f"the tag <{name} ends with /> in one piece",
        "=": "an attribute's name is missing before the =",
    }
    if met in slips:
        return source.syntax_error(at, slips[met])
    if last[1] in ("QUOTED", "CLOSE_BRACE") and (met == "{" or met.isalpha()) and not text[at - 1].isspace():
        return source.syntax_error(at, "a blank is missing between two attributes")
    if rest.startswith("..."):
        word = re.match(r"\.\.\.([\w.]*)", rest)
        return source.syntax_error(
            at, f"a spread stands in braces: {{...{word[1] if word and word[1] else 'props'}}}"
        )
    if rest.startswith(("{#", "{/*")):
        return source.syntax_error(at, "a comment can't stand inside a tag")
    if met == "{":
        code = re.match(r"\{([^{}]*)\}", rest)
        inner = one_line(code[1], 20) if code else "…"
        return source.syntax_error(
            at,
            f"a value without a name: write name={{{inner}}}, or {{...{inner}}} for a mapping of attributes",
        )
    if met in "\"'":
        if (at and text[at - 1] == met) or last[1] == "QUOTED":
            return source.syntax_error(at, f"a stray quote in the tag <{name}")
        return source.syntax_error(at, f"a stray quote in the tag <{name}: a value stands behind name=")
    word = re.match(r"[^\s=<>\"'{}/]+", rest)
    if word and text[at - 1].isspace():
        return source.syntax_error(
            at, f"`{one_line(word[0], 30)}` is no name of an attribute: it has letters, digits, _ and -"
        )
    if last[1] in ("QUOTED", "CLOSE_BRACE"):
        return source.syntax_error(at, "a blank is missing between two attributes")
    hint = ""
    if not (is_component(name) or name in CONTROL or name in ELEMENTS_BY_NAME):
        hint = '; a `<` that begins no tag is written &lt; or {"<"}'
    return source.syntax_error(at, f"`{one_line(met)}` can't stand in the tag <{name}{hint}")


def _no_value(source: Source, at: int, broken: Sequence[_Token]) -> TemplateSyntaxError:
    text = source.text
    name = broken[-2][2].strip() if len(broken) > 1 else "name"
    rest = text[at : at + 200]
    if not rest or rest[0] == ">" or rest.startswith("/>"):
        return source.syntax_error(
            min(at, len(text)), f'the value of {name} is missing: {name}="text" or {name}={{expression}}'
        )
    if rest[0] in "\"'":
        return source.syntax_error(at, f"the value of {name} is not closed with {rest[0]}")
    if rest[0] == "<":
        return source.syntax_error(
            at, f'a tag can\'t be the value of {name}: a value is "text" or {{expression}}'
        )
    if rest[0] in "“”„«»‘’‚":
        return source.syntax_error(at, f'the value of {name} needs straight quotes: {name}="…"')
    word = re.match(r"[^\s<>\"'{}]+?(?=/?>|[\s<\"'{}]|$)", rest)
    shown = one_line(word[0], 20) if word else rest[0]
    return source.syntax_error(
        at, f'the value of {name} needs quotes or braces: {name}="{shown}" or {name}={{{shown}}}'
    )
