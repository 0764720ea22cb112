"""What is shown of a render, as plain data: for the terminal, for notebooks and for the page.

Tokens throughout; offsets are code points in ``to_text()``, 0-based, ends exclusive. Nothing here is escaped: what
shows it sees to that.
"""

from __future__ import annotations

from typing import Any

import attrs

from priompt_py.model.elements import Number
from priompt_py.model.outcome import CountKind, Reason

__all__ = ["Report", "ReportMessage", "ReportPart", "ReportPiece"]


@attrs.frozen
class ReportPiece:
    """A stretch of a message that is in, or what one element would give that is out.

    ``kind`` is ``text``, ``tool_calls``, or the element's name in JSON (``image``, ``part``, ``empty``, …). ``text`` is
    what it shows or says; of what is out, at most the first 4,000 of its ``characters``. ``path`` is the leaf's, or that
    of the first leaf that is out, ``owner`` the innermost element around it that has a priority or a label (itself
    included; the message's or the root's where there is none), ``label`` that one's. ``priority`` is the effective one;
    pieces of one excerpt that are out stand together: then it is the highest of theirs, and ``lowest`` the lowest.
    ``reason`` is that of the outermost element around it that is out. ``tokens`` is its count alone; where ``is_estimate``, from the number of its characters. ``start`` and ``end`` are
    where it is in the text; None of what is out, the same of what is no text.
    """

    kind: str
    text: str
    included: bool
    reason: Reason
    path: str
    owner: str
    label: str | None
    priority: Number
    lowest: Number
    characters: int
    tokens: int
    is_estimate: bool = False
    start: int | None = None
    end: int | None = None


@attrs.frozen
class ReportMessage:
    """A message that is in or out, or all of a plain prompt, whose ``role`` is None.

    ``tokens`` are what it costs, exactly, its frame (``frame_tokens``) included; of a message that is out, what it would
    cost, its pieces counted alone. What stands outside messages (tools, settings, reserves) is in one without a role.
    """

    role: str | None
    name: str | None
    to: str | None
    included: bool
    reason: Reason
    path: str
    label: str | None
    priority: Number
    frame_tokens: int
    tokens: int
    pieces: tuple[ReportPiece, ...]
    start: int | None = None
    end: int | None = None


@attrs.frozen
class ReportPart:
    """One of the parts that cost most: all that is in of what one element holds itself."""

    path: str
    label: str | None
    priority: Number
    tokens: int


@attrs.frozen
class Report:
    """All that is shown of a render.

    ``tokens_used`` (without what is reserved), ``tokens_reserved`` and ``tokens_free`` add up to ``token_limit``. The
    messages that are in and ``other_tokens`` (the start of the answer, the closing of tools) add up to ``tokens_used``.
    The frames and the pieces that are in, with ``other_tokens``, add up to ``tokens_used + shared_tokens``: pieces are
    counted alone, and where texts meet, tokens can span both
    (then ``shared_tokens`` is above 0) or break (then it is below). ``levels`` is how many levels there are, ``level``
    which of them, counted from 1 at the highest, is the cutoff. ``elements_in`` and ``elements_out`` count the decisions.
    """

    is_chat: bool
    messages: tuple[ReportMessage, ...]
    token_limit: int
    tokens_used: int
    tokens_reserved: int
    tokens_free: int
    other_tokens: int
    shared_tokens: int
    cutoff: Number
    level: int
    levels: int
    count_kind: CountKind
    elements_in: int
    elements_out: int
    largest: tuple[ReportPart, ...]

    def pieces(self) -> tuple[ReportPiece, ...]:
        """The pieces of all messages, in order."""
        return tuple(piece for message in self.messages for piece in message.pieces)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data, with the names of its fields."""
        return attrs.asdict(self)
