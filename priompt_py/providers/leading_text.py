"""What the user says before the assistant, for providers that want a message of the user first."""

from __future__ import annotations

from typing import cast

from priompt_py.errors import ArgumentTypeError, ArgumentValueError, ProviderError

__all__ = ["checked_leading_text", "needed_leading_text"]

_LEADING_TEXT = "(The conversation goes on.)"


def checked_leading_text(function: str, *, lead_with_user: bool | str) -> str | None:
    """The text that ``lead_with_user`` of ``function`` stands for; None where it forbids one.

    Raises ArgumentTypeError or ArgumentValueError, naming ``function``, for what is no option of it.
    """
    if isinstance(lead_with_user, str):
        if not lead_with_user.strip():
            raise ArgumentValueError(
                f"{function}() needs text that is not blank for lead_with_user, got {lead_with_user!r}"
            )
        return lead_with_user
    if not isinstance(cast("object", lead_with_user), bool):
        raise ArgumentTypeError(
            f"{function}() needs text, True or False for lead_with_user, got {lead_with_user!r}"
        )
    return _LEADING_TEXT if lead_with_user else None


def needed_leading_text(text: str | None, provider: str) -> str:
    """``text``, for a request that the assistant would begin. Raises ProviderError where it is None."""
    if text is None:
        raise ProviderError(
            f"the first message is the assistant's, and {provider} needs one of the user before it; "
            "lead_with_user=True puts one there"
        )
    return text
