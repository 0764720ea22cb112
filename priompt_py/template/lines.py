"""The lines of a region: what each one is, and the blocks of lines that share an indentation."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from priompt_py.template.source import shared_start
from priompt_py.template.syntax import Comment, Element, Insertion, Quoted, TemplateNode, Text
from priompt_py.template.vocabulary import MESSAGES, TRANSPARENT, is_component

__all__ = ["Block", "Cutter", "Line", "Mark", "Region", "classify", "indent", "mode_of", "one_element"]


Region: TypeAlias = "tuple[tuple[TemplateNode, ...], str, Element | None]"
"""Nodes, their rule, and the element that they are the content of (None: the template)."""


@attrs.define(slots=True, eq=False)
class Block:
    """Lines that lose their shared indentation ``common``; ``prefix`` is put before each."""

    parent: Block | None
    line: Line | None  # of its opening tag
    is_closed: bool
    leads: list[str] = attrs.field(factory=list[str])
    common: str = ""
    prefix: str = ""


@attrs.define(slots=True, eq=False)
class Mark:
    """What stands on a line. ``kind``: text, open, close, void, content, comment, edge (of a region's element).

    A text mark is piece number ``piece`` (0-based, between line breaks) of its node.
    """

    kind: str
    node: TemplateNode | None
    piece: int = 0
    text: str = ""
    in_first: bool = False


@attrs.define(slots=True, eq=False)
class Line:
    """A line of a region. ``owner`` is the block in which it begins."""

    owner: Block
    begins: bool = True  # False for the rest of a line, behind a region
    marks: list[Mark] = attrs.field(factory=list[Mark])
    has_break: bool = False
    kind: str = "text"  # text, tags, blank, element
    lead: str = ""
    counts: bool = False

    @property
    def kept_lead(self) -> str:
        """The line's own indentation, without what its block shares."""
        common = self.owner.common
        return self.lead[len(common) :] if self.lead.startswith(common) else ""


def mode_of(element: Element) -> str | None:
    """The ``whitespace`` of an element, if it has one."""
    if not element.attributes or is_component(element.name):
        return None
    attribute = element.attribute("whitespace")
    return attribute.value.constant if attribute is not None and isinstance(attribute.value, Quoted) else None


def is_content(element: Element) -> bool:
    """Whether an element stands on its line like an insertion does."""
    return is_component(element.name) or element.name in ("children", "excerpt")


def _is_void(element: Element) -> bool:
    name = element.name
    if name in TRANSPARENT or name in MESSAGES or name == "component":
        return name in ("elif", "else")
    return True


# ------------------------------------------------------------------------------------------ lines


class Cutter:
    """Cuts a region into lines."""

    def __init__(self, waiting: list[Region], *, in_element: bool) -> None:
        self._waiting = waiting
        self._in_element = in_element
        self._root = Block(None, None, is_closed=True)
        self._blocks: list[Block] = [self._root]
        self._line = Line(self._root, begins=not in_element)
        self._lines = [self._line]

    def cut(self, nodes: tuple[TemplateNode, ...]) -> list[Line]:
        if self._in_element:
            self._line.marks.append(Mark("edge", None))
        # What is still to be visited, the next one last; a pair is an element whose content was visited.
        stack: list[tuple[TemplateNode, bool, bool]] = [(node, False, False) for node in reversed(nodes)]
        while stack:
            node, is_done, in_first = stack.pop()
            kind = node.__class__
            if kind is Text:
                assert isinstance(node, Text)
                self._text(node, in_first=in_first)
            elif kind is Comment:
                self._line.marks.append(Mark("comment", node))
            elif kind is Insertion:
                self._line.marks.append(Mark("content", node, in_first=in_first))
            else:
                assert isinstance(node, Element)
                if is_done:
                    self._line.marks.append(Mark("close", node))
                    self._blocks.pop()
                else:
                    self._element(node, in_first, stack)
        if self._in_element:
            self._line.marks.append(Mark("edge", None))
        return self._lines

    def _new_line(self, *, begins: bool) -> None:
        self._line = Line(self._blocks[-1], begins=begins)
        self._lines.append(self._line)

    def _text(self, node: Text, *, in_first: bool) -> None:
        value = node.value
        if "\n" not in value:
            self._line.marks.append(Mark("text", node, 0, value, in_first))
            return
        for piece, text in enumerate(value.split("\n")):
            if piece:
                self._line.has_break = True
                self._new_line(begins=True)
            self._line.marks.append(Mark("text", node, piece, text, in_first))

    def _element(self, node: Element, in_first: bool, stack: list[tuple[TemplateNode, bool, bool]]) -> None:  # noqa: FBT001
        name = node.name
        if is_content(node):
            self._line.marks.append(Mark("content", node, in_first=in_first))
            if node.children:
                self._waiting.append((node.children, "default", node))
            return
        if _is_void(node):
            self._line.marks.append(Mark("void", node))
            return
        self._line.marks.append(Mark("open", node, in_first=in_first))
        own = mode_of(node)
        if own is not None:
            self._waiting.append((node.children, own, node))
            self._new_line(begins=False)
            self._line.marks.append(Mark("close", node))
            return
        self._blocks.append(Block(self._blocks[-1], self._line, is_closed=name not in TRANSPARENT))
        stack.append((node, True, in_first))
        inside = name in ("first", "fallback") or (in_first and name in ("for", "if"))
        stack.extend([(child, False, inside) for child in reversed(node.children)])


def classify(lines: list[Line]) -> None:
    """Say of each line what it is, and what it begins with."""
    for line in lines:
        has_content = is_blank = False
        is_blank = True
        tags = 0
        for mark in line.marks:
            kind = mark.kind
            if kind == "text":
                if mark.text and not (mark.text.isspace() and not mark.text.strip(" \t")):
                    has_content = True
            elif kind == "content":
                has_content = True
            else:
                tags += 1
        is_blank = not has_content and not tags
        first = line.marks[0] if line.marks else None
        if first is not None and first.kind == "text" and line.begins:
            line.lead = first.text[: len(first.text) - len(first.text.lstrip(" \t"))]
        if is_blank:
            line.kind = "blank"
        elif not has_content:
            line.kind = "tags"
        elif one_element(line) is not None:
            line.kind = "element"
        line.counts = line.begins and (has_content or _opens(line))


def _opens(line: Line) -> bool:
    """Whether a line of tags begins with one that opens an element."""
    for mark in line.marks:
        if mark.kind not in ("text", "comment"):
            return mark.kind == "open"
    return False


_ONE_LINE = TRANSPARENT | {"component"}


def one_element(line: Line) -> Mark | None:
    """The mark of the one element that has this line to itself."""
    if not line.begins:
        return None
    marks = [
        mark
        for mark in line.marks
        if mark.kind != "comment" and not (mark.kind == "text" and not mark.text.strip(" \t"))
    ]
    if not marks:
        return None
    first = marks[0]
    if first.kind == "content":
        return first if first.in_first and len(marks) == 1 else None
    if first.kind != "open" or not isinstance(first.node, Element) or first.node.name not in _ONE_LINE:
        return None
    last = marks[-1]
    return first if last.kind == "close" and last.node is first.node else None


# ------------------------------------------------------------------------------------------ indentation


def indent(lines: list[Line]) -> None:
    """Find what the lines of each block share, and what is put before them."""
    blocks: dict[int, Block] = {}
    owners = [_block_of(line.owner) for line in lines]
    for line, owner in zip(lines, owners, strict=True):
        line.owner = owner
        if id(owner) not in blocks:
            blocks[id(owner)] = owner
        if line.counts:
            owner.leads.append(line.lead)
    done: set[int] = set()
    for block in blocks.values():
        _settle(block, done)


def _block_of(block: Block) -> Block:
    """The innermost element around that is a block."""
    here = block
    while not (here.is_closed or (here.line is not None and here.line.kind == "tags")):
        assert here.parent is not None
        here = here.parent
    return here


def _settle(block: Block, done: set[int]) -> None:
    """Set what a block's lines share and get; that of the blocks around it first."""
    chain: list[Block] = []
    here: Block | None = block
    while here is not None and id(here) not in done:
        chain.append(here)
        here = None if here.parent is None else _block_of(here.parent)
    for one in reversed(chain):
        done.add(id(one))
        one.common = shared_start(one.leads)
        if one.is_closed or one.parent is None or one.line is None:
            continue
        outer = _block_of(one.parent)
        one.prefix = outer.prefix if outer.line is one.line else outer.prefix + _left(one.line, outer)


def _left(line: Line, owner: Block) -> str:
    return line.lead[len(owner.common) :] if line.lead.startswith(owner.common) else ""
