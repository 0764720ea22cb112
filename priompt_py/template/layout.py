"""The rules of whitespace: which blanks and line breaks of a template's literal text are part of the prompt.

A *region* is a part of a template that is laid out by itself: the body of the template, what stands in a component
call, what has a ``whitespace`` of its own. In the default mode a region is cut into lines; blocks of lines lose the
indentation that they share. Inserted values are never looked at.
"""

from __future__ import annotations

import attrs

from priompt_py.template.lines import Cutter, Line, Mark, Region, classify, indent, mode_of, one_element
from priompt_py.template.syntax import Element, TemplateNode, Text
from priompt_py.template.vocabulary import MESSAGES

__all__ = ["Layout", "lay_out"]


@attrs.define(slots=True, eq=False)
class Layout:
    """What is left of each text, by the node's identity, and what one-element lines put into their element.

    ``around`` holds the blanks before and the line break behind the content of an element (or insertion) that has a
    line to itself. ``kept`` are the texts that keep all, the break at their end too. ``regions`` are those of the
    default mode, each with the element that it is the content of, outer ones first.
    """

    texts: dict[int, str] = attrs.field(factory=dict[int, str])
    around: dict[int, tuple[str, str]] = attrs.field(factory=dict[int, tuple[str, str]])
    kept: set[int] = attrs.field(factory=set[int])
    regions: list[tuple[Element | None, list[Line]]] = attrs.field(
        factory=list[tuple[Element | None, list[Line]]]
    )


def lay_out(nodes: tuple[TemplateNode, ...], mode: str) -> Layout:
    """The layout of a template's body whose rule is ``mode``: ``default``, ``jsx`` or ``keep``."""
    layout = Layout()
    waiting: list[Region] = [(nodes, mode, None)]
    while waiting:
        region, rule, element = waiting.pop()
        if rule == "default":
            lines = Cutter(waiting, in_element=element is not None).cut(region)
            classify(lines)
            indent(lines)
            _write(lines, layout)
            layout.regions.append((element, lines))
        else:
            _plain(region, rule, layout, waiting)
    return layout


# ------------------------------------------------------------------------------------------ other modes


def _plain(
    nodes: tuple[TemplateNode, ...],
    mode: str,
    layout: Layout,
    waiting: list[Region],
) -> None:
    """Lay out a region in the mode ``jsx`` or ``keep``."""
    stack: list[TemplateNode] = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, Text):
            layout.texts[id(node)] = _jsx(node.value) if mode == "jsx" else node.value
            layout.kept.add(id(node))
        elif isinstance(node, Element):
            own = mode_of(node)
            if own is not None and own != mode:
                waiting.append((node.children, own, node))
            else:
                stack.extend(node.children)


def _jsx(text: str) -> str:
    """React's rule: lines are trimmed where they meet a line break, blank ones go, the others join with a space."""
    if "\n" not in text:
        return text.replace("\t", " ")
    lines = text.replace("\t", " ").split("\n")
    last = len(lines) - 1
    kept: list[str] = []
    for at, line in enumerate(lines):
        trimmed = line if at == 0 else line.lstrip(" ")
        trimmed = trimmed if at == last else trimmed.rstrip(" ")
        if trimmed:
            kept.append(trimmed)
    # A line of blanks alone at either end stays where there is no break on that side.
    return " ".join(kept) if any(line.strip(" ") for line in lines) else "".join(kept)


# ------------------------------------------------------------------------------------------ what is left


def _write(lines: list[Line], layout: Layout) -> None:
    """Put together what is left of each text."""
    texts: dict[int, list[str]] = {}
    for line in lines:
        kind = line.kind
        end = "\n" if line.has_break else ""
        last = len(line.marks) - 1
        inside = range(last + 1)
        if kind == "element":
            one = one_element(line)
            assert one is not None
            assert one.node is not None
            before = line.owner.prefix + line.kept_lead
            layout.around[id(one.node)] = ("", "") if _leaves_none(one.node) else (before, end)
            end = ""
            inside = _span(line, one)
        for at, mark in enumerate(line.marks):
            if mark.kind != "text":
                continue
            text = mark.text
            if kind in ("tags", "blank"):
                text = end if kind == "blank" and at == last else ""
            else:
                if at not in inside:  # around the one element there are blanks alone
                    text = ""
                elif at == 0 and line.begins:
                    text = line.owner.prefix + line.kept_lead + text[len(line.lead) :]
                if at == last:
                    text += end
            key = id(mark.node)
            if key in texts:
                texts[key].append(text)
            else:
                texts[key] = [text]
    for key, pieces in texts.items():
        layout.texts[key] = pieces[0] if len(pieces) == 1 else "".join(pieces)


def _span(line: Line, one: Mark) -> range:
    """The places of the marks between an element's tags on its line."""
    places = [at for at, mark in enumerate(line.marks) if mark.node is one.node]
    return range(places[0], places[-1] + 1)


def _leaves_none(node: TemplateNode) -> bool:
    """Whether the blanks and the break of its line are none: of a component's definition, and beside messages."""
    if isinstance(node, Element) and node.name == "component":
        return True
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, Element):
            if here.name in MESSAGES:
                return True
            stack.extend(here.children)
    return False
