"""Where templates come from. A loader gives a template's text by its name, and never leaves its own place."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

import attrs

from priompt_py.author.children import a_type, is_mapping
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, TemplateError
from priompt_py.model.values import short_repr
from priompt_py.template.source import near, one_line

__all__ = [
    "SUFFIX",
    "DictLoader",
    "FileLoader",
    "Loaded",
    "Loader",
    "PackageLoader",
    "decode_template",
    "join_name",
]

SUFFIX = ".priompt"

Stamp: TypeAlias = bytes | int | None


@attrs.frozen
class Loaded:
    """A template's text; ``shown`` is what messages call it, ``stamp`` changes when the text does."""

    text: str
    shown: str
    stamp: Stamp = None


class Loader(Protocol):
    """What gives templates. Names have ``/`` between their parts, and end in ``.priompt``."""

    def load(self, name: str) -> Loaded:
        """The template of this name. Raises TemplateError."""
        ...

    def stamp(self, name: str) -> Stamp:
        """What ``load`` would give as the stamp now."""
        ...

    def names(self) -> Iterable[str]:
        """The names of templates, for suggestions; not necessarily all."""
        ...


# ------------------------------------------------------------------------------------------ names


_PART = re.compile(
    r"[^\s.~/\\:*?\"<>|\x00-\x1f\x7f](?:[^/\\:*?\"<>|\x00-\x1f\x7f]*[^\s./\\:*?\"<>|\x00-\x1f\x7f])?"
)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MOST_LONG = 200


def join_name(importer: str | None, name: str) -> str:
    """The name of a template as another one writes it: ``./`` and ``../`` are seen from the importer.

    Raises TemplateError for what is no name, or leaves the loader's place.
    """
    written: object = name
    if not isinstance(written, str):
        raise ArgumentTypeError(f"the name of a template is a text, got {short_repr(written)}")
    given = name if name.endswith(SUFFIX) else f"{name}{SUFFIX}"
    parts = given.split("/")
    is_relative = parts[0] in (".", "..")
    path = importer.split("/")[:-1] if importer is not None and is_relative else []
    for part in parts:
        if part == "..":
            if not path:
                raise TemplateError(f'the name "{one_line(name)}" leaves the place of the templates')
            path.pop()
        elif part != ".":
            if len(part) > _MOST_LONG or not _PART.fullmatch(part) or _DEVICE.fullmatch(part):
                raise TemplateError(f'"{one_line(name)}" is no name of a template')
            path.append(part)
    return "/".join(path)


def _missing(name: str, names: Iterable[str]) -> TemplateError:
    known = [one.removesuffix(SUFFIX) for _, one in zip(range(2_000), names, strict=False) if one != name]
    return TemplateError(f'there is no template "{one_line(name)}"{near(name.removesuffix(SUFFIX), known)}')


# ------------------------------------------------------------------------------------------ loaders


class DictLoader:
    """Templates from a mapping of names to texts."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        if not is_mapping(templates):
            raise ArgumentTypeError(
                f"DictLoader() needs a mapping of names to texts, got {a_type(templates)}"
            )
        self._templates = {join_name(None, name): (name, text) for name, text in templates.items()}

    def load(self, name: str) -> Loaded:
        """The template of this name. Raises TemplateError."""
        if name not in self._templates:
            raise _missing(name, self.names())
        return Loaded(self._templates[name][1], name)

    def stamp(self, name: str) -> Stamp:
        """Always None: the texts don't change."""
        return None

    def names(self) -> Iterable[str]:
        """The names of all templates."""
        return list(self._templates)


class FileLoader:
    """Templates from the files below a folder; links that lead out of it are not followed."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        given: object = root
        if not isinstance(given, (str, os.PathLike)):
            raise ArgumentTypeError(f"FileLoader() needs a folder, got {short_repr(given)}")
        if Path(root).is_file():
            raise ArgumentValueError(
                f"FileLoader() needs a folder, {root} is a file; load_template() reads one"
            )
        self._root = Path(root)

    def load(self, name: str) -> Loaded:
        """The template of this name. Raises TemplateError."""
        path = self._path(name)
        try:
            data = path.read_bytes()
        except (OSError, ValueError):
            raise _missing(name, self.names()) from None
        shown = str(self._root / name)
        return Loaded(decode_template(data, shown), shown, _stamp_of(data))

    def stamp(self, name: str) -> Stamp:
        """A hash of the file: neither its time nor its size need change when its text does."""
        try:
            return _stamp_of(self._path(name).read_bytes())
        except (OSError, TemplateError):
            return -1

    def names(self) -> Iterable[str]:
        """The names of the files below the folder."""
        for path in self._root.rglob(f"*{SUFFIX}"):
            yield path.relative_to(self._root).as_posix()

    def _path(self, name: str) -> Path:
        """The file of a name, if it lies below the root when all links are followed."""
        try:
            root = self._root.resolve()
            path = (root / name).resolve()
            is_inside = path.is_relative_to(root)
            if is_inside and path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):  # a name too long; a ring of links
            is_inside = True
        if not is_inside:
            raise TemplateError(
                f'there is no template "{one_line(name)}": a link on its way leads out of the folder'
            )
        raise _missing(name, self.names())


class PackageLoader(FileLoader):
    """Templates from a folder inside an installed package."""

    def __init__(self, package: str, folder: str = "templates") -> None:
        from importlib.util import find_spec

        try:
            spec = find_spec(package)
        except (ImportError, ValueError):
            spec = None
        if spec is None or not spec.submodule_search_locations:
            raise TemplateError(f"there is no package {package}")
        super().__init__(Path(next(iter(spec.submodule_search_locations))) / folder)


def _stamp_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


# ------------------------------------------------------------------------------------------ bytes


_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def decode_template(data: bytes, shown: str) -> str:
    """``data`` as UTF-8, whatever the platform says. Raises TemplateError that names the file and the byte."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise TemplateError(f"looks like {encoding}; save it as UTF-8", file=shown)
    start = data[:64]
    if len(start) >= 4 and any(not any(start[i::2]) and all(start[1 - i :: 2]) for i in (0, 1)):
        raise TemplateError("looks like UTF-16; save it as UTF-8", file=shown)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TemplateError(
            f"not UTF-8: byte 0x{data[error.start]:02X} at offset {error.start} (line {line}); save it as UTF-8",
            file=shown,
        ) from None
