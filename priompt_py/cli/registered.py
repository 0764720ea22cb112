"""Registered ids as sources: which modules are imported to look for them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.cli.faults import Fault, near, prompt_code, shown_path
from priompt_py.cli.streams import shown
from priompt_py.preview.json_kinds import is_array, is_object

if TYPE_CHECKING:
    from priompt_py.preview.registry import RegisteredPrompt

__all__ = ["VARIABLE", "ModulesOfPrompts", "find_registered", "modules_of_prompts"]

VARIABLE = "PRIOMPT_MODULES"
"""The environment variable with the modules that register prompts, with commas or blanks between them."""

_SETTINGS = "pyproject.toml"


@attrs.frozen
class ModulesOfPrompts:
    """Modules and files that register prompts, who names them, and the folder that they are looked for in."""

    names: tuple[str, ...]
    said_by: str
    folder: Path


def modules_of_prompts(option: Sequence[str]) -> ModulesOfPrompts:
    """The modules to import: those of ``--module``, else of PRIOMPT_MODULES, else of the nearest pyproject.toml.

    Raises Fault for settings that can't be read.
    """
    if option:
        return ModulesOfPrompts(tuple(option), "--module", Path())
    named = os.environ.get(VARIABLE)
    if named is not None:
        return ModulesOfPrompts(tuple(filter(None, re.split(r"[,\s]+", named))), VARIABLE, Path())
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / _SETTINGS).is_file():
            return _of_settings(folder)
    return ModulesOfPrompts((), _SETTINGS, Path())


def _of_settings(folder: Path) -> ModulesOfPrompts:
    import tomllib

    file = folder / _SETTINGS
    place = shown_path(str(file))
    try:
        settings: object = tomllib.loads(file.read_bytes().decode("utf-8"))
    except (OSError, ValueError) as error:
        raise Fault(f"can't be read: {error}", place=place) from None
    for key in ("tool", "priompt"):
        settings = settings.get(key, {}) if is_object(settings) else {}
    names: object = settings.get("modules", []) if is_object(settings) else []
    if not is_array(names) or not all(isinstance(name, str) for name in names):
        raise Fault(
            f"modules of [tool.priompt] is a list of modules and .py files, got {names!r}", place=place
        )
    return ModulesOfPrompts(tuple(names), place, folder)


def find_registered(
    prompt_id: str, modules: ModulesOfPrompts, load: Callable[[str, Path], Any]
) -> RegisteredPrompt | None:
    """The prompt of an id, after ``load`` has loaded the modules.

    None where no modules are named, and for what is a file rather than an id. Raises Fault.
    """
    from priompt_py.preview.registry import registered_prompts

    for name in modules.names:
        with prompt_code(shown(name)):
            try:
                load(name, modules.folder)
            except Fault as fault:
                said = f"{fault.message} (named by {modules.said_by})"
                raise Fault(said, place=fault.place, code=fault.code) from None
    known = registered_prompts()
    if prompt_id in known:
        return known[prompt_id]
    if not modules.names or Path(prompt_id).exists():
        return None
    there = f"they register {', '.join(sorted(known))}" if known else "they register none"
    raise Fault(
        f"no prompt is registered as {prompt_id!r} by {', '.join(map(shown, modules.names))} (named by "
        f"{modules.said_by}){near(prompt_id, known)}; {there}"
    )
