"""What one piece of a streamed answer added, in one form for every provider. Everything here is immutable."""

from __future__ import annotations

import attrs

from priompt_py.model.model_output import Usage

__all__ = ["CallDelta", "Delta"]


@attrs.frozen
class CallDelta:
    """What was added to one call. ``position`` is its place among the answer's calls, from 0.

    ``arguments`` are the characters that came, cut anywhere, in the middle of an escape too. ``id`` and ``name`` are
    those that the call has by now, None as long as they haven't come.
    """

    position: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@attrs.frozen
class Delta:
    """What one piece of an answer added: most have one of these, some several, none has nothing.

    ``text``, ``reasoning`` and ``refusal`` are to be joined; ``finish_reason`` (as in ModelOutput) and ``usage`` come
    at the end, where the provider says them.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    call: CallDelta | None = None
    finish_reason: str | None = None
    usage: Usage | None = None

    def __str__(self) -> str:
        """The text that was added, which is all that many handlers want."""
        return self.text
