"""The calls of an answer while it streams: which piece belongs to which call."""

from __future__ import annotations

from priompt_py.model.delta import CallDelta
from priompt_py.model.model_output import ToolCall
from priompt_py.runtime.halves import joined
from priompt_py.runtime.json_end import JsonEnd

__all__ = ["CallDraft", "ChatCalls", "calls_of"]


class CallDraft:
    """One call, as far as it has come.

    Text after the end of its object is kept apart: some servers send the whole arguments once more at the end,
    which counts for nothing; anything else there makes the arguments what they are, no JSON.
    """

    __slots__ = ("_end", "_head", "_tail", "id", "name", "position", "whole")

    def __init__(self, position: int, *, id: str | None = None, name: str = "") -> None:  # noqa: A002 - its name everywhere
        self.position = position
        self.id = id
        self.name = name
        self.whole = False  # said by the provider to be at its end
        self._end = JsonEnd()
        self._head: list[str] = []
        self._tail: list[str] = []

    @property
    def is_closed(self) -> bool:
        """Whether the arguments are an object that was opened and closed."""
        return self._end.ended

    @property
    def is_empty(self) -> bool:
        """Whether no argument has come yet."""
        return not self._head

    @property
    def arguments(self) -> str:
        """The text so far."""
        head, tail = joined(self._head), joined(self._tail)
        again = tail.strip()
        if not again or again == head.strip():
            return head
        return head + tail

    def add(self, text: str) -> CallDelta:
        """Take more of the arguments; what it adds, for handlers."""
        if self._end.ended:
            self._tail.append(text)
            return self.delta("")
        cut = self._end.feed(text)
        fresh = text if cut is None else text[:cut]
        if fresh:
            self._head.append(fresh)
        if cut is not None and cut < len(text):
            self._tail.append(text[cut:])
        return self.delta(fresh)

    def rest(self, text: str) -> CallDelta:
        """Take the whole arguments, as providers repeat them at the end; what that adds to what had come."""
        had = joined(self._head)
        if text == had or not text:
            return self.delta("")
        if text.startswith(had):
            return self.add(text[len(had) :])
        self._end, self._head, self._tail = JsonEnd(), [], []  # what the provider says last counts
        self.add(text)
        return self.delta("")

    def delta(self, arguments: str) -> CallDelta:
        """What is said of the call now."""
        return CallDelta(self.position, self.id, self.name or None, arguments)

    def call(self, *, cut: bool) -> ToolCall:
        """The call; ``cut`` says that the answer is not known to have come to its end.

        It is whole then if its object is closed, or if the provider ended it without any arguments: one that it
        ended in the middle of an object was cut by something that would have been said at the answer's end.
        """
        incomplete = cut and not (self.is_closed or (self.whole and self.is_empty))
        return ToolCall(self.id, self.name, self.arguments, incomplete)


class ChatCalls:
    """Calls of chat chunks, which say by index, by id, by both or by neither which call goes on."""

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self._by_id: dict[str, CallDraft] = {}
        self._by_index: dict[int, CallDraft] = {}
        self._last: CallDraft | None = None

    def add(self, index: int | None, call_id: str, name: str, arguments: str) -> CallDelta | None:
        """Take one piece; what it adds, None where it says nothing."""
        draft = self._find(index, call_id, name)
        if draft is None:
            if not (call_id or name or arguments):
                return None
            draft = CallDraft(len(self.drafts), id=call_id or None)
            self.drafts.append(draft)
        if call_id:
            draft.id = draft.id or call_id
            self._by_id[call_id] = draft
        if index is not None:
            self._by_index[index] = draft
        self._last = draft
        if name and name != draft.name and (draft.is_empty or not draft.name):
            # Some servers send the name in pieces, some the whole of it each time.
            draft.name += name
        return draft.add(arguments)

    def _find(self, index: int | None, call_id: str, name: str) -> CallDraft | None:
        """The call that a piece goes on with, None for a new one."""
        if call_id and call_id in self._by_id:
            draft = self._by_id[call_id]
            # One id for all calls: an index that is new begins another, where the one before is at its end.
            is_another = index is not None and index not in self._by_index and draft.is_closed
            return None if is_another and name not in ("", draft.name) else draft
        here = self._last if index is None else self._by_index.get(index)
        if here is None:
            return None
        draft = here
        if call_id and draft.id is not None:
            # Another id at a used index is another call. Some servers make up an id for every piece, though: those
            # pieces have no name, and the call that they go on with is still open.
            return draft if not name and not draft.is_closed else None
        if name and (draft.is_closed or (draft.name not in ("", name) and not draft.is_empty)):
            return None  # no id tells them apart, but a name begins a call
        return draft


def calls_of(drafts: list[CallDraft], finish_reason: str | None) -> tuple[ToolCall, ...]:
    """The calls of an answer that ended for this reason, None where it broke off."""
    calls = [draft.call(cut=finish_reason is None) for draft in drafts]
    if calls and finish_reason == "length":  # cut in its last call, as far as anyone can tell
        last = calls[-1]
        calls[-1] = ToolCall(last.id, last.name, last.arguments, incomplete=True)
    return tuple(calls)
