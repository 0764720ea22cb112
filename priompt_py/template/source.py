"""A template's text, and the places in it."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable

import attrs

from priompt_py.author.children import a_type
from priompt_py.errors import ArgumentTypeError, TemplateError, TemplateSyntaxError

__all__ = ["Location", "Source", "near", "one_line", "shared_start"]

LITERAL_OPEN = "\ufdd0"
"""Stands for a literal ``{`` in the text of template strings: a noncharacter, which no text may hold."""
LITERAL_CLOSE = "\ufdd1"
"""The same for ``}``."""
VALUE = "\ua66e"
"""Begins the names that values of template strings have: a letter that no text is likely to hold."""

MOST_ERRORS = 100
"""After so many errors no more are looked for in a file."""

_VALUE_NAME = re.compile(rf"{VALUE}([0-9]+)")
_VALUE_IN_BRACES = re.compile(rf"\{{{VALUE}[0-9]+\}}")


@attrs.frozen
class Location:
    """A place: ``line`` and ``column`` are 1-based, in code points."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Source:
    r"""A template's ``text``, with line ends as ``\n`` and without a byte-order mark.

    ``name`` is what messages call it. In the text of a template string literal braces are other characters, and its
    values are names in braces; ``values`` is the code that messages show for them. Offsets are 0-based code points of
    ``text``.
    """

    def __init__(self, text: str, name: str = "<template>", *, values: tuple[str, ...] | None = None) -> None:
        given: object = text
        if not isinstance(given, str):
            hint = "; decode it as UTF-8" if isinstance(given, (bytes, bytearray)) else ""
            raise ArgumentTypeError(f"a template is a text, got {a_type(given)}{hint}")
        text = text.removeprefix("\ufeff")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.text = text
        self.name = name
        self._values = values
        self._starts: list[int] | None = None

    def line_of(self, offset: int) -> int:
        """The 1-based line of an offset."""
        return bisect_right(self._line_starts(), offset)

    def location(self, offset: int) -> Location:
        """The place of an offset."""
        line = self.line_of(offset)
        start = self._line_starts()[line - 1]
        if self._values is None:
            return Location(self.name, line, offset - start + 1)
        return Location(self.name, line, len(self._shown(self.text[start:offset])) + 1)

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            at = self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._starts = starts
        return self._starts

    def line_text(self, line: int) -> str:
        """The text of a 1-based line."""
        start = self._line_starts()[line - 1]
        end = self.text.find("\n", start)
        text = self.text[start : len(self.text) if end < 0 else end]
        return self._shown(text)

    def _shown(self, text: str) -> str:
        """``text`` for messages: with its literal braces, and the code of its values."""
        values = self._values
        if values is None:
            return text

        def code(match: re.Match[str]) -> str:
            index = int(match[1])
            return (one_line(values[index]) if index < len(values) else "") or "…"

        return _VALUE_NAME.sub(code, self.literal(text))

    def values_in(self, text: str) -> list[tuple[int, int]]:
        """Where in a part of the text the values of a template string stand: the offsets of their braces."""
        if self._values is None:
            return []
        return [match.span() for match in _VALUE_IN_BRACES.finditer(text)]

    def literal(self, text: str) -> str:
        """``text`` with its literal braces, where the source is a template string's."""
        return text if self._values is None else text.replace(LITERAL_OPEN, "{").replace(LITERAL_CLOSE, "}")

    def error(
        self, offset: int, message: str, *, stack: Iterable[tuple[str, int, str]] = ()
    ) -> TemplateError:
        """The error of evaluating what stands at ``offset``."""
        place = self.location(offset)
        return TemplateError(
            self._shown(message),
            file=self.name,
            line=place.line,
            column=place.column,
            source_line=self.line_text(place.line),
            stack=tuple(stack),
        )

    def syntax_error(self, offset: int, message: str) -> TemplateSyntaxError:
        """The error of parsing what stands at ``offset``."""
        place = self.location(offset)
        return TemplateSyntaxError(
            self._shown(message),
            file=self.name,
            line=place.line,
            column=place.column,
            source_line=self.line_text(place.line),
        )


def near(name: str, names: Iterable[str]) -> str:
    """``"; did you mean X?"`` with the name that is most like ``name``, or nothing."""
    candidates = list(names)
    if len(name) > 60 or len(candidates) > 2_000:  # the search takes quadratic time
        return ""
    found = difflib.get_close_matches(name, candidates, n=1)
    if not found:
        folded = {one.lower(): one for one in candidates}
        found = [folded[one] for one in difflib.get_close_matches(name.lower(), folded, n=1)]
    return f"; did you mean {found[0]}?" if found else ""


def shared_start(texts: list[str]) -> str:
    """The longest text that all the texts begin with; nothing of no texts."""
    if not texts:
        return ""
    least, greatest = min(texts), max(texts)  # what these share, all that lie between them share
    for at, character in enumerate(least):
        if greatest[at] != character:
            return least[:at]
    return least


def one_line(text: str, limit: int = 40) -> str:
    """A text for a message: on one line, cut to ``limit`` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
