"""``DocumentParser``: the parser that comes with this package."""

from __future__ import annotations

import threading
from collections.abc import Callable

import attrs

from priompt_py.author.checks import got, text, text_or_none, whole_number, wrong_type, wrong_value
from priompt_py.context.documents.encodings import UTF32_MARKS, decode
from priompt_py.context.documents.formats import format_of, megabytes
from priompt_py.context.documents.limits import DocumentLimits
from priompt_py.context.documents.process import Extracted, Stop, extract
from priompt_py.context.documents.refusals import Refused
from priompt_py.errors import DocumentError

__all__ = ["Document", "DocumentParser"]

Progress = Callable[[str, float | None], None]


@attrs.frozen
class Document:
    """The text of a file, and how it was come by.

    ``kind`` is ``text``, ``html``, ``pdf``, ``docx`` or ``xlsx``; ``library`` what took it apart, None for us.
    ``encoding`` is that of files of text; where it was ``guessed`` from how the text looks, it may be another.
    """

    text: str
    kind: str
    library: str | None = None
    encoding: str | None = None
    guessed: bool = False


class DocumentParser:
    """Reads plain text, Markdown, source code; with the extra ``documents`` also PDF, DOCX, XLSX and HTML.

    A file's first bytes say what it is, not its name. Text in UTF-8 or UTF-16 is read at once; all else in a process
    of its own, under ``limits``; at most ``at_once`` of them run at the same time, and waiting for them takes nothing
    from a file's time. ``encoding`` is that of files of text, where it is known. HTML and DOCX become Markdown, each
    sheet of XLSX a table of Markdown, pages of a PDF paragraphs.
    """

    def __init__(
        self, *, encoding: str | None = None, limits: DocumentLimits | None = None, at_once: int = 4
    ) -> None:
        tag = "DocumentParser"
        self.encoding = text_or_none(tag, "encoding", encoding)
        given: object = limits
        if not (given is None or isinstance(given, DocumentLimits)):
            raise wrong_type(
                "limits", f"{tag}() needs a DocumentLimits or None for limits, got limits={got(given)}"
            )
        self.limits = limits or DocumentLimits()
        if self.limits.seconds <= 0:
            raise wrong_value(
                "limits", f"{tag}() needs seconds over 0 in limits, got seconds={got(self.limits.seconds)}"
            )
        self._free = threading.BoundedSemaphore(whole_number(tag, "at_once", at_once, least=1))

    def parse(self, data: bytes, name: str, /) -> str:
        """The text of a file; raises DocumentError."""
        return self.read(data, name).text

    async def aparse(self, data: bytes, name: str, /) -> str:
        """As :meth:`parse`, without holding the event loop up; a cancelled call ends its process."""
        return (await self.aread(data, name)).text

    def read(self, data: bytes, name: str, /, *, progress: Progress | None = None) -> Document:
        """The text of a file and how it was read.

        ``progress`` is called with the library's name and None once that is loaded, then with the name and per cent.
        Raises DocumentError, which names the file, and ArgumentTypeError for what is no bytes.
        """
        return self._read(data, name, progress, Stop())

    async def aread(self, data: bytes, name: str, /, *, progress: Progress | None = None) -> Document:
        """As :meth:`read`; ``progress`` is then called in another thread."""
        from priompt_py.context.doors import in_thread

        stop = Stop()
        try:
            document: Document = await in_thread(self._read, (data, name, progress, stop))
        except BaseException:
            stop.ask()
            raise
        return document

    def _read(self, data: bytes, name: str, progress: Progress | None, stop: Stop) -> Document:
        given: object = data
        if not isinstance(given, (bytes, bytearray, memoryview)):
            raise wrong_type("data", f"DocumentParser needs a file's bytes, got {got(given)}")
        data = bytes(given)
        name = text("DocumentParser", "name", name)
        try:
            return self._document(data, name, progress, stop)
        except Refused as refused:
            raise DocumentError(name, refused.reason, refused.message) from None

    def _document(self, data: bytes, name: str, progress: Progress | None, stop: Stop) -> Document:
        limits = self.limits
        if len(data) > limits.file_bytes:
            raise Refused(
                "too-large",
                f"it has {megabytes(len(data))}, over the limit of {megabytes(limits.file_bytes)}",
            )
        kind = format_of(data, name)
        if kind == "text":
            # No character takes more bytes than these for each that it takes in UTF-8.
            widest = 4 if data.startswith(UTF32_MARKS) else 2 if b"\x00" in data else 1
            if len(data) > widest * (limits.text_bytes + 4):
                raise Refused("too-large", self._too_much)
            decoded = decode(data, encoding=self.encoding)
            if decoded is not None:
                if len(decoded.text.encode("utf-8", "replace")) > limits.text_bytes:
                    raise Refused("too-large", self._too_much)
                return Document(decoded.text, kind, None, decoded.encoding)
        found = self._extract(data, kind, progress, stop)
        return Document(found.text, found.kind, found.library, found.encoding, found.guessed)

    @property
    def _too_much(self) -> str:
        return f"it holds more than {megabytes(self.limits.text_bytes)} of text, which is the limit"

    def _extract(self, data: bytes, kind: str, progress: Progress | None, stop: Stop) -> Extracted:
        while not self._free.acquire(timeout=0.1):
            if stop.asked:
                raise Refused("time", "nobody waits for it any more")
        try:
            return extract(data, kind, limits=self.limits, encoding=self.encoding, event=progress, stop=stop)
        finally:
            self._free.release()
