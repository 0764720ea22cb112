"""``.priompt`` files as sources, and finding them below folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priompt_py.cli.faults import Fault, near, prompt_code
from priompt_py.cli.files import STDIN, name_of, read_text
from priompt_py.cli.sources import Source, dump_of, typed_props
from priompt_py.cli.streams import shown
from priompt_py.preview.no_return import ON_RETURN

if TYPE_CHECKING:
    from priompt_py.preview.registry import RegisteredPrompt
    from priompt_py.template.environment import Template

__all__ = ["SUFFIX", "find_files", "load_source_of_template", "source_of_template"]

SUFFIX = ".priompt"


def load_source_of_template(file: str) -> Source:
    """The template of a file as a prompt. Raises Fault."""
    read_text(file)  # says what is wrong with a file that can't be read
    from priompt_py.preview.registry import described
    from priompt_py.template.environment import load_template

    name = shown(file)
    with prompt_code(name):
        template = load_template(file)
    return source_of_template(name, described(template))


def source_of_template(name: str, entry: RegisteredPrompt) -> Source:
    """A template, registered or not, as a prompt that messages call ``name``."""
    template: Template = entry.original

    def build(props: Mapping[str, Any]) -> Any:
        given = entry.hydrated(props)
        children = entry.takes_children
        _check_props(name, template, {key: value for key, value in given.items() if key != children})
        return entry.call(typed_props(name, entry, given))

    def props_named(example: str) -> Mapping[str, Any]:
        examples = template.front_matter.examples
        if example in examples or not entry.id:
            return example_of(name, examples, example)
        return dump_of(name, entry, example)

    limit = template.token_limit if entry.token_limit is None else entry.token_limit
    return Source(
        name,
        build,
        token_limit=limit,
        tokenizer=template.front_matter.tokenizer,
        props_named=props_named,
        entry=entry,
    )


def example_of(name: str, examples: Mapping[str, Mapping[str, Any]], example: str) -> Mapping[str, Any]:
    """The props of an example in the front matter. Raises Fault."""
    if example in examples:
        return examples[example]
    there = f"; there are {', '.join(examples)}" if examples else "; its front matter has no examples"
    raise Fault(f"no example {example!r}{near(example, examples)}{there}", place=name)


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
    missing = [prop.name for prop in declared if prop.required and prop.name not in (ON_RETURN, *props)]
    if missing:
        what = f"the prop {missing[0]}" if len(missing) == 1 else f"the props {', '.join(missing)}"
        raise Fault(f"needs {what}: give --set {missing[0]}=VALUE or --props", place=name)


def find_files(paths: Sequence[str]) -> list[str]:
    """The templates below folders, and what is no folder as it is. Raises Fault for what isn't there."""
    found: dict[str, None] = {}
    for path in paths:
        if not path:  # a variable that is not set, and not the working folder with all that is in it
            raise Fault("PATH... needs names of files or folders, got ''")
        if path == STDIN or not Path(path).is_dir():
            found[path] = None
            continue
        inside = sorted(str(one) for one in Path(path).rglob(f"*{SUFFIX}") if one.is_file())
        if not inside:
            raise Fault(f"there is no {SUFFIX} file below this folder", place=name_of(path))
        found.update(dict.fromkeys(inside))
    return list(found)
