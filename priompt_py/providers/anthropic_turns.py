"""The messages of a request to Anthropic: turns of user and assistant, and system messages behind the user's."""

from __future__ import annotations

from typing import Any

from priompt_py.errors import ProviderError
from priompt_py.providers.leading_text import needed_leading_text

__all__ = ["Turns"]


class Turns:
    """Collects blocks into messages, merging neighbours of one role. Empty messages leave no trace."""

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._waiting: list[
            tuple[str, list[dict[str, Any]]]
        ] = []  # system messages, till the user's turn is over

    def add(self, place: str, role: str, blocks: list[dict[str, Any]]) -> None:
        """The next message: results are the user's, and come before what the user says in the same turn."""
        if not blocks:
            return
        if role in ("system", "developer"):
            self._waiting.append((place, blocks))
            return
        if role == "assistant":
            self._end_of_turn()
        self._append("assistant" if role == "assistant" else "user", blocks)

    def closed(self, leading_text: str | None) -> list[dict[str, Any]]:
        """The finished messages, the first one the user's.

        Raises ProviderError where there is none, where the first is the assistant's and ``leading_text`` is None, and
        for a system message that no message of the user stands before.
        """
        if self._messages and self._messages[0]["role"] == "assistant":
            text: dict[str, Any] = {"type": "text", "text": needed_leading_text(leading_text, "Anthropic")}
            self._messages.insert(0, {"role": "user", "content": [text]})
        self._end_of_turn()
        if not self._messages:
            raise ProviderError(
                "no message but system text is in, and Anthropic needs at least one of the user"
            )
        self._strip_end()
        return self._messages

    def shorten(self) -> None:
        """Writes content of one unmarked text as a string: only when all marks are written."""
        for message in self._messages:
            blocks: list[dict[str, Any]] = message["content"]
            for block in blocks:
                if block.get("type") == "tool_result" and "content" in block:
                    block["content"] = _short(block["content"])
            message["content"] = _short(blocks)

    def _append(self, role: str, blocks: list[dict[str, Any]]) -> None:
        if self._messages and self._messages[-1]["role"] == role:
            self._messages[-1]["content"] += blocks
        else:
            self._messages.append({"role": role, "content": blocks})

    def _end_of_turn(self) -> None:
        """System messages that came in the user's turn stand behind it."""
        for place, blocks in self._waiting:
            if not self._messages or self._messages[-1]["role"] == "assistant":
                raise ProviderError(
                    f"{place} stands behind the assistant's message, and Anthropic takes system messages directly "
                    "behind the user's alone; late_system='user' or 'hoist' would do"
                )
            self._append("system", blocks)
        self._waiting = []

    def _strip_end(self) -> None:
        """An answer that is to be continued may not end with white space."""
        last = self._messages[-1]
        if last["role"] == "assistant" and last["content"][-1].get("type") == "text":
            last["content"][-1]["text"] = last["content"][-1]["text"].rstrip()


def _short(content: Any) -> Any:
    if len(content) == 1 and content[0].keys() == {"type", "text"} and content[0]["type"] == "text":
        return content[0]["text"]
    return content
