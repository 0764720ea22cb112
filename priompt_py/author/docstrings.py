"""Docstrings as their readers see them: what a function does, and what each parameter means.

Google style (``Args:``), NumPy style (``Parameters`` over dashes) and Sphinx fields (``:param x:``).
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

import attrs

__all__ = ["Docs", "parse_docstring"]

_PARAMETERS = re.compile(r"(other |keyword )?(args|arguments|parameters|params)|attributes", re.IGNORECASE)
_OTHERS = re.compile(
    r"(example|exception|note|return|warning|yield)s?|except|raises|references|see also|todo|warns",
    re.IGNORECASE,
)
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:(?:\s+|$)(.*)")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_FIELD = re.compile(r":(\w+)\b([^:]*):\s*(.*)")
_FIELDS = frozenset(["param", "parameter", "arg", "argument", "key", "keyword"])


@attrs.frozen
class Docs:
    """``text`` is the description without sections; ``parameters`` are one line each, by name."""

    text: str
    parameters: dict[str, str]


def parse_docstring(docstring: str | None) -> Docs:
    """Read a docstring of any of the three styles; one of none of them is all description."""
    reader = _Reader()
    lines = inspect.cleandoc(docstring or "").splitlines()
    for number, line in enumerate(lines):
        reader.read(line, lines[number + 1] if number + 1 < len(lines) else "")
    parameters = {name: " ".join(" ".join(words).split()) for name, words in reader.parameters.items()}
    return Docs("\n".join(reader.text).strip(), {name: words for name, words in parameters.items() if words})


class _Reader:
    """Takes a docstring line by line. ``style`` is that of the section at hand, "" before the first."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.parameters: defaultdict[str, list[str]] = defaultdict(list)
        self.style = ""
        self.wanted = False  # the section lists parameters
        self.names: list[str] = []  # whose description the line at hand goes on with
        self.indent = 0  # of the entries of a Google section

    def read(self, line: str, following: str) -> None:
        indent = len(line) - len(line.lstrip())
        if not indent and line.strip() and self._starts(line, following):
            return
        if not self.style:
            self.text.append(line)
        elif self.style == "numpy" and line.strip() and not indent:
            if set(line) == {"-"}:
                return
            entry = _NUMPY_ENTRY.fullmatch(line)
            self._open(re.findall(r"\w+", entry[1]) if entry else [])
        elif self.style == "google" and (entry := self._google_entry(line, indent)):
            self._open([entry[1]], entry[2])
        else:
            self._go_on(line)

    def _starts(self, line: str, following: str) -> bool:
        """Whether an unindented line is the header of a section, or a field; opens it."""
        if field := _FIELD.fullmatch(line):
            self.style, self.wanted = "field", field[1] in _FIELDS
            self._open(field[2].split()[-1:], field[3])
            return True
        name = line.rstrip(" :")
        parameters = _PARAMETERS.fullmatch(name) is not None
        if parameters or _OTHERS.fullmatch(name):
            underlined = bool(following) and set(following.rstrip()) == {"-"}
            if underlined or line.rstrip().endswith(":"):
                self.style, self.wanted = "numpy" if underlined else "google", parameters
                self.names, self.indent = [], 0
                return True
        if self.style in ("google", "field"):
            self.style = ""  # text after the sections
        return False

    def _google_entry(self, line: str, indent: int) -> re.Match[str] | None:
        self.indent = self.indent or indent
        return _GOOGLE_ENTRY.fullmatch(line.strip()) if indent == self.indent else None

    def _open(self, names: list[str], words: str = "") -> None:
        self.names = names
        self._go_on(words)

    def _go_on(self, words: str) -> None:
        if self.wanted:
            for name in self.names:
                self.parameters[name].append(words)
