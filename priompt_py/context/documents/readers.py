"""Readers of files that have to be taken apart. They run in the child process, each with a library of its own.

A reader gives pieces of text, one after the other, so that whoever takes them can stop at a limit. It tells its
progress in per cent. What a library raises is left to the caller, who says that the file is broken.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from priompt_py.context.documents.archive import check_archive
from priompt_py.context.documents.docx import read_docx
from priompt_py.context.documents.encodings import Decoded, decode, guess
from priompt_py.context.documents.limits import DocumentLimits
from priompt_py.context.documents.refusals import Refused

__all__ = ["LIBRARIES", "Progress", "kind_of", "load", "read"]

Progress = Callable[[float], None]

LIBRARIES = {  # by format: what is imported, and what people call it
    "pdf": ("pypdfium2", "pypdfium2"),
    "xlsx": ("python_calamine", "python-calamine"),
    "html": ("markdownify", "markdownify"),
    "text": ("charset_normalizer", "charset-normalizer"),
}
_IMAGE_DATA = re.compile(r"^\s*data:", re.IGNORECASE)
_GONE = ("script", "style", "noscript", "template", "head", "svg", "object", "iframe", "canvas")


def kind_of(data: bytes, kind: str, limits: DocumentLimits) -> str:
    """The kind of a file that ``format_of`` gave ``kind`` for: a zip-based one is checked, and told what it is."""
    if kind != "zip":
        return kind
    return check_archive(
        data, members=limits.archive_members, inflated=limits.archive_bytes, depth=limits.xml_depth
    )


def load(kind: str) -> str | None:
    """Import the library for ``kind``; its name, None where none is needed. Raises Refused where it isn't installed."""
    if kind not in LIBRARIES:
        return None
    module, name = LIBRARIES[kind]
    if find_spec(module) is not None:
        _library(module)
    elif kind != "text":  # `guess` says more
        raise Refused(
            "library", f"reading {kind.upper()} files needs {name}: pip install 'priompt-py[documents]'"
        )
    return name


def _library(name: str) -> Any:
    """A library of the extra; few of them say their types."""
    return import_module(name)


def read(
    data: bytes, kind: str, limits: DocumentLimits, encoding: str | None, progress: Progress
) -> tuple[Iterator[str], Decoded | None]:
    """The text of a file in pieces, and how its bytes were decoded, where that was done here."""
    if kind == "pdf":
        return _pdf(data, limits.pages, progress), None
    if kind == "docx":
        return read_docx(data), None
    if kind == "xlsx":
        return _xlsx(data, progress), None
    decoded = decode(data, encoding=encoding) or guess(data)
    text = decoded.text
    return (_html(text) if kind == "html" else iter([text])), decoded


# ------------------------------------------------------------------------------------------ PDF


def _pdf(data: bytes, most: int, progress: Progress) -> Iterator[str]:
    pypdfium2 = _library("pypdfium2")

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Refused("password", "it is locked with a password; save it without one") from None
        raise
    pages = len(document)
    if pages > most:
        raise Refused("too-large", f"it has {pages:,} pages, over the limit of {most:,}")
    failed = 0
    for index in range(pages):
        try:
            text = _page_text(document[index])
        except pypdfium2.PdfiumError:  # the others may be whole
            failed += 1
            text = f"(Page {index + 1} can't be read.)"
        if text:
            yield f"{text}\n\n"
        progress(100 * (index + 1) / pages)
    if failed and failed == pages:
        raise Refused("broken", "none of its pages can be read")


def _page_text(page: Any) -> str:
    text_page = page.get_textpage()
    text: str = text_page.get_text_bounded().replace("\r\n", "\n").replace("\r", "\n")
    text_page.close()
    page.close()
    # U+FFFE stands where a word was cut at the end of a line.
    return re.sub("\ufffe\n?", "", text).strip()


# ------------------------------------------------------------------------------------------ HTML


def _html(html: str) -> Iterator[str]:
    soup = _library("bs4").BeautifulSoup(html, "html.parser")
    for tag in soup.find_all(list(_GONE)):
        tag.decompose()
    for tag in soup.find_all("img", src=_IMAGE_DATA):
        tag["src"] = ""
    _mark_header_rows(soup)
    try:
        text = str(
            _library("markdownify").MarkdownConverter(heading_style="atx", bullets="-").convert_soup(soup)
        )
    except RecursionError:  # nested too deep to keep its form; the words are all there
        text = soup.get_text("\n")
    lines = [line.rstrip() for line in text.split("\n")]
    yield re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _mark_header_rows(soup: Any) -> None:
    """Make the first row of a table its header where it has none: Markdown knows no table without."""
    for table in soup.find_all("table"):
        row = table.find("tr")
        if row is not None and table.find("th") is None:
            for cell in row.find_all("td", recursive=False):
                cell.name = "th"


# ------------------------------------------------------------------------------------------ XLSX


def _xlsx(data: bytes, progress: Progress) -> Iterator[str]:
    python_calamine = _library("python_calamine")

    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    sheets: list[Any] = list(book.sheets_metadata)
    for index, sheet in enumerate(sheets):
        hidden = "" if str(sheet.visible).endswith("Visible") else " (hidden)"
        yield f"## {sheet.name}{hidden}\n\n"
        yield from _table(book.get_sheet_by_name(sheet.name).iter_rows())
        yield "\n"
        progress(100 * (index + 1) / len(sheets))


def _table(rows: Iterator[list[Any]]) -> Iterator[str]:
    """A table in Markdown whose first row is the header; empty rows are left out."""
    begun = False
    for row in rows:
        if all(value == "" for value in row):
            continue
        yield f"| {' | '.join(map(_cell, row))} |\n"
        if not begun:
            yield f"|{' --- |' * len(row)}\n"
            begun = True


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    text = str(value).replace("|", "\\|")
    return " ".join(text.split("\n")) if "\n" in text else text
