"""System messages for providers that take them beside the messages: what leads, and what comes later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

import attrs

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, ProviderError
from priompt_py.model.prompt import ChatMessage, TextPart
from priompt_py.providers.shared import Holds, Placed, is_blank, without_last_marks

__all__ = ["LATE_SYSTEM_TEXT", "LateSystem", "check_late_system", "split_system"]

LateSystem: TypeAlias = Literal["inline", "user", "hoist"]
"""What becomes of a system message after the first other one: it stays in its place, becomes a user message with a
wrapper around its text, or joins the leading ones."""

LATE_SYSTEM_TEXT = "<system>\n{text}\n</system>"

_HOLE = "{text}"


def check_late_system(function: str, late: LateSystem | None, text: str, takes: Sequence[LateSystem]) -> None:
    """Raises ArgumentValueError for options that ``function`` does not take."""
    if late is not None and late not in takes:
        listed = ", ".join(map(repr, takes))
        raise ArgumentValueError(f"{function}() needs one of {listed} or None for late_system, got {late!r}")
    if not isinstance(cast("object", text), str):
        raise ArgumentTypeError(f"{function}() needs text for late_system_text, got {text!r}")
    if text.count(_HOLE) != 1:
        raise ArgumentValueError(f"{function}() needs {_HOLE} once in late_system_text, got {text!r}")


def split_system(
    placed: Sequence[Placed],
    provider: str,
    late: LateSystem | None,
    text: str,
    takes: Sequence[LateSystem],
    holds: Holds,
) -> tuple[list[Placed], list[Placed]]:
    """The messages that lead as system text, and the others, in order.

    Blank messages are left out of both and divide nothing, but for their marks, which stay. System and developer are
    one. Raises ProviderError for a later system message where ``late`` is None, naming it.
    """
    leading: list[Placed] = []
    others: list[Placed] = []
    begun = False
    for place, message in placed:
        if message.role not in ("system", "developer"):
            begun = begun or not is_blank(message, holds)
            (others if begun else leading).append((place, message))
        elif not begun or (late == "hoist" and not is_blank(message, holds)):
            leading.append((place, message))
        elif is_blank(message, holds):
            others.append((place, message))
        elif late == "user":
            others.append((place, _wrapped(message, text)))
        elif late == "inline":
            others.append((place, message))
        else:
            raise ProviderError(
                f"{place} stands after other messages, and {provider} takes system text in front alone; "
                f"late_system says what becomes of it: {', '.join(map(repr, takes))}"
            )
    return leading, others


def _wrapped(message: ChatMessage, text: str) -> ChatMessage:
    before, _, after = text.partition(_HOLE)
    parts, marks = without_last_marks(message)
    return attrs.evolve(message, role="user", parts=(TextPart(before), *parts, TextPart(after), *marks))
