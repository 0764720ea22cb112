"""A conversation that is kept from turn to turn: its messages, and what summaries stand for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import attrs

from priompt_py.author.checks import wrong_value
from priompt_py.context.messages import CompactionPoint, Message
from priompt_py.context.passes.units import checked

__all__ = ["Conversation", "copy_conversation"]


class Conversation:
    """Messages and compaction points. Both are tuples that are replaced, never changed, so that a reader keeps what it
    read; whoever replaces them goes through :meth:`update`, from whichever thread.

    Raises ArgumentTypeError and, for two messages of one id, ArgumentValueError.
    """

    def __init__(self, messages: Iterable[Message] = (), points: Iterable[CompactionPoint] = ()) -> None:
        self._state = (tuple(checked("Conversation", tuple(messages))), tuple(points))
        self._writing = threading.RLock()
        self.compacting = threading.Lock()
        """Held while the conversation is being compacted."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, summaries among them, in order."""
        return self._state[0]

    @property
    def points(self) -> tuple[CompactionPoint, ...]:
        """What summaries stand for, in the order in which they were made."""
        return self._state[1]

    def append(self, *messages: Message) -> None:
        """Add messages at the end."""
        self.update(lambda old, points: ((*old, *messages), points))

    def delete(self, *ids: str) -> None:
        """Take messages out, and the points of summaries among them: what a summary stood for counts again.

        A point whose boundary goes stays, and applies no more. Raises ArgumentValueError for an id that isn't there.
        """
        gone = set(ids)

        def without(
            old: tuple[Message, ...], points: tuple[CompactionPoint, ...]
        ) -> tuple[tuple[Message, ...], tuple[CompactionPoint, ...]]:
            missing = gone - {message.id for message in old}
            if missing:
                raise wrong_value("ids", f"delete(): there is no message {min(missing)!r}")
            return (
                tuple(message for message in old if message.id not in gone),
                tuple(point for point in points if point.summary_id not in gone),
            )

        self.update(without)

    def update(
        self,
        change: Callable[
            [tuple[Message, ...], tuple[CompactionPoint, ...]],
            tuple[Iterable[Message], Iterable[CompactionPoint]],
        ],
    ) -> None:
        """Put what ``change(messages, points)`` gives in their place, while nobody else does."""
        with self._writing:
            new, points = change(*self._state)
            self._state = (tuple(checked("Conversation", tuple(new))), tuple(points))

    def __repr__(self) -> str:
        return f"Conversation({len(self.messages)} messages, {len(self.points)} points)"


def copy_conversation(
    messages: Iterable[Message], points: Iterable[CompactionPoint], new_id: Callable[[str], str]
) -> tuple[list[Message], list[CompactionPoint]]:
    """The same conversation under new ids, which points follow.

    ``new_id(old)`` is called once for each message, in order. Points that name a message that isn't there never
    applied, and are left out. Raises ArgumentValueError where two messages would get one id.
    """
    old = checked("copy_conversation", tuple(messages))
    ids = {message.id: new_id(message.id) for message in old}
    copied = [attrs.evolve(message, id=ids[message.id]) for message in old]
    checked("copy_conversation", copied)
    return copied, [
        CompactionPoint(ids[point.summary_id], ids[point.boundary_id], point.created_at)
        for point in points
        if point.summary_id in ids and point.boundary_id in ids
    ]
