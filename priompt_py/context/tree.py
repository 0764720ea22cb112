"""A conversation as a tree: what is always in, what goes first, and in how many sizes a tool's result may stand.

======================================  ===============================================================================
what                                    stands at
======================================  ===============================================================================
system, developer and pinned messages,  base: always in
all from the last user message on
a summary                               ``prel=-1``
message i of the history                ``turn(i)``, i being its index since the conversation began
a tool round                            one scope, at its first message's level
a tool's result in full                 2,000,000 below its message
the same cut to 2,000 tokens            1,000,000 below its message
a note in its place                     with its message
files of a message                      their own levels, their placeholders at base: the message stays, if only for them
======================================  ===============================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import attrs

from priompt_py.author.excerpts import excerpt
from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.parts import image, part
from priompt_py.author.tags import first, isolate, scope
from priompt_py.context.messages import (
    Detail,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from priompt_py.context.passes.tools import RESULT_NOTE
from priompt_py.context.passes.units import is_kept_always, last_user, units
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import Node, Number, turn

__all__ = ["TreeOptions", "conversation_nodes", "result_ladder"]

FULL_RESULT = -2_000_000
CAPPED_RESULT = -1_000_000
SUMMARY = -1

_LONG_LINE = 2_000  # characters; an excerpt of longer lines goes by words, and cuts what has no blanks
_WORDS = re.compile(r"\s+|\S{100}")

AttachmentNodes = Callable[[Message], Sequence[Node]]
"""What is shown of some attachments of a message."""


def _no_attachments(message: Message) -> Sequence[Node]:  # noqa: ARG001 - what it is called with
    return ()


@attrs.frozen(kw_only=True)
class TreeOptions:
    """How messages become nodes.

    ``index`` are their places since the conversation began, by id; ``priorities`` those that pruning gave instead of
    dropping. ``result_ladder``: results in three sizes, of which the second has at most ``capped`` tokens; else whole.
    ``pictures`` go with their message, ``files`` have levels of their own.
    """

    index: Mapping[str, int]
    priorities: Mapping[str, float] = attrs.field(factory=dict[str, float])
    pictures: AttachmentNodes = _no_attachments
    files: AttachmentNodes = _no_attachments
    before_question: Node = None
    result_ladder: bool = True
    capped: int = 2_000
    note: str = RESULT_NOTE
    image_note: str = "[a picture that can't be read]"


def conversation_nodes(messages: Sequence[Message], options: TreeOptions) -> list[Node]:
    """A node for each message, tool rounds together, in order. Notes for the user are left out."""
    newest = last_user(messages)
    found: list[Node] = []
    taken: set[str] = set()
    for unit in units(messages):
        rows = _with_own_ids([messages[i] for i in unit], taken, options.index)
        level = _level(rows, options, is_newest=unit.start >= newest)
        nodes: list[Node] = []
        if len(rows) == 1 and level is not None and rows[0].role == "user" and options.files(rows[0]):
            found += _message_nodes(rows[0], None, options, None, own=level)
            continue
        for i, message in zip(unit, rows, strict=True):
            before = options.before_question if i == newest else None
            nodes += _message_nodes(message, level, options, before)
        found.append(nodes if level is None else scope(prel=level, key=messages[unit.start].id)[nodes])
    return found


def _with_own_ids(rows: Sequence[Message], taken: set[str], index: Mapping[str, int]) -> Sequence[Message]:
    """The unit with call ids that no unit before has: some servers count them from 0 in every answer.

    A repeated id gets the place of its message, so that it is the same next turn. ``taken`` grows.
    """
    ids = [call.id for call in rows[0].calls]
    new: dict[str, str] = {}
    for one in ids:
        name, number = one, index[rows[0].id]
        while name in taken:
            name, number = f"{one}_{number}", number + 1
        taken.add(name)
        new[one] = name
    if all(one == name for one, name in new.items()):
        return rows
    return [attrs.evolve(row, parts=tuple(_renamed(one, new) for one in row.parts)) for row in rows]


def _renamed(one: Part, new: Mapping[str, str]) -> Part:
    if isinstance(one, ToolCallPart):
        return attrs.evolve(one, id=new[one.id])
    if isinstance(one, ToolResultPart):
        return attrs.evolve(one, call_id=new.get(one.call_id, one.call_id))
    return one


def _level(rows: Sequence[Message], options: TreeOptions, *, is_newest: bool) -> Number | None:
    """The ``prel`` of a unit's scope; None for what is always in."""
    if is_newest or any(is_kept_always(one) and not one.is_summary for one in rows):
        return None
    if rows[0].is_summary:
        return SUMMARY
    given = options.priorities.get(rows[0].id)
    return turn(options.index[rows[0].id]) if given is None else given


def _message_nodes(
    message: Message,
    level: Number | None,
    options: TreeOptions,
    before: Node,
    *,
    own: Number | None = None,
) -> list[Node]:
    """A message's nodes. ``level`` is the ``prel`` of the scope that they will stand in, ``own`` that of a scope
    around what is the message's own, where its files are to stay without it."""
    within = 0 if level is None else level
    content: list[Node] = [before]
    results: list[ToolResultPart] = []
    for one in message.parts:
        if isinstance(one, ToolResultPart):
            results.append(one)
        else:
            content.append(_part_node(one, message, options))
    content += options.pictures(message)
    if own is not None:
        content = [scope(prel=own, key=message.id)[content]]
    content += options.files(message)
    if message.role == "tool":
        *others, last = results
        return [
            *(_result_node(one, message, within, options) for one in others),
            _result_node(last, message, within, options, content),
        ]
    if message.role != "assistant":
        return [_TAGS[message.role](name=message.name)[content]]
    calls = [{"id": call.id, "name": call.name, "arguments": call.args} for call in message.calls]
    return [
        assistant_message(name=message.name, tool_calls=calls or None)[content],
        *(_result_node(one, message, within, options) for one in results),
    ]


_TAGS = {"system": system_message, "developer": developer_message, "user": user_message}


def _part_node(one: Part, message: Message, options: TreeOptions) -> Node:
    match one:
        case TextPart(text=text):
            return text
        case ImagePart() if message.role in ("user", "tool"):
            return image_node(one.data, one.url, one.detail, options.image_note)
        case ReasoningPart(provider=str(provider), data=data) if data:
            return part(provider=provider, data=data)
        case OpaquePart(provider=provider, data=data, tokens=tokens):
            return part(provider=provider, data=data, tokens=tokens)
        case _:
            return None


def image_node(data: bytes | None, url: str | None, detail: Detail, note: str) -> Node:
    """A picture; ``note`` in place of one whose bytes can't be read."""
    try:
        return image(data=data, url=url, detail=detail)
    except ArgumentValueError:
        return note


# ------------------------------------------------------------------------------------------ results


def _result_node(
    one: ToolResultPart, message: Message, within: Number, options: TreeOptions, more: Sequence[Node] = ()
) -> Node:
    here: Node = one.content
    if options.result_ladder:
        # Where the message is always in, its turn still says which of two results keeps its content longer.
        base = within or turn(options.index[message.id])
        here = result_ladder(
            one.content,
            full_at=base + FULL_RESULT - within,
            capped_at=base + CAPPED_RESULT - within,
            capped=options.capped,
            note=options.note,
        )
    return tool_message(tool_call_id=one.call_id, is_error=one.is_error)[here, *more]


def result_ladder(content: str, *, full_at: Number, capped_at: Number, capped: int, note: str) -> Node:
    """A result in full, or cut to ``capped`` tokens at its middle, or a note in its place: the first that fits.

    ``full_at`` and ``capped_at`` are the ``prel`` of both. What is no longer than the note stands alone; what can't
    have more than ``capped`` tokens (a token is a byte or more) has no shorter form but the note.
    """
    if len(content) <= len(note):
        return content
    by = _WORDS if max(map(len, content.splitlines()), default=0) > _LONG_LINE else "line"
    cut = isolate(token_limit=capped)[excerpt(content, by=by, keep="ends", omitted="\n[...]\n")]
    return first[
        scope(prel=full_at, key="full")[content],
        scope(prel=capped_at, key="capped")[cut] if len(content.encode()) > capped else None,
        scope(prel=0, key="note")[note],
    ]
