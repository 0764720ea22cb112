"""DOCX as Markdown: headings, lists with their numbers, tables, links, footnotes; nothing is kept but what is open.

Deleted text, comments, headers and footers are left out; text boxes come before the paragraph that they hang on.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from priompt_py.context.documents.docx_parts import Attributes, Numbering, Styles, level_of, read_links, walk

__all__ = ["read_docx"]

_NOTES = {"footnotes": "", "endnotes": "e"}
_SKIPPED = ("w:moveFrom", "Fallback", "w:rPrChange", "w:pPrChange")
_SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "\u2011"}


def read_docx(data: bytes) -> Iterator[str]:
    """The text of a DOCX in pieces. Raises what zip and XML readers raise."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        main = _main_part(archive)
        styles, numbering = Styles(archive), Numbering(archive)
        body = _Body(styles, numbering, read_links(archive, main))
        for _ in walk(archive, main, body.start, body.end, body.text):
            yield from body.taken()
        for name, mark in _NOTES.items():
            notes = _Body(styles, numbering, read_links(archive, f"word/{name}.xml"), mark)
            for _ in walk(archive, f"word/{name}.xml", notes.start, notes.end, notes.text):
                yield from notes.taken()


def _main_part(archive: zipfile.ZipFile) -> str:
    names = archive.namelist()
    return next(name for name in ("word/document.xml", *names) if name in names and "word/document" in name)


class _Paragraph:
    """A paragraph that is being read."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.style = ""
        self.outline: int | None = None
        self.list_id = ""
        self.list_level: int | None = None
        self.link = 0  # where the text of an open link begins among the pieces


class _Table:
    """A table that is being read; of its rows only the open one is kept, unless it stands in another's cell."""

    def __init__(self) -> None:
        self.rows = 0
        self.row: list[str] = []
        self.cell: list[str] = []
        self.span = 1


class _Body:
    """Takes the events of a part, and gives text."""

    def __init__(
        self, styles: Styles, numbering: Numbering, links: dict[str, str], note: str | None = None
    ) -> None:
        self._styles = styles
        self._numbering = numbering
        self._links = links
        self._note = note  # the mark of a part of notes
        self._note_id = ""
        self._out: list[str] = []
        self._paragraphs: list[_Paragraph] = []
        self._tables: list[_Table] = []
        self._targets: list[str] = []
        self._skipping = 0
        self._is_text = False
        self._in_list = False

    def taken(self) -> list[str]:
        """What was finished since this was last asked for."""
        out, self._out = self._out, []
        return out

    def text(self, data: str) -> None:
        if self._is_text and self._paragraphs:
            self._paragraphs[-1].pieces.append(data)

    def start(self, tag: str, attributes: Attributes) -> None:
        if self._skipping or tag in _SKIPPED:
            self._skipping += 1
        elif tag in ("w:t", "t"):  # `t` is a text of mathematics
            self._is_text = True
        elif tag == "w:p":
            self._paragraphs.append(_Paragraph())
        elif tag == "w:tbl":
            self._tables.append(_Table())
        elif tag in ("w:footnote", "w:endnote"):
            self._note_id = (
                "" if attributes.get("w:type", "normal") != "normal" else attributes.get("w:id", "")
            )
        elif self._tables and tag in ("w:tc", "w:gridSpan"):
            self._start_cell(tag, attributes)
        elif self._paragraphs:
            self._start_inside(tag, attributes, self._paragraphs[-1])

    def _start_cell(self, tag: str, attributes: Attributes) -> None:
        table = self._tables[-1]
        if tag == "w:tc":
            table.cell, table.span = [], 1
        else:
            value = attributes.get("w:val", "")
            table.span = max(1, int(value)) if value.isdecimal() and len(value) < 3 else 1

    def _start_inside(self, tag: str, attributes: Attributes, paragraph: _Paragraph) -> None:
        value = attributes.get("w:val", "")
        if tag in _SIGNS:
            # `w:tab` is also the definition of a tabulator, which has a place.
            if "w:pos" not in attributes:
                paragraph.pieces.append(_SIGNS[tag])
        elif tag == "w:pStyle":
            paragraph.style = value
        elif tag == "w:outlineLvl":
            paragraph.outline = level_of(value)
        elif tag == "w:ilvl":
            paragraph.list_level = level_of(value)
        elif tag == "w:numId":
            paragraph.list_id = value
        elif tag == "w:hyperlink":
            self._targets.append(self._links.get(attributes.get("id", ""), ""))
            paragraph.link = len(paragraph.pieces)
        elif tag in ("w:footnoteReference", "w:endnoteReference"):
            mark = "" if tag == "w:footnoteReference" else "e"
            paragraph.pieces.append(f"[^{mark}{attributes.get('w:id', '')}]")

    def end(self, tag: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif tag in ("w:t", "t"):
            self._is_text = False
        elif tag == "w:hyperlink" and self._targets:
            self._end_link(self._targets.pop())
        elif tag == "w:p":
            self._end_paragraph(self._paragraphs.pop())
        elif tag == "w:tc" and self._tables:
            table = self._tables[-1]
            table.row += [" ".join(table.cell), *([""] * (table.span - 1))]
            table.cell = []
        elif tag == "w:tr" and self._tables:
            self._end_row(self._tables[-1])
        elif tag == "w:tbl":
            self._tables.pop()
            if not self._tables:
                self._out.append("\n")

    def _end_link(self, target: str) -> None:
        if not (target and self._paragraphs):
            return
        paragraph = self._paragraphs[-1]
        text = "".join(paragraph.pieces[paragraph.link :])
        del paragraph.pieces[paragraph.link :]
        paragraph.pieces.append(f"[{text}]({target})")

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.pieces).strip(" \n")
        list_id, level = paragraph.list_id, paragraph.list_level
        if not list_id:
            list_id, of_style = self._styles.list_of(paragraph.style)
            level = of_style if level is None else level
        label = self._numbering.label(list_id, level or 0) if text and list_id else None
        if label is not None:
            text = f"{label} {text}"
        if not text:
            return
        if self._tables:
            self._tables[-1].cell.append(" ".join(text.split("\n")))
            return
        if self._note is not None:
            if self._note_id:
                self._out.append(f"[^{self._note}{self._note_id}]: {text}\n\n")
            return
        heading = self._styles.heading(paragraph.style)
        if heading is None and paragraph.outline is not None:
            heading = paragraph.outline + 1
        is_item = label is not None and heading is None
        if self._in_list and not is_item:
            self._out.append("\n")
        self._in_list = is_item
        if heading is not None:
            self._out.append(f"{'#' * min(6, heading)} {' '.join(text.split())}\n\n")
        elif is_item:
            self._out.append(f"{'  ' * (level or 0)}{text}\n")
        else:
            self._out.append(f"{text}\n\n")

    def _end_row(self, table: _Table) -> None:
        row, table.row = table.row, []
        if len(self._tables) > 1:
            self._tables[-2].cell.append("; ".join(cell for cell in row if cell))
            return
        if self._in_list:
            self._out.append("\n")
            self._in_list = False
        cells = [cell.replace("|", "\\|") for cell in row]
        self._out.append(f"| {' | '.join(cells)} |\n")
        if table.rows == 0:
            self._out.append(f"|{' --- |' * len(cells)}\n")
        table.rows += 1
