"""``.priompt`` files as sources, and finding them below folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priompt_py.cli.faults import Fault, near, prompt_code
from priompt_py.cli.files import STDIN, name_of, read_text
from priompt_py.cli.sources import Source
from priompt_py.cli.streams import shown

if TYPE_CHECKING:
    from priompt_py.template.environment import Template

__all__ = ["SUFFIX", "find_files", "load_source_of_template"]

SUFFIX = ".priompt"


def load_source_of_template(file: str) -> Source:
    """The template of a file as a prompt. Raises Fault."""
    read_text(file)  # says what is wrong with a file that can't be read
    from priompt_py.template.environment import load_template

    name = shown(file)
    with prompt_code(name):
        template = load_template(file)

    def build(props: Mapping[str, Any]) -> Any:
        _check_props(name, template, props)
        return template(**props)

    return Source(name, build, token_limit=template.token_limit, tokenizer=template.front_matter.tokenizer)


def _check_props(name: str, template: Template, props: Mapping[str, Any]) -> None:
    """Say which props are missing or unknown, as for a function."""
    declared = template.front_matter.props
    if declared is None:
        return
    names = [prop.name for prop in declared]
    for given in props:
        if given not in names:
            takes = f"it takes {', '.join(names)}" if names else "it takes none"
            raise Fault(f"no prop {given!r}{near(given, names)}; {takes}", place=name)
    missing = [prop.name for prop in declared if prop.required and prop.name not in props]
    if missing:
        what = f"the prop {missing[0]}" if len(missing) == 1 else f"the props {', '.join(missing)}"
        raise Fault(f"needs {what}: give --set {missing[0]}=VALUE or --props", place=name)


def find_files(paths: Sequence[str]) -> list[str]:
    """The templates below folders, and what is no folder as it is. Raises Fault for what isn't there."""
    found: dict[str, None] = {}
    for path in paths:
        if path == STDIN or not Path(path).is_dir():
            found[path] = None
            continue
        inside = sorted(str(one) for one in Path(path).rglob(f"*{SUFFIX}") if one.is_file())
        if not inside:
            raise Fault(f"there is no {SUFFIX} file below this folder", place=name_of(path))
        found.update(dict.fromkeys(inside))
    return list(found)
