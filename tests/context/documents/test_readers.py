"""What honest files read as: each reader in this process, and all of them through the child."""

from __future__ import annotations

import pytest

from priompt_py.context import Document, DocumentLimits, DocumentParser
from priompt_py.context.documents.readers import kind_of, load, read
from priompt_py.context.documents.refusals import Refused
from tests.context.documents import files

PARSER = DocumentParser()
LIMITS = DocumentLimits()


def here(data: bytes, kind: str) -> tuple[str, list[float]]:
    """The text and the progress of a reader that is run in this process."""
    told: list[float] = []
    found = kind_of(data, kind, LIMITS)
    load(found)
    pieces, _ = read(data, found, LIMITS, None, told.append)
    return "".join(pieces), told


PDF = files.pages("The first page", "", "The last page")
DOCX = files.docx(
    files.paragraph("A contract", "H1")
    + files.paragraph("Both parties agree.")
    + "<w:tbl><w:tr>"
    + "".join(f"<w:tc>{files.paragraph(cell)}</w:tc>" for cell in ("Term", "30 days"))
    + "</w:tr></w:tbl>",
    files.STYLES,
)
XLSX = files.xlsx(
    (
        "Prices",
        files.rows(
            "A1='Item'",
            "B1='Price'",
            "A2='Tea | green'",
            "B2=2.5",
            "C2=true",
            "A4='Milk'",
            "B4=3",
            "C4=false",
        ),
    ),
    ("Notes -", files.rows("A1='only here'")),
)
HTML = b"""<html><head><title>no</title><script>no()</script><style>p {}</style></head><body>
<h1>Terms</h1><p>Pay in <b>30</b> days, see <a href="https://example.org">here</a>.</p>
<ul><li>one</li><li>two</li></ul><img src="data:image/png;base64,AAAA" alt="a picture">
<pre>x = 1</pre></body></html>"""

EXPECTED = {
    "pdf": "The first page\n\nThe last page\n\n",
    "docx": "# A contract\n\nBoth parties agree.\n\n| Term | 30 days |\n| --- | --- |\n\n",
    "xlsx": "## Prices\n\n"
    "| Item | Price |  |\n| --- | --- | --- |\n| Tea \\| green | 2.5 | TRUE |\n| Milk | 3 | FALSE |\n\n"
    "## Notes (hidden)\n\n| only here |\n| --- |\n\n",
    "html": "# Terms\n\nPay in **30** days, see [here](https://example.org).\n\n"
    "- one\n- two\n\n![a picture]()\n\n```\nx = 1\n```\n",
}
FILES = {"pdf": (PDF, "pdf"), "docx": (DOCX, "zip"), "xlsx": (XLSX, "zip"), "html": (HTML, "html")}


@pytest.mark.parametrize("kind", FILES)
def test_in_this_process(kind: str) -> None:
    data, first = FILES[kind]
    assert here(data, first)[0] == EXPECTED[kind]


@pytest.mark.parametrize("kind", FILES)
def test_in_the_child(kind: str) -> None:
    data, _ = FILES[kind]
    document = PARSER.read(data, f"a.{kind}")
    assert (document.text, document.kind) == (EXPECTED[kind], kind)


def test_what_is_told_of_a_document() -> None:
    assert PARSER.read(PDF, "a.pdf") == Document(EXPECTED["pdf"], "pdf", "pypdfium2")
    assert PARSER.read(DOCX, "a.docx") == Document(EXPECTED["docx"], "docx", None)
    assert PARSER.read(HTML, "a.html") == Document(EXPECTED["html"], "html", "markdownify", "utf-8")
    assert PARSER.read(b"# Title\n", "a.md") == Document("# Title\n", "text", None, "utf-8")


def test_progress() -> None:
    assert here(PDF, "pdf")[1] == [100 / 3, 200 / 3, 100]
    assert here(XLSX, "zip")[1] == [50, 100]
    told: list[tuple[str, float | None]] = []
    PARSER.read(PDF, "a.pdf", progress=lambda library, percent: told.append((library, percent)))
    assert told == [("pypdfium2", None), ("pypdfium2", 33.33), ("pypdfium2", 66.67), ("pypdfium2", 100)]


def test_tables_of_html() -> None:
    table = b"<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table><table></table>"
    assert here(table, "html")[0] == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    headed = b"<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"
    assert here(headed, "html")[0] == "| a |\n| --- |\n| 1 |\n"


def test_too_many_pages() -> None:
    with pytest.raises(Refused, match="it has 3 pages, over the limit of 2"):
        "".join(read(PDF, "pdf", DocumentLimits(pages=2), None, print)[0])


def test_a_page_that_is_broken() -> None:
    kids = b"<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 2 >>"
    words = files.stream(b"", b"BT /F 12 Tf 50 700 Td (whole) Tj ET")
    assert here(files.pdf(files.CATALOG, kids, files.page(), words), "pdf")[0] == (
        "whole\n\n(Page 2 can't be read.)\n\n"
    )
    with pytest.raises(Refused, match="none of its pages can be read"):
        here(files.pdf(files.CATALOG, b"<< /Type /Pages /Kids [9 0 R] /Count 1 >>"), "pdf")


def test_a_password() -> None:
    # With an /Encrypt entry whose user password isn't the empty one.
    standard = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"00" * 32 + b"> /U <" + b"11" * 32 + b"> >>"
    data = files.pdf(files.CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>", standard)
    data = data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt 3 0 R /ID [<00> <00>]")
    with pytest.raises(Refused) as caught:
        here(data, "pdf")
    assert (caught.value.reason, caught.value.message) == (
        "password",
        "it is locked with a password; save it without one",
    )


def test_the_name_does_not_decide() -> None:
    assert PARSER.read(PDF, "notes.txt").kind == "pdf"
    assert PARSER.read(b"plain words", "report.pdf") == Document("plain words", "text", None, "utf-8")


def test_html_that_nests_too_deep_for_its_form_keeps_its_words() -> None:
    depth = 4_000
    deep = b"<ul><li>" * depth + b"the words" + b"</li></ul>" * depth
    assert here(deep, "html")[0].strip() == "the words"


def test_dates_times_and_lines_of_cells() -> None:
    from datetime import date, datetime, time, timedelta

    from priompt_py.context.documents.readers import _cell

    cells = {
        "2026-01-02": date(2026, 1, 2),
        "2026-01-03": datetime(2026, 1, 3),  # noqa: DTZ001 - sheets know no zones
        "2026-01-03 04:05:00": datetime(2026, 1, 3, 4, 5),  # noqa: DTZ001
        "04:05:00": time(4, 5),
        "1:00:00": timedelta(hours=1),
        "two lines": "two\nlines",
        "0.1": 0.1,
        "1e+16": 1e16,
        "-3": -3.0,
    }
    assert {_cell(value): value for value in cells.values()} == cells


def test_a_document_that_numbers_its_main_part() -> None:
    data = files.zipped([("word/document2.xml", "<a/>")])
    assert kind_of(data, "zip", LIMITS) == "docx"
