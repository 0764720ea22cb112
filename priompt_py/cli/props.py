"""Props from the command line: ``--props`` and ``--set``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from priompt_py.cli.faults import Fault
from priompt_py.cli.files import STDIN, name_of, read_text
from priompt_py.cli.streams import argument_text, shown
from priompt_py.model.strict_json import JsonFault, parse_json
from priompt_py.model.strict_yaml import YamlFault, parse_yaml
from priompt_py.model.values import short_repr
from priompt_py.preview.names import is_name

__all__ = ["is_named", "read_props"]


def is_named(option: str | None) -> bool:
    """Whether ``--props`` is the name of an example or a dump."""
    return option is not None and is_name(option) and Path(option).suffix.lower() not in _READERS


def read_props(
    props: str | None, settings: Sequence[str], named: Callable[[str], Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The props that ``--props`` and then each ``--set`` give; ``named`` gives those of a name. Raises Fault."""
    found = {} if props is None else _props_option(props, named)
    for setting in settings:
        _set(found, argument_text(setting))
    return found


def _props_option(option: str, named: Callable[[str], Mapping[str, Any]] | None) -> dict[str, Any]:
    if option.lstrip().startswith("{"):
        return _mapping(_parse_json(argument_text(option), "--props"), "--props")
    if option == STDIN:
        return _mapping(_parse_json(read_text(option), name_of(option)), name_of(option))
    if named is not None and is_named(option):
        return dict(named(option))
    reader = _READERS.get(Path(option).suffix.lower())
    if reader is None:
        raise Fault(
            "--props needs JSON that begins with {, a .json or .yaml file, the name of an example or dump, or -, "
            f"got {short_repr(shown(option))}"
        )
    return _mapping(reader(read_text(option), name_of(option)), name_of(option))


def _mapping(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault(f"props are an object with a name for each value, got {_kind(value)}", place=place)
    for key in cast("dict[object, Any]", value):  # YAML has keys of any type
        if not isinstance(key, str):
            raise Fault(f"props have names, got the key {key!r}", place=place)
    return cast("dict[str, Any]", value)


def _set(props: dict[str, Any], setting: str) -> None:
    """Set one prop, ``a.b=v``, in place."""
    name, equals, text = setting.partition("=")
    if not equals:
        raise Fault(f"--set needs NAME=VALUE, got {setting!r}")
    *outer, last = name.split(".")
    if not all((*outer, last)):
        raise Fault(f"--set needs a name before '=' and between dots, got {setting!r}")
    here = props
    for depth, key in enumerate(outer, 1):
        inner: object = here.setdefault(key, {})
        if not isinstance(inner, dict):
            raise Fault(f"--set {name}: {'.'.join(outer[:depth])} is {_kind(inner)}, not an object")
        here = cast("dict[str, Any]", inner)
    try:
        here[last] = parse_json(text)
    except (JsonFault, RecursionError):
        here[last] = text


# ------------------------------------------------------------------------------------------ parsing


def _parse_json(text: str, place: str) -> Any:
    try:
        return parse_json(text)
    except JsonFault as error:
        raise Fault(f"not JSON: {error.message}", place=f"{place}:{error.line}:{error.column}") from None
    except RecursionError:
        raise Fault("nested too deeply", place=place) from None


def _parse_yaml(text: str, place: str) -> Any:
    try:
        return parse_yaml(text)
    except YamlFault as error:
        raise Fault(f"not YAML: {error.message}", place=f"{place}:{error.line}:{error.column}") from None
    except RecursionError:
        raise Fault("nested too deeply", place=place) from None


_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")


_READERS: dict[str, Callable[[str, str], Any]] = {
    ".json": _parse_json,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
}
"""How files of props are read, by their suffix."""
