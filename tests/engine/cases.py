"""The cases of ``tests/faults.jsonl``, whose trees have a notation of their own: text, a number, null, a boolean, or
``[kind, {attributes}, child, …]``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from priompt_py import (
    BASE_PRIORITY,
    Node,
    assistant_message,
    empty,
    first,
    isolate,
    scope,
    system_message,
    token_break,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer, GreedyTokenizer, WordTokenizer

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in map(json.loads, (Path(__file__).parents[1] / "faults.jsonl").read_text("utf-8").splitlines())
}

_TAGS: dict[str, Any] = {"scope": scope, "first": first, "isolate": isolate, "empty": empty}
_MESSAGES: dict[str, Any] = {"user": user_message, "system": system_message, "assistant": assistant_message}
_NAMES = {"limit": "token_limit", "label": "name"}


def node_of(written: Any) -> Node:
    """The node that a case writes down."""
    if not isinstance(written, list):
        node: Node = written
        return node
    items = list[Any](written)  # pyright: ignore[reportUnknownArgumentType]
    if len(items) > 1 and isinstance(items[1], dict):
        kind: str = items[0]
        attributes = cast("dict[str, Any]", items[1])
        children = items[2:]
        arguments = {_NAMES.get(key, key): number_of(value) for key, value in attributes.items()}
        if kind == "break":
            return token_break
        if kind == "empty":
            return empty(**arguments)
        tag = {**_TAGS, **_MESSAGES}[kind]
        filled: Node = tag(**arguments)[[node_of(child) for child in children]]
        return filled
    return [node_of(item) for item in items]


def number_of(written: Any) -> Any:
    """``"float +inf"`` is an infinity."""
    return (
        float(written.removeprefix("float "))
        if isinstance(written, str) and written.startswith("float ")
        else written
    )


def counter_of(written: Any) -> Any:
    """The tokenizer that a case counts with."""
    if isinstance(written, dict):
        return GreedyTokenizer(cast("dict[str, list[str]]", written)["greedy"])
    return {"chars": CharTokenizer, "words": WordTokenizer}[written]()


def cutoff_of(written: Any) -> Any:
    """The cutoff, where ``base`` is what has no priority."""
    return BASE_PRIORITY if written == "base" else written


def runs() -> list[tuple[str, dict[str, Any]]]:
    """Every tree of every case that has a limit and a right value; a name each."""
    found: list[tuple[str, dict[str, Any]]] = []
    for case in CASES.values():
        given = case["input"]
        here = given["runs"] if "runs" in given else [{**given, "want": case["expected"]}]
        right = [
            run for run in here if "tree" in run and "counter" in run and isinstance(run.get("limit"), int)
        ]
        usable = [run for run in right if "text" in run["want"] or "error" in run["want"]]
        found += [(f"{case['area']} {i}", run) for i, run in enumerate(usable) if not run.get("nocheck")]
    return found
