"""Props: what a template takes, checked when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from priompt_py.author.children import a_type, is_mapping
from priompt_py.model.values import short_repr
from priompt_py.template.bounds import Bounds
from priompt_py.template.declared_props import Prop
from priompt_py.template.evaluate import Run, compile_expression
from priompt_py.template.fitting import needs_props, takes_no_prop

__all__ = ["Check", "props_checker"]

Check = Callable[[Mapping[str, Any], Callable[[str, str | None], Exception]], dict[str, Any]]
"""Gives all props with their defaults; the second argument makes an error of a message and the prop's name."""


def props_checker(owner: str, props: tuple[Prop, ...] | None) -> Check:
    """The check of the props of ``owner``; ``None`` takes any."""
    if props is None:
        return lambda given, _error: dict(given)
    declared = {prop.name: prop for prop in props}
    defaults = {prop.name: compile_expression(prop.default) for prop in props if prop.default is not None}

    def check(given: Mapping[str, Any], error: Callable[[str, str | None], Exception]) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for name in given:
            if name not in declared:
                raise error(takes_no_prop(owner, name, list(declared)), name)
        missing = [prop.name for prop in props if prop.required and prop.name not in given]
        if missing:
            raise error(needs_props(owner, missing), None)
        for prop in props:
            if prop.name in given:
                value = given[prop.name]
                if not _fits(prop, value):
                    wants = f"{prop.type} or None" if prop.optional else prop.type
                    raise error(
                        f"the prop {prop.name} of {owner} is {_article(wants)}, got {short_repr(value)} ({a_type(value)})",
                        prop.name,
                    )
                names[prop.name] = value
            elif prop.name in defaults:
                names[prop.name] = defaults[prop.name](_NO_RUN, {})
            else:
                names[prop.name] = None
        return names

    return check


def _no_tokenizer() -> Any:  # pragma: no cover - a default holds no calls
    raise AssertionError


_NO_RUN = Run(Bounds(), functions={}, tokenizer=_no_tokenizer)


def _article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _fits(prop: Prop, value: Any) -> bool:
    if value is None:
        return prop.optional or prop.type == "any"
    match prop.type:
        case "str":
            return isinstance(value, str)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))
        case "dict":
            return is_mapping(value)
        case _:
            return True
