"""The formatter: one form for tags, expressions and indentation, and never another prompt.

It keeps lines as they are, and all that is part of the prompt: it writes the indentation that the rules of whitespace
remove anyway, the blanks inside tags, and expressions that stand on one line.
"""

from __future__ import annotations

from typing import Any

from priompt_py.errors import TemplateSyntaxError
from priompt_py.template.format_expression import expression_text
from priompt_py.template.front_matter import read_as_front_matter
from priompt_py.template.layout import Layout, lay_out
from priompt_py.template.lines import Block, Line
from priompt_py.template.parse import ParsedTemplate, parse_source
from priompt_py.template.source import Source
from priompt_py.template.syntax import (
    Attribute,
    Comment,
    Element,
    Expression,
    Insertion,
    Quoted,
    Spread,
    TemplateNode,
    Text,
)

__all__ = ["format_parsed", "format_template", "laid_out"]

_STEP = "  "
_WIDTH = 100  # characters of a line; longer tags get a line for each attribute


_MOST_ROUNDS = 4
_MOST_PARTS = 40  # of a template, that are tried one by one


def format_template(text: str, name: str = "<template>") -> str:
    """The text of a template, formatted. Raises TemplateSyntaxError."""
    return format_parsed(parse_source(Source(text, name)))


def format_parsed(parsed: ParsedTemplate) -> str:
    """The same of a parsed template.

    What it gives is laid out again and compared: parts that wouldn't be the same keep their blanks as they are.
    """
    text = as_written = _as_written(parsed)
    for _ in range(_MOST_ROUNDS):
        formatted = _formatted(parsed)
        if formatted == text:
            return text
        text = formatted
        parsed = parse_source(Source(text, parsed.source.name))
    return as_written


def _as_written(parsed: ParsedTemplate) -> str:
    text = parsed.source.text
    return f"\ufeff{text}" if text.startswith("\ufeff") else text  # the first one is dropped when it is read


def _formatted(parsed: ParsedTemplate) -> str:
    """The formatted text, with as much of its indentation written anew as leaves the prompt the same."""
    layout = lay_out(parsed.nodes, parsed.front_matter.whitespace)
    wanted = laid_out(parsed, layout)
    leads, blanks = _leads(layout), _blanks(layout)
    formatted = _written(parsed, leads, blanks)
    if _is_laid_out(formatted, wanted):
        return formatted
    formatted = _written(parsed, {}, {})
    if not _is_laid_out(formatted, wanted):
        return _as_written(parsed)
    kept_leads: dict[tuple[int, int], tuple[str, str]] = {}
    kept_blanks: dict[tuple[int, int], str] = {}
    for places in _places(layout)[:_MOST_PARTS]:
        some_leads = kept_leads | {place: leads[place] for place in places & leads.keys()}
        some_blanks = kept_blanks | {place: blanks[place] for place in places & blanks.keys()}
        tried = _written(parsed, some_leads, some_blanks)
        if _is_laid_out(tried, wanted):
            formatted, kept_leads, kept_blanks = tried, some_leads, some_blanks
    return formatted


def _places(layout: Layout) -> list[set[tuple[int, int]]]:
    """The pieces of text in each closed element: those of the template itself, of each message, and so on."""
    found: dict[int, set[tuple[int, int]]] = {}
    for _, lines in layout.regions:
        for line in lines:
            block = line.owner
            while not block.is_closed and block.parent is not None:
                block = block.parent
            places = found.setdefault(id(block), set())
            places.update((id(mark.node), mark.piece) for mark in line.marks if mark.kind == "text")
    return list(found.values())


def _is_laid_out(text: str, wanted: list[Any]) -> bool:
    try:
        parsed = parse_source(Source(text))
    except TemplateSyntaxError:  # pragma: no cover - what is written can be read
        return False
    return laid_out(parsed, lay_out(parsed.nodes, parsed.front_matter.whitespace)) == wanted


def laid_out(parsed: ParsedTemplate, layout: Layout) -> list[Any]:
    """The syntax of a template when the rules of whitespace were applied: what the formatter has to keep."""
    return [parsed.front_matter, *_laid(parsed.nodes, layout)]


def _laid(nodes: tuple[TemplateNode, ...], layout: Layout) -> list[Any]:
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, Text):
            found.append(layout.texts[id(node)])
        elif isinstance(node, Comment):
            found.append(node)
        elif isinstance(node, Insertion):
            found.append((node, layout.around.get(id(node))))
        else:
            inner = _laid(node.children, layout)
            found.append((node.name, node.attributes, inner, layout.around.get(id(node))))
    return [one for one in found if one != ""]


def _written(
    parsed: ParsedTemplate,
    leads: dict[tuple[int, int], tuple[str, str]],
    blanks: dict[tuple[int, int], str],
) -> str:
    writer = _Writer(leads, blanks)
    head = parsed.front_matter.text
    if head and not head.endswith("\n"):
        head += "\n"
    body = writer.write(parsed.nodes)
    if not head and body.startswith("\ufeff"):
        head = "\ufeff"  # the first one is dropped when the file is read
    elif not head and read_as_front_matter(body):
        head = "---\n---\n"
    return head + body


# ------------------------------------------------------------------------------------------ indentation


def _leads(layout: Layout) -> dict[tuple[int, int], tuple[str, str]]:
    """The old and the new indentation of each line, by the text (its identity, and the piece) that begins it."""
    leads: dict[tuple[int, int], tuple[str, str]] = {}
    stands: dict[int, str] = {}  # the indentation of the line on which an element begins
    for element, lines in layout.regions:
        bases: dict[int, str] = {}
        if element is not None:
            bases[id(lines[0].owner)] = stands.get(id(element), "") + _STEP
        for line in lines:
            lead = _lead(line, bases, stands, element)
            first = line.marks[0] if line.marks else None
            if line.begins and first is not None and first.kind == "text":
                leads[id(first.node), first.piece] = (line.lead, lead)
            for mark in line.marks:
                if mark.kind in ("open", "content") and isinstance(mark.node, Element):
                    stands[id(mark.node)] = lead
    return leads


def _lead(line: Line, bases: dict[int, str], stands: dict[int, str], element: Element | None) -> str:
    base = _base(line.owner, bases, stands)
    if line.kind == "blank":
        return ""
    if not line.begins:
        return base if element is None else stands.get(id(element), "")
    if line.counts:
        return base + line.kept_lead
    for mark in line.marks:
        if mark.kind == "close" or (mark.kind == "void" and _name(mark.node) in ("elif", "else")):
            opened = mark.node if mark.kind == "close" else None
            if opened is not None:
                return stands.get(id(opened), base)
            return _of_owner(line.owner, stands, base)
        if mark.kind == "edge":
            return stands.get(id(element), "") if element is not None else base
        if mark.kind not in ("text", "comment"):
            break
    return base


def _of_owner(block: Block, stands: dict[int, str], base: str) -> str:
    """The indentation of the tag that opened a block."""
    del stands
    return base[: -len(_STEP)] if block.line is not None and base.endswith(_STEP) else base


def _name(node: TemplateNode | None) -> str:
    return node.name if isinstance(node, Element) else ""


def _base(block: Block, bases: dict[int, str], stands: dict[int, str]) -> str:
    """What is put before each line of a block."""
    if id(block) not in bases:
        bases[id(block)] = "" if block.line is None else _stand_of(block, bases, stands) + _STEP
    return bases[id(block)]


def _stand_of(block: Block, bases: dict[int, str], stands: dict[int, str]) -> str:
    assert block.line is not None
    for mark in block.line.marks:
        if mark.kind == "open" and id(mark.node) in stands:
            return stands[id(mark.node)]
    return _base(block.line.owner, bases, stands)


def _blanks(layout: Layout) -> dict[tuple[int, int], str]:
    """Other blanks that aren't part of the prompt: new texts of pieces on lines of tags, and at ends of lines."""
    found: dict[tuple[int, int], str] = {}
    for _, lines in layout.regions:
        for line in lines:
            if line.kind == "text":
                continue
            last = len(line.marks) - 1
            for at, mark in enumerate(line.marks):
                if mark.kind != "text" or mark.text.strip(" \t"):
                    continue
                if at == last:
                    found[id(mark.node), mark.piece] = ""
                elif line.kind == "tags" and not (at == 0 and line.begins):
                    found[id(mark.node), mark.piece] = " " if mark.text else ""
    return found


# ------------------------------------------------------------------------------------------ text


class _Writer:
    def __init__(
        self, leads: dict[tuple[int, int], tuple[str, str]], blanks: dict[tuple[int, int], str]
    ) -> None:
        self._leads = leads
        self._blanks = blanks
        self._out: list[str] = []

    def write(self, nodes: tuple[TemplateNode, ...]) -> str:
        stack: list[TemplateNode | str] = list(reversed(nodes))
        out = self._out
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                out.append(node)
            elif isinstance(node, Text):
                out.append(self._text(node))
            elif isinstance(node, Comment):
                out.append(node.value)
            elif isinstance(node, Insertion):
                out.append(f"{{{_code(node.expression)}}}")
            else:
                out.append(self._tag(node))
                if not node.closes_itself:
                    stack.append(f"</{node.name}>")
                    stack.extend(reversed(node.children))
        return "".join(out)

    def _text(self, node: Text) -> str:
        pieces = node.value.split("\n")
        for piece, text in enumerate(pieces):
            place = (id(node), piece)
            blank = self._blanks.get(place)
            lead = self._leads.get(place)
            rest = text if blank is None else blank
            if lead is not None:
                old, new = lead
                rest = new + text[len(old) :] if blank is None or text != old else (new if blank else "")
                if blank == "" and text == old:
                    rest = ""
            pieces[piece] = rest
        return "\n".join(pieces)

    def _column(self) -> int:
        """How many characters stand before what is written next, on its line."""
        size = 0
        for text in reversed(self._out):
            cut = text.rfind("\n")
            if cut >= 0:
                return size + len(text) - cut - 1
            size += len(text)
        return size

    def _tag(self, node: Element) -> str:
        end = "/>" if node.closes_itself else ">"
        attributes = [_attribute(one) for one in node.attributes]
        line = f"<{' '.join([node.name, *attributes])}{end}"
        if len(attributes) < 2 or "\n" in line:
            return line
        column = self._column()
        if column + len(line) <= _WIDTH:
            return line
        lead = self._lead_here()
        return "\n".join([f"<{node.name}", *(f"{lead}{_STEP}{one}" for one in attributes), f"{lead}{end}"])

    def _lead_here(self) -> str:
        text = ""
        for piece in reversed(self._out):
            cut = piece.rfind("\n")
            text = piece[cut + 1 :] + text
            if cut >= 0:
                break
        return text[: len(text) - len(text.lstrip(" \t"))]


def _attribute(one: Attribute | Spread) -> str:
    if isinstance(one, Spread):
        return f"{{...{_code(one.expression)}}}"
    if one.value is None:
        return one.name
    if isinstance(one.value, Expression):
        return f"{one.name}={{{_code(one.value)}}}"
    return f"{one.name}={_quoted(one.value)}"


def _code(expression: Expression, quote: str = '"') -> str:
    if "\n" in expression.text:
        return expression.text
    return expression_text(expression.root, quote)


def _quoted(value: Quoted) -> str:
    """A quoted value in double quotes, unless it holds some."""
    literal = "".join(part for part in value.parts if isinstance(part, str))
    if '"' in literal or any(
        "\n" in part.text and '"' in part.text for part in value.parts if isinstance(part, Expression)
    ):
        inner = [part if isinstance(part, str) else f"{{{_single(part)}}}" for part in value.parts]
        return f"'{''.join(inner)}'"
    inner = [part if isinstance(part, str) else f"{{{_code(part, chr(39))}}}" for part in value.parts]
    return f'"{"".join(inner)}"'


def _single(part: Expression) -> str:
    """Code for an attribute in single quotes, which it may not hold."""
    if "\n" in part.text:
        return part.text
    return expression_text(part.root, '"').replace("'", "\\x27")
