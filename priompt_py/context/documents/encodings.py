"""Bytes as text, without losing a character silently: whatever can't be told for sure is said or refused."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import NamedTuple

from priompt_py.context.documents.refusals import Refused

__all__ = ["UTF32_MARKS", "Decoded", "declared_encoding", "decode", "guess"]


class Decoded(NamedTuple):
    """A text, the encoding that it was in, and whether that was guessed from how the text looks."""

    text: str
    encoding: str
    guessed: bool = False


UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_MARKS = (  # the longer first: a mark of UTF-32 begins like one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATIONS = (
    re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})"""),
    re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE),
    re.compile(rb"""\A(?:[^\n]*\n)?[ \t\f]*#[^\n]{0,100}?coding[:=][ \t]*([\w.-]{1,40})"""),  # PEP 263
)
_REMEDY = "save it as UTF-8, or tell its encoding: DocumentParser(encoding='cp1251')"


def decode(data: bytes, *, encoding: str | None = None) -> Decoded | None:
    """The text of ``data``, where its encoding is certain; None where it could only be guessed.

    Certain are, in this order: ``encoding``, which the caller knows; a byte order mark; UTF-16 without one that can
    be nothing else; what the file declares (XML, HTML, Python), where all of it can be read so; UTF-8. Raises Refused
    for binary data, and for data that is not in the encoding that it is said to be in.
    """
    if encoding is not None:
        return _strictly(data, encoding, "")
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], name, " of its byte order mark")
    if b"\x00" in data:
        return _wide(data)
    declared = declared_encoding(data)
    if declared is not None:
        try:
            return Decoded(data.decode(declared), declared)
        except UnicodeDecodeError:
            pass  # people change a file's encoding and leave the declaration
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return None


def guess(data: bytes) -> Decoded:
    """The text of ``data`` in the encoding that it most probably is in. Raises Refused where there is no such."""
    if _looks_binary(data):
        raise Refused("unsupported", "it is binary data, no text")
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        raise Refused(
            "encoding",
            "it is neither UTF-8 nor UTF-16, and finding out its encoding needs "
            f"pip install 'priompt-py[documents]'; or {_REMEDY}",
        ) from None
    found = from_bytes(data, cp_isolation=_GUESSES).best()
    if found is None:
        raise Refused("encoding", f"it is neither UTF-8 nor UTF-16, and no other encoding fits; {_REMEDY}")
    return Decoded(data.decode(found.encoding), found.encoding, guessed=True)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that a file says it is in, in its first 2,048 bytes, where it is one that Python can read."""
    head = data[:2048]
    for pattern in _DECLARATIONS:
        found = pattern.search(head)
        if found is not None:
            name = found[1].decode("ascii", "replace")
            if name.lower() in ("iso-8859-1", "latin-1", "latin1", "ascii", "us-ascii"):
                name = "cp1252"  # as browsers read them
            return _known(name)
    return None


def _known(name: str) -> str | None:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    # "rot13" and "zlib" are codecs too, but not of text.
    return found.name if getattr(found, "_is_text_encoding", True) and found.name not in _NO_FILES else None


# As codecs name themselves. They make other text of plain ASCII, which a file could hide behind.
_NO_FILES = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7")
# What people's files are in. Without such a list short texts are found to be in encodings in which almost any bytes
# are letters: of mainframes, of Urdu, or Japanese for a Russian sentence in KOI8-R.
# fmt: off
_GUESSES: list[str] = [
    "cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "gb18030", "big5",
    "cp932", "euc_jp", "cp949", "koi8_r", "koi8_u", "cp866", "cp850", "cp437", "iso8859_2", "iso8859_5", "mac_roman",
]
# fmt: on


def _strictly(data: bytes, encoding: str, whose: str) -> Decoded:
    known = _known(encoding)
    if known is None:
        raise Refused("encoding", f"Python knows no encoding of text {encoding!r}")
    try:
        return Decoded(data.decode(known).removeprefix("\ufeff"), known)
    except UnicodeDecodeError as error:
        raise Refused(
            "encoding", f"byte {error.start} is not in the encoding {known}{whose}; {_REMEDY}"
        ) from None


def _wide(data: bytes) -> Decoded:
    """Data with zero bytes: UTF-16 if it makes sense in exactly one order, binary data else."""
    found: list[Decoded] = []
    for name in ("utf-16-le", "utf-16-be"):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if not any(_is_odd(character) for character in set(text)):
            found.append(Decoded(text, name))
    if len(found) == 2:  # line ends and blanks decide: the other order makes rare characters of them
        plain = [sum(map(one.text.count, " \n")) for one in found]
        if plain[0] != plain[1]:
            return found[plain[1] > plain[0]]
    if len(found) != 1:
        raise Refused("unsupported", "it is binary data, no text")
    return found[0]


def _is_odd(character: str) -> bool:
    """Whether a character does not stand in texts: unassigned, of private use, or a control character."""
    category = unicodedata.category(character)
    return category in ("Cn", "Co", "Cs") or (category == "Cc" and character not in "\t\n\r\f\x1b")


def _looks_binary(data: bytes) -> bool:
    """Whether more than one byte in a hundred is a control character."""
    controls = sum(
        map(data.count, (bytes([code]) for code in (*range(9), 11, *range(14, 27), *range(28, 32))))
    )
    return controls * 100 > len(data)
