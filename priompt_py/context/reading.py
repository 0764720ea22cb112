"""Reading attachments: load, parse, and say what went wrong with which one, so that the others go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import attrs

from priompt_py.author.checks import got, text_or_none, wrong_type
from priompt_py.context.documents.parser import Document, DocumentParser
from priompt_py.context.doors import Door, WrongDoor
from priompt_py.context.messages import Attachment
from priompt_py.context.telling import Relay, Teller, said
from priompt_py.errors import DocumentError

__all__ = ["Content", "OnError", "Parsers", "Reader", "check_parsers"]

OnError = Literal["report", "raise"]
Parsers: TypeAlias = "Any | Mapping[str, Any] | None"
"""A parser for every file, or one by ending (``".pdf"``) or media type (``"application/pdf"``), ``"*"`` for the rest."""


def _cleaned(content: Content, attribute: attrs.Attribute[str | None], value: object) -> None:
    """A parser's text may hold what no text can be sent with: halves of surrogate pairs."""
    clean = text_or_none("Content", attribute.name, value)
    if clean is not value:
        object.__setattr__(content, attribute.name, clean)


@attrs.frozen
class Content:
    """What reading an attachment gave: its ``text``, or the ``problem`` and its ``detail`` for people.

    A file whose loader failed, or whose text is blank, is ``unreadable``; one whose parser failed ``parse-failed``.
    ``note`` is what should be known of a text: that its encoding was guessed.
    """

    attachment: Attachment
    text: str | None = attrs.field(validator=_cleaned)
    problem: Literal["unreadable", "parse-failed"] | None = None
    detail: str = ""
    note: str | None = None


def check_parsers(tag: str, parsers: Parsers) -> Mapping[str, Any]:
    """``parsers`` by ending and media type; raises ArgumentTypeError."""
    if parsers is None:
        return {"*": DocumentParser()}
    found = cast("Mapping[str, Any]", parsers if isinstance(parsers, Mapping) else {"*": parsers})
    for key, parser in found.items():
        if not callable(getattr(parser, "parse", None)):
            raise wrong_type(
                "parsers",
                f"{tag}() needs objects with a method parse for parsers, got {key!r}: {got(parser)}",
            )
    return {key.lower(): parser for key, parser in found.items()} | (
        {} if "*" in found else {"*": DocumentParser()}
    )


class Reader:
    """Reads attachments through a door, and keeps what they gave. ``time_limit`` is for a loader or a parser, in seconds."""

    def __init__(
        self,
        door: Door,
        teller: Teller,
        parsers: Mapping[str, Any],
        *,
        on_error: OnError = "report",
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = 0.0
        self._door = door
        self._teller = teller
        self._parsers = parsers
        self._raises = on_error == "raise"
        self._timeout = time_limit
        self._clock = clock
        self._known: dict[int, Content] = {}

    async def read(self, attachment: Attachment) -> Content:
        """The content of one attachment; events of kind ``parsing`` tell of it."""
        known = self._known.get(id(attachment))
        if known is None:
            began = self._clock()
            known = self._known[id(attachment)] = await self._read(attachment)
            self.seconds += self._clock() - began
        return known

    async def read_all(self, attachments: Sequence[Attachment]) -> list[Content]:
        """The contents in order; async, they are read at the same time."""
        return await self._door.gather([self.read(one) for one in attachments])

    async def _read(self, attachment: Attachment) -> Content:
        key = attachment.id
        if attachment.text is not None:
            return _content(attachment, attachment.text)
        if attachment.loader is None:
            return Content(attachment, None, "unreadable", "it has neither text nor a loader")
        await self._teller.tell("parsing", "loading", key, text="loading parser")
        try:
            data: Any = await self._door.call(
                f"the loader of {attachment.name}",
                attachment.loader,
                "read",
                attachment,
                time_limit=self._timeout,
            )
            if not isinstance(data, (bytes, bytearray, memoryview, str)):
                raise wrong_type("loader", f"a loader gives bytes, got {got(data)}")
        except WrongDoor:
            raise
        except Exception as error:  # noqa: BLE001 - reported, or raised again
            return await self._failed(attachment, "unreadable", error)
        if isinstance(data, str):
            content = _content(attachment, data)
        else:
            try:
                content = await self._parse(attachment, bytes(cast("bytes", data)))
            except WrongDoor:
                raise
            except Exception as error:  # noqa: BLE001 - reported, or raised again
                return await self._failed(attachment, "parse-failed", error)
        await self._teller.tell(
            "parsing", "done" if content.problem is None else "error", key, text=content.detail
        )
        return content

    async def _parse(self, attachment: Attachment, data: bytes) -> Content:
        parser = self._parser(attachment)
        name = attachment.name
        what = f"the parser of {name}"
        if isinstance(parser, DocumentParser):
            relay = self._teller.relay("parsing", attachment.id)
            document = await self._door.call(
                what, _Told(parser, relay, name), "read", data, name, time_limit=self._timeout
            )
            await relay.settled()
            if document.library is None:
                relay(f"Reading {name}", 100.0)
                await relay.settled()
            note = f"{name} was read as {document.encoding}, which is a guess" if document.guessed else None
            return _content(attachment, document.text, note)
        library = getattr(parser, "library", None)
        if library is not None:
            await self._teller.tell("parsing", "loading", attachment.id, text=f"{library} loaded")
        verb = f"Parsing {name}" + ("" if library is None else f" with {library}")
        await self._teller.tell("parsing", "loading", attachment.id, progress=0.0, text=verb)
        text: object = await self._door.call(what, parser, "parse", data, name, time_limit=self._timeout)
        if not isinstance(text, str):
            raise wrong_type("parsers", f"a parser gives text, got {got(text)}")
        return _content(attachment, text)

    def _parser(self, attachment: Attachment) -> Any:
        ending = "." + attachment.name.rpartition(".")[2].lower()
        media = (attachment.media_type or "").partition(";")[0].strip().lower()
        return self._parsers.get(media) or self._parsers.get(ending) or self._parsers["*"]

    async def _failed(
        self, attachment: Attachment, problem: Literal["unreadable", "parse-failed"], error: Exception
    ) -> Content:
        detail = error.detail if isinstance(error, DocumentError) else said(error)
        await self._teller.tell("parsing", "error", attachment.id, text=detail)
        if self._raises:
            raise error
        return Content(attachment, None, problem, detail)


class _Told:
    """A document parser whose progress is told; it has both doors."""

    def __init__(self, parser: DocumentParser, relay: Relay, name: str) -> None:
        self._parser = parser
        self._relay = relay
        self._name = name

    def read(self, data: bytes, name: str) -> Document:
        return self._parser.read(data, name, progress=self._progress)

    async def aread(self, data: bytes, name: str) -> Document:
        return await self._parser.aread(data, name, progress=self._progress)

    def _progress(self, library: str, percent: float | None) -> None:
        if percent is None:
            self._relay(f"{library} loaded")
        else:
            self._relay(f"Parsing {self._name} with {library}", round(percent, 2))


def _content(attachment: Attachment, text: str, note: str | None = None) -> Content:
    if not text.strip():
        return Content(attachment, None, "unreadable", "it holds no text", note)
    return Content(attachment, text, None, "", note)
