"""What the reading of a file ends with where it does not end with text. Imports nothing, as the child needs it early."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """A file is not read. ``reason`` is a short name, ``message`` says what was met and what would do.

    Reasons: ``too-large``, ``unsupported``, ``archive``, ``encoding``, ``password``, ``broken``, ``memory``, ``time``,
    ``library``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message
