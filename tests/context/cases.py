"""The acceptance cases of context.yaml, and how its short forms become messages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from priompt_py.context import Message, Part, TextPart, ToolCallPart, ToolResultPart
from priompt_py.context.messages import Role


@cache
def groups() -> dict[str, list[dict[str, Any]]]:
    """The cases by group."""
    text = (Path(__file__).parent / "context.yaml").read_text("utf-8")
    loaded: dict[str, list[dict[str, Any]]] = yaml.safe_load(text)
    return loaded


def case(name: str) -> dict[str, Any]:
    """The case of this id."""
    return next(one for cases in groups().values() for one in cases if one["id"] == name)


def message(row: str) -> Message:
    """A message from ``id|role|step|text|calls=…|of=…``; the step and what follows the text may be missing."""
    id_, role, step, text, *rest = row.split("|")
    more = dict(part.split("=", 1) for part in rest)
    parts: list[Part] = []
    if "of" in more:
        parts.append(ToolResultPart(more["of"], text))
    elif text:
        parts.append(TextPart(text))
    parts += [ToolCallPart(call, "look") for call in more.get("calls", "").split(",") if call]
    return Message(id_, cast("Role", role), parts, step=int(step) if step else None)


def chat(rows: list[str]) -> list[Message]:
    """Messages from rows."""
    return [message(row) for row in rows]


ROLES: dict[str, Role] = {"s": "system", "u": "user", "a": "assistant"}


def short(name: str) -> Message:
    """A message from a short id: ``sys``, ``u1``, ``a1``, ``s1*`` (a summary)."""
    if name.endswith("*"):
        return Message(name[:-1], "assistant", f"summary {name[:-1]}", is_summary=True)
    return Message(name, ROLES[name[0]], f"text of {name}")


def ids(messages: list[Message]) -> list[str]:
    """The ids, in order."""
    return [one.id for one in messages]


def described(text: str) -> list[Message]:
    """Messages from a line such as ``u1 a1(call c1 only) t1(c1) a1b('done') u2``.

    ``(c)`` is a text and a call with its result inside; ``(call c1 only)`` nothing but a call; ``(call+result only)``
    both inside; ``t1(c1)`` and ``t0(of c9)`` are tool messages.
    """
    found: list[Message] = []
    for match in re.finditer(r"(\w+)(?:\(([^)]*)\))?", text):
        name, what = match[1], match[2]
        if name.startswith("t"):
            found.append(Message(name, "tool", ToolResultPart(what.removeprefix("of "), f"result {name}")))
        elif what is None or what.startswith("'"):
            found.append(
                Message(name, ROLES[name[0]], f"text of {name}" if what is None else what.strip("'"))
            )
        elif what == "c":
            both: list[Part] = [
                TextPart("a text"),
                ToolCallPart(f"c{name}", "look"),
                ToolResultPart(f"c{name}", "found"),
            ]
            found.append(Message(name, "assistant", both))
        elif what == "call+result only":
            found.append(
                Message(name, "assistant", [ToolCallPart("c1", "look"), ToolResultPart("c1", "found")])
            )
        else:
            found.append(Message(name, "assistant", ToolCallPart(what.split()[1], "look")))
    return found
