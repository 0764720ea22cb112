"""Prompt trees as JSON, for programs in other languages, dumps and evaluation sets.

An array of nodes, or one node. Text, numbers, null and booleans stand for themselves; an element
is an object of its ``type`` (its name in templates), its arguments, and its ``children``. What it
may hold is told by :func:`priompt_py.author.json_schema.json_schema`.
"""

from __future__ import annotations

from typing import Any

from priompt_py.author.json_reader import JsonReader
from priompt_py.author.json_text import node_of_text
from priompt_py.author.json_writer import JsonWriter
from priompt_py.model.elements import Node

__all__ = ["from_json", "from_json_text", "to_json"]


def from_json(data: object) -> Node:
    """The node of a tree in its JSON form, as ``json.load`` gives it.

    An array of one node gives that node, another array a list of its nodes. The tree may be nested
    to any depth, values inside arguments to 200 levels. Raises JsonFormError, whose message begins
    with the JSON path.
    """
    return JsonReader().read(data)


def from_json_text(text: str | bytes) -> Node:
    """The node of a tree in its JSON form, from text or UTF-8 bytes, with or without a byte order mark.

    Elements may be nested 200 deep. Raises JsonFormError, whose message begins with line and column
    (from 1, in code points) where the text is no JSON, else with the JSON path; repeated keys,
    ``NaN`` and numbers that are too large are errors too.
    """
    return node_of_text(text)


def to_json(node: Node, *, drop_functions: bool = False) -> list[Any]:
    """The JSON form of a node: a list, since a node can be many or none. Arguments that are not given,
    and children where there are none, are left out.

    Functions have no JSON form: components, async nodes, captures, reserves that are functions,
    callbacks. They raise JsonFormError, whose message begins with the JSON path; with
    ``drop_functions`` they are left out, an element that can't be without them as a whole. An
    element that stands in many places is written out in each.
    """
    return JsonWriter(drop_functions=drop_functions).write(node)
