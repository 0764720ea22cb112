"""Old tool calls: what a model asked for long ago takes room, and can be asked for again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal

import attrs

from priompt_py.author.checks import choice, text, wrong_type
from priompt_py.author.children import type_name
from priompt_py.context.messages import (
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from priompt_py.context.passes.emptied import settle
from priompt_py.context.passes.units import Count, Pass, checked, finish, terms_argument, units
from priompt_py.context.reports import Drop, PassResult

__all__ = ["clean_tools", "flatten_tools", "flattened", "rounds_boundary"]

PLACEHOLDER = "[tool calls left out]"
RESULT_NOTE = "[result left out; call the tool again if it is needed]"
_LONGEST_ARGS = 2_000  # characters that a stub keeps as they are
_PREVIEW = 500  # characters of longer ones


def clean_tools(
    *,
    keep_rounds: int = 2,
    mode: Literal["remove", "stub"] = "remove",
    preserve_ids: Iterable[str] = (),
    placeholder: str = PLACEHOLDER,
    note: str = RESULT_NOTE,
    count: Count | None = None,
) -> Pass:
    """Takes tool calls out of all but the last ``keep_rounds`` rounds; 0 is out of all, less than 0 out of none.

    A round is what assistants said between two user messages, counted from the end; a user message that nobody
    answered is none. ``remove`` takes calls, results and the reasoning beside them; ``stub`` keeps the calls (arguments
    over 2,000 characters are cut to an object with the first 500) and puts ``note``, in which ``{id}`` is the call's, in
    place of each result that is no error. Other parts stay, and so do whole units of which a message is pinned or in ``preserve_ids``. A message that
    is left without content goes if its turn says more, else it says ``placeholder``.
    """
    if type(keep_rounds) is not int:
        raise wrong_type(
            "keep_rounds",
            f"clean_tools() needs a whole number for keep_rounds, got keep_rounds={keep_rounds!r} "
            f"({type_name(keep_rounds)})",
        )
    choice("clean_tools", "mode", mode, ("remove", "stub"))
    preserved = frozenset(terms_argument("clean_tools", "preserve_ids", preserve_ids))
    placeholder = text("clean_tools", "placeholder", placeholder)
    note = text("clean_tools", "note", note)

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("clean_tools", messages)
        boundary = rounds_boundary(before, keep_rounds)
        old = [
            unit for unit in units(before) if unit.start < boundary and not _stays(before, unit, preserved)
        ]
        if mode == "stub":
            after, dropped = _stubbed(before, old, note)
        else:
            after, dropped = _removed(before, old, placeholder)
        return finish("clean_tools", before, after, count=count, dropped=dropped)

    return run


def rounds_boundary(messages: Sequence[Message], keep_rounds: int) -> int:
    """The index of the first message of the last ``keep_rounds`` rounds: the user message that the first of them
    answers. 0 if there are fewer, or for less than 0; behind the last message for 0."""
    if keep_rounds <= 0:
        return len(messages) if keep_rounds == 0 else 0
    rounds = 0
    is_open = False
    for i in range(len(messages) - 1, -1, -1):
        role = messages[i].role
        if role == "assistant":
            is_open = True
        elif role == "user" and is_open:
            is_open = False
            rounds += 1
            if rounds == keep_rounds:
                return i
    return 0


def _stays(messages: Sequence[Message], unit: range, preserved: frozenset[str]) -> bool:
    return any(messages[i].pinned or messages[i].id in preserved for i in unit)


def _removed(
    messages: Sequence[Message], old: Sequence[range], placeholder: str
) -> tuple[list[Message], list[Drop]]:
    shrunk: dict[int, Message] = {}
    dropped: list[Drop] = []
    tools: set[str] = set()
    for i in (i for unit in old for i in unit):
        message = messages[i]
        if message.role == "tool":
            tools.add(message.id)
            dropped.append(Drop(message.id, None, "clean_tools", "tool-cleanup", "with its call"))
        elif message.calls or message.results:
            out = [k for k, part in enumerate(message.parts) if isinstance(part, _OF_TOOLS)]
            dropped += [_part_drop(message, k) for k in out]
            shrunk[i] = attrs.evolve(
                message, parts=tuple(part for part in message.parts if not isinstance(part, _OF_TOOLS))
            )
    after, emptied = settle(messages, shrunk, placeholder=placeholder, stage="clean_tools")
    order = {message.id: i for i, message in enumerate(messages)}
    return (
        [message for message in after if message.id not in tools],
        sorted([*dropped, *emptied], key=lambda drop: order[drop.message_id]),
    )


_OF_TOOLS = (ToolCallPart, ToolResultPart, ReasoningPart)


def _part_drop(message: Message, k: int) -> Drop:
    part = message.parts[k]
    what = "reasoning"
    if isinstance(part, ToolCallPart):
        what = f"call {part.id} of {part.name}"
    elif isinstance(part, ToolResultPart):
        what = f"result of {part.call_id}"
    return Drop(message.id, k, "clean_tools", "tool-cleanup", what)


def _stubbed(
    messages: Sequence[Message], old: Sequence[range], note: str
) -> tuple[list[Message], list[Drop]]:
    after = list(messages)
    dropped: list[Drop] = []
    for i in (i for unit in old for i in unit):
        message = messages[i]
        parts = tuple(_stub(part, note) for part in message.parts)
        if parts != message.parts:
            after[i] = attrs.evolve(message, parts=parts)
            dropped += [
                Drop(message.id, k, "clean_tools", "tool-cleanup", _cut(part))
                for k, part in enumerate(message.parts)
                if part != parts[k]
            ]
    return after, dropped


def _stub(part: Part, note: str) -> Part:
    if isinstance(part, ToolResultPart) and not part.is_error:
        return attrs.evolve(part, content=_filled(note, id=part.call_id))
    if isinstance(part, ToolCallPart) and len(part.args) > _LONGEST_ARGS:
        short = {"preview": part.args[:_PREVIEW], "characters": len(part.args)}
        return attrs.evolve(part, args=json.dumps(short, ensure_ascii=False))
    return part


def _cut(part: Part) -> str:
    if isinstance(part, ToolCallPart):
        return f"arguments of {part.id} cut from {len(part.args)} characters"
    assert isinstance(part, ToolResultPart)
    return f"result of {part.call_id}, {len(part.content)} characters, put by a note"


# ------------------------------------------------------------------------------------------ as text


def flatten_tools(
    *,
    call: str = "[called {name} with {args}]",
    result: str = "[{name} gave: {content}]",
    count: Count | None = None,
) -> Pass:
    """Writes calls and results as text, for requests that declare no tools: providers refuse tool blocks there.

    A tool message becomes one of the user; the reasoning beside calls goes. ``call`` and ``result`` say how, with
    ``{name}``, ``{args}``, ``{content}`` and ``{id}``.
    """
    texts = {"call": text("flatten_tools", "call", call), "result": text("flatten_tools", "result", result)}

    def run(messages: Sequence[Message]) -> PassResult:
        before = checked("flatten_tools", messages)
        dropped: list[Drop] = []
        after: list[Message] = []
        names: dict[str, str] = {}
        for message in before:
            names.update({part.id: part.name for part in message.calls})
            if message.calls or message.results:
                dropped += [
                    Drop(message.id, k, "flatten_tools", "tool-cleanup", "reasoning")
                    for k, part in enumerate(message.parts)
                    if isinstance(part, ReasoningPart)
                ]
                message = flattened(message, names, **texts)  # noqa: PLW2901 - the message as it goes on
            after.append(message)
        return finish("flatten_tools", before, after, count=count, dropped=dropped)

    return run


def flattened(message: Message, names: dict[str, str], *, call: str, result: str) -> Message:
    """A message whose calls and results are text; ``names`` are the tools' names by call id."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            parts.append(TextPart(_filled(call, name=part.name, args=part.args, id=part.id)))
        elif isinstance(part, ToolResultPart):
            name = names.get(part.call_id, part.call_id)
            parts.append(TextPart(_filled(result, name=name, content=part.content, id=part.call_id)))
        elif not isinstance(part, ReasoningPart):
            parts.append(part)
    return attrs.evolve(message, role="user" if message.role == "tool" else message.role, parts=tuple(parts))


def _filled(pattern: str, **values: str) -> str:
    """``pattern`` with ``{name}`` and so on replaced, in one go: braces in the values are theirs."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), pattern)
