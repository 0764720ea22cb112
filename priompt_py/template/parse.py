"""From a template's text to its syntax: pairs the tags, and says all that is wrong in one go."""

from __future__ import annotations

from typing import Any

import attrs

from priompt_py.author.element_table import ELEMENTS_BY_NAME
from priompt_py.errors import TemplateSyntaxError
from priompt_py.template.attributes import expression_of, read_attributes
from priompt_py.template.bounds import Bounds
from priompt_py.template.collector import without_collections
from priompt_py.template.front_matter import FrontMatter, read_front_matter
from priompt_py.template.items import BrokenTag, Code, TagItem, read_items, read_raw
from priompt_py.template.size import over_code, over_size
from priompt_py.template.source import MOST_ERRORS, Source, near, one_line
from priompt_py.template.syntax import (
    Attribute,
    Comment,
    Element,
    Insertion,
    Spread,
    TemplateNode,
    Text,
)
from priompt_py.template.vocabulary import CONTROL, is_component, is_void, unknown_tag

__all__ = ["MOST_DEEP", "ParsedTemplate", "Reading", "parse_source", "raise_first", "read_source"]

MOST_DEEP = 100
"""How deep elements may stand in each other in one file."""


@attrs.frozen
class ParsedTemplate:
    """A template's syntax: ``front_matter``, and the nodes of its body."""

    front_matter: FrontMatter
    nodes: tuple[TemplateNode, ...]
    source: Source = attrs.field(eq=False, repr=False)


@attrs.frozen
class Reading:
    """What could be read of a template, and all its ``errors``, in order.

    ``is_complete``: it was read to its end; ``is_paired``: no tag is closed by another one's closing tag, or not at all.
    """

    template: ParsedTemplate
    errors: tuple[TemplateSyntaxError, ...] = ()
    is_complete: bool = True
    is_paired: bool = True


@attrs.define
class _Open:
    """An element that is open: its tag, and what stands in it so far."""

    tag: TagItem
    attributes: tuple[Attribute | Spread, ...]
    children: list[TemplateNode] = attrs.field(factory=list[Any])
    is_known: bool = True
    is_broken: bool = False
    branch: str = ""  # the last `elif` or `else` in it


def parse_source(source: Source, bounds: Bounds | None = None) -> ParsedTemplate:
    """The syntax of a template. Raises TemplateSyntaxError, whose ``errors`` are all that were found."""
    reading = read_source(source, bounds)
    raise_first(list(reading.errors))
    return reading.template


def read_source(source: Source, bounds: Bounds | None = None) -> Reading:
    """What can be read of a template, errors or not. What is over a bound isn't read at all."""
    errors: list[TemplateSyntaxError] = []
    allowed = bounds or _BOUNDS
    with without_collections():
        front_matter, start = read_front_matter(source, errors)
        too_much = over_size(source, start, allowed)
        items, is_complete = ([], False) if too_much else read_items(source, start, errors)
        too_much = too_much or over_code(source, items, allowed)
        if too_much is not None:
            errors.append(source.syntax_error(*too_much))
            return Reading(ParsedTemplate(front_matter, (), source), tuple(errors), is_complete=False)
        builder = _Builder(source, errors, is_complete=is_complete)
        nodes = builder.build(items)
    errors.sort(key=_place_of)
    return Reading(
        ParsedTemplate(front_matter, nodes, source),
        tuple(errors),
        is_complete=builder.is_complete,
        is_paired=builder.is_paired,
    )


_BOUNDS = Bounds()


def raise_first(errors: list[TemplateSyntaxError]) -> None:
    """Raise the first error in the text, which then knows the others."""
    if errors:
        errors.sort(key=_place_of)
        first = errors[0]
        first.errors = tuple(errors)
        raise first


def _place_of(error: TemplateSyntaxError) -> tuple[int, int]:
    return (error.line or 0, error.column or 0)


class _Builder:
    """Makes the tree of the items. ``is_complete`` and ``is_paired`` are as those of a Reading."""

    def __init__(self, source: Source, errors: list[TemplateSyntaxError], *, is_complete: bool) -> None:
        self._source = source
        self._errors = errors
        self.is_complete = is_complete
        self.is_paired = True
        self._stack: list[_Open] = []
        self._root: list[TemplateNode] = []
        self._here = self._root

    def build(self, items: list[Any]) -> tuple[TemplateNode, ...]:
        for item in items:
            if len(self._errors) >= MOST_ERRORS or len(self._stack) > MOST_DEEP:
                self.is_complete = False
                break
            kind = item.__class__
            if kind is TagItem or kind is BrokenTag:
                self._open(item)
            elif kind is Code:
                expression = expression_of(item, self._source, self._errors)
                if expression is not None:
                    start = item.start - 1
                    self._here.append(Insertion(expression, start=start, end=item.start + len(item.text) + 1))
            elif item.type == "TEXT":
                self._here.append(Text(str(item), start=item.start_pos))
            elif item.type == "CLOSE_TAG":
                self._close(str(item)[2:-1].rstrip(), item.start_pos, item.end_pos)
            elif item.type == "COMMENT":
                self._here.append(Comment(str(item), start=item.start_pos))
            else:
                self._raw(str(item), item.start_pos)
        while self._stack:
            still = self._stack[-1]
            self.is_paired = False
            if self.is_complete and still.tag.__class__ is not BrokenTag:
                self._error(
                    still.tag.start, f"<{still.tag.name}> is not closed: </{still.tag.name}> is missing"
                )
            self._pop(len(self._source.text), len(self._source.text))
        return tuple(self._root)

    def _error(self, at: int, message: str) -> None:
        self._errors.append(self._source.syntax_error(at, message))

    # -------------------------------------------------------------------------------------- opening tags

    def _open(self, tag: TagItem) -> None:
        name = tag.name
        is_known = is_component(name) or name in CONTROL or name in ELEMENTS_BY_NAME
        attributes: tuple[Attribute | Spread, ...] = ()
        before = len(self._errors)
        if not is_known:
            self._error(tag.start, f"there is no <{one_line(name)}>{unknown_tag(name)}")
        elif tag.__class__ is not BrokenTag:
            attributes = read_attributes(tag, self._source, self._errors)
        is_broken = tag.__class__ is BrokenTag or len(self._errors) > before
        if name in ("elif", "else"):
            self._check_branch(tag)
        elif name in ("import", "component") and self._stack:
            self._error(
                tag.start,
                f"<{name}> stands in no element, this one in <{self._stack[-1].tag.name}> of line "
                f"{self._source.line_of(self._stack[-1].tag.start)}",
            )
        if tag.closes_itself or (is_known and is_void(name)):
            if not tag.closes_itself and tag.__class__ is not BrokenTag:
                self._error(tag.start, f"<{name}> takes no content: it is written <{name}/>")
            self._here.append(
                Element(
                    name,
                    attributes,
                    start=tag.start,
                    open_end=tag.end,
                    close_start=tag.end,
                    end=tag.end,
                    closes_itself=True,
                    is_broken=is_broken,
                )
            )
            return
        if len(self._stack) == MOST_DEEP:
            self._error(tag.start, f"elements stand more than {MOST_DEEP} deep in each other")
        self._stack.append(_Open(tag, attributes, is_known=is_known, is_broken=is_broken))
        self._here = self._stack[-1].children

    def _check_branch(self, tag: TagItem) -> None:
        parent = self._stack[-1] if self._stack else None
        places = "<if>" if tag.name == "elif" else "<if> or <for>"
        if (
            parent is None
            or parent.tag.name not in ("if", "for")
            or (tag.name, parent.tag.name) == ("elif", "for")
        ):
            where = "" if parent is None else f", this one in <{parent.tag.name}>"
            self._error(tag.start, f"<{tag.name}/> stands directly in {places}{where}")
        elif parent.branch == "else":
            self._error(tag.start, f"<{tag.name}/> can't come after <else/>")
        else:
            parent.branch = tag.name

    # -------------------------------------------------------------------------------------- closing tags

    def _pop(self, close_start: int, end: int) -> None:
        done = self._stack.pop()
        self._here = self._stack[-1].children if self._stack else self._root
        tag = done.tag
        self._here.append(
            Element(
                tag.name,
                done.attributes,
                tuple(done.children),
                start=tag.start,
                open_end=tag.end,
                close_start=close_start,
                end=end,
                is_broken=done.is_broken,
            )
        )

    def _close(self, name: str, start: int, end: int) -> None:
        if self._stack and self._stack[-1].tag.name == name:
            self._pop(start, end)
            return
        self.is_paired = False
        opened = [i for i, one in enumerate(self._stack) if one.tag.name == name]
        if opened:
            # What was opened inside is not closed.
            while len(self._stack) > opened[-1] + 1:
                inner = self._stack[-1]
                if inner.tag.__class__ is not BrokenTag and inner.is_known:
                    line = self._source.line_of(inner.tag.start)
                    self._error(
                        start,
                        f"</{name}> comes before </{inner.tag.name}>: <{inner.tag.name}> of line {line} is still open",
                    )
                self._pop(start, start)
            self._pop(start, end)
            return
        if name in ("elif", "else") or (not is_component(name) and is_void(name)):
            self._error(start, f"<{name}/> is never closed: it takes no content")
            return
        if not self._stack:
            self._error(start, f"</{name}> closes nothing: no <{name}> is open")
            return
        inner = self._stack[-1]
        if inner.tag.__class__ is BrokenTag:
            return  # what it closes may be in the part that couldn't be read
        line = self._source.line_of(inner.tag.start)
        if _is_slip(name, inner.tag.name):
            self._error(
                start, f"</{name}> closes <{inner.tag.name}> of line {line}: write </{inner.tag.name}>"
            )
            self._pop(start, end)
            return
        self._error(start, f"</{name}> closes nothing: open is <{inner.tag.name}> of line {line}")

    # -------------------------------------------------------------------------------------- raw text

    def _raw(self, text: str, start: int) -> None:
        tag, close = read_raw(text, start)
        before = len(self._errors)
        attributes = read_attributes(tag, self._source, self._errors)
        if close is None:
            self._error(start, "<raw> is not closed: </raw> is missing")
            self.is_complete = False  # it took the rest
            return
        self._here.append(
            Element(
                "raw",
                attributes,
                self._raw_content(text[tag.end - start : close], tag.end),
                start=start,
                open_end=tag.end,
                close_start=start + close,
                end=start + len(text),
                is_broken=len(self._errors) > before,
            )
        )

    def _raw_content(self, content: str, start: int) -> tuple[TemplateNode, ...]:
        """The text of ``<raw>``; in a template string with the values between its texts."""
        found: list[TemplateNode] = []
        at = 0
        for begin, end in self._source.values_in(content):
            if begin > at:
                found.append(Text(content[at:begin], raw=True, start=start + at))
            code = Code(content[begin + 1 : end - 1], start + begin + 1)
            expression = expression_of(code, self._source, self._errors)
            if expression is not None:
                found.append(Insertion(expression, start=start + begin, end=start + end))
            at = end
        if at < len(content):
            found.append(Text(content[at:], raw=True, start=start + at))
        return tuple(found)


def _is_slip(written: str, meant: str) -> bool:
    """Whether a closing tag's name is the open one's, misspelt."""
    return bool(near(written.lower(), [meant.lower()]))
