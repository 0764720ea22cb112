"""Files that are made to harm: each is stopped at a limit, by name, in bounded time and memory, and alone.

The list is that of BC-107 in ``tests/faults.jsonl``, and what similar files do to the libraries that we use. Where that
case says 300 MB this package has an address space of 1 GiB for the child; our own process stays far below both.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from priompt_py.context import DocumentLimits, DocumentParser
from priompt_py.errors import DocumentError
from tests.context.documents import files

LIMITED = sys.platform.startswith("linux")  # elsewhere the address space has no limit, and the time has to do
BRIEF = DocumentLimits(seconds=2)  # so that what hangs does it for a shorter time
ROW = '<row r="{0}"><c r="A{0}" t="s"><v>0</v></c></row>'

HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    # --- PDF
    "flate twice.pdf": (
        lambda: files.one_page(
            files.stream(
                b"/Filter [/FlateDecode /FlateDecode]", zlib.compress(files.inflating(100 if LIMITED else 10))
            )
        ),
        "memory|time|too-large|",
    ),
    "much text.pdf": (
        lambda: files.one_page(
            files.stream(
                b"/Filter /FlateDecode", zlib.compress(b"BT /F 9 Tf " + b"(lol lol) Tj " * 3_000_000 + b"ET")
            )
        ),
        "memory|time|too-large",
    ),
    "pages in themselves.pdf": (
        lambda: files.pdf(files.CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"),
        "broken|",
    ),
    "pages without number.pdf": (
        lambda: files.pdf(files.CATALOG, b"<< /Type /Pages /Kids [] /Count 999999999 >>"),
        "broken|too-large|",
    ),
    "forms in themselves.pdf": (
        lambda: files.one_page(
            files.stream(b"", b"/X Do " * 100),
            files.stream(
                b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>",
                b"/X Do " * 100,
            ),
            resources=b"<< /XObject << /X 5 0 R >> >>",
        ),
        "memory|time|broken|",
    ),
    "arrays in arrays.pdf": (lambda: files.one_page(files.stream(b"", b"[" * 1_000_000)), "memory|broken|"),
    "cut off.pdf": (lambda: files.pages("text")[:200], "broken|"),
    # --- archives
    "five gigabytes.docx": (lambda: files.zip_of_zeros("word/document.bin", 100), "unsupported"),
    "zeros.docx": (
        lambda: files.docx(files.paragraph("x"), ("word/media/image1.png", bytes(250_000_000))),
        "archive",
    ),
    "zeros.xlsx": (lambda: files.zip_of_zeros("xl/workbook.xml", 100), "broken"),
    "zip in zip.zip": (
        lambda: files.zipped([("a.zip", files.zipped([("b.zip", files.zipped([("c", "d")]))]))]),
        "unsupported",
    ),
    "outside.docx": (lambda: files.docx(files.paragraph("x"), ("../../x", "y")), "archive"),
    "outside on Windows.docx": (lambda: files.docx(files.paragraph("x"), ("C:\\x", "y")), "archive"),
    "members.docx": (
        lambda: files.docx(files.paragraph("x"), *((f"m{n}", "") for n in range(1_100))),
        "archive",
    ),
    "cut off.docx": (lambda: files.docx(files.paragraph("x"))[:300], "broken"),
    # --- XML
    "entities.docx": (lambda: files.docx(files.paragraph("&j;"), prolog=files.ENTITIES), "archive"),
    "entities elsewhere.docx": (
        lambda: files.docx(files.paragraph("x"), ("word/styles.xml", f"{files.ENTITIES}<a>&j;</a>")),
        "archive",
    ),
    "an entity from a file.docx": (
        lambda: files.docx(
            files.paragraph("&x;"), prolog='<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        ),
        "archive",
    ),
    "deep.docx": (lambda: files.docx("<w:p>" * 2_000 + "</w:p>" * 2_000), "archive"),
    "tables in tables.docx": (
        lambda: files.docx(
            "<w:tbl><w:tr><w:tc>" * 300 + files.paragraph("x") + "</w:tc></w:tr></w:tbl>" * 300
        ),
        "",
    ),
    "many elements.docx": (lambda: files.docx("<w:p/>" * 3_000_000), "time|"),
    "no xml.docx": (lambda: files.zipped([("word/document.xml", "<a><b></a>")]), "broken"),
    # --- sheets
    "far corner.xlsx": (
        lambda: files.xlsx(("S", files.rows("A1=1", "XFD1048576=2"))),
        "memory" if LIMITED else "memory|time",
    ),
    "one text many times.xlsx": (
        lambda: files.xlsx(
            ("S", f"<sheetData>{''.join(map(ROW.format, range(1, 20_001)))}</sheetData>"),
            shared=f"<si><t>{'x' * 100_000}</t></si>",
        ),
        "memory|time|too-large",
    ),
    # --- HTML
    "tables in tables.html": (lambda: b"<table>" * 10_000 + b"x", "time|memory|"),
    "attributes.html": (lambda: b"<a " + b"x " * 2_000_000 + b">x</a>", "time|memory|"),
    "comments.html": (lambda: b"<!--" * 1_000_000, "time|memory|"),
    # --- what is no document
    "picture.png": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), "unsupported"),
    "gzip.txt": (lambda: gzip.compress(bytes(1_000_000)), "unsupported"),
    "zeros.txt": (lambda: bytes(30_000_000), "unsupported"),
    "long.txt": (lambda: b"x" * 21_000_000, "too-large"),
    "too long to look at.txt": (lambda: b"x" * 100_000_001, "too-large"),
}


def outcome(parser: DocumentParser, data: bytes, name: str) -> str | DocumentError:
    try:
        return parser.parse(data, name)
    except DocumentError as error:
        return error


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_stopped(name: str) -> None:
    build, reasons = HOSTILE[name]
    began = time.monotonic()
    found = outcome(DocumentParser(limits=BRIEF), build(), name)
    if isinstance(found, DocumentError):
        assert (found.file, str(found)) == (name, f"{name}: {found.detail}")
        assert found.reason in reasons.split("|")
    else:
        assert "" in reasons.split("|")
        assert len(found) < 100_000
    assert time.monotonic() - began < 60  # 2 s, a busy machine, and the time to make the file


def test_every_file_of_the_case_is_tried() -> None:
    lines = (Path(__file__).parents[2] / "faults.jsonl").read_text("utf-8").splitlines()
    case = next(one for one in map(json.loads, lines) if one["id"] == "BC-107")
    tried = [
        "flate twice.pdf",
        "five gigabytes.docx",
        "zip in zip.zip",
        "picture.png",
        "entities.docx",
        "zeros.txt",
        "pages in themselves.pdf",
        "gzip.txt",
    ]
    assert len(case["input"]["files"]) == len(tried)
    assert set(tried) <= set(HOSTILE)


def test_entities_of_text_stay_as_they_are() -> None:
    data = f"<?xml version='1.0'?>{files.ENTITIES}<a>&j;</a>".encode()
    assert DocumentParser().parse(data, "a.xml") == data.decode()


# ------------------------------------------------------------------------------------------ the limits, one by one

SENTENCES: dict[str, tuple[DocumentLimits, bytes, str]] = {
    "file_bytes": (DocumentLimits(file_bytes=10), b"x" * 11, "it has 11 bytes, over the limit of 10 bytes"),
    "text_bytes": (
        DocumentLimits(text_bytes=10),
        "ё".encode() * 6,
        "it holds more than 10 bytes of text, which is the limit",
    ),
    "text_bytes, by far": (
        DocumentLimits(text_bytes=10),
        b"x" * 41,
        "it holds more than 10 bytes of text, which is the limit",
    ),
    "text_bytes of a document": (
        DocumentLimits(text_bytes=10),
        files.pages("eleven bytes"),
        "it holds more than 10 bytes of text, which is the limit",
    ),
    "archive_bytes": (
        DocumentLimits(archive_bytes=1_000),
        files.docx(files.paragraph("x" * 1_000)),
        "it inflates to more than 1,000 bytes, which is its limit",
    ),
    "archive_members": (
        DocumentLimits(archive_members=2),
        files.docx(files.paragraph("x")),
        "it has 3 members, over the limit of 2",
    ),
    "xml_depth": (
        DocumentLimits(xml_depth=4),
        files.docx(files.paragraph("x")),
        "its member 'word/document.xml' nests elements over 4 deep",
    ),
    "pages": (DocumentLimits(pages=1), files.pages("a", "b"), "it has 2 pages, over the limit of 1"),
    "seconds": (DocumentLimits(seconds=0.001), files.pages("a"), "reading it takes longer than 0.001 s"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_limits(name: str) -> None:
    limits, data, sentence = SENTENCES[name]
    with pytest.raises(DocumentError) as caught:
        DocumentParser(limits=limits).parse(data, "a.txt")
    assert caught.value.detail == sentence


def test_memory() -> None:
    limits = DocumentLimits(memory_bytes=120_000_000, seconds=60)
    found = outcome(DocumentParser(limits=limits), b"<p>x</p>" * 100_000, "a.html")
    if LIMITED:
        assert str(found) == "a.html: reading it takes more than 120 MB of memory"
    else:
        assert isinstance(found, str)
