"""What a file is, by its first bytes; its name only tells apart what is text."""

from __future__ import annotations

from priompt_py.context.documents.refusals import Refused

__all__ = ["SUPPORTED", "format_of", "megabytes"]

SUPPORTED = "plain text, Markdown, source code, HTML, PDF, DOCX and XLSX"

_UNPACK = "unpack it and attach what is inside"
_OFFICE = "save it as .docx, .xlsx or .pdf"
_PICTURE = "attach it as an image"
_MAGIC: tuple[tuple[int, bytes, str, str], ...] = (  # offset, bytes, what it is, what would do
    (0, b"\x1f\x8b", "gzip data", _UNPACK),
    (0, b"BZh", "bzip2 data", _UNPACK),
    (0, b"\xfd7zXZ\x00", "xz data", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard data", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older or encrypted Office file", _OFFICE),
    (0, b"{\\rtf", "an RTF file", _OFFICE),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture", _PICTURE),
    (0, b"\xff\xd8\xff", "a JPEG picture", _PICTURE),
    (0, b"GIF87a", "a GIF picture", _PICTURE),
    (0, b"GIF89a", "a GIF picture", _PICTURE),
    (8, b"WEBPVP", "a WebP picture", _PICTURE),
    (0, b"II*\x00", "a TIFF picture", _PICTURE),
    (0, b"MM\x00*", "a TIFF picture", _PICTURE),
    (0, b"SQLite format 3\x00", "a SQLite database", "export what matters as text"),
    (0, b"\x7fELF", "a program", "attach its source"),
    (4, b"ftyp", "a film or sound", "attach a transcript"),
    (0, b"OggS", "a film or sound", "attach a transcript"),
    (0, b"ID3", "a film or sound", "attach a transcript"),
    (0, b"RIFF", "a film or sound", "attach a transcript"),
)
_HTML_NAMES = (".html", ".htm", ".xhtml")


def format_of(data: bytes, name: str) -> str:
    """``text``, ``html``, ``pdf``, or ``zip`` (what is in it is looked at elsewhere).

    A name never makes a PDF or an archive of what isn't one. Raises Refused for what is known to be something else.
    """
    for offset, magic, what, remedy in _MAGIC:
        if data.startswith(magic, offset):
            raise Refused("unsupported", f"it is {what}, which can't be read as text; {remedy}")
    if b"%PDF-" in data[:1024]:  # as readers of PDF accept it
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return "zip"
    return "html" if name.lower().endswith(_HTML_NAMES) else "text"


def megabytes(size: float) -> str:
    """``20 MB``, for messages; smaller sizes in bytes."""
    return f"{size / 1e6:,.4g} MB" if size >= 100_000 else f"{size:,} bytes"
