"""Files of messages: OpenAI's and Anthropic's forms, as JSON or JSON lines, read as chats and written back.

What a file may hold: a list of messages; an object with ``messages`` (and Anthropic's ``system``), such as a request; or
lines, each a message, or each such an object, which is a chat of its own then. A message may also have ``id`` (a text),
``step`` (a whole number) and ``pinned``, which no provider knows: they are read, and written back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeAlias, cast

import attrs

from priompt_py.cli.faults import Fault
from priompt_py.cli.files import name_of, read_text
from priompt_py.cli.json_places import offset_of
from priompt_py.context.histories import (
    from_anthropic,
    from_openai,
    to_anthropic_blocks,
    to_openai_message,
)
from priompt_py.context.messages import Message
from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.model.strict_json import JsonFault, line_and_column, parse_json
from priompt_py.preview.json_kinds import is_array, is_object

__all__ = ["FORMS", "Chat", "MessageFile", "json_text", "read_messages"]

Form: TypeAlias = Literal["openai", "anthropic"]
FORMS: tuple[str, ...] = ("openai", "anthropic")

_OWN = ("id", "step", "pinned")
_ANTHROPIC_BLOCKS = {
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
}
_PLACE = re.compile(r"(?:messages\[(?P<index>\d+)\]|(?P<system>system))(?P<rest>[^\s:,;]*)")


@attrs.frozen
class Chat:
    """One chat of a file: its messages, and what they were in the file.

    ``place`` is the file, with the line where a line is a chat; ``given`` are the messages as they stood there;
    ``origins`` says for each message id which of them it came from, -1 for ``system``.
    """

    place: str
    form: Form
    given: list[dict[str, Any]]
    envelope: dict[str, Any] | None
    messages: list[Message]
    origins: Mapping[str, int]

    def written(self, kept: Sequence[Message]) -> Any:
        """The chat of these messages in the form of the file: what a pass left as it was, as it stood there."""
        before = {message.id: message for message in self.messages}
        groups: dict[int, list[Message]] = {}
        for message in kept:
            groups.setdefault(self.origins[message.id], []).append(message)
        whole: dict[int, list[str]] = {}
        for id_, origin in self.origins.items():
            whole.setdefault(origin, []).append(id_)
        messages: list[dict[str, Any]] = []
        for origin, group in groups.items():
            same = [one.id for one in group] == whole[origin]
            if origin < 0:
                continue
            if same and all(one.parts == before[one.id].parts for one in group):
                messages.append(self._with_step(origin, group))
            else:
                messages.append(self._rewritten(origin, group))
        if self.envelope is None:
            return messages
        return {key: value for key, value in self.envelope.items() if key != "system" or -1 in groups} | {
            "messages": messages
        }

    def _with_step(self, origin: int, group: Sequence[Message]) -> dict[str, Any]:
        given = self.given[origin]
        return given | {"step": group[0].step} if "step" in given else given

    def _rewritten(self, origin: int, group: Sequence[Message]) -> dict[str, Any]:
        given = self.given[origin]
        own = {key: given[key] for key in _OWN if key in given}
        if self.form == "openai":
            return to_openai_message(group[0]) | own
        blocks = [block for message in group for block in to_anthropic_blocks(message)]
        return {"role": given["role"], "content": blocks} | own


@attrs.frozen
class MessageFile:
    """A file's chats; ``layout`` says how it is written."""

    name: str
    layout: Literal["json", "messages", "chats"]
    chats: list[Chat]

    def text(self, written: Sequence[Any]) -> str:
        """The file with these chats in place of its own."""
        if self.layout == "json":
            return json_text(written[0], indent=2)
        lines: Iterable[Any] = written if self.layout == "chats" else written[0]
        return "".join(json_text(line) for line in lines)


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON with a line feed behind it; characters as they are, but for surrogate halves, which no file can hold."""
    text = json.dumps(value, ensure_ascii=False, indent=indent) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()  # written as JSON has them: \\ud800


def read_messages(file: str, form: str | None = None) -> MessageFile:
    """The chats of a file, or of standard input for ``-``; ``form`` is guessed where it isn't given.

    Raises Fault with ``FILE:LINE:COL``.
    """
    text, name = read_text(file), name_of(file)
    if not text.strip():
        raise Fault("is empty; it needs a list of messages, or a message on each line", place=name)
    value = _json_or_none(text)
    if value is _NOT_JSON and "\n" in text.strip():
        return _lines(text, name, form)
    if value is _NOT_JSON:
        _parse(text, name, 1)
    if is_object(value) and "messages" not in value and "role" in value:  # one line of one message
        return _lines(text, name, form)
    return MessageFile(name, "json", [_chat(value, text, name, 1, form)])


_NOT_JSON = object()


def _json_or_none(text: str) -> Any:
    try:
        return parse_json(text)
    except (JsonFault, RecursionError):
        return _NOT_JSON


def _parse(text: str, name: str, first_line: int) -> Any:
    try:
        return parse_json(text)
    except JsonFault as error:
        place = f"{name}:{first_line + error.line - 1}:{error.column}"
        raise Fault(f"not JSON: {error.message}", place=place) from None
    except RecursionError:
        raise Fault("nested too deeply", place=f"{name}:{first_line}:1") from None


def _lines(text: str, name: str, form: str | None) -> MessageFile:
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not is_object(_json_or_none(rows[0][1])):  # JSON over several lines, with a mistake in it
        _parse(text, name, 1)
    values = [_parse(line, name, number) for number, line in rows]
    if all(is_object(value) and "messages" in value for value in values):
        chats = [
            _chat(value, line, name, number, form, label=f"{name}:{number}")
            for (number, line), value in zip(rows, values, strict=True)
        ]
        return MessageFile(name, "chats", chats)
    found = _Source(name, [line for _, line in rows], [number for number, _ in rows])
    return MessageFile(name, "messages", [_read_chat(values, None, found, form, name)])


def _chat(
    value: object, text: str, name: str, line: int, form: str | None, *, label: str | None = None
) -> Chat:
    source = _Source(name, [text], [line])
    if is_array(value):
        return _read_chat(list(value), None, source, form, label or name)
    if is_object(value) and is_array(value.get("messages")):
        envelope = dict(value)
        return _read_chat(list(value["messages"]), envelope, source, form, label or name, prefix="messages")
    raise Fault(
        "needs a list of messages, an object with the list `messages`, or a message on each line",
        place=f"{name}:{line}:1",
    )


@attrs.frozen
class _Source:
    """Where messages stand: in one text, or each on a line of its own."""

    name: str
    texts: list[str]
    lines: list[int]

    def fail(self, message: str, path: str, index: int | None, prefix: str) -> NoReturn:
        """Raise the fault of the value at ``path`` of message ``index``; of ``path`` from the root for None."""
        if len(self.texts) > 1 and index is not None:
            text, first, whole = self.texts[index], self.lines[index], path
        else:
            text, first = self.texts[0], self.lines[0]
            whole = path if index is None else f"{prefix}[{index}]{path}"
            if text.lstrip()[:1] == "{" and index is not None and not prefix:
                whole = path  # a single line with a single message
        line, column = line_and_column(text, offset_of(text, whole))
        raise Fault(message, place=f"{self.name}:{first + line - 1}:{column}")


def _read_chat(
    values: list[Any],
    envelope: dict[str, Any] | None,
    source: _Source,
    form: str | None,
    label: str,
    *,
    prefix: str = "",
) -> Chat:
    given: list[dict[str, Any]] = []
    bare: list[Any] = []
    for i, value in enumerate(values):
        if not is_object(value):
            source.fail("a message is an object with a role and content", "", i, prefix)
        given.append(dict(value))
        is_answer = given[i].get("type") == "message"  # an answer of Anthropic's, whose id is its own
        bare.append({key: item for key, item in given[i].items() if is_answer or key not in _OWN})
    known = cast("Form", form) if form is not None else _guess(given, envelope)
    messages: list[Message] = []
    origins: dict[str, int] = {}
    named = {one["id"] for one in given if type(one.get("id")) is str and one.get("type") != "message"}
    if known == "anthropic" and envelope is not None and envelope.get("system"):
        messages += _read(known, [], envelope["system"], 0, source, prefix)
        origins |= {message.id: -1 for message in messages}
    for i, one in enumerate(bare):
        for message in _read(known, [one], None, i, source, prefix):
            own = _own(message, given[i], _free_name(len(messages), named), i, source, prefix, origins)
            origins[own.id] = i
            messages.append(own)
    steps = [message.step for message in messages if origins[message.id] >= 0]
    if steps and steps[0] is not None:  # what stands before all messages has no place for a step of its own
        messages = [attrs.evolve(one, step=steps[0]) if origins[one.id] < 0 else one for one in messages]
    return Chat(label, known, given, envelope, messages, origins)


def _read(form: Form, one: list[Any], system: Any, index: int, source: _Source, prefix: str) -> list[Message]:
    try:
        return from_openai(one) if form == "openai" else from_anthropic(one, system=system)
    except (ArgumentTypeError, ArgumentValueError) as error:
        text = str(error)
        match = _PLACE.match(text)
        rest = match["rest"] if match is not None else ""
        said = text[match.end() :].lstrip(": ") if match is not None else text
        if match is not None and match["system"]:
            source.fail(f"system{rest}: {said}", f"system{rest}", None, prefix)
        source.fail(f"messages[{index}]{rest}: {said}", rest, index, prefix)


def _own(
    message: Message,
    given: Mapping[str, Any],
    free: str,
    index: int,
    source: _Source,
    prefix: str,
    taken: Mapping[str, int],
) -> Message:
    """The message with the id, the step and the pin that the file gives it; else its id is ``free``."""
    is_answer = given.get("type") == "message"
    id_ = None if is_answer else given.get("id")
    try:
        if id_ is not None and type(id_) is not str:
            source.fail(f"id needs a text, got {id_!r}", ".id", index, prefix)
        name = free if id_ is None else id_
        if name in taken and taken[name] == index:  # the second message that one of Anthropic's became
            name = free
        if name in taken:
            source.fail(f"two messages have the id {name!r}", ".id", index, prefix)
        return attrs.evolve(
            message,
            id=name,
            step=None if is_answer else given.get("step"),
            pinned=False if is_answer else given.get("pinned", False),
        )
    except (ArgumentTypeError, ArgumentValueError) as error:
        source.fail(str(error), f".{error.argument}", index, prefix)


def _free_name(number: int, named: set[str]) -> str:
    """The id of a message by its number, where no other message was given it."""
    name = f"m{number}"
    while name in named:
        name += "_"
    return name


def _guess(given: Sequence[Mapping[str, Any]], envelope: Mapping[str, Any] | None) -> Form:
    """Anthropic's form by ``system`` beside the messages, or by a block that only it has."""
    if envelope is not None and "system" in envelope:
        return "anthropic"
    for message in given:
        if message.get("type") == "message":
            return "anthropic"
        content = message.get("content")
        for block in content if is_array(content) else []:
            if is_object(block) and block.get("type") in _ANTHROPIC_BLOCKS:
                return "anthropic"
    return "openai"
