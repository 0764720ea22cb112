"""Tools with which a model reads the attached files that a prompt doesn't show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, cast

from priompt_py.author.tools import tool_definition
from priompt_py.context.doors import AsyncDoor, Door, SyncDoor, run_sync
from priompt_py.context.messages import Attachment, Message
from priompt_py.context.reading import Parsers, Reader, check_parsers
from priompt_py.context.telling import Teller
from priompt_py.model.elements import ToolDefinition

__all__ = ["FileTools"]

MOST_LINES = 500
MOST_MATCHES = 100
LONGEST_LINE = 2_000
"""Characters of a line that are shown."""


class FileTools:
    """``read_file`` and ``search_file`` over the attachments of messages; a file is read once, when it is asked for.

    What is asked wrongly (a key that isn't there, a line behind the end) is answered by a sentence, since a model
    reads it. Of attachments with one id the first counts.
    """

    def __init__(self, messages: Iterable[Message | Attachment], *, parsers: Parsers = None) -> None:
        self._files: dict[str, Attachment] = {}
        for one in messages:
            for attachment in one.attachments if isinstance(one, Message) else (one,):
                if attachment.kind != "image":
                    self._files.setdefault(attachment.id, attachment)
        self._parsers = check_parsers("FileTools", parsers)
        self._read: dict[str, list[str] | str] = {}

    def tools(self) -> list[ToolDefinition]:
        """The definitions of both tools, to be put into a prompt; calls are answered by this object."""
        return [tool_definition(self.read_file), tool_definition(self.search_file)]

    def async_tools(self) -> list[ToolDefinition]:
        """The same for loaders and parsers that are async."""
        return [
            tool_definition(self.aread_file, name="read_file"),
            tool_definition(self.asearch_file, name="search_file"),
        ]

    def read_file(
        self,
        key: Annotated[str, "The FILE_KEY of the file."],
        start: Annotated[int, "The first line to read, from 1."] = 1,
        lines: Annotated[int, "How many lines to read, at most 500."] = 200,
    ) -> str:
        """Read lines of an attached file. Each comes with its number; long lines are cut at 2,000 characters."""
        return _read(run_sync(self._lines(key, SyncDoor("read_file", "aread_file"))), start, lines)

    async def aread_file(
        self,
        key: Annotated[str, "The FILE_KEY of the file."],
        start: Annotated[int, "The first line to read, from 1."] = 1,
        lines: Annotated[int, "How many lines to read, at most 500."] = 200,
    ) -> str:
        """Read lines of an attached file. Each comes with its number; long lines are cut at 2,000 characters."""
        return _read(await self._lines(key, AsyncDoor()), start, lines)

    def search_file(
        self,
        key: Annotated[str, "The FILE_KEY of the file."],
        text: Annotated[str, "What to look for, exactly as it is written, upper and lower case too."],
        limit: Annotated[int, "How many lines to give, at most 100."] = 10,
    ) -> str:
        """Find the lines of an attached file that hold a text. Each comes with its number."""
        return _search(run_sync(self._lines(key, SyncDoor("search_file", "asearch_file"))), text, limit)

    async def asearch_file(
        self,
        key: Annotated[str, "The FILE_KEY of the file."],
        text: Annotated[str, "What to look for, exactly as it is written, upper and lower case too."],
        limit: Annotated[int, "How many lines to give, at most 100."] = 10,
    ) -> str:
        """Find the lines of an attached file that hold a text. Each comes with its number."""
        return _search(await self._lines(key, AsyncDoor()), text, limit)

    async def _lines(self, key: str, door: Door) -> list[str] | str:
        """The lines of a file, without their ends, or a sentence why there are none."""
        if not isinstance(cast("object", key), str):
            key = str(key)
        if key in self._read:
            return self._read[key]
        attachment = self._files.get(key)
        if attachment is None:
            known = ", ".join(self._files) or "none, as no file is attached"
            return f"There is no file {key!r}. The keys are: {known}."
        content = await Reader(door, Teller(door), self._parsers).read(attachment)
        if content.text is None:
            return (
                f"The file {attachment.name!r} could not be read: {content.detail}."  # and may be, next time
            )
        lines = content.text.replace("\r\n", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
        self._read[key] = lines
        return lines


def _read(found: list[str] | str, start: Any, lines: Any) -> str:
    if isinstance(found, str):
        return found
    numbers = _whole(start), _whole(lines)
    if numbers[0] is None or numbers[1] is None:
        return "start and lines are whole numbers."
    first = max(1, numbers[0])
    if first > len(found):
        return f"The file has {len(found)} lines; there is no line {first}."
    last = min(len(found), first - 1 + min(MOST_LINES, max(1, numbers[1])))
    shown = [_numbered(number, found[number - 1]) for number in range(first, last + 1)]
    if last < len(found):
        shown.append(f"(lines {first} to {last} of {len(found)}; read on with start={last + 1})")
    return "\n".join(shown)


def _search(found: list[str] | str, text: object, limit: Any) -> str:
    if isinstance(found, str):
        return found
    if not isinstance(text, str):
        return "text is the text to look for, in quotes."
    if not text:
        return "There is no text to look for."
    number = _whole(limit)
    if number is None:
        return "limit is a whole number."
    most = min(MOST_MATCHES, max(1, number))
    numbers = _matches(found, text, most + 1)
    if not numbers:
        return f"No line of the file's {len(found)} holds {text!r}."
    shown = [_numbered(number, found[number - 1], text) for number in numbers[:most]]
    if len(numbers) > most:
        shown.append(f"(the first {most} lines that hold it; there are more)")
    return "\n".join(shown)


def _whole(value: Any) -> int | None:
    """A number as a model may write it, ``"3"`` and ``3.0`` too; None for what is none."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _matches(lines: Sequence[str], text: str, most: int) -> list[int]:
    numbers: list[int] = []
    for number, line in enumerate(lines, 1):
        if text in line:
            numbers.append(number)
            if len(numbers) == most:
                break
    return numbers


def _numbered(number: int, line: str, text: str = "") -> str:
    """A line with its number; a long one is cut, so that it still shows ``text``."""
    if len(line) > LONGEST_LINE:
        at = line.find(text) if text else 0
        begin = max(0, min(at - LONGEST_LINE // 2, len(line) - LONGEST_LINE)) if at > LONGEST_LINE // 2 else 0
        end = begin + LONGEST_LINE
        line = (
            ("…" if begin else "")
            + line[begin:end]
            + (f"… ({len(line):,} characters)" if end < len(line) else "")
        )
    return f"{number:>6}\t{line}"
