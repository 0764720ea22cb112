"""The prompts that a preview shows: what each needs to be listed, compiled and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from priompt_py.preview.no_return import ON_RETURN
from priompt_py.preview.registry import RegisteredPrompt, is_template
from priompt_py.web.answers import as_json

__all__ = ["Broken", "Catalogue", "Example", "Served", "served_entry"]


@attrs.frozen
class Example:
    """Props that have a name: an example of a template, or a dump. ``size`` is in bytes, ``modified`` in seconds since
    1970; None where it is no file."""

    name: str
    is_example: bool
    size: int | None = None
    modified: float | None = None


@attrs.frozen(kw_only=True, eq=False)
class Served:
    """A prompt that can be shown.

    ``props`` are the parameters as the page gets them, None where any will do. ``build`` makes the node of props in
    their JSON form, ``named`` gives the props of an example; both may raise anything. ``folders`` are those in which
    examples may appear.
    """

    id: str
    title: str
    kind: str
    build: Callable[[Mapping[str, Any]], Any]
    place: str | None = None
    token_limit: int | None = None
    tokenizer: str | None = None
    props: Sequence[Mapping[str, Any]] | None = ()
    takes_children: bool = False
    takes_return: bool = False
    examples: Callable[[], Sequence[Example]] = tuple
    named: Callable[[str], Mapping[str, Any]]
    folders: Sequence[str] = ()


@attrs.frozen(eq=False)
class Broken:
    """A source that can't be loaded, and why."""

    id: str
    error: BaseException


class Catalogue(Protocol):
    """Where prompts come from. Used from one thread at a time."""

    def all(self) -> Sequence[Served | Broken]:
        """The prompts in the order in which they are shown."""
        ...

    def get(self, prompt_id: str) -> Served | None:
        """The prompt of an id; None where there is none. Raises what its source raises."""
        ...

    def folders(self) -> Sequence[str]:
        """Folders in which prompts or dumps may appear: the list is made anew when they change."""
        ...


def served_entry(entry: RegisteredPrompt, **told: Any) -> Served:
    """A function, component or template, registered or not; ``told`` are fields of Served that say it otherwise."""
    from priompt_py.preview.no_return import takes_return

    fields: dict[str, Any] = {
        "build": entry.build,
        "named": entry.read,
        "id": entry.id,
        "title": entry.id,
        "kind": _kind(entry),
        "place": entry.place,
        "token_limit": entry.token_limit,
        "props": _props(entry),
        "takes_children": entry.takes_children is not None,
        "takes_return": takes_return(entry.original),
        "folders": _folders(entry),
    }
    return Served(**{**fields, **told})


def _folders(entry: RegisteredPrompt) -> list[str]:
    folder = entry.dumps_folder if entry.id else None
    return [] if folder is None else [str(folder / entry.id), str(folder / entry.id / "dumps")]


def _kind(entry: RegisteredPrompt) -> str:
    from priompt_py.author.component import Component

    if is_template(entry.original):
        return "template"
    return "component" if isinstance(entry.original, Component) else "function"


def _props(entry: RegisteredPrompt) -> list[dict[str, Any]] | None:
    """The parameters as the page gets them; None where any props will do."""
    if is_template(entry.original):
        declared = entry.original.front_matter.props
        if declared is None:
            return None
        return [
            {
                "name": prop.name,
                "required": prop.required,
                "type": f"{prop.type}{'?' if prop.optional else ''}",
            }
            for prop in declared
            if prop.name != ON_RETURN
        ]
    found: list[dict[str, Any]] = []
    for parameter in entry.recorder.signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            return None
        if parameter.name in (ON_RETURN, entry.takes_children) or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        required = parameter.default is parameter.empty
        prop: dict[str, Any] = {
            "name": parameter.name,
            "required": required,
            "type": _type(parameter.annotation),
        }
        if not required:
            prop |= {"default": shown["json"]} if "json" in (shown := as_json(parameter.default)) else {}
        found.append(prop)
    return found


def _type(annotation: Any) -> str | None:
    """An annotation as it was written, about."""
    import inspect

    if annotation is inspect.Parameter.empty:
        return None
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
