"""``props_for``: props of a prompt, from its type hints or its front matter."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeGuard

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from priompt_py.author.component import Component
from priompt_py.errors import ArgumentTypeError
from priompt_py.model.elements import Element
from priompt_py.preview.checks import name_of_prompt
from priompt_py.preview.declared import inner_prompt
from priompt_py.preview.settle import children_name
from priompt_py.template.source import near
from priompt_py.testing.leaves import texts
from priompt_py.testing.strategies import elements
from priompt_py.testing.type_strategies import (
    Types,
    UnknownTypeError,
    Unreadable,
    how_to_give,
    is_strategy,
    long_texts,
    numbers,
)

__all__ = ["props_for"]

Props = dict[str, Any]


def props_for(prompt: Any, /, **given: Any) -> SearchStrategy[Props]:
    """Props that a prompt takes, from the type hints of its parameters or from a template's front matter.

    ``given`` are strategies for props by name, in the place of what would be drawn; a value that is no strategy stands
    for itself. A parameter with a default is left out at times. Strategies that were registered with hypothesis
    (``register_type_strategy``) are used. A template's ``list``, ``dict`` and ``any`` props look like those of the examples in its front
    matter; without examples they hold texts. For a component the props have its children, under the name of its first
    parameter.

    Raises ArgumentTypeError for a type that no strategy is known for, and for names that the prompt doesn't take.
    """
    inner = inner_prompt(prompt)
    name = name_of_prompt(prompt)
    if isinstance(inner, Element) or not callable(inner):
        return _checked(name, given, {}, takes_any=False)
    front = getattr(inner, "front_matter", None)
    if front is not None:
        return _of_front_matter(name, front, given)
    return _of_function(name, inner, given)


def _checked(
    name: str, given: Mapping[str, Any], known: Mapping[str, SearchStrategy[Any]], *, takes_any: bool
) -> SearchStrategy[Props]:
    for each in given:
        if not takes_any and each not in known:
            hint = near(each, known) or (f"; it takes {', '.join(known)}" if known else "; it takes none")
            raise ArgumentTypeError(f"props_for(): {name} takes no prop {each}{hint}")
    return st.fixed_dictionaries({each: as_strategy(value) for each, value in given.items()})


def as_strategy(value: Any) -> SearchStrategy[Any]:
    """A strategy as it is; anything else as a strategy that gives just it."""
    return value if is_strategy(value) else st.just(value)


def _together(
    name: str,
    given: Mapping[str, Any],
    required: Mapping[str, SearchStrategy[Any]],
    optional: Mapping[str, SearchStrategy[Any]],
    *,
    takes_any: bool,
) -> SearchStrategy[Props]:
    _checked(name, given, {**required, **optional}, takes_any=takes_any)
    chosen = {each: as_strategy(value) for each, value in given.items()}
    rest = {each: strategy for each, strategy in optional.items() if each not in given}
    return st.fixed_dictionaries({**required, **chosen}, optional=rest)


# ------------------------------------------------------------------------------------------ functions


def _of_function(name: str, function: Any, given: Mapping[str, Any]) -> SearchStrategy[Props]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"props_for(): the parameters of {name} can't be read; give a strategy for its props"
        ) from None
    hints = _hints(function)
    names = _names(function)
    children = children_name(function) if isinstance(function, Component) else None
    required: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    takes_any = False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL and parameter.name != children:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_any = True
            continue
        has_default = parameter.default is not parameter.empty
        place = f"the prop {parameter.name} of {name}"
        if parameter.name in given:
            required[parameter.name] = as_strategy(given[parameter.name])
        elif parameter.name == children:
            required[parameter.name] = elements()
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            if not has_default:
                raise ArgumentTypeError(
                    f"props_for(): {place} can't be given by name, as props are; test a function that gives it: "
                    f"def shown({parameter.name}: …): return {name}({parameter.name})"
                )
        elif parameter.name in hints:
            try:
                strategy = Types(name, parameter.name, names).of(hints[parameter.name], place)
            except UnknownTypeError as error:
                if not has_default:  # else it keeps its default
                    raise ArgumentTypeError(str(error)) from None
            else:
                (optional if has_default else required)[parameter.name] = strategy
        elif has_default:
            if parameter.default is not None:
                optional[parameter.name] = like([parameter.default])
        else:
            raise ArgumentTypeError(
                f"props_for(): {place} has no annotation; annotate it, or give a strategy: "
                f"{how_to_give(name, parameter.name)}"
            )
    return _together(name, given, required, optional, takes_any=takes_any)


def _target(function: Any) -> Any:
    """What has the annotations of a callable."""
    target = inspect.unwrap(function)  # of components too
    while isinstance(target, functools.partial):
        target = inspect.unwrap(target.func)
    if isinstance(target, type):
        return vars(target).get("__init__", target)
    return target if inspect.isroutine(target) else type(target).__call__


def _names(function: Any) -> dict[str, Any]:
    """The names of the module in which a callable was written."""
    return vars(inspect.getmodule(_target(function)) or types)


def _hints(function: Any) -> dict[str, Any]:
    names: dict[str, Any] = {}
    target = _target(function)
    try:
        names = typing.get_type_hints(target, include_extras=True)
    except Exception:  # noqa: BLE001 - one that can't be read must not hide the others
        module = vars(inspect.getmodule(target) or types)
        for name, annotation in getattr(target, "__annotations__", {}).items():
            holder = types.SimpleNamespace(__annotations__={name: annotation})
            try:
                names.update(typing.get_type_hints(holder, module, include_extras=True))
            except Exception:  # noqa: BLE001 - as above: it counts as a type that is not known
                names[name] = Unreadable(str(annotation))
    return names


# ------------------------------------------------------------------------------------------ templates


def _of_front_matter(name: str, front: Any, given: Mapping[str, Any]) -> SearchStrategy[Props]:
    examples = list(front.examples.values())
    required: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    declared = {prop.name: prop for prop in front.props or ()}
    names = declared if front.props is not None else dict.fromkeys(key for each in examples for key in each)
    for each in names:
        seen = [example[each] for example in examples if each in example]
        prop = declared.get(each)
        strategy = _of_prop(prop.type if prop is not None else "any", seen)
        if prop is not None and prop.optional:
            strategy = st.none() | strategy
        everywhere = prop.required if prop is not None else len(seen) == len(examples)
        (required if everywhere else optional)[each] = strategy
    drawn = _together(name, given, required, optional, takes_any=front.props is None)
    if not examples:
        return drawn
    fixed = {each: as_strategy(value) for each, value in given.items()}
    whole = st.sampled_from(examples)
    return drawn | st.tuples(whole, st.fixed_dictionaries(fixed)).map(lambda both: {**both[0], **both[1]})


def _of_prop(kind: str, examples: list[Any]) -> SearchStrategy[Any]:
    match kind:
        case "str":
            return long_texts()
        case "int":
            return numbers()
        case "float":
            return st.integers(0, 9) | st.floats(-1e6, 1e6)
        case "bool":
            return st.booleans()
        case "list" if not examples:
            return st.lists(long_texts(), max_size=5)
        case "dict" if not examples:
            return st.dictionaries(texts(), long_texts(), max_size=4)
        case _:
            return like(examples) if examples else long_texts()


def like(examples: Sequence[Any]) -> SearchStrategy[Any]:
    """Values of the shape of ``examples``: of their types; lists of what their items are like; objects of their keys."""
    kinds: list[SearchStrategy[Any]] = []
    texts_seen = [one for one in examples if isinstance(one, str)]
    if texts_seen:
        kinds.append(long_texts())
    if any(isinstance(one, bool) for one in examples):
        kinds.append(st.booleans())
    if any(type(one) is int for one in examples):
        kinds.append(st.integers(0, 1_000))
    if any(type(one) is float for one in examples):
        kinds.append(st.floats(-1e6, 1e6))
    lists = [one for one in examples if type(one) in (list, tuple)]
    if lists:
        items = [item for one in lists for item in one]
        inner = st.lists(like(items), max_size=5) if items else st.lists(long_texts(), max_size=5)
        kinds.append(inner if any(type(one) is list for one in lists) else inner.map(tuple))
    objects = [one for one in examples if _is_object(one)]
    if objects:
        kinds.append(_like_objects(objects))
    others = [one for one in examples if not isinstance(one, (str, bool, int, float, list, tuple, dict))]
    if others:
        kinds.append(st.sampled_from(others))
    return st.one_of(kinds) if kinds else long_texts()


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return type(value) is dict


def _like_objects(objects: Collection[dict[str, Any]]) -> SearchStrategy[Any]:
    keys = list(dict.fromkeys(key for one in objects for key in one))
    shapes = {key: like([one[key] for one in objects if key in one]) for key in keys}
    always = {key: shapes[key] for key in keys if all(key in one for one in objects)}
    sometimes = {key: shapes[key] for key in keys if key not in always}
    return st.fixed_dictionaries(always, optional=sometimes)
