"""How much a file may take, before and while it is read."""

from __future__ import annotations

import attrs

__all__ = ["DocumentLimits"]


@attrs.frozen(kw_only=True)
class DocumentLimits:
    """Limits of reading one file; a file that is over one of them is refused, by name and figure.

    ``file_bytes`` of the file itself; ``text_bytes`` of its text in UTF-8; ``archive_bytes`` of all members of a
    zip-based file together, counted while they are inflated; ``archive_members`` of them; ``xml_depth`` elements of
    XML in one another; ``pages`` of a PDF; ``seconds`` of wall time, the start of the process included;
    ``memory_bytes`` of address space (where the system can limit it: not on Windows and macOS).
    """

    file_bytes: int = 100_000_000
    text_bytes: int = 20_000_000
    archive_bytes: int = 200_000_000
    archive_members: int = 1_000
    xml_depth: int = 1_000
    pages: int = 10_000
    seconds: float = 5.0
    memory_bytes: int = 1 << 30
