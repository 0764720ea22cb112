"""The sources of ``priompt serve`` as a catalogue: made in each process that runs prompts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from priompt_py.cli.faults import Fault, prompt_code
from priompt_py.cli.files import STDIN
from priompt_py.cli.registered import modules_of_prompts
from priompt_py.cli.sources import Source, load_module, load_source
from priompt_py.cli.streams import shown
from priompt_py.errors import SourceError
from priompt_py.preview.names import is_id
from priompt_py.preview.registry import registered_prompts
from priompt_py.web.catalogue import Broken, Served, served_entry
from priompt_py.web.registered import examples_of

__all__ = ["MOST_FOUND", "SourcesServed", "sources_served", "templates_below"]

MOST_FOUND = 500
"""Templates that are shown of a folder; ten times as many folders are looked into."""

_SUFFIX = ".priompt"
_PASSED_OVER = {"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"}
"""Folders that hold nobody's own prompts; those whose names begin with a dot are passed over too."""


def sources_served(argument: Mapping[str, Any]) -> SourcesServed:
    """The catalogue of ``{"sources": [...], "modules": [...]}``; runs in a process of its own."""
    return SourcesServed(argument["sources"], argument["modules"])


class SourcesServed:
    """What ``priompt serve SOURCE...`` shows; without sources what the modules register, and the templates below the
    working folder."""

    def __init__(self, sources: Sequence[str], modules: Sequence[str]) -> None:
        self._sources = list(sources)
        self._modules = list(modules)
        self._loaded: dict[str, Served | Broken] = {}
        self._folders: list[str] = []
        self._registering: Broken | None = None
        self._has_modules = False

    def all(self) -> Sequence[Served | Broken]:
        """All of them: sources in their order, folders' templates by name, then what is registered."""
        found: list[Served | Broken] = []
        self._folders = []
        for source in self._sources or ["."]:
            if Path(source).is_dir():
                found += [self._one(file) for file in self._templates(source)]
            else:
                self._folders.append(str(_file_of(source).absolute().parent))
                found.append(self._one(source))
        if not self._sources or self._modules:
            self._import_modules()
            if self._registering is not None:
                found.append(self._registering)
            there = {one.id for one in found}
            found += [self._one(prompt_id) for prompt_id in registered_prompts() if prompt_id not in there]
        return found

    def get(self, prompt_id: str) -> Served | None:
        """The one that is shown under an id. Raises what its source raises, and what the modules do that could have
        registered it."""
        found = self._loaded.get(prompt_id)
        if found is None:
            found = next((one for one in self.all() if one.id == prompt_id), None)
        if found is None:
            found = self._registering
        if isinstance(found, Broken):
            raise found.error
        return found

    def folders(self) -> Sequence[str]:
        """Those that were looked into, and those of dumps."""
        dumps = [folder for one in self._loaded.values() if isinstance(one, Served) for folder in one.folders]
        return [*dict.fromkeys([*self._folders, *dumps])]

    # -- steps --------------------------------------------------------------------------------

    def _one(self, source: str) -> Served | Broken:
        """The prompt of one source, loaded once; what couldn't be loaded is tried again, since a file may have appeared."""
        if not isinstance(self._loaded.get(source), Served):
            try:
                self._make_importable(source)
                self._loaded[source] = served(load_source(source, self._modules))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - of anybody's module; the others are shown
                self._loaded[source] = Broken(shown(source), error)
        return self._loaded[source]

    def _import_modules(self) -> None:
        """Import what registers prompts, once."""
        if self._has_modules:
            return
        self._has_modules = True
        try:
            modules = modules_of_prompts(self._modules)
            _add_to_path(modules.folder)
            for name in modules.names:
                with prompt_code(shown(name)):
                    load_module(name, modules.folder)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
            self._registering = Broken("modules", error)

    def _make_importable(self, source: str) -> None:
        """Let Python find modules beside a source, as other commands do; for good, since components run later."""
        file = source.rpartition(":")[0]
        _add_to_path(Path(file).parent if file.endswith(".py") else Path())
        if is_id(source):
            _add_to_path(modules_of_prompts(self._modules).folder)

    def _templates(self, folder: str) -> list[str]:
        files, folders = templates_below(folder)
        self._folders += folders
        return files


def _add_to_path(folder: Path) -> None:
    entry = str(folder.absolute())
    if entry not in sys.path:
        sys.path.insert(0, entry)


def _file_of(source: str) -> Path:
    place, colon, _ = source.rpartition(":")
    return Path(place if colon and place.endswith(".py") else source)


def templates_below(folder: str) -> tuple[list[str], list[str]]:
    """The templates below a folder as they are written from here, sorted, and the folders that hold them, itself first."""
    files: list[str] = []
    folders = [str(Path(folder).absolute())]
    for looked, (here, inner, names) in enumerate(os.walk(folder), 1):
        inner[:] = sorted(
            name
            for name in inner
            if not name.startswith(".") and name not in _PASSED_OVER and not _is_venv(here, name)
        )
        found = [str(Path(here) / name) for name in sorted(names) if name.endswith(_SUFFIX)]
        files += found
        if found:
            folders.append(str(Path(here).absolute()))
        if len(files) >= MOST_FOUND or looked >= 10 * MOST_FOUND:
            break
    return files[:MOST_FOUND], folders


def _is_venv(here: str, name: str) -> bool:
    return (Path(here) / name / "pyvenv.cfg").is_file()


def served(source: Source) -> Served:
    """A source as the page shows it."""
    if source.name == STDIN:
        raise SourceError("standard input can't be served: it can be read only once")
    entry = source.entry
    told: dict[str, Any] = {
        "id": source.name,
        "title": source.name,
        "build": _built(source),
        "token_limit": source.token_limit,
        "tokenizer": source.tokenizer,
        "named": source.props_named,
    }
    if entry is None:
        kind = "tree" if source.name.endswith(".json") else "node"
        return Served(**told, kind=kind)
    return served_entry(entry, **told, examples=lambda: examples_of(entry))


def _built(source: Source) -> Callable[[Mapping[str, Any]], Any]:
    """What makes the node of a source; messages don't speak of options, which a page doesn't have."""

    def build(props: Mapping[str, Any]) -> Any:
        try:
            return source.build(props)
        except Fault as fault:
            fault.message = fault.message.partition(": give --set ")[0]
            raise

    return build
