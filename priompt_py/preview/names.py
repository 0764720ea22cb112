"""Ids of prompts and names of dumps: which are allowed. Both become names of files, on any system."""

from __future__ import annotations

import re

from priompt_py.author.checks import got
from priompt_py.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["LAST", "check_id", "is_id", "is_name"]

LAST = "last"
"""Stands for the newest dump in place of a name."""

_MOST_LONG = 100  # characters; with a folder, a suffix and a temporary name it stays far below 255
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?", re.ASCII)
# Names of devices on Windows, in any folder and with any suffix (learn.microsoft.com, "Naming Files, Paths, and
# Namespaces"); those with a dollar sign or raised digits are outside of _NAME already.
_DEVICES = {
    "aux",
    "con",
    "nul",
    "prn",
    *(f"{name}{number}" for name in ("com", "lpt") for number in range(10)),
}
_OF_FILES = (".json", ".priompt", ".py", ".yaml", ".yml")


def is_name(text: str) -> bool:
    """Whether ``text`` can be the name of a dump: letters and digits of ASCII, ``.``, ``_`` and ``-``, at most 100.

    It begins with a letter or a digit, doesn't end in a dot, and is no device of Windows (``con``, ``nul.txt``). So it
    is one name and no path everywhere, and looks and sorts alike everywhere.
    """
    return (
        len(text) <= _MOST_LONG
        and _NAME.fullmatch(text) is not None
        and text.partition(".")[0].lower() not in _DEVICES
    )


def is_id(text: str) -> bool:
    """Whether ``text`` can be the id of a prompt: as a name, without the suffix of a prompt's or props' file."""
    return is_name(text) and not text.lower().endswith(_OF_FILES)


def check_id(function: str, value: object) -> str:
    """``value`` if it can be an id; ``function`` is whose argument it is. Raises ArgumentTypeError, ArgumentValueError."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f'{function}() needs text for id, as in id="chat", got id={got(value)}')
    if is_id(value):
        return value
    if is_name(value):
        raise ArgumentValueError(
            f"{function}() needs an id that isn't like the name of a file, got id={value!r}"
        )
    if len(value) > _MOST_LONG:
        raise ArgumentValueError(
            f"{function}() needs an id of at most {_MOST_LONG} characters, got one of {len(value)}"
        )
    if _NAME.fullmatch(value):
        raise ArgumentValueError(
            f"{function}() needs another id: {value!r} is the name of a device on Windows, where dumps have to lie too"
        )
    raise ArgumentValueError(
        f"{function}() needs an id of letters from a to z, digits, '.', '_' and '-', with a letter or digit first "
        f"and no '.' at its end, got id={got(value)}"
    )
