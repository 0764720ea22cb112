"""Attachments as text: an envelope of labels around a file's content, and what is told of the file."""

from __future__ import annotations

import attrs

__all__ = ["Envelope", "count_lines", "first_lines", "one_line"]


def count_lines(text: str) -> int:
    """The lines of a text: a CRLF ends a line as a line feed does, and one at the very end opens none."""
    if not text:
        return 0
    return text.count("\n") + (not text.endswith("\n"))


def first_lines(text: str, lines: int) -> str:
    """The first lines of a text, as they are, without the end of the last of them."""
    if lines == 0:
        return ""
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1)
        if end < 0:
            return text
    return text[:end].removesuffix("\r")


def one_line(name: str) -> str:
    """A name without line breaks, with which it could look like a label of ours."""
    return " ".join(name.split())


def _escaped(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@attrs.frozen(kw_only=True)
class Envelope:
    """What is said of one attachment. Metadata is escaped (``& < >``), the content never changed.

    ``index`` counts the attachments of one message from 1. ``lines`` and ``size`` (bytes of UTF-8) are those of the
    whole content, None where it wasn't read. ``extra`` are labels and their texts, behind the content.
    """

    index: int
    name: str
    key: str
    lines: int | None = None
    size: int | None = None
    content: str = ""
    extra: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        rows = [
            f"<FILE_INDEX>{self.index}</FILE_INDEX>",
            f"<FILE_NAME>{_escaped(one_line(self.name))}</FILE_NAME>",
        ]
        rows.append(f"<FILE_KEY>{_escaped(one_line(self.key))}</FILE_KEY>")
        if self.lines is not None:
            rows.append(f"<FILE_LINES>{self.lines}</FILE_LINES>")
        if self.size is not None:
            rows.append(f"<FILE_SIZE>{self.size} bytes</FILE_SIZE>")
        end = "" if self.content.endswith("\n") else "\n"
        content = f"\n{self.content}{end}" if self.content else ""
        rows.append(f"<FILE_CONTENT>{content}</FILE_CONTENT>")
        rows += [f"<{label}>{_escaped(text)}</{label}>" for label, text in self.extra]
        return "\n\n<ATTACHMENT_FILE>\n" + "\n".join(rows) + "\n</ATTACHMENT_FILE>\n"
