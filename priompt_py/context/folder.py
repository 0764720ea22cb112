"""Attachments that lie in a folder."""

from __future__ import annotations

import errno
from pathlib import Path

from priompt_py.author.checks import wrong_value
from priompt_py.context.documents.formats import megabytes
from priompt_py.context.documents.limits import DocumentLimits
from priompt_py.context.messages import Attachment

__all__ = ["FolderLoader"]


class FolderLoader:
    """Reads attachments by their ``path`` (their ``name`` where they have none), from ``folder`` and below it.

    What leads out of the folder, by ``..`` or by a link, is refused, and so is what is no file or has more than
    ``most_bytes``: ArgumentValueError. Raises what the system raises, too.
    """

    def __init__(self, folder: str | Path, *, most_bytes: int = DocumentLimits().file_bytes) -> None:
        self.folder = Path(folder).resolve()
        self.most_bytes = most_bytes

    def read(self, attachment: Attachment, /) -> bytes:
        """The bytes of the file."""
        return self.read_path(attachment.path or attachment.name)

    def read_path(self, name: str) -> bytes:
        """The bytes of the file at a path, as a file system has it: one that is no text has surrogates in it."""
        try:
            return self._read(name)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        except (RuntimeError, UnicodeError, _NoPath):  # links in a circle, until Python 3.12
            pass
        raise wrong_value("path", f"{name!r} is no path that leads to a file")

    def _read(self, name: str) -> bytes:
        if "\0" in name:
            raise _NoPath
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise wrong_value("path", f"{name!r} lies outside of the folder of attachments")
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise wrong_value("path", f"{name!r} is no file")
        with path.open("rb") as file:
            # One byte more than is allowed: a size that the system tells may be of a pipe, or may have changed.
            data = file.read(self.most_bytes + 1)
        if len(data) > self.most_bytes:
            raise wrong_value(
                "path", f"{name!r} has more than {megabytes(self.most_bytes)}, which is the limit"
            )
        return data


class _NoPath(Exception):
    """No file can have this name."""
