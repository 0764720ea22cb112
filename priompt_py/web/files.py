"""The files of the page: those in ``static``, and no others."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

__all__ = ["StaticFile", "static_file"]

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""The files that are served, by their suffix."""


class StaticFile(NamedTuple):
    """A file: its bytes, its type, and a mark that changes with it."""

    data: bytes
    media_type: str
    etag: str


def static_file(path: str) -> StaticFile | None:
    """The file at a path below ``static``, with ``/`` between names; None where there is none.

    The names are looked up in the listing of each folder: ``..``, links to elsewhere and the like are no names there.
    """
    *folders, name = path.split("/")
    here = _root()
    for folder in folders:
        inner = _entry(here, folder)
        if inner is None or not inner.is_dir():
            return None
        here = inner
    found = _entry(here, name)
    suffix = f".{name.rpartition('.')[2]}"
    if found is None or suffix not in TYPES or not found.is_file():
        return None
    data = found.read_bytes()
    return StaticFile(data, TYPES[suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"')


@lru_cache(maxsize=1)
def _root() -> Traversable:
    return files("priompt_py.web") / "static"


def _entry(folder: Traversable, name: str) -> Traversable | None:
    if not name or name.startswith("."):
        return None
    return next((one for one in folder.iterdir() if one.name == name), None)
