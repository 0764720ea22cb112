"""The parts of a DOCX beside its text: styles, numbering, targets of links. All are read in one go, keeping little."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from xml.parsers import expat

__all__ = ["Numbering", "Style", "Styles", "read_links", "walk"]

_CHUNK = 1 << 16
Attributes = Mapping[str, str]


def walk(
    archive: zipfile.ZipFile,
    name: str,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _: None,
    text: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Read a member as XML, a stretch at a time; yields after each. A member that isn't there holds nothing.

    Elements and attributes come by their local names, those of WordprocessingML with ``w:`` in front, whichever
    prefix the file gives it.
    """
    if name not in archive.namelist():
        return
    known: dict[str, str] = {}

    def short(full: str) -> str:
        found = known.get(full)
        if found is None:
            space, _, local = full.rpartition(" ")
            found = known[full] = f"w:{local}" if "/wordprocessingml" in space else local
        return found

    def started(full: str, attributes: dict[str, str]) -> None:
        start(short(full), {short(key): value for key, value in attributes.items()} if attributes else {})

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = started
    parser.EndElementHandler = lambda full: end(short(full))
    parser.CharacterDataHandler = text
    with archive.open(name) as member:
        while chunk := member.read(_CHUNK):
            parser.Parse(chunk, False)
            yield
    parser.Parse(b"", True)
    yield


def read_links(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """The targets of a part's external links, by the id of the relation."""
    found: dict[str, str] = {}

    def start(tag: str, attributes: Attributes) -> None:
        if tag == "Relationship" and attributes.get("TargetMode") == "External":
            found[attributes.get("Id", "")] = attributes.get("Target", "")

    folder, _, file = name.rpartition("/")
    for _ in walk(archive, f"{folder}/_rels/{file}.rels", start):
        pass
    return found


class Style:
    """What a paragraph's style says: the level of a heading (from 1), and a list with its level (from 0)."""

    def __init__(self) -> None:
        self.name = ""
        self.parent = ""
        self.outline: int | None = None
        self.list_id = ""
        self.list_level = 0

    @property
    def heading(self) -> int | None:
        """The level that name or outline give."""
        if self.name == "title":
            return 1
        word, _, number = self.name.partition(" ")
        if word == "heading" and number.isdecimal():
            return int(number)
        return None if self.outline is None else self.outline + 1


class Styles:
    """The styles of paragraphs by their ids."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._styles: dict[str, Style] = {}
        self._now = Style()
        for _ in walk(archive, "word/styles.xml", self._start):
            pass

    def _start(self, tag: str, attributes: Attributes) -> None:
        value = attributes.get("w:val", "")
        if tag == "w:style":
            self._now = self._styles[attributes.get("w:styleId", "")] = Style()
        elif tag == "w:name":
            self._now.name = value.lower()
        elif tag == "w:basedOn":
            self._now.parent = value
        elif tag == "w:outlineLvl":
            self._now.outline = level_of(value)
        elif tag == "w:numId":
            self._now.list_id = value
        elif tag == "w:ilvl":
            self._now.list_level = level_of(value) or 0

    def heading(self, style: str) -> int | None:
        """The level of a heading, from 1; None for what is none."""
        return next((one.heading for one in self._line(style) if one.heading is not None), None)

    def list_of(self, style: str) -> tuple[str, int]:
        """The id of the list that a style belongs to, ``""`` for none, and the level in it."""
        return next(((one.list_id, one.list_level) for one in self._line(style) if one.list_id), ("", 0))

    def _line(self, style: str) -> Iterator[Style]:
        """A style and those that it is based on."""
        seen: set[str] = set()
        while style in self._styles and style not in seen:
            seen.add(style)
            yield self._styles[style]
            style = self._styles[style].parent


def level_of(value: str) -> int | None:
    """A level from 0 to 8; None for what is no such number."""
    return int(value) if value.isdecimal() and len(value) == 1 and value != "9" else None


class _Level:
    def __init__(self) -> None:
        self.format = "decimal"
        self.pattern = ""
        self.start = 1


class Numbering:
    """The lists of a document, and how far each has been counted."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._levels: dict[tuple[str, int], _Level] = {}  # by the id of the list's kind, and the level
        self._kinds: dict[str, str] = {}
        self._restarts: set[str] = set()
        self._counts: dict[tuple[str, int], int] = {}
        self._kind = self._list = ""
        self._now = _Level()
        for _ in walk(archive, "word/numbering.xml", self._start):
            pass

    def _start(self, tag: str, attributes: Attributes) -> None:
        value = attributes.get("w:val", "")
        if tag == "w:abstractNum":
            self._kind = attributes.get("w:abstractNumId", "")
        elif tag == "w:lvl":
            self._now = _Level()
            self._levels.setdefault((self._kind, level_of(attributes.get("w:ilvl", "")) or 0), self._now)
        elif tag == "w:numFmt":
            self._now.format = value
        elif tag == "w:lvlText":
            self._now.pattern = value
        elif tag == "w:start":
            self._now.start = int(value) if value.isdecimal() and len(value) < 10 else 1
        elif tag == "w:num":
            self._list = attributes.get("w:numId", "")
            self._kind = ""  # what a single list overrides is not a kind's
        elif tag == "w:abstractNumId":
            self._kinds[self._list] = value
        elif tag == "w:startOverride":
            self._restarts.add(self._list)

    def label(self, list_id: str, level: int) -> str | None:
        """The mark of the next item of a list: ``-``, ``2.1.``, ``b)``; None where there is no such list."""
        kind = self._kinds.get(list_id)
        if kind is None:
            return None
        if list_id in self._restarts:
            self._restarts.discard(list_id)
            self._counts = {key: count for key, count in self._counts.items() if key[0] != kind}
        found = self._levels.get((kind, level)) or _Level()
        self._counts[kind, level] = self._counts.get((kind, level), found.start - 1) + 1
        for deeper in range(level + 1, 9):
            self._counts.pop((kind, deeper), None)
        if found.format in ("bullet", "none"):
            return "-"
        label = found.pattern or f"%{level + 1}."
        for number in range(level + 1):
            if f"%{number + 1}" in label:
                one = self._levels.get((kind, number)) or _Level()
                count = self._counts.get((kind, number), one.start)
                label = label.replace(f"%{number + 1}", _written(count, one.format))
        return label


def _written(count: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and count > 0:
        letter = chr(ord("a") + (count - 1) % 26) * min(9, 1 + (count - 1) // 26)
        return letter if form == "lowerLetter" else letter.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < count < 4_000:
        roman = _roman(count)
        return roman.lower() if form == "lowerRoman" else roman
    return str(count)


_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


def _roman(count: int) -> str:
    out = ""
    for value, letters in _ROMAN:
        times, count = divmod(count, value)
        out += letters * times
    return out
