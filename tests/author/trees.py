"""Random trees of every element that has a JSON form, and their JSON forms, broken in one place."""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable
from typing import Any, cast

from hypothesis import strategies as st

from priompt_py.author.children import is_list, is_mapping
from priompt_py.author.element_table import ELEMENTS_BY_NAME
from priompt_py.author.excerpts import excerpt
from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    br,
    cache_break,
    config,
    empty,
    fallback,
    first,
    hr,
    isolate,
    scope,
    token_break,
)
from priompt_py.author.tools import tool_definition
from priompt_py.model.elements import Element, Node

__all__ = ["broken_forms", "elements", "json_objects", "nodes", "texts"]

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 30, 40, 8, 2, 0, 0, 0) + bytes(4)

texts = st.text(max_size=6)
_finite = st.floats(allow_nan=False, allow_infinity=False)
_numbers = st.one_of(st.integers(), _finite)
_labels = st.none() | texts
_ranks = st.sampled_from(["around", "head", "tail", "ends"]) | st.integers() | st.floats(-1e9, 1e9)
_json_values = st.recursive(
    st.none() | st.booleans() | _numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(texts, _json_values, max_size=3)
_limits = st.integers(0, 10**6) | st.sampled_from(["50%", "0% + 3", " 120 % - 7 "])
_stops = st.none() | texts | st.lists(texts, max_size=4)
_calls = st.lists(
    st.fixed_dictionaries(
        {"id": texts, "name": st.text(min_size=1, max_size=4), "arguments": texts | json_objects}
    ),
    max_size=2,
)


@st.composite
def _priorities(draw: st.DrawFn) -> dict[str, Any]:
    props: dict[str, Any] = {"key": draw(_labels)}
    which = draw(st.sampled_from(["p", "prel", ""]))
    if which:
        props[which] = draw(_numbers)
    return props


def _call(tag: Any, own: dict[str, Any], rest: dict[str, Any]) -> Any:
    return tag(**own, **rest)


def _made(tag: Callable[..., Any], **props: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(_call, st.just(tag), st.fixed_dictionaries(props), _priorities())


def _first(name: str | None, key: str | None) -> Any:
    return first(name=name, key=key)


def _png(more: bytes) -> bytes:
    return PNG + more


def _excerpt(text: str, by: Any, rank: Any, omitted: str | None, rest: dict[str, Any]) -> Any:
    if rank == "around":
        return excerpt(text, by=by, around=1, omitted=omitted, **rest)
    if isinstance(rank, str):
        return excerpt(text, by=by, keep=cast("Any", rank), omitted=omitted, **rest)
    return excerpt(text, by=by, priority=lambda index, piece: rank - index, omitted=omitted, **rest)


def _object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": "object"}


_void: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([br, hr, token_break, cache_break]),
    _made(br),
    _made(hr),
    _made(token_break),
    _made(cache_break),
    _made(empty, tokens=st.integers(0, 10**6)),
    st.builds(_excerpt, texts, st.sampled_from(["line", "sentence", "word"]), _ranks, _labels, _priorities()),
    _made(
        config,
        stop=_stops,
        max_response_tokens=st.none()
        | st.integers(1, 10**6)
        | st.sampled_from(["tokens_reserved", "tokens_remaining"]),
        extra=st.none() | json_objects,
    ),
    _made(
        image,
        url=st.text("abc:/", min_size=1, max_size=5),
        detail=st.sampled_from(["low", "high", "auto"]),
        dimensions=st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)),
    ),
    _made(image, data=st.binary(max_size=8).map(_png)),
    _made(
        part,
        provider=st.text(min_size=1, max_size=4),
        data=json_objects,
        tokens=st.none() | st.integers(0, 99),
    ),
    _made(
        tool_definition,
        name=st.text("abc_-9", min_size=1, max_size=9),
        description=_labels,
        parameters=st.none() | json_objects.map(_object_schema),
        strict=st.none() | st.booleans(),
    ),
)

_named = {"name": _labels, "to": _labels}
_tags: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([scope, first, system_message, user_message, assistant_message]),
    _made(scope, name=_labels),
    st.builds(_first, _labels, _labels),
    _made(fallback, name=_labels),
    _made(isolate, token_limit=_limits),
    _made(at_most, token_limit=_limits),
    _made(system_message, **_named),
    _made(developer_message, **_named),
    _made(user_message, **_named),
    _made(
        assistant_message,
        tool_calls=_calls,
        function_call=st.none()
        | st.fixed_dictionaries({"name": st.just("f"), "arguments": texts | json_objects}),
        **_named,
    ),
    _made(tool_message, tool_call_id=texts, is_error=st.booleans(), **_named),
)
_leaves: st.SearchStrategy[Any] = st.one_of(st.none(), st.booleans(), _numbers, texts, _void, _tags)


def _has_priority(child: Any) -> bool:
    return isinstance(child, Element) and not (child.p is None and child.prel is None)


def _filled(tag: Any, children: list[Any]) -> Any:
    good = [child for child in children if not _has_priority(child)] if tag.kind == "fallback" else children
    return tag[good]


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(_filled, _tags, st.lists(inner, max_size=4))


nodes: st.SearchStrategy[Node] = st.recursive(_leaves, _containers, max_leaves=12)
elements: st.SearchStrategy[Any] = nodes.filter(lambda node: isinstance(node, Element))


# ------------------------------------------------------------------------------------------ broken forms


def objects_of(form: Any) -> list[dict[str, Any]]:
    """All objects of a JSON form that are elements, in some order."""
    found: list[dict[str, Any]] = []
    stack: list[Any] = [form]
    while stack:
        here = stack.pop()
        if is_list(here):
            stack += here
        elif is_mapping(here):
            found.append(cast("dict[str, Any]", here))
            stack += here.get("children", [])
    return found


def _one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


@st.composite
def broken_forms(draw: st.DrawFn, form: list[Any]) -> list[Any]:
    """A copy of a JSON form in which one element is wrong, in a way that the schema can say too."""
    broken = copy.deepcopy(form)
    element = draw(st.sampled_from(objects_of(broken)))
    info = ELEMENTS_BY_NAME[element["type"]]
    ways = ["unknown key", "wrong text", "unknown type", "no type", "wrong children"]
    required = [argument.name for argument in info.arguments if argument.required]
    if required:
        ways.append("nothing where something is needed")
    if "prel" in info.by_name:
        ways += ["both priorities", "wrong priority"]
    way = draw(st.sampled_from(ways))
    if way == "unknown key":
        element[draw(_one_of("P", "priority", "", "text", "on_include", "tokenLimit"))] = 1
    elif way == "wrong text":
        element["key"] = draw(_one_of(5, True, [1], {"a": 1}))
    elif way == "unknown type":
        element["type"] = draw(_one_of("scpe", "user_message", "at_most", "capture", "", 5, None, ["scope"]))
    elif way == "no type":
        del element["type"]
    elif way == "wrong children":
        element["children"] = draw(_one_of("text", 5, None, {"type": "br"}))
    elif way == "both priorities":
        element.update(p=1, prel=2)
    elif way == "wrong priority":
        element.pop("prel", None)
        element["p"] = draw(_one_of("high", "1", True, [1], {"a": 1}))
    else:
        del element[draw(st.sampled_from(required))]
    return broken
