"""What is searched, and what is asked: licence texts, notes of our own in Russian, and questions written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import attrs
import yaml

__all__ = [
    "COMMON",
    "LICENCES",
    "Document",
    "Question",
    "common_licences",
    "distinct",
    "licences",
    "notes",
    "questions",
]

HERE = Path(__file__).parent
LICENCES = HERE.parents[1] / "build" / "licences" / "package" / "licenses"
COMMON = Path("/usr/share/common-licenses")  # of Debian and its kin

# What a file of Debian's is called by SPDX.
_SPDX = {
    "Artistic": "Artistic-1.0-Perl",
    "BSD": "BSD-3-Clause",
    **{f"GPL-{n}": f"GPL-{n}.0" for n in (1, 2, 3)},
    "LGPL-2": "LGPL-2.0",
    "LGPL-3": "LGPL-3.0",
}


@attrs.frozen
class Document:
    """A text, and all names under which it is known; the first is its id."""

    names: tuple[str, ...]
    text: str

    @property
    def id(self) -> str:
        return self.names[0]


@attrs.frozen
class Question:
    """``about`` are patterns of the names of documents that answer."""

    ask: str
    kind: str
    about: tuple[str, ...]

    def answered_by(self, document: Document) -> bool:
        return any(fnmatchcase(name, pattern) for name in document.names for pattern in self.about)


def licences(folder: Path = LICENCES) -> list[Document]:
    """The licences of spdx-license-list, by their ids."""
    files = sorted(folder.glob("*.json"))
    return distinct((path.stem, json.loads(path.read_text("utf-8"))["licenseText"]) for path in files)


def common_licences(folder: Path = COMMON) -> list[Document]:
    """Debian's common licences by their SPDX ids; none where the machine has none."""
    files = sorted(path for path in folder.glob("*") if path.is_file() and not path.is_symlink())
    return distinct((_SPDX.get(path.name, path.name), path.read_text("utf-8")) for path in files)


def notes() -> list[Document]:
    """The Russian notes."""
    texts = yaml.safe_load((HERE / "russian.yaml").read_text("utf-8"))
    return [Document((name,), text) for name, text in texts.items()]


def questions(documents: Sequence[Document] | None = None) -> list[Question]:
    """All questions, or those that one of ``documents`` answers."""
    rows = yaml.safe_load((HERE / "questions.yaml").read_text("utf-8"))
    found = [Question(row["ask"], row["kind"], tuple(row["about"])) for row in rows]
    if documents is None:
        return found
    return [one for one in found if any(one.answered_by(document) for document in documents)]


def distinct(texts: Iterable[tuple[str, str]]) -> list[Document]:
    """Texts that differ in more than blanks and case, each with all its names."""
    names: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for name, text in texts:
        key = " ".join(text.split()).casefold()
        names.setdefault(key, []).append(name)
        first.setdefault(key, text)
    return list(_documents(names, first))


def _documents(names: dict[str, list[str]], first: dict[str, str]) -> Iterator[Document]:
    for key, own in names.items():
        yield Document(tuple(own), first[key])
