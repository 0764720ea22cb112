"""What passes did to the chats of a file, for people: a line for each message that went, came back or was changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from priompt_py.cli.files import STDIN, write_text
from priompt_py.cli.message_files import Chat, MessageFile, json_text
from priompt_py.cli.streams import warn, write_result
from priompt_py.context.counting import chat_tokens
from priompt_py.context.matching import content_of
from priompt_py.context.messages import Message
from priompt_py.context.reports import ContextReport, PassReport

__all__ = ["Counter", "Done", "finish", "report_lines"]


@attrs.frozen
class Counter:
    """Counts chats: texts with ``count``, pictures as the family ``images`` does."""

    count: Callable[[str], int]
    images: str

    def __call__(self, messages: Iterable[Message]) -> int:
        return chat_tokens(messages, self.count, images=self.images)


_WIDTH = 44  # columns of a message's text that are shown


@attrs.frozen
class Done:
    """What became of one chat: the messages that stay, how, and the chat as it is written then."""

    chat: Chat
    kept: Sequence[Message]
    report: ContextReport
    written: Any


def finish(
    file: MessageFile, done: Sequence[Done], count: Counter, *, as_json: bool, quiet: bool, output: str | None
) -> None:
    """Write the file of the messages that stay, or with ``as_json`` the reports with them, to standard output or to
    the file ``output``; the report for people goes to standard error, unless ``quiet`` or ``as_json``."""
    if as_json:
        chats = [_as_json(one, count) for one in done]
        text = json_text(chats[0] if file.layout != "chats" else chats, indent=2)
    else:
        text = file.text([one.written for one in done])
    if output is None or output == STDIN:
        write_result(text)
    else:
        write_text(output, text)
    if not (quiet or as_json):
        for one in done:
            for line in report_lines(one, count):
                warn(_in_one_line(line))


def _as_json(done: Done, count: Counter) -> dict[str, Any]:
    return {
        "place": done.chat.place,
        "messages_before": len(done.chat.messages),
        "messages_after": len(done.kept),
        "tokens_before": count(done.chat.messages),
        "tokens_after": count(done.kept),
        "kept": [message.id for message in done.kept],
        "report": done.report.to_json(),
        "chat": done.written,
    }


def report_lines(done: Done, count: Counter) -> Iterator[str]:
    """A line for the chat, then for each pass that did anything what it did, and notes."""
    before, after = done.chat.messages, done.kept
    yield (
        f"{done.chat.place}: {_messages(len(before))}, {len(after)} stay; "
        f"{count(before):,} tokens, then {count(after):,}"
    )
    said = {message.id: message for message in before}
    place = {message.id: i for i, message in enumerate(before)}
    width = max((len(id_) for id_ in said), default=0)
    for report in done.report.passes:
        rows = sorted(_rows(report, done.report.priorities), key=lambda row: place[row[0]])
        if rows:
            yield f"  {report.name}"
            for id_, what, why in rows:
                message = said[id_]
                yield f"    {id_:<{width}}  {message.role:<9}  {what:<16}  {why}  {_shown(content_of(message))}".rstrip()
    notes = [*done.report.notes, *(note for report in done.report.passes for note in report.notes)]
    yield from (f"  note: {note}" for note in dict.fromkeys(notes))


def _rows(report: PassReport, priorities: Mapping[str, float]) -> Iterable[tuple[str, str, str]]:
    for drop in (*report.dropped, *report.demoted):
        place = "" if drop.part is None else f"part {drop.part}: "
        level = f", at {priorities[drop.message_id]:,.0f}" if drop.message_id in priorities else ""
        yield drop.message_id, drop.reason, f"{place}{drop.detail}{level}"
    for back in report.restored:
        level = f", at {priorities[back.message_id]:,.1f}" if back.message_id in priorities else ""
        speakers = f"{', '.join(back.references)} speak{'s' if len(back.references) == 1 else ''} of it"
        yield back.message_id, "restored", f'defines "{back.term}", {speakers}{level}'


_NO_CHARACTER_OF_A_LINE = re.compile(
    "[\\x0a-\\x0d\\x1c-\\x1e\\x85\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]"
)


def _in_one_line(line: str) -> str:
    r"""A line in which ids, names and texts of a file can't look like lines of ours, nor turn others around."""
    return _NO_CHARACTER_OF_A_LINE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def _messages(number: int) -> str:
    return f"{number} message" if number == 1 else f"{number} messages"


def _shown(text: str) -> str:
    """The beginning of a text in one line and in quotes; wide characters take two columns."""
    line = " ".join(text.split())
    if not line:
        return ""
    columns = 0
    for i, character in enumerate(line):
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if columns > _WIDTH:
            return f'"{line[: max(i - 1, 0)]}…"'
    return f'"{line}"'
