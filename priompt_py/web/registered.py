"""The prompts that are registered in this process, or were given by name, as a catalogue."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from priompt_py.errors import ArgumentTypeError, SourceError
from priompt_py.model.elements import Element
from priompt_py.preview.names import is_name
from priompt_py.preview.no_return import ON_RETURN
from priompt_py.preview.registry import (
    RegisteredPrompt,
    described,
    is_template,
    registered_as,
    registered_prompts,
)
from priompt_py.web.catalogue import Example, Served, served_entry

__all__ = ["RegisteredPrompts", "examples_of", "served_node"]


class RegisteredPrompts:
    """Prompts by name: those that were given, else all that are registered when somebody asks."""

    def __init__(self, prompts: Mapping[str, Any] | None = None) -> None:
        self._given = None if prompts is None else {name: _served(name, one) for name, one in prompts.items()}

    def all(self) -> Sequence[Served]:
        """All of them, in order."""
        if self._given is not None:
            return [*self._given.values()]
        return [_of_entry(entry.id, entry) for entry in registered_prompts().values()]

    def get(self, prompt_id: str) -> Served | None:
        """The one of this name."""
        if self._given is not None:
            return self._given.get(prompt_id)
        entry = registered_prompts().get(prompt_id)
        return None if entry is None else _of_entry(prompt_id, entry)

    def folders(self) -> Sequence[str]:
        """The folders of their dumps."""
        return [folder for one in self.all() for folder in one.folders]


def _served(name: str, prompt: Any) -> Served:
    if isinstance(prompt, Element) or not callable(prompt):
        return served_node(name, prompt, kind="node")
    if isinstance(prompt, type):
        raise ArgumentTypeError(f"preview_app() needs prompts, got the class {prompt.__name__} for {name!r}")
    return _of_entry(name, registered_as(prompt) or described(prompt))


def served_node(name: str, node: Any, *, kind: str) -> Served:
    """A tree, which takes no props."""

    def build(props: Mapping[str, Any]) -> Any:
        if props:
            raise ArgumentTypeError(f"{name} is a {kind}, which takes no props; got {', '.join(props)}")
        return node

    return Served(id=name, title=name, kind=kind, build=build, named=_no_names(name))


def _of_entry(name: str, entry: RegisteredPrompt) -> Served:
    def build(props: Mapping[str, Any]) -> Any:
        given = entry.hydrated(props)
        _check_names(name, told["props"], {*given} - {entry.takes_children, ON_RETURN})
        return entry.call(entry.typed(given))

    limit = entry.token_limit
    if limit is None:
        own: object = getattr(entry.original, "token_limit", None)
        limit = own if type(own) is int else None
    served = served_entry(entry)
    told = {"props": served.props}
    return attrs.evolve(
        served,
        id=name,
        title=name,
        build=build,
        token_limit=limit,
        tokenizer=entry.original.front_matter.tokenizer if is_template(entry.original) else None,
        examples=lambda: examples_of(entry),
        named=partial(props_of, entry),
    )


def _check_names(name: str, props: Sequence[Mapping[str, Any]] | None, given: set[Any]) -> None:
    """Say which props are missing or unknown. Raises ArgumentTypeError."""
    if props is None:
        return
    names = [prop["name"] for prop in props]
    for one in sorted(given):
        if one not in names:
            near = difflib.get_close_matches(one, names, n=1)
            takes = f"did you mean {near[0]}?" if near else f"it takes {', '.join(names) or 'none'}"
            raise ArgumentTypeError(f"{name} takes no prop {one!r}; {takes}")
    missing = [prop["name"] for prop in props if prop["required"] and prop["name"] not in given]
    if missing:
        what = "the prop" if len(missing) == 1 else "the props"
        raise ArgumentTypeError(f"{name} needs {what} {', '.join(missing)}")


# ------------------------------------------------------------------------------------------ examples


def examples_of(entry: RegisteredPrompt) -> list[Example]:
    """The examples of a template's front matter, then those of the folder, then dumps, the newest first.
    Raises SourceError."""
    own = [Example(name, is_example=True) for name in _front_matter(entry)]
    dumps = [
        Example(dump.name, dump.is_example, dump.size, dump.modified)
        for dump in (entry.dumps() if entry.id else ())
    ]
    return [*own, *dumps]


def props_of(entry: RegisteredPrompt, name: str) -> Mapping[str, Any]:
    """The props of an example or a dump. Raises SourceError."""
    own = _front_matter(entry)
    if name in own:
        return own[name]
    if not entry.id or not is_name(name):
        raise SourceError(f"there is no example or dump {name!r}")
    return entry.read(name)


def _front_matter(entry: RegisteredPrompt) -> Mapping[str, Mapping[str, Any]]:
    if not is_template(entry.original):
        return {}
    examples: Mapping[str, Mapping[str, Any]] = entry.original.front_matter.examples
    return examples


def _no_names(name: str) -> Callable[[str], Mapping[str, Any]]:
    def refuse(example: str) -> Mapping[str, Any]:
        raise SourceError(f"{name} has no examples, got {example!r}")

    return refuse
