"""Checks of zip-based files, and what a file is by its first bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from priompt_py.context.documents.archive import check_archive
from priompt_py.context.documents.formats import _MAGIC, format_of, megabytes
from priompt_py.context.documents.refusals import Refused
from tests.context.documents import files


def checked(data: bytes, *, members: int = 100, inflated: int = 1_000_000, depth: int = 100) -> str:
    return check_archive(data, members=members, inflated=inflated, depth=depth)


def encrypted() -> bytes:
    """A DOCX whose members are marked as encrypted."""
    data = bytearray(files.docx(files.paragraph("x")))
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(signature, at + 4)
    return bytes(data)


def broken_inside() -> bytes:
    data = bytearray(files.docx(files.paragraph("x" * 2_000)))
    at = data.find(b"word/document.xml") + 40
    data[at : at + 20] = bytes(20)
    return bytes(data)


def unknown_method() -> bytes:
    data = bytearray(files.docx(files.paragraph("x")))
    for signature, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.find(signature) + method] = 99
    return bytes(data)


def lies_about_its_size() -> bytes:
    """A zip whose directory says that its members are small."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "<a/>")
        archive.writestr("x", bytes(2_000_000))
    data = bytearray(out.getvalue())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    return bytes(data)


WRONG: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "no zip": (lambda: b"PK\x03\x04 and nothing", "broken", "it is a broken zip archive"),
    "damaged": (broken_inside, "broken", "it is a broken zip archive"),
    "an unknown method": (unknown_method, "broken", "it is a broken zip archive"),
    "a lie": (lies_about_its_size, "broken", "it is a broken zip archive"),
    "encrypted": (encrypted, "password", "it is encrypted; save it without a password"),
    "members": (
        lambda: files.zipped([("word/document.xml", "<a/>"), *((f"m{n}", "") for n in range(100))]),
        "archive",
        "it has 101 members, over the limit of 100",
    ),
    "size": (
        lambda: files.zipped([("word/document.xml", "<a/>"), ("x", bytes(1_000_001))]),
        "archive",
        "it inflates to more than 1 MB, which is its limit",
    ),
    "depth": (
        lambda: files.zipped([("word/document.xml", "<a>" * 101 + "</a>" * 101)]),
        "archive",
        "its member 'word/document.xml' nests elements over 100 deep",
    ),
    "a document type": (
        lambda: files.zipped([("word/document.xml", "<a/>"), ("word/x.rels", "<!DOCTYPE a><a/>")]),
        "archive",
        "its member 'word/x.rels' has a document type, which it may not have",
    ),
    "a document type in UTF-16": (
        lambda: files.zipped([("word/document.xml", "\ufeff<!DOCTYPE a><a/>".encode("utf-16-le"))]),
        "archive",
        "its member 'word/document.xml' has a document type, which it may not have",
    ),
    "no XML": (
        lambda: files.zipped([("word/document.xml", "<a>\n</b>")]),
        "broken",
        "line 2 of its member 'word/document.xml' is no XML",
    ),
    "a name": (
        lambda: files.zipped([("word/document.xml", "<a/>"), ("a/../../b", "")]),
        "archive",
        "its member 'a/../../b' would lie outside of it",
    ),
    "an absolute name": (
        lambda: files.zipped([("word/document.xml", "<a/>"), ("/etc/passwd", "")]),
        "archive",
        "its member '/etc/passwd' would lie outside of it",
    ),
    "another zip": (
        lambda: files.zipped([("a", "b")]),
        "unsupported",
        "it is a zip archive, no .docx or .xlsx; unpack it and attach what is inside",
    ),
    "slides": (
        lambda: files.zipped([("ppt/presentation.xml", "<a/>")]),
        "unsupported",
        "it is a PowerPoint file; save it as .pdf",
    ),
    "an e-book": (
        lambda: files.zipped([("META-INF/container.xml", "<a/>")]),
        "unsupported",
        "it is an e-book (EPUB); attach its text",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name: str) -> None:
    build, reason, message = WRONG[name]
    with pytest.raises(Refused) as caught:
        checked(build())
    assert (caught.value.reason, caught.value.message) == (reason, message)


def test_right() -> None:
    assert checked(files.docx(files.paragraph("x"))) == "docx"
    assert checked(files.xlsx(("S", files.rows("A1=1")))) == "xlsx"
    assert checked(files.zipped([("word/document.xml", "<a>" * 100 + "</a>" * 100)])) == "docx"
    within = files.zipped([("word/document.xml", "<a/>"), ("x", bytes(999_996))])
    assert checked(within) == "docx"


@pytest.mark.parametrize(("offset", "magic", "what", "remedy"), _MAGIC)
def test_what_is_no_text(offset: int, magic: bytes, what: str, remedy: str) -> None:
    with pytest.raises(Refused) as caught:
        format_of(bytes(offset) + magic + bytes(10), "a.txt")
    assert (caught.value.reason, caught.value.message) == (
        "unsupported",
        f"it is {what}, which can't be read as text; {remedy}",
    )


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"", "", "text"),
        (b"<p>x</p>", "a.HTML", "html"),
        (b"<p>x</p>", "a.md", "text"),
        (b"junk %PDF-1.4", "a", "pdf"),
        (b" " * 1_020 + b"%PDF-1.4", "a", "text"),
        (b"PK\x03\x04", "a", "zip"),
        (b"PK", "a", "text"),
    ],
)
def test_what_a_file_is(data: bytes, name: str, kind: str) -> None:
    assert format_of(data, name) == kind


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (10, "10 bytes"),
        (99_999, "99,999 bytes"),
        (100_000, "0.1 MB"),
        (20_000_000, "20 MB"),
        (1 << 30, "1,074 MB"),
    ],
)
def test_sizes(size: int, said: str) -> None:
    assert megabytes(size) == said
