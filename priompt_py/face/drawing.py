"""A report laid out in lines of a width: what the terminal shows, before any colour.

A line is a list of runs, each a text and the name of its style. Widths are cells of a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import attrs
from rich.cells import cell_len

from priompt_py.face.report import Report, ReportMessage, ReportPiece
from priompt_py.face.rows import Line, StyleName, cut, wrapped
from priompt_py.face.visible import fraction, in_one_line, priority_text, tokens_text, visible
from priompt_py.model.elements import BASE_PRIORITY, Number
from priompt_py.model.outcome import Reason

__all__ = ["RANKS", "REASONS", "Look", "draw", "style_of_priorities"]

RANKS: Sequence[StyleName] = ("rank0", "rank1", "rank2", "rank3", "rank4")

REASONS: dict[Reason, str] = {
    "included": "included",
    "below_cutoff": "below the cutoff",
    "parent_out": "what is around it is out",
    "not_chosen": "another alternative is in",
    "over_max": "over its ceiling",
    "pair_out": "its call or result is out",
}

_RUN = 4  # parts side by side that are out and are told one by one
_NAME = 16  # cells that a name keeps beside what is said of it
_TEXT = 12  # cells that text has at least beside the priorities
_PER_LINE = 20  # rows of one line of text, where lines are left out


@attrs.frozen
class Look:
    """How to draw: ``width`` in cells; at most ``lines`` lines of a message and ``out_lines`` of a part that is out (None:
    all); ``plain`` without frames, in ASCII but for the prompt's own text."""

    width: int = 80
    lines: int | None = 40
    out_lines: int | None = 2
    plain: bool = False

    @property
    def dot(self) -> str:
        """What stands between facts."""
        return ", " if self.plain else " · "


def draw(report: Report, look: Look) -> Iterator[Line]:
    """The lines of a report: messages, then what there is to say of all of them."""
    styles = style_of_priorities(report)
    gutter = max((len(priority_text(level)) for level in styles), default=0)
    for included, group in groupby(report.messages, key=lambda message: message.included):
        messages = list(group)
        if not included and look.lines is not None and len(messages) > _RUN:
            rest = messages[2:-2]
            for message in messages[:2]:
                yield from _message(message, look, styles, gutter, is_chat=report.is_chat)
            yield from wrapped(_skipped(rest, look), look.width)
            messages = messages[-2:]
        for message in messages:
            yield from _message(message, look, styles, gutter, is_chat=report.is_chat)
    yield from _summary(report, look)


def style_of_priorities(report: Report) -> dict[Number, StyleName]:
    """A style for each priority that is in: five ranks, from the highest to those next to the cutoff."""
    priorities = sorted(
        {piece.priority for piece in report.pieces() if piece.included and piece.priority < BASE_PRIORITY},
        reverse=True,
    )
    return {
        priority: RANKS[number * len(RANKS) // len(priorities)] for number, priority in enumerate(priorities)
    }


# ------------------------------------------------------------------------------------------ messages


def _message(
    message: ReportMessage, look: Look, styles: dict[Number, StyleName], gutter: int, *, is_chat: bool
) -> Iterator[Line]:
    style: StyleName = "frame" if message.included else "out"
    title = message.role or ("outside messages" if is_chat else "prompt")
    about = [title]
    about += [
        in_one_line(f"{key} {value}")
        for key, value in (("name", message.name), ("to", message.to))
        if value is not None
    ]
    if message.label is not None:
        about.append(in_one_line(message.label))
    facts = [tokens_text(message.tokens)] if message.tokens or message.role else []
    if not message.included:
        facts.insert(0, REASONS[message.reason])
    if message.priority < BASE_PRIORITY:
        facts.insert(0, f"priority {priority_text(message.priority)}")
    inner = look.width if look.plain else look.width - 4
    yield _rule(look.dot.join(about), look.dot.join(facts), look, style, top=True)
    if inner - gutter - 3 < _TEXT or not any(
        piece.included and piece.priority < BASE_PRIORITY for piece in message.pieces
    ):
        gutter = 0
    sign = "|" if look.plain else "│"
    wide = inner - gutter - 3 if gutter else inner
    for label, line in _content(message, look, styles, wide):
        for number, row in enumerate(line):
            before: Line = [(f"{label if not number else '':>{gutter}} {sign} ", "out")] if gutter else []
            yield _boxed([*before, *row], look, style)
    if not look.plain:
        yield _rule("", "", look, style, top=False)


def _content(
    message: ReportMessage, look: Look, styles: dict[Number, StyleName], width: int
) -> Iterator[tuple[str, list[Line]]]:
    """The lines of a message, each with the priority that it begins with (where that changes) and its rows."""
    lines = list(_lines(message, look, styles))
    if not lines:
        empty: Line = [("(empty)", "out")]
        lines = [("", empty)]
    left_out = 0
    if look.lines is not None and len(lines) > look.lines:
        tail = look.lines // 3
        head = look.lines - tail
        left_out = len(lines) - head - tail
        lines = [*lines[:head], *lines[len(lines) - tail :]]
    last = ""
    for number, (label, line) in enumerate(lines):
        if left_out and number == len(lines) - _tail(look):
            told = f"{left_out:,} lines not shown"
            yield (
                "",
                [
                    [
                        (
                            cut(
                                f"... {told} ..." if look.plain else f"┄┄ {told} ┄┄", width, plain=look.plain
                            ),
                            "out",
                        )
                    ]
                ],
            )
        yield (
            ("" if label == last else label),
            list(wrapped(line, width, _PER_LINE if look.lines is not None else None)),
        )
        last = label


def _tail(look: Look) -> int:
    """How many lines of the end of a long message are shown."""
    return (look.lines or 0) // 3


def _lines(message: ReportMessage, look: Look, styles: dict[Number, StyleName]) -> Iterator[tuple[str, Line]]:
    """Lines of text as long as they are, each with the priority of its first text that isn't required."""
    line: Line = []
    label = ""
    for is_out, group in groupby(message.pieces, key=lambda piece: not piece.included):
        together = list(group)
        if is_out:
            if line:
                yield label, line
                line, label = [], ""
            for told in _out(together, message, look):
                yield "", told
            continue
        for piece in together:
            if piece.kind not in ("text", "br", "hr", "omitted"):
                if line:
                    yield label, line
                    line, label = [], ""
                for told in _other(piece, look):
                    yield "", told
                continue
            style = styles.get(piece.priority, "text")
            first, *rest = visible(piece.text).split("\n")
            for number, text in enumerate((first, *rest)):
                if number:
                    yield label, line
                    line, label = [], ""
                if text:
                    line.append((text, style))
                    if not label and piece.priority < BASE_PRIORITY:
                        label = priority_text(piece.priority)
    if line:
        yield label, line


def _other(piece: ReportPiece, look: Look) -> Iterator[Line]:
    """What is no text, and is in."""
    cost = tokens_text(piece.tokens)
    text = visible(piece.text)
    sign = ">" if look.plain else "▸"
    if piece.kind == "empty":
        yield [(f"{sign} {cost} reserved", "mark")]
    elif piece.kind == "cache_break":
        yield [(f"{sign} cache mark", "mark")]
    else:
        kind = piece.kind.replace("_", " ")
        first, *rest = text.split("\n")
        facts = f"{kind}{': ' if first else ''}{first}" if not rest else f"{kind}:"
        yield [(f"{sign} {facts}{f' ({cost})' if piece.tokens else ''}", "mark")]
        for line in (first, *rest) if rest else ():
            yield [(f"  {line}", "mark")]


def _out(pieces: list[ReportPiece], message: ReportMessage, look: Look) -> Iterator[Line]:
    """Parts side by side that are out."""
    shown = pieces if look.out_lines is None or len(pieces) <= _RUN else pieces[:2]
    sign = "-" if look.plain else "✂"
    for piece in shown:
        indent = "  "
        if piece.owner == message.path and piece.kind == "text":  # the message's head says all
            indent = ""
        else:
            yield [(f"{sign} {_facts(piece, look)}", "out")]
        lines = [line for line in visible(piece.text).split("\n") if line.strip()]
        for line in lines[: look.out_lines]:
            shown_line = line if look.out_lines is None else cut(line, 2 * look.width, plain=look.plain)
            yield [(f"{indent}{shown_line}", "out")]
        if len(lines) > len(lines[: look.out_lines]):
            yield [(f"{indent}..." if look.plain else f"{indent}…", "out")]
    if len(shown) < len(pieces):
        rest = pieces[len(shown) :]
        yield [(f"{sign} {_total(rest, look)}", "out")]


def _facts(piece: ReportPiece, look: Look) -> str:
    """What is said of a part that is out."""
    name = in_one_line(piece.label or piece.owner.rpartition(" > ")[2])
    told = piece.kind == "text" or name.partition("[")[0].endswith(f":{piece.kind}")  # by its name already
    kind = "" if told else f" {piece.kind.replace('_', ' ')}"
    priority = priority_text(piece.priority)
    if piece.lowest != piece.priority:
        priority += f" to {priority_text(piece.lowest)}"
    tokens = tokens_text(piece.tokens, is_estimate=piece.is_estimate)
    return look.dot.join((f"{name}{kind}", f"priority {priority}", tokens, REASONS[piece.reason]))


def _skipped(messages: Sequence[ReportMessage], look: Look) -> Line:
    """What is said of messages side by side that are out."""
    pieces = [piece for message in messages for piece in message.pieces]
    tokens = sum(message.tokens for message in messages)
    estimated = any(piece.is_estimate for piece in pieces)
    told = f"{len(messages):,} more messages left out{look.dot}{_span([m.priority for m in messages])}"
    return [
        (f"{'-' if look.plain else '✂'} {told}{look.dot}{tokens_text(tokens, is_estimate=estimated)}", "out")
    ]


def _total(pieces: Sequence[ReportPiece], look: Look) -> str:
    """What is said of the rest of parts side by side that are out."""
    tokens = tokens_text(
        sum(piece.tokens for piece in pieces), is_estimate=any(p.is_estimate for p in pieces)
    )
    span = _span([level for piece in pieces for level in (piece.priority, piece.lowest)])
    return look.dot.join([f"{len(pieces):,} more parts left out", span, tokens])


def _span(priorities: Sequence[Number]) -> str:
    low, high = priority_text(min(priorities)), priority_text(max(priorities))
    return f"priority {high}" if low == high else f"priorities {high} to {low}"


# ------------------------------------------------------------------------------------------ the summary


def _summary(report: Report, look: Look) -> Iterator[Line]:
    """The budget, the cutoff, the counts and the largest parts."""
    cells = max(10, min(40, look.width - 12))
    whole = max(1, report.token_limit)
    used = fraction(report.tokens_used, whole, cells)
    reserved = min(fraction(report.tokens_reserved, whole, cells), cells - used)
    free = cells - used - reserved
    signs = "#=." if look.plain else "█▒░"
    bar: Line = [
        (signs[0] * used, "used"),
        (signs[1] * reserved, "reserved"),
        (signs[2] * free, "free"),
    ]
    yield [("tokens   ", "title"), *(run for run in bar if run[0])]
    kind = "" if report.count_kind == "exact" else f" ({report.count_kind.replace('_', ' ')})"
    facts = [f"{report.tokens_used:,} used{kind}"]
    if report.tokens_reserved:
        facts.append(f"{report.tokens_reserved:,} reserved")
    facts.append(f"{report.tokens_free:,} free of {report.token_limit:,}")
    yield from _said("", look.dot.join(facts), look)
    cutoff = "everything is in" if not report.elements_out else "what is lower is out"
    if report.cutoff >= BASE_PRIORITY:
        cutoff = "only what is required is in" if report.levels > 1 else "everything is required"
    shown = "base" if report.cutoff >= BASE_PRIORITY else priority_text(report.cutoff)
    level = f"level {report.level:,} of {report.levels:,}"
    yield from _said("cutoff", look.dot.join((shown, level, cutoff)), look)
    elements = f"{report.elements_in:,} in{look.dot}{report.elements_out:,} out"
    yield from _said("elements", elements, look)
    for number, part in enumerate(report.largest):
        row = f"{part.tokens:,}{look.dot}{in_one_line(part.label or part.path)}"
        if part.priority < BASE_PRIORITY:
            row += f"{look.dot}priority {priority_text(part.priority)}"
        yield from _said("" if number else "largest", row, look)


def _said(name: str, text: str, look: Look) -> Iterator[Line]:
    """A line of the summary, or several where the width asks for it."""
    for number, row in enumerate(wrapped([(text, "text")], max(8, look.width - 9))):
        yield [(f"{name if not number else '':<9}", "title"), *row]


# ------------------------------------------------------------------------------------------ frames


def _rule(left: str, right: str, look: Look, style: StyleName, *, top: bool) -> Line:
    """The upper or lower edge of a frame, with what it says at both ends."""
    line = "-" if look.plain else "─"
    ends = ("--", "--") if look.plain else ("╭─", "─╮") if top else ("╰─", "─╯")
    room = look.width - 4
    least = min(cell_len(left), _NAME)
    right = cut(right, max(1, room - least - 5), plain=look.plain) if right else ""
    left = cut(left, max(1, room - cell_len(right) - 5), plain=look.plain) if left else ""
    between = room - cell_len(left) - cell_len(right) - (2 if left else 0) - (2 if right else 0)
    runs: Line = [(ends[0], style)]
    if left:
        runs.append((f" {left} ", "title" if style == "frame" else style))
    runs.append((line * max(1, between), style))
    if right:
        runs.append((f" {right} ", style))
    runs.append((ends[1], style))
    return runs


def _boxed(row: Line, look: Look, style: StyleName) -> Line:
    """A row between the sides of a frame."""
    if look.plain:
        return row
    room = look.width - 4 - sum(cell_len(text) for text, _ in row)
    return [("│ ", style), *row, (" " * max(0, room), "text"), (" │", style)]
