"""Where a JSON object that arrives in pieces ends, without parsing it again at each piece."""

from __future__ import annotations

import re

__all__ = ["JsonEnd"]

_IN_TEXT = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'["{}\[\]]')


class JsonEnd:
    """Told the pieces of a text, finds where the object that it begins with is closed.

    Brackets are counted, not matched: whether what they enclose is JSON is the parser's matter. A text that
    begins with anything but ``{`` and white space never ends.
    """

    __slots__ = ("_depth", "_escaped", "_in_text", "_other", "ended")

    def __init__(self) -> None:
        self.ended = False
        self._depth = 0
        self._in_text = False
        self._escaped = False
        self._other = False

    def feed(self, text: str) -> int | None:
        """The number of characters of ``text`` that belong to the object, where it ends in this piece."""
        at = 0
        if not self._depth and not self._other and not self.ended:
            start = text.lstrip(" \t\r\n")
            self._other = bool(start) and not start.startswith("{")
        if self._other or self.ended:
            return None
        while at < len(text):
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = (_IN_TEXT if self._in_text else _OUTSIDE).search(text, at)
            if found is None:
                break
            at = found.end()
            mark = found.group()
            if mark == '"':
                self._in_text = not self._in_text
            elif mark == "\\":
                self._escaped = True
            elif mark in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self.ended = True
                    return at
        return None
