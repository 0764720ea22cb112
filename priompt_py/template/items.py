"""A template's text as a flat run of items, by lark's parser; after an error it goes on with what follows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.template import diagnose
from priompt_py.template.grammar import parser
from priompt_py.template.source import Source

if TYPE_CHECKING:
    from lark import Token, Tree

    from priompt_py.errors import TemplateSyntaxError

__all__ = ["BrokenTag", "Code", "RawTag", "TagItem", "read_items", "read_quoted", "read_raw"]

_MOST_ERRORS = 20
"""After so many errors the rest of a file is not read."""

_MOST_AGAIN = 20_000
"""Nor after so many characters that were read, and have to be read again."""


@attrs.define(slots=True)
class Code:
    """The code between braces: ``start`` is the offset of its text."""

    text: str
    start: int


@attrs.define(slots=True)
class RawTag:
    """An attribute (``name``, and its value: None, code, or a quoted text with its offset) or a spread (no name)."""

    name: str
    start: int
    value: Code | tuple[str, int] | None


@attrs.define(slots=True)
class TagItem:
    """An opening tag."""

    name: str
    start: int
    end: int
    attributes: list[RawTag]
    closes_itself: bool


@attrs.define(slots=True)
class BrokenTag(TagItem):
    """An opening tag with an error in it, which is reported already."""


def read_items(
    source: Source, start: int, errors: list[TemplateSyntaxError]
) -> tuple[list[Token | TagItem | Code], bool]:
    """The items of a source from ``start`` on, their places as offsets in the source, and whether they are all.

    A ``Code`` is an insertion. Tokens have the types TEXT, COMMENT, RAW and CLOSE_TAG.
    """
    reader = _Reader(source, start, errors)
    return reader.read(), reader.is_complete


def read_quoted(text: str, start: int, source: Source, errors: list[TemplateSyntaxError]) -> list[str | Code]:
    """The parts of a quoted value that begins at ``start``."""
    from lark.exceptions import UnexpectedInput

    try:
        lark: Any = parser("priompt", "quoted")
        tree: Any = lark.parse(text)
    except UnexpectedInput as error:
        at = diagnose.offset_of(error, text)
        errors.append(diagnose.in_quotes(source, text, start, at))
        return []
    return [
        _code(child, start)
        if child.__class__.__name__ == "Tree" or child.type == "SIMPLE_INSERTION"
        else str(child)
        for child in tree.children
    ]


class _Reader:
    def __init__(self, source: Source, start: int, errors: list[TemplateSyntaxError]) -> None:
        self._source = source
        self._base = start
        self._errors = errors
        self.is_complete = True
        self._again = 0

    def read(self) -> list[Any]:
        from lark.exceptions import UnexpectedInput

        lark: Any = parser("priompt", "template")
        items: list[Any] = []
        text = self._source.text
        while self._base < len(text):
            rest = text[self._base :] if self._base else text
            here = _Reading(lark, rest)
            try:
                here.read()
            except UnexpectedInput as error:
                done, broken = here.salvage()
                items.extend(map(self._item, done))
                at = self._base + diagnose.offset_of(error, rest)
                fault, resume = diagnose.in_template(
                    self._source, at, [self._moved(token) for token in broken]
                )
                self._errors.append(fault)
                broken_tag = bool(broken) and broken[0][1] == "OPEN_TAG"
                if broken_tag:
                    tag = self._broken_tag(broken[0], resume)
                    items.append(tag)
                    if tag.name == "raw" and text[resume - 1 : resume] == ">" and not tag.closes_itself:
                        end = _RAW_END.search(text, resume)  # nothing in it is parsed
                        resume = len(text) if end is None else end.start()
                self._base = resume
                self._again += max(at - resume, 0)
                if len(self._errors) >= _MOST_ERRORS or self._again > _MOST_AGAIN:
                    self.is_complete = False
                    break
                if resume == len(text) and not broken_tag:  # an open comment took the rest
                    self.is_complete = False
                continue
            items.extend(map(self._item, here.items()))
            break
        return items

    def _moved(self, token: tuple[int, str, str]) -> tuple[int, str, str]:
        return (token[0] + self._base, token[1], token[2])

    def _broken_tag(self, token: tuple[int, str, str], resume: int) -> BrokenTag:
        text = self._source.text
        return BrokenTag(token[2][1:], self._base + token[0], resume, [], text[resume - 2 : resume] == "/>")

    def _item(self, item: Any) -> Any:
        base = self._base
        if item.__class__.__name__ == "Tree":
            return _tag(item, base) if item.data == "tag" else _code(item, base)
        kind = item.type
        if kind == "WRITTEN_TAG":
            return _written_tag(item, base)
        if kind == "SIMPLE_INSERTION":
            return Code(item[1:-1], base + item.start_pos + 1)
        if base:
            item.start_pos += base
            item.end_pos += base
        return item


_RAW_ATTRIBUTE = (
    r"""\s+(?:([^\W\d][\w-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|\{([^{}]*)\}))?|\{\s*\.\.\.([^{}]*)\})"""
)
_RAW_HEAD = re.compile(rf"<raw(?:{_RAW_ATTRIBUTE})*\s*>")
_RAW_END = re.compile(r"</raw\s*>")


def read_raw(text: str, start: int) -> tuple[TagItem, int | None]:
    """The opening tag of a RAW item, and the offset in ``text`` of its closing tag (None: there is none)."""
    head = _RAW_HEAD.match(text)
    assert head is not None, text
    attributes: list[RawTag] = []
    for match in re.compile(_RAW_ATTRIBUTE).finditer(text, len("<raw"), head.end()):
        group = match.lastindex or 1
        value: Code | tuple[str, int] | None = None
        if group >= 4:
            value = Code(match[group], start + match.start(group))
        elif group > 1:
            value = (match[group], start + match.start(group))
        at = match.end() - len(match[0].lstrip())
        attributes.append(RawTag(match[1] or "", start + at, value))
    tag = TagItem("raw", start, start + head.end(), attributes, closes_itself=False)
    end = _RAW_END.search(text, head.end())
    return tag, None if end is None else end.start()


_NAME_OF_TAG = re.compile(r"<([\w.:-]+)")
_WRITTEN = re.compile(r"\s+([\w-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|\{([^}]*)\}))?")


def _written_tag(token: Any, base: int) -> TagItem:
    text = str(token)
    start = base + token.start_pos
    head = _NAME_OF_TAG.match(text)
    assert head is not None, text
    attributes: list[RawTag] = []
    for match in _WRITTEN.finditer(text, head.end()):
        group = match.lastindex or 1
        value: Code | tuple[str, int] | None = None
        if group == 4:
            value = Code(match[4], start + match.start(4))
        elif group != 1:
            value = (match[group], start + match.start(group))
        attributes.append(RawTag(match[1], start + match.start(1), value))
    return TagItem(head[1], start, base + token.end_pos, attributes, text.endswith("/>"))


def _tag(tree: Tree[Token], base: int) -> TagItem:
    children: list[Any] = tree.children
    opening, *middle, ending = children
    return TagItem(
        str(opening)[1:],
        base + opening.start_pos,
        base + ending.end_pos,
        [_attribute(one, base) for one in middle],
        ending.type == "VOID_TAG_END",
    )


def _attribute(tree: Any, base: int) -> RawTag:
    children = tree.children
    if tree.data == "spread":
        brace = children[0].start_pos + children[0].index("{")
        return RawTag("", base + brace, _between(children, base))
    name = children[0].strip()
    start = base + children[0].end_pos - len(name)
    if len(children) < 2 or children[1] is None:
        return RawTag(name, start, None)
    if children[1].type == "EQUALS":
        quoted = children[2]
        return RawTag(name, start, (str(quoted)[1:-1], base + quoted.start_pos + 1))
    return RawTag(name, start, _between(children[1:], base))


def _code(item: Any, base: int) -> Code:
    if item.__class__.__name__ == "Tree":
        return _between(item.children, base)
    return Code(item[1:-1], base + item.start_pos + 1)


def _between(tokens: list[Any], base: int) -> Code:
    """The code between two tokens; what is between them was lexed without gaps."""
    return Code("".join(_texts(tokens[1:-1])), base + tokens[0].end_pos)


def _texts(tokens: list[Any]) -> list[str]:
    found: list[str] = []
    stack = tokens[::-1]
    while stack:
        token = stack.pop()
        if token.__class__.__name__ == "Tree":
            stack.extend(reversed(token.children))
        else:
            found.append(str(token))
    return found


_WHOLE = frozenset({"TEXT", "COMMENT", "RAW", "WRITTEN_TAG", "CLOSE_TAG", "SIMPLE_INSERTION"})


class _Reading:
    """One run of lark's parser over a text.

    A token that is an item by itself, and follows another such one, is taken without the parser, whose state it would
    leave the same: that takes off half of the time.
    """

    def __init__(self, lark: Any, text: str) -> None:
        self._parser = lark.parse_interactive(text)
        self._whole: list[Any] = []
        self._others: list[Any] = []

    def read(self) -> None:
        """Read all. Raises lark's UnexpectedInput."""
        feed = self._parser.feed_token
        whole = self._whole
        is_between = True
        token: Any = None
        for token in self._parser.lexer_thread.lex(self._parser.parser_state):
            if token.type in _WHOLE:
                if is_between:
                    whole.append(token)
                    continue
                is_between = True
            else:
                is_between = False
            feed(token)
        self._others = self._parser.feed_eof(token).children

    def items(self) -> list[Any]:
        """The items that were read, in order."""
        return sorted([*self._whole, *self._others], key=_start_of) if self._others else self._whole

    def salvage(self) -> tuple[list[Any], list[tuple[int, str, str]]]:
        """The items that were complete when the parser stopped, and the tokens of the one that was not."""
        from lark import Token

        if self._parser.parser_state.value_stack and "TEXT" in self._parser.accepts():
            self._parser.feed_token(
                Token("TEXT", "", start_pos=-1)
            )  # now a last item that is complete is made
        broken: list[tuple[int, str, str]] = []
        values: list[Any] = self._parser.parser_state.value_stack
        for value in values:
            if value.__class__.__name__ == "Tree":
                if str(value.data).startswith("__template"):
                    self._others.extend(value.children)
                elif value.data in ("tag", "insertion") and not broken:
                    self._others.append(value)
            elif value.__class__.__name__ == "Token":
                if value.type in _WHOLE and not broken:
                    self._others += [value] if value else []
                else:
                    broken.append((value.start_pos, value.type, str(value)))
        return self.items(), broken


def _start_of(item: Any) -> int:
    """Where an item begins in what was read."""
    while item.__class__.__name__ == "Tree":
        item = item.children[0]
    start: int = item.start_pos
    return start
