"""``SOURCE``: where a prompt comes from, and how its node is made from props.

A source is a template (a ``.priompt`` file), a JSON tree (a ``.json`` file, or ``-`` for standard input), a name in a
module (``package.module:prompt``) or in a file (``file.py:prompt``), the id of a registered prompt, or a file whose
suffix has a loader (:func:`register_loader`).
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from priompt_py.cli.faults import FAILED, Fault, near, prompt_code
from priompt_py.cli.files import STDIN, name_of, read_text
from priompt_py.cli.registered import VARIABLE, find_registered, modules_of_prompts
from priompt_py.cli.streams import shown
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, SourceError
from priompt_py.preview.names import is_id
from priompt_py.preview.no_return import ON_RETURN
from priompt_py.preview.recording import without_dumps
from priompt_py.preview.registry import described, is_template, registered_as, registered_prompts

if TYPE_CHECKING:
    from priompt_py.preview.registry import RegisteredPrompt

__all__ = [
    "Build",
    "Loader",
    "PropsNamed",
    "Source",
    "dump_of",
    "importable",
    "load_module",
    "load_source",
    "register_loader",
    "typed_props",
]

Build: TypeAlias = "Callable[[Mapping[str, Any]], Any]"
"""Makes a prompt's node from its props; raises Fault for props that it doesn't take."""


class Source:
    """A prompt that was found: ``name`` is what messages call it, ``build`` makes its node from props.

    ``token_limit`` is the prompt's own limit, in tokens, if it has one, ``tokenizer`` the name of its own tokenizer.
    ``props_named`` gives the props of an example or a dump by its name; raises Fault. ``entry`` describes it where it
    is a function, a component or a template.
    """

    def __init__(
        self,
        name: str,
        build: Build,
        *,
        token_limit: int | None = None,
        tokenizer: str | None = None,
        props_named: PropsNamed | None = None,
        entry: RegisteredPrompt | None = None,
    ) -> None:
        self.name = name
        self.build = build
        self.token_limit = token_limit
        self.tokenizer = tokenizer
        self.entry = entry
        self.props_named: PropsNamed = props_named or self._no_names

    def _no_names(self, name: str) -> Mapping[str, Any]:
        raise Fault(
            f"only templates and registered prompts have examples, got --props {name}", place=self.name
        )


PropsNamed: TypeAlias = "Callable[[str], Mapping[str, Any]]"
"""Gives the props of an example or a dump by its name; raises Fault."""

Loader: TypeAlias = "Callable[[str], Source]"
"""Loads the file of this name."""

_loaders: dict[str, Loader] = {}


def register_loader(suffix: str, loader: Loader) -> None:
    """Let ``loader`` load the files whose names end in ``suffix`` (``".priompt"``)."""
    _loaders[suffix] = loader


def load_source(source: str, modules: Sequence[str] = ()) -> Source:
    """Find the prompt that ``source`` names; ``modules`` register it where it is an id. Raises Fault."""
    if source == STDIN:
        return _load_json(source)
    loader = _loaders.get(Path(source).suffix.lower())
    if loader is not None:
        return loader(source)
    place, colon, name = source.rpartition(":")
    if colon and place.endswith(".py"):
        return _load_object(shown(source), name, lambda: _run_file(place))
    if colon and all(part.isidentifier() for part in place.split(".")):
        return _load_object(source, name, lambda: _import(place))
    if source.endswith(".py"):
        raise Fault(f"say which prompt in it: {shown(source)}:NAME{_names_in(source)}")
    if is_id(source):
        entry = find_registered(source, modules_of_prompts(modules), load_module)
        if entry is not None:
            return _of_entry(source, entry)
    forms = ", ".join(
        [
            "package.module:prompt",
            "file.py:prompt",
            *(f"a {suffix} file" for suffix in sorted(_loaders)),
            f"an id that modules of --module or {VARIABLE} register",
        ]
    )
    if Path(source).exists():
        raise Fault(f"not a prompt source: {shown(source)!r}; it is one of {forms}, or - for a JSON tree")
    raise Fault(f"no such prompt source: {shown(source)!r}; it is one of {forms}, or - for a JSON tree")


# ------------------------------------------------------------------------------------------ JSON trees


def _load_json(file: str) -> Source:
    name = name_of(file)
    text = read_text(file)
    from priompt_py.author.json_form import from_json_text
    from priompt_py.errors import JsonFormError

    try:
        node = from_json_text(text)
    except JsonFormError as error:
        place, message = name, str(error)
        line, column = getattr(error, "line", None), getattr(error, "column", None)
        if line is not None:  # no JSON at all
            place = f"{name}:{line}:{column}"
            message = message.removeprefix(f"line {line}, column {column}: ")
        raise Fault(message, place=place, code=FAILED) from error
    return Source(name, lambda props: _without_props(node, props, f"{name} is a JSON tree"))


def _without_props(node: Any, props: Mapping[str, Any], why: str) -> Any:
    if props:
        raise Fault(f"takes no props: {why}; got {', '.join(props)}")
    return node


def _load_template(file: str) -> Source:
    from priompt_py.cli.templates import load_source_of_template

    return load_source_of_template(file)


register_loader(".json", _load_json)
register_loader(".priompt", _load_template)


# ------------------------------------------------------------------------------------------ Python


@contextlib.contextmanager
def importable(source: str, modules: Sequence[str] = ()) -> Generator[None]:
    """Meanwhile let Python find modules beside ``source``: in its file's folder, or in the working folder.

    For an id also in the folder whose settings name the modules. No dumps are written meanwhile: a replay is no run.
    """
    file = source.rpartition(":")[0]
    folders = [Path(file).parent if file.endswith(".py") else Path()]
    if is_id(source):
        folders.append(modules_of_prompts(modules).folder)
    entries = list(dict.fromkeys(str(folder.absolute()) for folder in folders))
    sys.path[:0] = entries
    try:
        with without_dumps():
            yield
    finally:
        for entry in entries:
            with contextlib.suppress(ValueError):
                sys.path.remove(entry)


def load_module(name: str, folder: Path) -> Any:
    """The module of a dotted name, or of a ``.py`` file below ``folder``. Raises Fault."""
    return _run_file(str(folder / name)) if name.endswith(".py") else _import(name)


def _run_file(file: str) -> Any:
    """The module that a Python file makes; its ``__name__`` is not ``__main__``."""
    from importlib.util import module_from_spec, spec_from_file_location

    if not Path(file).is_file():
        read_text(file)  # says what is wrong
    module_name = f"_priompt_source_{Path(file).stem}"
    spec = spec_from_file_location(module_name, Path(file).absolute())
    assert spec is not None, file  # the suffix is .py
    assert spec.loader is not None, file
    module = module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickle look there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise Fault(f"no module named {error.name!r} here or where Python looks") from None
        raise


def _load_object(source: str, path: str, load: Callable[[], Any]) -> Source:
    """The prompt at ``path`` (``name``, or ``name.attribute``) in the module that ``load`` gives."""
    with prompt_code(source):
        found = load()
        module = found
        for name in path.split("."):
            if not hasattr(found, name):
                entry = registered_prompts().get(path)
                if entry is not None and getattr(entry.original, "__module__", None) == module.__name__:
                    return _of_entry(source, entry)
                raise Fault(
                    f"no {name!r} in it{near(name, [one for one in dir(found) if not one.startswith('_')])}",
                    place=source,
                )
            found = getattr(found, name)
        return _of_object(source, found)


def _of_object(source: str, found: Any) -> Source:
    from priompt_py.model.elements import Element

    if isinstance(found, Element) or not callable(found):
        return Source(
            source, lambda props: _without_props(found, props, f"{source} is a node, not a function")
        )
    if isinstance(found, type):
        raise Fault(f"is a class; a prompt is a function or a node, got {found.__qualname__}", place=source)
    return _of_entry(source, registered_as(found) or described(found))


def _of_entry(source: str, entry: RegisteredPrompt) -> Source:
    """A function, component or template, registered or not, as a prompt that messages call ``source``."""
    if is_template(entry.original):
        from priompt_py.cli.templates import source_of_template

        return source_of_template(source, entry)

    def build(props: Mapping[str, Any]) -> Any:
        given = entry.hydrated(props)
        _check_props(source, entry, given)
        return entry.call(typed_props(source, entry, given))

    limit = _own_limit(source, getattr(entry.function, "token_limit", None))
    return Source(
        source,
        build,
        token_limit=limit if entry.token_limit is None else entry.token_limit,
        props_named=(lambda name: dump_of(source, entry, name)) if entry.id else None,
        entry=entry,
    )


def typed_props(source: str, entry: RegisteredPrompt, props: Mapping[str, Any]) -> dict[str, Any]:
    """Props of the types that the prompt's annotations say. Raises Fault."""
    try:
        return entry.typed(props)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise Fault(f"the prop {error}", place=source) from None


def dump_of(source: str, entry: RegisteredPrompt, name: str) -> Mapping[str, Any]:
    """The props of an example or dump of a registered prompt. Raises Fault."""
    try:
        return entry.read(name)
    except SourceError as error:
        raise Fault(str(error), place=source) from None


def _own_limit(source: str, limit: object) -> int | None:
    if limit is None or (type(limit) is int and limit >= 0):
        return limit
    raise Fault(
        f"its token_limit must be a whole number, 0 or more, got {limit!r}", place=source, code=FAILED
    )


def _check_props(source: str, entry: RegisteredPrompt, props: Mapping[str, Any]) -> None:
    """Say which props are missing or unknown, before the function is called."""
    children = entry.takes_children
    parameters = [one for one in entry.recorder.signature.parameters.values() if one.name != children]
    for parameter in parameters:
        if (
            parameter.kind is inspect.Parameter.POSITIONAL_ONLY
            and parameter.default is inspect.Parameter.empty
        ):
            raise Fault(
                f"props are given by name, and its parameter {parameter.name!r} can't be", place=source
            )
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    named = {
        parameter.name: parameter.default is inspect.Parameter.empty
        for parameter in parameters
        if parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    }
    for name in props:
        if name not in named and not takes_any and name != children:
            takes = f"it takes {', '.join(named)}" if named else "it takes none"
            raise Fault(f"no prop {name!r}{near(name, named)}; {takes}", place=source)
    missing = [name for name, required in named.items() if required and name not in (ON_RETURN, *props)]
    if missing:
        what = f"the prop {missing[0]}" if len(missing) == 1 else f"the props {', '.join(missing)}"
        raise Fault(f"needs {what}: give --set {missing[0]}=VALUE or --props", place=source)


def _names_in(file: str) -> str:
    """The functions and values at the top of a Python file, for a message; nothing where it can't be read."""
    import ast

    try:
        body = ast.parse(read_text(file)).body
    except (Fault, SyntaxError, ValueError, RecursionError):
        return ""
    names = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    public = [name for name in names if not name.startswith("_")]
    return f" (it has {', '.join(public)})" if public else ""
