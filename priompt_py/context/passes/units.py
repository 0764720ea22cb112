"""What passes share: the check of their messages, which of them belong together, who is protected, how they report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

import attrs

from priompt_py.author.checks import got, whole_number, wrong_type, wrong_value
from priompt_py.context.counting import message_tokens
from priompt_py.context.messages import Message
from priompt_py.context.reports import Drop, PassReport, PassResult, Reason, Restored

__all__ = [
    "Count",
    "Pass",
    "checked",
    "finish",
    "is_kept_always",
    "last_user",
    "terms_argument",
    "units",
    "without",
]

Pass: TypeAlias = Callable[[Sequence[Message]], PassResult]
Count: TypeAlias = Callable[[str], int]


# ------------------------------------------------------------------------------------------ checks


def checked(tag: str, messages: Sequence[Message]) -> list[Message]:
    """The messages as a list of one's own. Raises ArgumentTypeError for what is no list of messages, and
    ArgumentValueError for repeated ids."""
    given = cast("object", messages)
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        raise wrong_type("messages", f"{tag}() needs a list of messages, got {got(cast('object', messages))}")
    found = list(messages)
    seen: dict[str, int] = {}
    for i, message in enumerate(found):
        if not isinstance(cast("object", message), Message):
            raise wrong_type("messages", f"{tag}(): messages[{i}] is no Message, got {got(message)}")
        if seen.setdefault(message.id, i) != i:
            raise wrong_value(
                "messages",
                f"{tag}(): messages[{seen[message.id]}] and messages[{i}] both have the id {message.id!r}",
            )
    return found


def whole_or_none(tag: str, name: str, value: object, *, least: int = 0) -> int | None:
    """``value`` as an int of at least ``least``, or None."""
    return None if value is None else whole_number(tag, name, value, least=least)


def terms_argument(tag: str, name: str, value: object) -> tuple[str, ...]:
    """A list of terms or ids; a single text is refused, since it would be read as a list of letters."""
    given = value
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)):
        raise wrong_type(name, f"{tag}() needs a list of texts for {name}, got {name}={got(given)}")
    found: list[str] = []
    for i, one in enumerate(cast("Iterable[object]", value)):
        if not isinstance(one, str):
            raise wrong_type(name, f"{tag}() needs a list of texts for {name}, got {name}[{i}]={got(one)}")
        if not one.strip():
            raise wrong_value(
                name, f"{tag}() needs texts for {name}, got {name}[{i}]={got(one)}, which is blank"
            )
        found.append(one)
    return tuple(found)


# ------------------------------------------------------------------------------------------ what belongs together


def units(messages: Sequence[Message]) -> list[range]:
    """The messages, as indexes, in groups that stay or go together, in order.

    A group is an assistant message with calls and the tool messages right behind it; every other message is a group
    of its own.
    """
    groups: list[range] = []
    i = 0
    while i < len(messages):
        end = i + 1
        if messages[i].role == "assistant" and messages[i].calls:
            while end < len(messages) and messages[end].role == "tool":
                end += 1
        groups.append(range(i, end))
        i = end
    return groups


def is_kept_always(message: Message) -> bool:
    """Whether no pass may drop it: instructions, summaries, and what is pinned."""
    return message.pinned or message.is_summary or message.role in ("system", "developer")


def last_user(messages: Sequence[Message]) -> int:
    """The index of the last user message; how many there are if there is none."""
    for i in range(len(messages) - 1, -1, -1):
        if messages[i].role == "user":
            return i
    return len(messages)


# ------------------------------------------------------------------------------------------ reports


@attrs.define
class Removal:
    """Why a message goes, where that isn't the same for all."""

    reason: Reason
    detail: str = ""


def without(
    messages: Sequence[Message], gone: Mapping[int, Removal], *, stage: str
) -> tuple[list[Message], list[Drop]]:
    """The messages that stay, and a drop for each that goes; a unit of which one goes, goes whole.

    ``gone`` is by index. The others of a unit get its first reason, and whom they went with.
    """
    if not gone:
        return list(messages), []
    all_gone = dict(gone)
    for unit in units(messages):
        first = next((i for i in unit if i in gone), None)
        if first is not None and len(unit) > 1:
            for i in unit:
                all_gone.setdefault(i, Removal(gone[first].reason, f"with {messages[first].id}"))
    kept = [message for i, message in enumerate(messages) if i not in all_gone]
    drops = [
        Drop(messages[i].id, None, stage, all_gone[i].reason, all_gone[i].detail) for i in sorted(all_gone)
    ]
    return kept, drops


def finish(
    name: str,
    before: Sequence[Message],
    after: list[Message],
    *,
    count: Count | None,
    dropped: Iterable[Drop] = (),
    restored: Iterable[Restored] = (),
    notes: Iterable[str] = (),
) -> PassResult:
    """The result of a pass, tokens counted if there is a way to count them."""
    return PassResult(
        after,
        PassReport(
            name,
            kept=len(after),
            dropped=tuple(dropped),
            restored=tuple(restored),
            tokens_before=tokens_of(before, count),
            tokens_after=tokens_of(after, count),
            notes=tuple(notes),
        ),
    )


def tokens_of(messages: Sequence[Message], count: Count | None) -> int | None:
    """The tokens of the messages without the chat's own; None without a way to count."""
    if count is not None and not callable(cast("object", count)):
        raise wrong_type("count", f"a pass needs a function of a text for count, got count={got(count)}")
    return None if count is None else sum(message_tokens(message, count) for message in messages)
