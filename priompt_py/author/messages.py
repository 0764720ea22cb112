"""Chat messages: system, developer, user, assistant and tool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from priompt_py.author.calls import explained
from priompt_py.author.checks import (
    got,
    one_of_priorities,
    text,
    text_or_none,
    truth,
    wrong_type,
    wrong_value,
)
from priompt_py.author.children import is_list, is_mapping, spread
from priompt_py.author.json_values import json_argument
from priompt_py.author.parts import image, part
from priompt_py.model.elements import Call, Message, Node, Number

__all__ = [
    "assistant_message",
    "developer_message",
    "image",
    "part",
    "system_message",
    "tool_message",
    "user_message",
]


class OpenMessage(Message):
    """A message that waits for its content."""

    __slots__ = ()

    def __getitem__(self, children: Node) -> Message:
        return Message(
            children=spread(children, self),
            role=self.role,
            name=self.name,
            to=self.to,
            tool_calls=self.tool_calls,
            function_call=self.function_call,
            tool_call_id=self.tool_call_id,
            is_error=self.is_error,
            p=self.p,
            prel=self.prel,
            key=self.key,
        )


class MessageTag(OpenMessage):
    """The tag of a message of one role."""

    __slots__ = ()

    @explained("message")
    def __call__(
        self,
        *,
        name: str | None = None,
        to: str | None = None,
        p: Number | None = None,
        prel: Number | None = None,
        key: str | None = None,
    ) -> OpenMessage:
        """The message with the author's ``name``, the addressee ``to``, a priority or a label."""
        tag = f"{self.role}_message"
        one_of_priorities(tag, p, prel)
        return OpenMessage(
            role=self.role,
            name=text_or_none(tag, "name", name),
            to=text_or_none(tag, "to", to),
            p=p,
            prel=prel,
            key=text_or_none(tag, "key", key),
        )


class AssistantTag(OpenMessage):
    """The tag of the assistant's messages, which can carry tool calls."""

    __slots__ = ()

    @explained("message")
    def __call__(
        self,
        *,
        name: str | None = None,
        to: str | None = None,
        tool_calls: Sequence[Call | Mapping[str, Any]] | None = None,
        function_call: Call | Mapping[str, Any] | None = None,
        p: Number | None = None,
        prel: Number | None = None,
        key: str | None = None,
    ) -> OpenMessage:
        """An assistant message. ``tool_calls`` are mappings of ``id``, ``name`` and ``arguments`` (JSON
        text, or a mapping that is written as JSON); ``function_call`` is the legacy form, without id."""
        tag = "assistant_message"
        one_of_priorities(tag, p, prel)
        return OpenMessage(
            role="assistant",
            name=text_or_none(tag, "name", name),
            to=text_or_none(tag, "to", to),
            tool_calls=_calls(tag, tool_calls),
            function_call=None if function_call is None else _call(tag, "function_call", function_call),
            p=p,
            prel=prel,
            key=text_or_none(tag, "key", key),
        )


@explained("tool_message")
def tool_message(
    *,
    tool_call_id: str,
    name: str | None = None,
    is_error: bool = False,
    to: str | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> OpenMessage:
    """A tool's result, for the call with this id. Calls and results are in or out together."""
    tag = "tool_message"
    one_of_priorities(tag, p, prel)
    return OpenMessage(
        role="tool",
        tool_call_id=text(tag, "tool_call_id", tool_call_id),
        name=text_or_none(tag, "name", name),
        is_error=truth(tag, "is_error", is_error),
        to=text_or_none(tag, "to", to),
        p=p,
        prel=prel,
        key=text_or_none(tag, "key", key),
    )


def _calls(tag: str, calls: object) -> tuple[Call, ...]:
    if calls is None:
        return ()
    if not is_list(calls):
        raise wrong_type(
            "tool_calls", f"{tag}() needs a list of calls for tool_calls, got tool_calls={got(calls)}"
        )
    return tuple(_call(tag, f"tool_calls[{i}]", call) for i, call in enumerate(calls))


def _call(tag: str, where: str, value: object) -> Call:
    """A tool call from a mapping or a ``Call``; arguments that are a mapping become JSON text."""
    allowed = ("name", "arguments") if where == "function_call" else ("id", "name", "arguments")
    if isinstance(value, Call):
        value = {key: getattr(value, key) for key in allowed}
    if not is_mapping(value):
        raise wrong_type(where, f"{tag}() needs a mapping for {where}, got {got(value)}")
    for key in value:
        if key not in allowed:
            raise wrong_value(
                where,
                f"{tag}(): {where} has the unknown key {key!r}; it takes {', '.join(allowed)}"
                + ("; from_openai() reads messages of that form" if key in ("type", "function") else ""),
            )
    for key in allowed:
        if key not in value:
            raise wrong_value(where, f"{tag}(): {where} needs {key}")
    name = text(tag, f"{where}.name", value["name"])
    if not name:
        raise wrong_value(f"{where}.name", f"{tag}(): {where} has an empty name")
    arguments = value["arguments"]
    if is_mapping(arguments):
        arguments = json.dumps(json_argument(tag, f"{where}.arguments", arguments), ensure_ascii=False)
    elif not isinstance(arguments, str):
        raise wrong_type(
            f"{where}.arguments",
            f"{tag}() needs JSON text or a mapping for {where}.arguments, got {got(arguments)}",
        )
    return Call(
        id=text(tag, f"{where}.id", value["id"]) if "id" in allowed else None,
        name=name,
        arguments=text(tag, f"{where}.arguments", arguments),
    )


system_message = MessageTag(role="system")
developer_message = MessageTag(role="developer")
user_message = MessageTag(role="user")
assistant_message = AssistantTag(role="assistant")
