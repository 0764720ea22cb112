"""A report as HTML for notebooks: no script, no style sheet, all text escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from priompt_py.face.drawing import REASONS, style_of_priorities
from priompt_py.face.report import Report, ReportMessage, ReportPiece
from priompt_py.face.rows import StyleName
from priompt_py.face.visible import fraction, in_one_line, priority_text, tokens_text, visible
from priompt_py.model.elements import BASE_PRIORITY, Number

__all__ = ["report_html"]

MOST = 20_000
"""Characters of a message that are shown."""

_COLOURS: dict[StyleName, str] = {
    "rank0": "#008700",
    "rank1": "#008787",
    "rank2": "#5f5fff",
    "rank3": "#af5faf",
    "rank4": "#af5f00",
}
_GREY = "#767676"  # as the ranks: readable on black and on white
_PRE = "white-space:pre-wrap;overflow-wrap:anywhere;margin:0;font-family:monospace;unicode-bidi:isolate"


def report_html(report: Report) -> str:
    """The report as one ``<div>``."""
    styles = style_of_priorities(report)
    parts = [f'<div style="border:1px solid {_GREY};padding:0.5em;max-width:60em">', *_budget(report)]
    for message in report.messages:
        parts += _message(message, styles, is_chat=report.is_chat)
    parts.append("</div>")
    return "".join(parts)


def _budget(report: Report) -> Iterator[str]:
    whole = max(1, report.token_limit)
    used = fraction(report.tokens_used, whole, 100)
    reserved = min(fraction(report.tokens_reserved, whole, 100), 100 - used)
    yield f'<div style="display:flex;height:0.6em;border:1px solid {_GREY}">'
    yield f'<div style="width:{used}%;background:#008787"></div>'
    yield f'<div style="width:{reserved}%;background:#af5f00"></div></div>'
    facts = [f"{report.tokens_used:,} used", f"{report.tokens_reserved:,} reserved"]
    facts.append(f"{report.tokens_free:,} free of {tokens_text(report.token_limit)}")
    cutoff = "base" if report.cutoff >= BASE_PRIORITY else priority_text(report.cutoff)
    facts.append(f"cutoff {cutoff} (level {report.level:,} of {report.levels:,})")
    facts.append(f"{report.elements_in:,} elements in, {report.elements_out:,} out")
    yield f"<div>{escape(' · '.join(facts))}</div>"


def _message(message: ReportMessage, styles: dict[Number, StyleName], *, is_chat: bool) -> Iterator[str]:
    title = [message.role or ("outside messages" if is_chat else "prompt")]
    title += [in_one_line(value) for value in (message.name, message.to, message.label) if value is not None]
    title.append(tokens_text(message.tokens))
    colour = ""
    if not message.included:
        title.append(f"priority {priority_text(message.priority)}")
        title.append(REASONS[message.reason])
        colour = f";color:{_GREY}"
    yield f'<div style="margin-top:0.5em{colour}"><b>{escape(" · ".join(title))}</b><pre style="{_PRE}">'
    shown = 0
    for number, piece in enumerate(message.pieces):
        if shown > MOST:
            yield f"\n… {len(message.pieces) - number:,} more pieces"
            break
        text = visible(piece.text)[: MOST - min(shown, MOST)]
        shown += len(piece.text)
        yield _piece(piece, text, styles)
    if shown > MOST:
        yield "\n…"
    yield "</pre></div>"


def _piece(piece: ReportPiece, text: str, styles: dict[Number, StyleName]) -> str:
    priority = priority_text(piece.priority)
    title = (
        f"{piece.owner} · priority {priority} · {tokens_text(piece.tokens, is_estimate=piece.is_estimate)}"
    )
    tag = escape(in_one_line(title), quote=True)
    if not piece.included:
        said = f"{title} · {REASONS[piece.reason]}"
        style = f"color:{_GREY};text-decoration:line-through"
        return f'<span title="{escape(in_one_line(said), quote=True)}" style="{style}">{escape(text)}</span>'
    if piece.kind not in ("text", "br", "hr", "omitted"):
        what = f"[{piece.kind.replace('_', ' ')}{': ' if text else ''}{text}]"
        return f'<i title="{tag}">{escape(what)}</i>'
    rank = styles.get(piece.priority)
    colour = f' style="color:{_COLOURS[rank]}"' if rank is not None else ""
    return f'<span title="{tag}"{colour}>{escape(text)}</span>'
