"""Where a prompt's own code failed, and what the error is called."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["FailurePlace", "place_of", "type_name"]

_OURS = Path(__file__).parents[1]
_INSTALLED = {"site-packages", "dist-packages"}


class FailurePlace(NamedTuple):
    """A line of a file, both from 1; ``column`` only of what Python couldn't parse."""

    file: str
    line: int
    column: int | None = None


def place_of(error: BaseException) -> FailurePlace | None:
    """The innermost line that is not ours and not Python's, or of a syntax error; installed packages come last."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return FailurePlace(error.filename, error.lineno, error.offset or None)
    is_foreign = _foreign_code()
    installed: FailurePlace | None = None
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = frame.f_code.co_filename
        if is_foreign(path):
            continue
        if not _INSTALLED & set(Path(path).parts):
            return FailurePlace(path, line)
        installed = installed or FailurePlace(path, line)
    return installed


def _foreign_code() -> Callable[[str], bool]:
    """Whether a file's code is ours, the standard library's, or no file's."""
    library = Path(sysconfig.get_path("stdlib"))

    def is_foreign(path: str) -> bool:
        if path.startswith("<") or Path(path).is_relative_to(_OURS):
            return True
        return Path(path).is_relative_to(library) and not _INSTALLED & set(Path(path).parts)

    return is_foreign


def type_name(error: BaseException) -> str:
    """The name of an error's class, with its module unless it is Python's own."""
    cls = type(error)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
