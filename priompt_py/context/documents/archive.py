"""Checks of a zip-based file, made before anything opens it: how much is in it, where it would go, what its XML does."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.parsers import expat

from priompt_py.context.documents.formats import megabytes
from priompt_py.context.documents.refusals import Refused

__all__ = ["check_archive"]

_CHUNK = 1 << 16
_DOCUMENT = re.compile(r"word/document[0-9]*\.xml")  # some programs number it
_KINDS = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "xl/workbook.bin": "a binary Excel workbook (.xlsb); save it as .xlsx",
    "ppt/presentation.xml": "a PowerPoint file; save it as .pdf",
    "META-INF/container.xml": "an e-book (EPUB); attach its text",
    "content.xml": "an OpenDocument file; save it as .docx, .xlsx or .pdf",
}


def check_archive(data: bytes, *, members: int, inflated: int, depth: int) -> str:
    """``docx`` or ``xlsx``, once the whole file was read through.

    ``members`` is how many members it may have, ``inflated`` how many bytes they may have together, counted while
    they are inflated (what a zip says about itself proves nothing), ``depth`` how many elements of XML may stand in
    one another. Raises Refused for more, for names that leave a folder, encrypted members, XML with a document type
    (where entities would come from), and every other kind of archive.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if len(infos) > members:
                raise Refused("archive", f"it has {len(infos):,} members, over the limit of {members:,}")
            names = {info.filename for info in infos}
            kind = next((kind for name, kind in _KINDS.items() if name in names), None)
            if kind is None and any(map(_DOCUMENT.fullmatch, names)):
                kind = "docx"
            if kind is None:
                raise Refused(
                    "unsupported",
                    "it is a zip archive, no .docx or .xlsx; unpack it and attach what is inside",
                )
            if kind not in ("docx", "xlsx"):
                raise Refused("unsupported", f"it is {kind}")
            left = inflated
            for info in infos:
                _check_name(info.filename)
                if info.flag_bits & 1:
                    raise Refused("password", "it is encrypted; save it without a password")
                check = _XmlCheck(info.filename, depth) if _is_xml(info.filename) else None
                for chunk in _chunks(archive, info):
                    left -= len(chunk)
                    if left < 0:
                        raise Refused(
                            "archive", f"it inflates to more than {megabytes(inflated)}, which is its limit"
                        )
                    if check is not None:
                        check.feed(chunk)
            return kind
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError):
        raise Refused("broken", "it is a broken zip archive") from None


def _chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as member:
        while chunk := member.read(_CHUNK):
            yield chunk


def _check_name(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
        raise Refused("archive", f"its member {name!r:.80} would lie outside of it")


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels", ".vml"))


class _XmlCheck:
    """Reads a member through, keeping nothing."""

    def __init__(self, name: str, depth: int) -> None:
        self._name = name
        self._limit = depth
        self._depth = 0
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, chunk: bytes) -> None:
        try:
            self._parser.Parse(chunk, False)
        except expat.ExpatError as error:
            raise Refused(
                "broken", f"line {error.lineno} of its member {self._name!r:.80} is no XML"
            ) from None

    def _doctype(self, *_: object) -> None:
        raise Refused("archive", f"its member {self._name!r:.80} has a document type, which it may not have")

    def _start(self, *_: object) -> None:
        self._depth += 1
        if self._depth > self._limit:
            raise Refused(
                "archive", f"its member {self._name!r:.80} nests elements over {self._limit:,} deep"
            )

    def _end(self, *_: object) -> None:
        self._depth -= 1
